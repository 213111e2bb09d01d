"""Whatever people can ask, agents can ask too, or it is said here why not."""

from __future__ import annotations

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
