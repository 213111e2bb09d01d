"""`python -m rig`: play the scenarios with the agents and write docs/rig.md."""

from __future__ import annotations

import argparse
import datetime as dt
import json
import os
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from rig import install, place, processes, report, results
from rig.catalogue import AGENTS, SCENARIOS
from rig.perform import Result, State, perform

if TYPE_CHECKING:
    from types import FrameType

    from rig.agent import Agent


def main() -> int:
    """Play what was asked for; 0 if nothing failed."""
    wanted = _arguments()
    signal.signal(signal.SIGTERM, _stop)
    scratch = _scratch()
    agents = [agent for agent in AGENTS if not wanted.agent or agent.name in wanted.agent]
    names = [name for name in SCENARIOS if not wanted.scenario or name in wanted.scenario]
    try:
        played = [
            result for agent in agents for result in _with(agent, names, scratch, wanted.again)
        ]
    except install.NotInstalled as why:
        print(f"rig: {why}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("rig: stopped; what was played is kept", file=sys.stderr)
        return 130
    finally:
        processes.sweep()
    whole = len(agents) == len(AGENTS) and len(names) == len(SCENARIOS)
    _write(played, scratch, page=whole)
    return int(any(result.state is State.FAILED for result in played))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="rig", description=__doc__)
    parser.add_argument("--agent", action="append", choices=[agent.name for agent in AGENTS])
    parser.add_argument("--scenario", action="append", choices=list(SCENARIOS))
    parser.add_argument("--again", action="store_true", help="play what has a good result too")
    return parser.parse_args()


def _stop(_number: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def _scratch() -> Path:
    """Where agents, places and results lie: outside the repository."""
    if named := os.environ.get("HANSEI_RIG"):
        return Path(named).expanduser().resolve()
    cache = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(cache).expanduser().resolve() / "hansei-rig"


def _with(agent: Agent, names: list[str], scratch: Path, again: bool) -> list[Result]:
    """Every scenario with one agent."""
    code = results.fingerprint()
    outside = place.Place(scratch).variables()
    (scratch / "home").mkdir(parents=True, exist_ok=True)
    installed = install.install(agent, scratch, outside)
    played = []
    for name in names:
        old = results.kept(scratch, name, agent.name, installed.version, code)
        result = old if old and not again else None
        if result is None:
            folder = scratch / "places" / f"{agent.name}-{name}"
            result = perform(name, SCENARIOS[name], agent, installed, folder)
            results.keep(scratch, result, code)
        print(report.line(result), flush=True)
        played.append(result)
    return played


def _write(played: list[Result], scratch: Path, *, page: bool) -> None:
    """The table, on the terminal and, when everything was played, in docs/rig.md."""
    today = dt.datetime.now(dt.UTC).date().isoformat()
    text = report.page(played, AGENTS, SCENARIOS, install.versions(), today)
    summary = [result.record() for result in played]
    (scratch / "rig.json").write_text(json.dumps(summary, indent=1) + "\n", encoding="utf-8")
    if page:
        (results.ROOT / "docs" / "rig.md").write_text(text, encoding="utf-8")
    print(text[text.index("## Results") :])


if __name__ == "__main__":
    sys.exit(main())
