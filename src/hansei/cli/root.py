"""The group of all commands; each is imported only when called."""

from __future__ import annotations

import importlib
import itertools
import keyword
import os
import sys
from typing import Any

import click

from hansei import __version__
from hansei.cli.diagnostics import ReaderGone, reported
from hansei.cli.main import COMMANDS, OPTIONS, help_text
from hansei.errors import UsageError


class Commands(click.Group):
    """A group that knows its commands without importing them."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        file = f"{cmd_name}_" if keyword.iskeyword(cmd_name) else cmd_name
        module = importlib.import_module(f"hansei.cli.commands.{file}")
        command: click.Command = module.command
        return command

    def get_help(self, ctx: click.Context) -> str:
        return help_text()

    def invoke(self, ctx: click.Context) -> Any:
        try:
            answer = super().invoke(ctx)
            sys.stdout.flush()
        except BrokenPipeError as gone:
            # Click would answer a broken pipe with the exit code of a fault.
            raise ReaderGone from gone
        return answer

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            import difflib

            near = difflib.get_close_matches(args[0], COMMANDS, n=1)
            meant = f"Did you mean `hansei {near[0]}`? " if near else ""
            raise UsageError(
                f"there is no command {args[0]!r}", hint=f"{meant}`hansei --help` lists them."
            )
        return super().resolve_command(ctx, args)


@click.group(
    cls=Commands,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, message="%(prog)s %(version)s")
@click.option("--json", "as_json", is_flag=True, help=OPTIONS["--json"])
@click.option("--debug", is_flag=True, help=OPTIONS["--debug"])
@click.pass_context
def root(ctx: click.Context, as_json: bool, debug: bool) -> None:  # noqa: ARG001 - read in `reported`
    """Show the status where no command is given."""
    name = ctx.invoked_subcommand
    if name is None:
        from hansei.cli.commands.status import show_status

        show_status(as_json=as_json)
    elif as_json:
        raise UsageError(
            "--json before a command says nothing to that command",
            hint=f"Write it behind: `hansei {name} --json`.",
        )


def run(arguments: list[str]) -> None:
    color = False if os.environ.get("NO_COLOR") else None  # https://no-color.org
    # Behind the command's name it is the command's, or that of the agent `hansei run` starts.
    ours = itertools.takewhile(lambda word: word.startswith("-"), arguments)
    with reported(debug="--debug" in ours, color=color):
        root.main(args=arguments, prog_name="hansei", standalone_mode=False, color=color)
