"""Messages between a person, a model and tools, as programs write them down.

The same few things have many spellings: OpenAI's chat messages and response items, Anthropic's
content blocks, LangChain's message classes, OpenTelemetry's message parts, and the older way of
sharing chats. Here they become one: who spoke, and the parts of what was said.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any, NamedTuple

import msgspec

from hansei.sources.families.clock import instant
from hansei.sources.families.fields import among, word
from hansei.sources.families.records import rescue
from hansei.sources.families.streams import Counts


class Role(StrEnum):
    USER = "user"
    ASSISTANT = "assistant"
    SYSTEM = "system"
    TOOL = "tool"


class Kind(StrEnum):
    TEXT = "text"
    THOUGHT = "thought"
    CALL = "call"
    RESULT = "result"
    IMAGE = "image"


class Part(NamedTuple):
    """A piece of a message."""

    kind: Kind
    text: str = ""
    id: str | None = None
    """Of a call and its result."""
    name: str | None = None
    arguments: dict[str, Any] | None = None
    failed: bool | None = None
    exit_code: int | None = None


class Spoken(NamedTuple):
    """A message: who spoke, and what it is made of."""

    role: Role
    parts: list[Part]
    at: int | None = None


_ROLES = {
    name: role
    for role, names in {
        Role.USER: "user human humanmessage humanmessagechunk",
        Role.ASSISTANT: "assistant ai gpt model aimessage aimessagechunk bot chatgpt",
        Role.SYSTEM: "system developer systemmessage",
        Role.TOOL: "tool function toolmessage functionmessage observation tool_response ipython",
    }.items()
    for name in names.split()
}
_TEXTS = frozenset(("text", "input_text", "output_text", "refusal", "summary_text"))
_IMAGES = frozenset(("image", "image_url", "input_image", "image_file", "uri", "blob", "file"))
_THOUGHTS = frozenset(("thinking", "reasoning", "redacted_thinking"))
_CALLS = frozenset(("tool_use", "tool_call", "server_tool_use"))
_RESULTS = frozenset(("tool_result", "tool_call_response", "web_search_tool_result"))
_ITEM_CALLS = frozenset(("function_call", "custom_tool_call", "mcp_call"))
_ITEM_RESULTS = frozenset(("function_call_output", "custom_tool_call_output"))
_HOSTED = {
    "web_search_call": "web_search", "file_search_call": "file_search",
    "code_interpreter_call": "code_interpreter", "computer_call": "computer",
    "image_generation_call": "image_generation", "local_shell_call": "local_shell",
    "shell_call": "shell", "apply_patch_call": "apply_patch",
}  # fmt: skip
"""Calls that the provider names by the kind of the item."""
_THINK, _THINK_END = "<think>", "</think>"


def role_of(value: dict[str, Any]) -> Role | None:
    """Who spoke; None for what is no message."""
    for name in ("role", "from", "type"):
        said = value.get(name)
        if isinstance(said, str) and said.lower() in _ROLES:
            return _ROLES[said.lower()]
    return None


def spoken(value: Any) -> Spoken | None:
    """A message or an item of a response; None for what is neither."""
    if not isinstance(value, dict):
        return None
    value = _unwrapped(value)
    item = _item(value)
    if item is not None:
        return item
    role = role_of(value)
    if role is None:
        return None
    at = instant(value.get("timestamp")) or instant(value.get("created_at"))
    if role is Role.TOOL:
        return Spoken(role, [_tool_message(value)], at)
    return Spoken(role, [*_thoughts(value), *_content(value, role), *_tool_calls(value)], at)


def _unwrapped(value: dict[str, Any]) -> dict[str, Any]:
    """A message out of the wrapping of LangChain's constructors."""
    inner, path = value.get("kwargs"), value.get("id")
    if isinstance(inner, dict) and isinstance(path, list) and path:
        return {"type": str(path[-1]), **inner}
    data = value.get("data")
    if isinstance(data, dict) and role_of(value) is not None and "content" in data:
        return {**data, "type": value.get("type")}
    return value


# --- parts ----------------------------------------------------------------------------------------


def text_of(content: Any) -> str:
    """The text in a content, however it is wrapped; what is no text is shown as JSON."""
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "\n".join(filter(None, map(text_of, content)))
    if isinstance(content, dict):
        for name in ("text", "content", "value", "output"):
            if isinstance(content.get(name), str | list):
                return text_of(content[name])
            if name == "text" and isinstance(content.get(name), dict):
                return text_of(content[name])
        if among(content.get("type"), _IMAGES):
            return ""
    return msgspec.json.encode(content).decode()


def _content(value: dict[str, Any], role: Role) -> list[Part]:
    content = next((value[name] for name in ("parts", "content", "value") if value.get(name)), None)
    if isinstance(content, str):
        return _text_parts(content, role)
    if isinstance(content, dict):
        content = [content]
    found: list[Part] = []
    for block in content if isinstance(content, list) else ():
        if isinstance(block, str):
            found += _text_parts(block, role)
        elif isinstance(block, dict):
            found += _block(block, role)
    return found


def _text_parts(text: str, role: Role) -> list[Part]:
    """A text, with what a model thought aloud before it taken apart."""
    if role is Role.ASSISTANT and text.lstrip().startswith(_THINK) and _THINK_END in text:
        thought, _, rest = text.lstrip().removeprefix(_THINK).partition(_THINK_END)
        return [Part(Kind.THOUGHT, thought.strip()), Part(Kind.TEXT, rest.strip())]
    return [Part(Kind.TEXT, text)]


def _block(block: dict[str, Any], role: Role) -> list[Part]:
    kind = word(block.get("type"))
    if kind in _CALLS:
        given = _any(block, "input", "arguments", "args")
        return [Part(Kind.CALL, id=word(block.get("id")), name=word(block.get("name")),
                     arguments=arguments_of(given))]  # fmt: skip
    if kind in _RESULTS:
        told = next((block[n] for n in ("content", "response", "result") if n in block), None)
        failed = block.get("is_error")
        return [Part(Kind.RESULT, text_of(told), word(block.get("tool_use_id") or block.get("id")),
                     failed=failed if isinstance(failed, bool) else None)]  # fmt: skip
    if kind in _THOUGHTS:
        told = next(
            (block[n] for n in (*_THOUGHTS, "content", "text", "summary") if block.get(n)), ""
        )
        return [Part(Kind.THOUGHT, text_of(told))]
    if kind in _IMAGES:
        return [Part(Kind.IMAGE)]
    if kind in _TEXTS or kind is None:
        return _text_parts(text_of(block.get(str(kind)) or block), role)
    return [Part(Kind.TEXT, text_of(block))]


def _thoughts(value: dict[str, Any]) -> list[Part]:
    for name in ("reasoning_content", "reasoning", "thinking"):
        told = value.get(name)
        if isinstance(told, str) and told.strip():
            return [Part(Kind.THOUGHT, told)]
    return []


def _tool_calls(value: dict[str, Any]) -> list[Part]:
    extra = value.get("additional_kwargs")
    told = value.get("tool_calls") or (extra.get("tool_calls") if isinstance(extra, dict) else None)
    if not isinstance(told, list) or not told:
        single = value.get("function_call")
        told = [{"function": single}] if isinstance(single, dict) else []
    named = {part.id for part in _content(value, Role.ASSISTANT) if part.kind is Kind.CALL}
    calls = [_tool_call(call) for call in told if isinstance(call, dict)]
    return [call for call in calls if call.id is None or call.id not in named]


def _tool_call(call: dict[str, Any]) -> Part:
    inner = call.get("function")
    source = inner if isinstance(inner, dict) else call
    given = _any(source, "arguments", "args", "input")
    return Part(
        Kind.CALL,
        id=word(call.get("id")),
        name=word(source.get("name")),
        arguments=arguments_of(given),
    )


def _tool_message(value: dict[str, Any]) -> Part:
    status = value.get("status")
    failed = {"error": True, "success": False}.get(status) if isinstance(status, str) else None
    call = word(value.get("tool_call_id"))
    parts = value.get("parts")
    if isinstance(parts, list) and parts and isinstance(parts[0], dict):
        told = _block(parts[0], Role.TOOL)[0]
        return told._replace(kind=Kind.RESULT, id=told.id or call)
    text = text_of(value.get("content", value.get("value")))
    return Part(Kind.RESULT, text, call, word(value.get("name")), failed=failed)


def _item(value: dict[str, Any]) -> Spoken | None:
    """An item of OpenAI's responses that is no message."""
    kind, call = str(value.get("type")), word(value.get("call_id") or value.get("id"))
    if kind in _ITEM_CALLS:
        given = value.get("arguments", value.get("input"))
        part = Part(Kind.CALL, id=call, name=word(value.get("name")), arguments=arguments_of(given))
    elif kind in _ITEM_RESULTS or kind.endswith("_call_output"):
        return Spoken(Role.TOOL, [Part(Kind.RESULT, text_of(value.get("output")), call)])
    elif kind in _HOSTED:
        given = value.get("action") or value.get("input") or value.get("queries") or {}
        part = Part(Kind.CALL, id=call, name=_HOSTED[kind], arguments=arguments_of(given))
    elif kind == "reasoning" and "role" not in value:
        told = value.get("summary") or value.get("content")
        part = Part(Kind.THOUGHT, text_of(told))
    else:
        return None
    return Spoken(Role.ASSISTANT, [part])


def arguments_of(given: Any) -> dict[str, Any]:
    """The arguments of a call as an object. Text that is none is kept as it is."""
    if isinstance(given, dict):
        return given
    if isinstance(given, str) and given.strip():
        value = rescue(given.encode("utf-8", "surrogatepass")).value
        return value if value is not None else {"input": given}
    return {"input": given} if given else {}


def _any(value: dict[str, Any], *names: str) -> Any:
    return next((value[name] for name in names if name in value), None)


# --- tokens ---------------------------------------------------------------------------------------

_READS = ("cached_tokens", "cache_read", "cache_read_tokens")
_WRITES = ("cache_creation", "cache_write", "cache_creation_tokens", "cache_write_tokens")


def count(value: Any) -> int | None:
    """A number of tokens; anything else is a fault in the record and counts as not recorded."""
    if isinstance(value, str) and value.isdigit():
        value = int(value)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    ok = isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= 2**53
    return value if ok else None


def disjoint(
    told: int | None,
    read: int | None,
    written: int | None,
    output: int | None,
    reasoning: int | None = None,
) -> Counts:
    """Counts from an input that holds what a cache read and wrote.

    An input smaller than its cached part does not hold it: then the program leaves that out.
    """
    cached = (read or 0) + (written or 0)
    rest = told - cached if told is not None and told >= cached else told
    return Counts(rest, read, written, None, output, reasoning)


def usage(told: Any) -> Counts | None:
    """The tokens of a request as providers and frameworks write them; None if there are none."""
    if not isinstance(told, dict):
        return None
    sent = _first(told, "prompt_tokens", "input_tokens")
    output = _first(told, "completion_tokens", "output_tokens")
    if sent is None and output is None:
        return None
    into = _details(told, "prompt", "input")
    out = _details(told, "completion", "output")
    read = _first(into, *_READS)
    written = _first(into, *_WRITES)
    own_read = _first(told, "cache_read_input_tokens", "prompt_cache_hit_tokens")
    own_written = _first(told, "cache_creation_input_tokens")
    reasoning = _first(out, "reasoning_tokens", "reasoning")
    if "prompt_tokens" not in told and "cache_read_input_tokens" in told and not into:
        return Counts(sent, own_read, own_written, None, output, reasoning)
    read = own_read if read is None else read
    written = own_written if written is None else written
    return disjoint(sent, read, written, output, reasoning)


def _details(told: dict[str, Any], *names: str) -> dict[str, Any]:
    """What a count is made of; some say `tokens_details`, some `token_details`."""
    spelt = [f"{name}_{unit}_details" for name in names for unit in ("tokens", "token")]
    return next((told[name] for name in spelt if isinstance(told.get(name), dict)), {})


def _first(told: dict[str, Any], *names: str) -> int | None:
    return next((found for name in names if (found := count(told.get(name))) is not None), None)
