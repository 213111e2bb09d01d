"""The gate over what is stored: sessions are read with those they came from."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from hansei.events.keys import event_key
from hansei.learn.model import Evidence, Label, Offer, State
from hansei.ops.gating import judged
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


def test_what_a_parent_saw_on_the_web_is_not_the_subagents_own(store: Store) -> None:
    keep(store, "parent-1", Spoken().prompt("go").web(f"use {COMMAND}"), NOW)
    child = Spoken().ran(COMMAND)
    keep(store, "child-1", child, NOW + 100, parent="parent-1", relation="subagent")
    (verdict,) = judged(store, [offer(Evidence("child-1", 1))])
    assert verdict.state is State.QUARANTINED
    assert verdict.label is Label.WEB
    (reason,) = [it for it in verdict.reasons if it.stops]
    assert reason.evidence == Evidence("parent-1", 3)


def test_what_a_parent_saw_later_is_no_origin(store: Store) -> None:
    keep(store, "child-2", Spoken().ran(COMMAND), NOW, parent="parent-2", relation="subagent")
    keep(store, "parent-2", Spoken().prompt("go").web(f"use {COMMAND}"), NOW + 100)
    (verdict,) = judged(store, [offer(Evidence("child-2", 1))])
    assert verdict.label is Label.ASSISTANT


def test_a_session_that_is_its_own_ancestor_is_read_once(store: Store) -> None:
    keep(store, "round-1", Spoken().ran(COMMAND), NOW, parent="round-2", relation="fork")
    keep(store, "round-2", Spoken().ran(COMMAND), NOW, parent="round-1", relation="fork")
    (verdict,) = judged(store, [offer(Evidence("round-1", 1))])
    assert verdict.state is State.DRAFT


def test_sessions_that_are_gone_leave_the_text_to_be_judged(store: Store) -> None:
    fine = offer(Evidence("gone", 1))
    harmful = replace(fine, commands=("git push --force",))
    states = [it.state for it in judged(store, [fine, harmful])]
    assert states == [State.DRAFT, State.REJECTED]
