"""The scripted model on 127.0.0.1: it answers by the script and remembers what it told whom."""

from __future__ import annotations

import json
import threading
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Self

from rig.script import Ask, Purpose, Script, Step, Tokens, reply, tokens
from rig.wire import Answer, Record, Wire
from rig.wires import anthropic, chat, gemini, responses

if TYPE_CHECKING:
    from types import TracebackType

_POLL_SECONDS = 0.05
"""How soon it notices that it is to stop."""
WIRES: tuple[Wire, ...] = (anthropic.WIRE, responses.WIRE, chat.WIRE, gemini.WIRE, gemini.WHOLE)


@dataclass(frozen=True)
class Served:
    """One request and what was answered."""

    number: int
    ask: Ask
    step: Step
    purpose: Purpose
    cue: str | None
    tokens: Tokens
    body: str
    """The request as it came."""


class Server:
    """A model that follows a script. Use as a context; `served` is what happened."""

    def __init__(self, script: Script) -> None:
        self.script = script
        self.served: list[Served] = []
        self.strange: list[str] = []
        """Requests no protocol of ours is spoken in."""
        self.outward: list[str] = []
        """Other machines an agent tried to reach through us as its proxy; it was refused."""
        self._lock = threading.Lock()
        self._numbers = 0
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._http.daemon_threads = True
        self._thread = threading.Thread(
            target=self._http.serve_forever, args=(_POLL_SECONDS,), daemon=True
        )

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._http.server_address[1]}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    def answer(self, wire: Wire, body: Record) -> Answer:
        """The numbered answer to one request."""
        ask = wire.read(body)
        chosen = reply(self.script, ask)
        with self._lock:
            self._numbers += 1
            number = self._numbers
        answer = Answer(number, ask.model, chosen.step, tokens(number, ask.model))
        served = Served(
            number, ask, chosen.step, chosen.purpose, chosen.cue, answer.tokens, json.dumps(body)
        )
        with self._lock:
            self.served.append(served)
        return answer

    def was_told(self, text: str) -> bool:
        """Whether any request carried this text."""
        wanted = json.dumps(text)[1:-1]
        return any(wanted in served.body for served in self.served)

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        server = self

        class Handler(_Handler):
            model = server

        return Handler


class _Handler(BaseHTTPRequestHandler):
    model: Server
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name is inherited
        """Say nothing: the record is what counts."""

    def do_HEAD(self) -> None:
        if not self._is_foreign():
            self._plain({})

    def do_GET(self) -> None:
        if not self._is_foreign():
            self._plain({"data": [], "models": []})

    def do_CONNECT(self) -> None:
        self._refuse(self.path)

    def do_POST(self) -> None:
        if self._is_foreign():
            return
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        path = self.path.partition("?")[0]
        wire = next((known for known in WIRES if path.endswith(known.path)), None)
        try:
            record = json.loads(body)
        except ValueError:
            wire = None
        if wire is None:
            self.model.strange.append(f"{self.command} {path}")
            self._plain({})
            return
        self._send(wire.content_type, wire.write(self.model.answer(wire, record)))

    def _is_foreign(self) -> bool:
        """Whether this is for another machine; then it is refused."""
        if self.path.startswith("/"):
            return False
        self._refuse(self.path)
        return True

    def _refuse(self, wanted: str) -> None:
        self.model.outward.append(wanted)
        self.close_connection = True
        self.send_response(403)
        self.send_header("content-length", "0")
        self.end_headers()

    def _send(self, content_type: str, pieces: list[bytes]) -> None:
        self.send_response(200)
        self.send_header("content-type", content_type)
        self.send_header("content-length", str(sum(map(len, pieces))))
        self.end_headers()
        self.wfile.write(b"".join(pieces))

    def _plain(self, data: Record) -> None:
        body = json.dumps(data).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)
