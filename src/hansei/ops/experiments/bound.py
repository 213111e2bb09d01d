"""The binding of an experiment, made from its terms and what this machine knows.

Whatever is missing here, a commit, a branch, the whole repository, is told in plain words: the
sessions are left out and counted, and no verdict is reached on what is left.
"""

from __future__ import annotations

from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from hansei.events.keys import digest
from hansei.experiments.binding.branch import ByBranch
from hansei.experiments.binding.days import ByDays
from hansei.experiments.binding.exposure import ByExposure
from hansei.experiments.binding.git import ByCommit, SincePin
from hansei.experiments.binding.prompt import ByPrompt
from hansei.experiments.binding.tag import ByTag
from hansei.experiments.binding.text import ByText
from hansei.experiments.experiment import Bind
from hansei.experiments.placing import Why, out
from hansei.git import history
from hansei.git.containment import Containment
from hansei.git.objects import Objects
from hansei.git.repository import git
from hansei.ops.experiments import places
from hansei.store import journal

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from hansei.experiments.experiment import Experiment
    from hansei.experiments.placing import Binding, Candidate, Placed
    from hansei.store.database import Store


class Bound(NamedTuple):
    """How sessions are told apart, and what stands in the way of that here."""

    binding: Binding
    notes: tuple[str, ...] = ()


class _Nowhere:
    """Nothing here can tell."""

    randomised = False

    def place(self, _: Candidate, /) -> Placed:
        return out(Why.NOT_HERE)


def reference(experiment: str) -> str:
    """What the journal knows the text of an experiment by."""
    return f"experiment:{experiment}"


@contextmanager
def bound(store: Store, it: Experiment, here: Path) -> Iterator[Bound]:
    """The binding, as long as git can be asked."""
    terms = it.terms
    if it.bind is Bind.EXPOSURE:
        yield Bound(ByExposure(it.id))
    elif it.bind is Bind.NUDGE:
        yield Bound(ByExposure(it.id, Why.NOT_MET))
    elif it.bind is Bind.BRANCH:
        yield _of_branch(store, it, here)
    elif it.bind is Bind.PROMPT:
        yield Bound(ByPrompt(terms.treatment or "", terms.control))
    elif it.bind is Bind.TAG:
        yield Bound(ByTag())
    elif (folder := places.repository(store, it.workspace, here)) is None:
        yield Bound(_Nowhere(), ("The repository is not on this machine: run this in a clone.",))
    elif it.bind is Bind.DAYS:
        yield _of_days(store, it, folder)
    elif it.entry is not None:
        yield _of_text(store, it, folder)
    elif terms.change is not None:
        with Objects(str(folder)) as objects:
            yield _of_commit(objects, terms.change)
    else:
        yield _of_pin(it, folder)


def _of_branch(store: Store, it: Experiment, here: Path) -> Bound:
    folder = places.repository(store, it.workspace, here)
    named = [name for name in (it.terms.treatment, it.terms.control) if name]
    gone = [name for name in named if folder is not None and not _is_branch(folder, name)]
    notes = tuple(
        f"There is no branch {name} here any more: sessions are told by the name they noted."
        for name in gone
    )
    return Bound(ByBranch(it.terms.treatment or "", it.terms.control), notes)


def _is_branch(folder: Path, name: str) -> bool:
    asked = ("rev-parse", "--verify", "--quiet")
    names = (f"refs/heads/{name}", f"refs/remotes/origin/{name}")
    return any(git(str(folder), *asked, it) is not None for it in names)


def _of_days(store: Store, it: Experiment, folder: Path) -> Bound:
    path, text = it.terms.path or "", it.terms.text or ""
    known = places.versions(folder, path, text)
    stood = places.spans(store, folder, reference(it.id))
    return Bound(
        ByDays(it.terms.salt or "", it.terms.share, path, known.holding, stood),
    )


def _of_text(store: Store, it: Experiment, folder: Path) -> Bound:
    assert it.entry is not None
    entry = journal.find(store.db, it.entry)
    path, text = it.terms.path or "", it.terms.text or ""
    known = places.versions(folder, path, text)
    undone = entry.state is journal.State.UNDONE
    notes = []
    if not undone and not places.stands(folder, path, text):
        notes.append(f"{path} does not hold the line any more, and hansei did not take it out.")
    binding = ByText(
        path=path,
        holding=known.holding,
        lacking=known.lacking,
        folder=entry.repository,
        moment=entry.at,
        until=entry.undone_at if undone else None,
        committed=known.committed,
    )
    return Bound(binding, tuple(notes))


def _of_commit(objects: Objects, change: str) -> Bound:
    change_in = Containment(objects, change)
    moment = history.moment_of(objects.folder, change)
    if moment is None or not change_in.is_known:
        return Bound(_Nowhere(), (_missing(objects.folder, change),))
    return Bound(
        ByCommit(change_in.held, moment, _hashes(objects, change)), _shallow(objects.folder)
    )


def _hashes(objects: Objects, change: str) -> tuple[tuple[str, str | None, str | None], ...]:
    """The files of a change as hooks know them, before and after."""
    commit = next(history.commits(objects.folder, [change]), None)

    def content(name: str | None) -> str | None:
        found = None if name is None else objects.read(name)
        return None if found is None else digest(found[2])

    changes = () if commit is None or len(commit.parents) > 1 else commit.changes
    return tuple((it.path, content(it.before[0]), content(it.after)) for it in changes)


def _of_pin(it: Experiment, folder: Path) -> Bound:
    place, pin = str(folder), it.terms.pin or ""

    @cache
    def is_ancestor(commit: str, later: str) -> bool:
        return git(place, "rev-list", "-n1", commit, f"^{later}") is None

    @cache
    def is_here(commit: str) -> bool:
        return history.contains(place, commit)

    if not is_here(pin):
        return Bound(_Nowhere(), (_missing(place, pin),))
    notes = list(_shallow(place))
    if not is_ancestor(pin, "HEAD"):
        notes.append(
            f"The pinned commit {pin[:10]} is no part of what is checked out: history was"
            " rewritten, or this is another branch. Sessions beside it are left out."
        )
    return Bound(SincePin(is_ancestor, is_here, pin, it.created_at), tuple(notes))


def _missing(folder: str, commit: str) -> str:
    why = "this clone is shallow" if history.cut_off(folder) else "history was rewritten"
    return (
        f"Commit {commit[:10]} is not in this clone ({why}): no session can be told apart."
        " `git fetch --unshallow`, or a clone that has it, would help."
    )


def _shallow(folder: str) -> tuple[str, ...]:
    if not history.cut_off(folder):
        return ()
    return ("This clone is shallow: sessions on commits it lacks are left out.",)
