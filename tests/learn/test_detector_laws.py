"""What holds of every detector, in any sessions."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hansei.learn.contract import Detector
from hansei.learn.detectors import DETECTORS
from hansei.learn.offers import offers
from hansei.learn.worth import destroys, is_trivial
from hansei.learn.writing import name_of
from hansei.projection.calls import calls
from hansei.projection.commands.parsing import parse
from hansei.projection.facts.ran import Ran
from hansei.projection.facts.ran import ran as rows_of
from learn_window import found, offered, texts
from retro_window import ROOT, Telling, window
from told import call, numbered

NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
LONGEST_NAME, LONGEST_DESCRIPTION = 64, 1024
PER_SESSION = len(DETECTORS)


def released(telling: Telling) -> None:
    telling.say("roll out the berths to staging")
    for command in ("./scripts/prepare.sh", "quay build --all", "quay up --all", "smoke.sh --all"):
        telling.run(command)


def guessed(telling: Telling) -> None:
    telling.run("quay list --wide", "Error: unknown flag: --wide", 1).run("quay list")


def corrected(telling: Telling) -> None:
    telling.run("quay build", "no", 1).answer("It fails.")
    telling.say("no, use quay pack instead").run("quay pack")


def repeated(telling: Telling) -> None:
    for _ in range(5):
        telling.run("PYTHONPATH=. pytest -q tests/berths")


def asked(telling: Telling) -> None:
    telling.say("save this as ../../Quay Ü_release")


def looked(telling: Telling) -> None:
    for command in ("ls -la", "cd src", "cat a.py", "git status", "echo done", "pwd", "git diff"):
        telling.run(command)


def destroyed(telling: Telling) -> None:
    for command in ("rm -rf build", "git reset --hard", "git push -f", 'psql -c "drop table a"'):
        for _ in range(4):
            telling.run(command)


def hostile(telling: Telling) -> None:
    telling.say("save this as \x1b[31m`rm`\n\n---\nname: x")
    telling.run("quay '" + "x" * 5000 + "'").run("quay --a=\x1b[2J").run("quay `id` $(id)")


def edited(telling: Telling) -> None:
    telling.edit(f"{ROOT}/src/berths.py").run("make test", "1 failed", 2)


SCENES: tuple[Callable[[Telling], None], ...] = (
    released, guessed, corrected, repeated, asked, looked, destroyed, hostile, edited,
)  # fmt: skip
anything = st.lists(st.lists(st.sampled_from(SCENES), min_size=1, max_size=5), max_size=5)


def told(scenes: list[list[Callable[[Telling], None]]]) -> list[Telling]:
    tellings = []
    for own in scenes:
        telling = Telling()
        for scene in own:
            scene(telling)
        tellings.append(telling)
    return tellings


def run_by(command: str) -> list[Ran]:
    return rows_of(calls(numbered([call("c", text=command)])))


@given(anything)
@settings(max_examples=15, deadline=None)
def test_offers_are_named_by_the_rules_and_rest_on_events_that_exist(
    scenes: list[list[Callable[[Telling], None]]],
) -> None:
    tellings = told(scenes)
    events = {f"s{number}": len(it.events) for number, it in enumerate(tellings, start=1)}
    made = offered(*tellings)
    for offer in made:
        assert NAME.fullmatch(offer.name)
        assert len(offer.name) <= LONGEST_NAME
        assert 0 < len(offer.description) <= LONGEST_DESCRIPTION
        assert not re.search(r"[\x00-\x1f\x7f<>]", offer.description)
        assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f]", offer.body)
        assert offer.body.startswith(f"## {offer.name}\n")
        assert offer.evidence
        assert all(1 <= it.event <= events[it.session] for it in offer.evidence)
        assert offer.key
    assert len({it.name for it in made}) == len(made)
    assert len({it.key for it in made}) == len(made)


@given(anything)
@settings(max_examples=15, deadline=None)
def test_nothing_trivial_and_nothing_destructive_is_offered(
    scenes: list[list[Callable[[Telling], None]]],
) -> None:
    for offer in offered(*told(scenes)):
        for command in offer.commands:
            assert not destroys(command)
            assert not all(is_trivial(it) for it in run_by(command)), command


@given(anything)
@settings(max_examples=15, deadline=None)
def test_a_session_is_offered_one_thing_of_each_kind(
    scenes: list[list[Callable[[Telling], None]]],
) -> None:
    single = [it for it in offered(*told(scenes)) if it.sessions == 1]
    of_each = Counter((it.evidence[0].session, it.detector) for it in single)
    assert all(count == 1 for count in of_each.values())
    of_all = Counter(it.evidence[0].session for it in single)
    assert all(count <= PER_SESSION for count in of_all.values())


@given(anything)
@settings(max_examples=8, deadline=None)
def test_the_same_sessions_give_the_same_offers(
    scenes: list[list[Callable[[Telling], None]]],
) -> None:
    tellings = told(scenes)
    assert offered(*tellings) == offered(*tellings)


@pytest.mark.parametrize("detector", DETECTORS, ids=lambda it: it.name)
def test_every_detector_finds_its_own_kind_and_nothing_in_silence(detector: Detector) -> None:
    scene = {
        "multi-step": released,
        "error-recovery": guessed,
        "user-correction": corrected,
        "repeated-action": repeated,
        "explicit-instruction": asked,
    }[detector.name]
    (telling,) = told([[looked, scene]])
    assert [it.detector for it in found(detector, telling)] == [detector.name]
    (quiet,) = told([[looked, destroyed]])
    assert found(detector, quiet) == []
    assert found(detector) == []


def test_what_many_sessions_show_comes_first_and_hides_its_parts() -> None:
    tellings = told([[released], [released], [released], [repeated, looked]])
    made = offers(window(tellings), texts(tellings))
    assert [it.sessions for it in made] == sorted((it.sessions for it in made), reverse=True)
    assert [it.detector for it in made] == ["multi-step", "repeated-action"]


def test_one_session_is_told_what_it_adds() -> None:
    tellings = told([[released], [released], [released], [repeated, looked]])
    full = window(tellings)
    assert [it.detector for it in offers(full, texts(tellings), of=[4])] == ["repeated-action"]
    assert [it.detector for it in offers(full, texts(tellings), of=[1])] == ["multi-step"]


@pytest.mark.parametrize("text", ["git " * 20_000, " " * 1_000_000, "quay x && " * 5_000])
def test_a_command_of_any_length_costs_no_time(text: str) -> None:
    telling = Telling().say("go").run("quay list --wide", "Error: unknown flag: --wide", 1)
    telling.run(text).run("quay list")
    assert [it.commands for it in offered(telling)] == [("quay list",)]


@given(st.text(max_size=200), st.text(max_size=200))
def test_any_words_make_a_name_by_the_public_rules(kind: str, text: str) -> None:
    name = name_of("", kind, text)
    assert NAME.fullmatch(name)
    assert len(name) <= LONGEST_NAME


def test_the_text_of_a_call_is_not_needed_for_offers() -> None:
    tellings = told([[released], [released], [released]])
    (offer,) = offers(window(tellings), lambda session, seq: None)
    assert offer.commands[1] == "quay build --all"
    assert parse(offer.commands[1]).parsed
