"""What was planted in a generated history is what hansei reads back."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import pytest

from hansei.config import Config, Environment, Settings
from hansei.events.model import (
    AnyEvent,
    Basis,
    Compaction,
    FileEdit,
    Interruption,
    Prompt,
    RequestUsage,
    SlashCommand,
    Status,
    ToolCall,
    ToolResult,
)
from hansei.ops.ingest import ingest
from hansei.sources import catalogue
from hansei.store import reading
from hansei.store.database import Store, open_store
from hansei.synth import Truth, World, agents, build
from hansei.synth.history import worktree_of
from hansei.synth.truth import SessionTruth, Tokens
from hansei.synth.world import writer_of

NOW = 1_790_000_000_000
FIELDS = ("input", "cache_read", "cache_write_5m", "cache_write_1h", "output", "reasoning")
LATER = 100
"""Milliseconds within which an agent writes down that a session has ended."""
GRAIN = {"goose": 1000}
"""Milliseconds an agent's clock counts in, where it is not one."""
WITHOUT_ENDS = {"copilot_vscode", "cursor"}
"""Agents that tell when a model was asked, but not when a call ended."""

Kind = TypeVar("Kind", bound=AnyEvent)


@dataclass(frozen=True)
class Told:
    """A session as it was planted, and as it was read."""

    truth: SessionTruth
    facts: dict[str, Any]
    events: list[AnyEvent]

    def all(self, kind: type[Kind]) -> list[Kind]:
        return [event for event in self.events if isinstance(event, kind)]

    @property
    def results(self) -> dict[str, ToolResult]:
        return {event.call: event for event in self.all(ToolResult)}


@dataclass(frozen=True)
class Read:
    """A generated history of one agent, and the store it was read into."""

    world: World
    store: Store
    sessions: list[Told]

    @property
    def truth(self) -> Truth:
        return self.world.truth

    @property
    def results(self) -> dict[str, ToolResult]:
        return {call: event for told in self.sessions for call, event in told.results.items()}


@pytest.fixture(scope="module", params=agents())
def read(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Read]:
    folder = tmp_path_factory.mktemp("world")
    world = build(folder, seed=5, now_ms=NOW, sessions=40, weeks=6, agents=[request.param])
    config = Config(folder / "store", Settings(), Environment(world.home, {}))
    with closing(open_store(config.store, now=NOW)) as store:
        ingest(store, config, now=NOW)
        yield Read(world, store, _pairs(world.truth, store))


def _pairs(truth: Truth, store: Store) -> list[Told]:
    cursor = store.db.execute("SELECT * FROM sessions WHERE next_seq > 1")
    names = [column[0] for column in cursor.description]
    stored = [dict(zip(names, row, strict=True)) for row in cursor]
    assert len(stored) == len(truth.sessions)
    pairs = []
    for session in truth.sessions:
        (facts,) = [facts for facts in stored if _fits(session, facts["native"])]
        events = [event for _, event in reading.events(store, facts["id"])]
        pairs.append(Told(session, facts, events))
    return pairs


def _fits(session: SessionTruth, native: str) -> bool:
    """Subagents are told apart by their parent; one inside its parent's file has no own id."""
    inline = session.inline_in is not None and native.startswith(f"{session.inline_in}/side-")
    return inline or native.rpartition("/")[2] == session.id


def test_every_agent_that_is_read_can_be_made() -> None:
    assert agents() == catalogue.names()


def test_every_token_comes_back_once(read: Read) -> None:
    sums = ", ".join(f"sum({name})" for name in FIELDS)
    row = read.store.db.execute(f"SELECT {sums} FROM requests").fetchone()
    assert _known(Tokens(*row)) == _known(read.truth.tokens)


def test_every_session_has_its_own_tokens_and_requests(read: Read) -> None:
    for told in read.sessions:
        usages = told.all(RequestUsage)
        assert sum(not usage.sums for usage in usages) == told.truth.requests
        models = {told.truth.model} if told.truth.requests else set()
        assert {usage.model for usage in usages} == models
        sums = {name: sum(getattr(it, name) or 0 for it in usages) for name in FIELDS}
        assert sums == _known(told.truth.tokens)


def _known(tokens: Tokens) -> dict[str, int]:
    """Fields that were told, since 0 and untold look alike in a sum."""
    return {name: getattr(tokens, name) or 0 for name in FIELDS}


def test_prompts_commands_compactions_and_interruptions_come_back(read: Read) -> None:
    for told in read.sessions:
        origins = Counter(str(prompt.origin) for prompt in told.all(Prompt))
        typed = {name: origins[name] for name in told.truth.prompts}
        assert typed == told.truth.prompts
        assert len(told.all(SlashCommand)) == told.truth.commands
        assert len(told.all(Compaction)) == told.truth.compactions
        assert len(told.all(Interruption)) == told.truth.interruptions


def test_calls_and_how_they_ended_come_back(read: Read) -> None:
    for told in read.sessions:
        calls = told.all(ToolCall)
        assert dict(Counter(str(call.tool) for call in calls)) == told.truth.calls
        assert {call.call for call in calls} - set(told.results) == set(told.truth.unanswered)
        by_basis = {
            basis: {call for call, result in told.results.items() if result.basis is basis}
            for basis in (Basis.DECLINED, Basis.INTERRUPTED)
        }
        assert by_basis[Basis.DECLINED] == set(told.truth.declined)
        assert by_basis[Basis.INTERRUPTED] == set(told.truth.interrupted)


def test_failures_come_back_with_their_exit_code_and_masked_ones_are_unknown(read: Read) -> None:
    assert {failure.masked for failure in read.truth.failures} == {True, False}
    for failure in read.truth.failures:
        result = read.results[failure.call]
        assert failure.sign in result.text
        assert result.status is (Status.UNKNOWN if failure.masked else Status.FAILED)
        if not failure.masked:
            assert result.exit_code == failure.exit_code
        if failure.recovered_by:
            assert read.results[failure.recovered_by].status is Status.OK


def test_edits_come_back_line_by_line(read: Read) -> None:
    made = {it.call: it for told in read.sessions for it in told.all(FileEdit) if it.applied}
    assert made.keys() == {edit.call for edit in read.truth.edits}
    for edit in read.truth.edits:
        added = {line for hunk in made[edit.call].hunks for line in hunk.new.split("\n")}
        assert set(edit.added) <= added
        assert made[edit.call].path.endswith(edit.path)


def test_corrections_hauls_and_rereads_come_back(read: Read) -> None:
    prompts = {prompt.text for told in read.sessions for prompt in told.all(Prompt)}
    assert {correction.text for correction in read.truth.corrections} <= prompts
    by_id = {told.truth.id: told for told in read.sessions}
    for haul in read.truth.hauls:
        # The rest of the text that the model is shown is the agent's frame around the output.
        size = read.results[haul.call].size or 0
        assert size * by_id[haul.session].truth.tokens_per_byte == pytest.approx(
            haul.tokens, rel=0.02
        )
    asked = {call.call: call for told in read.sessions for call in told.all(ToolCall)}
    for reread in read.truth.rereads:
        assert reread.path in str(asked[reread.call].arguments)


def test_outputs_moved_to_a_file_come_back_whole(read: Read) -> None:
    for spill in read.truth.spills:
        result = read.results[spill.call]
        whole = (read.world.home / spill.file).read_text(encoding="utf-8")
        assert result.text == whole
        assert result.size == spill.bytes == len(whole)
        assert not result.truncated
        assert 2_000 < (result.shown or 0) < 3_000


def test_who_drove_a_session_and_where_it_belongs_come_back(read: Read) -> None:
    places = {False: str(read.world.repo), True: str(worktree_of(read.world.repo))}
    assert {told.truth.worktree for told in read.sessions} == {True, False}
    for told in read.sessions:
        truth, facts = told.truth, told.facts
        grain = GRAIN.get(truth.agent, 1)
        tells_branch = catalogue.load(truth.agent).capabilities.branch
        assert facts["driver"] == truth.driver
        assert facts["branch"] == (truth.branch if tells_branch else None)
        assert facts["version"] == (truth.version or None)
        assert facts["started_at"] // grain == truth.started // grain
        if truth.agent not in WITHOUT_ENDS:
            assert -grain < facts["ended_at"] - truth.ended < LATER
        assert facts["cwd"] == places[truth.worktree]
        if truth.relation == "subagent":
            assert facts["relation"] == "subagent"
            assert facts["parent"].rpartition("/")[2] == truth.parent


def test_worktrees_are_one_workspace(read: Read) -> None:
    assert len({told.facts["workspace"] for told in read.sessions}) == 1


def test_forks_own_none_of_what_they_copied(read: Read) -> None:
    forks = [told for told in read.sessions if told.truth.relation == "fork"]
    assert forks
    if not writer_of(forks[0].truth.agent).traits.replays_forks:
        pytest.skip("its forks begin with nothing of what they were forked from")
    for fork in forks:
        (copied,) = read.store.db.execute(
            "SELECT count(*) FROM replays r JOIN sessions s ON s.id = r.owner"
            " WHERE r.session = ? AND s.native = ?",
            (fork.facts["id"], fork.truth.parent),
        ).fetchone()
        assert copied


def test_no_planted_secret_comes_back(read: Read) -> None:
    assert read.truth.secrets
    folder = Path(read.store.folder)
    stored = b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())
    stored += str([told.events for told in read.sessions]).encode()
    pieces = [(it.kind, piece) for it in read.truth.secrets for piece in it.pieces]
    assert [kind for kind, piece in pieces if piece.encode() in stored] == []
