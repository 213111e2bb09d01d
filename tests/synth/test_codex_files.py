"""The rollouts are recounted here by a tiny reader of their own, and compared with the truth."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

from hansei.synth import build
from synthetic_world import NOW, Shelf, stock

if TYPE_CHECKING:
    from pathlib import Path

    from hansei.synth.truth import SessionTruth


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Shelf:
    return stock(tmp_path_factory.mktemp("world"))


def sessions(shelf: Shelf) -> list[SessionTruth]:
    return [one for one in shelf.truth.sessions if one.agent == "codex"]


def turns(shelf: Shelf, session: SessionTruth) -> set[str]:
    return {
        line["payload"]["turn_id"]
        for line in shelf.lines(session.files[0])
        if line["type"] == "turn_context"
    }


def own_lines(shelf: Shelf, session: SessionTruth) -> list[dict[str, Any]]:
    """The lines after the last turn that is the parent's."""
    lines = shelf.lines(session.files[0])
    if session.parent is None:
        return lines
    replayed = turns(shelf, shelf.truth.session(session.parent))
    for number, line in enumerate(lines):
        if line["type"] == "turn_context" and line["payload"]["turn_id"] not in replayed:
            return lines[number:]
    raise AssertionError(session.id)


def counted(shelf: Shelf, session: SessionTruth) -> Counter[str]:
    """The last request's share, whenever the running total moved."""
    sums: Counter[str] = Counter()
    total = None
    for line in own_lines(shelf, session):
        info = line["payload"].get("info")
        if info and info["total_token_usage"] != total:
            total = info["total_token_usage"]
            sums.update(info["last_token_usage"])
            sums["requests"] += 1
    return sums


def test_tokens_counted_when_the_total_moves_are_the_truth(shelf: Shelf) -> None:
    for session in sessions(shelf):
        sums, truth = counted(shelf, session), session.tokens
        assert sums["requests"] == session.requests
        assert sums["cached_input_tokens"] == truth.cache_read
        assert sums["input_tokens"] - sums["cached_input_tokens"] == truth.input
        assert sums["output_tokens"] == truth.output
        assert sums["reasoning_output_tokens"] == truth.reasoning
        assert truth.cache_write_5m is None
        assert truth.cache_write_1h is None


def test_adding_up_every_line_gives_the_naive_total(shelf: Shelf) -> None:
    for session in sessions(shelf):
        found = 0
        for path in (*session.files, *session.copies):
            for line in shelf.lines(path):
                payload = line["payload"]
                usage = (payload.get("info") or {}).get("last_token_usage") or payload.get("usage")
                found += usage["total_tokens"] if usage else 0
        assert found == session.naive_total
        assert session.naive_total >= session.tokens.total


def test_every_call_has_its_output_unless_the_session_was_cut_off(shelf: Shelf) -> None:
    for session in sessions(shelf):
        asked, answered = Counter[str](), Counter[str]()
        for line in own_lines(shelf, session):
            kind = line["payload"].get("type", "")
            if kind in {"function_call", "custom_tool_call"}:
                asked[line["payload"]["call_id"]] += 1
            elif kind in {"function_call_output", "custom_tool_call_output"}:
                answered[line["payload"]["call_id"]] += 1
        assert asked - answered == Counter(session.unanswered)
        assert not answered - asked
        assert sum(asked.values()) == sum(session.calls.values())


def test_a_fork_replays_its_parent_under_new_timestamps(shelf: Shelf) -> None:
    forks = [one for one in sessions(shelf) if one.relation == "fork"]
    assert forks
    for fork in forks:
        parent = shelf.truth.session(fork.parent or "")
        lines = shelf.lines(fork.files[0])
        metas = [line["payload"] for line in lines if line["type"] == "session_meta"]
        assert [meta["id"] for meta in metas] == [fork.id, parent.id]
        assert metas[0]["forked_from_id"] == parent.id
        old = [line["payload"] for line in shelf.lines(parent.files[0])]
        new = [line["payload"] for line in lines]
        assert new[1:6] == old[:5]
        assert all(line["timestamp"] >= lines[0]["timestamp"] for line in lines)


def test_a_session_may_be_forked_twice(tmp_path: Path) -> None:
    """In this world one session is; both forks are told from their common parent."""
    world = build(tmp_path, seed=24, now_ms=NOW, sessions=40, weeks=4, agents=("codex",))
    shelf = Shelf(world)
    forks = [one for one in sessions(shelf) if one.relation == "fork"]
    assert max(Counter(fork.parent for fork in forks).values()) == 2
    for fork in forks:
        assert counted(shelf, fork)["output_tokens"] == fork.tokens.output


def test_some_subagents_replay_their_parent_and_some_do_not(shelf: Shelf) -> None:
    children = [one for one in sessions(shelf) if one.relation == "subagent"]
    replays = []
    for child in children:
        meta = shelf.lines(child.files[0])[0]["payload"]
        assert meta["source"]["subagent"]["thread_spawn"]["parent_thread_id"] == child.parent
        replays.append(len(own_lines(shelf, child)) < len(shelf.lines(child.files[0])) - 6)
    assert set(replays) == {True, False}


def test_the_parent_names_the_thread_it_started(shelf: Shelf) -> None:
    for child in sessions(shelf):
        if child.relation != "subagent":
            continue
        parent = shelf.truth.session(child.parent or "")
        outputs = [
            line["payload"]["output"]
            for line in shelf.lines(parent.files[0])
            if line["payload"].get("call_id") == child.spawned_by and "output" in line["payload"]
        ]
        assert len(outputs) == 1
        assert child.id in outputs[0]


def test_exit_codes_stand_in_the_text_in_the_form_of_the_version(shelf: Shelf) -> None:
    forms = Counter[str]()
    for session in sessions(shelf):
        for line in own_lines(shelf, session):
            output = line["payload"].get("output", "")
            forms["old"] += '"metadata":{"exit_code":' in output
            forms["new"] += "Process exited with code" in output
    assert forms["old"]
    assert forms["new"]


def test_rollouts_lie_under_the_day_they_began(shelf: Shelf) -> None:
    for session in sessions(shelf):
        day = shelf.lines(session.files[0])[0]["timestamp"][:10]
        if session.files[0].startswith(".codex/archived_sessions"):
            assert session.files[0].endswith(f"{session.id}.jsonl.zst")
            continue
        assert f"sessions/{day.replace('-', '/')}/rollout-{day}T" in session.files[0]
        assert session.files[0].endswith(f"{session.id}.jsonl")


def test_some_old_threads_are_packed_and_put_away(shelf: Shelf) -> None:
    packed = [one for one in sessions(shelf) if one.files[0].endswith(".zst")]
    assert packed
    for session in packed:
        assert session.files[0].startswith(".codex/archived_sessions/")
        assert shelf.lines(session.files[0])[0]["payload"]["id"] == session.id


def test_prompts_are_as_many_as_the_truth_says(shelf: Shelf) -> None:
    for session in sessions(shelf):
        typed = [
            line for line in shelf.lines(session.files[0])
            if line["payload"].get("type") == "user_message"
        ]  # fmt: skip
        if session.relation is None:
            assert len(typed) == sum(session.prompts.values())
        drivers = {"codex_exec"} if session.driver == "automated" else {"codex_cli_rs"}
        assert {shelf.lines(session.files[0])[0]["payload"]["originator"]} == drivers
