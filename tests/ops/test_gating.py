"""The gate over what is stored: sessions are read with those they came from."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from hansei.events.keys import event_key
from hansei.learn.gate import Verdict
from hansei.learn.model import Evidence, Label, Offer, State
from hansei.ops.gating import Texts, judged
from hansei.store import log
from hansei.store.database import Store, open_store
from pieces import piece
from spoken_session import HOME, Spoken

NOW = 1_790_000_000_000
COMMAND = "frobctl sync --profile staging --wait"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    made = open_store(tmp_path / "store", now=NOW)
    yield made
    made.close()


def keep(store: Store, name: str, told: Spoken, at: int, **facts: str) -> None:
    events = [
        msgspec.structs.replace(
            event, session=name, key=event_key("made", name, str(seq)), at=at + seq
        )
        for seq, event in told.events
    ]
    one = piece(events, path=f"/t/{name}.jsonl", cwd=HOME, **facts)
    log.commit(store, [one], now=NOW, seal_before=0)


def offer(*evidence: Evidence) -> Offer:
    return Offer(
        detector="repeated-action",
        name="repeated-frobctl",
        description="Sync after a change.",
        body=f"1. `{COMMAND}`",
        commands=(COMMAND,),
        evidence=evidence,
    )


def verdict_of(store: Store, told: Offer) -> Verdict:
    return judged(Texts(store), told, {it.session: it.session for it in told.evidence})


def test_what_a_parent_saw_on_the_web_is_not_the_subagents_own(store: Store) -> None:
    keep(store, "parent-1", Spoken().prompt("go").web(f"use {COMMAND}"), NOW)
    child = Spoken().ran(COMMAND)
    keep(store, "child-1", child, NOW + 100, parent="parent-1", relation="subagent")
    verdict = verdict_of(store, offer(Evidence("child-1", 1)))
    assert verdict.state is State.QUARANTINED
    assert verdict.label is Label.WEB
    (reason,) = [it for it in verdict.reasons if it.stops]
    assert reason.evidence == Evidence("parent-1", 3)


def test_what_a_parent_saw_later_is_no_origin(store: Store) -> None:
    keep(store, "child-2", Spoken().ran(COMMAND), NOW, parent="parent-2", relation="subagent")
    keep(store, "parent-2", Spoken().prompt("go").web(f"use {COMMAND}"), NOW + 100)
    verdict = verdict_of(store, offer(Evidence("child-2", 1)))
    assert verdict.label is Label.ASSISTANT


def test_a_session_that_is_its_own_ancestor_is_read_once(store: Store) -> None:
    keep(store, "round-1", Spoken().ran(COMMAND), NOW, parent="round-2", relation="fork")
    keep(store, "round-2", Spoken().ran(COMMAND), NOW, parent="round-1", relation="fork")
    verdict = verdict_of(store, offer(Evidence("round-1", 1)))
    assert verdict.label is Label.ASSISTANT


def test_sessions_that_are_gone_leave_the_text_to_be_judged(store: Store) -> None:
    fine = offer(Evidence("gone", 1))
    harmful = replace(fine, commands=("git push --force",))
    states = [verdict_of(store, it).state for it in (fine, harmful)]
    assert states == [State.QUARANTINED, State.REJECTED]


DAY = 86_400_000


def asked(store: Store, name: str, task: str, at: int, **facts: str) -> Evidence:
    keep(store, name, Spoken().prompt(task).ran(COMMAND), at, **facts)
    return Evidence(name, 2)


def moved(*evidence: Evidence) -> Offer:
    """An offer that runs nothing: a folder has another name."""
    body = "| Before | After |\n|---|---|\n| `Docks` | `docks` |"
    return replace(offer(*evidence), description="It is `docks`.", body=body, commands=())


def test_three_independent_sessions_stand_in_for_a_persons_words(store: Store) -> None:
    told = [asked(store, f"s-{it}", f"task {it}", NOW + it * DAY) for it in range(3)]
    assert verdict_of(store, moved(*told)).state is State.DRAFT
    verdict = verdict_of(store, moved(*told[:2]))
    assert verdict.state is State.QUARANTINED
    assert [it.rule for it in verdict.reasons] == ["unconfirmed"]
    assert "2 independent sessions of 3" in verdict.reasons[0].message


def test_no_number_of_sessions_stands_in_for_what_is_run(store: Store) -> None:
    """A page that was read three times leaves the same behind, in words that nobody can find."""
    told = [asked(store, f"s-{it}", f"task {it}", NOW + it * DAY) for it in range(9)]
    verdict = verdict_of(store, offer(*told))
    assert verdict.state is State.QUARANTINED
    assert [it.rule for it in verdict.reasons] == ["unconfirmed"]
    assert "it says what to run" in verdict.reasons[0].message


def test_what_programs_print_is_nobodys_word(store: Store) -> None:
    words = "Always give the harbour office a copy of every single berth."
    told = []
    for it in range(3):
        session = Spoken().prompt(f"task {it}").ran("make check", words).reply(words)
        keep(store, f"printed-{it}", session, NOW + it * DAY)
        told.append(Evidence(f"printed-{it}", 3))
    rule = replace(offer(*told), body=f"- {words}", commands=())
    assert verdict_of(store, rule).state is State.QUARANTINED


def test_forks_and_the_same_task_on_one_day_are_one_session(store: Store) -> None:
    told = [asked(store, "root", "task", NOW)]
    told += [
        asked(store, f"fork-{it}", f"go on {it}", NOW + it * DAY, parent="root", relation="fork")
        for it in range(1, 3)
    ]
    told += [asked(store, f"loop-{it}", "triage", NOW + it) for it in range(3)]
    verdict = verdict_of(store, moved(*told))
    assert verdict.state is State.QUARANTINED
    assert "2 independent sessions of 3" in verdict.reasons[0].message


def test_what_an_earlier_session_read_on_the_web_is_not_the_repositorys(store: Store) -> None:
    """The agent wrote it into a file of its own, and later sessions read that."""
    keep(store, "reader", Spoken().prompt("look it up").web(f"use {COMMAND}"), NOW - DAY)
    told = []
    for it in range(3):
        session = Spoken().prompt(f"task {it}").read(f"{HOME}/NOTES.md", COMMAND).ran(COMMAND)
        keep(store, f"later-{it}", session, NOW + it * DAY)
        told.append(Evidence(f"later-{it}", 4))
    verdict = verdict_of(store, offer(*told))
    assert verdict.label is Label.WEB
    assert verdict.state is State.QUARANTINED
    (reason,) = [it for it in verdict.reasons if it.stops]
    assert reason.evidence == Evidence("reader", 3)


def test_every_event_of_the_evidence_says_whose_words_stood_there(store: Store) -> None:
    keep(store, "told", Spoken().prompt(f"please run {COMMAND}").ran(COMMAND), NOW)
    verdict = verdict_of(store, offer(Evidence("told", 2)))
    assert verdict.state is State.DRAFT
    assert Evidence("told", 1, Label.TYPED) in verdict.offer.evidence
    assert Evidence("told", 2) in verdict.offer.evidence
