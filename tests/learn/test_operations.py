"""What people do to skills, and what stays true whatever they do."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hansei.errors import UsageError
from hansei.learn.labels import worst
from hansei.learn.model import Evidence, Label, Skill, State, Vote
from hansei.learn.operations import merged, moved, split, vote, voted
from hansei.learn.validation import unfit
from skill_world import skills

PLAIN = Skill("run-types", "Type checks.", "Run `make types`.")


def test_only_promotion_leads_out_of_quarantine() -> None:
    held = replace(PLAIN, state=State.QUARANTINED)
    assert moved(held, State.DRAFT, by="a").state is State.DRAFT
    with pytest.raises(UsageError, match="quarantined") as problem:
        moved(held, State.APPROVED, by="a")
    assert "hansei skills promote run-types" in str(problem.value.hint)


def test_a_state_is_not_entered_twice_and_only_quarantine_is_promoted() -> None:
    with pytest.raises(UsageError, match="already"):
        moved(PLAIN, State.DRAFT, by="a")
    with pytest.raises(UsageError, match="only a quarantined"):
        moved(replace(PLAIN, state=State.RETIRED), State.DRAFT, by="a")
    assert moved(PLAIN, State.RETIRED, by="ana", reason="old").reason == "old"


def test_a_person_has_one_vote_and_the_last_counts() -> None:
    skill = vote(PLAIN, by="a", now=1, helpful=True)
    skill = vote(skill, by="b", now=2, helpful=True)
    skill = vote(skill, by="a", now=3, helpful=False, note="broke\nit")
    assert skill.votes == (Vote("b", 2, helpful=True), Vote("a", 3, helpful=False, note="broke it"))
    counts = voted(skill)
    assert (counts.helpful, counts.harmful) == (1, 1)


@given(st.lists(skills(), min_size=2, max_size=4, unique_by=lambda it: it.name))
def test_merging_loses_no_evidence_and_no_distrust(book: list[Skill]) -> None:
    whole, *gone = merged(book[0], book[1:], by="a")
    assert set(whole.evidence) == {it for skill in book for it in skill.evidence}
    assert {it.by for it in whole.votes} == {it.by for skill in book for it in skill.votes}
    assert whole.label is worst(skill.label for skill in book)
    assert (whole.state is State.QUARANTINED) == any(
        skill.state is State.QUARANTINED for skill in book
    )
    assert all(it.state is State.RETIRED for it in gone)


def test_merging_takes_two() -> None:
    for others in ([], [PLAIN]):
        with pytest.raises(UsageError):
            merged(PLAIN, others, by="a")


def test_splitting_gives_each_heading_the_evidence_and_the_label() -> None:
    body = "Intro.\n\n## First step\na\n\n```\n## no heading\n```\n\n## Second: step\nb"
    whole = replace(
        PLAIN, body=body, evidence=(Evidence("s", 1),), label=Label.WEB, state=State.QUARANTINED
    )
    *made, gone = split(whole, ["run-types-first-step"], by="a")
    assert [it.name for it in made] == ["run-types-first-step-2", "run-types-second-step"]
    assert "no heading" in made[0].body
    assert all(it.label is Label.WEB and it.evidence == whole.evidence for it in made)
    assert all(it.state is State.QUARANTINED for it in made)
    assert gone.state is State.RETIRED
    assert all(unfit(it) == [] for it in made)


def test_a_skill_without_headings_is_not_split() -> None:
    with pytest.raises(UsageError, match="nothing to split"):
        split(PLAIN, [], by="a")


def test_the_worst_label_is_the_one_trusted_least() -> None:
    assert worst([Label.TYPED, Label.WEB, Label.PASTED]) is Label.WEB
