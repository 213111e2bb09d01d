"""Reviews of changes, as GitHub and GitLab tell them in JSON and as `gh` prints them.

The same reader serves a file that a person imports and the output of a command in a transcript.
Output may be cut off and pages may follow each other without a comma, so objects are taken one by
one for as long as they can be read.
"""

from __future__ import annotations

import json
import re
from datetime import datetime
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from hansei.events.reviews import Review
from hansei.projection.outcomes.lines import normal, telling

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from hansei.projection.calls import Call

GITHUB: Final = "github"
GITLAB: Final = "gitlab"
PROGRAMS: Final = {"gh": GITHUB, "glab": GITLAB}
MOST_LINES: Final = 12
"""Lines of a hunk that are kept, counted from the one that is remarked on: a hunk may be long."""
LONGEST_OUTPUT: Final = 2_000_000
_DEEPEST: Final = 4

_NESTED: Final = ("comments", "reviews", "notes", "discussions", "nodes", "data")
_BOTS: Final = frozenset(
    ("github-actions", "dependabot", "renovate", "coderabbitai", "copilot", "codecov", "sonarcloud",
     "copilot-pull-request-reviewer", "sourcery-ai", "gemini-code-assist")
)  # fmt: skip
"""Programs that `gh` prints without the `[bot]` that GitHub gives them."""
_BOT_NAME: Final = re.compile(r"\[bot\]$|[-_]bot(?:_\w+)?$|^bot[-_]", re.IGNORECASE)
_PRINTED: Final = re.compile(
    r"^author:\t(?P<author>\S+)\nassociation:\t\S*\n(?:edited:\t\S*\n)?(?:status:\t(?P<status>[^\n]*)"
    r"\n)?--\n(?P<body>.*?)\n--$",
    re.MULTILINE | re.DOTALL,
)


class Read(NamedTuple):
    """What a text holds."""

    reviews: list[Review]
    objects: int
    """How many objects were read, reviews or not."""
    unread: bool
    """Whether something was left over that is no JSON."""


def read(text: str) -> Read:
    """Every review in a text of JSON: a list, several lists, one object per line, or nested."""
    found: dict[tuple[str, str], Review] = {}
    decoder = json.JSONDecoder()
    objects, place = 0, 0
    while (place := _next_object(text, place)) < len(text):
        try:
            value, place = decoder.raw_decode(text, place)
        except (ValueError, RecursionError):
            return Read(list(found.values()), objects, unread=True)
        objects += 1
        for review in _reviews_of(value, None, 0):
            found[review.source, review.id] = review
    unread = not objects and bool(text.strip(" \t\r\n[],\ufeff"))
    return Read(list(found.values()), objects, unread)


def _next_object(text: str, place: int) -> int:
    start = text.find("{", place)
    return len(text) if start < 0 else start


def _reviews_of(value: Any, thread: str | None, depth: int) -> Iterator[Review]:
    if isinstance(value, list):
        for part in value:
            yield from _reviews_of(part, thread, depth)
    elif isinstance(value, dict):
        review = _github(value) or _gitlab(value, thread)
        if review is not None:
            yield review
        inner = _text(value.get("id")) if "notes" in value else None
        for name in _NESTED:
            if depth < _DEEPEST and isinstance(value.get(name), list | dict):
                yield from _reviews_of(value[name], inner, depth + 1)


def _github(value: dict[str, Any]) -> Review | None:
    author = value.get("user") or value.get("author")
    body, name = value.get("body"), _text(value.get("id"))
    if not isinstance(author, dict) or not _text(author.get("login")) or not name:
        return None
    if not isinstance(body, str) or not body.strip():
        return None
    hunk = value.get("diff_hunk")
    login = _text(author.get("login"))
    return Review(
        seq=None,
        source=GITHUB,
        id=name,
        thread=_text(value.get("in_reply_to_id")),
        author=login,
        bot=author.get("type") == "Bot" or author.get("is_bot") is True or _is_bot(login),
        path=_text(value.get("path")),
        line=_number(value.get("line"), value.get("original_line")),
        at=_moment(value.get("created_at"), value.get("submitted_at"), value.get("createdAt"))
        or _moment(value.get("submittedAt")),
        revision=_text(value.get("original_commit_id")) or _text(value.get("commit_id")),
        text=body,
        hunk=_shown(hunk) if isinstance(hunk, str) else (),
    )


def _gitlab(value: dict[str, Any], thread: str | None) -> Review | None:
    author, body, name = value.get("author"), value.get("body"), _text(value.get("id"))
    if not isinstance(author, dict) or not _text(author.get("username")) or not name:
        return None
    if not isinstance(body, str) or not body.strip() or value.get("system") is True:
        return None
    where = value.get("position")
    position: dict[str, Any] = where if isinstance(where, dict) else {}
    username = _text(author.get("username"))
    return Review(
        seq=None,
        source=GITLAB,
        id=name,
        thread=thread or _text(value.get("discussion_id")),
        author=username,
        bot=author.get("bot") is True or _is_bot(username),
        path=_text(position.get("new_path")) or _text(position.get("old_path")),
        line=_number(position.get("new_line"), position.get("old_line")),
        at=_moment(value.get("created_at")),
        revision=_text(position.get("head_sha")),
        text=body,
        hunk=(),
    )


def printed(text: str) -> list[Review]:
    """The comments that `gh pr view --comments` prints where nobody looks at a terminal."""
    reviews = []
    for found in _PRINTED.finditer(text):
        if found["body"].strip():
            said = f"{found['author']}\n{found['body']}".encode("utf-8", "surrogatepass")
            reviews.append(
                Review(
                    seq=None,
                    source=GITHUB,
                    id=f"printed:{blake2b(said, digest_size=8).hexdigest()}",
                    thread=None,
                    author=found["author"],
                    bot=_is_bot(found["author"]),
                    path=None,
                    line=None,
                    at=None,
                    revision=None,
                    text=found["body"],
                    hunk=(),
                )
            )
    return reviews


def reviews(calls: Sequence[Call]) -> list[Review]:
    """The reviews that a session was shown by `gh` and `glab`, each with the result it stood in."""
    found: dict[tuple[str, str], Review] = {}
    for call in calls:
        if call.script is None or call.result is None or call.result_seq is None:
            continue
        if not any(command.program in PROGRAMS for command in call.script.commands):
            continue
        output = call.result.text
        if len(output) > LONGEST_OUTPUT:
            continue
        start = output.lstrip()[:1]
        told = read(output).reviews if start in {"[", "{"} else printed(output)
        for review in told:
            found.setdefault((review.source, review.id), review._replace(seq=call.result_seq))
    return list(found.values())


def _shown(hunk: str) -> tuple[str, ...]:
    """The added lines of a hunk that say something."""
    added = [line[1:] for line in hunk.split("\n") if line.startswith("+")]
    return tuple(telling(map(normal, added))[-MOST_LINES:])


def _is_bot(name: str | None) -> bool:
    return name is not None and (name.lower() in _BOTS or _BOT_NAME.search(name) is not None)


def _text(value: object) -> str | None:
    if isinstance(value, bool) or not isinstance(value, str | int):
        return None
    return str(value) or None


def _number(*values: object) -> int | None:
    return next((it for it in values if isinstance(it, int) and not isinstance(it, bool)), None)


def _moment(*values: object) -> int | None:
    """The first time that can be read, in milliseconds since 1970."""
    for value in _texts(values):
        try:
            moment = datetime.fromisoformat(value)
        except ValueError:
            continue
        if moment.tzinfo is not None:
            return int(moment.timestamp() * 1000)
    return None


def _texts(values: Iterable[object]) -> Iterator[str]:
    return (value for value in values if isinstance(value, str))
