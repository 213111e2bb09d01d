"""The files are recounted here by a tiny reader of their own, and compared with the truth."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Any

import pytest

from hansei.synth.output import PROJECT, ROOT
from synthetic_world import Shelf, stock

if TYPE_CHECKING:
    from hansei.synth.truth import SessionTruth

FIELDS = (
    "input_tokens",
    "cache_read_input_tokens",
    "cache_creation_input_tokens",
    "output_tokens",
)


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Shelf:
    return stock(tmp_path_factory.mktemp("world"))


def sessions(shelf: Shelf) -> list[SessionTruth]:
    return [one for one in shelf.truth.sessions if one.agent == "claude_code"]


def blocks(line: dict[str, Any], kind: str) -> list[dict[str, Any]]:
    content = line.get("message", {}).get("content", "")
    return [block for block in content if isinstance(block, dict) and block["type"] == kind]


def usages(line: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """Message id and usage wherever a line tells one."""
    messages = [line.get("message"), line.get("data", {}).get("message", {}).get("message")]
    return [(one["id"], one["usage"]) for one in messages if one and "usage" in one]


def billed(shelf: Shelf, files: set[str]) -> dict[str, dict[str, int]]:
    """Largest value of each field for every message id."""
    seen: dict[str, dict[str, int]] = defaultdict(lambda: dict.fromkeys((*FIELDS, "1h"), 0))
    for path in files:
        for line in shelf.lines(path):
            for message, usage in usages(line):
                told = {**usage, "1h": usage["cache_creation"]["ephemeral_1h_input_tokens"]}
                seen[message] = {
                    name: max(seen[message][name], told[name]) for name in seen[message]
                }
    return seen


def test_every_parent_is_an_earlier_line_of_the_same_file(shelf: Shelf) -> None:
    for session in sessions(shelf):
        known: set[str] = set()
        for line in shelf.lines(session.files[0]):
            parent = line.get("parentUuid")
            assert parent is None or parent in known
            known.add(line.get("uuid", ""))


def test_every_call_has_its_result_unless_the_session_was_cut_off(shelf: Shelf) -> None:
    for session in sessions(shelf):
        asked, answered = Counter[str](), Counter[str]()
        for line in shelf.lines(session.files[0]):
            asked.update(block["id"] for block in blocks(line, "tool_use"))
            answered.update(block["tool_use_id"] for block in blocks(line, "tool_result"))
        assert set(asked.values()) == {1}
        assert asked - answered == Counter(session.unanswered)
        assert not answered - asked
    assert any(session.unanswered for session in sessions(shelf))


def test_tokens_counted_once_per_message_are_the_truth(shelf: Shelf) -> None:
    files = {path for session in sessions(shelf) for path in (*session.files, *session.copies)}
    counted = billed(shelf, files).values()
    truth = [session.tokens for session in sessions(shelf)]
    assert len(counted) == sum(session.requests for session in sessions(shelf))
    for name, known in (("input_tokens", "input"), ("cache_read_input_tokens", "cache_read"),
                        ("1h", "cache_write_1h"), ("output_tokens", "output")):  # fmt: skip
        assert sum(usage[name] for usage in counted) == sum(getattr(one, known) for one in truth)
    assert sum(usage["cache_creation_input_tokens"] for usage in counted) == sum(
        (one.cache_write_5m or 0) + (one.cache_write_1h or 0) for one in truth
    )
    assert all(one.reasoning is None for one in truth)


def test_each_session_alone_has_the_tokens_of_the_truth(shelf: Shelf) -> None:
    parents = {one.id: one for one in sessions(shelf)}
    for session in sessions(shelf):
        if session.inline_in is not None:
            continue
        counted = billed(shelf, set(session.files))
        if session.relation == "fork" and session.parent is not None:
            copied = billed(shelf, set(parents[session.parent].files))
            counted = {name: usage for name, usage in counted.items() if name not in copied}
        own = [session, *(one for one in sessions(shelf) if one.inline_in == session.id)]
        repeated = {
            message
            for child in sessions(shelf)
            if child.parent == session.id and child.relation == "subagent" and not child.inline_in
            for message in billed(shelf, set(child.files))
        }
        total = sum(
            sum(usage[field] for field in FIELDS)
            for message, usage in counted.items()
            if message not in repeated
        )
        assert total == sum(one.tokens.total for one in own)


def test_adding_up_every_line_gives_the_naive_total(shelf: Shelf) -> None:
    found = 0
    for session in sessions(shelf):
        if session.inline_in is None:
            for path in (*session.files, *session.copies):
                for line in shelf.lines(path):
                    found += sum(usage[field] for _, usage in usages(line) for field in FIELDS)
    naive = sum(session.naive_total for session in sessions(shelf))
    assert found == naive
    assert naive > 1.5 * sum(session.tokens.total for session in sessions(shelf))


def test_the_context_grows_by_exactly_what_was_put_into_it(shelf: Shelf) -> None:
    """New tokens of a request = the last answer + the bytes that came in between, at one rate."""
    checked = 0
    for session in sessions(shelf):
        if session.relation is not None or session.compactions or session.commands:
            continue
        before: dict[str, Any] | None = None
        pieces: list[str] = []
        for line in shelf.lines(session.files[0]):
            if line.get("isSidechain"):
                continue
            project = (shelf.world.home / session.files[0]).parent
            pieces += texts_given(line, str(project))
            if line["type"] != "assistant" or line["message"]["stop_reason"] is None:
                continue
            usage = line["message"]["usage"]
            if before is not None:
                grown = context(usage) - context(before) - before["output_tokens"]
                rate = session.tokens_per_byte
                assert grown == sum(round(len(piece.encode()) * rate) for piece in pieces)
                checked += 1
            before, pieces = usage, []
    assert checked > 100


def texts_given(line: dict[str, Any], project: str) -> list[str]:
    """Texts of a line that go to the model, with the names of folders at their nominal length."""
    if line["type"] == "attachment":
        # The list of skills is part of what the first request stands on.
        listing = line["attachment"]["type"] == "skill_listing"
        return [] if listing else [line["attachment"]["prompt"]]
    if line["type"] != "user" or "[Request interrupted" in str(line["message"]["content"])[:60]:
        return []
    content = line["message"]["content"]
    if isinstance(content, str):
        return [content.replace(line["cwd"], ROOT)]
    given = [block["content"] for block in blocks(line, "tool_result")]
    plain = [part if isinstance(part, str) else part[0]["text"] for part in given]
    return [part.replace(project, PROJECT).replace(line["cwd"], ROOT) for part in plain]


def context(usage: dict[str, Any]) -> int:
    return sum(usage[field] for field in FIELDS[:3])


def test_subagents_are_laid_out_in_all_three_ways(shelf: Shelf) -> None:
    children = [one for one in sessions(shelf) if one.relation == "subagent"]
    inline = [one for one in children if one.inline_in]
    beside = [one for one in children if not one.inline_in and "/subagents/" not in one.files[0]]
    below = [one for one in children if "/subagents/" in one.files[0]]
    assert inline
    assert beside
    assert below
    for child in beside + below:
        lines = shelf.lines(child.files[0])
        assert all(line["isSidechain"] for line in lines)
        assert {line["sessionId"] for line in lines} == {child.parent}
    for child in inline:
        assert any(line.get("isSidechain") for line in shelf.lines(child.files[0]))


def test_the_parents_result_names_the_subagent(shelf: Shelf) -> None:
    for child in sessions(shelf):
        if child.relation != "subagent" or child.inline_in:
            continue
        parent = shelf.truth.session(child.parent or "")
        answers = [
            line["toolUseResult"]
            for line in shelf.lines(parent.files[0])
            for block in blocks(line, "tool_result")
            if block["tool_use_id"] == child.spawned_by
        ]
        assert [f"agent-{answer['agentId']}" for answer in answers] == [child.id]


def test_a_fork_copies_lines_of_its_parent_under_its_own_id(shelf: Shelf) -> None:
    forks = [one for one in sessions(shelf) if one.relation == "fork"]
    assert forks
    for fork in forks:
        parent = shelf.truth.session(fork.parent or "")
        copied = {line.get("uuid") for line in shelf.lines(parent.files[0])} - {None}
        lines = [line for line in shelf.lines(fork.files[0]) if "uuid" in line]
        assert lines[0]["uuid"] in copied
        assert lines[-1]["uuid"] not in copied
        assert {line["sessionId"] for line in lines} == {fork.id}


def test_a_copied_file_is_the_same_byte_for_byte(shelf: Shelf) -> None:
    copies = [(one.files[0], copy) for one in sessions(shelf) for copy in one.copies]
    assert copies
    for path, copy in copies:
        assert shelf.text(path) == shelf.text(copy)


def test_prompts_calls_and_commands_are_as_many_as_the_truth_says(shelf: Shelf) -> None:
    for session in sessions(shelf):
        if session.relation == "fork" or session.inline_in:
            continue
        lines = [
            line for line in shelf.lines(session.files[0])
            if not line.get("isSidechain") or session.relation == "subagent"
        ]  # fmt: skip
        names = [block["name"] for line in lines for block in blocks(line, "tool_use")]
        assert len(names) == sum(session.calls.values())
        assert names.count("Bash") == session.calls.get("shell", 0)
        texts = [
            line["message"]["content"]
            for line in lines
            if line["type"] == "user"
            and not line.get("isMeta")
            and not line.get("isCompactSummary")
        ]
        typed = [words for words in texts if isinstance(words, str)]
        commands = [words for words in typed if words.startswith("<command-name>")]
        prompts = [words for words in typed if not words.startswith("<")]
        assert len(commands) == session.commands
        queued = sum("prompt" in line.get("attachment", ()) for line in lines)
        assert len(prompts) + queued == sum(session.prompts.values())
        assert queued == session.prompts.get("queued_human", 0)
        boundaries = [line for line in lines if line.get("subtype") == "compact_boundary"]
        assert len(boundaries) == session.compactions


def test_automated_runs_say_so(shelf: Shelf) -> None:
    for session in sessions(shelf):
        entrypoints = {line.get("entrypoint") for line in shelf.lines(session.files[0])} - {None}
        if session.driver == "automated":
            assert entrypoints == {"sdk-py"}
        else:
            assert entrypoints <= {"cli"}


def test_time_never_runs_backwards_in_a_chain(shelf: Shelf) -> None:
    for session in sessions(shelf):
        stamps = [
            line["timestamp"]
            for line in shelf.lines(session.files[0])
            if "uuid" in line and not line.get("isSidechain")
            if line["type"] != "progress"
        ]
        assert stamps == sorted(stamps)
