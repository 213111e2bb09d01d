"""`hansei demo`."""

from __future__ import annotations

import shlex
import shutil
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from hansei.cli import app, output
from hansei.cli.diagnostics import working
from hansei.cli.output import bold, dim
from hansei.cli.tour import ground

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hansei.cli.tour.guide import Tour
    from hansei.ops.demo import Demo


@click.command(short_help="A tour on generated data.")
@click.option("--no-pause", is_flag=True, help="Do not wait for Enter between the steps.")
@click.option("--keep", metavar="FOLDER", help="Make it in this new folder, and leave it there.")
@click.option("--seed", type=click.IntRange(min=0), help="Another number, another history.")
@app.json_option
def command(no_pause: bool, keep: str | None, seed: int | None, as_json: bool) -> None:
    """Walk through what hansei tells, on a generated history in a temporary folder.

    Each step asks a question, types the command that answers it, and shows what that command really
    prints. Enter goes on, q leaves. Nothing of yours is read, and nothing is left behind.

    \b
      hansei demo                     the tour
      hansei demo --no-pause | less   all of it at once
      hansei demo --keep ~/try        leave the history there, to try commands on
    """
    from hansei.cli.tour import guide
    from hansei.cli.tour.steps import STOPS
    from hansei.ops.demo import write_launcher

    with _tour(keep, seed) as tour:
        launcher = write_launcher(tour.demo) if keep else None
        if as_json:
            kept = None if launcher is None else str(launcher)
            output.write_json("demo", {"launcher": kept, "steps": guide.told(tour, STOPS)})
            return
        done = guide.walk(tour, STOPS, pause=not no_pause and guide.can_pause())
    for line in _kept(tour.demo, launcher) if launcher else _farewell(done=done):
        output.write(line)


def show_demo() -> None:
    """The short look for somebody who has no transcripts yet."""
    from hansei.cli.tour import guide
    from hansei.cli.tour.steps import FIRST_LOOK

    with _tour(None, None) as tour:
        output.write(bold("So here is what there would be to see, on a generated history:"))
        output.write()
        for stop in FIRST_LOOK:
            step = stop(tour)
            for line in guide.page(tour, step) if step else ():
                output.write(line)
    output.write(f"The whole tour, step by step: {bold(f'{_program()} demo')}")


def _program() -> str:
    """What to type for `hansei`: its path where it was not found by its name, as in `make run`."""
    named = shutil.which("hansei") or Path(sys.argv[0]).name != "hansei"
    return "hansei" if named else shlex.quote(sys.argv[0])


@contextmanager
def _tour(keep: str | None, seed: int | None) -> Iterator[Tour]:
    """A generated history; the first command takes it in, as it would yours."""
    from hansei.cli.tour.guide import Tour
    from hansei.ops.demo import make
    from hansei.synth import DEMO_SEED

    chosen = ground.kept(Path(keep).expanduser()) if keep else ground.temporary()
    with chosen as folder:
        with working("making a history …"):
            demo = make(folder, seed=DEMO_SEED if seed is None else seed, now=app.now())
        context = click.get_current_context(silent=True)
        wanted = context.color if context else None
        yield Tour(demo, color=sys.stdout.isatty() if wanted is None else wanted)


def _farewell(*, done: bool) -> Iterator[str]:
    if done:
        ways = {
            "hansei": "the same on your own transcripts",
            "hansei demo --keep FOLDER": "leaves this history in a folder, to try commands on",
            "hansei doctor --certify": "counts files whose totals were worked out by hand",
        }
        yield from (f"{bold(f'{command:26}')} {words}" for command, words in ways.items())
    yield dim("Nothing was left behind.")


def _kept(demo: Demo, launcher: Path) -> Iterator[str]:
    """How to go on with a history that stays."""
    yield f"The history is in {launcher.parent} and stays there. To try commands on it:"
    yield ""
    yield bold(f"  cd {shlex.quote(str(demo.world.repo))}")
    yield bold("  ../hansei sessions --failed")
    yield ""
    yield dim(f"That program sees nothing but this history; its store is {demo.config.store}.")
    yield dim("Remove the folder when you have seen enough.")
