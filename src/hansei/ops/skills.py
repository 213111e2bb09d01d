"""The skillbook: which books there are, and what people do to the skills in them.

Three books are in force in a folder: the repository's own, if it has one, this person's for the
workspace, and this person's for everywhere. A name is looked for in that order. Every verb writes
the book first and the places where agents read a skill second; both are taken back together.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

import msgspec

from hansei.config import home_folder
from hansei.errors import NotFound, StoreUnwritable, UnusableSkill, UsageError
from hansei.events.keys import digest
from hansei.git.repository import git, identify
from hansei.hook.repository import top
from hansei.learn import gate, operations
from hansei.learn.book import Book, must_be_fit
from hansei.learn.history import Progress, standing
from hansei.learn.labels import worst
from hansei.learn.model import LIVE, Label, Rung, Scope, Skill, State
from hansei.learn.validation import name_from, normal
from hansei.ops import skill_guards, skill_places, skill_rules
from hansei.redaction.redactor import Redactor
from hansei.store.key import redaction_key

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from hansei.config import Config
    from hansei.git.repository import Identity
    from hansei.instructions.carrying import UndoneFile
    from hansei.instructions.plans import Plan
    from hansei.learn.book import Problem, Tampering
    from hansei.learn.counters import Counters
    from hansei.learn.history import Entry
    from hansei.learn.operations import Counts
    from hansei.ops.skill_places import Placed
    from hansei.store.database import Store

REPOSITORY, WORKSPACE, GLOBAL = "repository", "workspace", "global"
MOVE, CURATE = "move", "curate"
_OVER_BOOKS: Final = frozenset((MOVE, CURATE))
"""What is done to several books at once, and taken back at once."""
IN_REPOSITORY: Final = ".hansei/skills"
_IGNORE: Final = "*\n!.gitignore\n!skills/\n!skills/**\n"
"""What git is to keep of `.hansei`: the book, and nothing of a store that may lie there too."""
_VERBS: Final = {State.APPROVED: "approve", State.DRAFT: "promote", State.REJECTED: "reject"}
_ONLY_STORE: Final = "*\n"
_CLEANED: Final = ("description", "body", "section", "reason", "topic", "action", "key", "owner")


class _Known(msgspec.Struct):
    """Whose book a folder is; a repository's identity changes with its first commit and remote."""

    identities: list[str]
    folder: str | None


@dataclass(frozen=True)
class Desk:
    """Where a person stands when they open the skillbook."""

    store: Store
    config: Config
    here: Path
    now: int

    @property
    def by(self) -> str:
        """Who that is, as git or the system knows them."""
        named = git(str(self.here), "config", "user.name")
        return named or self.config.environment.variables.get("USER", "") or "someone"

    def root(self, skill: Skill, *, user: bool = False) -> Path:
        """The tree whose skill folders a skill belongs in."""
        if user or skill.scope is not Scope.WORKSPACE:
            return self.config.environment.home
        return Path(top(str(self.here)) or self.here)


@dataclass(frozen=True)
class Shelf:
    """A book and what it is called."""

    kind: str
    book: Book


@dataclass(frozen=True)
class Done:
    """What a verb did."""

    operation: str
    skills: tuple[Skill, ...]
    change: int | None
    """Its number in the history; None where nothing changed."""
    placed: tuple[Placed, ...] = ()


# --- books ----------------------------------------------------------------------------------------


def book_for(
    config: Config, here: Path, scope: Scope = Scope.WORKSPACE, *, repo: bool = False
) -> Book:
    """The book that a skill of a scope is kept in; with `repo` the repository's own."""
    root = home_folder(config.environment) / "skills"
    records = root / "history.jsonl"
    if repo:
        return Book(_repository_folder(here), records, shared=True)
    if scope is not Scope.WORKSPACE:
        return Book(root / GLOBAL, records)
    return Book(_workspace_folder(root, identify(top(str(here)) or str(here))), records)


def _repository_folder(here: Path) -> Path:
    found = top(str(here))
    if found is None:
        raise UsageError(
            f"{here} is not inside a git repository",
            hint="Without --repo the skill is kept in your own folder.",
        )
    repository = Path(found).resolve()
    folder = repository / IN_REPOSITORY
    if not folder.resolve().is_relative_to(repository):
        raise UnusableSkill(
            f"{folder} leads to {folder.resolve()}, outside the repository",
            hint="Skills of a repository are kept inside it. Remove that link.",
        )
    return folder


def _workspace_folder(root: Path, identity: Identity) -> Path:
    """The folder of a workspace's book, found again after its identity changed."""
    known = _known_folder(root, identity.id, identity.folder)
    return (
        known
        or root / f"{name_from(identity.name)[:32].strip('-')}-{digest(identity.id.encode())[:8]}"
    )


def _known_folder(root: Path, identity: str, folder: str | None) -> Path | None:
    for file in sorted(root.glob("*/book.json")):
        try:
            known = msgspec.json.decode(file.read_bytes(), type=_Known)
        except (OSError, msgspec.DecodeError):
            continue
        if identity in known.identities or (folder is not None and folder == known.folder):
            return file.parent
    return None


def _remember_workspace(folder: Path, here: Path) -> None:
    identity = identify(top(str(here)) or str(here))
    file = folder / "book.json"
    try:
        known = msgspec.json.decode(file.read_bytes(), type=_Known)
    except (OSError, msgspec.DecodeError):
        known = _Known([], identity.folder)
    if identity.id not in known.identities:
        known = _Known([*known.identities, identity.id], identity.folder)
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        file.write_bytes(msgspec.json.encode(known))


def _keep_in_git(folder: Path) -> None:
    """Have git keep the book though a store beside it must never be committed."""
    ignore = folder.parent / ".gitignore"
    folder.mkdir(parents=True, exist_ok=True)
    if not ignore.exists() or ignore.read_text(encoding="utf-8") == _ONLY_STORE:
        ignore.write_text(_IGNORE, encoding="utf-8")


def shelves(config: Config, here: Path) -> list[Shelf]:
    """The books in force in a folder, the nearest first."""
    found = [
        Shelf(WORKSPACE, book_for(config, here)),
        Shelf(GLOBAL, book_for(config, here, Scope.GLOBAL)),
    ]
    if top(str(here)) is not None:
        own = book_for(config, here, repo=True)
        if own.folder.is_dir():
            found.insert(0, Shelf(REPOSITORY, own))
    return found


def books(config: Config) -> list[Book]:
    """Every book that was ever changed on this machine and is still there."""
    root = home_folder(config.environment) / "skills"
    records = root / "history.jsonl"
    folders = {Path(folder) for folder, _ in standing(records)}
    folders |= {it.parent for it in root.glob("*/book.json")}
    own = sorted(it for it in folders if it.is_dir())
    return [Book(it, records, shared=not it.is_relative_to(root)) for it in own]


def book_of_workspace(config: Config, identity: str, folder: str | None) -> Book | None:
    """This person's book for a workspace that a store knows; None if there is none."""
    root = home_folder(config.environment) / "skills"
    known = _known_folder(root, identity, folder)
    return None if known is None else Book(known, root / "history.jsonl")


def listed(config: Config, here: Path) -> tuple[list[tuple[Shelf, Skill]], list[Problem]]:
    """Every skill in force here, nearest book first, and the files that cannot be read."""
    places = shelves(config, here)
    skills: dict[str, tuple[Shelf, Skill]] = {}
    for shelf in places:
        for skill in shelf.book.skills():
            skills.setdefault(skill.name, (shelf, skill))
    problems = [problem for shelf in places for problem in shelf.book.problems()]
    return list(skills.values()), problems


def tampered(config: Config, here: Path) -> dict[str, Tampering]:
    """Skills of the books here whose files say more than a person let them be, by name."""
    found: dict[str, Tampering] = {}
    for shelf in reversed(shelves(config, here)):
        found |= shelf.book.tampered()
    return found


def find(config: Config, here: Path, name: str) -> tuple[Shelf, Skill]:
    """A skill by its name, in the nearest book that has it."""
    for shelf in shelves(config, here):
        if shelf.book.has(name):
            return shelf, shelf.book.find(name)
    import difflib

    known = [skill.name for _, skill in listed(config, here)[0]]
    near = difflib.get_close_matches(name, known, n=1)
    hint = f"Did you mean {near[0]!r}?" if near else "`hansei skills list` shows what there is."
    raise NotFound(f"there is no skill {name!r} here", hint=hint)


def counts(
    skills: Sequence[Skill], derived: Mapping[str, Counters] = MappingProxyType({})
) -> dict[str, Counts]:
    """How often each skill helped and harmed, by what was derived from sessions; votes apart."""
    return {it.name: operations.counts(it, derived.get(it.name)) for it in skills}


# --- verbs ----------------------------------------------------------------------------------------


def add(desk: Desk, skill: Skill, *, repo: bool = False, place: bool = True) -> Done:
    """Keep a new skill; refuses a name that is taken."""
    new = clean(desk, _by_whom(desk, replace(skill, owner=skill.owner or desk.by)))
    for shelf in shelves(desk.config, desk.here):
        if shelf.book.has(new.name):
            raise UsageError(
                f"there is a skill {new.name!r} already, in the {shelf.kind} book",
                hint=f"`hansei skills update {new.name}` changes it.",
            )
    book = book_for(desk.config, desk.here, new.scope, repo=repo)
    return keep(desk, book, "add", {new.name: new}, place=place)


def change_state(
    desk: Desk,
    name: str,
    state: State,
    *,
    reason: str = "",
    place: bool = True,
    allowed: Sequence[str] = (),
) -> Done:
    """Approve, promote, reject or retire a skill; `allowed` are rules that do not stop it."""
    if state in LIVE:
        must_be_a_person(desk, f"hansei skills {_VERBS[state]} {name}")
    shelf, skill = find(desk.config, desk.here, name)
    new = clean(desk, operations.moved(skill, state, by=desk.by, reason=reason))
    verb = _VERBS.get(state, "retire")
    return keep(desk, shelf.book, verb, {name: new}, place=place, allowed=allowed)


def update(desk: Desk, name: str, *, operation: str = "update", **fields: Any) -> Done:
    """Change what a skill says, or how it is filed."""
    shelf, skill = find(desk.config, desk.here, name)
    wanted = {field: value for field, value in fields.items() if value is not None}
    new = clean(desk, _by_whom(desk, replace(skill, owner=desk.by, **wanted)))
    return keep(desk, shelf.book, operation, {name: new}, place=False)


def edited(desk: Desk, shelf: Shelf, skill: Skill) -> Done:
    """Keep a skill as a person left it in their editor."""
    _, known = find(desk.config, desk.here, skill.name)
    # Only `promote` lets a skill out of quarantine.
    state = known.state if skill.state in LIVE and known.state not in LIVE else skill.state
    label = worst((known.label, skill.label))
    new = clean(desk, _by_whom(desk, replace(skill, owner=desk.by, state=state, label=label)))
    return keep(desk, shelf.book, "edit", {skill.name: new}, place=False)


def vote(desk: Desk, name: str, *, helpful: bool, note: str = "") -> Done:
    """Say that a skill helped, or that it harmed."""
    shelf, skill = find(desk.config, desk.here, name)
    new = operations.vote(skill, by=desk.by, now=desk.now, helpful=helpful, note=note)
    return keep(desk, shelf.book, "vote", {name: clean(desk, new)}, place=False)


def merge(desk: Desk, name: str, others: Sequence[str], *, reason: str = "") -> Done:
    """Have one skill take in the evidence of others, which are retired."""
    shelf, kept = find(desk.config, desk.here, name)
    found = [shelf.book.find(other) for other in others]
    made = operations.merged(kept, found, by=desk.by, reason=reason)
    return keep(desk, shelf.book, "merge", {it.name: it for it in made}, place=False)


def split(desk: Desk, name: str) -> Done:
    """Make a skill of each second-level heading of one, which is retired."""
    shelf, skill = find(desk.config, desk.here, name)
    taken = [it.name for it in shelf.book.skills()]
    made = operations.split(skill, taken, by=desk.by)
    placed = skill_places.is_placed(desk.store, name, desk.root(skill))
    return keep(desk, shelf.book, "split", {it.name: it for it in made}, place=placed)


def move(desk: Desk, name: str, kind: str) -> Done:
    """Keep a skill in another book: the repository's, the workspace's or the one for everywhere."""
    shelf, skill = find(desk.config, desk.here, name)
    scope = Scope.WORKSPACE if kind != GLOBAL else Scope.GLOBAL
    if skill.scope is Scope.LANGUAGE and kind == GLOBAL:
        scope = Scope.LANGUAGE
    target = book_for(desk.config, desk.here, scope, repo=kind == REPOSITORY)
    if target.folder == shelf.book.folder:
        raise UsageError(f"skill {name!r} is in the {kind} book already")
    if target.has(name):
        raise UsageError(f"there is another skill {name!r} in the {kind} book")
    placed = skill_places.is_placed(desk.store, name, desk.root(skill))
    gone = _take_out(desk, replace(skill, state=State.RETIRED)) if placed else ()
    done = keep(desk, target, MOVE, {name: replace(skill, scope=scope)}, place=placed)
    shelf.book.change(MOVE, {name: None}, desk.now, by=desk.by)
    return replace(done, placed=(*gone, *done.placed))


def _take_out(desk: Desk, skill: Skill) -> tuple[Placed, ...]:
    plan = skill_places.planned(desk.store, skill, desk.root(skill))
    return (skill_places.carry_out(desk.store, plan, now=desk.now),)


def keep(
    desk: Desk,
    book: Book,
    operation: str,
    wanted: Mapping[str, Skill | None],
    *,
    place: bool,
    allowed: Sequence[str] = (),
) -> Done:
    """Write some skills into a book, then have the places where agents read them agree.

    With `place` a live skill is written there even if it was not there before; one that was
    promoted is written where its rung of the ladder wants it in any case.
    """
    _must_be_writable(desk.store)
    new = [normal(it) for it in wanted.values() if it is not None]
    for skill in new:
        must_be_fit(skill)
        _must_pass(book, skill, allowed)
    _prepare(desk, book)
    before = _known(book, wanted)
    risen = {it.name for it in new if it.rung is not getattr(before[it.name], "rung", Rung.NOTE)}
    plans = _plans(desk, new, place=place, risen=risen)
    for plan in plans:
        skill_places.must_be_possible(plan)
    entry = book.change(operation, wanted, desk.now, by=desk.by)
    skill_guards.settle(desk, before, _known(book, wanted))
    kept = tuple(book.find(skill.name) for skill in new)
    final = _plans(desk, kept, place=place, risen=risen)
    placed = tuple(skill_places.carry_out(desk.store, plan, now=desk.now) for plan in final)
    return Done(operation, kept, None if entry is None else entry.id, placed)


def _known(book: Book, names: Iterable[str]) -> dict[str, Skill | None]:
    return {name: book.find(name) if book.has(name) else None for name in names}


def _must_pass(book: Book, skill: Skill, allowed: Sequence[str]) -> None:
    """Refuse to let a skill be used that the gate stops; one that is in use already passed."""
    known = book.find(skill.name) if book.has(skill.name) else None
    if skill.state not in LIVE or (known is not None and _says(known) == _says(skill)):
        return
    reasons = gate.checked(skill).reasons
    stopping = [it for it in reasons if it.stops is State.REJECTED and it.rule not in allowed]
    if stopping:
        first = stopping[0]
        raise UnusableSkill(
            f"skill {skill.name!r} cannot be used: {first.message} ({first.where})",
            hint=f"The rule is {first.rule}. Take that out of its text;"
            " docs/reference/skill-checks.md lists what is stopped.",
        )


AGENTS: Final = (
    "CLAUDECODE", "CODEX_SANDBOX", "CODEX_THREAD_ID", "CURSOR_AGENT", "GEMINI_CLI", "OPENCODE",
    "COPILOT_CLI", "QWEN_CODE", "AMP_THREAD_ID",
)  # fmt: skip
"""Variables that agents set for what they run."""


def agent_at_work(desk: Desk) -> str | None:
    """The variable by which an agent, not a person, runs this; None where nothing says so."""
    told = desk.config.environment.variables
    return next((it for it in AGENTS if told.get(it, "").strip() not in ("", "0")), None)


def must_be_a_person(desk: Desk, command: str) -> None:
    """Refuse a person's word where an agent speaks."""
    variable = agent_at_work(desk)
    if variable is not None:
        raise UsageError(
            f"an agent runs this ({variable} is set), and this is for a person to say",
            hint=f"Run `{command}` in your own terminal.",
        )


def _by_whom(desk: Desk, skill: Skill) -> Skill:
    """What an agent wrote through us is its proposal, and waits for a person."""
    if agent_at_work(desk) is None:
        return skill
    state = State.QUARANTINED if skill.state in LIVE else skill.state
    origin = "agent" if skill.origin == "person" else skill.origin
    return replace(skill, state=state, label=worst((skill.label, Label.PROPOSED)), origin=origin)


def _says(skill: Skill) -> tuple[object, ...]:
    return skill.state in LIVE, skill.description, skill.body, skill.predicates


def _prepare(desk: Desk, book: Book) -> None:
    try:
        if book.shared:
            _keep_in_git(book.folder)
        elif book.folder.name != GLOBAL:
            _remember_workspace(book.folder, desk.here)
    except OSError as problem:
        raise StoreUnwritable(
            f"{book.folder} cannot be written: {problem.strerror}",
            hint="Allow writing there, then try again.",
        ) from problem


def _plans(
    desk: Desk, skills: Sequence[Skill], *, place: bool, risen: Collection[str]
) -> list[Plan]:
    found = []
    for skill in skills:
        root = desk.root(skill)
        up = skill.rung if skill.name in risen else None
        wanted = (place or up is Rung.SKILL) and skill.state in LIVE
        if wanted or skill_places.is_placed(desk.store, skill.name, root):
            found.append(skill_places.planned(desk.store, skill, root))
        if up is Rung.RULE or skill_rules.standing(desk.store, skill.name, root):
            found.append(skill_rules.planned(desk.store, skill, root))
    return [plan for plan in found if plan.files or plan.notes or plan.problems]


def place(desk: Desk, skill: Skill, *, user: bool = False, again: bool = False) -> Placed:
    """Write a live skill where agents read it, or take one out that is not live."""
    _must_be_writable(desk.store)
    root = desk.root(skill, user=user)
    plan = skill_places.planned(desk.store, skill, root, again=again)
    return skill_places.carry_out(desk.store, plan, now=desk.now)


def _must_be_writable(store: Store) -> None:
    if not store.writable:
        raise StoreUnwritable(
            f"{store.folder} is read-only: what is changed could not be undone",
            hint="Set HANSEI_HOME to a folder you can write to.",
        )


def clean(desk: Desk, skill: Skill) -> Skill:
    """The skill without secrets."""
    redactor = Redactor(redaction_key(desk.store.folder))
    texts: dict[str, Any] = {name: redactor.scrub(getattr(skill, name)) for name in _CLEANED}
    votes = tuple(replace(it, note=redactor.scrub(it.note)) for it in skill.votes)
    told = skill.predicates
    predicates = replace(
        told,
        command=redactor.scrub(told.command),
        error=redactor.scrub(told.error),
        do=tuple(map(redactor.scrub, told.do)),
        avoid=tuple(map(redactor.scrub, told.avoid)),
        check=redactor.scrub(told.check),
    )
    return replace(skill, votes=votes, predicates=predicates, **texts)


# --- history --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Undone:
    """What undoing a change does, or did."""

    entries: tuple[tuple[Shelf, Entry], ...]
    """One, or one for each book where several were changed at once."""
    files: tuple[UndoneFile, ...] = ()
    """Where agents read the skills."""


def history(config: Config, here: Path) -> list[tuple[Shelf, Entry]]:
    """What was done to the books in force here, newest first."""
    told = [(shelf, it) for shelf in shelves(config, here) for it in shelf.book.history()]
    return sorted(told, key=lambda it: -it[1].id)


def undoing(desk: Desk, number: int | None) -> Undone:
    """What undoing a change would take back; without a number, the last that stands."""
    told = history(desk.config, desk.here)
    standing = [it for it in told if it[1].progress is Progress.DONE]
    chosen = [it for it in (standing if number is None else told) if number in (None, it[1].id)]
    if not chosen:
        missing = "there is nothing to undo" if number is None else f"there is no change {number}"
        raise NotFound(
            f"{missing} in the books of this folder",
            hint="`hansei skills undo --list` shows what was done.",
        )
    shelf, entry = chosen[0]
    pair = [
        it
        for it in standing
        if it[1].at == entry.at and it[1].operation == entry.operation in _OVER_BOOKS
    ]
    entries = pair or [(shelf, entry)]
    for its_shelf, it in entries:
        its_shelf.book.undoing(it.id)
    return Undone(tuple(entries))


def undo(desk: Desk, shown: Undone) -> Undone:
    """Put back every byte of the book, and take back what was placed with it."""
    from hansei.instructions import carrying

    _must_be_writable(desk.store)
    files: list[UndoneFile] = []
    entries = []
    for shelf, entry in shown.entries:
        before = _known(shelf.book, [change.name for change in entry.changes])
        entries.append((shelf, shelf.book.undo(entry.id, desk.now)))
        skill_guards.settle(desk, before, _known(shelf.book, before))
    names = [change.name for _, entry in entries for change in entry.changes]
    for written in skill_places.changes_of(desk.store, names, entries[0][1].at):
        files += carrying.undo(desk.store, written.id, now=desk.now).files
    return Undone(tuple(entries), tuple(files))


def known_sessions(store: Store, skill: Skill) -> set[str]:
    """The sessions of a skill's evidence that this store can open."""
    from hansei.ops import sessions

    known = set()
    for session in {it.session for it in skill.evidence}:
        try:
            sessions.find(store, session)
        except NotFound:
            continue
        known.add(session)
    return known
