"""What can be done with an experiment, step by step forward: started, tagged, concluded, put away.

`tend` does what nobody should have to think of: measurements that `apply` left become experiments,
blocks are switched for the day, and where that was asked for, harm is undone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec

from hansei.bets.model import State
from hansei.config import home_folder
from hansei.errors import HanseiError, NotFound, UsageError
from hansei.events.keys import digest
from hansei.experiments.experiment import DELIVERED, Bind, Experiment, Stage, Terms, advanced
from hansei.experiments.model import Word
from hansei.instructions import carrying, plans
from hansei.instructions.targets import default_target
from hansei.ops import undo as undoing
from hansei.ops.apply import reference as bet_reference
from hansei.ops.decisions import restate
from hansei.ops.experiments import places, shelf, switching
from hansei.ops.experiments.bound import reference
from hansei.ops.experiments.delivering import deliver
from hansei.ops.experiments.drafting import must_not_clash
from hansei.ops.experiments.reports import CONFIDENCE, RESAMPLES, report
from hansei.ops.sessions import find as find_session
from hansei.store import bets as memory
from hansei.store import experiments as kept
from hansei.store import journal, measurements
from hansei.store.experiments import Member, Role

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from hansei.config import Config
    from hansei.experiments.placing import Arm
    from hansei.instructions.plans import Plan
    from hansei.ops.experiments.reports import Report
    from hansei.ops.experiments.switching import Switched
    from hansei.store.database import Store
    from hansei.store.journal import Entry
    from hansei.store.measurements import Measurement


def start(store: Store, config: Config, it: Experiment, here: Path, now: int) -> Experiment:
    """Begin: from now on sessions count, and a coin decides where there is one."""
    folder = places.repository(store, it.workspace, here)
    begun = advanced(it, Stage.RUNNING, now=now)
    must_not_clash(store, it, folder or here)
    if it.bind is Bind.DAYS:
        _must_work(switching.switch(store, begun, here, now))
    _keep(store, begun)
    if it.bind in DELIVERED:
        deliver(store, home_folder(config.environment))
    return begun


def _keep(store: Store, it: Experiment) -> None:
    with store.transaction() as db:
        shelf.save(db, it)


def _must_work(done: Switched) -> None:
    if done.problem is not None:
        raise UsageError(
            f"{done.path} could not be switched: {done.problem}",
            hint="`hansei exp switch` tries again.",
        )


def tag(store: Store, it: Experiment, sessions: Iterable[str], arm: Arm | None) -> list[str]:
    """Put sessions in an arm by hand, which wins over everything; None takes the tag off."""
    if it.stage not in (Stage.DRAFT, Stage.RUNNING):
        raise UsageError(
            f"experiment {shelf.short(it)} is {it.stage}: its sample is frozen",
            hint="A new experiment can count these sessions.",
        )
    numbers = [find_session(store, name) for name in sessions]
    query = "SELECT native FROM sessions WHERE id = ?"
    natives = [str(store.db.execute(query, (it,)).fetchone()[0]) for it in numbers]
    with store.transaction() as db:
        if arm is None:
            for native in natives:
                kept.take_out(db, it.id, native, Role.TAG)
        else:
            kept.put(db, [Member(it.id, native, Role.TAG, arm) for native in natives])
    return natives


# --- the end --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Concluded:
    """An experiment that is over, and what could be done about its change."""

    experiment: Experiment
    report: Report
    offer: Plan | None
    """The line for all sessions, where it helped and stands in no file."""
    undo: int | None
    """The change to take back, where it did not help."""
    undone: bool = False
    """Whether it has been taken back."""


def conclude(
    store: Store,
    config: Config,
    it: Experiment,
    here: Path,
    now: int,
    *,
    resamples: int = RESAMPLES,
    confidence: float = CONFIDENCE,
) -> Concluded:
    """End it: sample and verdict stay as they are now, and nothing more is delivered."""
    over = advanced(it, Stage.CONCLUDED, now=now)
    looked = report(store, it, here, now, resamples=resamples, confidence=confidence)
    told = msgspec.structs.replace(looked.report, stage=Stage.CONCLUDED)
    over = msgspec.structs.replace(
        over, verdict=told.verdict.word, report=msgspec.json.encode(told).decode()
    )
    with store.transaction() as db:
        shelf.save(db, over)
        kept.put(db, [Member(it.id, name, Role.SAMPLE, arm) for name, arm in looked.sample.items()])
        if it.entry is not None:
            measurements.mark(db, it.entry, measurements.State.MEASURED)
    _stop(store, config, over, here, now)
    _tell_bet(store, over, told.verdict.word, now)
    helped = told.verdict.word is Word.HELPED
    stands = it.entry is not None and _is_standing(store, it.entry)
    worse = told.verdict.word not in (Word.HELPED, Word.LOWER, Word.INCONCLUSIVE)
    return Concluded(
        over,
        told,
        _offer(store, over, here) if helped and it.randomised else None,
        it.entry if stands and worse else None,
    )


def _stop(store: Store, config: Config, it: Experiment, here: Path, now: int) -> None:
    """Have no further session be told of it."""
    if it.bind in DELIVERED:
        deliver(store, home_folder(config.environment))
    elif it.bind is Bind.DAYS:
        folder = places.repository(store, it.workspace, here)
        if folder is not None:
            switching.take_out(store, it, folder, now)


def _tell_bet(store: Store, it: Experiment, word: Word, now: int) -> None:
    """A bet that was right is kept; one that a coin proved wrong is not one to act on again."""
    if it.bet is None or memory.named(store, it.bet) is None:
        return
    if word is Word.LOWER and it.entry is not None and _is_standing(store, it.entry):
        restate(store, it.bet, State.KEPT, now)
    elif it.randomised and word in (Word.HARMED, Word.NO_EFFECT):
        restate(store, it.bet, State.REVERTED, now)


def _is_standing(store: Store, entry: int) -> bool:
    try:
        return journal.find(store.db, entry).state is journal.State.DONE
    except NotFound:
        return False


def _offer(store: Store, it: Experiment, here: Path) -> Plan | None:
    """The line in the instruction file, for every session."""
    folder = places.repository(store, it.workspace, here)
    if folder is None or it.terms.text is None or "\n" in it.terms.text:
        return None
    path = it.terms.path or default_target(folder)
    name = reference(it.id) if it.bet is None else bet_reference(it.bet)
    return plans.plan_add(store, folder, path, plans.Item(name, it.terms.text), again=True)


def keep(store: Store, it: Experiment, plan: Plan, now: int) -> Entry:
    """What helped goes into the file; its bet is kept."""
    entry = carrying.carry_out(store, plan, now=now)
    _keep(store, msgspec.structs.replace(it, entry=entry.id))
    if it.bet is not None and memory.named(store, it.bet) is not None:
        restate(store, it.bet, State.KEPT, now)
    return entry


def take_back(store: Store, it: Experiment, entry: int, here: Path, now: int) -> None:
    """What did not help goes out of the file; its bet is not one to act on again."""
    shown = undoing.undoing(store, entry, here, None)
    undoing.undo(store, shown, now=now)
    if it.bet is not None and memory.named(store, it.bet) is not None:
        restate(store, it.bet, State.REVERTED, now)


def archive(store: Store, it: Experiment, now: int) -> Experiment:
    """Put it away; it is still there to be read."""
    away = advanced(it, Stage.ARCHIVED, now=now)
    _keep(store, away)
    return away


def delete(store: Store, config: Config, it: Experiment, here: Path, now: int) -> None:
    """Remove it for good; what it delivers is stopped first."""
    if it.stage is Stage.RUNNING:
        ended = msgspec.structs.replace(it, stage=Stage.CONCLUDED)
        _keep(store, ended)
        _stop(store, config, ended, here, now)
    with store.transaction() as db:
        if it.entry is not None and it.stage is Stage.RUNNING:
            # Else the measurement would become the same experiment again.
            measurements.mark(db, it.entry, measurements.State.MEASURED)
        kept.remove(db, it.id)


# --- by itself ------------------------------------------------------------------------------------


def adopt(store: Store, now: int) -> list[Experiment]:
    """Changes that `apply` made become experiments."""
    if not store.writable:
        return []
    entries = {it.entry for it in shelf.listed(store) if it.entry is not None}
    new = [it for it in measurements.pending(store) if it.entry not in entries]
    return [it for waiting in new if (it := _adopted(store, waiting, now)) is not None]


def _adopted(store: Store, waiting: Measurement, now: int) -> Experiment | None:
    try:
        entry = journal.find(store.db, waiting.entry)
    except NotFound:
        return None
    file = next((it for it in entry.files if it.path == waiting.path), None)
    if file is None or file.new is None:
        return None
    bet = memory.named(store, waiting.bet)
    claim = bet.claim if bet is not None and bet.claim else f"the line in {waiting.path} helps"
    it = Experiment(
        id=digest(f"entry {waiting.entry} {waiting.applied_at}".encode()),
        workspace=waiting.workspace,
        hypothesis=claim,
        bind=Bind.GIT,
        fact=waiting.fact,
        subject=waiting.subject,
        created_at=now,
        terms=Terms(text=file.new, path=waiting.path, change=None),
        stage=Stage.RUNNING,
        bet=waiting.bet,
        entry=waiting.entry,
        started_at=waiting.applied_at,
    )
    with store.transaction() as db:
        shelf.save(db, it)
        kept.put(db, [Member(it.id, name, Role.EVIDENCE, "") for name in waiting.evidence])
    return it


@dataclass(frozen=True)
class Tended:
    """What was done without being asked."""

    adopted: tuple[Experiment, ...] = ()
    switched: tuple[Switched, ...] = ()
    undone: tuple[Experiment, ...] = ()
    """Ended because they harmed."""
    problems: tuple[str, ...] = ()


def tend(store: Store, config: Config, here: Path, now: int, *, judge: bool = False) -> Tended:
    """Everything that is due.

    With `judge` facts have to be up to date: what was taken back is concluded, and harm is looked
    for where it may be undone.
    """
    if not store.writable:
        return Tended()
    adopted = adopt(store, now)
    running = shelf.running(store)
    switched, undone, problems = [], [], []
    if any(it.bind in DELIVERED for it in running):
        deliver(store, home_folder(config.environment))
    for it in running:
        try:
            if judge and it.entry is not None and not _is_standing(store, it.entry):
                conclude(store, config, it, here, now)
            elif judge and it.auto and _is_harmful(store, it, here, now):
                conclude(store, config, it, here, now)
                undone.append(it)
            elif it.bind is Bind.DAYS:
                switched.append(switching.switch(store, it, here, now))
        except HanseiError as problem:
            problems.append(f"experiment {shelf.short(it)}: {problem.message}")
    return Tended(tuple(adopted), tuple(switched), tuple(undone), tuple(problems))


def _is_harmful(store: Store, it: Experiment, here: Path, now: int) -> bool:
    return report(store, it, here, now, resamples=1).report.verdict.word is Word.HARMED
