from __future__ import annotations

from itertools import pairwise
from random import Random

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from hansei.errors import UsageError
from hansei.synth.codebase import starting_files
from hansei.synth.meter import tokens
from hansei.synth.notation import hunk, iso
from hansei.synth.plan import DAY, plan_world
from hansei.synth.story import Change
from hansei.synth.work import deed, feature, formatted, unformatted
from synthetic_world import NOW

lines = st.lists(st.text(alphabet="ab \"'", max_size=4), min_size=1, max_size=8)
seeds = st.integers(0, 2**32)


@settings(max_examples=60)
@given(seeds, st.integers(1, 60), st.integers(1, 5), st.integers(1, 3))
def test_a_plan_has_the_sessions_asked_for_one_after_another(
    seed: int, sessions: int, weeks: int, agents: int
) -> None:
    names = [f"agent{number}" for number in range(agents)]
    plan = plan_world(seed, NOW, sessions, weeks, names)
    assert len(plan.outlines) == sessions
    sittings = sorted(
        (span for outline in plan.outlines for span in outline.sittings),
        key=lambda span: span.start,
    )
    assert sittings[0].start > NOW - weeks * 7 * DAY
    assert sittings[-1].end < NOW
    assert all(span.start < span.end for span in sittings)
    assert all(one.end < other.start for one, other in pairwise(sittings))


@settings(max_examples=30)
@given(seeds, st.integers(1, 400))
def test_a_fork_follows_a_finished_session_of_the_same_agent(seed: int, sessions: int) -> None:
    plan = plan_world(seed, NOW, sessions, 6, ["one", "other"])
    for outline in plan.outlines:
        if outline.fork_of is not None:
            parent = plan.outlines[outline.fork_of]
            assert parent.agent == outline.agent
            assert parent.fork_of is None
            assert parent.sittings[-1].end < outline.sittings[0].start


@given(st.integers(-3, 0), st.integers(-3, 0))
def test_an_empty_plan_is_refused(sessions: int, weeks: int) -> None:
    try:
        plan_world(1, NOW, sessions, weeks, ["one"])
    except UsageError:
        return
    raise AssertionError


@given(lines, lines, lines, lines)
def test_a_hunk_turns_the_old_text_into_the_new(
    before: list[str], old: list[str], new: list[str], after: list[str]
) -> None:
    assume(any(old))
    change = Change("path", "\n".join(old), "\n".join(new), "\n".join((*before, *old, *after)))
    piece = hunk(change)
    kept = [line[1:] for line in piece.lines if not line.startswith("+")]
    made = [line[1:] for line in piece.lines if not line.startswith("-")]
    assert (kept, made) == (old, new)
    assert (piece.old_count, piece.new_count) == (len(old), len(new))


@given(seeds, st.integers(0, 20_000), st.sampled_from((None, "logger", "cents", "clock")))
def test_undoing_an_edit_restores_the_file(seed: int, index: int, topic: str | None) -> None:
    tree = starting_files()
    work = feature(tree, deed(seed, index), Random(seed), topic, with_page=True)
    for edit in work.edits:
        assert tree[edit.path].count(edit.old) == 1
        changed = edit.apply(tree[edit.path])
        assert changed != tree[edit.path]
        assert edit.undo(changed) == tree[edit.path]


@given(seeds, st.integers(0, 5000))
def test_formatting_changes_the_shape_and_not_the_words(seed: int, index: int) -> None:
    work = feature(starting_files(), deed(seed, index), Random(seed), None, with_page=False)
    for edit in work.edits:
        raw = unformatted(edit)
        made = formatted(raw)
        squeezed = [
            "".join(text.added.replace("'", '"').split()).replace('"""', "") for text in (raw, made)
        ]
        assert squeezed[0] == squeezed[1]


@given(seeds)
def test_no_two_sessions_are_given_the_same_deed(seed: int) -> None:
    names = [deed(seed, index).name for index in range(400)]
    assert len(set(names)) == len(names)


@given(st.text(max_size=200), st.text(max_size=200), st.floats(0.35, 0.42))
def test_tokens_of_two_texts_are_tokens_of_both_together_but_for_rounding(
    one: str, other: str, rate: float
) -> None:
    apart = tokens(one, rate) + tokens(other, rate)
    assert abs(apart - tokens(one + other, rate)) <= 1


@given(st.integers(0, 4_000_000_000_000))
def test_moments_are_written_in_order(at: int) -> None:
    assert iso(at) < iso(at + 1)
    assert len(iso(at)) == len("2026-01-01T00:00:00.000Z")
