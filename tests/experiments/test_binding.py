"""Which arm sessions belong to, by every binding, and why some belong to none."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from git_world import HOUR, Repo, repository
from hansei.config import DAY_MS
from hansei.experiments.binding.branch import ByBranch
from hansei.experiments.binding.days import ByDays, arm_of_day
from hansei.experiments.binding.exposure import ByExposure
from hansei.experiments.binding.git import ByCommit, SincePin
from hansei.experiments.binding.prompt import ByPrompt, fingerprint
from hansei.experiments.binding.tag import ByTag
from hansei.experiments.binding.text import ByText
from hansei.experiments.placing import (
    CONTROL,
    TREATMENT,
    Arm,
    Binding,
    Candidate,
    Placed,
    Why,
    out,
    placed,
)
from hansei.git.containment import Containment
from hansei.git.objects import Objects

START = 1_750_000_000_000
SESSION = Candidate(native="s", agent="claude-code", started=START, ended=START + HOUR)


def test_a_tag_wins_over_every_binding() -> None:
    bindings: tuple[Binding, ...] = (
        ByExposure("x"),
        ByDays("salt", 0.5, "AGENTS.md", frozenset()),
        ByCommit(lambda _: True, START),
        SincePin(lambda *_: True, lambda _: True, "a", START),
        ByBranch("topic"),
        ByPrompt("ab"),
        ByTag(),
    )
    for binding in bindings:
        for arm in Arm:
            assert placed(binding, SESSION, {"s": arm}) == Placed(arm)
        assert placed(binding, SESSION, {"other": Arm.CONTROL}) == binding.place(SESSION)


@pytest.mark.parametrize(
    ("assigned", "shown", "shows", "expected"),
    [
        ({"x": "treatment"}, {"x"}, True, TREATMENT),
        ({"x": "control"}, set(), True, CONTROL),
        ({"x": "treatment"}, set(), True, out(Why.NOT_READ_BACK)),
        ({"x": "control"}, {"x"}, True, out(Why.NOT_READ_BACK)),
        ({"x": "treatment"}, set(), False, TREATMENT),
        ({"y": "treatment"}, set(), True, out(Why.NO_HOOK)),
        (None, set(), True, out(Why.NO_HOOK)),
    ],
)
def test_a_session_counts_for_the_arm_the_coin_put_it_in(
    assigned: dict[str, str] | None, shown: set[str], shows: bool, expected: Placed
) -> None:
    session = replace(SESSION, assigned=assigned, shown=frozenset(shown), shows=shows)
    assert ByExposure("x").place(session) == expected


@pytest.mark.parametrize("arm", Arm)
def test_a_session_whose_agent_takes_no_text_is_in_neither_arm(arm: Arm) -> None:
    session = replace(SESSION, assigned={"x": arm}, shows=False, takes=False)
    assert ByExposure("x").place(session) == out(Why.TAKES_NOTHING)


def test_a_day_counts_only_if_the_file_read_as_it_should() -> None:
    by_days = ByDays("salt", 0.5, "AGENTS.md", frozenset({"with"}))
    arms = set()
    for day in range(20):
        start = (20_000 + day) * DAY_MS
        planned = arm_of_day("salt", 20_000 + day, 0.5)
        arms.add(planned)
        right = {"AGENTS.md": "with" if planned is Arm.TREATMENT else "without"}
        wrong = {"AGENTS.md": "without" if planned is Arm.TREATMENT else "with"}
        session = replace(SESSION, started=start, ended=start + HOUR)
        assert by_days.place(replace(session, texts=right)) == Placed(planned)
        assert by_days.place(replace(session, texts=wrong)) == out(Why.OUT_OF_STEP)
        over_night = replace(session, ended=start + DAY_MS, texts=right)
        assert by_days.place(over_night) == out(Why.STRADDLES)
    assert arms == set(Arm)


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    return repository(tmp_path / "repo")


def bound(repo: Repo, change: str, objects: Objects) -> ByCommit:
    moment = int(repo.git("show", "-s", "--format=%ct", change)) * 1000
    return ByCommit(Containment(objects, change).held, moment, (("AGENTS.md", "old", "new"),))


def test_sessions_on_trees_with_the_change_are_treatment(repo: Repo) -> None:
    before = repo.commit("start", {"AGENTS.md": "Build with make.\n"})
    change = repo.commit("rule", {"AGENTS.md": "Build with make.\nUse uv run pytest.\n"})
    repo.git("revert", "--no-edit", change)
    reverted = repo.git("rev-parse", "HEAD")
    with Objects(str(repo.folder)) as objects:
        binding = bound(repo, change, objects)
        at = {
            it: binding.place(replace(SESSION, commit=it, started=repo.now, ended=repo.now))
            for it in (before, change, reverted)
        }
    assert at == {before: CONTROL, change: TREATMENT, reverted: CONTROL}


def test_a_session_during_which_the_change_came_is_left_out(repo: Repo) -> None:
    before = repo.commit("start", {"AGENTS.md": "Build with make.\n"})
    change = repo.commit("rule", {"AGENTS.md": "Build with make.\nUse uv run pytest.\n"})
    session = replace(SESSION, commit=before, started=repo.now - HOUR, ended=repo.now + HOUR)
    with Objects(str(repo.folder)) as objects:
        binding = bound(repo, change, objects)
        assert binding.place(session) == out(Why.STRADDLES)
        assert binding.place(replace(session, ended=repo.now - 1)) == CONTROL


def test_of_an_edited_tree_the_files_that_a_hook_saw_decide(repo: Repo) -> None:
    before = repo.commit("start", {"AGENTS.md": "Build with make.\n"})
    change = repo.commit("rule", {"AGENTS.md": "Build with make.\nUse uv run pytest.\n"})
    edited = replace(SESSION, commit=before, dirty=True, started=repo.now, ended=repo.now)
    with Objects(str(repo.folder)) as objects:
        binding = bound(repo, change, objects)
        assert binding.place(edited) == out(Why.DIRTY)
        assert binding.place(replace(edited, texts={"AGENTS.md": "new"})) == TREATMENT
        assert binding.place(replace(edited, texts={"AGENTS.md": "old"})) == CONTROL
        assert binding.place(replace(edited, texts={"AGENTS.md": "third"})) == out(Why.DIRTY)


def test_what_this_clone_cannot_tell_is_left_out(repo: Repo) -> None:
    repo.commit("start", {"AGENTS.md": "Build with make.\n"})
    change = repo.commit("rule", {"AGENTS.md": "Build with make.\nUse uv run pytest.\n"})
    with Objects(str(repo.folder)) as objects:
        binding = bound(repo, change, objects)
        assert binding.place(SESSION) == out(Why.NO_COMMIT)
        assert binding.place(replace(SESSION, commit="f" * 40)) == out(Why.NOT_HERE)
        assert binding.place(replace(SESSION, ended=None)) == out(Why.NO_TIME)


def test_after_a_pin_everything_that_builds_on_it_is_treatment(repo: Repo) -> None:
    before = repo.commit("start", {"a.py": "1\n"})
    pin = repo.commit("pinned", {"a.py": "2\n"})
    pinned_at = repo.now + 1
    repo.git("switch", "-qc", "other", before)
    other = repo.commit("other", {"b.py": "1\n"})
    repo.git("switch", "-q", "main")
    after = repo.commit("change", {"a.py": "3\n"})

    def is_ancestor(first: str, second: str) -> bool:
        return first in repo.git("rev-list", second).split()

    binding = SincePin(is_ancestor, lambda it: len(set(it)) > 1, pin, pinned_at)
    early = replace(SESSION, started=pinned_at - HOUR, ended=pinned_at - 1)
    late = replace(SESSION, started=pinned_at + HOUR, ended=pinned_at + HOUR)
    assert binding.place(replace(early, commit=before)) == CONTROL
    assert binding.place(replace(early, commit=pin)) == CONTROL
    assert binding.place(replace(late, commit=after)) == TREATMENT
    assert binding.place(replace(late, commit=other)) == out(Why.ELSEWHERE)
    # After the pin, a tree at the pin holds the change as soon as somebody edits it.
    assert binding.place(replace(late, commit=pin)) == out(Why.DIRTY)
    assert binding.place(replace(late, commit=pin, dirty=False)) == CONTROL
    straddling = replace(early, commit=pin, ended=pinned_at + HOUR)
    assert binding.place(straddling) == out(Why.STRADDLES)
    assert binding.place(replace(late, commit="f" * 40)) == out(Why.NOT_HERE)


def test_branches_are_told_by_name() -> None:
    two = ByBranch("topic", "main")
    assert two.place(replace(SESSION, branch="topic")) == TREATMENT
    assert two.place(replace(SESSION, branch="main")) == CONTROL
    assert two.place(replace(SESSION, branch="x")) == out(Why.OTHER_BRANCH)
    assert two.place(SESSION) == out(Why.NO_BRANCH)
    assert ByBranch("topic").place(replace(SESSION, branch="x")) == CONTROL


def test_prompts_are_told_by_what_they_hold() -> None:
    one, other = fingerprint({"AGENTS.md": "a"}), fingerprint({"AGENTS.md": "b"})
    assert one == fingerprint({"AGENTS.md": "a"}) != other
    binding = ByPrompt(one[:6], other)
    assert binding.place(replace(SESSION, prompt=one)) == TREATMENT
    assert binding.place(replace(SESSION, prompt=other)) == CONTROL
    assert binding.place(replace(SESSION, prompt="x")) == out(Why.OTHER_PROMPT)
    assert binding.place(SESSION) == out(Why.NO_PROMPT)


# --- a line that was applied ----------------------------------------------------------------------

WRITTEN = START + 10 * HOUR
APPLIED = ByText(
    path="CLAUDE.md",
    holding=frozenset({"with"}),
    lacking=frozenset({"without"}),
    folder="/work/app",
    moment=WRITTEN,
)


def at(hours: int, mark: str | None = None, *, seen: bool, folder: str = "/work/app") -> Candidate:
    """A session of one hour that begins so long after the line was written."""
    began = WRITTEN + hours * HOUR
    texts = None if mark == "nobody looked" else {} if mark is None else {"CLAUDE.md": mark}
    return replace(
        SESSION, started=began, ended=began + HOUR, texts=texts, seen=seen, folder=folder
    )


@pytest.mark.parametrize(
    ("binding", "session", "expected"),
    [
        (APPLIED, at(-5, "without", seen=True), CONTROL),
        (APPLIED, at(-5, "nobody looked", seen=False), CONTROL),
        (APPLIED, at(5, "with", seen=True), TREATMENT),
        (APPLIED, at(5, "without", seen=True), CONTROL),
        (APPLIED, at(5, None, seen=True), CONTROL),
        # The file was edited elsewhere since: in the folder it was written to the line stands.
        (APPLIED, at(5, "another", seen=True), TREATMENT),
        (APPLIED, at(5, "another", seen=True, folder="/work/other"), out(Why.UNTOLD)),
        # Nobody committed the line, so a commit without it says nothing.
        (APPLIED, at(5, "without", seen=False, folder="/work/app/src"), TREATMENT),
        (replace(APPLIED, committed=True), at(5, "without", seen=False), out(Why.DIRTY)),
        (replace(APPLIED, committed=True), at(5, "with", seen=False), TREATMENT),
        (APPLIED, at(5, "nobody looked", seen=False), TREATMENT),
        (APPLIED, at(5, "nobody looked", seen=False, folder="/work/app2"), out(Why.UNTOLD)),
        (replace(APPLIED, until=WRITTEN + 20 * HOUR), at(5, "with", seen=True), TREATMENT),
        (replace(APPLIED, until=WRITTEN + 20 * HOUR), at(30, "with", seen=True), out(Why.AFTER)),
        (APPLIED, replace(SESSION, started=None), out(Why.NO_TIME)),
    ],
)
def test_an_applied_line_is_told_by_what_the_file_held(
    binding: ByText, session: Candidate, expected: Placed
) -> None:
    assert binding.place(session) == expected


def test_a_session_that_was_running_when_the_line_came_or_went_is_left_out() -> None:
    straddling = replace(SESSION, started=WRITTEN - 1, ended=WRITTEN, folder="/work/app")
    assert APPLIED.place(straddling) == out(Why.STRADDLES)
    gone = replace(APPLIED, until=WRITTEN + 5 * HOUR)
    late = replace(straddling, started=WRITTEN + 4 * HOUR, ended=WRITTEN + 6 * HOUR)
    assert gone.place(late) == out(Why.STRADDLES)
