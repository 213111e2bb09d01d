"""Outcomes judged again: only news is looked at, and what is found is the same."""

from __future__ import annotations

import subprocess
from pathlib import Path
from random import Random

import pytest

from git_world import DAY, HOUR, Repo, repository
from hansei.events.model import AnyEvent, FileEdit, Hunk
from hansei.projection.outcomes import (
    Fate,
    Judged,
    Known,
    Outcome,
    Stored,
    has_news,
    judge_repository,
    packed,
    written,
)
from hansei.store.reading import Numbered
from hansei.synth import build
from outcome_world import NOW, TakenIn, take_in

WORK = "def {name}(width, height):\n    {name}_of_the_whole_shape = width * height\n    return 1\n"


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    made = repository(tmp_path / "repo")
    made.commit("Start", {"README.md": "Shapes and their sizes\n"})
    return made


def edit(repo: Repo, session: int, name: str) -> list[Stored]:
    """A session that wrote one file an hour after the last commit."""
    repo.now += HOUR
    event: AnyEvent = FileEdit(
        key=1,
        session=str(session),
        at=repo.now,
        call=f"{session}-1",
        path=f"{repo.folder}/src/{name}.py",
        operation="create",
        hunks=[Hunk(None, "", WORK.format(name=name))],
    )
    return [Stored(session, packed(hunk)) for hunk in written([Numbered(1, event)], [])]


def judge(
    repo: Repo, hunks: list[Stored], known: Known | None = None, *, later: int = HOUR
) -> Judged:
    return judge_repository(hunks, str(repo.folder), repo.now + later, known, str)


def test_without_news_nothing_is_looked_at(repo: Repo) -> None:
    hunks = edit(repo, 1, "area")
    repo.commit("Add area", {"src/area.py": WORK.format(name="area")})
    first = judge(repo, hunks)
    again = judge(repo, hunks, first.known, later=2 * HOUR)
    assert (first.looked_at, again.looked_at, again.rows) == (1, 0, {})
    assert again.known == first.known
    assert not has_news(str(repo.folder), repo.now, first.known)
    assert has_news(str(repo.folder), repo.now + 8 * DAY, first.known)
    repo.commit("Something else", {"README.md": "Shapes\n"})
    assert has_news(str(repo.folder), repo.now, first.known)
    assert has_news(None, repo.now, first.known)


def test_a_day_that_has_come_is_news(repo: Repo) -> None:
    hunks = edit(repo, 1, "area")
    repo.commit("Add area", {"src/area.py": WORK.format(name="area")})
    first = judge(repo, hunks)
    assert first.known.due == repo.now + 7 * DAY
    again = judge(repo, hunks, first.known, later=8 * DAY)
    (row,) = again.rows[1]
    assert (row.alive_7, row.alive_14) == (row.lines, None)
    assert judge(repo, hunks, again.known, later=9 * DAY).looked_at == 0


def test_only_hunks_in_files_that_commits_changed_are_looked_at(repo: Repo) -> None:
    hunks = edit(repo, 1, "area") + edit(repo, 2, "volume")
    both: dict[str, str | None] = {
        f"src/{name}.py": WORK.format(name=name) for name in ("area", "volume")
    }
    repo.commit("Add both", both)
    first = judge(repo, hunks)
    repo.commit("Undo one", {"src/volume.py": "nothing_is_left = True\n"})
    again = judge(repo, hunks, first.known)
    assert again.looked_at == 1
    assert sorted(again.rows) == [2]


def test_lines_that_are_nowhere_are_looked_for_in_commits_to_other_files(repo: Repo) -> None:
    hunks = edit(repo, 1, "area")
    first = judge(repo, hunks)
    assert [row.fate for row in first.rows[1]] == [Fate.WAITING]
    repo.commit("Put it elsewhere", {"src/shapes.py": WORK.format(name="area")})
    again = judge(repo, hunks, first.known)
    (row,) = again.rows[1]
    assert (row.fate, row.landed_in) == (Fate.LANDED, "src/shapes.py")


def test_a_commit_that_is_gone_has_brought_nothing(repo: Repo) -> None:
    hunks = edit(repo, 1, "area")
    start = repo.git("rev-parse", "HEAD")
    repo.commit("Add area", {"src/area.py": WORK.format(name="area")})
    first = judge(repo, hunks)
    repo.git("reset", "--quiet", "--hard", start)
    again = judge(repo, hunks, first.known)
    assert [row.fate for row in again.rows[1]] == [Fate.WAITING]


def test_what_was_remembered_by_another_version_is_not_believed(repo: Repo) -> None:
    hunks = edit(repo, 1, "area")
    first = judge(repo, hunks)
    spoilt = first.known._replace(key="", body=b"something else")
    assert judge(repo, hunks, spoilt).rows == first.rows


@pytest.mark.parametrize("where", ["missing", "no repository", "no git", "none"])
def test_a_repository_that_cannot_be_asked_is_told_plainly(
    repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    hunks = edit(repo, 1, "area")
    folder: str | None = str(repo.folder)
    if where == "missing":
        folder = str(tmp_path / "deleted")
    elif where == "no repository":
        folder = str(tmp_path)
    elif where == "no git":
        monkeypatch.setenv("PATH", str(tmp_path))
    else:
        folder = None
    (row,) = judge_repository(hunks, folder, repo.now, None, str).rows[1]
    expected = {
        "missing": "its repository is not on this machine",
        "none": "its repository is not on this machine",
        "no repository": "its folder is no git repository",
        "no git": "git is not installed",
    }
    assert (row.fate, row.reason) == (Fate.UNKNOWN, expected[where])


def test_a_repository_without_a_commit_has_taken_in_nothing(tmp_path: Path) -> None:
    empty = repository(tmp_path / "empty")
    (row,) = judge(empty, edit(empty, 1, "area")).rows[1]
    assert row.fate is Fate.WAITING


def test_bare_repositories_and_worktrees_are_asked_like_any_other(
    repo: Repo, tmp_path: Path
) -> None:
    hunks = edit(repo, 1, "area")
    repo.commit("Add area", {"src/area.py": WORK.format(name="area")})
    repo.git("worktree", "add", "--quiet", str(tmp_path / "tree"), "-b", "side")
    bare = tmp_path / "bare.git"
    repo.git("clone", "--quiet", "--bare", str(repo.folder), str(bare))
    inside = hunks[0]._replace(row=hunks[0].row._replace(path=f"{tmp_path}/tree/src/area.py"))
    fates = [
        judge_repository([hunk], str(folder), repo.now, None, str).rows[1][0].fate
        for hunk, folder in ((hunks[0], tmp_path / "tree"), (hunks[0], bare), (inside, repo.folder))
    ]
    assert fates == [Fate.LANDED] * 3


@pytest.mark.parametrize("seed", [3, 8])
def test_refreshing_finds_what_judging_everything_finds(tmp_path: Path, seed: int) -> None:
    """Sessions and commits come and go in any order; after each step both ways agree."""
    world = build(
        tmp_path, seed=seed, now_ms=NOW, sessions=24, weeks=8, agents=("claude_code", "codex")
    )
    taken = take_in(world, tmp_path / "store")
    mirror = tmp_path / "mirror.git"
    subprocess.run(
        ["git", "clone", "--quiet", "--bare", str(world.repo), str(mirror)],
        check=True,
    )
    listed = ["git", "-C", str(mirror), "rev-list", "--first-parent", "--reverse", "HEAD"]
    line = subprocess.run(listed, check=True, capture_output=True, text=True).stdout.split()
    dice = Random(seed)
    known: Known | None = None
    table: dict[int, list[Outcome]] = {}
    for step in range(7):
        hunks = _some(taken, dice)
        tip = dice.choice(line[len(line) // 3 :])
        subprocess.run(["git", "-C", str(mirror), "update-ref", "HEAD", tip], check=True)
        now = NOW + step * 5 * DAY
        refreshed = judge_repository(hunks, str(mirror), now, known, taken.scrub)
        whole = judge_repository(hunks, str(mirror), now, None, taken.scrub)
        present = {hunk.session for hunk in hunks}
        table = {it: rows for it, rows in {**table, **refreshed.rows}.items() if it in present}
        assert table == whole.rows
        known = refreshed.known


def _some(taken: TakenIn, dice: Random) -> list[Stored]:
    """The hunks of most sessions."""
    sessions = sorted({hunk.session for hunk in taken.hunks})
    left_out = set(dice.sample(sessions, dice.choice((0, 0, 1, len(sessions) // 2))))
    return [hunk for hunk in taken.hunks if hunk.session not in left_out]
