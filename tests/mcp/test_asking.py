"""The server as an agent meets it: through the official client, over standard input and output."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp.client.session import ClientSession
from mcp.client.stdio import StdioServerParameters, stdio_client

from hansei.events.model import MARKER
from hansei.mcp.catalogue import TOOLS
from mcp_desk import Served, served

ANSWERED: dict[str, dict[str, Any]] = {
    "brief": {"task": "make the tests pass"},
    "recall": {"error": "ModuleNotFoundError: No module named 'berthline'"},
    "retro": {},
    "bet": {"bet": "1"},
    "experiments": {},
    "skills": {},
    "session": {"see": ""},
    "summary": {},
    "propose_skill": {"name": "Run with uv", "description": "Use uv run.", "body": "Use uv run."},
    "feedback": {"about": "run-with-uv", "helpful": False, "note": "It was already known."},
}
"""A question for every tool."""


@pytest.fixture(scope="module")
def place() -> Iterator[Served]:
    with served() as found:
        yield found


@pytest.fixture(scope="module")
def seen(place: Served) -> dict[str, Any]:
    """Everything one client got to see in one conversation."""

    async def talk() -> dict[str, Any]:
        parameters = StdioServerParameters(
            command=sys.executable,
            args=["-m", "hansei", "mcp", "--no-ingest"],
            env=place.environment,
            cwd=str(place.world.repo),
        )
        async with (
            stdio_client(parameters) as (read, write),
            ClientSession(read, write) as session,
        ):
            await session.initialize()
            told: dict[str, Any] = {"tools": await session.list_tools()}
            recalled = await session.call_tool("recall", ANSWERED["recall"])
            see = json.loads(recalled.content[0].text)["failures"][0]["see"]  # type: ignore[union-attr] # text
            for name, given in ANSWERED.items():
                asked = {"see": see} if name == "session" else given
                told[name] = await session.call_tool(name, asked)
            told["resources"] = await session.list_resources()
            told["document"] = await session.read_resource("hansei://report/retro")
            told["prompts"] = await session.list_prompts()
            told["prompt"] = await session.get_prompt("retro")
            return told

    return anyio.run(talk)


def test_there_are_at_most_ten_tools_in_at_most_6000_bytes(seen: dict[str, Any]) -> None:
    tools = seen["tools"]
    assert [it.name for it in tools.tools] == [it.name for it in TOOLS]
    assert len(tools.tools) <= 10
    assert len(tools.model_dump_json(by_alias=True, exclude_unset=True).encode()) <= 6_000


def test_what_agents_are_shown_is_in_the_golden_file(
    seen: dict[str, Any], golden: Callable[[str, str], None]
) -> None:
    told = seen["tools"].model_dump(by_alias=True, exclude_unset=True, mode="json")
    golden("tools.json", json.dumps(told["tools"], indent=1) + "\n")


@pytest.mark.parametrize("name", ANSWERED)
def test_every_tool_answers_in_our_name_and_within_its_budget(
    name: str, seen: dict[str, Any]
) -> None:
    answer = seen[name]
    assert not answer.is_error, answer.content[0].text
    told = json.loads(answer.content[0].text)
    assert told == answer.structured_content
    assert told["schema"] == f"hansei.mcp.{name}/1"
    assert told["marker"] == MARKER
    assert len(answer.content[0].text) < 8_000


def test_recall_tells_the_fix_and_where_it_is_to_be_seen(seen: dict[str, Any]) -> None:
    first = seen["recall"].structured_content["failures"][0]
    assert "berthline" in first["failure"]["quote"]
    assert first["fixes"][0]["added"] == "uv run"
    opened = seen["session"].structured_content
    assert {it["kind"] for it in opened["happened"]} == {"tool_call", "tool_result"}


def test_a_bet_is_told_with_its_change_and_evidence(seen: dict[str, Any]) -> None:
    listed = seen["retro"].structured_content["bets"][0]
    bet = seen["bet"].structured_content
    assert bet["bet"] == listed["bet"]
    assert bet["change"]
    assert bet["see"]


@pytest.mark.parametrize("name", ["propose_skill", "feedback"])
def test_what_an_agent_hands_in_is_quarantined_and_written_nowhere(
    name: str, seen: dict[str, Any], place: Served
) -> None:
    told = seen[name].structured_content
    assert told["state"] == "quarantined"
    kept = json.loads(place.hansei("skills", "show", told["draft"], "--json"))
    skill = kept.get("skill", kept)
    assert skill["origin"] == "agent"
    assert skill["label"] == "proposed"
    assert told["draft"] not in place.hansei("prompt")
    assert not list(Path(place.world.repo).rglob(f"{told['draft']}/SKILL.md"))


def test_resources_and_prompts_can_be_listed_and_read(seen: dict[str, Any]) -> None:
    assert "hansei://report/retro" in [str(it.uri) for it in seen["resources"].resources]
    assert seen["document"].contents[0].text.startswith(MARKER)
    assert [it.name for it in seen["prompts"].prompts] == ["retro", "brief me"]
    assert seen["prompt"].messages[0].content.text.startswith(MARKER)
