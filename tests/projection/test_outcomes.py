"""Edits and what became of them, each case in a small repository of its own."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import pytest

from git_world import DAY, HOUR, Repo, repository
from hansei.events.model import (
    AnyEvent,
    Basis,
    FileEdit,
    Hunk,
    Status,
    Tool,
    ToolCall,
    ToolResult,
)
from hansei.projection.calls import calls
from hansei.projection.outcomes import (
    By,
    Fate,
    Later,
    Misplaced,
    Misstep,
    Outcome,
    Stored,
    judge_repository,
    misplaced,
    packed,
    place,
    written,
)
from hansei.store.reading import Numbered

BEFORE = """def area(width, height):
    result = width * height
    return result
"""
NEW = """

def perimeter(width, height):
    doubled_width = 2 * width
    doubled_height = 2 * height
    return doubled_width + doubled_height
"""
FILE = "src/shapes.py"


class Desk:
    """A session at work in a repository."""

    def __init__(self, repo: Repo, name: str = "1") -> None:
        self.repo, self.name = repo, name
        self.events: list[Numbered] = []

    def edit(
        self,
        old: str,
        new: str,
        *,
        path: str = FILE,
        operation: Literal["create", "update", "delete", "rename"] = "update",
        applied: bool | None = True,
        moved_to: str | None = None,
    ) -> int:
        hunks = [Hunk(None, old, new)] if old or new else []
        return self._add(
            FileEdit(
                key=len(self.events),
                session=self.name,
                at=self.repo.now,
                call=f"{self.name}-{len(self.events)}",
                path=f"{self.repo.folder}/{path}",
                operation=operation,
                hunks=hunks,
                applied=applied,
                moved_to=moved_to and f"{self.repo.folder}/{moved_to}",
            )
        )

    def run(self, command: str, status: Status = Status.OK) -> int:
        call = f"{self.name}-{len(self.events)}"
        where = {"session": self.name, "at": self.repo.now, "cwd": str(self.repo.folder)}
        seq = self._add(
            ToolCall(key=0, call=call, tool=Tool.SHELL, name="Bash", text=command, **where)  # type: ignore[arg-type] # one dict for two events
        )
        self._add(
            ToolResult(key=0, call=call, text="", status=status, basis=Basis.FLAG, **where)  # type: ignore[arg-type] # as above
        )
        return seq

    def _add(self, event: AnyEvent) -> int:
        self.repo.now += 1000
        self.events.append(Numbered(len(self.events) + 1, event))
        return len(self.events)


def stored(*desks: Desk) -> list[Stored]:
    return [
        Stored(number, packed(hunk))
        for number, desk in enumerate(desks, 1)
        for hunk in written(desk.events, calls(desk.events))
    ]


def scrub(text: str) -> str:
    return text.replace("hunter2hunter2", "[secret]")


def outcomes(*desks: Desk, later: int = 60 * DAY, folder: Path | None = None) -> list[Outcome]:
    repo = desks[0].repo
    where = str(folder or repo.folder)
    judged = judge_repository(stored(*desks), where, repo.now + later, None, scrub)
    return [row for _, rows in sorted(judged.rows.items()) for row in rows]


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    repo = repository(tmp_path / "repo")
    repo.commit("Start", {FILE: BEFORE, "README.md": "Shapes and their sizes\n"})
    repo.now += HOUR
    return repo


@pytest.fixture
def desk(repo: Repo) -> Desk:
    return Desk(repo)


def test_lines_that_a_commit_brought_have_landed_and_stay(repo: Repo, desk: Desk) -> None:
    desk.edit("", NEW)
    commit = repo.commit("Add perimeter", {FILE: BEFORE + NEW})
    repo.commit("Something else", {"README.md": "Shapes, their sizes and more\n"})
    (row,) = outcomes(desk)
    assert (row.fate, row.landed_commit, row.landed, row.lines) == (Fate.LANDED, commit, 4, 4)
    assert (row.later, row.on_main, row.path) == (Later.KEPT, True, FILE)
    assert (row.alive_7, row.alive_14, row.alive_30) == (4, 4, 4)


def test_survival_is_unknown_until_the_day_has_come(repo: Repo, desk: Desk) -> None:
    desk.edit("", NEW)
    repo.commit("Add perimeter", {FILE: BEFORE + NEW})
    (row,) = outcomes(desk, later=8 * DAY)
    assert (row.alive_7, row.alive_14, row.alive_30) == (4, None, None)


def test_a_squash_is_where_the_work_landed_though_the_branch_is_still_there(
    repo: Repo, desk: Desk
) -> None:
    desk.edit("", NEW)
    repo.git("checkout", "--quiet", "-b", "work")
    first = repo.commit("wip", {FILE: BEFORE + NEW})
    (row,) = outcomes(desk)
    assert (row.landed_commit, row.on_main) == (first, False)
    repo.git("checkout", "--quiet", "main")
    squashed = repo.commit("Add perimeter (#1)", {FILE: BEFORE + NEW})
    (row,) = outcomes(desk)
    assert (row.landed_commit, row.on_main, row.later) == (squashed, True, Later.KEPT)


def test_a_rebase_changes_the_commit_but_not_the_outcome(repo: Repo, desk: Desk) -> None:
    desk.edit("", NEW)
    repo.git("checkout", "--quiet", "-b", "work")
    repo.commit("Add perimeter", {FILE: BEFORE + NEW})
    repo.git("checkout", "--quiet", "main")
    repo.commit("Meanwhile", {"README.md": "Shapes of all sizes\n"})
    repo.now += HOUR
    repo.git("rebase", "--quiet", "main", "work")
    repo.git("branch", "--force", "main", "work")
    (row,) = outcomes(desk)
    assert (row.fate, row.landed_commit) == (Fate.LANDED, repo.git("rev-parse", "main"))


def test_a_formatter_may_quote_and_wrap_before_the_commit(repo: Repo, desk: Desk) -> None:
    desk.edit("", "call(first_argument, 'second argument', third=calculate(value))\n")
    wrapped = 'call(\n    first_argument,\n    "second argument",\n    third=calculate(value),\n)\n'
    commit = repo.commit("Add a call", {FILE: BEFORE + wrapped})
    (row,) = outcomes(desk)
    assert (row.fate, row.landed_commit, row.reformatted) == (Fate.LANDED, commit, True)


def test_a_formatter_may_come_later_and_the_lines_survive_it(repo: Repo, desk: Desk) -> None:
    desk.edit("", "message = make_message('hello there', width)\n")
    repo.commit("Add it", {FILE: f"{BEFORE}message = make_message('hello there', width)\n"})
    formatted = f'{BEFORE}message = make_message(\n    "hello there",\n    width,\n)\n'
    tidied = repo.commit("Format", {FILE: formatted})
    (row,) = outcomes(desk)
    assert (row.later, row.later_commit, row.alive_30) == (Later.REFORMATTED, tidied, 1)


def test_lines_moved_before_the_commit_have_landed_in_the_other_file(
    repo: Repo, desk: Desk
) -> None:
    desk.edit("", NEW)
    repo.commit("Add perimeter", {"src/measures.py": NEW})
    (row,) = outcomes(desk)
    assert (row.fate, row.path, row.landed_in) == (Fate.LANDED, FILE, "src/measures.py")


def test_lines_are_followed_into_the_file_they_are_moved_to(repo: Repo, desk: Desk) -> None:
    desk.edit("", NEW)
    repo.commit("Add perimeter", {FILE: BEFORE + NEW})
    repo.commit("Split", {FILE: BEFORE, "src/measures.py": NEW})
    (row,) = outcomes(desk)
    assert (row.later, row.alive_30) == (Later.MOVED, 4)
    gone = repo.commit("Drop it", {"src/measures.py": "nothing_left_here = None\n"})
    (row,) = outcomes(desk)
    assert (row.later, row.later_commit, row.alive_30) == (Later.REMOVED, gone, 0)


def test_a_commit_that_goes_back_is_a_revert(repo: Repo, desk: Desk) -> None:
    desk.edit("    result = width * height\n", "    result = multiply(width, height)\n")
    changed = BEFORE.replace("width * height", "multiply(width, height)")
    repo.commit("Use multiply", {FILE: changed})
    back = repo.commit("Back to plain signs", {FILE: BEFORE})
    (row,) = outcomes(desk)
    assert (row.later, row.later_commit, row.alive_7) == (Later.REVERTED, back, 0)


def test_a_commit_that_says_so_is_a_revert_also_of_a_whole_file(repo: Repo, desk: Desk) -> None:
    desk.edit("", NEW, path="src/measures.py", operation="create")
    landed = repo.commit("Add perimeter", {"src/measures.py": NEW, "CHANGES": "perimeter added\n"})
    repo.git("revert", "--no-edit", landed)
    (row,) = outcomes(desk)
    assert (row.later, row.later_commit) == (Later.REVERTED, repo.git("rev-parse", "HEAD"))


def test_a_file_that_is_tidied_away_is_not_reverted(repo: Repo, desk: Desk) -> None:
    desk.edit("", NEW, path="src/measures.py", operation="create")
    repo.commit("Add perimeter", {"src/measures.py": NEW, "CHANGES": "perimeter added\n"})
    repo.commit("Clean up", {"src/measures.py": None, "README.md": None})
    (row,) = outcomes(desk)
    assert row.later is Later.REMOVED


def test_what_was_lost_by_mistake_and_brought_back_is_kept(repo: Repo, desk: Desk) -> None:
    desk.edit("", NEW)
    landed = repo.commit("Add perimeter", {FILE: BEFORE + NEW})
    repo.commit("Oops", {FILE: None, "README.md": None})
    repo.commit("Bring it back", {FILE: BEFORE + NEW, "README.md": "Shapes\n"})
    (row,) = outcomes(desk)
    assert (row.landed_commit, row.later, row.alive_7) == (landed, Later.KEPT, 4)


def test_an_old_version_that_is_back_brings_nothing_new(repo: Repo, desk: Desk) -> None:
    moved = f"{NEW}\n\n{BEFORE}"
    repo.commit("Add perimeter", {FILE: BEFORE + NEW})
    repo.now += HOUR
    desk.edit("", NEW)  # as a diff tells lines that changed places with others
    repo.commit("Change places", {FILE: moved})
    repo.commit("Oops", {FILE: None})
    repo.commit("Bring it back", {FILE: moved})
    (row,) = outcomes(desk)
    assert (row.fate, row.reason) == (Fate.UNKNOWN, "the same lines were committed before")


def test_a_person_who_changes_a_line_within_a_day_reworks_it_at_once(
    repo: Repo, desk: Desk
) -> None:
    desk.edit("", NEW)
    repo.commit("Add perimeter", {FILE: BEFORE + NEW})
    reworked = NEW.replace("doubled_height = 2 * height", "doubled_height = height + height")
    commit = repo.commit("Reword", {FILE: BEFORE + reworked})
    (row,) = outcomes(desk)
    assert (row.later, row.later_commit, row.later_by) == (Later.REWORKED, commit, By.PERSON)
    assert (row.alive_7, row.reworked_at_once) == (3, True)
    assert row.instead == (
        ("doubled_height = 2 * height", "doubled_height = height + height", commit),
    )


def test_what_a_person_wrote_instead_is_kept_without_its_secrets(repo: Repo, desk: Desk) -> None:
    desk.edit("", NEW)
    repo.commit("Add perimeter", {FILE: BEFORE + NEW})
    reworked = NEW.replace("doubled_height = 2 * height", "doubled_height = 2 * hunter2hunter2")
    repo.commit("Reword", {FILE: BEFORE + reworked})
    (row,) = outcomes(desk)
    assert [it.now for it in row.instead] == ["doubled_height = 2 * [secret]"]


def test_what_another_session_changes_is_reworked_by_an_agent(repo: Repo, desk: Desk) -> None:
    desk.edit("", NEW)
    repo.commit("Add perimeter", {FILE: BEFORE + NEW})
    other = Desk(repo, "2")
    other.edit("    doubled_height = 2 * height\n", "    doubled_height = height + height\n")
    reworked = NEW.replace("doubled_height = 2 * height", "doubled_height = height + height")
    repo.commit("Reword", {FILE: BEFORE + reworked})
    first, second = outcomes(desk, other)
    assert (first.later, first.later_by) == (Later.REWORKED, By.AGENT)
    assert not first.reworked_at_once
    assert first.instead == ()
    assert second.fate is Fate.LANDED


def test_what_no_commit_has_was_never_committed_or_is_waiting(repo: Repo, desk: Desk) -> None:
    desk.edit("", NEW)
    repo.commit("Something else", {"README.md": "Shapes, their sizes and more\n"})
    assert [row.fate for row in outcomes(desk)] == [Fate.NOT_COMMITTED]
    assert [row.fate for row in outcomes(desk, later=DAY)] == [Fate.WAITING]


def test_a_step_that_puts_things_back_takes_an_edit_back(repo: Repo, desk: Desk) -> None:
    plain, changed = "    result = width * height\n", "    result = multiply(width, height)\n"
    desk.edit(plain, changed)
    undo = desk.edit(changed, plain)
    first, second = outcomes(desk)
    assert (first.fate, first.taken_back_by) == (Fate.TAKEN_BACK, undo)
    assert (second.fate, second.reason) == (Fate.UNKNOWN, "the same lines were committed before")


def test_a_step_that_writes_something_else_replaces_an_edit(repo: Repo, desk: Desk) -> None:
    plain, changed = "    result = width * height\n", "    result = multiply(width, height)\n"
    desk.edit(plain, changed)
    again = desk.edit(changed, "    result = product_of([width, height])\n")
    repo.commit("Product", {FILE: BEFORE.replace("width * height", "product_of([width, height])")})
    first, second = outcomes(desk)
    assert (first.fate, first.taken_back_by) == (Fate.REPLACED, again)
    assert second.fate is Fate.LANDED


def test_a_file_written_anew_lands_by_the_lines_that_are_new(repo: Repo, desk: Desk) -> None:
    desk.edit("", f"{BEFORE}PRECISION = 12\n", operation="create")
    repo.commit("Say how precise", {FILE: f"{BEFORE}PRECISION = 12\n"})
    (row,) = outcomes(desk)
    assert (row.fate, row.lines, row.landed) == (Fate.LANDED, 1, 1)


def test_a_version_that_is_not_here_leaves_the_outcome_unknown(repo: Repo, desk: Desk) -> None:
    desk.edit("", NEW)
    repo.commit("Add perimeter", {FILE: BEFORE + NEW})
    blob = repo.git("rev-parse", f"HEAD:{FILE}")
    (repo.folder / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    (row,) = outcomes(desk)
    assert row.reason == "the repository here lacks versions of the file"


def test_a_file_written_anew_replaces_what_was_written_before(repo: Repo, desk: Desk) -> None:
    desk.edit("", NEW, path="src/measures.py", operation="create")
    again = desk.edit("", f"{NEW}PRECISION = 12\n", path="src/measures.py", operation="create")
    repo.commit("Add measures", {"src/measures.py": f"{NEW}PRECISION = 12\n"})
    first, second = outcomes(desk)
    assert (first.fate, first.taken_back_by) == (Fate.REPLACED, again)
    assert second.fate is Fate.LANDED


@pytest.mark.parametrize(
    "command",
    [
        "git restore .",
        "git checkout -- src/shapes.py",
        "cd src && git restore shapes.py",
        "git reset --hard",
    ],
)
def test_commands_that_restore_files_take_edits_back(repo: Repo, desk: Desk, command: str) -> None:
    desk.edit("", NEW)
    undo = desk.run(command)
    (row,) = outcomes(desk)
    assert (row.fate, row.taken_back_by) == (Fate.TAKEN_BACK, undo)


@pytest.mark.parametrize(
    "command", ["git restore --staged .", "git clean -nd", "rm README.md", "git checkout main"]
)
def test_commands_that_leave_the_file_alone_take_nothing_back(
    repo: Repo, desk: Desk, command: str
) -> None:
    desk.edit("", NEW)
    desk.run(command)
    assert [row.fate for row in outcomes(desk)] == [Fate.NOT_COMMITTED]


def test_what_was_committed_before_the_command_has_landed_all_the_same(
    repo: Repo, desk: Desk
) -> None:
    desk.edit("", NEW)
    repo.commit("Add perimeter", {FILE: BEFORE + NEW})
    desk.run("git restore .")
    assert [row.fate for row in outcomes(desk)] == [Fate.LANDED]


def test_a_line_written_again_after_it_was_lost_is_credited_to_the_last_writer(
    repo: Repo, desk: Desk
) -> None:
    desk.edit("", NEW)
    repo.now += DAY
    other = Desk(repo, "2")
    other.edit("", NEW)
    repo.commit("Add perimeter", {FILE: BEFORE + NEW})
    assert [row.fate for row in outcomes(desk, other)] == [Fate.NOT_COMMITTED, Fate.LANDED]


def test_a_commit_made_before_the_edit_cannot_have_brought_it(repo: Repo, desk: Desk) -> None:
    repo.commit("Add perimeter", {FILE: BEFORE + NEW})
    repo.commit("Drop perimeter", {FILE: BEFORE})
    repo.now += HOUR
    desk.edit("", NEW)
    assert [row.fate for row in outcomes(desk)] == [Fate.NOT_COMMITTED]


def test_lines_that_could_stand_anywhere_make_no_match(repo: Repo, desk: Desk) -> None:
    desk.edit("", "import os\n\n    return None\n}\n")
    repo.commit("Add", {FILE: f"import os\n{BEFORE}    return None\n}}\n"})
    (row,) = outcomes(desk)
    assert (row.fate, row.reason) == (Fate.UNKNOWN, "its lines could stand anywhere")


def test_refused_and_failed_edits_wrote_nothing(repo: Repo, desk: Desk) -> None:
    desk.edit("", NEW, applied=False)
    assert outcomes(desk) == []


def test_secrets_are_replaced_on_the_side_of_git_too(repo: Repo, desk: Desk) -> None:
    desk.edit("", "connect_to_harbour('harbour', '[secret]')\n")
    repo.commit("Connect", {FILE: f"{BEFORE}connect_to_harbour('harbour', 'hunter2hunter2')\n"})
    (row,) = outcomes(desk)
    assert (row.fate, row.reformatted) == (Fate.LANDED, False)


def test_a_history_that_was_cut_off_says_so(repo: Repo, desk: Desk, tmp_path: Path) -> None:
    desk.edit("", NEW)
    for number in range(3):
        repo.commit(f"Number {number}", {"README.md": f"Shapes of {number} sizes at least\n"})
    repo.git("clone", "--quiet", "--depth=2", f"file://{repo.folder}", str(tmp_path / "cut"))
    (row,) = outcomes(desk, folder=tmp_path / "cut")
    assert row.reason == "the history here does not reach back to it"


def test_a_file_renamed_in_the_session_lands_under_its_new_name(repo: Repo, desk: Desk) -> None:
    desk.edit("", NEW)
    desk.edit("", "", operation="rename", moved_to="src/measures.py")
    repo.commit("Rename", {FILE: None, "src/measures.py": BEFORE + NEW})
    (row,) = outcomes(desk)
    assert (row.fate, row.path) == (Fate.LANDED, "src/measures.py")


def test_a_file_outside_the_repository_is_not_looked_for(repo: Repo, desk: Desk) -> None:
    desk.edit("", NEW, path="../elsewhere.py")
    repo.commit("Add perimeter", {FILE: BEFORE + NEW})
    (row,) = outcomes(desk)
    assert (row.fate, row.reason) == (Fate.UNKNOWN, "the file is not in the repository")


def test_a_file_moved_by_a_command_lands_under_its_new_name(repo: Repo, desk: Desk) -> None:
    desk.edit("", NEW, path="src/draft.py", operation="create")
    desk.run("mkdir lib && mv src lib/")
    repo.commit("Add perimeter", {"lib/src/draft.py": NEW})
    (row,) = outcomes(desk)
    assert (row.fate, row.path, row.landed_in) == (Fate.LANDED, "lib/src/draft.py", None)


@pytest.mark.parametrize(
    ("commands", "taken_back"),
    [
        (["git checkout -- ."], False),
        (["git clean -fd"], True),
        (["rm src/*.py"], True),
        (["Remove-Item -Recurse src"], True),
        (["git add -A && git commit -m wip", "git reset --hard HEAD~1"], True),
    ],
)
def test_a_file_that_git_does_not_know_is_deleted_and_not_restored(
    repo: Repo, desk: Desk, commands: list[str], *, taken_back: bool
) -> None:
    desk.edit("", NEW, path="src/draft.py", operation="create")
    for command in commands:
        desk.run(command)
    (row,) = outcomes(desk)
    assert (row.fate is Fate.TAKEN_BACK) is taken_back


@pytest.mark.parametrize(
    ("path", "root", "expected"),
    [
        ("C:\\work\\app\\src\\a.py", "c:/work/app", "src/a.py"),
        ("/mnt/c/work/app/src/a.py", "C:\\work\\app", "src/a.py"),
        ("/other/machine/app/src/a.py", "/home/me/app", "src/a.py"),
        ("src/a.py", "/home/me/app", "src/a.py"),
        ("/home/me/app/new.py", "/home/me/app", "new.py"),
    ],
)
def test_paths_are_found_in_the_repository_in_any_spelling(
    path: str, root: str, expected: str
) -> None:
    assert place(path, [root], {"src/a.py"}) == expected


def missteps(desk: Desk) -> list[Misplaced]:
    made = calls(desk.events)
    return misplaced(written(desk.events, made), [call.seq for call in made])


def test_lines_written_into_another_file_were_in_the_wrong_one(desk: Desk) -> None:
    wrong = desk.edit(BEFORE, BEFORE + NEW)
    back = desk.edit(BEFORE + NEW, BEFORE)
    right = desk.edit("", NEW, path="src/measures.py", operation="create")
    (row,) = missteps(desk)
    assert (row.seq, row.back, row.again) == (wrong, back, right)
    assert (row.kind, row.moved_to) == (
        Misstep.WRONG_FILE,
        f"{desk.repo.folder}/src/measures.py",
    )


def test_lines_written_elsewhere_in_the_file_were_in_the_wrong_place(desk: Desk) -> None:
    desk.edit("# end\n", f"# end\n{NEW}")
    desk.run("pytest")
    desk.edit(f"# end\n{NEW}", "# end\n")
    desk.edit("# start\n", f"# start\n{NEW}")
    (row,) = missteps(desk)
    assert (row.kind, row.moved_to) == (Misstep.WRONG_PLACE, row.path)


def test_what_is_put_back_was_not_wanted_and_what_is_deleted_was_for_a_while(desk: Desk) -> None:
    desk.edit("", NEW)
    desk.run("git restore .")
    desk.edit("", "print('what does it do?')\n", path="try.py", operation="create")
    desk.run("python try.py")
    desk.run("rm try.py")
    assert [row.kind for row in missteps(desk)] == [Misstep.UNDONE, Misstep.SHORT_LIVED]


def test_an_edit_that_is_improved_was_no_misstep(desk: Desk) -> None:
    desk.edit("", NEW)
    desk.edit(NEW, NEW.replace("doubled", "twofold"))
    assert missteps(desk) == []
