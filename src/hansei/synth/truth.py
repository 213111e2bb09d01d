"""What a world really holds, for whoever claims to have found it.

The record is made from the story and from what the writers put on disk, never by reading the files
back, so it can be wrong only together with the story. Every part is plain data: `as_json` gives it
as such. It holds the planted secrets in clear; it is meant to stay in memory.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from hansei.synth.guides import GuideTruth, guided
from hansei.synth.history import NOTE_COMMIT, ROOT, RULE_COMMIT
from hansei.synth.meter import CALL_OVERHEAD, tokens
from hansei.synth.plan import BROKEN_AFTER, BROKEN_BEFORE
from hansei.synth.routines import RoutineTruth
from hansei.synth.secrets import pieces
from hansei.synth.skills import SkillTruth
from hansei.synth.story import (
    Aside,
    Command,
    Compaction,
    Correction,
    Course,
    Decoy,
    Discovery,
    Guided,
    Haul,
    Landing,
    Leak,
    Prompt,
    Recourse,
    Refusal,
    Request,
    Reread,
    Spill,
    Struggle,
    Stumble,
    Trial,
    calls,
    requests,
)
from hansei.synth.troubles import BY_NAME, ENVIRONMENT, MISSED_EDIT

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from hansei.synth.contract import Writer, Written
    from hansei.synth.plan import Outline
    from hansei.synth.story import Driver, Episode, Fate, Manner, Relation, Session, Told, Usage


@dataclass(frozen=True)
class Tokens:
    """Tokens in disjoint fields, but reasoning, which is part of output. None: not told."""

    input: int = 0
    cache_read: int = 0
    cache_write_5m: int | None = None
    cache_write_1h: int | None = None
    output: int = 0
    reasoning: int | None = None

    @property
    def total(self) -> int:
        """All tokens billed, each once."""
        written = (self.cache_write_5m or 0) + (self.cache_write_1h or 0)
        return self.input + self.cache_read + written + self.output


@dataclass(frozen=True)
class SessionTruth:
    id: str
    agent: str
    driver: Driver
    developer: str
    rhythm: str
    """Whether that developer works at a constant rate, in bursts, or every night."""
    version: str
    model: str
    branch: str
    worktree: bool
    """Whether its folder is a worktree beside the repository's main one."""
    commit: str
    parent: str | None
    relation: Relation | None
    spawned_by: str | None
    inline_in: str | None
    """The session whose file holds it, where it has no file of its own."""
    files: tuple[str, ...]
    copies: tuple[str, ...]
    started: int
    ended: int
    sittings: int
    """How often it was worked on; more than once where it was resumed in the same file."""
    exposed: bool
    """Whether the rule stood in the instruction file."""
    guided: bool
    """Whether it was told of the skill that outcomes are counted for."""
    tokens_per_byte: float
    requests: int
    tokens: Tokens
    naive_total: int
    """Tokens found by adding up every line of its files that tells any, copies included."""
    prompts: dict[str, int]
    """Prompts by origin."""
    commands: int
    compactions: int
    interruptions: int
    calls: dict[str, int]
    """Calls by kind of tool."""
    declined: tuple[str, ...]
    interrupted: tuple[str, ...]
    unanswered: tuple[str, ...]


@dataclass(frozen=True)
class FailureTruth:
    session: str
    call: str
    trouble: str
    program: str
    sign: str
    """The part of the output that is the same every time it happens."""
    exit_code: int | None
    """The real one."""
    masked: bool
    """Whether the command hides it."""
    decidable: bool
    """Whether the output tells even where the exit code does not."""
    recovered_by: str | None
    asked: int = 0
    """Tokens of the request that asked for it."""
    detour: int = 0
    """Tokens of the requests from there to the one that asked for what got past it."""


@dataclass(frozen=True)
class CorrectionTruth:
    session: str
    topic: str
    text: str
    manner: Manner = "said"
    detour: int = 0
    """Tokens of the requests from the call that was wrong to the first call after the prompt."""


@dataclass(frozen=True)
class AsideTruth:
    """A prompt that sounds like a correction and is none."""

    session: str
    why: str
    text: str


@dataclass(frozen=True)
class RefusalTruth:
    session: str
    call: str
    command: str
    asked: int
    """Tokens of the request that asked for it."""


@dataclass(frozen=True)
class StruggleTruth:
    session: str
    path: str
    command: str
    rounds: int
    """Failed runs that an edit came before."""
    detour: int
    """Tokens of the requests from the second failed run to the one that went well."""


@dataclass(frozen=True)
class RereadTruth:
    session: str
    call: str
    path: str
    tokens: int
    requests_carried: int
    alone: int | None
    """What the request was billed that made this call and no other; None where it made others."""
    excused: bool
    """Whether an edit of it had just failed."""


@dataclass(frozen=True)
class DiscoveryTruth:
    """A folder listed at the start of a session."""

    session: str
    call: str
    folder: str
    cost: int
    """Tokens billed for the call and what it listed, when they came and in every later request."""


@dataclass(frozen=True)
class HaulTruth:
    session: str
    call: str
    command: str
    tokens: int
    requests_carried: int
    """Later requests that read it again, up to a compaction or the end."""


@dataclass(frozen=True)
class SpillTruth:
    session: str
    call: str
    bytes: int
    """Of the whole output."""
    file: str
    """Where it is, relative to the home folder."""


@dataclass(frozen=True)
class EditTruth:
    session: str
    call: str
    path: str
    added: tuple[str, ...]
    """The lines as the agent wrote them, blank ones left out."""
    fate: Fate
    commit: str | None
    """Where they entered the main line."""
    squashed_away: tuple[str, ...]
    undone_in: str | None
    """The commit that reverted or reworked them."""


@dataclass(frozen=True)
class SecretTruth:
    session: str
    kind: str
    value: str
    pieces: tuple[str, ...]
    """The parts that may be found nowhere else, such as the password of an address."""
    place: Literal["prompt", "output", "file"]


@dataclass(frozen=True)
class DecoyTruth:
    session: str
    call: str
    why: str


@dataclass(frozen=True)
class RuleTruth:
    """A line added to the instruction file, and what it did."""

    trouble: str
    commit: str | None
    rate_before: float
    """The chance that was drawn from; what came out is in the counts."""
    rate_after: float
    trials_before: int
    broken_before: int
    trials_after: int
    broken_after: int


@dataclass(frozen=True)
class Truth:
    sessions: tuple[SessionTruth, ...]
    failures: tuple[FailureTruth, ...]
    corrections: tuple[CorrectionTruth, ...]
    asides: tuple[AsideTruth, ...]
    rereads: tuple[RereadTruth, ...]
    discoveries: tuple[DiscoveryTruth, ...]
    hauls: tuple[HaulTruth, ...]
    spills: tuple[SpillTruth, ...]
    edits: tuple[EditTruth, ...]
    secrets: tuple[SecretTruth, ...]
    decoys: tuple[DecoyTruth, ...]
    skills: tuple[SkillTruth, ...]
    refusals: tuple[RefusalTruth, ...]
    struggles: tuple[StruggleTruth, ...]
    routines: tuple[RoutineTruth, ...]
    guides: tuple[GuideTruth, ...]
    rule: RuleTruth
    commits: dict[str, str]
    """Every commit by its id, with what it was for: root, rule, note, work or afterthought."""
    tokens: Tokens
    naive_total: int

    def session(self, session_id: str) -> SessionTruth:
        return next(session for session in self.sessions if session.id == session_id)


def as_json(truth: Truth) -> Any:
    """The whole record as plain data."""
    return msgspec.to_builtins(truth)


def add_up(usages: Iterable[Usage | Tokens]) -> Tokens:
    """Field by field; a field stays None where nobody told it."""
    total = Tokens()
    for usage in usages:
        total = Tokens(
            input=total.input + usage.input,
            cache_read=total.cache_read + usage.cache_read,
            cache_write_5m=_sum(total.cache_write_5m, usage.cache_write_5m),
            cache_write_1h=_sum(total.cache_write_1h, usage.cache_write_1h),
            output=total.output + usage.output,
            reasoning=_sum(total.reasoning, usage.reasoning),
        )
    return total


def _sum(one: int | None, other: int | None) -> int | None:
    return one if other is None else other if one is None else one + other


class Recorder:
    """Collects the truth while a world is written."""

    def __init__(self, commits: Mapping[str, str]) -> None:
        self._commits = commits
        self._ids: dict[str, str] = {}
        self._sessions: list[SessionTruth] = []
        self._found: dict[type, list[Any]] = {}
        self._trials: Counter[tuple[bool, bool]] = Counter()

    def add(self, outline: Outline, episode: Episode, written: Written, writer: Writer) -> None:
        """Record an episode that has been written."""
        for told in (episode.main, *episode.children):
            session = told.session
            self._ids[session.key] = writer.session_id(session)
        for told in (episode.main, *episode.children):
            self._sessions.append(self._session(outline, told, written, writer))
            for plant in told.session.plants:
                if isinstance(plant, Spill):
                    self._spill(plant.call, told.session, written, writer)
                else:
                    self._plant(plant, told, writer, exposed=outline.exposed)

    def truth(self) -> Truth:
        return Truth(
            sessions=tuple(self._sessions),
            failures=tuple(self._found.get(FailureTruth, ())),
            corrections=tuple(self._found.get(CorrectionTruth, ())),
            asides=tuple(self._found.get(AsideTruth, ())),
            rereads=tuple(self._found.get(RereadTruth, ())),
            discoveries=tuple(self._found.get(DiscoveryTruth, ())),
            hauls=tuple(self._found.get(HaulTruth, ())),
            spills=tuple(self._found.get(SpillTruth, ())),
            edits=tuple(self._found.get(EditTruth, ())),
            secrets=tuple(self._found.get(SecretTruth, ())),
            decoys=tuple(self._found.get(DecoyTruth, ())),
            skills=tuple(self._found.get(SkillTruth, ())),
            refusals=tuple(self._found.get(RefusalTruth, ())),
            struggles=tuple(self._found.get(StruggleTruth, ())),
            routines=tuple(self._found.get(RoutineTruth, ())),
            guides=tuple(self._found.get(GuideTruth, ())),
            rule=self._rule(),
            commits={commit: _purpose(name) for name, commit in self._commits.items()},
            tokens=add_up(session.tokens for session in self._sessions),
            naive_total=sum(session.naive_total for session in self._sessions),
        )

    def _rule(self) -> RuleTruth:
        count = self._trials
        return RuleTruth(
            trouble=ENVIRONMENT.name,
            commit=self._commits.get(RULE_COMMIT),
            rate_before=BROKEN_BEFORE,
            rate_after=BROKEN_AFTER,
            trials_before=count[False, False] + count[False, True],
            broken_before=count[False, True],
            trials_after=count[True, False] + count[True, True],
            broken_after=count[True, True],
        )

    def _session(
        self, outline: Outline, told: Told, written: Written, writer: Writer
    ) -> SessionTruth:
        session, steps = told.session, told.session.steps
        parent = session.parent and self._ids[session.parent]
        states = {
            call.key: None if call.outcome is None else call.outcome.state
            for call in calls(session)
        }
        billed = told.usages if writer.traits.tells_requests else ()
        return SessionTruth(
            id=writer.session_id(session),
            agent=session.agent,
            driver=writer.traits.driver_of(session),
            developer=session.developer,
            rhythm=outline.developer.rhythm,
            version=writer.version(session),
            model=writer.traits.model_of(session),
            branch=session.branch,
            worktree=outline.in_worktree,
            commit=session.commit,
            parent=parent,
            relation=session.relation,
            spawned_by=session.spawned_by and writer.call_id(session.spawned_by),
            inline_in=parent if session.key in written.inline else None,
            files=tuple(written.files[session.key]),
            copies=tuple(written.copies) if session.relation != "subagent" else (),
            started=session.started,
            ended=_ended(session),
            sittings=1 if session.relation == "subagent" else len(outline.sittings),
            exposed=outline.exposed,
            guided=session.guided,
            tokens_per_byte=session.rate,
            requests=len(billed),
            tokens=add_up(billed),
            naive_total=written.naive[session.key],
            prompts=writer.traits.prompts_of(session),
            commands=sum(isinstance(step, Command) for step in steps),
            compactions=writer.traits.compactions_of(session),
            interruptions=writer.traits.interruptions_of(session),
            calls=dict(Counter(writer.tool(call.action) for call in calls(session))),
            declined=_in_state(states, "declined", writer),
            interrupted=_in_state(states, "interrupted", writer),
            unanswered=_in_state(states, None, writer),
        )

    def _plant(self, plant: Any, told: Told, writer: Writer, *, exposed: bool) -> None:
        session = told.session
        where = writer.session_id(session)
        record: Any = None
        match plant:
            case Trial(_, broken):
                self._trials[exposed, broken] += 1
            case Stumble():
                record = _failure(plant, told, where, writer)
            case Correction(step, topic, manner):
                text, detour = _prompt(session, step), _corrected(plant, told)
                record = CorrectionTruth(where, topic, text, manner, detour)
            case Refusal(call, command):
                record = RefusalTruth(where, writer.call_id(call), command, _asked(told, call))
            case Struggle(path, command, runs):
                detour = _detour(told, runs[1], runs[-1])
                record = StruggleTruth(where, path, command, len(runs) - 2, detour)
            case Course(name, made, lines, kept):
                record = RoutineTruth(where, name, tuple(map(writer.call_id, made)), lines, kept)
            case Guided():
                record = guided(plant, where, writer.call_id)
            case Aside(step, why):
                record = AsideTruth(where, why, _prompt(session, step))
            case Reread(call, path, excused):
                weight = _weight(session, call, writer)
                name, alone = writer.call_id(call), _alone(told, call)
                record = RereadTruth(where, name, path, *weight, alone, excused)
            case Discovery(call, folder):
                record = DiscoveryTruth(
                    where, writer.call_id(call), folder, _cost(session, call, writer)
                )
            case Haul(call, command):
                weight = _weight(session, call, writer)
                record = HaulTruth(where, writer.call_id(call), command, *weight)
            case Landing():
                record = self._edit(plant, where, writer)
            case Leak(kind, value, place):
                record = SecretTruth(where, kind, value, pieces(kind, value), place)
            case Decoy(call, why):
                record = DecoyTruth(where, writer.call_id(call), why)
            case Recourse(call, skill, asked, then):
                ran = then and writer.call_id(then)
                record = SkillTruth(where, writer.call_id(call), skill, asked, ran)
        if record is not None:
            self._found.setdefault(type(record), []).append(record)

    def _spill(self, key: str, session: Session, written: Written, writer: Writer) -> None:
        call = next(call for call in calls(session) if call.key == key)
        assert call.outcome is not None
        size = len(call.outcome.text.encode())
        where, name = writer.session_id(session), writer.call_id(key)
        record = SpillTruth(where, name, size, written.spills[key])
        self._found.setdefault(SpillTruth, []).append(record)

    def _edit(self, landing: Landing, session: str, writer: Writer) -> EditTruth:
        commits = [self._commits[name] for name in landing.commits]
        return EditTruth(
            session=session,
            call=writer.call_id(landing.call),
            path=landing.path,
            added=tuple(line for line in landing.added.split("\n") if line.strip()),
            fate=landing.fate,
            commit=commits[-1] if commits else None,
            squashed_away=tuple(commits[:-1]),
            undone_in=landing.undone_in and self._commits[landing.undone_in],
        )


def _in_state(
    states: Mapping[str, str | None], state: str | None, writer: Writer
) -> tuple[str, ...]:
    return tuple(writer.call_id(key) for key, value in states.items() if value == state)


def _prompt(session: Session, step: int) -> str:
    prompt = session.steps[step]
    assert isinstance(prompt, Prompt)
    return prompt.text


def _ended(session: Session) -> int:
    """The moment of the last thing that happened."""
    last = session.steps[-1]
    if not isinstance(last, Request):
        return last.at
    return max([last.at, *(call.outcome.at if call.outcome else call.at for call in last.calls)])


def _failure(stumble: Stumble, told: Told, session: str, writer: Writer) -> FailureTruth:
    trouble = BY_NAME.get(stumble.trouble)
    after = stumble.recovered_by
    return FailureTruth(
        session=session,
        call=writer.call_id(stumble.call),
        trouble=stumble.trouble,
        program=trouble.program if trouble else MISSED_EDIT,
        sign=trouble.sign if trouble else "",
        exit_code=stumble.exit_code,
        masked=stumble.masked,
        decidable=trouble.tells_anyway if trouble and stumble.masked else True,
        recovered_by=after and writer.call_id(after),
        asked=_asked(told, stumble.call),
        detour=_detour(told, stumble.call, after) if after else 0,
    )


def _asked(told: Told, call: str) -> int:
    usage = told.usages[_place(told.session, call)]
    return usage.context + usage.output


def _detour(told: Told, first: str, last: str) -> int:
    """Tokens of the requests after the one that asked for a call, up to another call's."""
    begin, end = (_place(told.session, call) for call in (first, last))
    return sum(it.context + it.output for it in told.usages[begin + 1 : end + 1])


def _corrected(correction: Correction, told: Told) -> int:
    before, after = (
        [call.key for step in steps if isinstance(step, Request) for call in step.calls]
        for steps in (told.session.steps[: correction.step], told.session.steps[correction.step :])
    )
    return _detour(told, correction.about or before[-1], after[0])


def _place(session: Session, call: str) -> int:
    """Which of a session's requests asked for a call."""
    return next(
        place
        for place, request in enumerate(requests(session))
        if any(it.key == call for it in request.calls)
    )


def _weight(session: Session, call_key: str, writer: Writer) -> tuple[int, int]:
    """Tokens of a call's result, and how many later requests carried it."""
    call = next(call for call in calls(session) if call.key == call_key)
    size = tokens(writer.result_text(call, session), session.rate)
    after = False
    carried = 0
    for step in session.steps:
        if isinstance(step, Request):
            carried += after
            after = after or any(other.key == call_key for other in step.calls)
        elif isinstance(step, Compaction) and after:
            break
    return size, carried


def _cost(session: Session, call_key: str, writer: Writer) -> int:
    """Tokens of a call and its result, times the requests that were billed for them."""
    call = next(call for call in calls(session) if call.key == call_key)
    said = tokens(writer.arguments_text(call, session), session.rate) + CALL_OVERHEAD
    size, carried = _weight(session, call_key, writer)
    return said * (1 + carried) + size * carried


def _alone(told: Told, call_key: str) -> int | None:
    """What a request was billed, if it made this call only."""
    requests = [step for step in told.session.steps if isinstance(step, Request)]
    for request, usage in zip(requests, told.usages, strict=True):
        if [call.key for call in request.calls] == [call_key]:
            return usage.context + usage.output
    return None


def _purpose(name: str) -> str:
    if name in {ROOT, RULE_COMMIT, NOTE_COMMIT}:
        return name
    return "afterthought" if name.endswith(("/reverted", "/reworked")) else "work"
