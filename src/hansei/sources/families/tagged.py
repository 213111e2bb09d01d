"""Text in which a program has wrapped its own words in tags, such as `<system-reminder>`."""

from __future__ import annotations

from typing import NamedTuple


class Split(NamedTuple):
    """A text and what was taken out of it, each piece with its tags."""

    rest: str
    taken: list[str]


def split(text: str, tags: tuple[str, ...]) -> Split:
    """Take out every block of these tags. A block that is never closed is left where it is."""
    taken: list[str] = []
    for tag in tags:
        opening, closing = f"<{tag}>", f"</{tag}>"
        kept: list[str] = []
        done = 0
        while (start := text.find(opening, done)) >= 0:
            end = text.find(closing, start)
            if end < 0:
                break
            kept.append(text[done:start])
            done = end + len(closing)
            taken.append(text[start:done])
        text = "".join([*kept, text[done:]]) if done else text
    return Split(text.strip() if taken else text, taken)


def inner(text: str, tag: str) -> str | None:
    """What stands between the first such tags, without the space around it."""
    _, opened, rest = text.partition(f"<{tag}>")
    content, closed, _ = rest.partition(f"</{tag}>")
    return content.strip() if opened and closed else None


def leading(text: str) -> str:
    """The tag a text begins with, or nothing."""
    if not text.startswith("<"):
        return ""
    name = text[1:64].partition(">")[0].split(" ", 1)[0]
    return name if name.replace("-", "").replace("_", "").isalpha() else ""
