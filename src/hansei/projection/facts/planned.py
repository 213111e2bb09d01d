"""The items of an agent's plan as they stood when the session ended.

Some agents write the whole plan anew with every change, others make and change single items.
"""

from __future__ import annotations

import re
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from hansei.events.model import Tool

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hansei.projection.calls import Call

LONGEST: Final = 200
"""Characters of an item that are kept."""
_LISTS: Final = ("todos", "plan", "items")
_TEXTS: Final = ("content", "step", "subject", "text", "title")
_NUMBER: Final = re.compile(r"#(\d+)")


class State(StrEnum):
    """How far an item got."""

    OPEN = "open"
    BEGUN = "begun"
    DONE = "done"


_STATES: Final = {
    "pending": State.OPEN,
    "in_progress": State.BEGUN,
    "completed": State.DONE,
    "done": State.DONE,
}


class Planned(NamedTuple):
    """One item."""

    seq: int
    """The call that said so last."""
    text: str
    state: State


def planned(calls: Sequence[Call]) -> list[Planned]:
    """The items at the end of a session, in the order of the plan; what was taken out is gone."""
    items: dict[str, Planned] = {}
    for call in calls:
        if call.event.tool is Tool.PLAN:
            whole = _whole(call)
            if whole is None:
                _change(items, call)
            else:
                items = whole
    return list(items.values())


def _whole(call: Call) -> dict[str, Planned] | None:
    """The plan that a call writes anew; None where it changes a single item, or none."""
    found = next((it for name in _LISTS if (it := call.event.arguments.get(name))), None)
    if not isinstance(found, list):
        return None
    rows = (_item(call.seq, it) for it in found)
    return {str(place): row for place, row in enumerate(rows) if row is not None}


def _item(seq: int, told: Any) -> Planned | None:
    if not isinstance(told, dict):
        return None
    text = next((told[name] for name in _TEXTS if isinstance(told.get(name), str)), "")
    state = _STATES.get(str(told.get("status")))
    return Planned(seq, text[:LONGEST], state) if text and state is not None else None


def _change(items: dict[str, Planned], call: Call) -> None:
    told = call.event.arguments
    number = told.get("taskId") or told.get("task_id")
    if number is None:
        named = _NUMBER.search(call.result.text) if call.result is not None else None
        item = _item(call.seq, {"status": "pending", **told})
        if named is not None and item is not None:
            items[named[1]] = item
    elif told.get("status") == "deleted":
        items.pop(str(number), None)
    elif str(number) in items and str(told.get("status")) in _STATES:
        state = _STATES[str(told["status"])]
        items[str(number)] = items[str(number)]._replace(seq=call.seq, state=state)
