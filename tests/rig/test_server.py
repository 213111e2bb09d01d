"""The scripted model over HTTP."""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Iterator

import pytest
from rig.script import Purpose, Say
from rig.server import Server


@pytest.fixture
def server() -> Iterator[Server]:
    with Server({"main": (Say("Done."),)}) as running:
        yield running


def post(server: Server, path: str, body: bytes) -> str:
    request = urllib.request.Request(f"{server.url}{path}", data=body, method="POST")
    with urllib.request.urlopen(request, timeout=5) as response:
        text: str = response.read().decode()
    return text


def ask(words: str) -> bytes:
    messages = [{"role": "user", "content": words}]
    return json.dumps({"model": "m", "messages": messages, "tools": [{"name": "run"}]}).encode()


def test_it_remembers_whom_it_told_what(server: Server) -> None:
    assert "Done." in post(server, "/v1/messages?beta=true", ask("cue:main"))
    post(server, "/v1/messages", ask("nothing to follow"))
    first, second = server.served
    assert (first.number, first.cue, first.purpose) == (1, "main", Purpose.TURN)
    assert second.cue is None
    assert first.tokens != second.tokens


def test_it_knows_what_it_was_told(server: Server) -> None:
    post(server, "/v1/messages", ask('cue:main "quoted"\nand on'))
    assert server.was_told('"quoted"\nand on')
    assert not server.was_told("never said")


@pytest.mark.parametrize(("path", "body"), [("/v1/other", b"{}"), ("/v1/messages", b"not json")])
def test_a_strange_request_is_answered_and_noted(server: Server, path: str, body: bytes) -> None:
    assert post(server, path, body) == "{}"
    assert server.strange == [f"POST {path}"]
    assert server.served == []


def test_it_answers_a_look_at_its_door(server: Server) -> None:
    with urllib.request.urlopen(f"{server.url}/", timeout=5) as response:
        assert response.status == 200


def test_it_listens_on_this_machine_only(server: Server) -> None:
    assert server.url.startswith("http://127.0.0.1:")


def test_whoever_wants_to_go_elsewhere_is_refused_and_noted(server: Server) -> None:
    proxy = urllib.request.ProxyHandler({"http": server.url, "https": server.url})
    opener = urllib.request.build_opener(proxy)
    for address in ("http://elsewhere.invalid/a", "https://elsewhere.invalid/b"):
        with pytest.raises(OSError, match="403"):
            opener.open(address, timeout=5)
    assert server.outward == ["http://elsewhere.invalid/a", "elsewhere.invalid:443"]
    assert server.strange == []
