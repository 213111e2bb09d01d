"""Calls that are refused again and again, and by whom."""

from __future__ import annotations

from hansei.bets.model import Category, Design, Finding
from hansei.events.model import Driver, Tool
from hansei.retro.heuristics.declined_again import DeclinedAgain
from retro_window import Telling, window

PERSON = "The user doesn't want to proceed with this tool use."
RULE = "Permission to use Bash has been denied."
HOOK = "BLOCKED: Test files are protected. Fix the code instead."


def found(*tellings: Telling) -> list[Finding]:
    return list(DeclinedAgain().find(window(tellings)))


def test_what_people_refuse_becomes_an_instruction() -> None:
    told = [Telling().refused("git push --force", PERSON) for _ in range(2)]
    (bet,) = found(*told)
    assert bet.change.text == "Do not run `git push --force` unless you are asked to."
    assert sum(it.tokens or 0 for it in bet.occurrences) == 40_000


def test_what_people_mostly_let_run_is_theirs_to_decide() -> None:
    told = [Telling().refused("git push", PERSON).run("git push").run("git push") for _ in range(3)]
    assert found(*told) == []


def test_an_edit_is_refused_for_what_is_in_it() -> None:
    told = [Telling().refused("/work/app/a.py", PERSON, Tool.EDIT) for _ in range(4)]
    assert found(*told) == []


def test_a_rule_that_refuses_subagents_asks_for_a_decision() -> None:
    told = [Telling(Driver.SUBAGENT).refused(it, RULE) for it in ("ls a", "npm run build", "ls b")]
    (bet,) = found(*told)
    assert bet.claim == "Subagents are refused `shell` of `ls`, `npm run build`"
    assert bet.because == ("refused 3 times in 3 sessions, all subagents: `ls`, `npm run build`",)
    assert bet.category is Category.INVESTIGATE
    assert bet.change.design is Design.BRIEF
    assert found(*told[:2]) == []


def test_hosts_that_are_refused_are_named() -> None:
    denied = "Permission to use WebFetch has been auto-denied (prompts unavailable)."
    told = [
        Telling(Driver.SUBAGENT).refused("https://docs.example.org/a", denied, Tool.WEB)
        for _ in range(3)
    ]
    (bet,) = found(*told)
    assert "`docs.example.org`" in bet.claim


def test_hosts_that_are_each_refused_once_are_no_bet() -> None:
    denied = "Permission to use WebFetch has been auto-denied (prompts unavailable)."
    told = [
        Telling(Driver.SUBAGENT).refused(f"https://{it}.example.org/a", denied, Tool.WEB)
        for it in ("one", "two", "three")
    ]
    assert found(*told) == []


def test_what_is_permitted_since_is_no_bet() -> None:
    told = [Telling(Driver.SUBAGENT).refused("npm test", RULE) for _ in range(3)]
    since = [Telling(Driver.SUBAGENT).run("npm test") for _ in range(6)]
    assert found(*told, *since[:1]) != []
    assert found(*told, *since) == []


def test_a_hook_is_quoted_and_never_made_an_instruction() -> None:
    told = [Telling().refused("/work/app/tests/a.py", HOOK, Tool.EDIT) for _ in range(3)]
    (bet,) = found(*told)
    assert "BLOCKED: Test files are protected" in bet.claim
    assert bet.change.design is Design.BRIEF


def test_what_the_agent_program_refuses_is_not_this() -> None:
    told = [
        Telling().read("/work/app/a.py", "File has not been read yet.", failed=True)
        for _ in range(5)
    ]
    assert found(*told) == []
