"""Acting on a bet: the change as a plan that can be shown, then carried out and remembered.

A line goes into an instruction file. What needs a person's hands stays a task for them: hansei
never edits settings of agents, skills or texts that it did not write.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from hansei.bets.model import Design, State
from hansei.errors import GitError, StoreUnwritable, UnusableInstructions, UsageError
from hansei.events.keys import digest
from hansei.hook.repository import head, top
from hansei.instructions import carrying, plans, sizes
from hansei.instructions.targets import DEFAULT
from hansei.instructions.wording import as_item
from hansei.learn import checks
from hansei.ops.decisions import decide, restate
from hansei.redaction.redactor import Redactor
from hansei.store import bets as memory
from hansei.store import journal, measurements, workspaces
from hansei.store.key import redaction_key
from hansei.store.measurements import INSTRUCTION_FILE, Measurement

if TYPE_CHECKING:
    from hansei.instructions.plans import Plan
    from hansei.instructions.sizes import Size
    from hansei.ops.retro import Offer
    from hansei.store.database import Store
    from hansei.store.journal import Entry

_REFERENCE = "bet:"


@dataclass(frozen=True)
class Proposal:
    """What acting on a bet would do."""

    offer: Offer
    plan: Plan | None
    """None where it takes a person's hands: then there is a task instead."""
    size: Size | None
    """What the added text takes in every request; None where none is added."""
    weekly_tokens: int | None
    """What carrying it takes a week; None where no week can be told."""


def propose(
    store: Store, offer: Offer, here: Path, *, target: str | None = None, again: bool = False
) -> Proposal:
    """What acting on a bet would do here; writes nothing.

    `again` puts back a text that a person took out by hand.
    """
    if offer.change.design is not Design.LINE:
        if target is not None:
            raise UsageError(
                f"bet {offer.short} adds no line to an instruction file, so --to means nothing",
                hint="`hansei apply` prints it as a task; --brief FILE writes that to a file.",
            )
        return Proposal(offer, None, None, None)
    repository = _repository(store, offer, here)
    path = target or offer.target or DEFAULT
    _must_not_be_elsewhere(store, offer, repository, path)
    text = as_item(Redactor(redaction_key(store.folder)).scrub(offer.change.text))
    must_be_harmless(text)
    item = plans.Item(reference(offer.id), text)
    plan = plans.plan_add(store, repository, path, item, again=again)
    added = "".join(file.written.inserted for file in plan.files if file.written.new is not None)
    size = sizes.size(added) if added else None
    return Proposal(offer, plan, size, _weekly(offer, size))


def must_be_harmless(text: str) -> None:
    """Refuse a line that no agent is to be given, whoever's words it holds."""
    found = checks.stopping(checks.of_files({"line.md": text}))
    if found:
        raise UnusableInstructions(
            f"this line is not written: {found[0].message} ({found[0].rule})",
            hint="docs/reference/skill-checks.md lists what is stopped.",
        )


def reference(bet: str) -> str:
    """What the journal knows a bet's change by."""
    return f"{_REFERENCE}{bet}"


def bet_of(entry: Entry) -> str | None:
    """The bet that a change was made for."""
    named = entry.reference.removeprefix(_REFERENCE)
    return named if named != entry.reference else None


def _repository(store: Store, offer: Offer, here: Path) -> Path:
    """The repository of a bet on this machine: where the person stands, else where it was seen."""
    root = top(str(here))
    if root is not None and workspaces.find(store, root) == offer.home:
        return Path(root)
    (folder,) = store.db.execute(
        "SELECT folder FROM workspaces WHERE id = ?", (offer.home,)
    ).fetchone()
    if folder is not None and Path(folder).is_dir():
        return Path(folder)
    seen = f"; it was last seen in {folder}" if folder else ""
    raise UsageError(
        f"the repository of {offer.workspace} is not on this machine{seen}",
        hint="Run this in a clone of it. `--brief -` prints the change as a task.",
    )


def _must_not_be_elsewhere(store: Store, offer: Offer, repository: Path, path: str) -> None:
    """Refuse to write the same line into a second file."""
    for entry in _standing(store, offer.id):
        others = {file.path for file in entry.files if file.new is not None}
        if Path(entry.repository) == repository.resolve() and others and path not in others:
            where = ", ".join(sorted(others))
            if not _leads_to(repository, path, others):
                raise UsageError(
                    f"bet {offer.short} is applied already, in {where}",
                    hint=f"`hansei undo {entry.id}` takes it out there first.",
                )


def _leads_to(repository: Path, path: str, others: set[str]) -> bool:
    """Whether a path is a link to a file that was written."""
    real = (repository / path).resolve()
    return any(real == (repository / it).resolve() for it in others)


def _standing(store: Store, bet: str) -> list[Entry]:
    """Changes made for a bet that were not undone, newest first."""
    found = journal.listed(store.db)
    return [it for it in found if it.reference == reference(bet) and it.state is journal.State.DONE]


def _weekly(offer: Offer, size: Size | None) -> int | None:
    """Tokens a week at the requests that the bet was counted with."""
    if size is None or offer.weekly is None or not offer.change_tokens or offer.rent is None:
        return None
    return round(offer.rent / offer.change_tokens * size.tokens)


# --- doing it -------------------------------------------------------------------------------------


def apply(store: Store, proposal: Proposal, *, now: int, commit: bool = False) -> Entry:
    """Write what was shown, and leave a measurement that waits for its verdict."""
    assert proposal.plan is not None
    must_be_writable(store)
    settle(store, now)
    offer = proposal.offer
    message = f"{_title(offer)}\n\nProposed by hansei (bet {offer.id})." if commit else None
    try:
        entry = carrying.carry_out(store, proposal.plan, now=now, message=message)
    except GitError:
        # The files may be written though the commit was refused, and then the bet is applied.
        made = [it for it in _standing(store, offer.id) if it.at == now]
        if made:
            _remember(store, offer, made[0], now)
        raise
    _remember(store, offer, entry, now)
    return entry


def _title(offer: Offer) -> str:
    """One line of a commit's message."""
    longest = 72  # what git and its front ends show without cutting
    words = " ".join(offer.claim.split())
    return words if len(words) <= longest else f"{words[: longest - 1].rstrip()}…"


def accept(store: Store, offer: Offer, now: int) -> None:
    """Remember that a person took the task; what is further along stays so."""
    must_be_writable(store)
    if offer.state not in (State.APPLIED, State.KEPT):
        decide(store, offer, State.ACCEPTED, now, reason=offer.reason)


def must_be_writable(store: Store) -> None:
    """Refuse where nothing could be remembered."""
    if not store.writable:
        raise StoreUnwritable(
            f"{store.folder} is read-only: what is changed could not be undone",
            hint="Set HANSEI_HOME to a folder you can write to.",
        )


def _remember(store: Store, offer: Offer, entry: Entry, now: int) -> None:
    kept = decide(store, offer, State.APPLIED, now, reason=offer.reason)
    file = entry.files[0]
    with store.transaction() as db:
        measurements.keep(
            db,
            Measurement(
                entry=entry.id,
                bet=offer.id,
                workspace=offer.home,
                channel=INSTRUCTION_FILE,
                path=file.path,
                hash=None if file.new is None else digest(file.new.encode()),
                commit=entry.commit or head(entry.repository)[0],
                fact=offer.metric.fact,
                subject=offer.metric.subject,
                applied_at=now,
                state=measurements.State.PENDING,
                evidence=kept.evidence,
            ),
        )


def remember_again(store: Store, proposal: Proposal, now: int) -> Entry | None:
    """Where the text stands already and a crash kept us from noting that, note it now."""
    done = _standing(store, proposal.offer.id)
    if not done or measurements.of_entry(store, done[0].id) is not None:
        return None
    _remember(store, proposal.offer, done[0], now)
    return done[0]


def settle(store: Store, now: int) -> None:
    """Take note of changes that were undone while a crash kept us from saying so of their bets."""
    taken_back = (journal.State.UNDONE, journal.State.VOID)
    for waiting in measurements.pending(store):
        try:
            state = journal.find(store.db, waiting.entry).state
        except UsageError:  # forgotten
            state = journal.State.VOID
        if state in taken_back:
            take_back(store, waiting.entry, waiting.bet, now)


def take_back(store: Store, entry: int, bet: str, now: int) -> bool:
    """Note that a change was undone; returns whether its bet is one to act on again."""
    with store.transaction() as db:
        measurements.mark(db, entry, measurements.State.UNDONE)
    kept = memory.named(store, bet)
    if kept is None or kept.state != State.APPLIED or _standing(store, bet):
        return False
    restate(store, bet, State.ACCEPTED, now)
    return True
