"""What an instruction text asks for and forbids, clause by clause, and where that holds.

A clause is words that carry meaning, whether it forbids, under which condition, and the numbers in
it; case, order, endings in s and small words do not count. Around it stand the heading, the item it
is nested in and the label before it: the same words in two lists may speak of two things. Only what
tells somebody what to do is a directive; descriptions are never set against one another. Everything
here is pure.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple

from hansei.instructions import block
from hansei.instructions.sentences import HEADER, MARK, SILENT, Part, parts, sentence_spans
from hansei.projection.commands.rivals import families
from hansei.projection.snapshots.languages import LANGUAGES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_CODE: Final = re.compile(r"`+([^`\n]+)`+")
_WORD: Final = re.compile(r"[\w@][\w@./:+-]*", re.UNICODE)
_NUMBER: Final = re.compile(r"\d+(?:[.,]\d+)*\+?%?")
_NUMBERED: Final = re.compile(
    r"(?:\b(?:phase|step|task|section|chapter|option|example|level|tier|day|week|part|issue|item"
    r"|line|rule|figure|table|error|status|http|sprint|milestone|story|test)s?\s+"
    r"|#|\b\d{4}-)\d[\d.-]*",
    re.IGNORECASE,
)
"""Numbers that are names."""
_BOUND: Final = re.compile(
    r"\b(?:at least|at most|or (?:newer|later|higher|more|above|less|fewer)|minimum|maximum|max|min"
    r"|up to|no more than|less than|more than|under|below|above|between)\b|[<>≥≤~+]",
    re.IGNORECASE,
)
_LIMIT: Final = re.compile(
    r"\b(?:length|limit|width|indent\w*|timeout|version|port|coverage|threshold|columns?|spaces?"
    r"|characters?|maximum|minimum|max|min)\b",
    re.IGNORECASE,
)
"""What a number is an instruction about even where nothing else says so."""

FORBIDS: Final = re.compile(
    r"\b(?:never|do not|don't|dont|must not|mustn't|should not|shouldn't|may not"
    r"|avoid|refrain from|no longer|not allowed|forbidden|prohibited|stop)\b",
    re.IGNORECASE,
)
_DESCRIBES: Final = re.compile(
    r"\b(?:does not|doesn't|cannot|can't|is not|isn't|are not|aren't|was|were|did not|didn't"
    r"|will not|won't|has been|have been|has not)\b",
    re.IGNORECASE,
)
"""What is so, not what to do."""
_ASKS: Final = re.compile(r"\b(?:must|always|should|shall|required|please)\b", re.IGNORECASE)
_EXCEPTS: Final = re.compile(
    r"\b(?:unless|except|only|otherwise|by default|other than|apart from|temporarily|yet|if|just"
    r"|merely)\b",
    re.IGNORECASE,
)
"""A rule that says itself where it ends is at odds with nothing."""
_CONDITION: Final = re.compile(
    r"\b(?:when|whenever|where|until|while|before|after|during|in|inside|within|on|at|for|from|to"
    r"|into|via|without|with|because|so|since|as|by|through|across|against)\b",
    re.IGNORECASE,
)
_SPLITS: Final = re.compile(
    r";\s+|,\s+(?:and\s+)?then\s+|:\s+(?=\S+\s+\S+\s+\S)|\s+[—–-]+\s+"
    r"|(?:,\s+(?:(?:and|but|or)\s+)?|\s+(?:and|but)\s+)"
    r"(?=(?:never\s+(?!`)|always|do not|don't|avoid|must not)\b)",
    re.IGNORECASE,
)
"""Between clauses. What follows a colon in a word or two is a value, and no clause."""
_LED_BY: Final = re.compile(
    r"^\W*(?:if|when|whenever|unless|until|while|before|after|in|for|on|during|where)\b",
    re.IGNORECASE,
)
_INSTEAD: Final = re.compile(
    r"^\W*(?:always\s+)?(?P<verb>[a-z]+)\s+(?P<this>[^,;]+?)"
    r"(?:,\s+(?:not|never)(?!\s+(?:just|only|yet|to)\b)|,?\s+(?:instead of|rather than)"
    r"|\s+(?P<choice>over|not))\s+(?P<that>[^,;.]+)",
    re.IGNORECASE,
)
_POINTS: Final = re.compile(r"\W*(?:this|these|those|that|it|they|such|both|each)\b", re.IGNORECASE)
_NO: Final = re.compile(r"\W*no\s", re.IGNORECASE)
_LATEST: Final = 4
"""Words before a "never" that is about the whole clause: agents in this repository must never."""
_AWAY: Final = re.compile(
    r"^(?:dont'?s?|don'ts?|avoid|never|do not|bad|wrong|forbidden|prohibited|anti-?patterns?"
    r"|what not to do|things to avoid|❌.*|never do (?:this|these))\W*$",
    re.IGNORECASE,
)
"""A heading or lead whose items are what not to do."""
_LABEL: Final = re.compile(r"^([^:]{1,40}):[*_]{0,2}\s")
_OWNED: Final = re.compile(r"(?<=\w)'s\b")
_BULLET: Final = re.compile(r"^([ \t]*)(?:[-*+]|\d{1,9}[.)]) ")
_HEADING: Final = re.compile(r"\s{0,3}(#{1,6}) +(.*)")
_STARS: Final = re.compile(r"[*_]{1,3}(?=\S)|(?<=\S)[*_]{1,3}(?=\W|$)")


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_SMALL: Final = _set(
    "a an the to of in on for and or is are be it its this that these those with by at as from"
    " always do does must should may can please you your we our they them all any every will would"
    " so just also only sure ensure"
)
_CHOOSING: Final = _set("use prefer run call choose pick favor favour")
VERBS: Final = _CHOOSING | _set(
    "write add avoid keep put place make create delete remove edit change update commit push pull"
    " merge rebase test check verify validate format lint build install deploy start stop open read"
    " follow ensure include exclude import export name document log report ask wait stage rename"
    " move copy store set return raise throw catch handle wrap split extract reuse respect preserve"
    " generate regenerate amend squash mock stub skip ignore enable disable"
    " declare define annotate type cast sort group order load save fetch send treat leave apply do"
    " never always consult reference cite quote mark pass inject expose hide track record review"
    " fix debug refactor prefix suffix escape sanitize cache pin bump release tag target match"
    " mirror implement insert append begin end finish close reserve hardcode touch modify work stay"
)
"""Words that a line of instructions begins with when it tells somebody to do something."""


def _forms(verb: str) -> Iterator[str]:
    """How a verb looks in "avoid doing" and "must be done"."""
    bare = verb.removesuffix("e")
    for end in ("ing", "ed"):
        yield from (verb + end, bare + end, verb + verb[-1] + end)


_SAME: Final = {form: verb for verb in sorted(VERBS) for form in _forms(verb)} | {
    "prefer": "use", "preferred": "use", "preferring": "use", "used": "use", "using": "use",
    "uses": "use", "written": "write",
}  # fmt: skip


class Place(NamedTuple):
    """Where a text holds."""

    folder: str = ""
    """Of the repository; all of it where empty."""
    files: str = ""
    """The pattern that a rule is for."""
    skill: str = ""
    """The skill whose text it is: read for one kind of work."""


EVERYWHERE: Final = Place()


@dataclass(frozen=True)
class Meaning:
    """One clause."""

    words: frozenset[str]
    forbids: bool
    core: frozenset[str] = frozenset()
    """The words before any condition."""
    condition: frozenset[str] = frozenset()
    numbers: tuple[str, ...] = ()
    sets_number: bool = False
    """Whether a number in it is a choice: a limit, or which version to use; not a name."""
    programs: frozenset[str] = frozenset()
    """Those of its words that are programs with rivals."""
    is_directive: bool = False
    is_excepted: bool = False
    is_bounded: bool = False
    chooses: bool = False
    """Whether it says to use something."""


@dataclass(frozen=True)
class Statement:
    """A sentence, where it stands, and what it says."""

    path: str
    line: int
    text: str
    place: Place = EVERYWHERE
    heading: str = ""
    under: str = ""
    """The item it is nested in, or the words that lead its list in."""
    meanings: tuple[Meaning, ...] = ()
    code: frozenset[str] = frozenset()
    """What stands between backticks."""
    languages: frozenset[str] = frozenset()
    """Programming languages that it, its label or its heading names."""

    @property
    def words(self) -> frozenset[str]:
        """All words that carry meaning."""
        return frozenset().union(*(it.words for it in self.meanings))

    @property
    def plain(self) -> str:
        """Its words alone, to see whether two are the very same."""
        return _plain(self.text)


@lru_cache(maxsize=65536)
def _plain(text: str) -> str:
    return " ".join(it.rstrip(".:") for it in _WORD.findall(text.replace("`", "").casefold()))


class _Around(NamedTuple):
    heading: str = ""
    under: str = ""


# --- reading --------------------------------------------------------------------------------------


def own_text(content: str) -> str:
    """A text without its header and without the block that we wrote; lines keep their numbers."""
    header = HEADER.match(content)
    if header is not None:
        content = "\n" * header[0].count("\n") + content[header.end() :]
    try:
        found = block.parse(content)
    except block.Broken:
        return content
    if found.block is None:
        return content
    lines = content.count("\n") - found.before.count("\n") - found.after.count("\n")
    return found.before + "\n" * lines + found.after


def statements(path: str, content: str, place: Place = EVERYWHERE) -> Iterator[Statement]:
    """Everything that a text's author says, sentence by sentence."""
    for part, around in _with_context(parts(own_text(content))):
        if SILENT.match(part.text):
            continue
        for line, text in sentence_spans(part):
            yield read(text, path, line, place, around.heading, around.under)


def _with_context(found: Iterable[Part]) -> Iterator[tuple[Part, _Around]]:
    """Each part with the heading over it and what it is nested in."""
    heading, lead = "", ""
    open_items: list[tuple[int, str]] = []
    for part in found:
        title = _HEADING.match(part.text)
        item = _BULLET.match(part.text)
        if title is not None:
            heading, lead, open_items = title[2].strip(" #"), "", []
        elif item is None:
            lead, open_items = (part.text if part.text.rstrip(" *_").endswith(":") else ""), []
        depth = len(item[1].expandtabs(4)) if item is not None else 0
        while item is not None and open_items and open_items[-1][0] >= depth:
            open_items.pop()
        under = open_items[-1][1] if open_items else lead if item is not None else ""
        yield part, _Around(heading, " ".join(under.split()))
        if item is not None:
            open_items.append((depth, part.text))


def read(
    text: str,
    path: str = "",
    line: int = 0,
    place: Place = EVERYWHERE,
    heading: str = "",
    under: str = "",
) -> Statement:
    """One sentence, taken apart."""
    away = any(_AWAY.match(_STARS.sub("", MARK.sub("", it))) for it in (heading, under) if it)
    unclear = not away and any(FORBIDS.search(it) for it in (heading, under))
    # What "these" are, or where a piece of code began, stands in another sentence.
    unclear = unclear or _POINTS.match(text) is not None or text.count("`") % 2 == 1
    label = _LABEL.match(text)
    around = f"{heading} {under} {label[1] if label else ''}"
    return Statement(
        path,
        line,
        text,
        place,
        heading,
        under,
        tuple(meanings(text, away=away, unclear=unclear)),
        frozenset(" ".join(it.split()).casefold() for it in _CODE.findall(text)),
        LANGUAGES & {it.casefold().rstrip(".:") for it in _WORD.findall(f"{around} {text}")},
    )


# --- meaning --------------------------------------------------------------------------------------


def meanings(text: str, *, away: bool = False, unclear: bool = False) -> list[Meaning]:
    """What a sentence asks for and forbids; `use this, not that` does both.

    `away`: it stands in a list of what not to do; `unclear`: that may be so.
    """
    plain = _OWNED.sub("", _STARS.sub("", text.replace("’", "'")))
    found: list[Meaning] = []
    before = ""
    for clause in _SPLITS.split(plain):
        whole = f"{clause} {before}" if before else clause
        before = clause if _LED_BY.match(clause) else ""
        found += _clause(whole, away=away, unclear=unclear)
    return found


def _clause(text: str, *, away: bool, unclear: bool) -> Iterator[Meaning]:
    both = _INSTEAD.match(text)
    verb = both["verb"].lower() if both else ""
    chosen = both is not None and verb in (_CHOOSING if both["choice"] else VERBS)
    if both is not None and chosen and not FORBIDS.search(both["this"]):
        this, that = _each_with_condition(both["this"], both["that"])
        yield _meaning(f"{verb} {this}", forbids=away, told=True, unclear=unclear)
        yield _meaning(f"{verb} {that}", forbids=not away, told=True, unclear=unclear)
        return
    found = FORBIDS.search(text)
    forbids = found is not None or _NO.match(text) is not None
    late = found is not None and len(text[: found.start()].split()) > _LATEST
    yield _meaning(text, forbids=forbids or away, told=forbids, unclear=unclear or late)


def _each_with_condition(this: str, that: str) -> tuple[str, str]:
    """Both sides with what is said behind one of them: pnpm, not npm, for installs."""
    found = [it[it_is.start() :] if (it_is := _CONDITION.search(it)) else "" for it in (this, that)]
    return f"{this} {'' if found[0] else found[1]}", f"{that} {'' if found[1] else found[0]}"


def _meaning(text: str, *, forbids: bool, told: bool, unclear: bool) -> Meaning:
    rest = FORBIDS.sub(" ", text)
    first = _WORD.search(rest)
    verb = _stem(first[0].lower()) if first else ""
    directive = told or verb in VERBS or _ASKS.search(text) is not None
    numbers = tuple(it.rstrip("+%") for it in _NUMBER.findall(_named_out(_NUMBERED.sub(" ", rest))))
    mark = _CONDITION.search(rest, first.end() if first else 0)
    core, words = _words(rest[: mark.start()] if mark else rest), _words(rest)
    named = _CODE.sub(" ", rest)
    led = _NUMBER.match(named.lstrip()) is not None  # a row of a table, or an item's number
    limits = bool(numbers) and not led and _LIMIT.search(named) is not None
    chooses = verb in _CHOOSING or not verb
    return Meaning(
        words=words,
        forbids=forbids,
        core=core,
        condition=words - core,
        numbers=numbers,
        sets_number=limits or chooses,
        programs=words & families().keys(),
        is_directive=not unclear and (directive or limits) and not _DESCRIBES.search(text),
        is_excepted=_EXCEPTS.search(text) is not None,
        is_bounded=_BOUND.search(rest) is not None,
        chooses=chooses,
    )


def _named_out(text: str) -> str:
    """Without numbers that are part of a name: utf8, python3.11, `src/v2`."""
    return re.sub(r"[A-Za-z_/][\w./-]*\d[\w./-]*", " ", text)


def _words(text: str) -> frozenset[str]:
    """Words that carry meaning: no small ones, except in code, where `any` is a type."""
    plain = _CODE.sub(" ", text)
    # A capital A in the middle is a name: gym A and gym B are two.
    found = (it.rstrip(".:-/") for it in _WORD.findall(plain))
    lower = (it if it == "A" and place else it.lower() for place, it in enumerate(found))
    said = {_stem(it) for it in lower if it and it not in _SMALL}
    spans = " ".join(_CODE.findall(text)).lower()
    return frozenset(said | {_stem(it.rstrip(".:-/")) for it in _WORD.findall(spans)} - {""})


def _stem(word: str) -> str:
    if word in _SAME:
        return _SAME[word]
    plural = len(word) > 3 and word.isalpha() and word.endswith("s") and not word.endswith("ss")
    return word[:-1] if plural else word
