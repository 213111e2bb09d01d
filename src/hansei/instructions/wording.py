"""A text made fit to stand in an instruction file as one item.

Words of a transcript may be part of it, so whatever an agent or an editor would obey is taken out:
line breaks, characters that nobody sees, and `@name`, which some agents read as "put that file
here".
"""

from __future__ import annotations

import re

from hansei.instructions.block import fenced
from hansei.instructions.edits import HIDDEN

_CODE = re.compile(r"(`+[^`]*`+)")
_MENTION = re.compile(r"(?<![\w@/.])@(?:[\w~./-]*\w)")
_BULLET = "- "
_HEADING = re.compile(r"^ {0,3}#{1,6}[ \t]+(.*?)[ \t#]*$")
_COMMENT = re.compile(r"<!--|-->")
_SHOWN = {"<!--": "(", "-->": ")"}
"""What stands for them can begin neither a heading nor a fence."""
_RUN = re.compile(r"!(?=`)")
"""Before code, it makes some agents run the code while they read."""


def as_item(text: str) -> str:
    """One bullet on one line."""
    line = " ".join(HIDDEN.sub(" ", text).split())
    parts = _CODE.split(line)
    quoted = "".join(
        part if place % 2 else _MENTION.sub(r"`\g<0>`", part) for place, part in enumerate(parts)
    )
    return quoted if not quoted or quoted.startswith(_BULLET) else _BULLET + quoted


def as_text(text: str) -> str:
    """Markdown of several lines that stands in a file without changing what is around it.

    Headings become bold lines, because they would end the section the file's owner is in. Comments
    become words in brackets, and a code fence that nothing closes is closed.
    """
    plain = HIDDEN.sub(" ", text.replace("\r\n", "\n").replace("\r", "\n")).strip("\n")
    fence = ""
    made: list[str] = []
    for line in plain.split("\n"):
        fence, quoted = fenced(line, fence)
        made.append(line.rstrip() if quoted else _as_line(line))
    return "\n".join((*made, fence) if fence else made).strip("\n")


def _as_line(line: str) -> str:
    heading = _HEADING.match(line)
    if heading is not None:
        line = f"**{heading[1].replace('**', '')}**" if heading[1].strip("* ") else ""
    parts = _CODE.split(_RUN.sub("! ", _COMMENT.sub(lambda it: _SHOWN[it[0]], line)))
    return "".join(
        part if place % 2 else _MENTION.sub(r"`\g<0>`", part) for place, part in enumerate(parts)
    ).rstrip()
