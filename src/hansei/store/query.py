"""The log as one table, for questions that look at all of it.

DuckDB reads the sealed files where they lie and is handed the hot rows; a row that a later one
replaced is never seen. This is the only file with analytical SQL. DuckDB may open the sealed files
and nothing else, and never loads an extension.
"""

from __future__ import annotations

import glob
import re
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from hansei.errors import StoreDamaged, StoreError, UsageError
from hansei.store.rows import COLUMNS, json_list

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import pyarrow as pa
    from duckdb import DuckDBPyConnection

    from hansei.store.cold import StoredRow
    from hansei.store.database import Store

HOT_BYTES = 8 * 1024 * 1024
"""Text of hot rows handed over at once: bounds memory, and each time costs some milliseconds."""

FEW_ROWS = 500
"""Up to so many hot rows are handed over as lists: loading Arrow would take longer."""

MOST_CHARACTERS = 1000
"""RE2 keeps its pace up to several times this; a hundred times this would take minutes."""

MARKS = "\ufdd0", "\ufdd1"
"""Stand around each match in a marked text; Unicode keeps them for use inside a program."""

ALL = 2**63 - 1


@dataclass(frozen=True)
class Pattern:
    """What to look for: text as it stands, or a regular expression in RE2's dialect."""

    text: str
    regex: bool = False
    case_sensitive: bool = False

    @property
    def options(self) -> str:
        return ("" if self.regex else "l") + ("c" if self.case_sensitive else "i")

    @property
    def expression(self) -> str:
        """As DuckDB is given it: `^` and `$` are the ends of every line."""
        return f"(?m){self.text}" if self.regex else self.text


@dataclass(frozen=True)
class Choice:
    """Which events are looked at. Tool and status are those of the call an event belongs to."""

    sessions: Sequence[int]
    kinds: Sequence[str]
    tool: str | None = None
    status: str | None = None
    since: int | None = None
    until: int | None = None


class Place(NamedTuple):
    """Where an event is; `file` is the sealed file it is read from, None for a hot row."""

    session: int
    seq: int
    file: str | None


class Damaged(NamedTuple):
    """A sealed file that cannot be read, and why."""

    path: str
    reason: str


class Matches(NamedTuple):
    """How many events match, in how many sessions, and which files could not be looked at."""

    events: int
    sessions: int
    damaged: list[Damaged]


@contextmanager
def opened(store: Store) -> Iterator[Log]:
    """The log as it is now: what is sealed meanwhile is neither missed nor met twice."""
    import duckdb

    duck = duckdb.connect(":memory:", config=_ALONE)
    sealed = store.cold.as_posix()
    store.db.execute("BEGIN")
    try:
        duck.execute("SET allowed_directories = ?", [[sealed, *_globs([sealed])]])
        duck.execute("SET enable_external_access = false")
        yield Log(store, duck)
    except duckdb.Error as problem:
        raise StoreError(f"the log cannot be searched: {_reason(problem)}") from problem
    finally:
        store.db.execute("COMMIT")
        duck.close()


_ALONE: dict[str, str | bool | int | float | list[str]] = {
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
    "enable_external_file_cache": False,  # we read everything once: keeping it costs memory only
    "temp_directory": "",  # else it would write into the folder we were started in
}


@dataclass
class Log:
    """An open log. It remembers what the last `find` found."""

    store: Store
    duck: DuckDBPyConnection
    files: list[str] = field(default_factory=list)

    def check(self, pattern: Pattern) -> None:
        """Refuse a pattern that cannot be understood, or that matches where nothing stands."""
        import duckdb

        if len(pattern.text) > MOST_CHARACTERS:
            raise UsageError(
                f"what to look for is {len(pattern.text):,} characters long",
                hint=f"At most {MOST_CHARACTERS:,} are looked for: a telling part is enough.",
            )
        question = "SELECT regexp_matches('', ?, ?)"
        try:
            (empty,) = self._row(question, [pattern.text, pattern.options])
        except duckdb.InvalidInputException as problem:
            raise _not_understood(pattern, _reason(problem)) from problem
        if empty:
            raise UsageError(
                f"{pattern.text!r} also matches where nothing stands: it would find everything",
                hint="Ask for at least one character, `a+` instead of `a*`.",
            )

    def find(self, pattern: Pattern, choice: Choice) -> Matches:
        """Look for a pattern in both tiers. A damaged file is left out and named."""
        import duckdb

        damaged = []
        self.files = self._listed(choice.sessions)
        try:
            self._fill(pattern, choice)
        except duckdb.Error:
            self.store.db.execute("COMMIT")  # another process may have folded listed files together
            self.store.db.execute("BEGIN")
            listed = self._listed(choice.sessions)
            damaged = [found for file in listed if (found := self._damage(file))]
            broken = {found.path for found in damaged}
            self.files = [file for file in listed if file not in broken]
            self._fill(pattern, choice)
        events, sessions = self._row("SELECT count(*), count(DISTINCT session) FROM matches")
        return Matches(events, sessions, damaged)

    def places(self, limit: int | None, at_once: int) -> Iterator[list[Place]]:
        """The newest matches found, those of a session together, newest session first."""
        newest = self.duck.cursor().execute(_NEWEST_MATCHES, [ALL if limit is None else limit])
        while rows := newest.fetchmany(at_once):
            yield [
                Place(session, seq, None if rank is None else self.files[rank - 1])
                for session, seq, rank in rows
            ]

    def rows(self, places: Sequence[Place]) -> list[StoredRow]:
        """The rows at these places, in the same order."""
        import duckdb

        hot = [place for place in places if place.file is None]
        sealed = [place for place in places if place.file is not None]
        found = {place[:2]: _hot_row(self.store, place) for place in hot}
        try:
            found |= {row[:2]: row for row in self._sealed_rows(sealed)}
        except duckdb.Error as problem:
            raise StoreDamaged(
                f"a sealed file cannot be read: {_reason(problem)}",
                hint="`hansei doctor --rebuild` reads again what the transcripts still hold.",
            ) from problem
        return [found[place[:2]] for place in places]

    def marked(self, pattern: Pattern, texts: Sequence[str]) -> list[str]:
        """Texts with `MARKS` around every match."""
        before, after = MARKS
        unmarked = str.maketrans(dict.fromkeys(MARKS, "\ufffd"))
        values = {
            "pattern": pattern.expression,
            "mark": f"{before}\\0{after}",
            "options": f"g{pattern.options}",
            "texts": [text.translate(unmarked) for text in texts],
        }
        return [text for (text,) in self.duck.execute(_MARKED, values).fetchall()]

    def _listed(self, sessions: Sequence[int]) -> list[str]:
        """Sealed files that hold any of these sessions, oldest first."""
        paths = self.store.db.execute(
            "SELECT path FROM sealed WHERE id IN (SELECT file FROM sealed_sessions"
            " WHERE session IN (SELECT value FROM json_each(?))) ORDER BY id",
            (json_list(sessions),),
        )
        return [(self.store.folder / path).as_posix() for (path,) in paths]

    def _damage(self, file: str) -> Damaged | None:
        """What is wrong with a file, found by reading all of it."""
        import duckdb

        try:
            self._row("SELECT max(hash(e)) FROM read_parquet(?) e", [glob.escape(file)])
        except duckdb.Error as problem:
            return Damaged(file, _reason(problem))
        return None

    def _fill(self, pattern: Pattern, choice: Choice) -> None:
        """Note the place of every match in both tiers."""
        self.duck.execute(_TABLES)
        self.duck.execute("INSERT INTO chosen SELECT unnest(?::BIGINT[])", [list(choice.sessions)])
        if choice.tool or choice.status:
            self._note_calls(choice.sessions)
        condition, values = _matching(pattern, choice)
        found = f'INSERT INTO matches SELECT session, seq, "at", rank FROM {{}} WHERE {condition}'
        with self._aside(found.format(_SEALED), {**values, **self._sealed()}):
            may_match = _quick_test(pattern)
            for rows in self._hot(_SCANNED, choice.kinds, choice.sessions, *may_match):
                self._ask_hot(found, _SCANNED, rows, values)
        self._drop_replaced("matches")

    @contextmanager
    def _aside(self, question: str, values: dict[str, Any]) -> Iterator[None]:
        """Ask the sealed files while Python, of which DuckDB needs nothing, does something else."""
        if not self.files:
            yield
            return
        from concurrent.futures import ThreadPoolExecutor

        duck = self.duck.cursor()
        with ThreadPoolExecutor(1) as thread:
            asked = thread.submit(duck.execute, question, values)
            try:
                yield
                asked.result()
            except BaseException:
                duck.interrupt()
                raise

    def _sealed(self) -> dict[str, list[str]]:
        """The parameters of `_SEALED`: rank is the place in `files`, counted from one."""
        return {"files": self.files, "globs": _globs(self.files)}

    def _ask_hot(
        self, question: str, names: Sequence[str], rows: list[StoredRow], values: dict[str, Any]
    ) -> None:
        if len(rows) <= FEW_ROWS:
            columns = zip(names, zip(*rows, strict=True), strict=True)
            lists = {f"hot_{name}": [_text(it) for it in column] for name, column in columns}
            self.duck.execute(question.format(_few(names)), {**values, **lists})
            return
        self.duck.register("hot", _as_arrow(names, rows))
        self.duck.execute(question.format(_HOT), values)
        self.duck.unregister("hot")

    def _drop_replaced(self, table: str) -> None:
        """Of a row that stands in several files the newest counts; a hot one beats them all."""
        sealed = self.duck.execute(f"SELECT DISTINCT session FROM {table} WHERE rank IS NOT NULL")
        sessions = [session for (session,) in sealed.fetchall()]
        files = self._listed(self._in_several_files(sessions))
        if files:
            values = {"files": self.files, "globs": _globs(set(files).intersection(self.files))}
            self.duck.execute(f"INSERT INTO replaced {_IN_NEWER_FILES}", values)
        hot = self.store.db.execute(
            "SELECT session, seq FROM events WHERE session IN (SELECT value FROM json_each(?))",
            (json_list(sessions),),
        ).fetchall()
        places = [[session for session, _ in hot], [seq for _, seq in hot], ALL]
        self.duck.execute("INSERT INTO replaced SELECT unnest(?), unnest(?), ?", places)
        self.duck.execute(_DROP_REPLACED.format(table))

    def _in_several_files(self, sessions: Sequence[int]) -> list[int]:
        found = self.store.db.execute(
            "SELECT session FROM sealed_sessions WHERE session IN (SELECT value FROM json_each(?))"
            " GROUP BY session HAVING count(*) > 1",
            (json_list(sessions),),
        )
        return [session for (session,) in found]

    def _note_calls(self, sessions: Sequence[int]) -> None:
        """Tool and status stand in two events of a call; bring them together."""
        noted = (
            "INSERT INTO calls SELECT session, seq, rank, call, tool, status FROM {}"
            f" WHERE {_one_of(_HALVES)}"
        )
        if self.files:
            self.duck.execute(noted.format(_SEALED), self._sealed())
            self._drop_replaced("calls")
        columns = ("session", "seq", "kind", "call", "tool", "status")
        for rows in self._hot(columns, _HALVES, sessions):
            self._ask_hot(noted, columns, rows, {})

    def _hot(
        self,
        columns: Sequence[str],
        kinds: Sequence[str],
        sessions: Sequence[int],
        condition: str = "true",
        values: Sequence[str] = (),
    ) -> Iterator[list[StoredRow]]:
        """Hot rows of these kinds and sessions, so many bytes at a time."""
        # Arrow wants bytes: a text that never becomes a Python string saves a quarter of the time.
        raw = [f"CAST({name} AS BLOB)" if name in _LONG else name for name in columns]
        rows = self.store.db.execute(
            f"SELECT {', '.join(raw)} FROM events WHERE {_one_of(kinds)}"
            f" AND session IN (SELECT value FROM json_each(?)) AND ({condition})",
            (json_list(sessions), *values),
        )
        yield from _parts(rows)

    def _sealed_rows(self, places: Sequence[Place]) -> list[StoredRow]:
        if not places:
            return []
        sessions, seqs, files = (list(column) for column in zip(*places, strict=True))
        values = {
            "sessions": sessions,
            "seqs": seqs,
            "files": files,
            "globs": _globs(set(files)),
        }
        return self.duck.execute(_ROWS_AT, values).fetchall()

    def _row(self, question: str, values: Sequence[Any] = ()) -> tuple[Any, ...]:
        row = self.duck.execute(question, values).fetchone()
        assert row is not None
        return row


_TABLES = """
CREATE OR REPLACE TABLE chosen (session BIGINT);
CREATE OR REPLACE TABLE replaced (session BIGINT, seq BIGINT, rank BIGINT);
CREATE OR REPLACE TABLE matches (session BIGINT, seq BIGINT, "at" BIGINT, rank BIGINT);
CREATE OR REPLACE TABLE calls (
  session BIGINT, seq BIGINT, rank BIGINT, call TEXT, tool TEXT, status TEXT
);
"""

_SEALED = "(SELECT *, list_position($files, filename) AS rank FROM read_parquet($globs))"
_HOT = "(SELECT *, NULL AS rank FROM hot)"
_SCANNED = ("session", "seq", "at", "kind", "name", "call", "text", "detail")
_NUMBERS = {"session", "seq", "at"}
_LONG = {"text", "detail"}
_HALVES = ("tool_call", "tool_result")

_IN_NEWER_FILES = f"""
SELECT session, seq, max(rank) FROM {_SEALED} GROUP BY session, seq HAVING count(*) > 1
"""

_DROP_REPLACED = """
DELETE FROM {0} USING replaced r
WHERE {0}.session = r.session AND {0}.seq = r.seq AND {0}.rank < r.rank
"""

_NEWEST_MATCHES = """
SELECT session, seq, rank FROM (
  SELECT * FROM matches ORDER BY "at" DESC NULLS LAST, session DESC, seq DESC LIMIT ?
)
ORDER BY max("at") OVER (PARTITION BY session) DESC NULLS LAST, session, seq
"""

_ROWS_AT = f"""
SELECT {", ".join(f'e."{name}"' for name in COLUMNS)} FROM read_parquet($globs) e
JOIN (SELECT unnest($sessions::BIGINT[]) AS session, unnest($seqs::BIGINT[]) AS seq,
  unnest($files::TEXT[]) AS file) p
ON e.session = p.session AND e.seq = p.seq AND e.filename = p.file
"""

_MARKED = """
SELECT regexp_replace(text, $pattern, $mark, $options)
FROM (SELECT unnest($texts::TEXT[]) AS text)
"""


def _few(names: Sequence[str]) -> str:
    """A few hot rows as a table, from one list per column."""
    lists = [
        f'unnest($hot_{name}::{"BIGINT" if name in _NUMBERS else "TEXT"}[]) AS "{name}"'
        for name in names
    ]
    return f"(SELECT *, NULL AS rank FROM (SELECT {', '.join(lists)}))"


def _text(value: Any) -> Any:
    return value.decode() if isinstance(value, bytes) else value


def _one_of(kinds: Sequence[str]) -> str:
    names = ", ".join(f"'{kind}'" for kind in kinds)
    return f"kind IN ({names})"


def _found_in(value: str) -> str:
    return f"regexp_matches({value}, $pattern, $options)"


def _found_among(path: str) -> str:
    """Whether one of the strings below a path in `detail` matches."""
    text = _found_in("v ->> '$'")
    matching = f"lambda v: json_type(v) = 'VARCHAR' AND {text}"
    return f"len(list_filter(json_extract(detail, '{path}'), {matching})) > 0"


_ANY_STRING = (
    f"len(list_filter(json_extract_string(detail, '$.**'), lambda v: {_found_in('v')})) > 0"
)

_IN_DETAIL = {
    "tool_call": _found_among("$.arguments.**"),
    "notice": _found_among("$.data.**"),
    "file_edit": " OR ".join(
        (
            _found_in("detail ->> '$.path'"),
            _found_in("detail ->> '$.moved_to'"),
            _found_among("$.hunks[*][*]"),
        )
    ),
}


def _matching(pattern: Pattern, choice: Choice) -> tuple[str, dict[str, Any]]:
    """The condition on an event, and its parameters."""
    values: dict[str, Any] = {"pattern": pattern.expression, "options": pattern.options}
    conditions = [
        _one_of(choice.kinds),
        "session IN (SELECT session FROM chosen)",
        _telling(pattern, choice.kinds, values),
    ]
    for name, value, comparison in (("since", choice.since, ">="), ("until", choice.until, "<")):
        if value is not None:
            conditions.append(f'("at" IS NULL OR "at" {comparison} ${name})')
            values[name] = value
    if choice.tool or choice.status:
        conditions.append(_OF_CHOSEN_CALL)
        values |= {"tool": choice.tool, "status": choice.status}
    return " AND ".join(conditions), values


def _telling(pattern: Pattern, kinds: Sequence[str], values: dict[str, Any]) -> str:
    """The condition that a text of the event matches; its own parameters go into `values`.

    Of `detail` only the strings count, as they were before they were escaped. Taking JSON apart is
    slow, so what cannot match is put aside first. For plain text that is what does not hold it
    escaped, for escaping goes letter by letter. A regular expression has no escaped form: there all
    strings are tried first, whatever they say, and asked what they are only where one matches.
    """
    texts = [_found_in("text")]
    if "slash_command" in kinds:
        texts.append(f"kind = 'slash_command' AND {_found_in('name')}")
    detailed = [kind for kind in _IN_DETAIL if kind in kinds]
    if detailed:  # else the column is not even read
        possible = _ANY_STRING
        if not pattern.regex:
            possible = "regexp_matches(detail, $escaped, $options)"
            values["escaped"] = _escaped(pattern.text)
        strings = " OR ".join(f"kind = '{kind}' AND ({_IN_DETAIL[kind]})" for kind in detailed)
        texts.append(f"{_one_of(detailed)} AND {possible} AND ({strings})")
    return f"({' OR '.join(texts)})"


def _escaped(text: str) -> str:
    """A text as it stands inside a JSON string."""
    return msgspec.json.encode(text).decode()[1:-1]


_OF_CHOSEN_CALL = (
    "(session, call) IN (SELECT session, call FROM calls GROUP BY session, call"
    " HAVING ($tool::TEXT IS NULL OR max(tool) = $tool) AND ($status::TEXT IS NULL"
    " OR coalesce(max_by(status, seq), 'unknown') = $status))"
)


def _parts(rows: Iterable[StoredRow]) -> Iterator[list[StoredRow]]:
    part: list[StoredRow] = []
    size = 0
    for row in rows:
        part.append(row)
        size += len(row[-1] or "") + len(row[-2] or "")
        if size >= HOT_BYTES:
            yield part
            part, size = [], 0
    if part:
        yield part


def _as_arrow(columns: Sequence[str], rows: list[StoredRow]) -> pa.RecordBatchReader:
    import pyarrow as pa

    types = {name: pa.int64() if name in _NUMBERS else pa.string() for name in columns}
    schema = pa.schema(types)
    values = zip(*rows, strict=True)
    arrays = [pa.array(v, type=f.type) for v, f in zip(values, schema, strict=True)]
    batch = pa.record_batch(arrays, schema=schema)
    return pa.RecordBatchReader.from_batches(schema, [batch])


def _quick_test(pattern: Pattern) -> tuple[str, list[str]]:
    """A condition for SQLite that is true wherever the pattern matches, and its values.

    Most hot rows fail it and need not be handed over. There is none for a regular expression, nor
    for letters that have capitals outside ASCII.
    """
    if pattern.regex or not (pattern.case_sensitive or pattern.text.isascii()):
        return "true", []
    plain, escaped = pattern.text, _escaped(pattern.text)
    holds = "instr({}, ?) > 0" if pattern.case_sensitive else "{} LIKE ? ESCAPE '\\'"
    values = [plain, escaped] if pattern.case_sensitive else [_like(plain), _like(escaped)]
    tests = [holds.format("text"), holds.format("detail"), _SLASH.format(holds.format("name"))]
    values.append(values[0])
    if not pattern.case_sensitive:
        folded = [_like(sign) for letter, sign in _FOLDING.items() if letter in plain.lower()]
        tests += [holds.format(column) for column in ("text", "detail", "name") for _ in folded]
        values += folded * 3
    return " OR ".join(tests), values


_SLASH = "kind = 'slash_command' AND {}"
_FOLDING = {"k": "\u212a", "s": "\u017f"}
"""The kelvin sign is a capital k, the long s a small s; no other letter is one of ASCII's."""


def _like(text: str) -> str:
    """What holds the text, as a pattern of SQLite."""
    for special in "\\%_":
        text = text.replace(special, f"\\{special}")
    return f"%{text}%"


def _hot_row(store: Store, place: Place) -> StoredRow:
    row: StoredRow = store.db.execute(
        f"SELECT {', '.join(COLUMNS)} FROM events WHERE session = ? AND seq = ?", place[:2]
    ).fetchone()
    return row


def _globs(files: Iterable[str]) -> list[str]:
    """Paths as patterns that match nothing but them: DuckDB takes any path for a pattern."""
    return [glob.escape(file) for file in sorted(files)]


def _not_understood(pattern: Pattern, reason: str) -> UsageError:
    where = _stumbled(pattern.text, reason.partition(": ")[2])
    place = "" if where is None else f" at character {where + 1}"
    return UsageError(
        f"the regular expression cannot be understood{place}: {reason}",
        hint="The dialect is RE2's: no look-around, no backreferences. Without --regex the text is "
        "taken as it stands.",
    )


def _stumbled(expression: str, part: str) -> int | None:
    """Where RE2 stumbled. It tells the part; where that is the whole, Python may know better."""
    if part and part != expression and part in expression:
        return expression.index(part)
    try:
        re.compile(expression)
    except re.error as problem:
        return problem.pos
    return None


def _reason(problem: Exception) -> str:
    """DuckDB's message without its kind, and without the SQL it may repeat."""
    line = str(problem).splitlines()[0]
    return line.partition("Error: ")[2] or line
