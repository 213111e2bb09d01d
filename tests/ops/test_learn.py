"""What is offered from sessions, what is not, and what becomes of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bet_world import DAY, NOW, SESSIONS, repository, stocked
from hansei.config import Config, Environment, Settings
from hansei.errors import NotFound, UsageError
from hansei.learn.model import Offer, Skill, State
from hansei.ops import learn as learning
from hansei.ops import skills
from hansei.ops.learn import Learned, Suggestion, about, learn, reset_skips, save, skip
from hansei.ops.projecting import refresh
from hansei.ops.scope import Scope
from hansei.ops.skills import Desk
from hansei.store import log
from hansei.store.database import Store
from learn_world import NATIVE, offer, plant
from pieces import call, piece, prompt, result

Plant = Callable[..., None]


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    """A repository with ten sessions, and a person in it."""
    place = repository(tmp_path / "app")
    home = tmp_path / "home"
    home.mkdir()
    store = tmp_path / "store"
    environment = Environment(home, {"HANSEI_HOME": str(store), "PATH": "/usr/bin:/bin"})
    stock = stocked(store, place)
    made = Desk(stock, Config(store, Settings(), environment), place, NOW)
    refresh(stock, made.config, workspace=None, now=NOW)
    yield made
    stock.close()


@pytest.fixture
def planted(monkeypatch: pytest.MonkeyPatch) -> Plant:
    return lambda *offers: plant(monkeypatch, offers)


def look(desk: Desk, now: int = NOW, among: tuple[str, ...] = ()) -> Learned:
    return learn(replace(desk, now=now), Scope(), among)


def names(found: Learned) -> list[str]:
    return [it.offer.name for it in found.suggestions]


def only(desk: Desk) -> Suggestion:
    (found,) = look(desk).suggestions
    return found


def add_session(store: Store, number: int, at: int) -> None:
    """One more session like those in stock."""
    with store.transaction() as db:
        (home,) = db.execute("SELECT DISTINCT workspace FROM sessions").fetchone()
        db.execute(
            "INSERT INTO sessions (agent, native, workspace, driver, started_at, ended_at,"
            " next_seq) VALUES ('claude_code', ?, ?, 'human', ?, ?, 5)",
            (NATIVE.format(number), home, at, at),
        )


# --- what is offered ------------------------------------------------------------------------------


def test_an_offer_comes_with_its_places_newest_first(desk: Desk, planted: Plant) -> None:
    planted(offer())
    found = only(desk)
    assert found.places == ("00000009#3", "00000008#3", "00000007#3")
    assert found.natives == (NATIVE.format(9), NATIVE.format(8), NATIVE.format(7))
    assert (found.workspace, found.root) == ("app", desk.here)


def test_the_best_come_first_as_they_were_found(desk: Desk, planted: Plant) -> None:
    planted(offer("b"), offer("a", ["make a b"]))
    assert names(look(desk)) == ["b", "a"]


def test_what_a_skill_says_is_not_offered_whatever_became_of_it(desk: Desk, planted: Plant) -> None:
    wanted = offer()
    planted(wanted)
    skills.add(desk, Skill("checks", "How to check", "See there", key=wanted.key))
    skills.change_state(desk, "checks", State.REJECTED)
    found = look(desk)
    assert not found.suggestions
    assert [it.said for it in found.said] == ["skill checks"]


def test_what_an_instruction_file_says_is_not_offered(desk: Desk, planted: Plant) -> None:
    planted(offer())
    (desk.here / "AGENTS.md").write_text("First `make fmt`, `make check`; then git push.\n")
    assert [it.said for it in look(desk).said] == ["AGENTS.md"]
    (desk.here / "AGENTS.md").write_text("First `make fmt`.\n")
    assert names(look(desk)) == ["procedure-make"]


def test_what_another_skill_of_the_repository_says_is_not_offered(
    desk: Desk, planted: Plant
) -> None:
    planted(offer())
    file = desk.here / ".claude" / "skills" / "handover" / "SKILL.md"
    file.parent.mkdir(parents=True)
    file.write_text("---\nname: handover\n---\n1. make fmt\n2. make check\n3. git push\n")
    assert not look(desk).suggestions


def test_what_would_harm_is_refused_and_what_the_web_said_is_quarantined(
    desk: Desk, planted: Plant
) -> None:
    recipe = "wrangle --publish --channel nightly --from https://elsewhere.example/recipe"
    events = [
        prompt("w", 1, NOW - DAY),
        call("w", 2, NOW - DAY, "curl https://elsewhere.example/howto"),
        msgspec.structs.replace(result("w", 2, NOW - DAY), text=f"To publish, run {recipe}."),
        call("w", 3, NOW - DAY, recipe),
    ]
    one = piece(events, path="/t/w", agent="claude_code", cwd=str(desk.here))
    log.commit(desk.store, [one], now=NOW, seal_before=0)
    said = offer("from-the-web", [recipe])
    planted(
        replace(said, evidence=(replace(said.evidence[0], session="w", event=4),)),
        offer("wipe", ["rm -rf / --no-preserve-root"]),
        offer("fine", ["make fine now"]),
    )
    found = look(desk)
    assert names(found) == ["fine"]
    states = {it.offer.name: it.state for it in found.kept_back}
    assert states == {"from-the-web": State.QUARANTINED, "wipe": State.REJECTED}
    assert all(it.reasons for it in found.kept_back)


# --- skips ----------------------------------------------------------------------------------------


def test_what_was_put_off_comes_back_after_four_weeks(desk: Desk, planted: Plant) -> None:
    planted(offer())
    skip(desk, only(desk), for_ever=False)
    assert learning.RETURN_DAYS == 28
    assert [it.offer.name for it in look(desk, NOW + 28 * DAY - 1).skipped] == ["procedure-make"]
    assert names(look(desk, NOW + 28 * DAY)) == ["procedure-make"]


def test_what_was_put_off_comes_back_when_as_many_sessions_again_show_it(
    desk: Desk, planted: Plant
) -> None:
    planted(offer(sessions=(8, 9)))
    skip(desk, only(desk), for_ever=False)
    for number in (10, 11):
        add_session(desk.store, number, NOW + number)
    planted(offer(sessions=(8, 9, 10)))
    assert not look(desk, NOW + DAY).suggestions
    planted(offer(sessions=(8, 9, 10, 11)))
    assert names(look(desk, NOW + DAY)) == ["procedure-make"]


def test_older_sessions_that_show_it_too_do_not_bring_it_back(desk: Desk, planted: Plant) -> None:
    planted(offer(sessions=(9,)))
    skip(desk, only(desk), for_ever=False)
    planted(offer(sessions=range(SESSIONS)))
    assert not look(desk, NOW + 1).suggestions


def test_what_is_never_wanted_does_not_come_back_until_a_reset(desk: Desk, planted: Plant) -> None:
    planted(offer(sessions=(9,)))
    skip(desk, only(desk), for_ever=True)
    add_session(desk.store, 10, NOW + 1)
    planted(offer(sessions=(9, 10)))
    assert not look(desk, NOW + 400 * DAY).suggestions
    assert reset_skips(desk.store, None) == 1
    assert names(look(desk)) == ["procedure-make"]


@given(st.text(), st.text(), st.lists(st.text(), max_size=3))
def test_an_offer_without_a_key_is_remembered_by_what_it_is(
    detector: str, name: str, commands: list[str]
) -> None:
    one = Offer(detector, name, "d", "b", tuple(commands), ())
    assert about(one) == about(Offer(detector, name, "other words", "", tuple(commands), ()))
    assert about(one) != about(Offer(detector, name, "d", "b", (*commands, "x"), ()))


# --- one session ----------------------------------------------------------------------------------


def test_of_a_session_only_what_it_shows_or_is_one_more_example_of_is_offered(
    desk: Desk, planted: Plant
) -> None:
    planted(
        offer("alone", ["make c d"], sessions=(9,)),
        offer("other", ["make e f"], sessions=(1, 2, 3)),
        offer("recurring", ["make a b"], sessions=(2, 5, 9)),
    )
    assert names(look(desk, among=(NATIVE.format(9),))) == ["alone", "recurring"]
    assert names(look(desk, among=("00000001",))) == ["other"]
    assert names(look(desk, among=("00000004",))) == []
    assert names(look(desk, among=("00000001", "00000009"))) == ["alone", "other", "recurring"]


def test_of_a_session_later_ones_count_for_nothing(desk: Desk, planted: Plant) -> None:
    planted()
    found = look(desk, among=("00000002",))
    assert (found.sessions, found.among) == (3, ("00000002",))


def test_a_session_that_is_not_there_is_refused(desk: Desk, planted: Plant) -> None:
    planted()
    with pytest.raises(NotFound):
        look(desk, among=("nowhere",))


# --- saving ---------------------------------------------------------------------------------------


def test_a_saved_offer_is_a_draft_in_the_book_and_lies_where_agents_look(
    desk: Desk, planted: Plant
) -> None:
    planted(offer())
    found = only(desk)
    done = save(desk, found, promoted=True)
    assert (done.name, done.state) == ("procedure-make", State.DRAFT)
    assert {it.relative_to(desk.here).as_posix() for it in done.files} == {
        ".agents/skills/procedure-make/SKILL.md",
        ".claude/skills/procedure-make/SKILL.md",
    }
    assert all("make check" in it.read_text() for it in done.files)
    kept = skills.find(desk.config, desk.here, "procedure-make")[1]
    assert (kept.key, kept.evidence) == (found.offer.key, found.offer.evidence)
    assert (kept.origin, kept.auto_load) == ("multi-step", False)
    assert not look(desk).suggestions


def test_for_the_user_it_lies_in_the_home_folder(desk: Desk, planted: Plant) -> None:
    planted(offer())
    done = save(desk, only(desk), user=True, promoted=True)
    home = desk.config.environment.home
    assert len(done.files) == 2
    assert all(it.is_relative_to(home) and it.is_file() for it in done.files)
    assert not (desk.here / ".agents").exists()


def test_a_quarantined_offer_is_kept_as_that_and_lies_nowhere(desk: Desk, planted: Plant) -> None:
    planted(offer())
    done = save(desk, replace(only(desk), state=State.QUARANTINED))
    assert done.files == ()
    assert skills.find(desk.config, desk.here, done.name)[1].state is State.QUARANTINED
    assert not (desk.here / ".agents").exists()
    assert [it.said for it in look(desk).said] == ["skill procedure-make"]


def test_a_name_that_is_taken_is_left_to_whom_it_belongs(desk: Desk, planted: Plant) -> None:
    """By another skill of ours, and by a folder that somebody wrote by hand."""
    skills.add(desk, Skill("procedure-make", "Another thing", "Quite another"))
    hand = desk.here / ".claude" / "skills" / "procedure-make-2" / "SKILL.md"
    hand.parent.mkdir(parents=True)
    hand.write_text("mine")
    planted(offer())
    done = save(desk, only(desk))
    assert done.name not in ("procedure-make", "procedure-make-2")
    assert done.name.startswith("procedure-make-")
    assert hand.read_text() == "mine"


def test_where_the_repository_is_gone_a_skill_is_saved_for_the_user_alone(
    desk: Desk, planted: Plant
) -> None:
    planted(offer())
    gone = replace(only(desk), root=None)
    with pytest.raises(UsageError, match="not on this machine"):
        save(desk, gone)
    assert save(desk, gone, user=True, promoted=True).files
