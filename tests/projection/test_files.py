"""Which files calls touch, which lines of them, and what is read again for nothing."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hansei.events.model import Basis, FileEdit, Hunk, Notice, Status, Tool, ToolResult
from hansei.projection.calls import calls
from hansei.projection.files import Again, By, Extent, Touch, Verb, fan_out, left_at, touches
from hansei.projection.places import ground, place, repository_roots
from hansei.projection.provenance.ledger import Carried, Left
from hansei.projection.provenance.pieces import Kind
from told import call, compaction, numbered, prompt, reply, result

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from hansei.events.model import AnyEvent

REPO = "/w/shop"
TEXT = [f"line {number}" for number in range(1, 41)]
Told = list["AnyEvent"]


class Session:
    """A session that is told call by call."""

    def __init__(self) -> None:
        self.events: Told = []

    def add(self, *events: AnyEvent) -> Session:
        self.events += events
        return self

    def _name(self) -> str:
        return f"call {len(self.events)}"

    def read(self, path: str, lines: range | None = None, **more: Any) -> Session:
        """A tool that numbers the lines it shows."""
        name, chosen = self._name(), lines or range(1, len(TEXT) + 1)
        given: dict[str, Any] = {"file_path": path}
        if lines:
            given |= {"offset": lines.start, "limit": len(lines)}
        shown = "\n".join(f"{number:6}→{TEXT[number - 1]}" for number in chosen)
        asked = call(name, Tool.READ, arguments=given, text=path, cwd=REPO)
        return self.add(asked, result(name, more.pop("shows", shown), **more))

    def edit(self, path: str, *, fails: bool = False, **more: Any) -> Session:
        name = self._name()
        asked = call(name, Tool.EDIT, arguments={"file_path": path}, text=path, cwd=REPO)
        status = Status.FAILED if fails else Status.OK
        made = FileEdit(
            key=1, session="s", call=name, path=path, operation="update", applied=not fails, **more
        )
        return self.add(asked, made, result(name, status=status))

    def shell(self, command: str, shows: str = "", **more: Any) -> Session:
        name, cwd = self._name(), more.pop("cwd", REPO)
        given = more.pop("arguments", {})
        asked = call(name, text=command, cwd=cwd, arguments=given)
        return self.add(asked, result(name, shows, **more))

    def say(self, text: str = "go on") -> Session:
        return self.add(prompt(text))

    def rows(self, roots: Iterable[str] = (REPO,), **more: Any) -> list[Touch]:
        events = numbered(self.events)
        return touches(events, calls(events), roots, **more)


def shown(lines: Sequence[str]) -> str:
    return "\n".join(lines) + "\n"


def said(rows: Iterable[Touch]) -> list[tuple[str, str, str, int | None, int | None]]:
    return [(it.verb.value, it.path, it.extent.value, it.first, it.last) for it in rows]


def repeats(rows: Iterable[Touch]) -> list[int]:
    return [row.seq for row in rows if row.redundant is not None]


# --- what is touched ---


def test_a_read_says_which_lines_its_result_shows() -> None:
    told = Session().read("/w/shop/a.py").read("/w/shop/b.py", range(5, 9))
    rows = told.rows()
    assert said(rows) == [("read", "a.py", "whole", 1, 40), ("read", "b.py", "lines", 5, 8)]
    assert all(row.by is By.TOOL and row.inside for row in rows)


def test_a_read_that_asks_for_more_lines_than_there_are_is_whole() -> None:
    text = "\n".join(f"{number}\tx" for number in range(1, 4))
    name = "r"
    asked = call(name, Tool.READ, arguments={"file_path": "a.py", "limit": 50}, cwd=REPO)
    (row,) = Session().add(asked, result(name, text)).rows()
    assert (row.extent, row.first, row.last) == (Extent.WHOLE, 1, 3)


def test_lines_that_are_numbered_from_zero_are_counted_from_one() -> None:
    text = "\n".join(f"{number:6}→x" for number in range(30))
    given = {"file_path": "a.py", "offset": 0, "limit": 30}
    asked = call("r", Tool.READ, arguments=given, cwd=REPO)
    (row,) = Session().add(asked, result("r", text)).rows()
    assert (row.extent, row.first, row.last) == (Extent.LINES, 1, 30)


@pytest.mark.parametrize(
    ("answer", "verb"),
    [
        ("File created successfully at: /w/shop/a.py", Verb.CREATE),
        ("The file /w/shop/a.py has been updated successfully.", Verb.WRITE),
        ("The file /w/shop/a.py has been overwritten.", Verb.WRITE),
    ],
)
def test_without_a_record_the_answer_says_whether_a_file_is_new(answer: str, verb: Verb) -> None:
    asked = call("w", Tool.WRITE, arguments={"file_path": "a.py"}, cwd=REPO)
    assert [row.verb for row in Session().add(asked, result("w", answer)).rows()] == [verb]


@pytest.mark.parametrize(
    ("command", "output", "expected"),
    [
        # More than all there is: the file has ended.
        ("ls; sed -n 1,200p a.py", 12, ["whole"]),
        ("ls; sed -n 50,200p a.py", 12, ["lines 50.."]),
        ("ls; tail -40 a.py", 12, ["whole"]),
        # Enough for one of them, not for both: nobody knows which one has ended.
        ("sed -n 1,20p a.py; sed -n 1,20p b.py", 30, ["part", "part"]),
        # The long one explains what is missing.
        ("sed -n 1,20p a.py; sed -n 1,90p b.py", 30, ["lines 1..20", "whole"]),
        ("sed -n 1,20p a.py; sed -n 1,20p b.py", 40, ["lines 1..20", "lines 1..20"]),
        ("sed -n '1,20p;30,40p' a.py", 15, ["whole", "part"]),
    ],
)
def test_lines_that_did_not_come_are_not_told(
    command: str, output: int, expected: list[str]
) -> None:
    rows = Session().shell(command, shown(["x"] * output)).rows()
    assert [_lines(row) for row in rows] == expected


def _lines(row: Touch) -> str:
    ends = f"{row.first or ''}..{row.last or ''}" if row.extent is Extent.LINES else ""
    return f"{row.extent.value} {ends}".strip()


def test_lines_that_the_call_prints_itself_part_its_output() -> None:
    command = "head -50 a.py; echo '---'; head -5 b.py; echo '---'; sed -n 7,30p c.py"
    output = [*["a"] * 20, "---", *["b"] * 5, "---", *["c"] * 9]
    assert said(Session().shell(command, shown(output)).rows()) == [
        ("read", "a.py", "whole", 1, 20),
        ("read", "b.py", "lines", 1, 5),
        ("read", "c.py", "lines", 7, 15),
    ]


def test_a_line_of_a_file_that_looks_like_a_mark_parts_nothing() -> None:
    command = "sed -n 1,20p a.md; echo '---'; sed -n 1,20p b.md"
    output = ["---", "name: x", "---", *["a"] * 17, "---", *["b"] * 20]
    assert [_lines(row) for row in Session().shell(command, shown(output)).rows()] == [
        "lines 1..20",
        "lines 1..20",
    ]


@pytest.mark.parametrize(
    ("command", "extent"),
    [("base64 a.png", Extent.PART), ("base64 a.png > b.txt", Extent.NOTHING)],
)
def test_a_file_that_is_printed_encoded_comes_into_the_context(
    command: str, extent: Extent
) -> None:
    (row, *_) = Session().shell(command, "aGVsbG8gd29ybGQK").rows()
    assert (row.path, row.extent) == ("a.png", extent)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({"path": "a.py", "offset": 10, "limit": 5}, (Extent.LINES, 10, 14)),
        ({"filePath": "a.py"}, (Extent.WHOLE, None, None)),
        (
            {
                "target_file": "a.py",
                "start_line_one_indexed": 3,
                "end_line_one_indexed_inclusive": 9,
                "should_read_entire_file": False,
            },
            (Extent.LINES, 3, 9),
        ),
        ({"target_file": "a.py", "should_read_entire_file": True}, (Extent.WHOLE, None, None)),
    ],
)
def test_without_numbers_in_the_result_what_was_asked_for_counts(
    arguments: dict[str, Any], expected: tuple[Extent, int | None, int | None]
) -> None:
    asked = call("r", Tool.READ, arguments=arguments, cwd=REPO)
    (row,) = Session().add(asked, result("r", "")).rows()
    assert row.path == "a.py"
    assert (row.extent, row.first, row.last) == expected


def test_edits_are_told_by_their_record_with_the_lines_of_the_new_file() -> None:
    hunks = [Hunk(5, "a\n", "b\nc\n"), Hunk(20, "d\n", "")]
    rows = Session().edit("/w/shop/a.py", hunks=hunks).edit("/w/shop/b.py").rows()
    assert said(rows) == [("edit", "a.py", "lines", 5, 20), ("edit", "b.py", "unknown", None, None)]


def test_a_moved_file_is_touched_under_both_names() -> None:
    asked = call("p", Tool.EDIT, text="x", cwd=REPO)
    move = FileEdit(
        key=1, session="s", call="p", path="/w/shop/a.py", operation="rename", moved_to="b/a.py"
    )
    rows = Session().add(asked, move, result("p")).shell("git mv c.py d.py").rows()
    assert [(row.verb, row.path) for row in rows] == [
        (Verb.RENAME, path) for path in ("a.py", "b/a.py", "c.py", "d.py")
    ]


def test_shell_reads_and_writes_are_found_where_they_ran() -> None:
    told = (
        Session()
        .shell("cd src && sed -n 5,9p a.py", "x\n" * 5)
        .shell("cat b.py | wc -l", "7")
        .shell("echo x > ../notes.txt", arguments={"workdir": "web"})
        .shell("rm -rf build", cwd="/w/shop/web")
    )
    assert said(told.rows()) == [
        ("read", "src/a.py", "lines", 5, 9),
        ("read", "b.py", "nothing", None, None),
        ("write", "notes.txt", "whole", None, None),
        ("delete", "web/build/", "whole", None, None),
    ]


def test_a_patch_in_the_shell_is_told_once() -> None:
    patch = (
        "apply_patch <<'P'\n*** Begin Patch\n*** Update File: a.py\n@@\n-x\n+y\n*** End Patch\nP"
    )
    asked = call("p", text=patch, cwd=REPO)
    made = FileEdit(
        key=1, session="s", call="p", path=f"{REPO}/a.py", operation="update", applied=True
    )
    (row,) = Session().add(asked, made, result("p")).rows()
    assert (row.verb, row.by, row.path) == (Verb.EDIT, By.SHELL, "a.py")


def test_searches_say_where_and_listings_name_a_folder() -> None:
    grep = call("g", Tool.SEARCH, arguments={"pattern": "x", "path": "/w/shop/src"}, cwd=REPO)
    glob = call("b", Tool.SEARCH, arguments={"pattern": "web/**/*.ts"}, cwd=REPO)
    glob = msgspec.structs.replace(glob, name="Glob")
    told = Session().add(grep, result("g", "src/a.py:1:x"), glob, result("b", "web/a.ts"))
    told.shell("rg x README.md", "3:x")
    assert said(told.rows()) == [
        ("search", "src/", "part", None, None),
        ("list", "web/", "nothing", None, None),
        ("search", "README.md", "part", None, None),
    ]


def test_bytes_are_told_only_where_nothing_else_is_in_the_output() -> None:
    told = (
        Session()
        .shell("cat a.py", "käse\n")
        .shell("cat a.py b.py", "x\n")
        .shell("cat a.py; git status", "x\n")
        .shell("cat c.py", "x\n", shown=900)
    )
    assert [row.bytes for row in told.rows()] == [6, None, None, None, 900]


# --- what did not happen ---


def test_a_failed_call_touches_nothing() -> None:
    told = (
        Session()
        .read("/w/shop/a.py", status=Status.FAILED, shows="File does not exist.")
        .edit("/w/shop/a.py", fails=True)
        .shell("cat a.py && npm test", status=Status.FAILED)
    )
    assert told.rows() == []


def test_a_failure_is_not_that_of_the_commands_it_cannot_come_from() -> None:
    told = Session().shell("cat a.py; npm test", "x = 1\nfailed\n", status=Status.FAILED)
    assert [row.path for row in told.rows()] == ["a.py"]


def test_a_call_without_a_result_was_cut_off_and_touches_nothing() -> None:
    told = Session().read("/w/shop/a.py").add(call("w", text="cat > b.py", cwd=REPO))
    told.add(call("r", Tool.READ, arguments={"file_path": "c.py"}, cwd=REPO), reply("stopped"))
    assert [row.path for row in told.rows()] == ["a.py"]


def test_where_no_results_are_kept_calls_count_that_the_agent_went_on_after() -> None:
    told = Session().add(
        call("w", text="cat > b.py", cwd=REPO), reply("done"), call("x", text="rm c.py", cwd=REPO)
    )
    assert [row.path for row in told.rows()] == ["b.py"]


def test_after_a_write_that_was_cut_off_a_read_is_no_repeat() -> None:
    told = Session().shell("ls; cat a.py", "x").add(call("w", text="cat > a.py", cwd=REPO))
    assert repeats(told.shell("ls; cat a.py", "x").rows()) == []


def test_a_call_that_was_refused_touches_nothing() -> None:
    asked = call("w", text="rm a.py", cwd=REPO)
    refused = ToolResult(
        key=1, session="s", call="w", text="no", status=Status.UNKNOWN, basis=Basis.DECLINED
    )
    assert Session().add(asked, refused).rows() == []


@pytest.mark.parametrize(
    ("command", "output"),
    [
        ("cat a.py b.py", "x = 1\ncat: b.py: No such file or directory\n"),
        ("cat a.py; cat b.py || echo none", "x = 1\nnone\n"),
        ("cat a.py; sed -n 1,5p b.py", "x = 1\nsed: can't read b.py: No such file or directory"),
    ],
)
def test_a_file_that_the_output_says_is_missing_was_not_read(command: str, output: str) -> None:
    rows = Session().shell(command, output, status=Status.UNKNOWN).rows()
    assert [row.path for row in rows] == ["a.py"]


@pytest.mark.parametrize(
    "output",
    ["/bin/bash: line 1: rg: command not found", "sh: 1: rg: not found", "command not found: rg"],
)
def test_a_program_that_is_not_there_touches_nothing(output: str) -> None:
    rows = Session().shell("cat a.py; rg -n foo src || true", f"x\n{output}\n").rows()
    assert [row.path for row in rows] == ["a.py"]


@pytest.mark.parametrize(
    ("command", "extents"),
    [
        ("rg -n foo src/api src/ui", ["part", "nothing"]),
        ("rg -n foo src/api src/*.py", ["part", "part"]),
        ("grep -h foo src/api src/ui", ["part", "part"]),
        ("grep -r foo src/api src/ui | cut -d: -f3", ["part", "part"]),
    ],
)
def test_a_search_in_several_places_shows_those_that_its_matches_name(
    command: str, extents: list[str]
) -> None:
    rows = Session().shell(command, "src/api/a.py:1:foo\n").rows()
    assert [row.extent.value for row in rows] == extents


def test_an_empty_output_shows_nothing() -> None:
    (row,) = Session().shell("sed -n 900,950p a.py", "").rows()
    assert row.extent is Extent.NOTHING


# --- what is read again ---


def test_the_same_lines_again_repeat_the_latest_read_of_them() -> None:
    rows = (
        Session().read("a.py").read("a.py", range(5, 9)).shell("sed -n 6,7p a.py", shown(TEXT[5:7]))
    )
    found = rows.rows()
    assert [row.redundant for row in found] == [None, found[0].seq, found[1].seq]
    assert {row.again for row in found[1:]} == {Again.REPEAT}


def test_lines_that_several_reads_had_between_them_repeat_the_last_of_these() -> None:
    told = Session().read("/w/shop/a.py", range(1, 11)).read("/w/shop/a.py", range(8, 21))
    told.shell("sed -n 5,15p a.py", shown(TEXT[4:15]))
    told.shell("sed -n 5,25p a.py", shown(TEXT[4:25]))
    rows = told.rows()
    assert [row.redundant for row in rows] == [None, None, rows[1].seq, None]


def test_of_several_reads_each_line_must_be_as_it_was() -> None:
    told = Session().read("/w/shop/a.py", range(1, 11)).read("/w/shop/a.py", range(8, 21))
    told.shell("sed -n 5,15p a.py", shown([*TEXT[4:14], "changed"]))
    assert repeats(told.rows()) == []


def test_lines_that_were_not_there_before_are_no_repeat() -> None:
    told = Session().read("a.py", range(1, 20)).read("a.py", range(15, 30)).read("a.py")
    assert repeats(told.rows()) == []


def test_more_lines_than_a_file_has_are_the_same_lines() -> None:
    told = (
        Session().shell("sed -n 1,220p a.py", shown(TEXT)).shell("sed -n 1,90p a.py", shown(TEXT))
    )
    rows = told.rows()
    assert [(row.extent, row.last) for row in rows] == [(Extent.WHOLE, 40)] * 2
    assert repeats(rows) == [rows[1].seq]


@pytest.mark.parametrize(
    "between",
    [
        "sed -i s/x/y/ a.py",
        "echo x >> a.py",
        "git checkout -- .",
        "git pull",
        "git stash",
        "prettier --write .",
        "npm install left-pad",
        "ruff check --fix",
        "rm -rf /w/shop",
    ],
)
@pytest.mark.parametrize("status", [Status.OK, Status.FAILED])
def test_after_a_command_that_may_have_rewritten_it_a_read_is_no_repeat(
    between: str, status: Status
) -> None:
    told = Session().read("a.py").shell(between, status=status).read("a.py")
    assert repeats(told.rows()) == []


@pytest.mark.parametrize("between", ["git status", "ls", "prettier --check .", "pytest -q"])
def test_after_a_command_that_leaves_files_alone_it_is(between: str) -> None:
    told = Session().read("a.py").shell(between).read("a.py")
    assert len(repeats(told.rows())) == 1


def test_after_a_program_nobody_knows_only_the_same_text_is_a_repeat() -> None:
    same = (
        Session().shell("cat a.py", shown(TEXT)).shell("./tidy.sh").shell("cat a.py", shown(TEXT))
    )
    other = Session().shell("cat a.py", shown(TEXT)).shell("./tidy.sh").shell("cat a.py", "other\n")
    mixed = Session().read("a.py").shell("./tidy.sh").shell("cat a.py; date", shown(TEXT))
    assert len(repeats(same.rows())) == 1
    assert repeats(other.rows()) == repeats(mixed.rows()) == []


def test_a_file_that_somebody_else_changed_is_no_repeat() -> None:
    told = Session().read("a.py").say("I changed it").read("a.py", shows="     1→all new")
    assert repeats(told.rows()) == []


def test_what_left_the_context_is_no_repeat() -> None:
    told = Session().read("a.py").read("b.py")
    assert repeats(Session().read("a.py").add(compaction("summary")).read("a.py").rows()) == []
    pruned = Notice(key=1, session="s", name="output_pruned", data={"call": "call 0"})
    assert repeats(Session().read("a.py").add(pruned).read("a.py").rows()) == []
    again = told.read("a.py")
    assert len(repeats(again.rows())) == 1
    assert repeats(again.rows(left={2: 4})) == []
    assert len(repeats(again.rows(left={2: 6}))) == 1


def test_an_output_that_was_cut_is_no_ground_for_a_repeat() -> None:
    told = Session().read("a.py", truncated=True).read("a.py")
    moved = Session().shell("cat a.py", shown(TEXT), shown=20).shell("cat a.py", shown(TEXT))
    assert repeats(told.rows()) == repeats(moved.rows()) == []
    assert {told.rows()[0].extent, moved.rows()[0].extent} == {Extent.PART}


def test_a_read_after_a_failed_edit_has_its_own_reason() -> None:
    told = Session().read("a.py").edit("/w/shop/a.py", fails=True).read("a.py", range(3, 9))
    told.read("a.py", range(3, 5))
    assert [row.again for row in told.rows()] == [None, Again.FAILED_EDIT, Again.REPEAT]


def test_an_answer_that_the_file_is_unchanged_costs_nothing() -> None:
    told = Session().read("a.py").read("a.py", shows="File unchanged since last read. Use that.")
    _, row = told.rows()
    assert (row.redundant, row.again, row.extent) == (None, Again.NOTICE, Extent.NOTHING)


def test_searches_and_other_versions_are_never_repeats() -> None:
    told = (
        Session()
        .shell("cat a.py", shown(TEXT))
        .shell("grep -n line a.py", shown(TEXT))
        .shell("git show HEAD:a.py", shown(TEXT))
    )
    assert repeats(told.rows()) == []


def test_the_same_path_in_another_worktree_is_another_file() -> None:
    told = Session().read("/w/shop/a.py").read("/w/shop/.worktrees/retry/a.py")
    rows = told.read("/w/retry/a.py").rows(roots=[REPO, "/w/retry"])
    assert {row.path for row in rows} == {"a.py"}
    assert repeats(rows) == []


STEPS = st.lists(
    st.tuples(
        st.sampled_from(("read", "cat", "edit", "miss", "sed -i s/x/y/", "git pull", "say")),
        st.sampled_from(("a.py", "b.py")),
    ),
    max_size=14,
)


def story(steps: Iterable[tuple[str, str]]) -> Session:
    told = Session()
    for verb, path in steps:
        if verb == "read":
            told.read(path)
        elif verb == "cat":
            told.shell(f"cat {path}", shown(TEXT))
        elif verb in ("edit", "miss"):
            told.edit(f"{REPO}/{path}", fails=verb == "miss")
        elif verb == "say":
            told.say()
        else:
            told.shell(verb if verb == "git pull" else f"{verb} {path}")
    return told


@given(STEPS)
def test_between_a_repeat_and_what_it_repeats_nothing_changed_the_file(
    steps: list[tuple[str, str]],
) -> None:
    told = story(steps)
    rows = told.rows()
    pulled = {
        seq for seq, event in numbered(told.events) if getattr(event, "text", "") == "git pull"
    }
    by_seq = {row.seq: row for row in rows}
    for row in rows:
        if row.redundant is not None:
            assert by_seq[row.redundant].path == row.path
            between = range(row.redundant + 1, row.seq)
            assert pulled.isdisjoint(between)
            changed = {it.seq for it in rows if it.path == row.path and it.verb is not Verb.READ}
            assert changed.isdisjoint(between)


@given(STEPS)
def test_a_read_of_unchanged_lines_is_always_called_a_repeat(steps: list[tuple[str, str]]) -> None:
    rows = [row for row in story(steps).rows() if row.path == "a.py"]
    for earlier, later in pairwise(rows):
        if earlier.verb is later.verb is Verb.READ and later.redundant is None:
            assert any(verb == "git pull" for verb, _ in steps)


# --- paths ---

PARTS = st.lists(
    st.text("abcXYZ _-", min_size=1, max_size=6).map(str.strip).filter(bool), min_size=1, max_size=4
)


@given(st.sampled_from("CDE"), PARTS, PARTS)
def test_windows_wsl_and_git_bash_spell_the_same_file(
    drive: str, folder: list[str], below: list[str]
) -> None:
    inner = [*folder, *below]
    spellings = [
        f"{drive}:\\" + "\\".join(inner),
        f"{drive.lower()}:/" + "/".join(inner),
        f"/mnt/{drive.lower()}/" + "/".join(inner),
        f"/{drive.lower()}/" + "/".join(inner),
        (f"{drive}:/" + "/".join(inner)).upper(),
    ]
    roots = [f"{drive}:\\" + "\\".join(folder), f"/mnt/{drive.lower()}/" + "/".join(folder)]
    for root in roots:
        found = [place(path, root, ground([root])) for path in spellings]
        assert len({it.key for it in found}) == 1
        assert {it.path for it in found[:4]} == {"/".join(below)}
        assert all(it.inside for it in found)


@pytest.mark.parametrize(
    ("path", "cwd", "roots", "expected"),
    [
        ("src/a.py", "/w/shop", ["/w/shop"], "src/a.py"),
        ("a.py", "/w/shop/src", ["/w/shop"], "src/a.py"),
        ("../a.py", "/w/shop/src", ["/w/shop"], "a.py"),
        ("/w/shop/.claude/worktrees/x/src/a.py", None, ["/w/shop"], "src/a.py"),
        ("/w/shop/src/worktrees/a.py", None, ["/w/shop"], "src/worktrees/a.py"),
        ("/w/shop", None, ["/w/shop"], "./"),
        ("\\\\wsl$\\Ubuntu\\home\\me\\shop\\a.py", None, ["/home/me/shop"], "a.py"),
        ("~/shop/a.py", "/home/me/shop", ["/home/me/shop"], "a.py"),
        ("/home/me/.bashrc", "/home/me/shop", ["/home/me/shop"], "~/.bashrc"),
        ("~/.bashrc", "/w/shop", ["/w/shop"], "~/.bashrc"),
        ("/w/shopping/a.py", "/w/shop", ["/w/shop"], "/w/shopping/a.py"),
        ("a.py", None, [], "a.py"),
        ("C:\\Users\\me\\x.txt", "/mnt/c/shop", ["/mnt/c/shop"], "C:/Users/me/x.txt"),
    ],
)
def test_a_place_is_told_from_the_top_of_its_repository(
    path: str, cwd: str | None, roots: list[str], expected: str
) -> None:
    assert place(path, cwd, ground(roots)).path == expected


def test_folders_that_sessions_ran_in_are_roots_only_beside_the_repository() -> None:
    seen = ["/w/shop/web", "/w/shop", "/w/shop-retry/web", "/w/shop-retry", "/w/SHOP"]
    assert repository_roots("/w/shop", seen) == ("/w/shop", "/w/SHOP", "/w/shop-retry")
    windows = ["/mnt/c/Shop/web", "c:\\shop"]
    assert repository_roots("C:\\shop", windows) == ("C:\\shop",)
    assert repository_roots(None, []) == ()


def test_one_file_keeps_the_name_it_was_first_met_by() -> None:
    told = Session()
    for path in ("C:\\Shop\\Src\\a.py", "/mnt/c/shop/src/A.py"):
        told.read(path)
    rows = told.rows(roots=["C:/shop"])
    assert [row.path for row in rows] == ["Src/a.py"] * 2
    assert repeats(rows) == [rows[1].seq]


# --- fan-out ---


def test_fan_out_counts_calls_by_turn_and_file() -> None:
    told = Session().say().read("a.py").shell("rg x a.py", "1:x").edit(f"{REPO}/a.py")
    told.say().read("a.py").shell("rg x src", "src/b.py:1:x")
    first, second = fan_out(told.rows())
    assert (first.path, first.calls, first.reads, first.edits) == ("a.py", 3, 2, 1)
    assert (second.calls, second.reads, second.edits) == (1, 1, 0)
    assert first.turn < second.turn


@given(STEPS, st.randoms(use_true_random=False))
def test_fan_out_does_not_depend_on_the_order_of_touches(
    steps: list[tuple[str, str]], chance: Any
) -> None:
    rows = story(steps).rows()
    mixed = list(rows)
    chance.shuffle(mixed)
    assert fan_out(mixed) == fan_out(rows)
    assert sum(it.calls for it in fan_out(rows)) == len({(row.seq, row.path) for row in rows})


def test_a_result_has_left_when_most_of_it_has() -> None:
    def carried(tokens: int, until: int | None) -> Carried:
        left = Left.DROPPED if until else None
        return Carried(3, Kind.READ, tokens, 4, 1, left, until)

    assert left_at([carried(5, 10), carried(95, 20)]) == {3: 20}
    assert left_at([carried(5, 10), carried(95, None)]) == {}
