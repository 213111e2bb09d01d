"""The `hansei` command's front door: help and version at once, everything else through click.

Click takes longer to import than the rest of a help page takes to print, so the overview is plain
text. `root.py` shows the same text.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from hansei import __version__

if TYPE_CHECKING:
    from collections.abc import Sequence

COMMANDS = {
    "init": "Make the store and install hooks into your agents.",
    "run": "Run an agent, and learn from what it did.",
    "ingest": "Take in what agents have written since the last time.",
    "import": "Take in logs of other agents, or reviews of your changes.",
    "summary": "Tokens and cost by agent, model, repository, branch, pull request …",
    "sessions": "List sessions.",
    "show": "Open one session, or one event of it.",
    "facts": "What really happened: failures, files, outcomes and more.",
    "retro": "What to change, because of what, for how much: ranked bets.",
    "apply": "Make the change that a bet proposes.",
    "undo": "Take back what `hansei apply` wrote.",
    "exp": "Experiments: did a change help?",
    "learn": "What sessions showed that is worth keeping as a skill.",
    "skills": "The skillbook: what was learned here, and what may be done with it.",
    "prompt": "Approved skills as text for agents, within a budget.",
    "rent": "What instructions, rules, skills and servers cost, line by line.",
    "check": "What a change of instruction files costs and does.",
    "mcp": "Answer agents: a server of the Model Context Protocol.",
    "statusline": "One line about the session that is going on, for the agent to show.",
    "brief": "What an agent should know before it begins.",
    "recall": "What helped the last time this error was met.",
    "search": "Find text in prompts, replies, commands, outputs and edits.",
    "doctor": "What was found where, and what could not be read.",
    "prices": "The prices that costs rest on.",
    "config": "Settings, their values and where they are.",
    "forget": "Remove a session or a workspace for good.",
    "gc": "Remove what is older than the retention you set.",
    "demo": "A tour on generated data.",
    "completion": "Print the completion script for a shell.",
}
"""Every command and its one line of help, in the order people meet them."""

OPTIONS = {
    "--json": "Print the status as JSON.",
    "--version": "Print the version.",
    "--debug": "Show a traceback where something goes wrong.",
    "-h, --help": "Show this page; `hansei COMMAND --help` tells more about one command.",
}

INTRODUCTION = """\
Usage: hansei [OPTIONS] [COMMAND] [ARGS]...

  An honest look back at what your coding agents did.

  hansei reads the transcripts that agents leave on this machine. Nothing leaves it. Without a
  command it takes in what is new and shows what is there and what to do next.
"""


def help_text() -> str:
    """The overview."""
    parts = [INTRODUCTION]
    for title, lines in (("Commands", COMMANDS), ("Options", OPTIONS)):
        parts.append(f"{title}:")
        parts += [f"  {name:11} {text}" for name, text in lines.items()]
        parts.append("")
    return "\n".join(parts).rstrip()


def main(arguments: Sequence[str] | None = None) -> None:
    """Run, and end the process with one of the exit codes in docs/reference/errors.md."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    if given in (["--help"], ["-h"]):
        sys.stdout.write(f"{help_text()}\n")
    elif given == ["--version"]:
        sys.stdout.write(f"hansei {__version__}\n")
    else:
        from hansei.cli.root import run

        run(given)
