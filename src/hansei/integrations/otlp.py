"""A receiver of OTLP over HTTP on this machine: what exporters send is kept, trace by trace.

Only the loopback address is served. Web pages cannot post here: a request must name this machine as
its host, must not come from a page, and must have a content type that pages may not send unasked.
Bodies are bounded before and after they are unpacked.

A trace arrives in pieces, and who it belongs to may be told by its last one. So its pieces are
gathered in a file that nobody reads yet, and handed over (renamed) once its root has come, or once
it has been quiet for long. Pieces that come later are added to what was handed over. A trace in
which nothing tells of an agent is thrown away.
"""

from __future__ import annotations

import io
import json
import logging
import os
import re
import socket
import sys
import threading
import time
import traceback
import zlib
from collections import Counter
from dataclasses import dataclass, field
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from urllib.parse import urlsplit

from hansei.errors import UsageError
from hansei.integrations import LIVE
from hansei.integrations.journal import mark, opened

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

FORMAT: Final = "otlp"
ADDRESS: Final = "127.0.0.1"
PORT: Final = 4318
"""Where exporters send to unless told otherwise."""
LARGEST_BODY: Final = 16 * 1024 * 1024
LARGEST_UNPACKED: Final = 64 * 1024 * 1024
LARGEST_TRACE: Final = 128 * 1024 * 1024
"""Pieces of a trace beyond this are dropped: logs are read whole."""
MOST_CLIENTS: Final = 32
SILENCE_SECONDS: Final = 10.0
"""A client that says nothing for so long is hung up on."""
REQUEST_SECONDS: Final = 30.0
"""A request that has not come whole after so long is given up."""
PLACE_SECONDS: Final = 1.0
"""A client for which no place is free after so long is hung up on: exporters try again."""
SETTLED_SECONDS: Final = 1.0
"""After its root, a trace waits so long for stragglers."""
QUIET_SECONDS: Final = 120.0
"""A trace without a root is handed over after so long a silence."""
_LOG: Final = logging.getLogger("hansei.integrations")
_PARTLY, _WHOLE = ".part", ".jsonl"
_TELLING: Final = re.compile(rb'"(?:gen_ai\.|openinference\.|llm\.|traceloop\.|tool\.name")')
"""Names by which the format otlp knows spans of agents, in a line of JSON."""
_JSON, _PROTOBUF = "application/json", "application/x-protobuf"
_PATHS = {
    "/v1/traces": ("resourceSpans", "scopeSpans", "spans"),
    "/v1/logs": ("resourceLogs", "scopeLogs", "logRecords"),
}
_HOSTS = frozenset(("localhost", "127.0.0.1", "::1"))
_NO_PROTOBUF = (
    "this hansei reads OTLP as JSON only. Install `hansei[otlp]` where hansei runs, or have the"
    " exporter send JSON: OTEL_EXPORTER_OTLP_PROTOCOL=http/json."
)


class Refused(Exception):
    """A request that is not taken in, and why."""

    def __init__(self, status: HTTPStatus, words: str) -> None:
        super().__init__(words)
        self.status, self.words = status, words


class Piece(NamedTuple):
    """What one request tells of one trace."""

    trace: str
    request: dict[str, Any]
    items: int
    """Spans or log records in it."""
    has_root: bool


# --- bodies ---------------------------------------------------------------------------------------


def unpacked(body: bytes, encoding: str) -> bytes:
    """A body as it was before it was packed; never more than `LARGEST_UNPACKED` of it."""
    if encoding in ("", "identity"):
        return body
    if encoding not in ("gzip", "deflate"):
        raise Refused(
            HTTPStatus.UNSUPPORTED_MEDIA_TYPE, f"content encoding {encoding[:40]!r}: use gzip."
        )
    unpacking = zlib.decompressobj(zlib.MAX_WBITS | 32)
    try:
        data = unpacking.decompress(body, LARGEST_UNPACKED + 1)
    except zlib.error:
        raise Refused(HTTPStatus.BAD_REQUEST, "the body is not what its encoding says.") from None
    if len(data) > LARGEST_UNPACKED:
        raise Refused(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, _too_large(LARGEST_UNPACKED))
    if not unpacking.eof:
        raise Refused(HTTPStatus.BAD_REQUEST, "the packed body is cut off.")
    return data


def _too_large(limit: int) -> str:
    return f"more than {limit // 2**20} MiB in one request: have the exporter send smaller batches."


def decoded(data: bytes, kind: str, path: str) -> dict[str, Any]:
    """A body as the JSON of an export request."""
    if kind == _PROTOBUF:
        return _from_protobuf(data, path)
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        raise Refused(HTTPStatus.BAD_REQUEST, "the body is not JSON.") from None
    if not isinstance(value, dict) or not isinstance(value.get(_PATHS[path][0]), list):
        raise Refused(HTTPStatus.BAD_REQUEST, f"there is no list `{_PATHS[path][0]}` in the body.")
    return value


def _from_protobuf(data: bytes, path: str) -> dict[str, Any]:
    try:
        from google.protobuf.json_format import MessageToDict
        from google.protobuf.message import DecodeError
        from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import (
            ExportLogsServiceRequest,
        )
        from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
            ExportTraceServiceRequest,
        )
    except ImportError:
        raise Refused(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, _NO_PROTOBUF) from None
    request = ExportTraceServiceRequest() if path == "/v1/traces" else ExportLogsServiceRequest()
    try:
        request.ParseFromString(data)
        value: dict[str, Any] = MessageToDict(request)
    except (DecodeError, ValueError, RecursionError):
        raise Refused(HTTPStatus.BAD_REQUEST, "the body is not an export request.") from None
    for _, _, item in _items(value, path):
        for name in ("traceId", "spanId", "parentSpanId"):
            if isinstance(item.get(name), str):
                item[name] = _hexadecimal(item[name])
    return value


def _hexadecimal(told: str) -> str:
    """Bytes as OTLP's JSON has ids; the JSON of protobuf has them in base 64."""
    import base64

    return base64.b64decode(told).hex()


def _items(
    value: dict[str, Any], path: str
) -> Iterator[tuple[dict[str, Any], dict[str, Any], dict[str, Any]]]:
    """Every span or log record with its resource group and its scope group."""
    top, middle, bottom = _PATHS[path]
    for group in _objects(value, top):
        for scope in _objects(group, middle):
            for item in _objects(scope, bottom):
                yield group, scope, item


def _objects(value: dict[str, Any], name: str) -> list[dict[str, Any]]:
    listed = value.get(name)
    return [it for it in listed if isinstance(it, dict)] if isinstance(listed, list) else []


def pieces(value: dict[str, Any], path: str) -> list[Piece]:
    """An export request taken apart by trace; each has a resource and a scope once."""
    top, middle, bottom = _PATHS[path]
    found: dict[str, dict[int, dict[str, Any]]] = {}
    """Groups by trace and by which group of the request they are of."""
    lists: dict[tuple[str, int], list[dict[str, Any]]] = {}
    """Items by trace and scope group."""
    roots = set()
    for group, scope, item in _items(value, path):
        trace = item.get("traceId")
        trace = trace if isinstance(trace, str) and trace.strip("0") else ""
        if not trace and "gen_ai." not in json.dumps(item):
            continue  # what a program logs otherwise
        if (trace, id(scope)) not in lists:
            empty: dict[str, Any] = {"resource": group.get("resource") or {}, middle: []}
            around = {name: it for name, it in scope.items() if name != bottom}
            listed = lists[trace, id(scope)] = []
            groups = found.setdefault(trace, {})
            groups.setdefault(id(group), empty)[middle].append({**around, bottom: listed})
        lists[trace, id(scope)].append(item)
        parent = item.get("parentSpanId")
        if path == "/v1/traces" and not (isinstance(parent, str) and parent.strip("0")):
            roots.add(trace)
    counts = Counter[str]()
    for (trace, _), listed in lists.items():
        counts[trace] += len(listed)
    return [
        Piece(trace, {top: [*groups.values()]}, counts[trace], trace in roots)
        for trace, groups in found.items()
    ]


def taken(path: str, kind: str, rejected: int) -> bytes:
    """The answer to an export request, which says how many items were not kept."""
    value: dict[str, Any] = {}
    if rejected:
        words = f"hansei: a trace may have {LARGEST_TRACE // 2**20} MiB; the rest is dropped."
        name = "rejectedSpans" if path == "/v1/traces" else "rejectedLogRecords"
        value = {"partialSuccess": {name: str(rejected), "errorMessage": words}}
    if kind == _JSON:
        return json.dumps(value).encode()
    from google.protobuf.json_format import ParseDict
    from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceResponse
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
        ExportTraceServiceResponse,
    )

    answer = ExportTraceServiceResponse() if path == "/v1/traces" else ExportLogsServiceResponse()
    packed: bytes = ParseDict(value, answer).SerializeToString()
    return packed


# --- keeping --------------------------------------------------------------------------------------


@dataclass
class Waiting:
    """A trace of which pieces have come."""

    heard: float
    has_root: bool = False
    tells: bool = False
    """Whether it has a name that agents' spans have; other traces are not kept."""


@dataclass
class Shelf:
    """The files that traces are gathered in."""

    folder: Path
    clock: Callable[[], float] = time.monotonic
    waiting: dict[str, Waiting] = field(default_factory=dict)
    received: int = 0
    dropped: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @classmethod
    def at(cls, home: str | os.PathLike[str]) -> Shelf:
        """The shelf below a hansei home; what an earlier receiver left half done is handed over."""
        shelf = cls(Path(home) / LIVE / FORMAT)
        for path in sorted(shelf.folder.glob(f"*{_PARTLY}")):
            with path.open("rb") as lines:
                tells = any(_TELLING.search(line) for line in lines)
            shelf.waiting[path.stem] = Waiting(shelf.clock(), has_root=True, tells=tells)
        return shelf

    def keep(self, piece: Piece) -> bool:
        """Add a piece to its trace; whether there was room."""
        name = mark(piece.trace) if piece.trace else mark("no trace", str(time.time_ns()))
        # The newline before ends a line that was torn when an earlier receiver was killed.
        line = b"\n" + json.dumps(piece.request).encode("ascii") + b"\n"
        tells = _TELLING.search(line) is not None
        with self._lock:
            whole = self.folder / f"{name}{_WHOLE}"
            path = whole if whole.exists() else self.folder / f"{name}{_PARTLY}"
            if _size(path) + len(line) > LARGEST_TRACE:
                self.dropped += 1
                return False
            handle = opened(path)
            try:
                while line:
                    line = line[os.write(handle, line) :]
            finally:
                os.close(handle)
            self.received += 1
            if path is not whole:
                known = self.waiting.setdefault(name, Waiting(0.0))
                known.heard = self.clock()
                known.has_root = known.has_root or piece.has_root or not piece.trace
                known.tells = known.tells or tells
            return True

    def hand_over(self, *, everything: bool = False) -> int:
        """Rename what is whole, so that it is taken in; returns how many traces.

        A trace that tells of no agent so far may be that of a web server which waits for one, so
        its root is not its end.
        """
        count = 0
        with self._lock:
            now = self.clock()
            for name, it in list(self.waiting.items()):
                wait = SETTLED_SECONDS if it.has_root and it.tells else QUIET_SECONDS
                if everything or now - it.heard >= wait:
                    partly = self.folder / f"{name}{_PARTLY}"
                    if not it.tells:
                        partly.unlink(missing_ok=True)
                    elif partly.exists():
                        partly.replace(partly.with_suffix(_WHOLE))
                    del self.waiting[name]
                    count += it.tells
        return count


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


# --- the server -----------------------------------------------------------------------------------


class Receiver(ThreadingHTTPServer):
    """Serves exporters on the loopback address, a bounded number at a time."""

    daemon_threads = True
    allow_reuse_address = os.name != "nt"
    request_queue_size = 128

    def __init__(self, shelf: Shelf, port: int = PORT, address: str = ADDRESS) -> None:
        if address not in ("127.0.0.1", "::1"):
            raise UsageError(
                f"{address} is not this machine's loopback address",
                hint="What agents said is received on 127.0.0.1 only.",
            )
        self.shelf = shelf
        self._has_failed = False
        self._places = threading.BoundedSemaphore(MOST_CLIENTS)
        if ":" in address:
            self.address_family = socket.AF_INET6
        try:
            super().__init__((address, port), _Exchange)
        except OSError as problem:
            raise UsageError(
                f"port {port} cannot be used: {problem.strerror}",
                hint="Another program listens there; name another port and tell the exporter.",
            ) from None

    def process_request(self, request: Any, client_address: Any) -> None:
        """Begin a thread for a client if there is a place."""
        if not self._places.acquire(timeout=PLACE_SECONDS):
            self.shutdown_request(request)
            return
        try:
            super().process_request(request, client_address)
        except BaseException:
            self._places.release()
            raise

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._places.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that hangs up in the middle is no news; anything else is logged once."""
        del request, client_address
        problem = sys.exception()
        if problem is None or isinstance(problem, OSError) or self._has_failed:
            return
        self._has_failed = True
        # Without its message, which may hold what was sent.
        where = "".join(traceback.format_tb(problem.__traceback__))
        _LOG.warning("a request could not be answered: %s\n%s", type(problem).__name__, where)


class _Incoming(io.RawIOBase):
    """What a client sends, until its time is up."""

    def __init__(self, connection: socket.socket) -> None:
        self.connection = connection
        self.deadline = 0.0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int:
        left = self.deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError
        self.connection.settimeout(min(SILENCE_SECONDS, left))
        try:
            return self.connection.recv_into(buffer)
        finally:
            self.connection.settimeout(SILENCE_SECONDS)


class _Exchange(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version, sys_version = "hansei", ""
    timeout = SILENCE_SECONDS
    server: Receiver

    def setup(self) -> None:
        super().setup()
        self.rfile.close()
        self._incoming = _Incoming(self.connection)
        self.rfile = io.BufferedReader(self._incoming)

    def handle_one_request(self) -> None:
        self._incoming.deadline = time.monotonic() + REQUEST_SECONDS
        super().handle_one_request()

    def do_POST(self) -> None:
        try:
            kind = self._admitted()
            value = decoded(
                unpacked(self._body(), self._header("content-encoding")), kind, self.path
            )
            keep = self.server.shelf.keep
            rejected = sum(it.items for it in pieces(value, self.path) if not keep(it))
        except Refused as refusal:
            self.close_connection = True  # what is left of the body is not read
            self._answer(refusal.status, _JSON, _status(refusal.words))
        except TimeoutError:
            raise  # hung up on
        except OSError as problem:
            words = f"it could not be kept: {problem.strerror}."
            self._answer(HTTPStatus.SERVICE_UNAVAILABLE, _JSON, _status(words))
        else:
            self._answer(HTTPStatus.OK, kind, taken(self.path, kind, rejected))

    def do_GET(self) -> None:
        words = "this is hansei; exporters post to /v1/traces and /v1/logs."
        self.close_connection = True  # a body, if there is one, is not read
        status = HTTPStatus.METHOD_NOT_ALLOWED if self.path in _PATHS else HTTPStatus.NOT_FOUND
        self._answer(status, _JSON, _status(words))

    def _admitted(self) -> str:
        """The kind of body, if the request is one that an exporter on this machine sends."""
        try:
            host = urlsplit(f"//{self.headers.get('host') or ''}").hostname
        except ValueError:
            host = None
        if host not in _HOSTS:
            raise Refused(HTTPStatus.FORBIDDEN, "only programs on this machine may post here.")
        pages = (self.headers.get("origin"), self.headers.get("sec-fetch-site"))
        if any(pages):
            raise Refused(HTTPStatus.FORBIDDEN, "web pages may not post here.")
        if self.path not in _PATHS:
            raise Refused(HTTPStatus.NOT_FOUND, "post to /v1/traces or /v1/logs.")
        kind = self._header("content-type").partition(";")[0].strip()
        if kind not in (_JSON, _PROTOBUF):
            words = f"content type {kind[:40]!r}: send {_JSON} or {_PROTOBUF}."
            raise Refused(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, words)
        return kind

    def _body(self) -> bytes:
        if self._header("transfer-encoding") == "chunked":
            return b"".join(self._chunks())
        told = self._header("content-length")
        if not told.isdecimal():
            raise Refused(HTTPStatus.LENGTH_REQUIRED, "say how long the body is.")
        if len(told) > 12 or int(told) > LARGEST_BODY:
            raise Refused(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, _too_large(LARGEST_BODY))
        body = self.rfile.read(int(told))
        if len(body) < int(told):
            raise Refused(HTTPStatus.BAD_REQUEST, "the body is cut off.")
        return body

    def _chunks(self) -> Iterator[bytes]:
        size = 0
        while True:
            try:
                length = int(self.rfile.readline(20).partition(b";")[0], 16)
            except ValueError:
                raise Refused(HTTPStatus.BAD_REQUEST, "the body is not in chunks.") from None
            size += length
            if length < 0 or size > LARGEST_BODY:
                raise Refused(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, _too_large(LARGEST_BODY))
            data = self.rfile.read(length)
            if len(data) < length:
                raise Refused(HTTPStatus.BAD_REQUEST, "the body is cut off.")
            self.rfile.readline(4)
            if not length:
                return
            yield data

    def _header(self, name: str) -> str:
        return (self.headers.get(name) or "").strip().lower()

    def _answer(self, status: HTTPStatus, kind: str, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name is inherited
        """Requests are counted, not listed."""
        del format, args


def _status(words: str) -> bytes:
    """A refusal as OTLP has it."""
    return json.dumps({"message": f"hansei: {words}"}).encode()
