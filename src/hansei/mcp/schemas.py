"""What a tool takes, as JSON Schema in as few bytes as it can be told.

Schemas are carried by every session of every agent that has this server, so titles, definitions and
limits that only a fault would meet are left out; `Tool.asked` still checks them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import msgspec

if TYPE_CHECKING:
    from hansei.mcp.contract import Arguments

_UNSAID: Final = frozenset(
    ("title", "description", "maxLength", "minLength", "maxItems", "maximum", "minimum", "default")
)


def input_schema(arguments: type[Arguments]) -> dict[str, Any]:
    """The schema of a tool's arguments, in one piece."""
    (told,) = msgspec.json.schema(arguments)["$defs"].values()
    schema: dict[str, Any] = {"type": "object", "properties": _plain(told["properties"])}
    if told.get("required"):
        schema["required"] = told["required"]
    return schema


def _plain(properties: dict[str, Any]) -> dict[str, Any]:
    return {
        name: {key: value for key, value in it.items() if key not in _UNSAID}
        for name, it in properties.items()
    }
