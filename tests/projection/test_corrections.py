"""Which prompts are corrections, and which only sound like one."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hansei.events.model import (
    MARKER,
    AnyEvent,
    Basis,
    FileEdit,
    Hunk,
    Interruption,
    Origin,
    Status,
    Tool,
)
from hansei.projection.calls import calls
from hansei.projection.corrections import RULES, Correction, Kind, Rule, corrections
from hansei.projection.corrections.words import own_words
from told import call, numbered, prompt, reply, result


def told(*events: AnyEvent, driver: str | None = "human") -> list[Correction]:
    numbers = numbered(events)
    return corrections(numbers, calls(numbers), driver)


def after_work(text: str, answer: str = "It is in place now.") -> list[Correction]:
    """What a prompt is that follows a task, a command and a reply."""
    return told(
        prompt("Build the tide table."),
        call("c1", text="make tides"),
        result("c1"),
        reply(answer),
        prompt(text, at=7),
    )


@pytest.mark.parametrize(
    ("text", "kind", "rule"),
    [
        ("No, take the harbour's own clock.", Kind.CORRECTS, Rule.NO),
        ("nope, other folder", Kind.CORRECTS, Rule.NO),
        ("That's wrong, high water comes first.", Kind.CORRECTS, Rule.WRONG),
        ("this is not what I wanted", Kind.CORRECTS, Rule.WRONG),
        ("I said metres.", Kind.CORRECTS, Rule.TOLD_BEFORE),
        ("I never asked for a chart", Kind.CORRECTS, Rule.TOLD_BEFORE),
        ("hm, you forgot the spring tides", Kind.CORRECTS, Rule.BLAMES),
        ("You didn't run the checks.", Kind.CORRECTS, Rule.BLAMES),
        ("undo that", Kind.CORRECTS, Rule.TAKE_BACK),
        ("Please put it back the way it was.", Kind.CORRECTS, Rule.TAKE_BACK),
        ("Use the pier module instead.", Kind.CORRECTS, Rule.INSTEAD),
        ("use metres, not feet", Kind.CORRECTS, Rule.INSTEAD),
        ("That has to go into the pier module.", Kind.CORRECTS, Rule.MUST_BE),
        ("Again a number without its unit.", Kind.CORRECTS, Rule.AGAIN),
        ("Don't rename the columns.", Kind.FORBIDS, Rule.FORBIDS),
        ("never write to the live table", Kind.FORBIDS, Rule.FORBIDS),
        ("stop adding comments", Kind.FORBIDS, Rule.FORBIDS),
        ("No new dependencies please.", Kind.FORBIDS, Rule.FORBIDS),
        ("Leave the settings as they are.", Kind.FORBIDS, Rule.FORBIDS),
        ("the table still doesn't load", Kind.REPEATS, Rule.STILL),
        ("Remember to round to minutes.", Kind.REPEATS, Rule.REMINDS),
        ("Nein, nimm die alte Liste.", Kind.CORRECTS, Rule.NO),
        ("Das ist falsch.", Kind.CORRECTS, Rule.WRONG),
        ("C'est pas ça.", Kind.CORRECTS, Rule.WRONG),
        ("Ne change pas les noms.", Kind.FORBIDS, Rule.FORBIDS),
        ("Eso está mal.", Kind.CORRECTS, Rule.WRONG),
        ("No toques la tabla.", Kind.FORBIDS, Rule.FORBIDS),
        ("Não era isso.", Kind.CORRECTS, Rule.WRONG),
        ("Я же просил метры.", Kind.CORRECTS, Rule.WRONG),
        ("Не меняй таблицу.", Kind.FORBIDS, Rule.FORBIDS),
        ("不对，先算高潮", Kind.CORRECTS, Rule.WRONG),
        ("别改这个表", Kind.FORBIDS, Rule.FORBIDS),
        ("違う、満潮が先です。", Kind.CORRECTS, Rule.WRONG),
        ("아니, 미터로 해", Kind.CORRECTS, Rule.NO),
    ],
)
def test_a_correction_after_work_is_found_with_its_rule(text: str, kind: Kind, rule: Rule) -> None:
    (row,) = after_work(text)
    assert (row.kind, row.basis, row.at, row.words) == (kind, rule, 7, text)
    assert row.about == 2
    assert row.about_tool == "shell"


@pytest.mark.parametrize(
    "text",
    [
        "no problem, thank you",
        "No, that's fine.",
        "no, looks good",
        "Nothing to add.",
        "yes, do it",
        "Now the same for low water.",
        "No pier has a light yet. Please add one to each.",
        "Add a column for the moon. Do not touch the others.",
        "Can you check the units? Don't change anything.",
        "why is the second column empty?",
        "Should we never round up?",
        "is the old table still used?",
        "Stop the server and start it again.",
        "don't worry about the chart",
        "I don't know which one it is.",
        "never mind",
        "Notice how the first row is shorter.",
        "continue",
        "note: the office is closed on Monday",
    ],
)
def test_tasks_questions_and_approval_are_no_corrections(text: str) -> None:
    assert after_work(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "What is this?\n```\nno, that's wrong\n```",
        "What is this?\n~~~\ndon't do that",
        "> No, never do that.\nWho said so?",
        'Traceback (most recent call last):\n  File "a.py", line 3\nValueError: wrong, undo that',
        "$ make tides\nerror: no, use the other one\nwhat now?",
        "2026-03-04 10:11:12 ERROR wrong tide\n2026-03-04 10:11:13 ERROR never again",
        'A visitor wrote "No, that is not what I booked at all" on the form.',
        "<note>\nDon't use feet.\n</note>\nTranslate it.",
    ],
)
def test_what_was_pasted_is_not_looked_at(text: str) -> None:
    assert after_work(text) == []


def test_words_before_a_pasted_log_are_looked_at() -> None:
    (row,) = after_work("you broke the build\n```\nall fine here\n```")
    assert row.words == "you broke the build"


def test_an_answer_to_the_agents_own_question_is_no_correction() -> None:
    assert after_work("No, the second.", "Tides by day (A) or by hour (B)?") == []
    assert after_work("no, leave it", "Shall I also draw a chart?") == []
    assert after_work("don't, thanks", "Shall I also draw a chart?") == []


def test_a_no_that_names_another_way_corrects_a_proposal() -> None:
    (row,) = after_work("No, use `tide --utc`.", "It fails. Shall I change the time zone?")
    assert row.kind is Kind.CORRECTS


def test_who_asks_what_people_think_is_corrected_by_a_no() -> None:
    (row,) = after_work("no, metres please", "Done. Does it look right?")
    assert row.basis is Rule.NO


def test_a_sure_correction_stays_one_after_a_question() -> None:
    (row,) = after_work("That's wrong, revert it.", "Shall I go on with (A) or (B)?")
    assert row.basis is Rule.WRONG


def test_the_first_prompt_corrects_nothing() -> None:
    assert told(prompt("No, don't use feet."), reply("All right.")) == []


def test_a_second_prompt_before_the_agent_acted_corrects_nothing() -> None:
    assert told(prompt("Build it."), prompt("no, wait"), reply("Yes?")) == []


@pytest.mark.parametrize("driver", ["subagent", "automated", None])
def test_only_sessions_that_a_person_drove_hold_corrections(driver: str | None) -> None:
    events = (prompt("Build it."), reply("Done."), prompt("That's wrong."))
    assert told(*events, driver=driver) == []
    assert len(told(*events)) == 1


@pytest.mark.parametrize(
    "origin", [Origin.HOOK, Origin.HARNESS, Origin.PARENT_AGENT, Origin.HANSEI]
)
def test_only_people_correct(origin: Origin) -> None:
    second = prompt("That's wrong.", origin=origin)
    assert told(prompt("Build it."), reply("Done."), second) == []


def test_what_people_type_while_the_agent_works_counts() -> None:
    queued = prompt("don't touch the index", origin=Origin.QUEUED_HUMAN)
    (row,) = told(prompt("Build it."), call("c1", text="make"), queued, result("c1"))
    assert (row.kind, row.about) == (Kind.FORBIDS, 2)


def test_our_own_text_is_never_a_correction() -> None:
    assert after_work(f"{MARKER} Don't use feet.") == []


def test_a_text_with_headings_is_a_document() -> None:
    assert after_work("# Rules\nDon't use feet.\n\n## More\nNever.") == []


def test_what_the_agent_said_itself_is_a_quotation() -> None:
    answer = "Two points: 1. Don't use feet in the table. 2. Round to minutes."
    assert after_work("Don't use feet in the table.", answer) == []


def test_a_stopped_agent_that_is_told_how_to_go_on_was_corrected() -> None:
    stop = Interruption(key=99, session="s")
    begun = (prompt("Build it."), call("c1", text="make all"), result("c1"), stop)
    (row,) = told(*begun, prompt("only the tide table"))
    assert (row.kind, row.basis, row.about) == (Kind.INTERRUPTS, Rule.INTERRUPTED, 2)
    assert told(*begun, prompt("continue")) == []
    assert told(*begun, prompt("are you still there?")) == []


def test_a_prompt_taken_back_before_the_agent_acted_is_no_interruption() -> None:
    stop = Interruption(key=99, session="s")
    assert told(prompt("Build it."), stop, prompt("Build the tide table.")) == []


def test_a_refused_call_and_the_reason_for_it_are_corrections() -> None:
    asked = (prompt("Clean up."), call("c1", text="rm -rf tides"))
    refused = declined("It was refused.")
    (row,) = told(*asked, refused, prompt("move it to the archive"))
    assert (row.kind, row.basis, row.about) == (Kind.INTERRUPTS, Rule.DECLINED, 2)
    (row,) = told(*asked, declined("Refused; the user said:\nonly the drafts, please"))
    assert (row.basis, row.words, row.seq) == (Rule.REASON, "only the drafts, please", 3)


def test_an_agent_that_went_on_after_a_refusal_was_not_stopped() -> None:
    begun = (prompt("Clean up."), call("c1", text="rm tides"), declined("Refused by a rule."))
    assert told(*begun, reply("I left it alone."), prompt("Now build the pier.")) == []


def test_a_prompt_without_words_says_nothing() -> None:
    stop = Interruption(key=99, session="s")
    assert told(prompt("Build it."), reply("Well."), stop, prompt(" - ")) == []


def declined(text: str) -> AnyEvent:
    refused = result("c1", text, Status.FAILED)
    return msgspec.structs.replace(refused, basis=Basis.DECLINED)


WANTED = "Give every pier of the table a colour of its own."


def test_a_request_made_again_because_nothing_was_done_is_a_repetition() -> None:
    (row,) = told(prompt(WANTED), reply("There are five piers."), prompt(WANTED.lower()))
    assert (row.kind, row.basis, row.seq) == (Kind.REPEATS, Rule.SAME_REQUEST, 3)


def test_a_request_made_again_after_a_change_is_a_new_one() -> None:
    changed = FileEdit(
        key=50, session="s", call="c1", path="a.py", operation="update", hunks=[Hunk(1, "", "x")]
    )
    edit = call("c1", Tool.EDIT, text="a.py")
    assert told(prompt(WANTED), edit, changed, result("c1"), prompt(WANTED)) == []


def test_commands_other_numbers_and_macros_are_no_repetition() -> None:
    for first, again in (
        ("run all checks of the tide table", "run all checks of the tide table"),
        ("Give pier 4 a colour of its own.", "Give pier 5 a colour of its own."),
        ("continue", "continue"),
    ):
        assert told(prompt(first), reply("Well."), prompt(again)) == []
    macro = [event for _ in range(4) for event in (prompt(WANTED), reply("Well."))]
    assert told(*macro) == []


def test_it_is_about_the_call_that_holds_a_name_it_mentions() -> None:
    (row,) = told(
        prompt("Build it."),
        call("c1", text="tide_table --feet"),
        result("c1"),
        call("c2", text="ls piers"),
        result("c2"),
        reply("Both done."),
        prompt("No feet in tide_table please."),
    )
    assert row.about == 2


def test_it_is_about_the_file_that_was_edited_last() -> None:
    edit = FileEdit(key=51, session="s", call="c1", path="pier.py", operation="update")
    (row,) = told(
        prompt("Build it."),
        call("c1", Tool.EDIT, text="pier.py"),
        edit,
        result("c1"),
        prompt("That's wrong."),
    )
    assert (row.about, row.about_tool, row.about_path) == (2, "edit", "pier.py")


def test_more_rules_make_it_stronger() -> None:
    (weak,) = after_work("no, metres")
    (strong,) = after_work("No, that's wrong. I said metres.")
    assert strong.strength > weak.strength == 1


def test_long_sentences_are_shortened_and_every_rule_can_be_printed() -> None:
    (row,) = after_work("No, " + "metres and metres " * 40)
    assert len(row.words) <= 300
    assert RULES.keys() == set(Rule)


@given(st.text(max_size=400), st.text(max_size=200))
def test_any_text_can_be_read(text: str, answer: str) -> None:
    for row in after_work(text, answer):
        assert row.words
        assert row.strength >= 1
    assert len(own_words(text)) <= len(text)


def test_a_very_long_paste_is_read_quickly() -> None:
    assert after_work("(" * 200_000) == []
    assert after_work("still " * 50_000) == []
