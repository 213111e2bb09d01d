"""An option that a program does not have: what agents ran instead, checked against those calls.

"Leave it out" is said only where nothing else of the command had to go. Where more had to, the
whole command that worked is the answer.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

from hansei.projection.ways import about, matching, spelled
from hansei.projection.wording import before_options, code, in_common, most

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hansei.projection.facts.ran import Ran
    from hansei.projection.failures import Episode
    from hansei.projection.window import Window


class Corrected(NamedTuple):
    """What to write instead."""

    tool: str
    """The program with its subcommands, as far as all tries have them in common."""
    line: str | None
    """For the instruction file; None where the calls do not agree on it."""
    fix: str | None
    times: int | None = None
    """Tries that it got past."""


class _Pair(NamedTuple):
    session: int
    failed: Ran
    worked: Ran

    @property
    def removed(self) -> frozenset[str]:
        return frozenset(self.failed.flags) - frozenset(self.worked.flags)

    @property
    def added(self) -> frozenset[str]:
        return frozenset(self.worked.flags) - frozenset(self.failed.flags)


def corrected(
    window: Window, option: str, tries: Sequence[tuple[int, int, Episode | None]], confirmed: int
) -> Corrected:
    """The form that got past a missing option; of each try its session, call and what ended it."""
    ran = [it for session, seq, _ in tries if (it := about(window, session, seq)) is not None]
    tool = _tool(ran)
    pairs = [pair for one in tries if (pair := _pair(window, *one)) is not None]
    plain = [it for it in pairs if it.removed == {option}]
    added = [min(it.added) for it in plain if len(it.added) == 1]
    other = most(added)
    replaced = [it for it in plain if it.added == {other}]
    if _sessions(replaced) >= confirmed:
        line = f"{code(tool)} has no {code(option)}; use {code(other)}."
        return Corrected(tool, line, f"{tool} {other}", len(replaced))
    alike: dict[tuple[frozenset[str], frozenset[str]], list[_Pair]] = defaultdict(list)
    for pair in pairs:
        alike[pair.removed, pair.added].append(pair)
    best = max(alike.values(), key=lambda it: (_sessions(it), spelled(it[0].worked)), default=[])
    if _sessions(best) >= max(confirmed, _sessions(plain) + 1):
        new = in_common([spelled(it.worked) for it in best])
        old = in_common([spelled(it.failed) for it in best])
        return Corrected(tool, f"Use {code(new)}, not {code(old)}.", new, len(best))
    if _sessions(plain) >= confirmed:
        whole = in_common([spelled(it.worked) for it in plain])
        told = f"{code(tool)} has no {code(option)}: leave it out, as in {code(whole)}."
        return Corrected(tool, told, whole, len(plain))
    if pairs:
        return Corrected(tool, None, None)
    return Corrected(tool, f"{code(tool)} has no {code(option)}: do not pass it.", None)


def _pair(window: Window, session: int, seq: int, episode: Episode | None) -> _Pair | None:
    failed = about(window, session, seq)
    if failed is None or episode is None:
        return None
    worked = matching(window, session, episode.end, failed)
    same = worked is not None and (worked.program, worked.subcommand) == (
        failed.program, failed.subcommand
    )  # fmt: skip
    return _Pair(session, failed, worked) if worked is not None and same else None


def _sessions(pairs: Sequence[_Pair]) -> int:
    return len({it.session for it in pairs})


def _tool(ran: Sequence[Ran]) -> str:
    """The words before the first option that all tries begin with: `bd mol ready`."""
    begun = [before_options(it.form) for it in ran]
    shared = [them[0] for them in zip(*begun, strict=False) if len(set(them)) == 1]
    return " ".join(shared) or most(it.shown for it in ran)
