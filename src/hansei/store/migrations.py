"""How the database came to its present shape: named steps, only ever added to.

Each step runs in one transaction with the record that it ran. `user_version` holds how many there
are, so opening an up-to-date database reads one number.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable
from typing import TypeAlias

from hansei.errors import NewerStore

Migration: TypeAlias = Callable[[sqlite3.Connection], None]


def m001_first_light(db: sqlite3.Connection) -> None:
    """Workspaces, transcripts, sessions, the log, and what everyday commands read from it."""
    for statement in FIRST_LIGHT.split(";\n\n"):
        db.execute(statement)


FIRST_LIGHT = """
CREATE TABLE migrations (name TEXT PRIMARY KEY, applied_at INTEGER NOT NULL) WITHOUT ROWID;

CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;

CREATE TABLE workspaces (
  id INTEGER PRIMARY KEY,
  identity TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL,
  basis TEXT NOT NULL,
  folder TEXT,
  remote TEXT
);

CREATE TABLE folders (path TEXT PRIMARY KEY, workspace INTEGER NOT NULL) WITHOUT ROWID;

CREATE TABLE transcripts (
  id INTEGER PRIMARY KEY,
  agent TEXT NOT NULL,
  path TEXT NOT NULL,
  variant TEXT NOT NULL,
  fingerprint TEXT NOT NULL,
  cursor BLOB NOT NULL,
  watched TEXT NOT NULL DEFAULT '[]',
  bytes INTEGER NOT NULL DEFAULT 0,
  records INTEGER NOT NULL DEFAULT 0,
  skipped INTEGER NOT NULL DEFAULT 0,
  restarts INTEGER NOT NULL DEFAULT 0,
  unreadable TEXT,
  missing_since INTEGER,
  read_at INTEGER NOT NULL,
  UNIQUE (agent, path)
);

CREATE TABLE problems (
  transcript INTEGER NOT NULL,
  offset INTEGER NOT NULL,
  reason TEXT NOT NULL,
  line INTEGER NOT NULL,
  PRIMARY KEY (transcript, offset, reason)
) WITHOUT ROWID;

CREATE TABLE sessions (
  id INTEGER PRIMARY KEY,
  agent TEXT NOT NULL,
  native TEXT NOT NULL,
  workspace INTEGER NOT NULL,
  transcript INTEGER,
  parent TEXT,
  relation TEXT,
  spawned_by TEXT,
  driver TEXT,
  driver_recorded INTEGER NOT NULL DEFAULT 0,
  cwd TEXT,
  branch TEXT,
  "commit" TEXT,
  version TEXT,
  entrypoint TEXT,
  title TEXT,
  opening TEXT,
  role TEXT,
  started_at INTEGER,
  ended_at INTEGER,
  next_seq INTEGER NOT NULL DEFAULT 1,
  UNIQUE (agent, native)
);

CREATE INDEX sessions_by_workspace ON sessions (workspace, started_at);

CREATE TABLE events (
  session INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  key INTEGER NOT NULL,
  at INTEGER,
  kind TEXT NOT NULL,
  tool TEXT,
  name TEXT,
  call TEXT,
  status TEXT,
  origin TEXT,
  model TEXT,
  cwd TEXT,
  branch TEXT,
  text TEXT,
  detail TEXT,
  PRIMARY KEY (session, seq)
) WITHOUT ROWID;

CREATE TABLE keys (
  key INTEGER PRIMARY KEY,
  session INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  content INTEGER NOT NULL
);

CREATE TABLE requests (
  key INTEGER PRIMARY KEY,
  session INTEGER NOT NULL,
  at INTEGER,
  model TEXT,
  branch TEXT,
  tier TEXT,
  input INTEGER,
  cache_read INTEGER,
  cache_write_5m INTEGER,
  cache_write_1h INTEGER,
  output INTEGER,
  reasoning INTEGER,
  web_searches INTEGER,
  lines INTEGER NOT NULL,
  repeated INTEGER NOT NULL,
  cost INTEGER
);

CREATE INDEX requests_by_session ON requests (session);

CREATE TABLE replays (
  session INTEGER NOT NULL,
  key INTEGER NOT NULL,
  owner INTEGER NOT NULL,
  kind TEXT NOT NULL,
  at INTEGER,
  tokens INTEGER,
  PRIMARY KEY (session, key)
) WITHOUT ROWID;

CREATE TABLE tallies (
  session INTEGER NOT NULL,
  kind TEXT NOT NULL,
  detail TEXT NOT NULL,
  n INTEGER NOT NULL,
  PRIMARY KEY (session, kind, detail)
) WITHOUT ROWID;

CREATE TABLE forgotten (
  agent TEXT NOT NULL,
  native TEXT NOT NULL,
  until INTEGER,
  PRIMARY KEY (agent, native)
) WITHOUT ROWID;

CREATE TABLE doomed (path TEXT PRIMARY KEY) WITHOUT ROWID;

CREATE TABLE prices (
  model TEXT NOT NULL,
  tier TEXT NOT NULL,
  price BLOB NOT NULL,
  PRIMARY KEY (model, tier)
) WITHOUT ROWID;

CREATE TABLE stale (session INTEGER PRIMARY KEY);

CREATE TABLE spend (
  session INTEGER NOT NULL,
  quarter INTEGER,
  model TEXT,
  branch TEXT,
  requests INTEGER NOT NULL,
  input INTEGER,
  cache_read INTEGER,
  cache_write_5m INTEGER,
  cache_write_1h INTEGER,
  output INTEGER,
  reasoning INTEGER,
  unmeasured INTEGER NOT NULL,
  unpriced INTEGER NOT NULL,
  cost INTEGER,
  copies INTEGER NOT NULL,
  removed INTEGER NOT NULL
);

CREATE INDEX spend_by_session ON spend (session);

CREATE TABLE sealed (
  id INTEGER PRIMARY KEY,
  path TEXT NOT NULL UNIQUE,
  rows INTEGER NOT NULL,
  bytes INTEGER NOT NULL,
  first_at INTEGER,
  last_at INTEGER,
  created_at INTEGER NOT NULL
);

CREATE TABLE sealed_sessions (
  session INTEGER NOT NULL,
  file INTEGER NOT NULL,
  rows INTEGER NOT NULL,
  PRIMARY KEY (session, file)
) WITHOUT ROWID
"""


def m002_hooks(db: sqlite3.Connection) -> None:
    """What hooks saw of a session, and which instructions were in force in it."""
    for statement in HOOKS.split(";\n\n"):
        db.execute(statement)


HOOKS = """
ALTER TABLE sessions ADD COLUMN commit_basis TEXT;

ALTER TABLE sessions ADD COLUMN dirty INTEGER;

ALTER TABLE sessions ADD COLUMN seen TEXT;

UPDATE sessions SET commit_basis = 'agent' WHERE "commit" IS NOT NULL;

CREATE TABLE evidence (
  key INTEGER NOT NULL,
  session INTEGER NOT NULL,
  at INTEGER,
  basis TEXT NOT NULL,
  kind TEXT NOT NULL,
  path TEXT NOT NULL,
  hash TEXT NOT NULL,
  bytes INTEGER NOT NULL,
  PRIMARY KEY (key, kind, path)
) WITHOUT ROWID;

CREATE INDEX evidence_by_session ON evidence (session);

CREATE TABLE committed ("commit" TEXT PRIMARY KEY, files TEXT NOT NULL) WITHOUT ROWID;

CREATE INDEX sessions_by_parent ON sessions (agent, parent);

CREATE TABLE unexposed (session INTEGER PRIMARY KEY);

INSERT INTO unexposed SELECT id FROM sessions;

CREATE TABLE ledger (session INTEGER PRIMARY KEY, basis TEXT, note TEXT NOT NULL);

CREATE TABLE exposure (
  session INTEGER NOT NULL,
  kind TEXT NOT NULL,
  path TEXT NOT NULL,
  hash TEXT NOT NULL,
  bytes INTEGER NOT NULL,
  basis TEXT NOT NULL,
  reach TEXT NOT NULL,
  PRIMARY KEY (session, kind, path, hash, basis)
) WITHOUT ROWID
"""


def m003_reviews(db: sqlite3.Connection) -> None:
    """Reviews that a person imported."""
    db.execute(REVIEWS)


REVIEWS = """
CREATE TABLE reviews (
  workspace INTEGER NOT NULL,
  source TEXT NOT NULL,
  id TEXT NOT NULL,
  thread TEXT,
  author TEXT,
  bot INTEGER NOT NULL,
  path TEXT,
  line INTEGER,
  at INTEGER,
  revision TEXT,
  text TEXT NOT NULL,
  hunk TEXT NOT NULL,
  imported_at INTEGER NOT NULL,
  PRIMARY KEY (workspace, source, id)
) WITHOUT ROWID
"""


def m004_facts(db: sqlite3.Connection) -> None:
    """Sessions whose facts are due, and what is remembered of repositories and of git's objects.

    The facts' own tables are made from their row types.
    """
    db.execute("CREATE TABLE unprojected (session INTEGER PRIMARY KEY, change INTEGER NOT NULL)")
    db.execute(
        "CREATE TABLE judged (workspace INTEGER PRIMARY KEY, key TEXT NOT NULL, due INTEGER,"
        " body BLOB NOT NULL)"
    )
    db.execute("CREATE TABLE git_facts (name TEXT PRIMARY KEY, facts BLOB NOT NULL) WITHOUT ROWID")


def m005_journal(db: sqlite3.Connection) -> None:
    """What we wrote into instruction files."""
    for statement in JOURNAL.split(";\n\n"):
        db.execute(statement)


JOURNAL = """
CREATE TABLE journal (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  at INTEGER NOT NULL,
  workspace INTEGER NOT NULL,
  repository TEXT NOT NULL,
  reference TEXT NOT NULL,
  state TEXT NOT NULL,
  "commit" TEXT,
  undone_at INTEGER
);

CREATE TABLE journal_files (
  entry INTEGER NOT NULL,
  place INTEGER NOT NULL,
  path TEXT NOT NULL,
  item TEXT,
  old TEXT,
  new TEXT,
  before TEXT,
  after TEXT,
  position INTEGER NOT NULL,
  removed TEXT NOT NULL,
  inserted TEXT NOT NULL,
  frame BLOB,
  PRIMARY KEY (entry, place)
) WITHOUT ROWID
"""


def m006_bets(db: sqlite3.Connection) -> None:
    """What was shown of bets and decided about them, and the list that was shown last."""
    db.execute(BETS)
    db.execute("CREATE TABLE bet_lists (place INTEGER PRIMARY KEY, body TEXT NOT NULL)")


BETS = """
CREATE TABLE bets (
  workspace INTEGER NOT NULL,
  about TEXT NOT NULL,
  id TEXT NOT NULL,
  state TEXT NOT NULL,
  first_shown INTEGER NOT NULL,
  last_shown INTEGER NOT NULL,
  decided_at INTEGER,
  reason TEXT,
  claim TEXT,
  evidence TEXT NOT NULL,
  PRIMARY KEY (workspace, about)
) WITHOUT ROWID
"""


def m007_measurements(db: sqlite3.Connection) -> None:
    """Changes whose effect is still to be seen."""
    db.execute(MEASUREMENTS)


MEASUREMENTS = """
CREATE TABLE measurements (
  entry INTEGER PRIMARY KEY,
  bet TEXT NOT NULL,
  workspace INTEGER NOT NULL,
  channel TEXT NOT NULL,
  path TEXT NOT NULL,
  hash TEXT,
  "commit" TEXT,
  fact TEXT NOT NULL,
  subject TEXT NOT NULL,
  applied_at INTEGER NOT NULL,
  state TEXT NOT NULL,
  evidence TEXT NOT NULL
)
"""


def m008_experiments(db: sqlite3.Connection) -> None:
    """Whether a change helped."""
    for statement in EXPERIMENTS:
        db.execute(statement)


EXPERIMENTS = (
    """
CREATE TABLE experiments (
  id TEXT PRIMARY KEY,
  workspace INTEGER NOT NULL,
  stage TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  body TEXT NOT NULL
)
""",
    """
CREATE TABLE experiment_sessions (
  experiment TEXT NOT NULL,
  native TEXT NOT NULL,
  role TEXT NOT NULL,
  arm TEXT NOT NULL,
  PRIMARY KEY (experiment, native, role)
) WITHOUT ROWID
""",
)


def m009_one_drive(db: sqlite3.Connection) -> None:
    """Workspaces whose folders differ only in the case of a drive letter become one."""
    rows = db.execute("SELECT id, identity, folder FROM workspaces ORDER BY id").fetchall()
    for number, identity, folder in rows:
        wanted, place = (_with_capital(it) for it in (identity, folder))
        if (wanted, place) == (identity, folder):
            continue
        other = db.execute(
            "SELECT id FROM workspaces WHERE id != ? AND (identity = ? OR folder = ?) ORDER BY id",
            (number, wanted, place),
        ).fetchone()
        if other is None:
            db.execute(
                "UPDATE workspaces SET identity = ?, folder = ? WHERE id = ?",
                (wanted, place, number),
            )
        else:
            _join(db, number, other[0])


_DRIVE = re.compile(r"^(?:folder:|git:)?[a-z]:(?=[\\/]|$)")


def _with_capital(text: str | None) -> str | None:
    """A folder, or an identity made from it, with the letter of its drive in capitals."""
    found = _DRIVE.match(text or "")
    if text is None or found is None:
        return text
    letter = found.end() - 2
    return f"{text[:letter]}{text[letter].upper()}{text[letter + 1 :]}"


def _join(db: sqlite3.Connection, number: int, other: int) -> None:
    """Make a workspace part of another one; of two bets about one thing the decided one stays."""
    both = (other, number)
    db.execute(
        "DELETE FROM bets WHERE workspace = ? AND decided_at IS NULL AND about IN"
        " (SELECT about FROM bets WHERE workspace = ? AND decided_at IS NOT NULL)",
        both,
    )
    for table in (
        "sessions",
        "folders",
        "journal",
        "measurements",
        "reviews",
        "bets",
        "experiments",
    ):
        db.execute(f"UPDATE OR IGNORE {table} SET workspace = ? WHERE workspace = ?", both)
    for table in ("reviews", "bets"):
        db.execute(f"DELETE FROM {table} WHERE workspace = ?", (number,))
    db.execute("DELETE FROM judged WHERE workspace IN (?, ?)", both)
    db.execute("DELETE FROM bet_lists WHERE place = ?", (number,))
    db.execute(
        "UPDATE meta SET value = ? WHERE name = 'only_workspace' AND value = ?",
        (str(other), str(number)),
    )
    db.execute("DELETE FROM workspaces WHERE id = ?", (number,))


def m010_skips(db: sqlite3.Connection) -> None:
    """Offers that a person did not want."""
    db.execute(SKIPS)


SKIPS = """
CREATE TABLE skips (
  workspace INTEGER NOT NULL,
  about TEXT NOT NULL,
  at INTEGER NOT NULL,
  for_ever INTEGER NOT NULL,
  evidence TEXT NOT NULL,
  PRIMARY KEY (workspace, about)
) WITHOUT ROWID
"""


def m011_replayed(db: sqlite3.Connection) -> None:
    """What became of bets that could have been made in the past."""
    db.execute(REPLAYED)


REPLAYED = """
CREATE TABLE replayed (
  workspace INTEGER NOT NULL,
  cut INTEGER NOT NULL,
  stamp TEXT NOT NULL,
  body TEXT NOT NULL,
  PRIMARY KEY (workspace, cut)
) WITHOUT ROWID
"""


MIGRATIONS: list[Migration] = [
    m001_first_light,
    m002_hooks,
    m003_reviews,
    m004_facts,
    m005_journal,
    m006_bets,
    m007_measurements,
    m008_experiments,
    m009_one_drive,
    m010_skips,
    m011_replayed,
]


def migrate(db: sqlite3.Connection, now: int) -> None:
    """Bring a database up to date; refuse one that a later hansei wrote."""
    for number in range(refuse_newer(db), len(MIGRATIONS)):
        _apply(db, number, now)


def refuse_newer(db: sqlite3.Connection) -> int:
    """How many steps a database has been through, if no more than we know."""
    (version,) = db.execute("PRAGMA user_version").fetchone()
    if version > len(MIGRATIONS):
        raise NewerStore(
            f"this store was written by a later hansei (step {version}, we know {len(MIGRATIONS)})",
            hint="Update hansei: pipx upgrade hansei",
        )
    return int(version)


def _apply(db: sqlite3.Connection, number: int, now: int) -> None:
    step = MIGRATIONS[number]
    db.execute("BEGIN IMMEDIATE")
    try:
        (version,) = db.execute("PRAGMA user_version").fetchone()
        if version == number:  # another process may have been faster
            step(db)
            db.execute("INSERT INTO migrations VALUES (?, ?)", (step.__name__, now))
            db.execute(f"PRAGMA user_version = {number + 1}")
        db.execute("COMMIT")
    except BaseException:
        db.execute("ROLLBACK")
        raise
