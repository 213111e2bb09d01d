"""The simple rules, case by case: every statement and example about them has its row here."""

from __future__ import annotations

from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hansei.events.model import (
    AnyEvent,
    Basis,
    Origin,
    Prompt,
    Status,
    Tool,
    ToolCall,
    ToolResult,
)
from hansei.learn import classic
from hansei.learn.classic import RULES, Ran, Said, normalised, offers
from hansei.store.reading import Numbered

BROKEN = "error: it did not work"


class Case(NamedTuple):
    """A session as lines, and what a rule offers from it.

    `> text` is a message of the person, `! command` a command whose output says `error:`, anything
    else a command that works.
    """

    claim: str
    rule: str
    lines: tuple[str, ...]
    name: str | None
    commands: tuple[str, ...] = ()


SHOP = ("git clone https://git.example/shop.git", "cd shop", "npm ci", "npm run check")
SHIP = ("docker build -t shop .", "docker tag shop r.example/shop", "docker push r.example/shop")
ROLLOUT = (*SHIP, "kubectl rollout restart deployment/shop")
SIX = ("go test ./a/...", "vi a.go", "go vet", "go build", "git diff", "go test ./b/...")

CASES = [
    # 1. multi-step
    Case("four in a row", "multi-step", SHOP, "procedure-git", SHOP),
    Case("three are too few", "multi-step", SHOP[:3], None),
    Case("named by the first command", "multi-step", ROLLOUT, "procedure-docker", ROLLOUT),
    Case("a failure breaks the row", "multi-step", (*SHOP[:2], "! npm i", *SHOP[2:]), None),
    Case(
        "a new row begins after a failure",
        "multi-step",
        ("ls", "! npm i", *SHOP),
        "procedure-git",
        SHOP,
    ),
    Case(
        "a row goes on to its end",
        "multi-step",
        (*SHOP, "npm start", "! x", "y"),
        "procedure-git",
        (*SHOP, "npm start"),
    ),
    Case(
        "the first row wins",
        "multi-step",
        (*ROLLOUT, "! x", *SHOP),
        "procedure-docker",
        ROLLOUT,
    ),
    Case(
        "messages do not break a row",
        "multi-step",
        (*SHOP[:2], "> go on", *SHOP[2:]),
        "procedure-git",
        SHOP,
    ),
    # 2. error-recovery
    Case(
        "the next command worked",
        "error-recovery",
        ("! npm i lodahs", "npm i lodash"),
        "error-npm",
        ("npm i lodash",),
    ),
    Case(
        "each failure is looked at with what follows",
        "error-recovery",
        ("! npm i lodahs", "! npm i lodsah", "ls"),
        "error-npm",
        ("ls",),
    ),
    Case("nothing follows", "error-recovery", ("pwd", "! npm i lodahs"), None),
    Case(
        "the same command again changes nothing",
        "error-recovery",
        ("! make", "make"),
        None,
    ),
    Case(
        "related or not is not asked",
        "error-recovery",
        ("! cargo build", "git status"),
        "error-cargo",
        ("git status",),
    ),
    Case(
        "the first recovery wins",
        "error-recovery",
        ("! a x", "a y", "! b x", "b y"),
        "error-a",
        ("a y",),
    ),
    # 3. user-correction
    Case(
        "corrected, and it worked",
        "user-correction",
        ("! yarn site", "> no, try yarn site:live instead", "yarn site:live"),
        "user-correction-site",
        ("yarn site:live",),
    ),
    *(
        Case(
            f"the word {word!r}",
            "user-correction",
            ("npm run site", f"> {word} please", "npm run pages"),
            "user-correction-pages",
            ("npm run pages",),
        )
        for word in classic.CORRECTING
    ),
    Case("a part of a word will do", "user-correction", ("a", "> now b", "b"), "user-correction-b"),
    Case("without such a word", "user-correction", ("make a", "> well", "make b"), None),
    Case("nothing to correct", "user-correction", ("> no", "npm run pages"), None),
    Case("nothing worked after", "user-correction", ("a", "> wrong", "! b"), None),
    Case(
        "what worked later counts",
        "user-correction",
        ("a", "> wrong", "! b", "make c"),
        "user-correction-make",
        ("make c",),
    ),
    # 4. repeated-action
    Case(
        "twice among six",
        "repeated-action",
        SIX,
        "repeated-go-test",
        ("go test ./a/...", "go test ./b/..."),
    ),
    Case("five are too few", "repeated-action", ("go test",) * 5, None),
    Case(
        "three times the same",
        "repeated-action",
        ("go test ./...", "a", "go test ./...", "b", "go test ./...", "c"),
        "repeated-go-test",
        ("go test ./...",),
    ),
    Case("all different", "repeated-action", ("a", "b", "c", "d", "e", "f"), None),
    Case(
        "the first command that repeats wins",
        "repeated-action",
        ("a", "b", "b", "b", "c", "a"),
        "repeated-a",
        ("a",),
    ),
    Case(
        "failed runs count too",
        "repeated-action",
        ("! make", "a", "b", "c", "d", "! make"),
        "repeated-make",
        ("make",),
    ),
    # 5. explicit-instruction
    Case(
        "named in the sentence",
        "explicit-instruction",
        ("compose up -d", "> save this compose file as shop-dev"),
        "shop-dev",
        ("compose up -d",),
    ),
    *(
        Case(
            f"the phrase {phrase!r}",
            "explicit-instruction",
            ("make", f"> Please {phrase}: as deploy-all"),
            "deploy-all",
            ("make",),
        )
        for phrase in classic.ASKING
    ),
    Case(
        "the name may follow `about`",
        "explicit-instruction",
        ("make", "> create skill about releases"),
        "releases",
        ("make",),
    ),
    Case(
        "without a name",
        "explicit-instruction",
        ("make", "> remember this!"),
        classic.UNNAMED,
        ("make",),
    ),
    Case("`as skill` is no name", "explicit-instruction", ("> save as skill",), classic.UNNAMED),
    Case(
        "the commands around it",
        "explicit-instruction",
        ("far", "> first", "before", "> save this as it-is", "after", "> then", "far"),
        "it-is",
        ("before", "after"),
    ),
    Case("no such phrase", "explicit-instruction", ("make", "> i saved it"), None),
]


def told(lines: tuple[str, ...]) -> list[Ran | Said]:
    found: list[Ran | Said] = []
    for seq, line in enumerate(lines, 1):
        mark, _, rest = line.partition(" ")
        if mark == ">":
            found.append(Said(seq, rest))
        else:
            found.append(Ran(seq, rest, BROKEN) if mark == "!" else Ran(seq, line, "fine"))
    return found


@pytest.mark.parametrize("case", CASES, ids=lambda it: f"{it.rule}: {it.claim}")
def test_a_rule_offers_what_the_table_says(case: Case) -> None:
    found = RULES[case.rule]("s1", told(case.lines))
    assert (found and found.name) == case.name
    if found is not None and case.commands:
        assert found.commands == case.commands


NORMALISED = [
    ("go test ./internal/mail/...", "go test"),
    ("go test ./internal/queue/...", "go test"),
    ("docker build -t shop:v1 .", "docker build"),
    ('curl -H "Accept: text/plain" https://shop.example/items', "curl <url>"),
    ("curl -s https://shop.example/items", "curl <url>"),
    ("pip install httpx==0.27.0", "pip install httpx"),
    ("npm install left-pad@1.3.0", "npm install left-pad"),
    ("nvm use 20.1", "nvm use"),
    ("nvm use v20", "nvm use"),
    ("ls -la", "ls"),
    ("ls -l -a src", "ls"),
    ("make --jobs=4 all", "make all"),
    ("cat ~/notes/today", "cat"),
    ("echo 'never closed", "echo 'never closed"),
    ("/usr/bin/true", ""),
]


@pytest.mark.parametrize(("command", "same"), NORMALISED)
def test_commands_are_compared_without_their_particulars(command: str, same: str) -> None:
    assert normalised(command) == same


@given(st.text(max_size=60))
def test_normalising_any_text_gives_words_without_paths(text: str) -> None:
    assert all("/" not in word for word in normalised(text).replace("<url>", "").split(" "))


def test_a_command_failed_if_its_output_says_so_in_any_case() -> None:
    assert Ran(1, "npm i lodahs", "Error: no such package").failed
    assert Ran(1, "make", "make: *** error: stop").failed
    assert not Ran(1, "pytest", "3 failed, 2 passed").failed
    assert not Ran(1, "make", "an error occurred").failed


def test_a_procedure_lists_its_commands_by_number() -> None:
    (found,) = offers("s1", told(SHOP))
    assert found.description == "Multi-step procedure: git (4 steps)"
    assert found.body.startswith("## procedure-git\n\n")
    steps = "\n".join(f"{number}. {it}" for number, it in enumerate(SHOP, 1))
    assert found.body.endswith(f"\n\n### Commands\n{steps}\n")
    assert (found.topic, found.action) == ("git", "clone shop ci run")


def test_a_recovery_holds_a_table_of_before_and_after() -> None:
    (found,) = offers("s1", told(("! npm i lodahs", "npm i lodash")))
    assert "(lodahs → lodash)" in found.description
    table = "| Before | After |\n|--------|-------|\n| npm i lodahs | npm i lodash |\n"
    assert found.body.endswith(f"\n\n### Error Fix\n{table}")


def test_a_pipe_in_a_command_does_not_break_the_table() -> None:
    (found,) = offers("s1", told(("! cat a | wc", "cat a | wc -l")))
    assert r"| cat a \| wc | cat a \| wc -l |" in found.body


def test_at_most_one_offer_a_rule_and_five_in_all() -> None:
    talk = ("> no, save this as all-of-it", "! a x", *SIX, *SHOP, "! b x", *SIX, *ROLLOUT)
    found = offers("s1", told(("first", *talk, *talk)))
    assert [it.detector for it in found] == list(RULES)


def test_an_offer_names_the_events_it_comes_from() -> None:
    (found,) = offers("s1", told(("make", "> save this as it-is")))
    assert [(it.session, it.event) for it in found.evidence] == [("s1", 2), ("s1", 1)]


def test_the_same_offer_has_the_same_key_in_another_session() -> None:
    (one,), (other,) = offers("s1", told(SHOP)), offers("s2", told(("! x", *SHOP)))[:1]
    assert one.key == other.key
    assert one.key != offers("s3", told(ROLLOUT))[0].key


@given(st.lists(st.text(max_size=30).map(lambda it: f"> {it}") | st.text(max_size=30)))
def test_no_text_breaks_a_rule_and_every_name_is_one_of_the_public_format(lines: list[str]) -> None:
    for found in offers("s1", told(tuple(lines))):
        assert 1 <= len(found.name) <= 64
        assert all(part.isascii() and part.isalnum() for part in found.name.split("-"))


def test_the_rules_see_commands_in_the_terminal_and_what_people_type() -> None:
    failed = ToolResult(
        key=5, session="s", call="a", text=BROKEN, status=Status.OK, basis=Basis.FLAG
    )
    events: list[AnyEvent] = [
        Prompt(key=1, session="s", text="go", origin=Origin.HUMAN),
        Prompt(key=2, session="s", text="no, hooks do not count", origin=Origin.HOOK),
        ToolCall(key=3, session="s", call="a", tool=Tool.SHELL, name="Bash", text="make"),
        ToolCall(key=4, session="s", call="b", tool=Tool.READ, name="Read", text="a.py"),
        failed,
        ToolCall(key=6, session="s", call="c", tool=Tool.SHELL, name="BashOutput"),
    ]
    numbered = [Numbered(seq, event) for seq, event in enumerate(events, 1)]
    assert classic.transcript(numbered) == [Said(1, "go"), Ran(3, "make", BROKEN)]
