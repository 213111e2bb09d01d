"""How things are switched off, in words that can be copied."""

from __future__ import annotations

import json
import re
import tomllib

import pytest

from hansei.hook.switches import switches

CACHE = "/home/me/.codex/plugins/cache/curated/figma/56bcc/skills/use/SKILL.md"


def blocks(language: str, text: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)\n```", text, re.DOTALL)


def test_claude_code_has_a_setting_for_each_project() -> None:
    text = switches("skill", ["tides", "crew"], {}, ["claude_code"])
    (told,) = blocks("json", text)
    assert json.loads(told) == {"skillOverrides": {"tides": "off", "crew": "off"}}
    assert "`.claude/settings.json`" in text


def test_codex_takes_skills_by_their_file_and_says_that_it_is_for_all_projects() -> None:
    text = switches("skill", ["tides", "crew"], {"tides": "/s/tides/SKILL.md"}, ["codex"])
    (told,) = blocks("toml", text)
    assert tomllib.loads(told)["skills"]["config"] == [
        {"path": "/s/tides/SKILL.md", "enabled": False},
        {"name": "crew", "enabled": False},
    ]
    assert "for all projects" in text


def test_a_plug_in_goes_by_its_name_and_marketplace() -> None:
    text = switches("skill", ["figma:use"], {"figma:use": CACHE}, ["claude_code", "codex"])
    assert blocks("sh", text) == ["claude plugin disable figma@curated --scope project"]
    (told,) = blocks("toml", text)
    assert tomllib.loads(told) == {"plugins": {"figma@curated": {"enabled": False}}}


@pytest.mark.parametrize("agent", ["claude_code", "codex", "opencode", "cursor"])
def test_every_agent_can_switch_a_server_off(agent: str) -> None:
    text = switches("mcp", ['trac"ker'], {}, [agent])
    assert len(text.splitlines()) >= 3
    for told in blocks("toml", text):
        assert tomllib.loads(told) == {"mcp_servers": {'trac"ker': {"enabled": False}}}
    for told in blocks("json", text):
        assert 'trac"ker' in str(json.loads(told))


def test_an_unknown_agent_is_told_what_goes_at_least() -> None:
    assert switches("skill", ["tides"], {}, ["other"]) == "What goes: `tides`.\n"
