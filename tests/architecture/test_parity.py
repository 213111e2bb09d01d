"""Whatever people can ask, agents can ask too, or it is said here why not."""

from __future__ import annotations

import ast
import importlib
import pkgutil
from pathlib import Path

import click

import hansei
from hansei.cli.main import COMMANDS
from hansei.mcp.catalogue import BY_NAME

ASKED_AS = {
    "exp": "experiments",
    "show": "session",
    "learn": "propose_skill",
}
"""Tools that answer what a command of another name does."""

ONLY_PEOPLE = {
    "init": "changes this machine's agents",
    "run": "starts an agent",
    "ingest": "done by itself beside the first question",
    "import": "brings in other people's files",
    "sessions": "`recall` and `brief` name the sessions that matter; a list of all is noise",
    "facts": "its parts are `brief` and `recall`; the tables are too long for a context",
    "apply": "writes to instruction files: a person decides",
    "undo": "likewise",
    "prompt": "`brief` holds the same skills",
    "rent": "about what people wrote for agents, not for agents",
    "check": "likewise, before it is merged",
    "search": "reads everything, in seconds; `recall` answers from facts",
    "doctor": "about this installation",
    "prices": "about this installation",
    "config": "about this installation",
    "forget": "removes for good",
    "gc": "removes for good",
    "demo": "a tour for people",
    "completion": "for shells",
    "mcp": "is the server",
    "statusline": "for the eyes of the person beside the agent",
}

A_PERSON_DECIDES = "what becomes of a skill or an experiment is a person's decision"
PARTS_ASKED_AS = {
    "exp list": "experiments",
    "exp report": "experiments",
    "exp status": "experiments",
    "skills add": "propose_skill",
    "skills list": "skills",
    "skills show": "skills",
    "skills vote": "feedback",
}
PARTS_ONLY_PEOPLE = {
    "exp": {
        A_PERSON_DECIDES: "archive conclude delete new start switch tag",
        "for planning an experiment, which a person does": "power",
    },
    "skills": {
        A_PERSON_DECIDES: "approve edit merge promote reject retire split tag undo update",
        "brings in, or hands out, other people's files": "export import",
        "a long look back that a person reads": "backtest check curate why",
    },
}


def test_every_part_of_a_command_is_a_tool_or_says_why_not() -> None:
    for name, reasons in PARTS_ONLY_PEOPLE.items():
        group = importlib.import_module(f"hansei.cli.commands.{name}").command
        parts = {f"{name} {part}" for part in group.list_commands(click.Context(group))}
        listed = {f"{name} {part}" for it in reasons.values() for part in it.split()}
        asked = {part for part in PARTS_ASKED_AS if part.startswith(f"{name} ")}
        assert parts == listed | asked
        assert listed & asked == set()
    assert set(PARTS_ASKED_AS.values()) <= set(BY_NAME)


def test_no_command_has_parts_that_are_not_looked_at() -> None:
    names = {it.name for it in pkgutil.iter_modules([str(ROOT / "cli" / "commands")])}
    groups = set()
    for name in names:
        found = importlib.import_module(f"hansei.cli.commands.{name}")
        if isinstance(getattr(found, "command", None), click.Group):
            groups.add(name)
    assert groups == set(PARTS_ONLY_PEOPLE)


ROOT = Path(hansei.__file__).parent


def test_every_verb_is_reached_from_the_command_line_or_the_server() -> None:
    """A module of `ops` that neither front end leads to is one that nobody can use."""
    imports = {_name(path): _imported(path) for path in ROOT.rglob("*.py")}
    left = [name for name in imports if name.startswith(("hansei.cli", "hansei.mcp"))]
    reached = set(left)
    while left:
        new = {it for it in imports.get(left.pop(), ()) if it not in reached}
        reached |= new
        left += new
    verbs = {name for name in imports if name.startswith("hansei.ops.")}
    assert verbs
    assert verbs - reached == set()


def _name(path: Path) -> str:
    parts = ("hansei", *path.relative_to(ROOT).with_suffix("").parts)
    return ".".join(parts).removesuffix(".__init__")


def _imported(path: Path) -> set[str]:
    """Modules that a file names, and the packages they lie in."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{it.name}" for it in node.names)}
        elif isinstance(node, ast.Import):
            found |= {it.name for it in node.names}
    return found | {it.rpartition(".")[0] for it in found}


def test_every_command_is_a_tool_or_says_why_not() -> None:
    known = {*BY_NAME, *ASKED_AS, *ONLY_PEOPLE}
    assert set(COMMANDS) - known == set()
    assert set(ONLY_PEOPLE) - set(COMMANDS) == set()
    assert set(ASKED_AS.values()) <= set(BY_NAME)


def test_every_tool_is_a_command_too() -> None:
    only_agents = {
        "bet": "retro --explain",
        "feedback": "skills vote",
        "propose_skill": "skills add",
        "experiments": "exp list, exp report",
        "session": "show",
    }
    assert set(BY_NAME) - set(COMMANDS) - set(only_agents) == set()
