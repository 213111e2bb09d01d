"""The `hansei` command. Commands are listed here and imported only when called."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

import click

from hansei import __version__

if TYPE_CHECKING:
    from collections.abc import Sequence

COMMANDS = {
    "init": "Make a store for this repository alone.",
    "ingest": "Take in what agents have written since the last time.",
    "summary": "Tokens and cost by agent, model, repository, branch, day or driver.",
    "sessions": "List sessions.",
    "show": "Open one session, or one event of it.",
    "doctor": "What was found where, and what could not be read.",
    "prices": "The prices that costs rest on.",
    "config": "Settings, their values and where they are.",
    "forget": "Remove a session or a workspace for good.",
    "gc": "Remove what is older than the retention you set.",
    "demo": "A tour on generated data.",
    "completion": "Print the completion script for a shell.",
}
"""Every command and its one line of help, in the order people meet them."""


class Commands(click.Group):
    """A group that knows its commands without importing them."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(f"hansei.cli.commands.{cmd_name}")
        command: click.Command = module.command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            import difflib

            near = difflib.get_close_matches(args[0], COMMANDS, n=1)
            hint = f" Did you mean `hansei {near[0]}`?" if near else " `hansei --help` lists them."
            ctx.fail(f"there is no command {args[0]!r}.{hint}")
        return super().resolve_command(ctx, args)


@click.group(
    cls=Commands,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, message="%(prog)s %(version)s")
@click.option("--json", "as_json", is_flag=True, help="Print the status as JSON.")
@click.option("--debug", is_flag=True, help="Show a traceback where something goes wrong.")
@click.pass_context
def root(ctx: click.Context, as_json: bool, debug: bool) -> None:
    """An honest look back at what your coding agents did.

    hansei reads the transcripts that agents leave on this machine. Nothing leaves it.
    Without a command it takes in what is new and shows what is there and what to do next.
    """
    ctx.ensure_object(dict)["debug"] = debug
    if ctx.invoked_subcommand is None:
        from hansei.cli.commands.status import show_status

        show_status(as_json=as_json)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run, and end the process with the exit code that `docs/reference/errors.md` lists."""
    from hansei.cli.diagnostics import reported

    with reported(arguments):
        root.main(args=arguments, prog_name="hansei", standalone_mode=False)
