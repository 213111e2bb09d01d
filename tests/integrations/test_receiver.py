"""The receiver of OTLP: what exporters send arrives whole, and nothing else does any harm."""

from __future__ import annotations

import gzip
import http.client
import json
import os
import signal
import socket
import stat
import subprocess
import sys
import threading
import time
import zlib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from framework_desk import ADVICE, SKILL, Desk
from hansei.errors import UsageError
from hansei.integrations import otlp
from hansei.integrations.otlp import LARGEST_BODY, LARGEST_UNPACKED, Receiver, Shelf

JSON = {"Content-Type": "application/json"}
TRACE = "0af7651916cd43dd8448eb211c80319c"


def span(number: int, parent: str = "", trace: str = TRACE, **said: Any) -> dict[str, Any]:
    attributes = [{"key": key.replace("__", "."), "value": _value(it)} for key, it in said.items()]
    start = 1_790_000_000_000_000_000 + number * 10**9
    return {
        "traceId": trace,
        "spanId": f"{number:016x}",
        "parentSpanId": parent,
        "name": f"span {number}",
        "startTimeUnixNano": str(start),
        "endTimeUnixNano": str(start + 10**8),
        "attributes": attributes,
    }


def _value(told: Any) -> dict[str, Any]:
    return {"intValue": str(told)} if isinstance(told, int) else {"stringValue": told}


def request(*spans: dict[str, Any]) -> bytes:
    place = [{"key": "service.name", "value": {"stringValue": "harbour"}}]
    group = {"resource": {"attributes": place}, "scopeSpans": [{"scope": {}, "spans": [*spans]}]}
    return json.dumps({"resourceSpans": [group]}).encode()


CHAT = span(
    2,
    f"{1:016x}",
    gen_ai__operation__name="chat",
    gen_ai__request__model="gpt-5",
    gen_ai__usage__input_tokens=900,
    gen_ai__usage__output_tokens=40,
)
ROOT = span(1, gen_ai__operation__name="invoke_agent", gen_ai__conversation__id="c7")


@pytest.fixture
def receiver(tmp_path: Path) -> Iterator[Receiver]:
    server = Receiver(Shelf.at(tmp_path / "home"), 0)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()
    thread.join()


def post(
    receiver: Receiver, body: bytes, path: str = "/v1/traces", **headers: str
) -> tuple[int, str]:
    connection = http.client.HTTPConnection("127.0.0.1", receiver.server_port, timeout=20)
    told = JSON | {name.replace("_", "-"): it for name, it in headers.items()}
    try:
        connection.request("POST", path, body, told)
        answer = connection.getresponse()
        return answer.status, answer.read().decode()
    finally:
        connection.close()


def kept(receiver: Receiver, suffix: str = "*") -> list[Path]:
    return sorted(receiver.shelf.folder.glob(suffix))


def test_a_trace_is_handed_over_when_it_is_whole(receiver: Receiver) -> None:
    clock = [0.0]
    receiver.shelf.clock = lambda: clock[0]
    assert post(receiver, request(CHAT))[0] == 200
    clock[0] += otlp.QUIET_SECONDS - 1
    assert receiver.shelf.hand_over() == 0
    assert post(receiver, gzip.compress(request(ROOT)), Content_Encoding="gzip")[0] == 200
    assert receiver.shelf.hand_over() == 0
    clock[0] += otlp.SETTLED_SECONDS
    assert receiver.shelf.hand_over() == 1
    (log,) = kept(receiver)
    assert log.suffix == ".jsonl"
    assert stat.S_IMODE(log.stat().st_mode) == 0o600
    assert post(receiver, request(span(3, f"{1:016x}")))[0] == 200
    assert kept(receiver) == [log]
    assert len(log.read_text().split()) > 2


def test_what_a_killed_receiver_left_is_handed_over_by_the_next(receiver: Receiver) -> None:
    post(receiver, request(CHAT))
    home = receiver.shelf.folder.parents[1]
    later = Shelf.at(home)
    assert later.hand_over(everything=True) == 1
    assert [it.suffix for it in kept(receiver)] == [".jsonl"]


def test_a_trace_that_tells_of_no_agent_is_thrown_away(receiver: Receiver) -> None:
    clock = [0.0]
    receiver.shelf.clock = lambda: clock[0]
    served = [span(1, "", f"{it:032x}", http__route="/llm.txt") for it in (1, 2)]
    post(receiver, request(*served))
    clock[0] += otlp.SETTLED_SECONDS
    assert receiver.shelf.hand_over() == 0
    asked = span(2, f"{1:016x}", f"{2:032x}", openinference__span__kind="LLM")
    post(receiver, request(asked))  # what the server asked comes after the server's own root
    clock[0] += otlp.QUIET_SECONDS
    assert receiver.shelf.hand_over() == 1
    (log,) = kept(receiver)
    assert f"{2:032x}" in log.read_text()
    assert len(log.read_text().split("\n\n")) == 2
    post(receiver, request(served[0]))
    later = Shelf.at(receiver.shelf.folder.parents[1])
    assert later.hand_over(everything=True) == 0
    assert kept(receiver) == [log]


@pytest.mark.parametrize(
    ("body", "path", "headers", "status", "words"),
    [
        (b"{", "/v1/traces", {}, 400, "not JSON"),
        (b"[]", "/v1/traces", {}, 400, "resourceSpans"),
        (b'{"resourceSpans": 7}', "/v1/traces", {}, 400, "resourceSpans"),
        (b'{"resourceSpans": []}', "/v1/logs", {}, 400, "resourceLogs"),
        (b"[" * 200_000, "/v1/traces", {}, 400, "not JSON"),
        (b"\xff\xfe", "/v1/traces", {}, 400, "not JSON"),
        (b"{}", "/v1/metrics", {}, 404, "/v1/traces"),
        (b"{}", "/../v1/traces", {}, 404, "/v1/traces"),
        (b"{}", "/v1/traces", {"Content-Type": "text/plain"}, 415, "application/json"),
        (b"{}", "/v1/traces", {"Content-Encoding": "br"}, 415, "gzip"),
        (b"{}", "/v1/traces", {"Content-Encoding": "gzip"}, 400, "encoding"),
        (
            gzip.compress(b"{}" * 99, mtime=0)[:-9],
            "/v1/traces",
            {"Content-Encoding": "gzip"},
            400,
            "cut",
        ),
        (b"\xff\xff", "/v1/traces", {"Content-Type": "application/x-protobuf"}, 400, "export"),
        (b"{}", "/v1/traces", {"Host": "[::1"}, 403, "this machine"),
        (b"{}", "/v1/traces", {"Host": "evil.example"}, 403, "this machine"),
        (b"{}", "/v1/traces", {"Host": "127.0.0.1.evil.example"}, 403, "this machine"),
        (b"{}", "/v1/traces", {"Origin": "http://127.0.0.1:8000"}, 403, "web pages"),
        (b"{}", "/v1/traces", {"Origin": "null"}, 403, "web pages"),
        (b"{}", "/v1/traces", {"Sec-Fetch-Site": "same-site"}, 403, "web pages"),
    ],
)
def test_what_is_not_an_export_is_refused_in_words(
    receiver: Receiver, body: bytes, path: str, headers: dict[str, str], status: int, words: str
) -> None:
    if "application/x-protobuf" in headers.values():
        pytest.importorskip("opentelemetry.proto")
    told = {name.replace("-", "_"): it for name, it in headers.items()}
    answered, said = post(receiver, body, path, **told)
    assert answered == status
    assert words in json.loads(said)["message"]
    assert kept(receiver) == []
    assert post(receiver, request(ROOT))[0] == 200


def test_odd_content_is_kept_without_harm(receiver: Receiver) -> None:
    spans = ["x", {"traceId": 5, "name": "gen_ai."}]
    odd = [7, {"scopeSpans": 3}, {"scopeSpans": [{"spans": spans}]}]
    assert post(receiver, json.dumps({"resourceSpans": odd}).encode())[0] == 200
    assert len(kept(receiver)) == 1
    hostile = span(9, trace="../../../../tmp/evil")
    assert post(receiver, request(hostile))[0] == 200
    assert all(it.parent == receiver.shelf.folder for it in kept(receiver))


def test_a_resource_is_written_once_for_all_its_spans(receiver: Receiver) -> None:
    spans = [span(it, f"{1:016x}", f"{it % 2 + 1:032x}") for it in range(400)]
    value = json.loads(request(*spans))
    (group,) = value["resourceSpans"]
    group["resource"]["attributes"][0]["value"]["stringValue"] = "x" * 2**20
    group["scopeSpans"].append({"scope": {"name": "other"}, "spans": [span(400, "", f"{1:032x}")]})
    assert post(receiver, json.dumps(value).encode()) == (200, "{}")
    assert len(kept(receiver)) == 2
    assert sum(it.stat().st_size for it in kept(receiver)) < 3 * 2**20
    groups = [json.loads(it.read_text())["resourceSpans"] for it in kept(receiver)]
    counts = [[len(scope["spans"]) for scope in only["scopeSpans"]] for (only,) in groups]
    assert sorted(counts) == [[200], [200, 1]]


@pytest.mark.parametrize("kind", ["application/json", "application/x-protobuf"])
def test_what_is_dropped_is_told_to_the_exporter(
    receiver: Receiver, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    monkeypatch.setattr(otlp, "LARGEST_TRACE", 600)
    body = request(CHAT, CHAT)
    if kind != "application/json":
        pytest.importorskip("opentelemetry.proto")
        from opentelemetry.proto.collector.trace.v1 import trace_service_pb2 as proto

        spans = [{"trace_id": b"t" * 16, "name": "long " * 99}] * 2
        groups: Any = [{"scope_spans": [{"spans": spans}]}]
        body = proto.ExportTraceServiceRequest(resource_spans=groups).SerializeToString()
    connection = http.client.HTTPConnection("127.0.0.1", receiver.server_port, timeout=20)
    connection.request("POST", "/v1/traces", body, {"Content-Type": kind})
    answer = connection.getresponse()
    said = answer.read()
    connection.close()
    assert answer.status == 200
    if kind == "application/json":
        told = json.loads(said)["partialSuccess"]
        assert told["rejectedSpans"] == "2"
        assert "dropped" in told["errorMessage"]
    else:
        told = proto.ExportTraceServiceResponse.FromString(said).partial_success
        assert told.rejected_spans == 2
        assert "dropped" in told.error_message
    assert kept(receiver) == []
    assert receiver.shelf.dropped == 1


def test_a_body_that_says_it_is_huge_is_not_read(receiver: Receiver) -> None:
    with socket.create_connection(("127.0.0.1", receiver.server_port), timeout=5) as client:
        head = f"POST /v1/traces HTTP/1.1\r\nHost: localhost\r\nContent-Length: {LARGEST_BODY + 1}"
        client.sendall(f"{head}\r\nContent-Type: application/json\r\n\r\n".encode())
        assert b" 413 " in client.recv(200)


def test_a_body_in_chunks_is_read_up_to_the_bound(receiver: Receiver) -> None:
    whole = request(ROOT)
    chunks = b"".join(b"%x\r\n%s\r\n" % (len(it), it) for it in (whole[:10], whole[10:], b""))
    for sent, status in ((chunks, b" 200 "), (b"%x\r\n" % (LARGEST_BODY + 1), b" 413 "),
                         (b"zz\r\n", b" 400 ")):  # fmt: skip
        with socket.create_connection(("127.0.0.1", receiver.server_port), timeout=5) as client:
            head = b"POST /v1/traces HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n"
            client.sendall(head + b"Content-Type: application/json\r\n\r\n" + sent)
            assert status in client.recv(200)


def test_a_gzip_bomb_is_stopped_at_the_bound(receiver: Receiver) -> None:
    packing = zlib.compressobj(9, wbits=31)
    zeros = b" " * 2**20
    bomb = b"".join(packing.compress(zeros) for _ in range(2 * LARGEST_UNPACKED // 2**20))
    bomb += packing.flush()
    assert len(bomb) < 2**20
    status, said = post(receiver, bomb, Content_Encoding="gzip")
    assert status == 413
    assert "64 MiB" in said


def test_many_clients_at_once_lose_nothing(receiver: Receiver) -> None:
    def send(number: int) -> int:
        trace = f"{number % 5 + 1:032x}"
        told = span(number, f"{1:016x}", trace, gen_ai__operation__name="chat")
        return post(receiver, request(told))[0]

    with ThreadPoolExecutor(24) as pool:
        assert set(pool.map(send, range(200))) == {200}
    receiver.shelf.hand_over(everything=True)
    logs = kept(receiver, "*.jsonl")
    assert len(logs) == 5
    lines = [json.loads(it) for log in logs for it in log.read_text().splitlines() if it]
    assert len(lines) == 200


def test_clients_that_hang_up_do_not_stop_it(receiver: Receiver) -> None:
    for said in (b"", b"POST", b"POST /v1/traces HTTP/1.1\r\nHost: localhost\r\nContent-Le"):
        with socket.create_connection(("127.0.0.1", receiver.server_port)) as client:
            client.sendall(said)
    assert post(receiver, request(ROOT))[0] == 200


HEAD = b"POST /v1/traces HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"


@pytest.mark.parametrize("begun", [b"POST /", HEAD + b"Content-Length: 900\r\n\r\n"])
def test_a_client_that_sends_byte_by_byte_is_hung_up_on(
    receiver: Receiver, monkeypatch: pytest.MonkeyPatch, begun: bytes
) -> None:
    monkeypatch.setattr(otlp, "REQUEST_SECONDS", 0.4)
    with socket.create_connection(("127.0.0.1", receiver.server_port), timeout=0.05) as client:
        client.sendall(begun)
        until = time.monotonic() + 10
        while time.monotonic() < until:
            try:
                client.sendall(b"x")
                assert client.recv(200) == b""
                break
            except TimeoutError:
                continue
            except ConnectionError:
                break
        else:
            pytest.fail("still being read")


def test_clients_that_hold_all_places_stop_neither_others_nor_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(otlp, "MOST_CLIENTS", 1)
    monkeypatch.setattr(otlp, "PLACE_SECONDS", 0.1)
    server = Receiver(Shelf.at(tmp_path), 0)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    address = ("127.0.0.1", server.server_port)
    with socket.create_connection(address) as slow:
        slow.sendall(b"POST /")
        with socket.create_connection(address, timeout=5) as second:
            assert second.recv(1) == b""
        server.shutdown()
        thread.join(5)
        assert not thread.is_alive()
    server.server_close()


def test_a_body_behind_a_get_is_no_request(receiver: Receiver) -> None:
    hidden = HEAD + b"Content-Length: 2\r\n\r\n{}"
    with socket.create_connection(("127.0.0.1", receiver.server_port), timeout=5) as client:
        length = b"Content-Length: %d\r\n\r\n" % len(hidden)
        client.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n" + length + hidden)
        said = b""
        try:
            while more := client.recv(2000):
                said += more
        except ConnectionError:  # what was not read is thrown away
            pass
    assert said.count(b"HTTP/1.1 ") == 1


def test_what_goes_wrong_within_is_logged_once(
    receiver: Receiver, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(value: object, _: str) -> None:
        raise ZeroDivisionError(str(value))

    monkeypatch.setattr(otlp, "pieces", broken)
    for _ in range(2):
        with pytest.raises(http.client.RemoteDisconnected):
            post(receiver, request(ROOT))
    (record,) = caplog.records
    assert "ZeroDivisionError" in record.getMessage()
    assert "harbour" not in record.getMessage()


def test_only_the_loopback_address_is_served(tmp_path: Path) -> None:
    for address in ("0.0.0.0", "", "192.168.0.1", "localhost.evil.example"):
        with pytest.raises(UsageError, match="loopback"):
            Receiver(Shelf.at(tmp_path), 0, address)


def test_a_port_in_use_is_said_in_words(receiver: Receiver, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=f"port {receiver.server_port}"):
        Receiver(Shelf.at(tmp_path), receiver.server_port)


def test_without_the_library_protobuf_is_answered_with_what_to_do(
    receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "opentelemetry.proto.collector.logs.v1.logs_service_pb2", None)
    status, said = post(receiver, b"", Content_Type="application/x-protobuf")
    assert status == 415
    assert "http/json" in said


PROGRAM = """
import hansei
from opentelemetry.exporter.otlp.proto.http import Compression
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
import json, os

provider = TracerProvider(resource=Resource({"process.working_directory": os.getcwd()}))
exporter = OTLPSpanExporter(compression=Compression.Gzip)
provider.add_span_processor(SimpleSpanProcessor(exporter))
tracer = provider.get_tracer("harbour")
said = [{"role": "system", "parts": [{"type": "text", "content": "Sail. " + hansei.prompt()}]},
        {"role": "user", "parts": [{"type": "text", "content": "How is the weather?"}]}]
call = {"type": "tool_call", "id": "call_1", "name": "shell", "arguments": {"command": "echo calm"}}
with tracer.start_as_current_span("invoke_agent Pilot") as agent:
    agent.set_attribute("gen_ai.operation.name", "invoke_agent")
    with tracer.start_as_current_span("chat") as chat:
        chat.set_attributes({
            "gen_ai.operation.name": "chat", "gen_ai.request.model": "gpt-5",
            "gen_ai.usage.input_tokens": 1000, "gen_ai.usage.output_tokens": 50,
            "gen_ai.usage.cache_read.input_tokens": 600,
            "gen_ai.input.messages": json.dumps(said),
            "gen_ai.output.messages": json.dumps([{"role": "assistant", "parts": [call]}]),
        })
    with tracer.start_as_current_span("execute_tool shell") as tool:
        tool.set_attributes({
            "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "shell",
            "gen_ai.tool.call.id": "call_1", "gen_ai.tool.call.result": "calm",
        })
provider.shutdown()
"""


def begun(desk: Desk) -> tuple[subprocess.Popen[str], int]:
    """`hansei ingest --otlp` on a port of its choice."""
    process = subprocess.Popen(
        [sys.executable, "-m", "hansei", "ingest", "--otlp", "0"],
        cwd=desk.folder,
        env=desk.environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    line = process.stderr.readline()
    assert "Receiving OTLP at http://127.0.0.1:" in line
    return process, int(line.partition("127.0.0.1:")[2].partition(";")[0])


def ended(process: subprocess.Popen[str], number: int) -> int:
    process.send_signal(number)
    process.communicate(timeout=60)
    return process.returncode


@pytest.mark.skipif(os.name == "nt", reason="signals of Unix")
@pytest.mark.timeout(180)
def test_a_real_exporter_is_taken_in_and_is_given_what_was_learned(tmp_path: Path) -> None:
    pytest.importorskip("opentelemetry.exporter.otlp.proto.http")
    desk = Desk.at(tmp_path)
    desk.approve_a_skill()
    process, port = begun(desk)
    try:
        endpoint = {"OTEL_EXPORTER_OTLP_ENDPOINT": f"http://127.0.0.1:{port}"}
        Desk(desk.home, desk.folder, endpoint).python(PROGRAM)
        waited = time.monotonic() + 30
        while not desk.sessions() and time.monotonic() < waited:
            time.sleep(0.3)
    finally:
        code = ended(process, signal.SIGINT)
    assert code == 130
    (session,) = desk.sessions()  # sums are worked out a moment after events
    assert (session["calls"], session["failed"], session["tokens"]) == (1, 0, 1050)
    assert SKILL in str(desk.asked("show", session["id"], "--exposure"))
    assert ADVICE in desk.hansei("show", session["id"], "--json")
    assert len(desk.sessions()) == 1


@pytest.mark.skipif(os.name == "nt", reason="signals of Unix")
@pytest.mark.timeout(120)
def test_a_second_receiver_for_a_home_is_refused_in_words(tmp_path: Path) -> None:
    desk = Desk.at(tmp_path)
    process, _ = begun(desk)
    try:
        second = subprocess.run(
            [sys.executable, "-m", "hansei", "ingest", "--otlp", "0"],
            cwd=desk.folder, env=desk.environment, capture_output=True, text=True, timeout=60,
            check=False,
        )  # fmt: skip
    finally:
        ended(process, signal.SIGTERM)
    assert second.returncode == 2
    assert "another hansei receives OTLP" in second.stderr


@pytest.mark.skipif(os.name == "nt", reason="signals of Unix")
@pytest.mark.timeout(120)
def test_what_has_come_when_it_is_ended_is_taken_in(tmp_path: Path) -> None:
    desk = Desk.at(tmp_path)
    process, port = begun(desk)
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    connection.request("POST", "/v1/traces", request(CHAT), JSON)
    assert connection.getresponse().status == 200
    connection.close()
    assert ended(process, signal.SIGTERM) == 0
    (session,) = desk.asked("sessions", "--all")["sessions"]
    assert session["tokens"] == 940
