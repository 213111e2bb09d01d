"""The programs of docs/guides/frameworks.md, as they stand there, against a scripted model.

Each is run twice: before a skill is approved and after. Both sessions are taken in with their calls
and tokens, and the second is known to have had the skill.
"""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import pytest

from framework_desk import ADVICE, SKILL, Desk
from scripted_openai import ANSWER, COMMAND, EACH, scripted_openai

GUIDE = Path(__file__).parents[2] / "docs" / "guides" / "frameworks.md"
NEEDS = {
    "LangChain": ("langchain", "langchain_openai"),
    "LangGraph": ("langgraph", "langchain", "langchain_openai"),
    "OpenAI Agents SDK": ("agents",),
    "CrewAI": ("crewai",),
}
REQUESTS = {"LangGraph": 3}
"""A second turn needs one request more."""


def program(title: str) -> str:
    """The example of a section."""
    section = GUIDE.read_text("utf-8").partition(f"\n## {title}\n")[2].partition("\n## ")[0]
    found = re.search(r"```python\n(.*?)```", section, re.DOTALL)
    assert found, title
    return found[1]


@pytest.mark.timeout(300)
@pytest.mark.parametrize("title", NEEDS)
def test_an_example_is_recorded_and_is_given_what_was_learned(title: str, tmp_path: Path) -> None:
    for name in NEEDS[title]:
        if importlib.util.find_spec(name) is None:
            pytest.skip(f"{name} is not installed here; `make frameworks` has it")
    with scripted_openai() as model:
        desk = Desk.at(
            tmp_path,
            OPENAI_BASE_URL=model.url,
            OPENAI_API_BASE=model.url,
            OPENAI_API_KEY="none",
            CREWAI_DISABLE_TELEMETRY="true",
            CREWAI_TRACING_ENABLED="false",
            OTEL_SDK_DISABLED="true",
        )
        assert ANSWER in desk.python(program(title), timeout=240)
        (first,) = desk.sessions()
        count = REQUESTS.get(title, 2)
        assert (first["calls"], first["failed"]) == (1, 0)
        assert first["tokens"] == count * EACH
        assert ADVICE not in str(model.asked)

        desk.approve_a_skill()
        desk.python(program(title), timeout=240)
        assert ADVICE in str(model.asked)
        listed = desk.sessions()
        if title == "LangGraph":  # the same thread: one session that went on
            (later,) = listed
        else:
            (later,) = (it for it in listed if it["id"] != first["id"])
            assert later["tokens"] == count * EACH
        shown = desk.asked("show", later["id"], "--exposure")
    assert SKILL in str(shown)
    words = desk.hansei("show", later["id"])
    assert ANSWER in words
    assert COMMAND in words
    assert "calm" in desk.hansei("show", later["id"], "--json")
