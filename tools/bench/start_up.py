"""Measure what speed we promise, as ratios taken in one run on one machine.

Start-up against `python -c pass`; ingest in megabytes a second, and the share redaction takes.
Real transcripts are used where `../shared/corpus` or $HANSEI_CORPUS is, else a generated history.
"""

import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from unittest import mock

from hansei.config import Config, Environment, Settings
from hansei.ops import intake
from hansei.ops.ingest import IngestReport, ingest
from hansei.redaction import engine
from hansei.store.database import open_store

RUNS = 15
ROOT = Path(__file__).resolve().parent.parent


def milliseconds(command: list[str], environment: dict[str, str]) -> float:
    """The median time of a whole process."""
    times = []
    for _ in range(RUNS):
        started = time.perf_counter()
        subprocess.run(command, env=environment, check=True, capture_output=True)
        times.append((time.perf_counter() - started) * 1000)
    return statistics.median(times)


def history(folder: Path) -> tuple[Path, str]:
    """A home folder with transcripts, and what they are."""
    named = os.environ.get("HANSEI_CORPUS")
    corpus = Path(named) if named else ROOT.parent / "shared" / "corpus"
    home = folder / "home"
    if (corpus / "claude_code").is_dir():
        (home / ".claude").mkdir(parents=True)
        (home / ".claude" / "projects").symlink_to(corpus / "claude_code")
        return home, "real transcripts"
    from hansei.synth import build

    world = build(
        folder, seed=1, now_ms=now(), sessions=200, weeks=8, agents=["claude_code"], padding=20.0
    )
    return world.home, "a generated history"


def now() -> int:
    return int(time.time() * 1000)


def measured_ingest(home: Path, folder: Path, workers: int) -> IngestReport:
    config = Config(folder, Settings(workers=workers), Environment(home, {}))
    store = open_store(folder, now=now())
    try:
        return ingest(store, config, now=now())
    finally:
        store.close()


def best(run: Callable[[Path], IngestReport], folder: Path) -> IngestReport:
    """The fastest of three: the others were disturbed."""
    reports = []
    for number in range(3):
        place = folder / f"run-{number}"
        reports.append(run(place))
        shutil.rmtree(place)
    return min(reports, key=lambda report: report.seconds)


def bench_ingest(folder: Path) -> None:
    home, what = history(folder)
    one = best(lambda place: measured_ingest(home, place, 1), folder)
    two = best(lambda place: measured_ingest(home, place, 2), folder)
    with mock.patch.object(intake, "redact", passed_through):
        bare = best(lambda place: measured_ingest(home, place, 1), folder)
    size = one.bytes / 1e6
    print(f"\ningest of {size:,.0f} MB, {what}")
    for label, report in (("one process", one), ("two processes", two), ("no redaction", bare)):
        print(f"  {label:14} {report.seconds:6.2f} s  {size / report.seconds:6.0f} MB/s")
    print(f"  redaction takes {1 - bare.seconds / one.seconds:.0%} of the time")


def passed_through(events, redactor, *, env_calls=None):  # type: ignore[no-untyped-def]
    """What redaction costs is measured by leaving it out."""
    del redactor, env_calls
    return [engine.Clean(event, engine._SEAL) for event in events]


def bench_start_up(folder: Path) -> None:
    home, _ = history(folder)
    environment = {"HOME": str(home), "PATH": os.environ["PATH"]}
    program = str(Path(sys.executable).with_name("hansei"))
    subprocess.run([program, "ingest"], env=environment, check=True, capture_output=True)
    base = milliseconds([sys.executable, "-c", "pass"], environment)
    print(f"start-up, against {base:.0f} ms for `python -c pass`")
    for label, arguments in (
        ("hansei --help", ["--help"]),
        ("hansei summary --help", ["summary", "--help"]),
        ("hansei summary --all, nothing new", ["summary", "--all"]),
    ):
        taken = milliseconds([program, *arguments], environment)
        print(f"  {label:34} {taken:5.0f} ms  {taken / base:4.1f}x")


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="hansei-bench-") as folder:
        bench_start_up(Path(folder) / "start")
        bench_ingest(Path(folder) / "ingest")


if __name__ == "__main__":
    main()
