"""What a hook may stop: calls that a skill warns of, and that are known for it before they run.

One function answers for a call that is about to be made and for the calls of the past, so what is
stopped is what was counted beforehand. A command is compared by `wordings`, a file by its path from
the top of the repository. Where a call is also what the skill asks for, the more exact wording is
meant, as in `matching`. How a failure would look can not be known before a call, so `error` and
`check` take no part.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from hansei.events.model import Tool
from hansei.learn.patterns import PLAIN, below, expression, folder_of, is_path
from hansei.learn.wordings import Measure, is_run_of, run_of, wording
from hansei.projection.commands.parsing import parse
from hansei.projection.facts.ran import programs

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from hansei.learn.model import Predicates, Skill
    from hansei.projection.facts.ran import Ran

FILE_TOOLS: Final = (Tool.READ, Tool.EDIT, Tool.WRITE)
"""Tools whose input names the one file they work on."""


class Attempt(NamedTuple):
    """A call before it runs, as far as that is known."""

    tool: Tool
    name: str
    ran: tuple[Ran, ...] = ()
    paths: tuple[str, ...] = ()
    """From the top of the repository."""


def why_not(told: Predicates) -> str:
    """Why no hook can tell a call that a skill warns of; empty where one can."""
    if not told.avoid:
        return "it names nothing to avoid"
    files = [it for it in told.avoid if is_path(it)]
    if files and len(files) < len(told.avoid):
        return "it warns of commands and of files at once"
    if not files and told.path:
        return "which files a command touches is known only after it ran"
    if files and told.command:
        return "it warns of files and applies to a command"
    if told.path and not PLAIN.fullmatch(told.path):
        return "its path is no plain pattern"
    if not all(files or wording(it).words for it in told.avoid):
        return "what it warns of is no command"
    return ""


def stops(told: Predicates, attempt: Attempt) -> str | None:
    """What a skill warns of that a call would do; None where it may go on."""
    if why_not(told) or not _is_tool(told.tool, attempt):
        return None
    if is_path(told.avoid[0]):
        return _stops_file(told, attempt) if attempt.tool in FILE_TOOLS else None
    if attempt.tool is not Tool.SHELL:
        return None
    if told.command and not _exactness((told.command,), attempt.ran):
        return None
    warned, meant = _exactness(told.avoid, attempt.ran), _exactness(told.do, attempt.ran)
    worst = max(warned, key=lambda it: (warned[it], it), default=None)
    return worst if worst and warned[worst] > max(meant.values(), default=0) else None


def _is_tool(wanted: str, attempt: Attempt) -> bool:
    return not wanted or wanted.casefold() in (attempt.tool, attempt.name.casefold())


def _exactness(texts: Iterable[str], ran: Sequence[Ran]) -> dict[str, int]:
    """The wordings that a call is, and how much each says."""
    return {
        text: wording(text).exactness or 1
        for text in texts
        if any(is_run_of(wording(text), run_of(it), Measure.WORDS) for it in ran)
    }


def _stops_file(told: Predicates, attempt: Attempt) -> str | None:
    for path in attempt.paths:
        if told.path and not _is_in(told.path, path):
            continue
        if any(_is_in(below(it), path) for it in told.do):
            continue
        found = next((it for it in told.avoid if _is_in(below(it), path)), None)
        if found is not None:
            return found
    return None


def _is_in(pattern: str, path: str) -> bool:
    return expression(pattern).fullmatch(path) is not None


# --- calls ----------------------------------------------------------------------------------------


def typed(text: str, cwd: str | None = None, roots: Sequence[str] = ()) -> Attempt:
    """A shell call as it is about to be made."""
    return Attempt(Tool.SHELL, Tool.SHELL, tuple(programs(0, parse(text), cwd, roots)))


def needles(told: Predicates) -> tuple[str, ...]:
    """Texts of which one is in every call that is stopped: a quick look before a thorough one."""
    if is_path(told.avoid[0]):
        return tuple(sorted({folder_of(below(it)) for it in told.avoid}))
    return tuple(sorted({_rarest(wording(it).words) for it in told.avoid}))


def _rarest(words: Sequence[str]) -> str:
    """The name of a file that a command is told, which stays as it was typed; else its program."""
    files = [it.rpartition("/")[2] for it in words[1:] if "." in it and not it.startswith("-")]
    plain = [it for it in files if it.replace(".", "").replace("_", "").isalnum()]
    return plain[0] if plain else words[0].rpartition("/")[2]


def reason(skill: Skill) -> str:
    """What an agent is told whose call was stopped: why, and what to do instead."""
    told = skill.predicates
    quoted = [f"`{it}`" for it in told.do]
    joined = " and then " if len(quoted) > 1 and not (told.avoid or told.error) else " or "
    instead = f" Use {joined.join(quoted)} instead." if quoted else ""
    return f"{skill.description.rstrip('.')}.{instead} (skill {skill.name})"
