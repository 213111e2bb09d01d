"""Whatever a person does between apply and undo: byte-exact, or a clear refusal; nothing lost."""

from __future__ import annotations

import re
from collections.abc import Sequence
from random import Random
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hansei.errors import UnusableInstructions
from hansei.instructions import carrying
from hansei.instructions.block import CLOSE, OPEN, lines_of
from hansei.instructions.plans import Item, plan_add
from hansei.store.database import Store
from instruction_files import ITEMS, LINES, NOW, content, files, ground

BOM = b"\xef\xbb\xbf"


@given(files(), ITEMS, st.booleans(), st.randoms(use_true_random=False))
@settings(max_examples=50)
def test_undoing_in_any_order_restores_every_byte(
    text: str, items: list[str], bom: bool, dice: Random
) -> None:
    with ground() as (store, repository):
        file = repository / "AGENTS.md"
        original = (BOM if bom else b"") + text.encode()
        file.write_bytes(original)
        entries = []
        for number, item in enumerate(items):
            plan = plan_add(store, repository, "AGENTS.md", Item(f"bet:{number}", item))
            entries.append(carrying.carry_out(store, plan, now=NOW).id)
        dice.shuffle(entries)
        for entry in entries:
            undone = carrying.undo(store, entry, now=NOW)
            assert [file.change is not None for file in undone.files] == [True]
        assert content(file) == original


class Elsewhere(NamedTuple):
    """Edits above the last line of a text, and what is written below our block."""

    replaced: list[tuple[int, str | None]]
    below: list[str]

    def above(self, text: str) -> str:
        lines = lines_of(text)
        for place, new in self.replaced:
            if len(lines) > 1:
                at = place % (len(lines) - 1)
                lines[at : at + 1] = [] if new is None else [lines[at], f"{new}\n"]
        return "".join(lines)


ELSEWHERE = st.builds(
    Elsewhere,
    st.lists(st.tuples(st.integers(0, 30), st.one_of(st.none(), LINES)), max_size=4),
    st.lists(LINES, max_size=3),
)


@given(files(), ITEMS, ELSEWHERE)
@settings(max_examples=75)
def test_after_edits_elsewhere_exactly_ours_is_taken_out(
    text: str, items: list[str], edit: Elsewhere
) -> None:
    with ground() as (store, repository):
        file = repository / "AGENTS.md"
        file.write_bytes(text.encode())
        plan = plan_add(store, repository, "AGENTS.md", Item("bet:1", items[0]))
        entry = carrying.carry_out(store, plan, now=NOW)
        applied = file.read_bytes().decode()
        below = "".join(f"{line}\n" for line in edit.below)
        changed = edit.above(text) + applied[len(text) :] + below
        file.write_bytes(changed.encode())
        ended = not text or text.endswith("\n") or not below
        end = "" if ended else applied[len(text) : applied.index("\n", len(text)) + 1]
        expected = edit.above(text) + end + below
        undone = attempted(store, entry.id)
        if isinstance(undone, str) or undone.change is None:
            # A fence was broken, so half of our block, or all of it, is code now.
            words = undone if isinstance(undone, str) else undone.message
            assert "AGENTS.md, line" in words or words == carrying.GONE
            assert "```" in changed
            assert file.read_bytes() == changed.encode()
        else:
            assert file.read_bytes().decode() == expected


def attempted(store: Store, entry: int) -> carrying.UndoneFile | str:
    """What undoing did to the file, or why it refused."""
    try:
        (undone,) = carrying.undo(store, entry, now=NOW).files
    except UnusableInstructions as problem:
        return problem.message
    return undone


class Hand(NamedTuple):
    """One edit inside our block."""

    what: str
    line: int


EDITS = st.lists(
    st.builds(
        Hand,
        st.sampled_from(["insert", "bullet", "append", "prepend", "delete"]),
        st.integers(0, 40),
    ),
    min_size=1,
    max_size=4,
)


def by_hand(text: str, edits: Sequence[Hand]) -> tuple[str, set[str]]:
    """A text after edits in its block, and the words that a person put there."""
    words = set()
    for number, edit in enumerate(edits):
        lines = lines_of(text)
        marks = [line.strip() for line in lines]
        first, last = marks.index(OPEN) + 1, marks.index(CLOSE)
        at = first + edit.line % (last - first + 1)
        word = f"human{number}"
        end = "\r\n" if lines[first - 1].endswith("\r\n") else "\n"
        if edit.what in ("insert", "bullet") or at == last:
            lines.insert(at, f"{'- ' if edit.what == 'bullet' else ''}{word}{end}")
            words.add(word)
        elif edit.what == "delete":
            gone = lines.pop(at)
            words = {it for it in words if it not in gone}
        else:
            whole = lines[at].rstrip("\r\n")
            lines[at] = (f"{whole} {word}" if edit.what == "append" else f"{word} {whole}") + end
            words.add(word)
        text = "".join(lines)
    return text, words


def no_edit_is_lost(text: str, items: list[str], edits: list[Hand]) -> None:
    with ground() as (store, repository):
        file = repository / "AGENTS.md"
        file.write_bytes(text.encode())
        entries = []
        for number, item in enumerate(items):
            plan = plan_add(store, repository, "AGENTS.md", Item(f"bet:{number}", item))
            entries.append(carrying.carry_out(store, plan, now=NOW).id)
        applied = file.read_bytes().decode()
        start = applied.index(OPEN, len(text))
        edited, words = by_hand(applied[start:], edits)
        file.write_bytes((applied[:start] + edited).encode())
        for number, item in enumerate([*items, "a new one"]):
            plan = plan_add(store, repository, "AGENTS.md", Item(f"bet:{number}", f"Again. {item}"))
            if plan.files:
                entries.append(carrying.carry_out(store, plan, now=NOW).id)
            else:
                assert plan.notes or "line" in plan.problems[0].message
            assert words <= words_of(file.read_bytes().decode())
        for entry in reversed(entries):
            refused = attempted(store, entry)
            assert not isinstance(refused, str) or "AGENTS.md, line" in refused
            left = file.read_bytes().decode()
            assert words <= words_of(left)
            assert left.startswith(text)


def words_of(text: str) -> set[str]:
    return set(re.findall(r"human\d", text))


@given(files(), ITEMS, EDITS)
@settings(max_examples=40)
def test_no_edit_of_a_person_in_our_block_is_lost(
    text: str, items: list[str], edits: list[Hand]
) -> None:
    no_edit_is_lost(text, items, edits)


@pytest.mark.prove
@given(files(), ITEMS, EDITS)
@settings(max_examples=1500)
def test_of_a_thousand_edits_in_our_blocks_none_is_lost(
    text: str, items: list[str], edits: list[Hand]
) -> None:
    no_edit_is_lost(text, items, edits)
