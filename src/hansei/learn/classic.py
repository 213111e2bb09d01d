"""The five simple rules that learning from sessions began with, for comparison.

They look at the text alone: a command failed if its output holds `error:`, a message corrects if
it holds one of seven words, and no two commands need to have anything to do with one another.
Nothing is weighed, so what our own detectors are worth can be told by the difference. Where the
rules leave a choice, docs/concepts/classic-rules.md says which one is made here.
"""

from __future__ import annotations

import re
import shlex
from collections import Counter
from difflib import SequenceMatcher
from itertools import pairwise
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from hansei.events.keys import digest
from hansei.events.model import Origin, Prompt, Tool, ToolCall, ToolResult
from hansei.learn.model import Evidence, Offer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from hansei.store.reading import Numbered

FAILED: Final = "error:"
SHORTEST_PROCEDURE: Final = 4
BUSY_SESSION: Final = 6
"""Terminal calls from which on repeats count."""
REPEATS: Final = 2
CORRECTING: Final = ("no", "instead", "try", "actually", "wrong", "not what", "different")
ASKING: Final = (
    *("save this", "add a skill", "remember this"),
    *("create skill about", "save as skill", "make a skill"),
)
UNNAMED: Final = "saved-skill"
LONGEST_NAME: Final = 64
LONGEST_COMPARED: Final = 200
"""Words; longer commands are scripts, and comparing those word by word takes for ever."""

_NAMED = re.compile(
    r"\bas\s+(?:(?:an?|the|new|skill|named|called)\s+)*(?!(?:an?|the|new|skill)\b)"
    r"[\"'`]?(\w[\w.-]*)",
    re.IGNORECASE,
)
_ABOUT = re.compile(r"\babout\s+(?:(?:an?|the|how|to)\s+)*[\"'`]?(\w[\w.-]*)", re.IGNORECASE)
_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]*://", re.IGNORECASE)
_VERSION = re.compile(r"[=~^<>!]*v?\d+(?:\.\d+)*", re.IGNORECASE)
_VERSION_BEHIND = re.compile(r"(?:[@:]|[=~<>!]=)v?\d[\w.-]*$", re.IGNORECASE)
_VARIABLE = re.compile(r"[A-Za-z_]\w*=")
_NO_NAME = re.compile(r"[^a-z0-9]+")
_PLAIN = re.compile(r"[a-z][a-z-]*")


class Ran(NamedTuple):
    """A command in the terminal and what it printed."""

    seq: int
    command: str
    output: str = ""

    @property
    def failed(self) -> bool:
        return FAILED in self.output.lower()


class Said(NamedTuple):
    """What a person typed."""

    seq: int
    text: str


Transcript: TypeAlias = "Sequence[Ran | Said]"


def transcript(events: Iterable[Numbered]) -> list[Ran | Said]:
    """What the rules see of a session: messages of people and commands in the terminal."""
    listed = list(events)
    outputs = {it.event.call: it.event.text for it in listed if isinstance(it.event, ToolResult)}
    told: list[Ran | Said] = []
    for seq, event in listed:
        if isinstance(event, Prompt) and event.origin in (Origin.HUMAN, Origin.QUEUED_HUMAN):
            told.append(Said(seq, event.text))
        elif isinstance(event, ToolCall) and event.tool is Tool.SHELL and event.text.strip():
            told.append(Ran(seq, event.text.strip(), outputs.get(event.call, "")))
    return told


def offers(session: str, told: Transcript) -> list[Offer]:
    """What the rules offer from one session: at most one each, in their order."""
    found = (rule(session, told) for rule in RULES.values())
    return [it for it in found if it is not None]


# --- the rules ------------------------------------------------------------------------------------


def multi_step(session: str, told: Transcript) -> Offer | None:
    """Four or more commands in a row that worked; the first such row."""
    row: list[Ran] = []
    for ran in [*_ran(told), None]:
        if ran is not None and not ran.failed:
            row.append(ran)
            continue
        if len(row) >= SHORTEST_PROCEDURE:
            topic = _program(row[0].command)
            description = f"Multi-step procedure: {topic} ({len(row)} steps)"
            opening = "Commands that worked one after another in a session."
            return _offer("multi-step", f"procedure-{topic}", description, opening, session, row)
        row = []
    return None


def error_recovery(session: str, told: Transcript) -> Offer | None:
    """A command that failed, and the next one, which is written differently and worked."""
    ran = list(_ran(told))
    for before, after in pairwise(ran):
        if not before.failed or after.failed:
            continue
        if changed := _changed(before.command, after.command):
            topic = _program(before.command)
            return _offer(
                "error-recovery",
                f"error-{topic}",
                f"Error recovery: {topic} ({changed})",
                "A command that failed in a session, and the one that worked.",
                session,
                (after,),
                table=_table("Error Fix", before.command, after.command),
                evidence=(before, after),
            )
    return None


def user_correction(session: str, told: Transcript) -> Offer | None:
    """A message with a word that corrects, between a command and one that worked."""
    for place, said in enumerate(told):
        if not isinstance(said, Said) or not _holds(said.text, CORRECTING):
            continue
        before = next(_ran(reversed(told[:place])), None)
        after = next((it for it in _ran(told[place:]) if not it.failed), None)
        if before is not None and after is not None:
            topic = _differing(before.command, after.command)
            return _offer(
                "user-correction",
                f"user-correction-{topic}",
                f"User correction: {topic}",
                "What worked in a session after a person corrected the agent.",
                session,
                (after,),
                table=_table("Correction", before.command, after.command),
                evidence=(before, said, after),
            )
    return None


def repeated_action(session: str, told: Transcript) -> Offer | None:
    """The first command of a busy session that is run again, but for its particulars."""
    ran = list(_ran(told))
    times = Counter(normalised(it.command) for it in ran)
    often = [it for it in times if it and times[it] >= REPEATS]
    if len(ran) < BUSY_SESSION or not often:
        return None
    same = [it for it in ran if normalised(it.command) == often[0]]
    once = list({it.command: it for it in reversed(same)}.values())[::-1]
    description = f"Repeated action: {often[0]} ({len(same)} times)"
    opening = "A command that was run again and again in a session."
    name = f"repeated-{often[0]}"
    return _offer("repeated-action", name, description, opening, session, once, evidence=same)


def explicit_instruction(session: str, told: Transcript) -> Offer | None:
    """A message that asks for a skill, with the commands around it."""
    for place, said in enumerate(told):
        if isinstance(said, Said) and _holds(said.text, ASKING):
            named = _NAMED.search(said.text) or _ABOUT.search(said.text)
            name = named[1] if named else UNNAMED
            around = _around(told, place)
            description = f"Explicit instruction: {' '.join(said.text.split())[:120]}"
            opening = "What a person asked to have saved in a session."
            return _offer(
                *("explicit-instruction", name, description, opening, session, around),
                evidence=(said, *around),
            )
    return None


RULES: Final[dict[str, Callable[[str, Transcript], Offer | None]]] = {
    "multi-step": multi_step,
    "error-recovery": error_recovery,
    "user-correction": user_correction,
    "repeated-action": repeated_action,
    "explicit-instruction": explicit_instruction,
}


# --- the parts they are made of -------------------------------------------------------------------


def normalised(command: str) -> str:
    """A command without paths, flags with their values, and versions; addresses as `<url>`.

    Which flags take a value is not known, so each takes the word after it, unless that is a flag
    or an address itself.
    """
    kept: list[str] = []
    after_flag = False
    for word in _split(command):
        is_address = _ADDRESS.match(word) is not None
        is_value, after_flag = after_flag and not is_address, word.startswith("-")
        if after_flag:
            after_flag = "=" not in word
        elif is_address:
            kept.append("<url>")
        elif not (is_value or "/" in word or word in (".", "..", "~")):
            kept.append("" if _VERSION.fullmatch(word) else _VERSION_BEHIND.sub("", word))
    return " ".join(filter(None, kept))


def _split(command: str) -> list[str]:
    try:
        return shlex.split(command)
    except ValueError:  # a quote that is never closed
        return command.split()


def _ran(told: Iterable[Ran | Said]) -> Iterator[Ran]:
    return (it for it in told if isinstance(it, Ran))


def _holds(text: str, phrases: Iterable[str]) -> bool:
    lowered = text.lower()
    return any(it in lowered for it in phrases)


def _program(command: str) -> str:
    """The first word that means something: neither a variable nor what only stands before it."""
    for word in _split(command):
        name = _slug(word.rpartition("/")[2])
        if name and word not in ("sudo", "env", "time") and not _VARIABLE.match(word):
            return name
    return "command"


def _differing(before: str, after: str) -> str:
    """The first word of a command that the other does not have, up to its first mark."""
    others = _split(before)
    new = [it for it in _split(after) if it not in others and not it.startswith("-")]
    plain = [found[0] for it in new if (found := _PLAIN.match(it.lower()))]
    return _slug(plain[0]) if plain else _program(after)


def _changed(before: str, after: str) -> str:
    """What became what, word by word; empty where nothing did."""
    old, new = before.split(), after.split()
    if max(len(old), len(new)) > LONGEST_COMPARED:
        return "" if old == new else "written anew"
    steps = SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    parts = (
        f"{' '.join(old[a:b]) or 'nothing'} → {' '.join(new[c:d]) or 'nothing'}"
        for kind, a, b, c, d in steps
        if kind != "equal"
    )
    return ", ".join(parts)


def _around(told: Transcript, place: int) -> list[Ran]:
    """The commands from the message before to the message after one."""
    said = [number for number, it in enumerate(told) if isinstance(it, Said)]
    first = max((it for it in said if it < place), default=0)
    last = min((it for it in said if it > place), default=len(told))
    return list(_ran(told[first:last]))


def _table(title: str, before: str, after: str) -> str:
    cells = (" ".join(it.split()).replace("|", "\\|") for it in (before, after))
    return f"### {title}\n| Before | After |\n|--------|-------|\n| {' | '.join(cells)} |\n"


def _slug(text: str) -> str:
    return _NO_NAME.sub("-", text.lower()).strip("-")[:LONGEST_NAME].rstrip("-")


def _offer(
    rule: str,
    name: str,
    description: str,
    opening: str,
    session: str,
    ran: Sequence[Ran],
    *,
    table: str = "",
    evidence: Iterable[Ran | Said] | None = None,
) -> Offer:
    commands = tuple(it.command for it in ran)
    named = _slug(name) or UNNAMED
    known_by = digest("\0".join(commands).encode("utf-8", "surrogatepass"))
    steps = "".join(f"{number}. {it}\n" for number, it in enumerate(commands, 1))
    listed = f"### Commands\n{steps}" if steps and not table else ""
    parts = filter(None, (f"## {named}\n", f"{opening}\n", table, listed))
    return Offer(
        detector=rule,
        name=named,
        description=description,
        body="\n".join(parts),
        commands=commands,
        evidence=tuple(Evidence(session, it.seq) for it in (ran if evidence is None else evidence)),
        topic=_program(commands[0]) if commands else named,
        action=" ".join(dict.fromkeys(_verbs(commands))),
        key=f"classic:{rule}:{named}:{known_by}",
    )


def _verbs(commands: Iterable[str]) -> Iterator[str]:
    """The second words of commands, where they are plain words."""
    for command in commands:
        words = _split(command)[1:2]
        yield from (it for it in words if _PLAIN.fullmatch(it))
