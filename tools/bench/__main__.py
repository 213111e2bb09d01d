"""Measure what we promise about speed, beside other programs, on the same files, in one run.

    python tools/bench                    200 MB and 1 GB, growth, every program; writes the report
    python tools/bench --sizes 50 100     other sizes, in megabytes
    python tools/bench --alone            without the other programs
    python tools/bench --print            print the report and write nothing

Run it on a quiet machine. Ratios are taken within the run; absolute times are this machine's.
"""

import argparse
import sys
import tempfile
import time
from pathlib import Path

import cases
import history
import report
import secrets_cost
from hook_cost import hook_calls
from tools import all_tools, hansei


def main() -> None:
    asked = _arguments()
    with tempfile.TemporaryDirectory(prefix="hansei-bench-", dir=asked.folder) as folder:
        results: list[cases.Measured] = []
        for size in sorted(asked.sizes):
            results.append(_measure(Path(folder), size, results[-1:], asked))
        growth = [_grown(Path(folder), size) for size in asked.growth]
        alone = _alone(Path(folder))
    page = report.page(results, growth, alone, now=time.time())
    if asked.print:
        print(page)
    else:
        report.write(page, growth)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=_Plain)
    parser.add_argument("--sizes", type=int, nargs="+", default=[200, 1000], metavar="MB")
    parser.add_argument("--growth", type=int, nargs="*", default=[100, 300, 1000], metavar="MB")
    parser.add_argument("--alone", action="store_true", help="without the other programs")
    parser.add_argument("--print", action="store_true", help="print the report, write nothing")
    parser.add_argument("--patience", type=int, default=300, metavar="SECONDS")
    parser.add_argument("--folder", help="where the histories are made (default: a temporary one)")
    return parser.parse_args()


class _Plain(argparse.RawDescriptionHelpFormatter):
    """Keeps the lines of the description."""


def _measure(
    folder: Path, megabytes: int, smaller: list[cases.Measured], asked: argparse.Namespace
) -> cases.Measured:
    place = folder / f"{megabytes}"
    _say(f"making a history of {megabytes} MB")
    made = history.build(place, megabytes * 10**6, now=time.time())
    found, missing = all_tools(made.home, place / "tools")
    tools = found[:1] if asked.alone else found
    rows = []
    for tool in tools:
        _say(f"  {tool.name} {tool.version}")
        reason = cases.too_slow(tool, made, smaller, asked.patience)
        if reason:
            missing.append(reason)
        else:
            rows.append(cases.take_measures(tool, made))
    _say("  search against rg")
    searches = cases.searches(tools[0], made)
    return cases.Measured(made, rows, searches, missing)


def _grown(folder: Path, megabytes: int) -> cases.Growth:
    place = folder / f"growth-{megabytes}"
    _say(f"growth: {megabytes} MB")
    made = history.build(place, megabytes * 10**6, now=time.time())
    return cases.growth(hansei(_linked(made, place)), made)


def _alone(folder: Path) -> cases.Alone:
    _say("start-up, redaction and hooks")
    made = history.build(folder / "alone", 100 * 10**6, now=time.time())
    share = secrets_cost.share(made.home)
    return cases.Alone(cases.start_up(folder), share, hook_calls(folder))


def _linked(made: history.History, place: Path) -> Path:
    home = place / "tools" / "hansei"
    home.mkdir(parents=True)
    (home / ".claude").symlink_to(made.home / ".claude")
    return home


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
