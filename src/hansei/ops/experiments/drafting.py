"""A new experiment, from what a person says: commits are found, texts made fit, clashes refused."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from hansei.bets.model import Design, State
from hansei.bets.recurring import Fact
from hansei.errors import UsageError
from hansei.events.keys import digest
from hansei.experiments.experiment import Bind, Experiment, Terms
from hansei.experiments.metrics.catalogue import FAILED_CALLS, TOKENS, amount, known
from hansei.experiments.metrics.recurrence import COUNTED
from hansei.git.repository import git, identify, need_git
from hansei.hook.repository import top
from hansei.instructions.targets import SHARED, SKILL_FOLDERS, default_target, skill_path
from hansei.instructions.wording import as_item
from hansei.ops.apply import must_be_harmless
from hansei.ops.decisions import decide
from hansei.ops.experiments import places, shelf
from hansei.ops.experiments.candidates import runs
from hansei.ops.scope import Scope
from hansei.ops.windows import grounds
from hansei.projection.telling import telling
from hansei.projection.tries import tries
from hansei.redaction.redactor import Redactor
from hansei.store import experiments as kept
from hansei.store import workspaces
from hansei.store.experiments import Member, Role
from hansei.store.key import redaction_key

if TYPE_CHECKING:
    from hansei.config import Config
    from hansei.ops.retro import Offer
    from hansei.store.database import Store


@dataclass(frozen=True)
class Wish:
    """What a person asks for; None where they say nothing."""

    bind: Bind
    hypothesis: str | None = None
    metric: str | None = None
    """An amount, or a fact and its subject: `rereads:src/auth.py`."""
    change: str | None = None
    pin: str | None = None
    treatment: str | None = None
    control: str | None = None
    text: str | None = None
    offer: Offer | None = None
    skill: str | None = None
    path: str | None = None
    share: float = 0.5
    margin: float = 0.1
    alpha: float = 0.05
    auto: bool = False


MOST_NAMED = 5
_TEXTS = (Bind.EXPOSURE, Bind.DAYS)
_COINS = (*_TEXTS, Bind.NUDGE)
_BRANCHES = (Bind.BRANCH, Bind.PROMPT)


def draft(
    store: Store, config: Config, wish: Wish, here: Path, *, now: int, salt: str
) -> Experiment:
    """The experiment, kept as a draft. `salt` is what its coin is thrown with."""
    _must_fit(wish)
    folder = _repository(here)
    workspace = _workspace(store, folder)
    fact, subject = filed(store, workspace, *_metric(wish), now)
    it = Experiment(
        id=digest(f"{workspace} {now} {salt}".encode()),
        workspace=workspace,
        hypothesis=_hypothesis(wish),
        bind=wish.bind,
        fact=fact,
        subject=subject,
        created_at=now,
        terms=_terms(store, config, wish, folder, salt),
        margin=wish.margin,
        alpha=wish.alpha,
        auto=wish.auto,
        bet=None if wish.offer is None else wish.offer.id,
    )
    must_not_clash(store, it, folder)
    with store.transaction() as db:
        shelf.save(db, it)
    if wish.offer is not None:
        _remember_evidence(store, it, wish.offer, now)
    return it


def _must_fit(wish: Wish) -> None:
    texts = [it for it in (wish.text, wish.offer, wish.skill) if it is not None]
    if wish.bind in _TEXTS and len(texts) != 1:
        raise UsageError(
            f"--bind {wish.bind} tries one text",
            hint="Say which one: --text, --bet or --skill.",
        )
    if wish.bind is Bind.NUDGE and wish.offer is not None:
        raise UsageError(
            "--bind nudge tells what is known of a failure, so --bet means nothing",
            hint="--bind exposure tries the line of a bet.",
        )
    if wish.bind not in _TEXTS and (wish.text or wish.skill):
        raise UsageError(
            f"--bind {wish.bind} delivers nothing, so --text and --skill mean nothing",
            hint="--bind exposure delivers a text to half of the sessions, by a coin.",
        )
    if wish.bind is not Bind.GIT and (wish.change or wish.pin):
        raise UsageError("--change and --pin belong to --bind git")
    if wish.change and wish.pin:
        raise UsageError(
            "--change and --pin exclude each other",
            hint="--change is a commit made already, --pin the last one without the change.",
        )
    if wish.bind is Bind.BRANCH and not wish.treatment:
        raise UsageError("--bind branch needs --treatment, a branch")
    if wish.bind not in _BRANCHES and (wish.treatment or wish.control):
        raise UsageError("--treatment and --control belong to --bind branch and --bind prompt")
    if wish.auto and wish.bind not in _COINS:
        raise UsageError(
            "only an experiment with a coin may undo by itself",
            hint="Leave --auto out: the report proposes what to undo.",
        )
    if wish.path is not None and wish.bind is not Bind.DAYS:
        raise UsageError("--to belongs to --bind days: the others write into no file")


def _repository(here: Path) -> Path:
    need_git()
    root = top(str(here))
    if root is None:
        raise UsageError(
            f"{here} is in no git repository", hint="Experiments are about one: go into it."
        )
    return Path(root).resolve()


def _workspace(store: Store, folder: Path) -> int:
    found = workspaces.find(store, str(folder))
    if found is not None:
        return found
    identity = identify(str(folder))
    with store.transaction() as db:
        number = workspaces.number_of(db, identity)
        workspaces.remember(db, {str(folder): identity})
    return number


def _metric(wish: Wish) -> tuple[str, str]:
    """What is counted: as asked for, else what the bet is about, else tokens."""
    if wish.metric is None:
        if wish.bind is Bind.NUDGE:
            return FAILED_CALLS, ""
        if wish.offer is None:
            return TOKENS, ""
        return wish.offer.metric.fact, wish.offer.metric.subject
    fact, _, subject = wish.metric.partition(":")
    if not subject:
        return known(fact).name, ""
    if amount(fact) is not None:
        raise UsageError(f"{fact} is an amount and has no subject", hint=f"Write --metric {fact}.")
    if fact not in COUNTED:
        raise UsageError(
            f"nobody knows how to count {fact!r} in a session",
            hint=f"What can be counted again: {', '.join(COUNTED)}.",
        )
    return fact, subject


def filed(store: Store, workspace: int, fact: str, subject: str, now: int) -> tuple[str, str]:
    """Under which name it is counted; facts have to be up to date.

    A failure that says that something does not exist is known by what is missing, not by its
    signature: under that it would never come up.
    """
    if fact != Fact.FAILURES:
        return fact, subject
    found = grounds(store, Scope(workspace=workspace), now)
    window = found[0].window if found else None
    if window is None or not any(row.signature == subject for _, row in window.failures):
        return fact, subject
    if any(it.signature == subject for _, it in telling(window)):
        return fact, subject
    keys = sorted({it.key for it in tries(window) if it.failure.signature == subject})
    if len(keys) == 1:
        return Fact.MISSING, keys[0]
    hint = "Say which one: " + ", ".join(
        f'--metric "{Fact.MISSING}:{it}"' for it in keys[:MOST_NAMED]
    )
    raise UsageError(
        f"failures with {subject!r} are not counted by their signature",
        hint=hint if keys else "They say nothing about this project: count something else.",
    )


def _hypothesis(wish: Wish) -> str:
    if wish.hypothesis and wish.hypothesis.strip():
        return " ".join(wish.hypothesis.split())
    if wish.offer is not None:
        return wish.offer.claim
    if wish.skill is not None:
        return f"skill {wish.skill} helps"
    if wish.bind is Bind.NUDGE:
        return "being told of a known fix when a failure is met saves further failures"
    raise UsageError(
        "an experiment needs something to find out",
        hint='Say it: --hypothesis "splitting auth.py takes fewer tokens"',
    )


def _terms(store: Store, config: Config, wish: Wish, folder: Path, salt: str) -> Terms:
    if wish.bind is Bind.GIT:
        change = None if wish.change is None else _commit(folder, wish.change)
        pin = None if change is not None else _commit(folder, wish.pin or "HEAD")
        return Terms(change=change, pin=pin)
    if wish.bind is Bind.PROMPT and not wish.treatment:
        raise _no_fingerprint(store, folder)
    if wish.bind in _BRANCHES:
        return Terms(treatment=wish.treatment, control=wish.control)
    if wish.bind is Bind.TAG:
        return Terms()
    if wish.bind is Bind.NUDGE:
        return Terms(salt=salt, share=wish.share)
    text = _text(store, config, wish, folder)
    _must_stand_nowhere(folder, text)
    path = None
    if wish.bind is Bind.DAYS:
        path = wish.path or (wish.offer.target if wish.offer else None) or default_target(folder)
    return Terms(text=text, path=path, salt=salt, share=wish.share)


def _no_fingerprint(store: Store, folder: Path) -> UsageError:
    """Which sets of instructions there were, for a person to choose from."""
    told = Counter(run.candidate.prompt for run in runs(store, _workspace(store, folder)))
    found = [f"{name} ({count} sessions)" for name, count in told.most_common() if name]
    hint = f"Known here: {', '.join(found[:MOST_NAMED])}." if found else "None is known here yet."
    return UsageError("--bind prompt needs --treatment, a fingerprint of instructions", hint=hint)


def _commit(folder: Path, name: str) -> str:
    found = git(str(folder), "rev-parse", "--verify", "--quiet", f"{name}^{{commit}}")
    if found is None:
        raise UsageError(
            f"there is no commit {name!r} in {folder}",
            hint="A shallow clone or a rewritten history lacks it: `git fetch` may bring it.",
        )
    return found


def _text(store: Store, config: Config, wish: Wish, folder: Path) -> str:
    """What sessions are told: one line of a person's or a bet's, or a skill as it is written."""
    if wish.skill is not None:
        from hansei.learn.model import LIVE
        from hansei.ops.skills import find

        _, skill = find(config, folder, wish.skill)
        if skill.state not in LIVE:
            raise UsageError(
                f"skill {skill.name} is {skill.state}, and such skills are given to nobody",
                hint=f"`hansei skills show {skill.name}` opens it.",
            )
        for place in SKILL_FOLDERS:
            if (folder / skill_path(place, skill.name)).exists():
                raise UsageError(
                    f"skill {skill.name} is in {place}, where agents load it on demand",
                    hint="Skill folders are not given by a coin. Take it out to try it this way.",
                )
        return f"{skill.description}\n\n{skill.body}".strip()
    if wish.offer is not None:
        offer = wish.offer
        if offer.change.design is not Design.LINE:
            raise UsageError(
                f"bet {offer.short} is a task for a person: there is no line to deliver",
                hint="Do it, then `hansei exp new --bind git --change COMMIT` compares.",
            )
        if offer.state in (State.APPLIED, State.KEPT):
            raise UsageError(
                f"bet {offer.short} stands in an instruction file already, so every session has it",
                hint="`hansei undo` takes it out; then a coin can decide.",
            )
        line = as_item(Redactor(redaction_key(store.folder)).scrub(offer.change.text))
        must_be_harmless(line)
        return line
    line = as_item(wish.text or "")
    if not line:
        raise UsageError("--text is empty", hint="Write what sessions are to be told.")
    return line


def _must_stand_nowhere(folder: Path, text: str) -> None:
    """Refuse a text that every session gets anyway."""
    for path in SHARED:
        if places.stands(folder, path, text):
            raise UsageError(
                f"{path} holds this text already, so every session has it",
                hint="Take it out there first; then a coin can decide.",
            )


def must_not_clash(store: Store, it: Experiment, folder: Path) -> None:
    """Refuse what could not be told apart from another experiment that is going on."""
    for other in shelf.running(store, it.workspace):
        what = _shared(it, other)
        if other.id != it.id and what is not None:
            raise UsageError(
                f"experiment {shelf.short(other)} is running on {what}:"
                f" nobody could tell which of the two did it",
                hint=f"`hansei exp conclude {shelf.short(other)}` ends that one ({folder.name}).",
            )


def _shared(it: Experiment, other: Experiment) -> str | None:
    """What two experiments would both change."""
    one, two = it.terms, other.terms
    if it.bind is Bind.NUDGE and other.bind is Bind.NUDGE:
        return "known fixes"
    if one.text and one.text == two.text:
        return "the same text"
    if it.bet is not None and it.bet == other.bet:
        return "the same bet"
    if one.change is not None and one.change == two.change:
        return "the same commit"
    if one.pin is not None and two.pin is not None:
        return f"all that comes after {two.pin[:10]}"
    if one.path is not None and one.path == two.path and Bind.DAYS in (it.bind, other.bind):
        return f"the block in {one.path}"
    return None


def _remember_evidence(store: Store, it: Experiment, offer: Offer, now: int) -> None:
    """What led to the bet is not what it is compared with."""
    kept_bet = decide(store, offer, _further(offer.state), now, reason=offer.reason)
    with store.transaction() as db:
        kept.put(db, [Member(it.id, name, Role.EVIDENCE, "") for name in kept_bet.evidence])


def _further(state: State) -> State:
    return state if state in (State.APPLIED, State.KEPT) else State.ACCEPTED
