"""What ended a failure, told so that it can be done at once next time.

One failing call and the one that succeeded are compared word by word: something was run first, the
folder was another, something stood before the program, the command itself was another, files were
edited, or nothing was different at all. Over many episodes the way that most of them share counts.
"""

from __future__ import annotations

import re
from collections import defaultdict
from difflib import SequenceMatcher
from enum import StrEnum
from typing import TYPE_CHECKING, Final, NamedTuple

from hansei.config import CommandClass
from hansei.events.model import Status
from hansei.projection.commands.programs import FILLERS, FILTERS
from hansei.projection.facts.ran import bare
from hansei.projection.failures import Ending, Kind
from hansei.projection.files import LOOKS
from hansei.projection.wording import code, in_common, words

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from hansei.projection.facts.ran import Ran
    from hansei.projection.failures import Episode
    from hansei.projection.window import Window

_SHOWING: Final = frozenset((CommandClass.READ, CommandClass.SEARCH))
_SOURCING: Final = frozenset((".", "source"))
"""Programs that only prepare, but are a remedy where a variable was not set."""
_TRIVIAL: Final = frozenset(("mkdir", "rm", "kill", "pkill", "touch", "chmod", "git"))
"""What is run between two tries for a hundred reasons: alone it explains nothing."""
_CHANGING: Final = frozenset((CommandClass.INSTALL, CommandClass.RUN, CommandClass.OTHER))
"""Purposes of commands that may change what another one meets; checks only look."""
TOP: Final = "the top folder"
_REPLACEABLE: Final = frozenset(CommandClass) - {
    CommandClass.OTHER, CommandClass.RUN, CommandClass.GIT
}  # fmt: skip
"""Purposes for which the next command of the same purpose stands in for one that failed."""
_PART: Final = re.compile(r"[^\W\d_]{3,}")
"""A part of a name that means something."""
_TEST_FILE: Final = re.compile(r".*(?:\.\w+|::.*|\{\w+\})")
"""A target that is a file, or a test in one: what is worked on, and not a part of the project."""
_CLOSE: Final = 0.75
"""How much of two names is the same where one is a slip of the other: `depoly` and `deploy`."""
_SOON: Final = 12
"""Events within which an agent has turned to something else: about three calls."""


class How(StrEnum):
    """What was different when it worked."""

    FIRST = "first"  # something was run before it
    FOLDER = "folder"
    BEFORE = "before"  # something stood before the program: `uv run`, a variable
    OTHER = "other"  # another command, or other options
    EDITED = "edited"
    AGAIN = "again"  # the same command, and nothing we can see had changed


class Way(NamedTuple):
    how: How
    text: str
    """What to run first, the folder, the words before, the command, or the file."""


class Known(NamedTuple):
    """The way that ended most episodes of one failure."""

    way: Way
    times: int
    sessions: int
    of: int
    """Episodes that ended well."""
    command: str
    """The command that worked, as far as they have it in common."""


def parted(window: Window) -> Iterator[tuple[int, Episode]]:
    """Every episode of a failure, cut where another failure took its place, or it was met afresh.

    `make check` may fail with one thing after the other: what got past the last of them got past
    that one only. The same command that fails again after other work, with nothing changed, is run
    into a second time: what lies between is not its doing. And where another program succeeded
    after other work, the agent had moved on before.
    """
    signatures = {(session, row.seq): row.signature for session, row in window.failures}
    for session, episode in window.episodes:
        if episode.kind is not Kind.FAILURE:
            continue
        tries: dict[str, list[list[int]]] = defaultdict(list)
        for seq in episode.failures:
            met = tries[signatures[session, seq]]
            if met and not _afresh(window, session, met[-1][-1], seq):
                met[-1].append(seq)
            else:
                met.append([seq])
        parts = [(signature, seqs) for signature, met in tries.items() for seqs in met]
        strayed = episode.ending is Ending.RECOVERED and _strayed(window, session, episode)
        if len(parts) == 1 and not strayed:
            yield session, episode
            continue
        for signature, seqs in parts:
            part = episode._replace(
                signature=signature, seq=seqs[0], failures=tuple(seqs), minutes=None
            )
            if strayed or seqs[-1] != episode.failures[-1]:
                part = part._replace(ending=Ending.MOVED_ON, end=seqs[-1])
            yield session, part


def _afresh(window: Window, session: int, earlier: int, later: int) -> bool:
    """Whether a failure was run into again, with other work in between and nothing changed."""
    one, other = (about(window, session, call) for call in (earlier, later))
    between = window.calls_of(session, earlier, later)
    if one is None or other is None or spelled(one) != spelled(other) or not between:
        return False
    for row in between:
        ran = about(window, session, row.seq)
        if any(it.verb not in LOOKS for it in window.touched_by.get((session, row.seq), ())):
            return False
        if ran is not None and _prepares(ran) and ran.kind in _CHANGING:
            return False
    return True


def _strayed(window: Window, session: int, episode: Episode) -> bool:
    """Whether an agent did other work before another program happened to cover what had failed."""
    failed = about(window, session, episode.failures[-1])
    after = None if failed is None else matching(window, session, episode.end, failed)
    if failed is None or after is None or after.program == failed.program:
        return False
    between = window.calls_of(session, episode.failures[-1], episode.end)
    ran = [it for row in between if (it := about(window, session, row.seq))]
    return any(
        it.kind not in _SHOWING | _CHANGING and it.program not in (failed.program, after.program)
        for it in ran
    )


def known(
    window: Window, told: Iterable[tuple[int, Episode]], *, targets: bool = False
) -> Known | None:
    """What ended most of these; `targets` tells whether other targets are another command."""
    ended = [(s, it) for s, it in told if it.ending is Ending.RECOVERED]
    seen: dict[Way, list[tuple[int, Episode]]] = defaultdict(list)
    for session, episode in ended:
        for way in dict.fromkeys(ways(window, session, episode, targets=targets)):
            seen[way].append((session, episode))
    if not seen:
        return None
    order = list(How)
    way, those = min(seen.items(), key=lambda it: (-len(it[1]), order.index(it[0].how), it[0].text))
    finals = [it for one in those if (it := _final(window, *one))]
    return Known(way, len(those), len({session for session, _ in those}), len(ended), usual(finals))


def ways(window: Window, session: int, episode: Episode, *, targets: bool = False) -> Iterator[Way]:
    """What may have ended an episode, the plainest explanation first."""
    return changes(
        window,
        session,
        episode.failures[-1],
        episode.end,
        targets=targets,
        edited=bool(episode.edited),
    )


def changes(
    window: Window,
    session: int,
    before: int,
    end: int,
    *,
    targets: bool = True,
    edited: bool = False,
) -> Iterator[Way]:
    """What was different between two calls; `edited` where files are known to have been."""
    failed = about(window, session, before)
    if failed is None:
        return
    after = matching(window, session, end, failed)
    if after is None:
        return
    earlier = {it.form for it in window.ran_by.get((session, before), ())}
    rows = window.ran_by[session, end]
    first = [
        _placed(it) for it in rows[: rows.index(after)] if _prepares(it) and it.form not in earlier
    ]
    if first:
        yield Way(How.FIRST, " && ".join(first))
    elif bare(after, targets=targets) != bare(failed, targets=targets):
        if _stands_for(after, failed, targets=targets):
            yield Way(How.OTHER, spelled(after) if targets else bare(after))
    elif added := [it for it in after.before if it not in failed.before]:
        yield Way(How.BEFORE, " ".join(added))
    elif None not in (failed.directory, after.directory) and failed.directory != after.directory:
        yield Way(How.FOLDER, after.directory or TOP)
    else:
        yield from _between(window, session, before, end, edited=edited)


def _between(window: Window, session: int, before: int, end: int, *, edited: bool) -> Iterator[Way]:
    """The same command worked later: what happened in the meantime."""
    nothing = True
    for row in window.calls_of(session, before, end):
        for touch in window.touched_by.get((session, row.seq), ()):
            if touch.verb not in LOOKS and touch.inside:
                nothing = False
                yield Way(How.EDITED, touch.path)
        ran = about(window, session, row.seq)
        if ran is None or row.status is not Status.OK or not _prepares(ran):
            continue
        if ran.program not in _TRIVIAL and ran.kind is not CommandClass.TEST:
            nothing = False
            yield Way(How.FIRST, _placed(ran))
    if nothing and not edited:
        yield Way(How.AGAIN, "")


def about(window: Window, session: int, call: int) -> Ran | None:
    """The program that a call is about."""
    rows = window.ran_by.get((session, call), [])
    return next((it for it in rows if it.about), None)


def matching(window: Window, session: int, call: int, failed: Ran) -> Ran | None:
    """The program of a later call that does what the failed one was to do."""
    rows = [it for it in window.ran_by.get((session, call), []) if not it.inside]
    same = [it for it in rows if (it.program, it.subcommand) == (failed.program, failed.subcommand)]
    return same[-1] if same else next((it for it in rows if it.about), None)


def _stands_for(after: Ran, failed: Ran, *, targets: bool) -> bool:
    """Whether a command does what another was to do, and did not merely come next.

    That is the same program with other options, or a command for the same purpose and the same
    targets. Of subcommands that do not exist, one with a name alike.
    """
    if (after.program, after.subcommand) == (failed.program, failed.subcommand):
        return not targets or _alike(after.form, failed.form)
    if after.program == failed.program and targets:
        return _alike(after.form, failed.form)
    if after.kind is not failed.kind:
        return False
    return _same_targets(after, failed, unnamed=failed.kind in _REPLACEABLE)


def _alike(form: str, other: str) -> bool:
    """Whether what two commands differ in has a part in common, or is spelled nearly the same."""
    one, two = ([it for it in words(it) if not it.startswith("-")] for it in (form, other))
    new, old = [it for it in one if it not in two], [it for it in two if it not in one]
    if not new or not old:
        return True
    parts = [{part for it in them for part in _PART.findall(it.lower())} for them in (new, old)]
    close = SequenceMatcher(None, " ".join(new), " ".join(old)).ratio() >= _CLOSE
    return close or bool(parts[0] & parts[1])


def _same_targets(one: Ran, other: Ran, *, unnamed: bool) -> bool:
    """Whether two commands are about the same files or names; `unnamed` where neither has any."""
    if not one.targets and not other.targets:
        return unnamed
    names = [{it.rstrip("/").rsplit("/", 1)[-1] for it in ran.targets} for ran in (one, other)]
    return bool(names[0] & names[1])


def spelled(ran: Ran) -> str:
    """A command as it could be typed: what stood before it, and its normal form."""
    return " ".join((*ran.before, ran.form))


def usual(runs: Iterable[Ran]) -> str:
    """What to call several runs by; of tests without the files, which are others every week."""
    return in_common([_any_test(it) for it in runs])


def _any_test(ran: Ran) -> str:
    if ran.kind is not CommandClass.TEST:
        return spelled(ran)
    files = set(filter(_TEST_FILE.fullmatch, ran.targets))
    return " ".join((*ran.before, *(it for it in words(ran.form) if it not in files)))


def _placed(ran: Ran) -> str:
    """A command with the folder it is to run in."""
    return f"(cd {ran.directory} && {spelled(ran)})" if ran.directory else spelled(ran)


def _final(window: Window, session: int, episode: Episode) -> Ran | None:
    failed = about(window, session, episode.failures[-1])
    return None if failed is None else matching(window, session, episode.end, failed)


def _prepares(ran: Ran) -> bool:
    """Whether a command changes what the next one meets."""
    if ran.program in _SOURCING:
        return True
    return not (
        ran.inside or ran.kind in _SHOWING or ran.program in FILLERS or ran.program in FILTERS
    )


class Advice(NamedTuple):
    """A way in words."""

    claim: str
    line: str
    """For the instruction file."""
    fix: str


def advice(found: Known, failing: str) -> Advice:
    """What to do instead of running into it; for ways that can be done at once."""
    how, text = found.way
    if how is How.FIRST:
        return Advice(
            f"{code(failing)} fails here until {code(text)} has run",
            f"Before {code(failing)}, run {code(text)}.",
            f"{text} && {failing}",
        )
    if how is How.FOLDER:
        where = text if text == TOP else code(f"{text.rstrip('/')}/")
        return Advice(
            f"{code(failing)} works only in {where}",
            f"Run {code(failing)} in {where}, nowhere else.",
            failing if text == TOP else f"cd {text} && {failing}",
        )
    if how is How.BEFORE:
        return Advice(
            f"{code(failing)} fails here without {code(text)}",
            f"Run {code(f'{text} {failing}')}, not {code(failing)}.",
            f"{text} {failing}",
        )
    command = found.command or text
    return Advice(
        f"{code(failing)} fails here; {code(command)} is what works",
        f"Use {code(command)}, not {code(failing)}.",
        command,
    )


def instead(window: Window, session: int, failed: int) -> str | None:
    """What an agent turned to at once where it did not try the same again."""
    one = about(window, session, failed)
    if one is None or one.kind not in _REPLACEABLE:
        return None
    for row in window.calls_of(session, failed, failed + _SOON):
        other = about(window, session, row.seq)
        if other is not None and other.kind is one.kind and row.status is Status.OK:
            same = _same_targets(one, other, unnamed=True)
            return other.shown if same and other.program != one.program else None
    return None
