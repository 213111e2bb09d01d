"""What is offered from sessions, and what is not."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bet_world import DAY, NOW, SESSIONS, repository, stocked
from hansei.errors import NotFound
from hansei.learn.model import Offer, Skill, State
from hansei.ops import learn as learning
from hansei.ops.learn import Learned, about, learn, reset_skips, skip
from hansei.ops.scope import Scope
from hansei.store.database import Store
from learn_world import Planted, Verdict, offer

NATIVE = "{:08x}-session"


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return repository(tmp_path / "app")


@pytest.fixture
def stock(tmp_path: Path, place: Path) -> Iterator[Store]:
    store = stocked(tmp_path / "store", place)
    yield store
    store.close()


def look(
    store: Store, means: Planted, now: int = NOW, *among: str, scope: Scope | None = None
) -> Learned:
    return learn(store, scope or Scope(), means, Path("/nobody"), now, among)


def names(found: Learned) -> list[str]:
    return [it.offer.name for it in found.suggestions]


def add_session(store: Store, number: int, at: int) -> None:
    """One more session like those in stock."""
    with store.transaction() as db:
        (home,) = db.execute("SELECT DISTINCT workspace FROM sessions").fetchone()
        db.execute(
            "INSERT INTO sessions (agent, native, workspace, driver, started_at, ended_at,"
            " next_seq) VALUES ('claude_code', ?, ?, 'human', ?, ?, 5)",
            (NATIVE.format(number), home, at, at),
        )


def test_an_offer_comes_with_its_places_newest_first(stock: Store) -> None:
    (found,) = look(stock, Planted([offer()])).suggestions
    assert found.places == ("00000009#3", "00000008#3", "00000007#3")
    assert found.natives == (NATIVE.format(9), NATIVE.format(8), NATIVE.format(7))
    assert found.workspace == "app"


def test_the_best_come_first_as_they_were_found(stock: Store) -> None:
    means = Planted([offer("b"), offer("a", ["make a b"])])
    assert names(look(stock, means)) == ["b", "a"]


def test_what_a_skill_says_is_not_offered(stock: Store) -> None:
    wanted = offer()
    means = Planted([wanted], kept=[Skill("checks", "How to check", "See there", key=wanted.key)])
    found = look(stock, means)
    assert not found.suggestions
    assert [it.said for it in found.said] == ["skill checks"]
    assert not means.judged


def test_what_an_instruction_file_says_is_not_offered(stock: Store, place: Path) -> None:
    means = Planted([offer()])
    (place / "AGENTS.md").write_text("First `make fmt`, `make check`; then git push.\n")
    assert [it.said for it in look(stock, means).said] == ["AGENTS.md"]
    (place / "AGENTS.md").write_text("First `make fmt`.\n")
    assert names(look(stock, means)) == ["procedure-make"]


def test_what_another_skill_of_the_repository_says_is_not_offered(
    stock: Store, place: Path
) -> None:
    file = place / ".claude" / "skills" / "handover" / "SKILL.md"
    file.parent.mkdir(parents=True)
    file.write_text("---\nname: handover\n---\n1. make fmt\n2. make check\n3. git push\n")
    assert not look(stock, Planted([offer()])).suggestions


def test_what_the_gate_keeps_back_is_told_with_its_reasons(stock: Store) -> None:
    verdicts = {
        "from-the-web": Verdict(State.QUARANTINED, ("a page said it",)),
        "wipe": Verdict(State.REJECTED, ("it deletes",)),
    }
    offers = [offer("from-the-web"), offer("wipe", ["rm -rf x"]), offer("fine", ["make fine now"])]
    found = look(stock, Planted(offers, verdicts))
    assert names(found) == ["fine"]
    assert [(it.offer.name, it.reasons) for it in found.kept_back] == [
        ("from-the-web", ("a page said it",)),
        ("wipe", ("it deletes",)),
    ]


# --- skips ----------------------------------------------------------------------------------------


def skipped(store: Store, wanted: Offer, *, for_ever: bool = False) -> None:
    (found,) = look(store, Planted([wanted])).suggestions
    skip(store, found, NOW, for_ever=for_ever)


def test_what_was_put_off_comes_back_after_four_weeks(stock: Store) -> None:
    wanted = offer()
    skipped(stock, wanted)
    means = Planted([wanted])
    assert learning.RETURN_DAYS == 28
    assert [it.offer for it in look(stock, means, NOW + 28 * DAY - 1).skipped] == [wanted]
    assert names(look(stock, means, NOW + 28 * DAY)) == ["procedure-make"]


def test_what_was_put_off_comes_back_when_as_many_sessions_again_show_it(stock: Store) -> None:
    skipped(stock, offer(sessions=(8, 9)))
    for number in (10, 11):
        add_session(stock, number, NOW + number)
    once = Planted([offer(sessions=(8, 9, 10))])
    assert not look(stock, once, NOW + DAY).suggestions
    assert not once.judged
    twice = Planted([offer(sessions=(8, 9, 10, 11))])
    assert names(look(stock, twice, NOW + DAY)) == ["procedure-make"]


def test_older_sessions_that_show_it_too_do_not_bring_it_back(stock: Store) -> None:
    skipped(stock, offer(sessions=(9,)))
    everywhere = Planted([offer(sessions=range(SESSIONS))])
    assert not look(stock, everywhere, NOW + 1).suggestions


def test_what_is_never_wanted_does_not_come_back(stock: Store) -> None:
    skipped(stock, offer(sessions=(9,)), for_ever=True)
    add_session(stock, 10, NOW + 1)
    means = Planted([offer(sessions=(9, 10))])
    assert not look(stock, means, NOW + 400 * DAY).suggestions


def test_after_a_reset_everything_is_offered_again(stock: Store) -> None:
    skipped(stock, offer(), for_ever=True)
    assert reset_skips(stock, None) == 1
    assert names(look(stock, Planted([offer()]))) == ["procedure-make"]


@given(st.text(), st.text(), st.lists(st.text(), max_size=3))
def test_an_offer_without_a_key_is_remembered_by_what_it_is(
    detector: str, name: str, commands: list[str]
) -> None:
    one = Offer(detector, name, "d", "b", tuple(commands), ())
    assert about(one) == about(Offer(detector, name, "other words", "", tuple(commands), ()))
    assert about(one) != about(Offer(detector, name, "d", "b", (*commands, "x"), ()))


# --- one session ----------------------------------------------------------------------------------


def test_of_a_session_what_it_is_one_more_example_of_comes_before_what_it_shows_alone(
    stock: Store,
) -> None:
    recurring = offer("recurring", ["make a b"], sessions=(2, 5, 9))
    alone = offer("alone", ["make c d"], sessions=(9,))
    other = offer("other", ["make e f"], sessions=(1, 2, 3))
    means = Planted([alone, other, recurring])
    assert names(look(stock, means, NOW, NATIVE.format(9))) == ["alone", "recurring"]
    assert names(look(stock, means, NOW, NATIVE.format(1))) == ["other"]
    assert names(look(stock, means, NOW, NATIVE.format(4))) == []


def test_of_a_session_later_ones_count_for_nothing(stock: Store) -> None:
    found = look(stock, Planted(), NOW, NATIVE.format(2))
    assert found.sessions == 3
    assert found.among == (NATIVE.format(2),)


def test_a_session_that_is_not_there_is_refused(stock: Store) -> None:
    with pytest.raises(NotFound):
        look(stock, Planted(), NOW, "nowhere")
