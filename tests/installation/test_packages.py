"""A server and a status line in other people's settings: put in and taken out to the byte."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hansei.installation import jsonc, toml_lines
from hansei.installation.contract import Edit
from hansei.installation.jsonc import Malformed
from hansei.installation.packages import SKILLS
from hansei.installation.servers import JsonServer, TomlServer
from hansei.installation.status_lines import StatusLine, wrapped

PROGRAM = "/store/bin/hansei-mcp"
ENTRY = {"command": PROGRAM}
OURS = "/store/bin/hansei-hook claude_code statusline"
JSON = JsonServer("mcpServers", ENTRY)
TOML = TomlServer(PROGRAM)
LINE = StatusLine(OURS, wanted=True)

OTHERS = {
    "none": "{}\n",
    "a comment": '{\n  // mine\n  "a": 1, // why\n}\n',
    "a server": '{\n  "mcpServers": {\n    "other": {"command": "x"} // mine\n  }\n}\n',
    "on one line": '{"a": [1, 2], "mcpServers": {"other": {"command": "x"}}}',
    "an empty object": '{"mcpServers": {}, "statusLine": {"type": "command", "command": "mine"}}',
    "windows": '{\r\n\t"a": 1\r\n}\r\n',
}
TOMLS = {
    "none": "",
    "a server": '# mine\nmodel = "x"\n\n[mcp_servers.other]\ncommand = "y" # keep\n',
    "no end of line": 'model = "x"',
    "a later table": '[mcp_servers.other]\ncommand = "y"\n\n# about a\n[a]\nb = 1\n',
}


@pytest.mark.parametrize("text", OTHERS.values(), ids=OTHERS)
@pytest.mark.parametrize("edit", [JSON, LINE], ids=["server", "status line"])
def test_json_settings_come_back_as_they_were(edit: Edit, text: str) -> None:
    there = edit.install(text)
    assert there is not None
    assert there != text
    assert edit.install(there) == there
    left = edit.uninstall(there)
    assert left is not None
    assert _filled(left) == _filled(text)
    assert left.count("//") == text.count("//")


def _filled(text: str) -> dict[str, object]:
    """Settings without empty objects: one of servers that was empty before us goes with us."""
    return {key: value for key, value in jsonc.parse(text).value.items() if value != {}}


@pytest.mark.parametrize("text", TOMLS.values(), ids=TOMLS)
def test_toml_settings_come_back_as_they_were(text: str) -> None:
    there = TOML.install(text)
    assert there is not None
    assert toml_lines.parse(there)["mcp_servers"]["hansei"] == ENTRY
    assert TOML.install(there) == there
    assert TOML.uninstall(there).rstrip("\n") == text.rstrip("\n")


def test_an_entry_that_a_person_made_is_theirs() -> None:
    own = '{"mcpServers": {"hansei": {"command": "hansei", "args": ["mcp"]}}}'
    assert JSON.install(own) == own
    assert JSON.uninstall(own) == own
    toml = '[mcp_servers.hansei]\ncommand = "hansei"\nargs = ["mcp"]\n'
    assert TOML.install(toml) == toml
    assert TOML.uninstall(toml) == toml


def test_an_entry_of_an_earlier_store_is_replaced() -> None:
    old = '{"mcpServers": {"hansei": {"command": "/old/bin/hansei-mcp"}, "b": {"command": "x"}}}'
    new = jsonc.parse(JSON.install(old) or "").value["mcpServers"]
    assert new == {"b": {"command": "x"}, "hansei": ENTRY}


@pytest.mark.parametrize("text", ["[]", '{"mcpServers": []}', "{"])
def test_settings_of_another_shape_are_left_alone(text: str) -> None:
    with pytest.raises(Malformed):
        JSON.install(text)


@given(st.text(min_size=1, max_size=60).filter(lambda it: it.isprintable() and it.strip()))
def test_any_command_of_a_person_is_wrapped_and_comes_back(command: str) -> None:
    text = json.dumps({"statusLine": {"type": "command", "command": command, "padding": 0}})
    there = LINE.install(text)
    assert there is not None
    said = json.loads(there)["statusLine"]
    assert said["padding"] == 0
    assert wrapped(said["command"]) == command
    assert json.loads(LINE.uninstall(there)) == json.loads(text)


def test_a_status_line_stays_ours_without_being_asked_for_again() -> None:
    there = LINE.install('{"statusLine": {"type": "command", "command": "mine"}}')
    moved = StatusLine("/new/bin/hansei-hook claude_code statusline")
    after = moved.install(there)
    assert after is not None
    assert json.loads(after)["statusLine"]["command"].startswith("/new/bin/hansei-hook")
    assert wrapped(json.loads(after)["statusLine"]["command"]) == "mine"
    assert StatusLine(OURS).install("{}") == "{}"


def test_skills_say_in_one_short_line_when_they_apply() -> None:
    for it in SKILLS:
        head = it.text.split("---\n")[1].splitlines()
        assert [line.partition(": ")[0] for line in head] == ["name", "description"]
        assert ": " not in it.description, "it would be read as a mapping"
        assert len(it.description) < 160
