"""`hansei statusline`."""

from __future__ import annotations

import sys

import click

from hansei.cli import app


@click.command(short_help="One line about the session that is going on, for the agent to show.")
@click.option("--wrap", metavar="COMMAND", help="Your own status line, which ours stands beside.")
def command(wrap: str | None) -> None:
    """Print what the session has cost, how full its context is, and what fails again and again.

    \b
      hansei init --statusline     puts it beside your own status line

    Claude Code runs it and hands it JSON on standard input. What is not known is left out, and on
    any trouble the line is empty. `init` installs a smaller program that prints the same, because
    this one takes longer to start. docs/guides/statusline.md tells what each part means.
    """
    from hansei.config import home_folder
    from hansei.hook.statusline import status

    data = b"" if sys.stdin.isatty() else sys.stdin.buffer.read()
    line = status(str(home_folder(app.config().environment)), data, wrap)
    sys.stdout.buffer.write(line + b"\n" if line else line)
