"""`hansei run`."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO, cast

import click

from hansei.cli import app
from hansei.cli.diagnostics import note, warn
from hansei.cli.output import plural
from hansei.errors import HanseiError, StoreLocked, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hansei.config import Config
    from hansei.store.database import Store

PATIENCE_SECONDS = 10.0
"""How long to wait for another hansei that is taking in transcripts."""


@click.command(
    short_help="Run an agent, and learn from what it did.",
    context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False},
)
@click.option(
    "--learn/--no-learn",
    default=None,
    help="Offer what was learned afterwards, or not. The setting learn_after_run decides else.",
)
@click.option("--sandbox", is_flag=True, help="Let it write to the repository and its own state.")
@click.option("--offline", is_flag=True, help="In the sandbox: without any network.")
@click.option("--agent", metavar="NAME", help="Which agent it is, where its name does not say.")
@click.argument("command", metavar="-- AGENT COMMAND…", nargs=-1, type=click.UNPROCESSED)
def command(
    learn: bool | None, sandbox: bool, offline: bool, agent: str | None, command: tuple[str, ...]
) -> None:
    """Run an agent as if you had typed it yourself, then take in what it did.

    \b
      hansei run -- claude
      hansei run -- codex exec "fix the failing test"
      hansei run --sandbox -- claude --dangerously-skip-permissions
      hansei run --sandbox --offline -- make test

    The agent has the terminal, every key and every signal; its exit code is ours. Once it has
    ended, hansei takes in the sessions it wrote and offers what is worth keeping, on stderr. In a
    pipe or a script it asks nothing. Trouble with that never changes the exit code.

    --sandbox needs bubblewrap. Inside, the agent can write to the repository, to its own state
    folder and to a /tmp of its own; everything else is read-only, keys and passwords are hidden.

    Exit codes: the agent's; 127 if there is no such program, 126 if it cannot be started, 125 if
    the sandbox cannot be made. In the last three cases nothing was run.
    """
    from hansei.ops.sandbox.homes import agent_of

    _check(command, sandbox=sandbox, offline=offline, agent=agent)
    which = agent or agent_of(command)
    started = app.now()
    code = _run(list(command), which, sandbox=sandbox, offline=offline)
    with _code_kept():
        _afterwards(which, started, learn=learn)
    sys.exit(code)


def _check(command: tuple[str, ...], *, sandbox: bool, offline: bool, agent: str | None) -> None:
    from hansei.ops.sandbox.homes import HOMES

    if not command:
        raise UsageError("there is nothing to run", hint="For example: `hansei run -- claude`.")
    if offline and not sandbox:
        raise UsageError("only a sandbox can be offline", hint="Write `--sandbox --offline`.")
    if agent is not None and agent not in HOMES:
        raise UsageError(f"there is no agent {agent!r}", hint=f"There are {', '.join(HOMES)}.")


def _run(command: list[str], agent: str | None, *, sandbox: bool, offline: bool) -> int:
    from hansei.ops.run import run, run_sandboxed

    if not sandbox:
        return run(command)
    return run_sandboxed(app.config(), app.folder(), command, agent, offline=offline)


def _afterwards(agent: str | None, started: int, *, learn: bool | None) -> None:
    """Take in what the agent wrote, and offer what is worth keeping of it."""
    from hansei.ops.run import written_since

    settings = app.config()
    with app.opened(settings) as store:
        _take_in(store, settings)
        if learn is False or (learn is None and not settings.settings.learn_after_run):
            return
        sessions = written_since(store, app.folder(), agent, started, app.now())
        offered = _offer(store, settings, sessions) if sessions else 0
    if sessions and not offered and sys.stderr.isatty():
        note(f"hansei took in {plural(len(sessions), 'session')}: nothing new to learn.")


def _offer(store: Store, settings: Config, sessions: list[str]) -> int:
    """Offer what these sessions showed; how much there was."""
    from hansei.cli.commands.learn import offer_from
    from hansei.ops.attend import in_foreground

    with contextlib.ExitStack() as held:
        # What is told here is talk, whoever tells it: stdout belongs to the agent.
        held.enter_context(contextlib.redirect_stdout(sys.stderr))
        held.callback(setattr, sys, "stdin", sys.stdin)
        if in_foreground() and sys.stdin.isatty():
            sys.stdin = cast("TextIO", _FreshKeys(sys.stdin))
        else:  # to ask in the background would stop us
            sys.stdin = held.enter_context(Path(os.devnull).open(encoding="utf-8"))
        return offer_from(store, settings, sessions)


class _FreshKeys:
    """Keys from the moment somebody is asked: those before were meant for the agent or the shell.

    Enter says yes to an offer, and agents are often ended by more than one key.
    """

    def __init__(self, keys: TextIO) -> None:
        self._keys = keys

    def readline(self, size: int = -1) -> str:
        import termios

        termios.tcflush(self._keys, termios.TCIFLUSH)
        return self._keys.readline(size)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._keys, name)


def _take_in(store: Store, settings: Config) -> None:
    if not store.writable:
        return
    try:
        app.run_ingest(store, settings, wait_seconds=PATIENCE_SECONDS)
    except StoreLocked:
        note("Another hansei is taking in transcripts: learning from what is stored so far.")


@contextlib.contextmanager
def _code_kept() -> Iterator[None]:
    """Whatever goes wrong from here on is told at most: the agent's exit code is what counts."""
    for name in ("SIGTERM", "SIGHUP"):
        signal.signal(getattr(signal, name), signal.default_int_handler)
    try:
        yield
    except (KeyboardInterrupt, SystemExit, click.Abort):
        pass  # enough of it
    except HanseiError as problem:
        _tell(f"{problem.message}. {problem.hint or ''}")
    except Exception as problem:  # noqa: BLE001 - a fault of ours is not the agent's
        _tell(f"{type(problem).__name__}: {problem}")


def _tell(why: str) -> None:
    """Say what went wrong, if there is still someone to hear it."""
    try:
        warn(f"what the agent did was not looked at: {why.strip()}")
        sys.stderr.flush()
    except OSError:
        # Python would end with an exit code of its own where it cannot write what is left.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
