"""The block of a text with one item more, changed or less. Everything here is pure.

Three texts decide: what we last wrote, what is there, and what we want. Where the first two are the
same but for blanks and line ends, the item is ours to change. Where they differ a person has been
at work, and the item is theirs. Lines a person added below an item are no edit of it if they begin
something new, such as another bullet.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import NamedTuple

import msgspec

from hansei.instructions.block import (
    CLOSE,
    OPEN,
    Block,
    Broken,
    Document,
    Item,
    lines_of,
    newline_of,
    open_fence,
    parse,
    render,
    with_items,
)

_BEGINS = re.compile(r"\s*$|[-*+] |\d{1,9}[.)] |#{1,6} |[<>|]|```|~~~")
"""How a line begins that goes on with nothing before it: blank, or something of its own."""


HIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\U000e0000-\U000e007f]")
"""Controls, line breaks that editors do not show, changes of direction, and invisible letters."""


class Standing(StrEnum):
    """What became of an item since we wrote it."""

    OURS = "as we wrote it"
    EDITED = "edited by hand"
    GONE = "not there any more"


class Frame(msgspec.Struct, frozen=True, omit_defaults=True):
    """How our block came into a file, to take it out again without a trace."""

    line_ends: int = 0
    """How many we put between the text and the block: none, a blank line, or two after a text that
    did not end its last line."""
    header: str = ""
    """What we wrote ahead of the block into a file that was not there."""
    made_file: bool = False
    folders: tuple[str, ...] = ()
    """Folders that were made for the file, outermost first."""


class Edited(NamedTuple):
    """A text after an edit, and the frame of the block in it; None if the block is not ours."""

    text: str
    frame: Frame | None


class Unfit(Exception):
    """A text that cannot be an item."""


def checked(text: str) -> str:
    """The text of an item as it is kept: line feeds, nothing blank around it."""
    plain = "\n".join(line.rstrip() for line in re.split(r"\r\n|\r|\n", text)).strip("\n")
    if not plain.strip():
        raise Unfit("it is empty")
    if HIDDEN.search(plain):
        raise Unfit("it holds characters that a person reading it would not see")
    if open_fence(plain) is not None:
        raise Unfit("it opens a code fence and does not close it")
    made = f"{OPEN}\n<!-- bbbb -->\n{plain}\n{CLOSE}\n"
    try:
        block = parse(made).block
    except Broken:
        block = None
    if block is None or [item.body for item in block.items] != [f"{plain}\n"]:
        raise Unfit("it holds a marker of ours")
    return plain


@dataclass(frozen=True)
class _Parts:
    """The body of an item, told apart: ours with the blanks around it, and what a person added."""

    own: str
    added: str


def _parts(body: str, written: str) -> _Parts | None:
    """None where our text is not there as we wrote it."""
    lines = lines_of(body)
    wanted = written.split("\n")
    first = next((n for n, line in enumerate(lines) if line.strip()), len(lines))
    last = first + len(wanted)
    if [line.rstrip() for line in lines[first:last]] != [line.rstrip() for line in wanted]:
        return None
    rest = lines[last:]
    if not "".join(rest).strip():
        return _Parts(body, "")
    return _Parts("".join(lines[:last]), "".join(rest)) if _BEGINS.match(rest[0]) else None


def standing(document: Document, name: str, written: str) -> Standing:
    """What became of an item."""
    alike = [it for it in document.block.items if it.name == name] if document.block else []
    if not alike:
        return Standing.GONE
    ours = any(_parts(item.body, written) is not None for item in alike)
    return Standing.OURS if ours else Standing.EDITED


def text_there(document: Document, name: str) -> str | None:
    """The text of an item that is there, whoever wrote it."""
    item = document.block.item(name) if document.block else None
    return None if item is None else "\n".join(_plain(item.body)).strip("\n")


def _plain(body: str) -> list[str]:
    return [line.rstrip() for line in lines_of(body)]


def added(text: str, name: str, wanted: str, *, header: str = "") -> Edited:
    """The text with an item at the end of its block, and a block at its own end if it has none."""
    document = parse(text)
    end = newline_of(text)
    item = Item(name, f"<!-- {name} -->{end}", _body(wanted, end))
    if document.block is not None:
        return Edited(render(with_items(document, (*document.block.items, item))), None)
    line_ends = _line_ends(document.before)
    block = Block(OPEN + end, "", (item,), CLOSE + end)
    before = header + document.before + end * line_ends
    return Edited(render(Document(before, block)), Frame(line_ends, header))


def _body(wanted: str, end: str) -> str:
    return wanted.replace("\n", end) + end


def _line_ends(text: str) -> int:
    if not text:
        return 0
    lines = lines_of(text)
    if not lines[-1].endswith("\n"):
        return 2
    return 1 if lines[-1].strip() else 0


def replaced(text: str, name: str, written: str, wanted: str) -> str:
    """The text with an item of ours saying something else; what a person added to it stays."""
    document = parse(text)
    place, item, parts = _own(document, name, written)
    assert document.block is not None
    body = _body(wanted, newline_of(text)) + parts.added
    items = document.block.items
    changed = (*items[:place], replace(item, body=body), *items[place + 1 :])
    return render(with_items(document, changed))


def removed(text: str, name: str, written: str, frame: Frame | None) -> str:
    """The text without an item of ours, and without a block of ours that is empty then."""
    document = parse(text)
    place, _, parts = _own(document, name, written)
    block = document.block
    assert block is not None
    items = (*block.items[:place], *block.items[place + 1 :])
    preface = block.preface
    if place:
        before = items[place - 1]
        kept = replace(before, body=before.body + parts.added)
        items = (*items[: place - 1], kept, *items[place:])
    else:
        preface += parts.added
    left = replace(block, preface=preface, items=items)
    if left.empty and frame is not None:
        return _unframed(document.before, document.after, frame, newline_of(text))
    return render(replace(document, block=left))


def _own(document: Document, name: str, written: str) -> tuple[int, Item, _Parts]:
    """The item of ours of that name: its place, itself, and its parts."""
    for place, item in enumerate(document.block.items if document.block else ()):
        parts = _parts(item.body, written) if item.name == name else None
        if parts is not None:
            return place, item, parts
    raise LookupError(name)


def _unframed(before: str, after: str, frame: Frame, end: str) -> str:
    """What is left without the block and the line ends we put before it.

    A line of a person is never joined to the next, and a line end that has gone since is not taken
    from the text.
    """
    if not frame.line_ends:
        return before + after
    bare = _shortened(before, end)
    if frame.line_ends == 1 or after:
        return (bare if not bare or bare.endswith("\n") else before) + after
    return _shortened(bare, end)


def _shortened(text: str, end: str) -> str:
    """Without the last line end."""
    return text.removesuffix(end) if text.endswith(end) else text.removesuffix("\n")
