"""Everything that goes to stdout: tables, numbers, times, JSON."""

from __future__ import annotations

import shutil
import unicodedata
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Literal

import click

from hansei.projection import wording

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

UNKNOWN = "unknown"
READABLE = 20
"""Labels keep this many columns as long as there is another column to leave out."""
NARROWEST = 12
"""Labels are never cut below this."""
SCHEMA_VERSION = 1


def write(text: str = "", end: str = "\n") -> None:
    click.echo(f"{text}{end}", nl=False)


def write_json(kind: str, value: Any) -> None:
    """An answer for programs: `schema` names its shape and changes when that does."""
    import msgspec

    body = msgspec.to_builtins(value)
    document = {"schema": f"hansei.{kind}/{SCHEMA_VERSION}", **body}
    click.echo(msgspec.json.format(msgspec.json.encode(document), indent=2).decode())


def write_json_line(kind: str, value: Any) -> None:
    """One of many answers for programs, on a line of its own."""
    import msgspec

    document = {"schema": f"hansei.{kind}/{SCHEMA_VERSION}", **msgspec.to_builtins(value)}
    click.echo(msgspec.json.encode(document).decode())


def tokens(count: int | None) -> str:
    """A count of tokens to three figures: 941, 12.1 k, 48.2 M."""
    if count is None:
        return UNKNOWN
    for size, unit in ((1_000_000_000, "G"), (1_000_000, "M"), (1_000, "k")):
        if abs(count) >= size:
            scaled = count / size
            return f"{scaled:.{0 if abs(scaled) >= 100 else 1}f} {unit}"
    return str(count)


def dollars(nanodollars: int | None) -> str:
    """Money, or that it is unknown."""
    return UNKNOWN if nanodollars is None else wording.dollars(nanodollars)


def size(count: int) -> str:
    """Bytes for people."""
    for limit, unit in ((1e9, "GB"), (1e6, "MB"), (1e3, "kB")):
        if count >= limit:
            return f"{count / limit:.1f} {unit}"
    return f"{count} B"


def plural(count: int, word: str, many: str | None = None) -> str:
    return f"{count:,} {word if count == 1 else many or word + 's'}"


def local(milliseconds: int) -> datetime:
    return datetime.fromtimestamp(milliseconds / 1000, UTC).astimezone()


def day(milliseconds: int | None) -> str:
    if milliseconds is None:
        return UNKNOWN
    when = local(milliseconds)
    return f"{when.day} {when:%b %Y}"  # %-d is not known everywhere


def minute(milliseconds: int | None) -> str:
    return UNKNOWN if milliseconds is None else local(milliseconds).strftime("%Y-%m-%d %H:%M")


def moment(milliseconds: int | None) -> str:
    """A day and minute in a list, where the order tells the year."""
    return UNKNOWN if milliseconds is None else local(milliseconds).strftime("%d %b %y %H:%M")


def clock(milliseconds: int | None) -> str:
    return "--:--:--" if milliseconds is None else local(milliseconds).strftime("%H:%M:%S")


def span(first: int | None, last: int | None) -> str:
    """Two days as a range, saying no more than needed."""
    if first is None or last is None:
        return "no dates"
    one, two = day(first), day(last)
    if one == two:
        return one
    year = one[-5:]
    return f"{one.removesuffix(year) if two.endswith(year) else one} – {two}"


def duration(first: int | None, last: int | None) -> str:
    if first is None or last is None:
        return UNKNOWN
    minutes = (last - first) // 60_000
    if minutes < 60:
        return f"{minutes} min"
    hours, rest = divmod(minutes, 60)
    return f"{hours} h {rest:02}" if hours < 48 else f"{hours // 24} d"


def width(text: str) -> int:
    """Columns a text takes on a terminal; styles take none, wide characters two."""
    plain = click.unstyle(text)
    if plain.isascii():
        return len(plain)
    return sum(
        0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1
        for c in plain
    )


def cut(text: str, columns: int, keep: Literal["beginning", "ends"] = "beginning") -> str:
    """A text in at most so many columns, with … where it was cut; its style goes with the rest."""
    if width(text) <= columns:
        return text
    plain = click.unstyle(text)
    tail = _beginning(plain[::-1], (columns - 1) // 2)[::-1] if keep == "ends" else ""
    return f"{_beginning(plain, columns - 1 - width(tail))}…{tail}"


def _beginning(text: str, columns: int) -> str:
    """As many characters as fit."""
    taken = 0
    for index, character in enumerate(text):
        taken += width(character)
        if taken > columns:
            return text[:index]
    return text


def wrapped(text: str, indent: int = 0) -> list[str]:
    """A plain text broken between words at the terminal's edge; later lines are indented.

    A no-break space keeps words together and is printed as a plain one.
    """
    import textwrap

    lines = textwrap.wrap(
        text,
        terminal_width(),
        subsequent_indent=" " * indent,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return [line.replace("\xa0", " ") for line in lines]


def one_line(text: str) -> str:
    """A text without line breaks or anything a terminal would obey."""
    return " ".join(safe(text).split())


def safe(text: str) -> str:
    """Transcript text with control characters made visible: it must not drive the terminal."""
    if text.isprintable():
        return text
    return "".join(
        c if c.isprintable() or c in "\n\t" else f"\\x{ord(c):02x}" if ord(c) < 256 else "\ufffd"
        for c in text.replace("\r\n", "\n")
    )


def terminal_width() -> int:
    return max(60, min(shutil.get_terminal_size((100, 24)).columns, 160))


@dataclass(frozen=True)
class Column:
    """A column of a table, and what becomes of it when the table is too wide."""

    title: str
    align: Literal["left", "right"] = "right"
    flexible: bool = False
    """It may be cut."""
    keep: Literal["beginning", "ends"] = "beginning"
    """What is left of a cut cell. Names that begin alike are told apart by their ends."""
    drop: int = 0
    """Its turn to be left out, 1 being the first; 0 is never left out."""


def table(columns: Sequence[Column], rows: Iterable[Sequence[str]]) -> list[str]:
    """Lines of a table, as wide as its content or the terminal.

    Where there is too little room, labels are cut as long as they stay readable, then columns are
    left out, which the last line says, and only then are labels cut further.
    """
    body = [list(row) for row in rows]
    wanted = [
        max(width(column.title), *(width(row[i]) for row in body), 0)
        for i, column in enumerate(columns)
    ]
    kept = _kept(columns, wanted)
    shown = [columns[i] for i in kept]
    sizes = _sizes(shown, [wanted[i] for i in kept])
    heading = _table_line([dim(column.title) for column in shown], shown, sizes)
    lines = [heading, *(_table_line([row[i] for i in kept], shown, sizes) for row in body)]
    if len(shown) < len(columns):
        missing = ", ".join(column.title for column in columns if column not in shown)
        lines.append(dim(f"no room here for: {missing}"))
    return lines


def _kept(columns: Sequence[Column], wanted: Sequence[int]) -> list[int]:
    """The columns that fit with readable labels, and those that are never left out."""
    kept = list(range(len(columns)))
    least = [
        min(size, READABLE) if column.flexible else size
        for column, size in zip(columns, wanted, strict=True)
    ]
    for i in sorted(kept, key=lambda i: columns[i].drop):
        if sum(least[k] for k in kept) <= _room(len(kept)):
            break
        if columns[i].drop:
            kept.remove(i)
    return kept


def _sizes(columns: Sequence[Column], wanted: Sequence[int]) -> list[int]:
    """How wide each column gets; the widest labels are cut first."""
    sizes = list(wanted)
    flexible = [i for i, column in enumerate(columns) if column.flexible]
    while sum(sizes) > _room(len(sizes)) and any(sizes[i] > NARROWEST for i in flexible):
        sizes[max(flexible, key=lambda i: sizes[i])] -= 1
    return sizes


def _room(columns: int) -> int:
    """What the terminal leaves for cells, two spaces standing between columns."""
    return terminal_width() - 2 * (columns - 1)


def _table_line(cells: Sequence[str], columns: Sequence[Column], sizes: Sequence[int]) -> str:
    parts = []
    for cell, column, room in zip(cells, columns, sizes, strict=True):
        text = cut(cell, room, column.keep)
        padding = " " * (room - width(text))
        parts.append(padding + text if column.align == "right" else text + padding)
    return "  ".join(parts).rstrip()


def page(lines: Iterable[str]) -> None:
    """Long text: through a pager on a terminal, plain elsewhere."""
    click.echo_via_pager(f"{line}\n" for line in lines)


def bold(text: str) -> str:
    return click.style(text, bold=True)


def dim(text: str) -> str:
    return click.style(text, dim=True)
