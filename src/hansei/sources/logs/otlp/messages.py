"""What was said in a request to a model, from whatever attributes or events of its span."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from hansei.sources.families import chat
from hansei.sources.logs.otlp.spans import decoded

if TYPE_CHECKING:
    from hansei.sources.logs.otlp.spans import Span

_FLAT = {
    "llm.input_messages.": False,
    "llm.output_messages.": True,
    "gen_ai.prompt.": False,
    "gen_ai.completion.": True,
}
"""Attributes that spell messages out, one key for each field; whether the model said them."""
_EVENTS = {
    "gen_ai.system.message": "system",
    "gen_ai.user.message": "user",
    "gen_ai.assistant.message": "assistant",
    "gen_ai.tool.message": "tool",
}


class Exchange(NamedTuple):
    """The messages a model was sent, and those it answered with."""

    sent: list[dict[str, Any]]
    answered: list[dict[str, Any]]


def exchange(span: Span) -> Exchange:
    """What was said; nothing where the program records no content."""
    told = _whole(span)
    if not told.sent and not told.answered:
        told = _spelt_out(span)
    if not told.sent and not told.answered:
        told = _happened(span)
    rules = _rules(span)
    return Exchange([*rules, *told.sent], told.answered) if rules else told


def _whole(span: Span) -> Exchange:
    """Messages as JSON in one attribute, of the span or of an event."""
    held = dict(span.attributes)
    for event in span.events:
        for name, value in event.attributes.items():
            held.setdefault(name, value)
    sent = _messages(_first(held, "gen_ai.input.messages", "gen_ai.prompt"), "user")
    answered = _messages(_first(held, "gen_ai.output.messages", "gen_ai.completion"), "assistant")
    return Exchange(sent, answered)


def _messages(value: Any, role: str) -> list[dict[str, Any]]:
    value = decoded(value)
    if isinstance(value, dict) and isinstance(value.get("messages"), list):
        value = value["messages"]
    if isinstance(value, str) and value:
        return [{"role": role, "content": value}]
    listed = value if isinstance(value, list) else [value]
    return [it for it in listed if isinstance(it, dict) and chat.spoken(it) is not None]


def _rules(span: Span) -> list[dict[str, Any]]:
    told = decoded(span.get("gen_ai.system_instructions"))
    return [{"role": "system", "content": chat.text_of(told)}] if told else []


def _spelt_out(span: Span) -> Exchange:
    found = Exchange([], [])
    for prefix, answered in _FLAT.items():
        tree = _tree(span.attributes, prefix)
        for number in sorted(tree, key=_number):
            message = _unfolded(tree[number])
            default = "assistant" if answered else "user"
            found[answered].append({"role": default, **message})
    return found


def _tree(held: dict[str, Any], prefix: str) -> dict[str, Any]:
    """Dotted names below a prefix as maps within maps."""
    tree: dict[str, Any] = {}
    for name in sorted(held):
        if not name.startswith(prefix):
            continue
        *path, last = name.removeprefix(prefix).split(".")
        place = tree
        for step in path:
            below = place.setdefault(step, {})
            place = below if isinstance(below, dict) else {}
        place[last] = held[name]
    return {step: below for step, below in tree.items() if isinstance(below, dict)}


def _unfolded(told: dict[str, Any]) -> dict[str, Any]:
    """One message out of its map: numbered parts become lists."""
    inner = told.get("message")
    message = dict(inner) if isinstance(inner, dict) else dict(told)
    calls = message.pop("tool_calls", None)
    parts = message.pop("contents", None)
    if isinstance(calls, dict):
        message["tool_calls"] = [_call(calls[it]) for it in sorted(calls, key=_number)]
    if isinstance(parts, dict) and not message.get("content"):
        message["content"] = [
            it.get("message_content", it) for _, it in sorted(parts.items()) if isinstance(it, dict)
        ]
    return message


def _call(told: Any) -> dict[str, Any]:
    inner = told.get("tool_call", told) if isinstance(told, dict) else {}
    return inner if isinstance(inner, dict) else {}


def _number(text: str) -> int:
    return int(text) if text.isdigit() else 0


def _happened(span: Span) -> Exchange:
    """Messages as events of the span."""
    found = Exchange([], [])
    for event in span.events:
        held = {name.removeprefix("gen_ai."): decoded(it) for name, it in event.attributes.items()}
        if event.name in _EVENTS:
            call = held.get("id") if event.name == "gen_ai.tool.message" else None
            found.sent.append(
                {**held, "role": _EVENTS[event.name], **({"tool_call_id": call} if call else {})}
            )
        elif event.name == "gen_ai.choice":
            message = held.get("message")
            found.answered.append(
                {"role": "assistant", **(message if isinstance(message, dict) else held)}
            )
    return found


def _first(held: dict[str, Any], *names: str) -> Any:
    return next((held[name] for name in names if held.get(name)), None)
