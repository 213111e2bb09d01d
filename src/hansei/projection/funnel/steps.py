"""From what happened to the steps of the funnel: fired, and followed."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from hansei.events.model import Basis, Status
from hansei.projection.funnel import citing, following, matching

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hansei.projection.calls import Call
    from hansei.projection.funnel.citing import Speech
    from hansei.projection.funnel.model import Load
    from hansei.projection.funnel.table import Text


class Reached(NamedTuple):
    """The last two steps of one text."""

    fired: bool | None
    fired_seq: int | None
    followed: bool | None
    followed_seq: int | None
    calls: int = 0
    failed: int = 0


def loaded(loads: Sequence[Load], calls: Sequence[Call], roots: Sequence[str]) -> Reached:
    """A skill fired if a load of it worked, and was followed if a command it tells was run."""
    failed = sum(load.worked is False for load in loads)
    good = [load for load in loads if load.worked]
    if not good:
        unsure = any(load.worked is None for load in loads)
        step = None if unsure else False
        return Reached(step, None, step, None, len(loads), failed)
    runs: list[int] = []
    forms = 0
    for load in good:
        told = following.told(load.text) if load.text_seq is not None else frozenset()
        forms += len(told)
        after = max(load.seq, load.text_seq or 0)
        ran = following.first_run(calls, told, after, [*_folder(load), *roots])
        if ran is not None:
            runs.append(ran)
    ran = min(runs, default=None)
    followed = True if ran is not None else False if forms else None
    return Reached(True, good[0].seq, followed, ran, len(loads), failed)


def _folder(load: Load) -> list[str]:
    """What paths in a skill are told from."""
    return [] if load.path is None else [load.path.replace("\\", "/").rpartition("/")[0]]


def served(calls: Sequence[Call], *, unsure: bool) -> Reached:
    """A server fired if a tool of it was called, and was followed if one of the calls went well."""
    if not calls:
        step = None if unsure else False
        return Reached(step, None, step, None)
    results = [call.result for call in calls]
    failed = sum(
        it is not None and it.status is Status.FAILED and it.basis is not Basis.DECLINED
        for it in results
    )
    went_well = next(
        (it.result_seq for it in calls if it.result and it.result.status is Status.OK), None
    )
    refused = all(it is not None and it.status is Status.FAILED for it in results)
    followed = True if went_well is not None else False if refused else None
    return Reached(True, calls[0].seq, followed, went_well, len(calls), failed)


def cited(
    text: Text, name: str | None, said: Speech, calls: Sequence[Call], roots: Sequence[str]
) -> Reached:
    """A file fired if a reply or thought names or quotes it.

    That it was not cited is known only where its words and all thoughts are recorded. Whether it
    was followed is known only where a command it tells was run after it was cited.
    """
    seqs = set(citing.quotations(said, text.text)) if text.text else set()
    sure = bool(text.text) and not said.silent and name is not None
    if name is not None:
        named = citing.namings(said, matching.file_naming(name), name)
        seqs |= set(named.citing)
        sure = sure and not named.unsure
    since = text.listed_seq or 0
    seqs = {seq for seq in seqs if seq > since}
    if not seqs:
        return Reached(False if sure else None, None, None, None)
    first = min(seqs)
    ran = following.first_run(calls, following.told(text.text or ""), first, roots)
    return Reached(True, first, True if ran is not None else None, ran, len(seqs))
