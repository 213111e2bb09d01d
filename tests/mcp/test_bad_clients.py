"""Clients that send nonsense, too much, or die: an error, never a crash, never half a line."""

from __future__ import annotations

import json
import random
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from hansei.mcp.catalogue import TOOLS
from hansei.store.database import open_store
from hansei.store.seal import seal
from mcp_desk import Served, Wire, served
from spoiled_requests import CLIMBING, spoiled

NONSENSE = (
    b"",
    b"{",
    b"null",
    b"[]",
    b'"text"',
    b'{"jsonrpc": "2.0"}',
    b'{"jsonrpc": "1.0", "id": 1, "method": "tools/list"}',
    b'{"jsonrpc": "2.0", "id": {}, "method": "tools/list"}',
    b'{"jsonrpc": "2.0", "id": 7, "method": 5}',
    b'{"jsonrpc": "2.0", "id": 7, "method": "no/such"}',
    b'{"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": []}',
    b"\xff\xfe\x00",
    b"{" * 5_000,
    b'{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 99}}',
)


@pytest.fixture(scope="module")
def place() -> Iterator[Served]:
    with served() as found:
        yield found


@pytest.fixture(scope="module")
def wire(place: Served) -> Iterator[Wire]:
    with Wire(place) as opened:
        yield opened


@pytest.mark.parametrize("line", NONSENSE)
def test_after_nonsense_the_next_question_is_answered(line: bytes, wire: Wire) -> None:
    wire.send_line(line)
    assert len(wire.ask("tools/list", {})["result"]["tools"]) == len(TOOLS)


@pytest.mark.parametrize("name", CLIMBING)
def test_a_name_that_climbs_out_of_its_folder_finds_nothing(name: str, wire: Wire) -> None:
    asked = [
        ("skills", {"name": name}),
        ("session", {"see": name}),
        ("bet", {"bet": name}),
        ("brief", {"files": [f"{name}/../../../../../../etc/passwd"]}),
    ]
    for tool, given in asked:
        answer = wire.call(tool, given)
        assert answer["result"]["isError"], (tool, given)
        assert "root:" not in json.dumps(answer)
    assert "error" in wire.ask("resources/read", {"uri": f"hansei://skill/{name}"})


def test_an_argument_of_megabytes_is_refused_with_its_reason(wire: Wire) -> None:
    answer = wire.call("recall", {"error": "x" * 5_000_000})
    assert answer["result"]["isError"]
    assert "100000" in answer["result"]["content"][0]["text"]


def test_an_unknown_tool_and_an_unknown_argument_are_named(wire: Wire) -> None:
    assert "no tool" in wire.call("nope", {})["error"]["message"]
    answer = wire.call("recall", {"error": "x", "eror": 1})
    assert "eror" in answer["result"]["content"][0]["text"]


def test_a_client_that_goes_away_ends_the_server(place: Served) -> None:
    with Wire(place) as wire:
        code, left = wire.end()
    assert code == 0
    assert left == b""


def test_a_client_that_dies_before_it_hears_the_answer_ends_the_server(place: Served) -> None:
    with Wire(place) as wire:
        wire.turn_deaf()
        wire.send({"jsonrpc": "2.0", "id": 1, "method": "tools/list"})
        assert wire.die() == (0, b"")


def test_without_a_store_it_says_what_to_do(place: Served) -> None:
    nowhere = Served(place.world, place.store / "none")
    with Wire(nowhere) as wire:
        answer = wire.call("recall", {"error": "anything"})
    assert answer["result"]["isError"]
    assert "hansei" in answer["result"]["content"][0]["text"]


def test_every_one_of_a_thousand_spoiled_requests_is_answered_once(place: Served) -> None:
    """With an error or a result; whole lines and nothing else, and nothing that it failed at."""
    dice = random.Random(5)
    asked = [spoiled(dice, number) for number in range(1_000)]
    with Wire(place) as wire:
        told = wire.answers([it.line for it in asked], {it.id for it in asked if it.id})
        assert wire.ask("tools/list", {})["result"]["tools"]
        assert wire.said_aside() == b""
    ids = Counter(it["id"] for it in told if it.get("id"))
    assert {name for name in ids if ids[name] > 1} == set()
    codes = Counter(it["error"]["code"] for it in told if "error" in it)
    assert set(codes) == {-32700, -32600, -32601, -32602}
    said = json.dumps(told)
    assert "could not be answered" not in said
    assert "root:" not in said


NO_REQUESTS = (
    (b"{", None, -32700),
    (b"null", None, -32600),
    (b'{"jsonrpc": "1.0", "id": 7, "method": "ping"}', 7, -32600),
    (b'{"jsonrpc": "2.0", "id": "a", "method": "tools/call", "params": []}', "a", -32600),
    (b'{"jsonrpc": "2.0", "id": "\\ud800", "method": "ping"}', "?", -32600),
    (b'{"jsonrpc": "2.0", "id": "b", "method": "x", "params": {"a": "\\ud800"}}', "b", -32600),
)


def test_a_line_that_is_no_request_is_told_so(place: Served) -> None:
    with Wire(place) as wire:
        for line, name, code in NO_REQUESTS:
            wire.send_line(line)
            told = wire.line()
            assert (told["id"], told["error"]["code"]) == (name, code)


@pytest.mark.prove
@pytest.mark.timeout(900)
def test_ten_clients_are_answered_while_transcripts_are_taken_in_and_sealed(place: Served) -> None:
    wrong: list[object] = []
    see = _asked(place, "recall", {"error": "berthline"})["failures"][0]["see"].partition("#")[0]
    questions: tuple[tuple[str, dict[str, str]], ...] = (
        ("brief", {}),
        ("recall", {"error": "berthline"}),
        ("session", {"see": see}),
    )

    def ask_much() -> None:
        with Wire(place) as wire:
            for tool, given in questions * 10:
                answer = wire.call(tool, given)
                if "error" in answer or answer["result"].get("isError"):
                    wrong.append(answer)

    threads = [threading.Thread(target=ask_much) for _ in range(10)]
    for thread in threads:
        thread.start()
    growing = sorted(place.world.home.rglob("*.jsonl"))
    taken_in = sealed = 0
    while any(thread.is_alive() for thread in threads):
        _grow(growing[taken_in % len(growing)], taken_in)
        place.hansei("facts", "failures", "-n", "1")
        taken_in += 1
        sealed += _seal(place, taken_in)
    for thread in threads:
        thread.join()
    assert not wrong
    assert taken_in
    assert sealed


def _asked(place: Served, tool: str, given: object) -> dict[str, Any]:
    with Wire(place) as wire:
        told: dict[str, Any] = wire.call(tool, given)["result"]["structuredContent"]
        return told


def _seal(place: Served, part: int) -> int:
    """Move another tenth of the oldest events to where they are kept for good."""
    now = int(time.time() * 1000)
    with closing(open_store(place.store, now=now)) as store, store.writing(wait_seconds=60):
        first, last = store.db.execute("SELECT min(at), max(at) FROM events").fetchone()
        return seal(store, now=now, seal_before=first + (last - first) * min(part, 10) // 10)


def _grow(transcript: Path, number: int) -> None:
    """Have a session go on: its last line once more, as another record."""
    lines = transcript.read_text(encoding="utf-8").splitlines()
    record = json.loads(lines[-1]) | {"uuid": f"00000000-0000-4000-8000-{number:012}"}
    with transcript.open("a", encoding="utf-8") as file:
        file.write(json.dumps(record) + "\n")
