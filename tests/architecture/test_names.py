"""Names stay where they belong."""

from __future__ import annotations

import re
from pathlib import Path

from hansei import plugins

SOURCE = Path(__file__).parents[2] / "src" / "hansei"
AGENT_FOLDERS = (
    "sources/agents",
    "sources/logs",
    "installation/agents",
    "synth",
    "hook",
    "ops/sandbox/homes.py",
)
OWN_WORDS = {
    "cursor": r"agents[./]cursor|\.cursor/|\bCursor (?:IDE|chats?|agent)",
    "goose": r"agents[./]goose|[\"/]goose\b",
    "pi": r"agents[./]pi\b|\.pi/|\"pi\"",
}
"""Agents whose name is a word of ours, or part of one, with what only the agent can mean by it."""


def test_agent_names_do_not_leak() -> None:
    """Only an agent's own file, the generator and texts for people may name it."""
    agents = plugins.builtin_names("hansei.sources.agents")
    pattern = re.compile("|".join(OWN_WORDS.get(agent, agent) for agent in agents))
    allowed_in_help = {
        "cli/app.py",
        "cli/commands/mcp.py",
        "cli/commands/prompt.py",
        "cli/commands/run.py",
        "cli/commands/status.py",
        "config.py",
    }
    places = {
        "learn/outlets.py",  # the files of every agent that skills go to, in one table
        "sources/spool_lines.py",  # agents whose hooks and transcripts go by two names
    }
    leaks = [
        f"{path.relative_to(SOURCE)}:{number}"
        for path in SOURCE.rglob("*.py")
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if pattern.search(line)
        and not str(path.relative_to(SOURCE)).startswith(AGENT_FOLDERS)
        and str(path.relative_to(SOURCE)) not in allowed_in_help | places
    ]
    assert leaks == []


def test_there_is_no_junk_drawer() -> None:
    names = {path.stem for path in SOURCE.rglob("*.py")}
    assert not names & {"utils", "util", "common", "helpers", "base", "manager", "misc"}


def test_files_and_functions_stay_short() -> None:
    """A file of 600 lines or a function of 80 is a question somebody has to answer."""
    import ast

    long = []
    for path in SOURCE.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        if text.count("\n") > 600:
            long.append(f"{path.relative_to(SOURCE)}: {text.count(chr(10))} lines")
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef):
                size = (node.end_lineno or node.lineno) - node.lineno
                if size > 80:
                    long.append(f"{path.relative_to(SOURCE)}:{node.lineno} {node.name}: {size}")
    assert long == []
