"""The changes that sessions make to the application.

Every piece of work adds lines that occur nowhere else, so that its fate in git can be known by
content alone: its function is named after a deed that no other session is given.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from math import gcd
from typing import TYPE_CHECKING

from hansei.synth.codebase import ENTITIES, page_path, service_path, suite_path
from hansei.synth.dice import dice

if TYPE_CHECKING:
    from collections.abc import Mapping
    from random import Random

FULL = 230
"""Lines after which a file is followed by another volume; keeps files of a readable size."""

WIDTH = 72
"""Where the house formatter wraps, narrower than the agents write."""

_VERBS = re.findall(
    r"\w+",
    """waive extend split round archive merge cancel flag defer refund confirm transfer hold
    release forecast rank audit credit swap pause renew""",
)
_NOUNS = re.findall(
    r"\w+",
    """late_fee winter_rate deposit waitlist overstay day_rate power_meter discount handover
    quay_pass reminder crane_slot fuel_card tide_window deed_of_sale night_watch mooring_line
    shore_ticket lock_passage""",
)
_TAILS = re.findall(
    r"\w+",
    """for_members for_visitors after_dusk per_metre at_checkout on_transfer before_season by_length
    with_grace for_groups during_regatta for_charters under_repair""",
)

_NUMBERS = {
    "GRACE_DAYS = 2": "GRACE_DAYS = {}",
    "HOLD_HOURS = 36": "HOLD_HOURS = {}",
    "CEILING_CENTS = 480_00": "CEILING_CENTS = {}_00",
}
"""The numbers every service begins with, and how to write another one."""


@dataclass(frozen=True)
class Deed:
    """Something the harbour wants done."""

    name: str
    slug: str
    phrase: str


@dataclass(frozen=True)
class Slip:
    """A line as the house rules want it, and as the agent first wrote it."""

    topic: str
    right: str
    wrong: str


@dataclass(frozen=True)
class Edit:
    path: str
    old: str
    """Unique in the file; empty where the file is new."""
    new: str
    added: str
    """What the edit brings, without the old text it is anchored to."""
    removed: str = ""
    slip: Slip | None = None

    def apply(self, content: str) -> str:
        return content.replace(self.old, self.new, 1) if self.old else self.new

    def undo(self, content: str) -> str:
        return content.replace(self.added, self.removed, 1)


@dataclass(frozen=True)
class Work:
    deed: Deed
    entity: str
    edits: tuple[Edit, ...]


def deed(seed: int, index: int) -> Deed:
    """The index-th thing the harbour wants; no two are alike."""
    count = len(_VERBS) * len(_NOUNS) * len(_TAILS)
    rng = dice(seed, "deeds")
    shift, stride = rng.randrange(count), rng.randrange(1, count)
    while gcd(stride, count) != 1:  # only then does every place come up before one repeats
        stride += 1
    turn, place = divmod(index, count)
    place = (place * stride + shift) % count
    place, verb = divmod(place, len(_VERBS))
    place, noun = divmod(place, len(_NOUNS))
    again = f"_{turn + 1}" if turn else ""
    verb_word, noun_word, tail = _VERBS[verb], _NOUNS[noun], _TAILS[place] + again
    return Deed(
        name=f"{verb_word}_{noun_word}_{tail}",
        slug=f"{verb_word} {noun_word} {tail}".replace("_", " "),
        phrase=f"{verb_word} the {noun_word} {tail}".replace("_", " "),
    )


def feature(
    tree: Mapping[str, str], wanted: Deed, rng: Random, topic: str | None, *, with_page: bool
) -> Work:
    """A new rule with its test, and maybe a line on the page."""
    entity = min(ENTITIES, key=lambda name: (_length(tree, _newest(tree, name)), name))
    volume = _newest(tree, entity)
    if _length(tree, volume) > FULL:
        volume = (entity, volume[1] + 1)
    code, test, slip = _shape(wanted, entity, rng, topic)
    edits = [
        _append(tree, service_path(*volume), service_path(entity), code, slip),
        _append(tree, suite_path(*volume), suite_path(entity), test, None),
    ]
    page = page_path(entity)
    if with_page and tree[page].count("\n") < FULL:
        edits.append(_append(tree, page, page, _page_code(wanted, rng), None))
    return Work(wanted, entity, tuple(edits))


def fix(tree: Mapping[str, str], wanted: Deed, rng: Random) -> Work | None:
    """One of the harbour's numbers set right; None when each was changed before."""
    places = [
        (entity, line)
        for entity in ENTITIES
        for line in _NUMBERS
        if f"\n{line}\n" in tree[service_path(entity)]
    ]
    if not places:
        return None
    entity, line = rng.choice(places)
    new = f"{_NUMBERS[line].format(rng.randrange(40, 90))}  # {wanted.slug}"
    edit = Edit(service_path(entity), line, new, added=new, removed=line)
    return Work(wanted, entity, (edit,))


def unformatted(edit: Edit) -> Edit:
    """The same edit as an agent writes it that does not run the formatter."""
    code = _single_quoted(edit.added)
    return Edit(edit.path, edit.old, edit.new.replace(edit.added, code), code, edit.removed)


def formatted(edit: Edit) -> Edit:
    """The same edit after the house formatter."""
    code = "\n".join(_wrapped(line) for line in edit.added.replace("'", '"').split("\n"))
    return Edit(edit.path, edit.old, edit.new.replace(edit.added, code), code, edit.removed)


def reworked(wanted: Deed, edit: Edit) -> tuple[str, str]:
    """A line of the edit and what a person made of it later."""
    line = next(line for line in edit.added.split("\n") if wanted.slug in line)
    return line, line.replace(wanted.slug, f"{wanted.slug}, as the office says it")


def _single_quoted(code: str) -> str:
    return code.replace('"""', "\0").replace('"', "'").replace("\0", '"""')


def _wrapped(line: str) -> str:
    head, bracket, rest = line.partition("(")
    if len(line) <= WIDTH or not bracket or not rest.endswith(")"):
        return line
    margin = " " * (len(line) - len(line.lstrip()))
    return f"{head}(\n{margin}    {rest[:-1]}\n{margin})"


def _newest(tree: Mapping[str, str], entity: str) -> tuple[str, int]:
    volume = 0
    while service_path(entity, volume + 1) in tree:
        volume += 1
    return entity, volume


def _length(tree: Mapping[str, str], volume: tuple[str, int]) -> int:
    return tree[service_path(*volume)].count("\n")


def _append(tree: Mapping[str, str], path: str, model: str, code: str, slip: Slip | None) -> Edit:
    """Code after the last block of a file, or in a new file that begins as its model does."""
    separator = "\n\n" if path.endswith(".ts") else "\n\n\n"
    added = separator + code
    if path not in tree:
        head = tree[model].split("\n\n\n", 1)[0].rstrip("\n")
        return Edit(path, "", f"{head}{added}\n", added, slip=slip)
    last = tree[path].rstrip("\n").rpartition(separator)[2]
    return Edit(path, last, last + added, added, slip=slip)


def _shape(
    wanted: Deed, entity: str, rng: Random, topic: str | None
) -> tuple[str, str, Slip | None]:
    """Code, its test, and the slip that belongs to the topic."""
    name = topic if topic in _SHAPES else rng.choice(sorted(_SHAPES))
    code, test, right, wrong = (part.strip("\n") for part in _SHAPES[name])
    words = {
        "name": wanted.name,
        "slug": wanted.slug,
        "phrase": wanted.phrase,
        "entity": entity,
        "Entity": entity.capitalize(),
        "days": str(rng.randrange(2, 60)),
        "part": str(rng.randrange(7, 90)),
        "cents": str(rng.randrange(11, 990) * 10),
    }
    right, wrong = right.format(**words), wrong.format(**words)
    slip = Slip(name, right, wrong) if name == topic else None
    return code.format(right=right, **words), test.format(**words), slip


_SHAPES: dict[str, tuple[str, str, str, str]] = {
    "cents": (
        '''
def {name}({entity}: {Entity}, days: int = {days}) -> {Entity}:
    """Decide whether to {phrase}."""
{right}
    if {name}_cents > {cents}:
        raise Refused("{slug} is above {cents} cents")
    rest = {entity}.amount_cents - {name}_cents
    return replace({entity}, amount_cents=rest, since=clock.today(), note="{slug}")
''',
        """
def test_{name}() -> None:
    assert {name}(make(amount_cents=300)).note == "{slug}"
""",
        "    {name}_cents = {entity}.amount_cents * days // {part}",
        "    {name}_cents = float({entity}.amount_cents) * days / {part}.0",
    ),
    "logger": (
        '''
def {name}(rows: list[{Entity}], limit: int = {days}) -> list[{Entity}]:
    """Choose where to {phrase}."""
    kept = [row for row in rows if row.is_open and row.amount_cents >= {cents}]
{right}
    return sorted(kept, key=lambda row: (row.length_dm, -row.amount_cents))[:limit]
''',
        """
def test_{name}() -> None:
    rows = [make(id=1, amount_cents={cents}), make(id=2, amount_cents={cents} - 1)]
    assert [row.id for row in {name}(rows)] == [1]
""",
        '    logger.info("{slug}: %d of %d", len(kept), len(rows))',
        '    print("{slug}:", len(kept), "of", len(rows))',
    ),
    "clock": (
        '''
def {name}({entity}: {Entity}) -> bool:
    """Whether it is time to {phrase}."""
{right}
    late = {name}_days > GRACE_DAYS + {days} and {entity}.amount_cents > {cents}
    return late and "{slug}" not in {entity}.note
''',
        """
def test_{name}() -> None:
    assert not {name}(make(note="{slug}"))
""",
        "    {name}_days = (clock.today() - {entity}.since).days",
        "    {name}_days = (datetime.now().date() - {entity}.since).days",
    ),
}


def _page_code(wanted: Deed, rng: Random) -> str:
    first, *rest = wanted.name.split("_")
    camel = first + "".join(word.capitalize() for word in rest)
    return "\n".join(
        (
            f"export function {camel}(rows: Row[]): string {{",
            f"  const shown = rows.filter((row) => row.amountCents >= {rng.randrange(11, 990)}0);",
            "  const sum = shown.reduce((cents, row) => cents + row.amountCents, 0);",
            f"  return `{wanted.slug}: ${{shown.length}}, ${{formatCents(sum)}}`;",
            "}",
        )
    )
