"""Spans out of OTLP's JSON or an SDK's own dump, each as one flat value.

OTLP wraps every attribute in the name of its type and writes large numbers as text; SDKs dump plain
maps under either spelling of the same names. Nothing beyond this file knows of that.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from hansei.sources.families.clock import instant

if TYPE_CHECKING:
    from collections.abc import Iterator

_NANOSECONDS_FROM = 100_000_000_000_000
"""Numbers from here on are nanoseconds: as milliseconds they would lie beyond the year 5000."""
_FAILED = frozenset(("2", "STATUS_CODE_ERROR", "ERROR"))
_FINE = frozenset(("1", "STATUS_CODE_OK", "OK"))
_VALUES = ("stringValue", "boolValue", "doubleValue", "bytesValue")
WRAPPED = ("resourceSpans", "resourceLogs", "resourceMetrics", "resource_spans")


class Happening(NamedTuple):
    """An event of a span, or a log record."""

    name: str
    at: int | None
    attributes: dict[str, Any]


@dataclass
class Span:
    trace: str
    id: str
    parent: str
    name: str
    start: int | None
    end: int | None
    attributes: dict[str, Any]
    resource: dict[str, Any]
    failed: bool | None
    """None where the status is not set."""
    reason: str = ""
    events: list[Happening] = field(default_factory=list)

    def get(self, *names: str) -> Any:
        """The first of these attributes that is there."""
        return next((self.attributes[it] for it in names if it in self.attributes), None)

    def text(self, *names: str) -> str | None:
        """The first of these attributes that is a text, of the span or of its resource."""
        for held in (self.attributes, self.resource):
            for name in names:
                if isinstance(held.get(name), str) and held[name]:
                    return str(held[name])
        return None


def is_span(value: dict[str, Any]) -> bool:
    """Whether an object is one span as an SDK dumps it."""
    context = value.get("context")
    held = {*value, *(context if isinstance(context, dict) else ())}
    return (
        bool({"spanId", "span_id"} & held)
        and bool({"traceId", "trace_id"} & held)
        and isinstance(value.get("attributes"), dict | list)
        and "name" in value
    )


def is_wrapped(value: dict[str, Any]) -> bool:
    """Whether an object is an export request of OTLP."""
    return any(isinstance(value.get(name), list) for name in WRAPPED)


def spans_of(value: dict[str, Any]) -> Iterator[Span]:
    """Every span in an export request, or the one that the object is."""
    if is_span(value):
        resource = value.get("resource")
        yield _span(value, attributes(_under(resource, "attributes") or resource))
        return
    for group in _list(value, "resourceSpans", "resource_spans"):
        resource = attributes(_under(group.get("resource"), "attributes"))
        scopes = _list(group, "scopeSpans", "scope_spans", "instrumentationLibrarySpans")
        for scope in scopes:
            for span in _list(scope, "spans"):
                yield _span(span, resource)


def records_of(value: dict[str, Any]) -> Iterator[Span]:
    """Log records of an export request, each as a span without a length."""
    for group in _list(value, "resourceLogs", "resource_logs"):
        resource = attributes(_under(group.get("resource"), "attributes"))
        for scope in _list(group, "scopeLogs", "scope_logs"):
            for record in _list(scope, "logRecords", "log_records"):
                yield _record(record, resource)


def _record(record: dict[str, Any], resource: dict[str, Any]) -> Span:
    held = attributes(record.get("attributes"))
    body = plain(record.get("body"))
    name = record.get("eventName") or held.get("event.name") or ""
    at = moment(record.get("timeUnixNano") or record.get("observedTimeUnixNano"))
    happening = Happening(str(name), at, {**held, **(body if isinstance(body, dict) else {})})
    return Span(
        str(record.get("traceId") or ""), str(record.get("spanId") or ""), "", str(name), at, at,
        held, resource, None, events=[happening],
    )  # fmt: skip


def _span(span: dict[str, Any], resource: dict[str, Any]) -> Span:
    context = span.get("context")
    held = {**span, **context} if isinstance(context, dict) else span
    status = held.get("status")
    code = status.get("code", status.get("status_code")) if isinstance(status, dict) else status
    words = status.get("message", status.get("description")) if isinstance(status, dict) else None
    return Span(
        trace=_either(held, "traceId", "trace_id"),
        id=_either(held, "spanId", "span_id"),
        parent=_either(held, "parentSpanId", "parent_span_id", "parent_id"),
        name=str(held.get("name") or ""),
        start=moment(_any(held, "startTimeUnixNano", "start_time", "startTime")),
        end=moment(_any(held, "endTimeUnixNano", "end_time", "endTime")),
        attributes=attributes(held.get("attributes")),
        resource=resource,
        failed=True if str(code) in _FAILED else False if str(code) in _FINE else None,
        reason=words if isinstance(words, str) else "",
        events=[
            Happening(
                str(event.get("name") or ""),
                moment(_any(event, "timeUnixNano", "time", "timestamp")),
                attributes(event.get("attributes")),
            )
            for event in _list(held, "events")
        ],
    )


# --- values ---------------------------------------------------------------------------------------


def attributes(told: Any) -> dict[str, Any]:
    """Attributes as a plain map, whichever way they were written."""
    if isinstance(told, dict):
        return told
    if not isinstance(told, list):
        return {}
    pairs = [it for it in told if isinstance(it, dict) and isinstance(it.get("key"), str)]
    return {pair["key"]: plain(pair.get("value")) for pair in pairs}


def plain(value: Any) -> Any:
    """A value out of the name of its type."""
    if not isinstance(value, dict):
        return value
    for name in _VALUES:
        if name in value:
            return value[name]
    if "intValue" in value:
        number = value["intValue"]
        is_text = isinstance(number, str) and number.lstrip("-").isdigit()
        return int(number) if is_text else number
    if isinstance(value.get("arrayValue"), dict):
        return [plain(it) for it in value["arrayValue"].get("values") or ()]
    if isinstance(value.get("kvlistValue"), dict):
        return attributes(value["kvlistValue"].get("values"))
    return value


def decoded(value: Any) -> Any:
    """An attribute that holds JSON as text, decoded; any other as it is."""
    if isinstance(value, str) and value[:1] in ("[", "{"):
        try:
            return msgspec.json.decode(value)
        except (msgspec.MsgspecError, UnicodeError, RecursionError):
            return value
    return value


def moment(value: Any) -> int | None:
    """A time as OTLP and SDKs write it: nanoseconds, ISO 8601, or seconds with nanoseconds."""
    if isinstance(value, list) and len(value) == 2 and all(isinstance(it, int) for it in value):
        return instant(value[0] * 1000 + value[1] // 1_000_000)
    if isinstance(value, str) and value.isdigit():
        value = int(value)
    if isinstance(value, int) and value >= _NANOSECONDS_FROM:
        return instant(value // 1_000_000)
    return instant(value)


def _list(value: dict[str, Any], *names: str) -> list[dict[str, Any]]:
    for name in names:
        if isinstance(value.get(name), list):
            return [it for it in value[name] if isinstance(it, dict)]
    return []


def _under(value: Any, name: str) -> Any:
    return value.get(name) if isinstance(value, dict) else None


def _any(value: dict[str, Any], *names: str) -> Any:
    return next((value[name] for name in names if value.get(name) is not None), None)


def _either(value: dict[str, Any], *names: str) -> str:
    found = _any(value, *names)
    text = found if isinstance(found, str) else ""
    return text.removeprefix("0x") if text.strip("0") else ""
