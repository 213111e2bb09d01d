"""Files read again, unchanged."""

from __future__ import annotations

from hansei.bets.model import Design, Finding
from hansei.projection.files import Again, Verb
from hansei.retro.heuristics.reread import Reread
from made_window import Made, Told, bill, edit, read, window_of


def again(path: str, tokens: int = 900, why: Again = Again.REPEAT) -> Made:
    return read(path, tokens, redundant=1, again=why)


def session(repeat: Made) -> Told:
    return [[read("docs/guide.md")], [repeat], [edit("src/a.py")], [], []]


def found(*sessions: Told) -> list[Finding]:
    return list(Reread().find(window_of(dict(enumerate(sessions)))))


def test_a_file_that_three_sessions_read_again_gets_a_line_that_names_it() -> None:
    told = session(again("docs/guide.md"))
    (finding,) = found(told, told, told)
    assert finding.key == "docs/guide.md"
    assert "`docs/guide.md`" in finding.claim
    assert "3 of 3 sessions" in finding.claim
    assert finding.change.design is Design.LINE
    assert "`docs/guide.md`" in finding.change.text


def test_it_took_what_the_bill_would_have_been_lower() -> None:
    told = session(again("docs/guide.md"))
    (finding,) = found(told, told, told)
    spared = bill(told) - bill(told, frozenset({(1, 0)}))
    assert [it.tokens for it in finding.occurrences] == [spared] * 3


def test_twice_is_chance() -> None:
    told = session(again("docs/guide.md"))
    assert found(told, told) == []


def test_looking_again_after_a_failed_edit_is_no_waste() -> None:
    told = session(again("docs/guide.md", why=Again.FAILED_EDIT))
    assert found(told, told, told) == []


def test_a_call_that_read_something_new_too_took_nothing_for_the_repeat() -> None:
    touches = (
        {"path": "docs/guide.md", "verb": Verb.READ, "redundant": 1, "again": Again.REPEAT},
        {"path": "docs/other.md", "verb": Verb.READ},
    )
    told = session(Made(4_000, touches))
    assert found(told, told, told) == []


def test_small_files_are_not_worth_a_line() -> None:
    told = [[read("a.py", 5), read("b.py")], [again("a.py", 5), read("c.py")], []]
    assert found(told, told, told) == []


def test_looking_again_after_a_new_prompt_is_no_waste() -> None:
    told = session(read("docs/guide.md", turn=9, redundant=3, again=Again.REPEAT))
    assert found(told, told, told) == []


def test_what_lies_outside_the_repository_may_be_another_text_each_time() -> None:
    told = session(read("/tmp/out.log", inside=False, redundant=3, again=Again.REPEAT))
    assert found(told, told, told) == []


def test_the_line_knows_that_a_context_is_compacted() -> None:
    told = session(again("docs/guide.md"))
    (finding,) = found(told, told, told)
    assert "compacted" in finding.change.text
