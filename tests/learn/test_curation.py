"""The plan that makes a skillbook say each thing once."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hansei.instructions.departures import Departure, Stale
from hansei.instructions.staleness import Kind as What
from hansei.instructions.staleness import Named
from hansei.instructions.statements import statements
from hansei.learn.curation import Kind, Step, in_order, plan
from hansei.learn.model import Evidence, Label, Predicates, Skill, State
from hansei.learn.operations import Counts, Votes
from skill_world import skills as any_skills

PNPM = Skill(
    name="pnpm",
    description="Installs.",
    body="Install with `pnpm install`.",
    predicates=Predicates(command="npm install", do=("pnpm install",), avoid=("npm install",)),
    evidence=(Evidence("one", 1),),
    created_at=5,
)
TYPES = Skill(
    name="types",
    description="Type checks after an edit of *.ts.",
    body="Run `make types` after each edit, then `make lint`.",
    created_at=1,
)


def kinds(steps: list[Step]) -> list[Kind]:
    return [it.kind for it in steps]


def test_skills_with_the_same_text_are_merged_into_the_older_one() -> None:
    again = replace(
        TYPES,
        name="check-types",
        body="Run `make types` after  each edit,\nthen `make lint`.",
        evidence=(Evidence("two", 2),),
        created_at=3,
        label=Label.PASTED,
    )
    (step,) = plan([again, TYPES], {})
    assert (step.kind, step.skills, step.by_itself) == (Kind.MERGE, ("types", "check-types"), True)
    kept, gone = step.wanted
    assert (kept.state, gone.state) == (State.DRAFT, State.RETIRED)
    assert kept.evidence == again.evidence
    assert kept.label is Label.PASTED


def test_skills_with_the_same_predicates_are_merged_whatever_their_words_are() -> None:
    other = replace(PNPM, name="installs", body="This repository is a pnpm one.", created_at=1)
    (step,) = plan([PNPM, other], {})
    assert (step.kind, step.skills) == (Kind.MERGE, ("installs", "pnpm"))


def test_the_one_that_helped_is_kept() -> None:
    other = replace(PNPM, name="installs", created_at=1)
    counts = {"pnpm": Counts(Votes(0, 0), helpful=4, harmful=0, neutral=0, standing="helpful")}
    (step,) = plan([other, PNPM], counts)
    assert step.skills == ("pnpm", "installs")


def test_a_quarantined_twin_takes_nothing_with_it_unless_a_person_says_so() -> None:
    twin = replace(PNPM, name="installs", state=State.QUARANTINED, label=Label.WEB)
    (step,) = plan([PNPM, twin], {})
    assert not step.by_itself


def test_twins_in_two_books_are_for_a_person_to_merge() -> None:
    twin = replace(PNPM, name="installs")
    apart = {"pnpm": "repository", "installs": "workspace"}
    assert [it.by_itself for it in plan([PNPM, twin], {}, books=apart)] == [False]


@pytest.mark.parametrize("state", [State.RETIRED, State.REJECTED])
def test_what_is_out_of_use_is_left_alone(state: State) -> None:
    assert plan([PNPM, replace(PNPM, name="installs", state=state)], {}) == []


def test_skills_that_are_alike_are_shown_and_not_merged_by_themselves() -> None:
    more = replace(
        TYPES,
        name="before-push",
        body="Run `make types` after each edit, then `make lint`. Then look at the diff once more.",
    )
    (step,) = plan([TYPES, more, PNPM], {})
    assert (step.kind, step.by_itself) == (Kind.SIMILAR, False)
    assert set(step.skills) == {"types", "before-push"}
    assert step.wanted


def test_the_words_of_a_detector_around_another_command_are_not_alike() -> None:
    words = "When `{0}` fails, run `{1}` instead. It worked in 3 sessions here."
    one = replace(TYPES, body=words.format("npm test", "pnpm test"), name="one")
    other = replace(TYPES, body=words.format("make build", "make dist"), name="other")
    assert plan([one, other], {}) == []


def test_one_that_says_to_run_what_the_other_avoids_is_a_conflict_and_no_duplicate() -> None:
    other = replace(
        PNPM,
        name="npm",
        body="Install with `npm install`.",
        predicates=Predicates(command="npm install", do=("npm install",), avoid=("pnpm install",)),
    )
    (step,) = plan([PNPM, other], {})
    assert (step.kind, step.wanted) == (Kind.CONFLICT, ())
    assert "to avoid it" in step.reason


def test_two_programs_for_the_same_job_are_a_conflict() -> None:
    one = replace(PNPM, predicates=Predicates(path="web/**", do=("pnpm run lint",)))
    other = replace(PNPM, name="yarn", body="Lint.", predicates=Predicates(do=("yarn run lint",)))
    (step,) = plan([one, other], {})
    assert step.kind is Kind.CONFLICT
    apart = replace(other, predicates=Predicates(path="api/**", do=("yarn run lint",)))
    assert plan([one, apart], {}) == []


def test_a_skill_that_contradicts_an_instruction_file_is_shown_with_both_texts() -> None:
    said = list(statements("AGENTS.md", "# Rules\n\n- Never run `make types` after each edit.\n"))
    (step,) = plan([TYPES], {}, files=said)
    assert (step.kind, step.skills) == (Kind.CONFLICT, ("types",))
    assert "AGENTS.md:3: Never run `make types` after each edit." in step.details


def test_a_skill_that_names_what_is_gone_is_flagged_and_can_be_retired() -> None:
    named = Named(What.PATH, "docs/types.md", "skill types", 1, "Read `docs/types.md`.")
    gone = Stale(named, Departure("abcdef0123", 1_750_000_000, "Docs out"))
    (step,) = plan([TYPES], {}, stale={"types": [gone]}, by="Ana")
    assert (step.kind, step.by_itself) == (Kind.STALE, False)
    assert step.reason == "`docs/types.md` is no longer there since 2025-06-15 (abcdef0 Docs out)"
    assert [(it.state, it.owner) for it in step.wanted] == [(State.RETIRED, "Ana")]


def test_what_one_step_changes_by_itself_is_left_to_the_next_plan() -> None:
    gone = replace(TYPES, state=State.RETIRED)
    first = Step(Kind.MERGE, ("pnpm", "types"), "same", "merge", (PNPM, gone), by_itself=True)
    later = Step(Kind.STALE, ("types",), "gone", "retire", (gone,))
    assert in_order([later, first]) == [first]


@settings(max_examples=25)
@given(st.lists(any_skills(), max_size=4, unique_by=lambda it: it.name))
def test_a_plan_is_the_same_in_any_order_and_loses_nothing(skills: list[Skill]) -> None:
    steps = plan(skills, {})
    assert {it.id for it in steps} == {it.id for it in plan(skills[::-1], {})}
    names = {it.name for it in skills}
    for step in steps:
        assert {it.name for it in step.wanted} <= names
        if step.kind is Kind.MERGE:
            sources = [it for it in skills if it.name in step.skills]
            assert set(step.wanted[0].evidence) == {e for it in sources for e in it.evidence}
            assert list(Label).index(step.wanted[0].label) == max(
                list(Label).index(it.label) for it in sources
            )
