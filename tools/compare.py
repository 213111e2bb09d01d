"""Compare our token totals, session by session, with those of ccusage on the same transcripts.

Usage: compare.py PATH-TO-CCUSAGE CONFIG-FOLDER...

Each CONFIG-FOLDER holds a `projects` folder. Subagents are counted with the session that started
them on both sides, whatever layout their files have.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from pathlib import Path

from hansei.config import Config, Environment, Settings
from hansei.ops.ingest import ingest
from hansei.store.database import Store, open_store

FIELDS = ("input", "cache read", "cache write", "output")
Totals = dict[str, Counter[str]]


def theirs(program: str, folders: list[str], home: Path) -> Totals:
    """What ccusage says of each session."""
    environment = {**os.environ, "HOME": str(home), "CLAUDE_CONFIG_DIR": ",".join(folders)}
    done = subprocess.run(
        [program, "claude", "session", "--offline", "--json"],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    names = ("inputTokens", "cacheReadTokens", "cacheCreationTokens", "outputTokens")
    totals: Totals = defaultdict(Counter)
    for line in json.loads(done.stdout)["sessions"]:
        for field, name in zip(FIELDS, names, strict=True):
            totals[line["sessionId"]][field] += line[name]
    return totals


def ours(store: Store) -> Totals:
    """What we say of each session, subagents under their own id."""
    rows = store.db.execute(
        "SELECT s.native, r.input, r.cache_read,"
        " coalesce(r.cache_write_5m, 0) + coalesce(r.cache_write_1h, 0), r.output"
        " FROM requests r JOIN sessions s ON s.id = r.session"
    )
    totals: Totals = defaultdict(Counter)
    for native, *counts in rows:
        for field, count in zip(FIELDS, counts, strict=True):
            totals[native][field] += count or 0
    return totals


def by_family(totals: Totals, parents: dict[str, str]) -> Totals:
    """Totals with every subagent added to the session at the top of its family."""
    families: Totals = defaultdict(Counter)
    for native, counts in totals.items():
        top = native
        while top in parents:
            top = parents[top]
        families[top.partition("/")[0]] += counts
    return families


def parents_of(store: Store) -> dict[str, str]:
    """Parent of every subagent, by its full id and by its bare file name."""
    rows = store.db.execute(
        "SELECT native, parent FROM sessions WHERE relation = 'subagent' AND parent IS NOT NULL"
    )
    parents = {}
    for native, parent in rows:
        parents[native] = parent
        parents.setdefault(native.rpartition("/")[2], parent)
    return parents


def main() -> None:
    program, *folders = sys.argv[1:]
    with tempfile.TemporaryDirectory() as scratch:
        home = Path(scratch)
        variables = {"CLAUDE_CONFIG_DIR": ",".join(folders)}
        config = Config(home / "store", Settings(), Environment(home, variables))
        now = int(time.time() * 1000)
        store = open_store(config.store, now=now)
        ingest(store, config, now=now)
        parents = parents_of(store)
        mine = by_family(ours(store), parents)
        other = by_family(theirs(program, folders, home), parents)
    report(mine, other)


def report(mine: Totals, other: Totals) -> None:
    families = sorted(mine.keys() | other.keys())
    equal = [name for name in families if mine[name] == other[name]]
    print(f"{len(families)} sessions with their subagents, {len(equal)} equal in every field")
    for field in FIELDS:
        left, right = (sum(it[field] for it in side.values()) for side in (mine, other))
        print(f"  {field:12} ours {left:>13,}  ccusage {right:>13,}  {left - right:>+9,}")
    for name in families:
        if mine[name] != other[name]:
            parts = [
                f"{field} {mine[name][field]:,} against {other[name][field]:,}"
                for field in FIELDS
                if mine[name][field] != other[name][field]
            ]
            print(f"  {name}: {'; '.join(parts)}")


if __name__ == "__main__":
    main()
