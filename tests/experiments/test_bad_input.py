"""History that is gone, clocks that lie, arms that are empty: clear words and a safe verdict."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from claude_home import session
from experiment_desk import LINE, TARGET, Office
from git_world import DAY, HOUR, Repo
from hansei.cli import app
from hansei.cli.root import root
from hansei.config import Environment
from hansei.errors import UsageError

GIT = ("exp", "new", "--bind", "git", "--hypothesis", "fewer tokens")
COIN = ("exp", "new", "--bind", "exposure", "--text", LINE, "--hypothesis", "it helps")


def changed(office: Office, name: str = "auth.py") -> str:
    """A commit of now; work goes on two hours later."""
    office.repo.now = office.clock
    commit = office.repo.commit(f"change {name}", {name: "x = 1\n"})
    office.clock += 2 * HOUR
    return commit


def safe(found: dict[str, Any]) -> None:
    assert found["headline"] == "inconclusive"
    assert all(found["sentences"])


def test_rewritten_history_leaves_its_sessions_out_and_says_so(office: Office) -> None:
    office.days(2)
    office.told(*GIT)
    pin = office.repo.git("rev-parse", "HEAD")
    changed(office)
    office.days(2)
    # Every commit is made anew: what was pinned is on no branch any more.
    office.repo.now = office.clock
    office.repo.git("checkout", "--quiet", "--orphan", "anew")
    office.repo.commit("first again", {"new.txt": "y\n"})
    office.repo.git("branch", "-M", "main")
    office.repo.git("reflog", "expire", "--expire=now", "--all")
    office.repo.git("gc", "--quiet", "--prune=now")
    found = office.report()
    safe(found)
    assert f"Commit {pin[:10]} is not in this clone" in " ".join(found["notes"])
    assert found["left_out"] == {"this clone lacks the commit it began on, or the change": 8}


def test_a_pin_beside_what_is_checked_out_is_told(office: Office) -> None:
    office.told(*GIT)
    office.repo.now = office.clock
    office.repo.git("commit", "--quiet", "--amend", "--message", "first, reworded")
    office.clock += HOUR
    office.days(2)
    found = office.report()
    safe(found)
    assert "is no part of what is checked out" in " ".join(found["notes"])
    assert found["left_out"] == {"it ran on another line of history": 4}


def test_a_commit_that_is_not_here_is_refused_at_once(office: Office) -> None:
    for name in ("--change", "--pin"):
        with pytest.raises(UsageError, match="there is no commit 'deadbeef'"):
            office.type(*GIT, name, "deadbeef")
    with pytest.raises(UsageError, match="exclude each other"):
        office.type(*GIT, "--change", "HEAD", "--pin", "HEAD")


def test_a_shallow_clone_lacks_the_change_and_says_so(office: Office, tmp_path: Path) -> None:
    office.days(2)
    change = changed(office)
    changed(office, "other.py")
    office.days(2)
    begun = office.told(*GIT, "--change", change)
    clone = tmp_path / "shallow"
    url = f"file://{office.place}"
    subprocess.run(["git", "clone", "-q", "--depth=1", url, str(clone)], check=True)
    shutil.rmtree(office.place)
    clone.rename(office.place)
    found = office.report(begun["id"])
    safe(found)
    assert "this clone is shallow" in " ".join(found["notes"])


def test_a_repository_that_is_gone_gives_no_verdict(office: Office, tmp_path: Path) -> None:
    office.days(2)
    begun = office.told(*GIT)
    office.place.rename(tmp_path / "moved away")
    office.capsys.readouterr()
    place = app.Place(Environment(office.home, {"PATH": "/usr/bin:/bin"}), tmp_path)
    with app.elsewhere(place):
        root.main(args=["exp", "report", begun["id"], "--json"], standalone_mode=False)
    found = json.loads(office.capsys.readouterr().out)
    safe(found)
    assert "not on this machine" in " ".join(found["notes"])


def test_no_sessions_at_all_is_no_verdict(office: Office) -> None:
    office.told(*GIT)
    found = office.report()
    safe(found)
    assert found["sentences"][0] == "Not decided: no session has been counted yet."


def test_an_arm_without_sessions_is_no_verdict(office: Office) -> None:
    office.days(20)
    office.told(*GIT)
    found = office.report()
    safe(found)
    assert "no session with the change yet, 40 without it" in found["sentences"][0]
    assert found["verdict"]["why"] == "an arm has no sessions"


def test_one_giant_session_decides_nothing(office: Office) -> None:
    office.told(*COIN)
    office.days(5, a_day=8, hooked=True)
    before = office.report()
    office.session(hooked=True, tokens=10**12)
    office.clock += HOUR
    found = office.report()
    assert found["verdict"]["word"] == before["verdict"]["word"] == "inconclusive"
    middle = next(it for it in found["medians"] if it["name"] == "tokens")
    assert middle["control"] < 10_000
    assert middle["treatment"] < 10_000


def test_sessions_from_the_future_are_left_out(office: Office) -> None:
    office.told(*COIN)
    office.days(2, hooked=True)
    present = office.clock
    office.clock += 30 * DAY
    office.session(hooked=True)
    office.clock = present
    assert office.report()["left_out"] == {"its clock is ahead of this machine's": 1}


def test_a_session_that_may_still_go_on_waits(office: Office) -> None:
    office.told(*COIN)
    office.clock += HOUR
    office.session(hooked=True)
    office.clock += HOUR // 2
    assert office.report()["left_out"] == {"it may still be going on": 1}
    office.clock += HOUR
    assert office.report()["left_out"] == {}


def test_a_deleted_branch_is_told_by_the_name_that_sessions_noted(office: Office) -> None:
    office.days(2)
    office.days(2, branch="topic")
    begin = ("exp", "new", "--bind", "branch", "--treatment", "topic", "--hypothesis", "better")
    office.told(*begin)
    found = office.report()
    safe(found)
    assert "There is no branch topic here any more" in " ".join(found["notes"])
    assert found["verdict"]["treatment"]["sessions"] == 4


def test_two_pins_at_once_could_not_be_told_apart(office: Office) -> None:
    office.told(*GIT)
    with pytest.raises(UsageError, match="nobody could tell which of the two did it"):
        office.type(*GIT)


def test_two_switchbacks_of_one_file_are_refused(office: Office) -> None:
    days = ("exp", "new", "--bind", "days", "--to", "CLAUDE.md", "--yes", "--hypothesis", "h")
    office.type(*days, "--text", "One thing.")
    with pytest.raises(UsageError, match=r"the block in CLAUDE\.md"):
        office.type(*days, "--text", "Another thing.")


def test_a_straddling_session_is_left_out_and_counted(office: Office) -> None:
    office.days(14)
    office.type("retro", "-n", "0")
    office.session(hours=3)
    office.clock += HOUR
    office.type("apply", "1", "--yes")
    office.clock += 4 * HOUR
    assert office.report()["left_out"]["the change came while it ran"] == 1


def test_subagents_count_with_their_parent(office: Office) -> None:
    begun = office.told(*COIN, "--metric", TARGET)
    office.clock += HOUR
    parent = office.session(hooked=True, untold=0.0, told=0.0)
    folder = next((office.home / ".claude").rglob(f"{parent}.jsonl")).parent
    child = session(office.home, parent, office.clock + 1000, cwd=str(office.place))
    child.path = folder / parent / "subagents" / "agent-a1b2c3.jsonl"
    child.prompt("Check types.")
    child.run("make typecheck", "make: *** No rule to make target 'typecheck'.  Stop.", exit_code=2)
    child.say("It failed.")
    text = child.path.read_text().replace(
        '"isSidechain": false', '"isSidechain": true, "agentId": "a1b2c3"'
    )
    child.path.write_text(text)
    office.clock += 2 * HOUR
    found = office.report(begun["id"])["verdict"]
    assert found["control"]["sessions"] + found["treatment"]["sessions"] == 1
    assert found["control"]["hits"] + found["treatment"]["hits"] == 1


def test_automated_runs_are_compared_among_themselves(office: Office) -> None:
    office.told(*COIN)
    office.clock += HOUR
    office.session(hooked=True)
    robot = office.session(hooked=True)
    file = next((office.home / ".claude").rglob(f"{robot}.jsonl"))
    file.write_text(file.read_text().replace('"entrypoint": "cli"', '"entrypoint": "sdk-cli"'))
    office.clock += 2 * HOUR
    model = "claude_code · claude-sonnet-4-5-20250929"
    assert office.report()["strata"] == {model: 1, f"{model} · automated": 1}


def test_arms_that_no_model_has_in_common_are_told(office: Office) -> None:
    older = office.session(model="claude-opus-4-5")
    newer = office.session(model="claude-sonnet-4-5")
    office.clock += HOUR
    office.told("exp", "new", "--bind", "tag", "--hypothesis", "tests first")
    office.type("exp", "tag", "control", older)
    office.type("exp", "tag", "treatment", newer)
    (note,) = office.report()["notes"]
    assert "No agent and model has sessions in both arms" in note


def test_a_damaged_list_of_deliveries_is_written_anew(office: Office) -> None:
    (office.store_folder / "exposure.json").write_text("{ not json")
    begun = office.told(*COIN)
    text = (office.store_folder / "exposure.json").read_text()
    assert [it["id"] for it in json.loads(text)["items"]] == [begun["id"]]


@pytest.mark.parametrize(
    ("wish", "words"),
    [
        (("--bind", "exposure"), "tries one text"),
        (("--bind", "git", "--text", "x"), "delivers nothing"),
        (("--bind", "branch"), "needs --treatment"),
        (("--bind", "tag", "--treatment", "x"), "belong to --bind branch"),
        (("--bind", "exposure", "--text", "x", "--change", "HEAD"), "belong to --bind git"),
        (("--bind", "exposure", "--text", "x", "--to", "AGENTS.md"), "belongs to --bind days"),
        (("--bind", "exposure", "--text", "  "), "is empty"),
        (("--bind", "git", "--metric", "speed"), "there is no metric 'speed'"),
        (("--bind", "git", "--metric", "tokens:x"), "has no subject"),
        (("--bind", "git", "--metric", "weather:rain"), "nobody knows how to count 'weather'"),
    ],
)
def test_what_does_not_fit_together_is_refused(
    office: Office, wish: tuple[str, ...], words: str
) -> None:
    with pytest.raises(UsageError, match=words):
        office.type("exp", "new", "--hypothesis", "h", *wish)
    assert office.told("exp", "list")["experiments"] == []


def test_an_experiment_without_a_question_is_refused(office: Office) -> None:
    with pytest.raises(UsageError, match="something to find out"):
        office.type("exp", "new", "--bind", "git")


def test_a_fact_that_nobody_can_count_gives_no_verdict(office: Office) -> None:
    office.told(*GIT, "--metric", TARGET)
    office.days(2)
    with office.open() as store, store.transaction() as db:
        # As a later version may have written it.
        db.execute("UPDATE experiments SET body = replace(body, '\"missing\"', '\"weather\"')")
    found = office.report()
    safe(found)
    assert "Nobody knows how to count weather" in " ".join(found["notes"])


def test_a_target_that_never_came_up_is_asked_about(office: Office) -> None:
    office.told(*COIN, "--metric", "rereads:src/auht.py")
    office.days(2, hooked=True)
    found = office.report()
    safe(found)
    assert "never came up in any session here" in " ".join(found["notes"])


def test_outside_of_a_repository_there_is_nothing_to_compare(
    office: Office, tmp_path: Path
) -> None:
    elsewhere = tmp_path / "plain"
    elsewhere.mkdir()
    office.repo = Repo(elsewhere)
    with pytest.raises(UsageError, match="is in no git repository"):
        office.type(*GIT)
