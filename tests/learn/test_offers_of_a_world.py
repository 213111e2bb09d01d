"""Offers from generated histories, against what was planted in them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

import pytest

from hansei.events.model import AnyEvent
from hansei.learn import matching
from hansei.learn.contract import Detector
from hansei.learn.detectors.error_recovery import ErrorRecovery
from hansei.learn.detectors.explicit_instruction import ExplicitInstruction
from hansei.learn.detectors.multi_step import MultiStep
from hansei.learn.detectors.repeated_action import RepeatedAction
from hansei.learn.detectors.user_correction import UserCorrection
from hansei.learn.model import Offer, Skill
from hansei.learn.offers import offers
from hansei.projection.corrections import Rule
from hansei.projection.corrections.rules import instruction
from hansei.store import reading
from hansei.synth.troubles import BY_NAME, MISSED_EDIT, ROUNDING
from retro_world import Place, place

RECALL, PRECISION = 0.95, 0.95
PER_SESSION = 0.1
ORDERS = ("npm --prefix web run build", "uv add --dev", "docker compose up -d db")
"""What a remedy runs first: those orders are planted, too."""


@pytest.fixture(scope="module", params=[3, 29])
def world(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Place]:
    with place(tmp_path_factory.mktemp("world"), seed=request.param, sessions=110) as made:
        yield made


class Reader:
    """What was typed, read once a session."""

    def __init__(self, world: Place) -> None:
        self._store = world.window.store
        self._events: dict[int, dict[int, AnyEvent]] = {}

    def __call__(self, session: int, seq: int) -> AnyEvent | None:
        if session not in self._events:
            self._events[session] = dict(reading.events(self._store, session))
        return self._events[session].get(seq)


def found(world: Place, detector: Detector) -> list[Offer]:
    return list(detector.find(world.window, Reader(world)))


def test_every_recovery_that_came_back_is_offered_with_its_remedy(world: Place) -> None:
    sessions = defaultdict(set)
    for it in world.truth.failures:
        if it.trouble not in (MISSED_EDIT, ROUNDING.name) and it.decidable and it.recovered_by:
            sessions[it.trouble].add(it.session)
    planted = {name for name, told in sessions.items() if len(told) >= 3}
    calls = {(world.window.sessions[s].name, seq): call for call, (s, seq) in world.calls.items()}
    trouble = {it.call: it.trouble for it in world.truth.failures}
    offered: dict[str, Offer] = {}
    for offer in found(world, ErrorRecovery()):
        names = {trouble.get(calls[it.session, it.event], "") for it in offer.evidence} - {""}
        assert len(names) == 1
        offered[names.pop()] = offer
    several = {name for name, it in offered.items() if it.sessions > 1}
    assert len(planted & several) >= RECALL * len(planted), planted - several
    assert len(several & sessions.keys()) >= PRECISION * len(several)
    for name, offer in offered.items():
        first = BY_NAME[name].remedy.split(" tests/", maxsplit=1)[0]
        assert any(first in it for it in offer.commands), (name, offer.commands)


def test_the_planted_order_is_the_procedure_that_is_found(world: Place) -> None:
    several = [it for it in found(world, MultiStep()) if it.sessions > 1]
    own = [it for it in several if not it.commands[0].startswith(ORDERS)]
    (offer,) = own
    assert offer.commands == (
        "uv run python -m berthline.release prepare --desk <desk>",
        "docker compose -f deploy/quay.yml build <name>",
        "docker compose -f deploy/quay.yml up -d <name>",
        "scripts/smoke.sh --desk <desk> --wait 30",
    )
    calls = {it for told in world.truth.routines for it in told.calls}
    places = {(world.window.sessions[s].name, seq) for s, seq in (world.calls[it] for it in calls)}
    told = {(it.session, it.event) for it in offer.evidence}
    assert len(told & places) >= RECALL * len(places)
    assert len(told & places) >= PRECISION * len(told)


def test_who_asked_to_keep_it_is_offered_it_by_that_name(world: Place) -> None:
    planted = {it.session: it for it in world.truth.routines if it.kept_as}
    offered = {it.evidence[0].session: it for it in found(world, ExplicitInstruction())}
    names = {it.name for it in world.window.sessions.values()}
    assert set(offered) == {it for it in planted if it in names}
    for session, offer in offered.items():
        assert offer.name == planted[session].kept_as
        assert set(offer.commands) == set(planted[session].commands)


def test_corrections_that_came_back_are_offered(world: Place) -> None:
    told = {
        (session, row.remark)
        for session, row in world.window.corrections
        if row.basis not in (Rule.SAME_REQUEST, Rule.STILL)
    }
    said = defaultdict(set)
    for it in world.truth.corrections:
        number = world.numbers[it.session]
        if (number, it.text) in told and instruction(it.text):
            said[it.text].add(world.window.sessions[number].name)
    planted = [those for those in said.values() if len(those) >= 2]
    several = [it for it in found(world, UserCorrection()) if it.sessions > 1]
    evidence = [{it.session for it in offer.evidence} for offer in several]
    hit = [those for those in planted if any(those <= it for it in evidence)]
    assert len(hit) >= RECALL * len(planted)
    corrected = {
        world.window.sessions[world.numbers[it.session]].name for it in world.truth.corrections
    }
    assert all(it <= corrected for it in evidence)


def test_nobody_is_drowned_in_offers(world: Place) -> None:
    made = offers(world.window, Reader(world))
    asked = [it for it in world.truth.routines if it.kept_as]
    assert len(made) <= PER_SESSION * len(world.window.sessions) + 1
    assert len([it for it in made if it.detector == ExplicitInstruction().name]) <= len(asked)
    assert all(it.sessions > 1 for it in made if it.detector == RepeatedAction().name)


def test_what_a_detector_writes_holds_of_the_sessions_it_comes_from(world: Place) -> None:
    number = {it.name: session for session, it in world.window.sessions.items()}
    for offer in found(world, ErrorRecovery()):
        skill = Skill(offer.name, offer.description, offer.body, predicates=offer.predicates)
        places = {(number[it.session], it.event) for it in offer.evidence}
        applied = set(matching.triggers(world.window, skill))
        done = {it.call for it in matching.follows(world.window, skill)}
        assert places & (applied or {*matching.avoided(world.window, skill)}), offer.predicates
        assert places & done or offer.predicates.do == (), offer.predicates


def test_procedures_and_habits_are_followed_where_they_were_found(world: Place) -> None:
    number = {it.name: session for session, it in world.window.sessions.items()}
    for offer in [*found(world, MultiStep()), *found(world, RepeatedAction())]:
        skill = Skill(offer.name, offer.description, offer.body, predicates=offer.predicates)
        sessions = {number[it.session] for it in offer.evidence}
        assert sessions <= {it.session for it in matching.triggers(world.window, skill)}
        assert sessions & {it.session for it in matching.follows(world.window, skill)}
