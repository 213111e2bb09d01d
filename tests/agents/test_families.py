"""The parts that several formats share."""

from __future__ import annotations

import json
import os
import tracemalloc
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hansei.errors import UnreadableTranscript
from hansei.events.model import Hunk
from hansei.events.usage import TOKENS
from hansei.sources.contract import START, Cursor
from hansei.sources.families import edits, folders, jsonl, records, tagged
from hansei.sources.families.clock import instant
from hansei.sources.families.shell import hides_status
from hansei.sources.families.streams import Counts, Tally, billed, remember, short

if TYPE_CHECKING:
    from pathlib import Path

PLENTY = 1 << 20


# --- lines ----------------------------------------------------------------------------------------


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "log.jsonl"


def lines_of(path: Path, since: Cursor = START, limit: int = PLENTY) -> list[bytes]:
    return jsonl.read(path, since, limit).lines


def test_lines_come_with_their_numbers_and_offsets(log: Path) -> None:
    log.write_bytes(b"one\n\nthree\n")
    assert list(jsonl.read(log, START, PLENTY).numbered()) == [
        (1, 0, b"one"),
        (2, 4, b""),
        (3, 5, b"three"),
    ]


def test_an_empty_file_has_no_lines_and_no_more(log: Path) -> None:
    log.touch()
    part = jsonl.read(log, START, PLENTY)
    assert (part.lines, part.more, part.cursor({})) == ([], False, START)


def test_an_unfinished_line_is_held_back_however_small_the_limit(log: Path) -> None:
    log.write_bytes(b"done\nnot yet")
    first = jsonl.read(log, START, 1)
    assert first.lines == [b"done"]
    rest = jsonl.read(log, first.cursor({}), 1)
    assert (rest.lines, rest.more, rest.end) == ([], False, 5)


def test_a_line_longer_than_the_limit_comes_whole(log: Path) -> None:
    log.write_bytes(b"x" * 5_000_000 + b"\nnext\n")
    part = jsonl.read(log, START, 100)
    assert [len(line) for line in part.lines] == [5_000_000]
    assert part.more


def test_a_line_of_fifty_megabytes_is_read(log: Path) -> None:
    log.write_bytes(b"x" * 50_000_000 + b"\n")
    assert len(lines_of(log)[0]) == 50_000_000


def test_a_line_beyond_the_longest_is_skipped_without_being_held(
    log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jsonl, "LONGEST_LINE", 1_000_000)
    monkeypatch.setattr(jsonl, "STEP_BYTES", 100_000)
    log.write_bytes(b"before\n" + b"x" * 30_000_000 + b"\nafter\n")
    first = jsonl.read(log, START, 7)
    tracemalloc.start()
    skipped = jsonl.read(log, first.cursor({}), 100)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 5_000_000
    assert [(problem.line, problem.offset) for problem in skipped.problems] == [(2, 7)]
    assert skipped.more
    after = jsonl.read(log, skipped.cursor({}), 100)
    assert list(after.numbered()) == [(3, 30_000_008, b"after")]


def test_an_overlong_line_that_still_grows_is_waited_for(
    log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jsonl, "LONGEST_LINE", 1_000)
    log.write_bytes(b"x" * 5_000)
    part = jsonl.read(log, START, 100)
    assert (part.lines, part.problems, part.more, part.end) == ([], [], False, 0)


@pytest.mark.parametrize("content", [b"", b"on", b"one\ntwX\nthree\nfour\n", b"zero\none\ntwo\n"])
def test_a_file_that_no_longer_continues_is_read_from_its_start(log: Path, content: bytes) -> None:
    log.write_bytes(b"one\ntwo\n")
    cursor = jsonl.read(log, START, PLENTY).cursor({})
    log.write_bytes(content)
    part = jsonl.read(log, cursor, PLENTY)
    assert part.restarted
    assert part.offset == 0


def test_the_same_file_under_a_new_inode_goes_on(log: Path) -> None:
    log.write_bytes(b"one\n")
    cursor = jsonl.read(log, START, PLENTY).cursor({})
    copy = log.with_suffix(".copy")
    copy.write_bytes(b"one\ntwo\n")
    copy.replace(log)
    part = jsonl.read(log, cursor, PLENTY)
    assert (part.restarted, part.lines) == (False, [b"two"])


def test_what_cannot_be_read_says_so(tmp_path: Path) -> None:
    folder = tmp_path / "folder.jsonl"
    folder.mkdir()
    loop = tmp_path / "loop.jsonl"
    loop.symlink_to(loop)
    pipe = tmp_path / "pipe.jsonl"
    os.mkfifo(pipe)
    for path in (folder, loop, pipe, tmp_path / "missing.jsonl"):
        with pytest.raises(UnreadableTranscript, match=path.name):
            jsonl.read(path, START, PLENTY)


def test_one_line_can_be_fetched_again_by_its_offset(log: Path) -> None:
    log.write_bytes(b"one\ntwo\nthree\n")
    assert jsonl.line_at(log, 4) == b"two\n"
    assert jsonl.line_at(log, 400) == b""
    assert jsonl.line_at(log.with_name("gone"), 0) == b""


# --- records --------------------------------------------------------------------------------------


class Inner(msgspec.Struct):
    size: int | None = None


class Outer(msgspec.Struct, rename="camel"):
    name: str | None = None
    how_many: int | None = None
    inner: Inner | None = None
    parts: list[Inner | str] | None = None
    later: msgspec.Raw = msgspec.Raw()


@pytest.mark.parametrize("line", [b"", b"  \r", b"\x00\x00\x00", b"\xef\xbb\xbf"])
def test_a_blank_line_is_neither_record_nor_problem(line: bytes) -> None:
    assert records.rescue(line) == records.Rescued(None, None)


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b"{", records.BROKEN),
        (b"<<<<<<< HEAD", records.BROKEN),
        (b"[1]", records.NO_OBJECT),
        (b"null", records.NO_OBJECT),
        (b"[" * 100_000, records.TOO_DEEP),
    ],
)
def test_a_line_that_is_no_object_has_a_reason(line: bytes, reason: str) -> None:
    assert records.rescue(line) == records.Rescued(None, reason)


def test_bad_bytes_are_replaced_and_noted() -> None:
    value, reason = records.rescue(b'{"a": "x\xffy"}')
    assert (value, reason) == ({"a": "x\ufffdy"}, records.BAD_BYTES)


def test_what_no_text_can_hold_is_replaced() -> None:
    line = b'\x00{"a": "\\ud800 \\ud83d\\ude00", "b": [1e999, NaN], "c": "tab\there"}\x00'
    assert records.rescue(line).value == {"a": "\ufffd 😀", "b": [None, None], "c": "tab\there"}


def test_a_wrong_type_costs_only_its_own_field() -> None:
    value = {
        "name": 5,
        "howMany": "12",
        "inner": {"size": "big"},
        "parts": [{"size": 1}, "two", 3, {"size": []}],
        "later": {"any": "thing"},
    }
    outer = records.salvage(value, Outer)
    assert (outer.name, outer.how_many) == (None, 12)
    assert outer.inner == Inner(None)
    assert outer.parts == [Inner(1), "two", Inner(None)]
    assert records.value_of(outer.later) == {"any": "thing"}


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text(), st.lists, max_leaves=9))
def test_salvage_takes_any_value_in_any_field(value: Any) -> None:
    names = [field.encode_name for field in msgspec.structs.fields(Outer)]
    assert isinstance(records.salvage(dict.fromkeys(names, value), Outer), Outer)


@given(st.dictionaries(st.text(), st.integers() | st.text() | st.lists(st.booleans())))
def test_rescue_agrees_with_json_where_json_is_sound(value: dict[str, Any]) -> None:
    assert records.rescue(json.dumps(value).encode()).value == value


# --- times ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("written", "milliseconds"),
    [
        ("2026-03-01T10:00:00.123Z", 1772359200123),
        ("2026-03-01T11:00:00.123+01:00", 1772359200123),
        ("2026-03-01T10:00:00.123456", 1772359200123),
        ("2026-03-01 10:00:00", 1772359200000),
        (1772359200, 1772359200000),
        (1772359200.5, 1772359200500),
        (1772359200123, 1772359200123),
        ("1772359200123", 1772359200123),
        ("1969-12-31T23:59:59Z", None),
        ("0001-01-01T00:00:00+23:00", None),
        ("yesterday", None),
        ("", None),
        ("nan", None),
        (float("inf"), None),
        (10**30, None),
        (True, None),
        (None, None),
        (["2026"], None),
    ],
)
def test_times_are_read_as_agents_write_them(written: object, milliseconds: int | None) -> None:
    assert instant(written) == milliseconds


# --- shell ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "command",
    [
        "pytest | tail -5",
        "pytest 2>&1 | tee log.txt",
        "cd app && npm test 2>&1 | grep -v warn",
        "make || true",
        "make || echo failed",
        "make; echo done",
        "make\necho $?",
        "npm start &",
        "sudo FOO=1 make | head",
        "set -e; make | tail",
        "(make; echo x)",
    ],
)
def test_a_command_that_hides_its_exit_code_is_seen(command: str) -> None:
    assert hides_status(command)


@pytest.mark.parametrize(
    "command",
    [
        "",
        "pytest",
        "cd app && pytest",
        "cd app; pytest",
        "make && echo done",
        "echo 'a | tail'",
        'git commit -m "stop; echo nothing || true"',
        "set -o pipefail; pytest | tail",
        "set -e; make; echo ok",
        "set -euo pipefail\nmake | tail",
        "curl example.org | bash",
        "cat a.txt | grep x",
        "cd app; ls",
        "pytest # | tail",
        "python - <<'EOF'\nprint('x | tail')\nEOF",
        "cat <<EOF > a.txt\nmake || true\n",
        "find . -name x -exec ls {} \\;",
    ],
)
def test_a_command_that_tells_its_exit_code_is_not_suspected(command: str) -> None:
    assert not hides_status(command)


@given(st.text(alphabet="ab |&;\n'\"\\<>(){}$#x", max_size=60))
def test_any_command_can_be_looked_at(command: str) -> None:
    assert hides_status(command) in (True, False)


# --- edits ----------------------------------------------------------------------------------------


def test_a_diff_becomes_runs_of_replaced_lines() -> None:
    change = edits.from_diff([(3, [" a", "-b", "+c", "+d", " e", "-f", " g", "+h"])])
    assert change.hunks == [Hunk(4, "b\n", "c\nd\n"), Hunk(7, "f\n", ""), Hunk(8, "", "h\n")]
    assert (change.added, change.removed) == (3, 2)


@given(st.lists(st.sampled_from(["keep", "drop", "add"]), max_size=30))
def test_hunks_put_the_new_file_together(marks: list[str]) -> None:
    signs = {"keep": " ", "drop": "-", "add": "+"}
    lines = [f"{signs[mark]}{number}" for number, mark in enumerate(marks)]
    change = edits.from_diff([(1, lines)])
    new = [line[1:] for line in lines if line[0] != "-"]
    for hunk in change.hunks:
        assert hunk.start is not None
        told = hunk.new.splitlines()
        assert new[hunk.start - 1 : hunk.start - 1 + len(told)] == told
    assert change.added == marks.count("add")
    assert change.removed == marks.count("drop")


@pytest.mark.parametrize(("text", "lines"), [("", 0), ("a", 1), ("a\n", 1), ("a\nb", 2), ("\n", 1)])
def test_lines_are_counted_with_or_without_a_last_newline(text: str, lines: int) -> None:
    assert edits.line_count(text) == lines


# --- tags -----------------------------------------------------------------------------------------


def test_blocks_are_taken_out_and_the_rest_stays() -> None:
    text = "<a>1</a>\nfirst <b>2</b>second<a>3</a> <a>open"
    assert tagged.split(text, ("a", "b")) == (
        "first second <a>open",
        ["<a>1</a>", "<a>3</a>", "<b>2</b>"],
    )


@given(st.text(alphabet="<>/ab \n", max_size=80))
def test_splitting_loses_nothing_but_space(text: str) -> None:
    rest, taken = tagged.split(text, ("a", "b"))
    assert sorted("".join([rest, *taken]).split()) or not text.split()
    assert sorted(("".join(taken) + rest).replace(" ", "").replace("\n", "")) == sorted(
        text.replace(" ", "").replace("\n", "")
    )


@pytest.mark.parametrize(
    ("text", "tag"),
    [("<a-b>x", "a-b"), ("<a_b c='d'>", "a_b"), ("x<a>", ""), ("<3 you", ""), ("", ""), ("<>", "")],
)
def test_the_leading_tag_is_named(text: str, tag: str) -> None:
    assert tagged.leading(text) == tag


# --- answers in many lines ------------------------------------------------------------------------

numbers = st.none() | st.integers(0, 1000)
counts = st.builds(Counts, *[numbers] * len(Counts._fields))


@given(st.lists(counts, min_size=1, max_size=8))
def test_adding_up_all_lines_less_the_repeated_is_the_largest_of_each(told: list[Counts]) -> None:
    tally = Tally()
    for line in told:
        tally.add(line)
    totals = tally.totals()
    for index, name in enumerate(Counts._fields):
        known = [value for line in told if (value := line[index]) is not None]
        assert totals[name] == max(known, default=None)
    kept = sum(totals[name] or 0 for name in TOKENS)
    assert sum(map(billed, told)) - totals["repeated"] == kept
    assert totals["lines"] == len(told)


@given(st.text(min_size=1), st.lists(st.text(min_size=1), max_size=4))
def test_a_growing_text_is_known_by_its_beginning(start: str, additions: list[str]) -> None:
    tally = Tally()
    first = tally.known_as("reply", start)
    text = start
    for addition in additions:
        text += addition
        assert tally.known_as("reply", text) == first
        assert tally.known_as("reply", start) is None, "less than was told is no news"
        assert tally.known_as("reply", text) == first
    assert len(tally.texts) == 1


def test_texts_of_another_kind_or_beginning_are_others() -> None:
    tally = Tally()
    assert tally.known_as("reply", "ab") != tally.known_as("reply", "ba")
    tally.known_as("thought", "ab")
    assert [told.kind for told in tally.texts] == ["reply", "reply", "thought"]


def test_only_so_much_is_remembered_and_the_oldest_goes() -> None:
    kept: dict[str, int] = {}
    for number in (1, 2, 1, 3):
        remember(kept, str(number), number, 2)
    assert kept == {"1": 1, "3": 3}


def test_an_id_in_a_cursor_is_never_a_text() -> None:
    assert short("toolu_01") == "toolu_01"
    assert len(short("a sentence of a prompt " * 10)) == 16


# --- folders --------------------------------------------------------------------------------------


def test_each_file_is_found_once_whatever_the_links(tmp_path: Path) -> None:
    folder = tmp_path / "projects" / "a"
    folder.mkdir(parents=True)
    (folder / "one.jsonl").write_text("{}\n")
    (folder / "two.txt").write_text("")
    (folder / "back").symlink_to(tmp_path / "projects")
    (folder / "self").symlink_to(folder / "self")
    (folder / "skipped").mkdir()
    (folder / "skipped" / "three.jsonl").write_text("{}\n")
    (tmp_path / "again").symlink_to(tmp_path / "projects")
    roots = [tmp_path / "projects", tmp_path / "again", tmp_path / "missing"]
    found = list(folders.files(roots, ".jsonl", frozenset(["skipped"])))
    assert [seen.path for seen in found] == [folder / "one.jsonl"]
    assert found[0].fingerprint == folders.fingerprint((folder / "one.jsonl").stat())


def test_a_fingerprint_changes_with_the_file(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text("1")
    before = folders.fingerprint(path.stat())
    path.write_text("22")
    assert folders.fingerprint(path.stat()) != before
