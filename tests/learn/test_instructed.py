"""What agents did because they were told to, word by word, is no offer."""

from __future__ import annotations

import pytest

from learn_window import offered
from retro_window import ROOT, Telling

COMMAND = "./scripts/feature.sh --json --short-name berth"


def session(opening: Telling) -> Telling:
    return opening.run("git status").run(COMMAND)


def names(*tellings: Telling) -> list[str]:
    return [it.name for it in offered(*tellings)]


def test_a_command_that_no_text_tells_is_offered() -> None:
    tellings = [session(Telling().say("make the berth feature now")) for _ in range(3)]
    assert names(*tellings) == ["repeated-feature"]


@pytest.mark.parametrize(
    "opening",
    [
        lambda: Telling().say('Run `scripts/feature.sh "<text>" --short-name berth --json` once.'),
        lambda: Telling().say("go").run("quay step 4", f"First:\n```\n{COMMAND}\n```"),
        lambda: Telling().say("go").read(f"{ROOT}/AGENTS.md", f"- New feature: `{COMMAND}`"),
        lambda: Telling().say("go").answer(f"According to the protocol I run {COMMAND} now."),
    ],
    ids=["prompt", "step", "instructions", "quoted"],
)
def test_a_command_that_stands_in_what_the_agent_was_given_is_none(opening: object) -> None:
    assert callable(opening)
    assert names(*(session(opening()) for _ in range(3))) == []


@pytest.mark.parametrize(
    "opening",
    [
        lambda: Telling().say("go").run("./scripts/feature.sh --help", f"Usage: {COMMAND}"),
        lambda: Telling().say("go").read(f"{ROOT}/scripts/feature.sh", f"# {COMMAND}"),
        lambda: Telling().say("go").run("cat package.json", f'"feature": "{COMMAND}"'),
        lambda: Telling().say("Run scripts/feature.sh --json please."),
    ],
    ids=["help", "script", "package", "less"],
)
def test_what_an_agent_had_to_look_up_or_was_told_in_part_is_offered(opening: object) -> None:
    assert callable(opening)
    assert "repeated-feature" in names(*(session(opening()) for _ in range(3)))


def test_one_session_in_four_that_was_told_tells_nothing_of_the_others() -> None:
    told = session(Telling().say(f"Run {COMMAND}"))
    others = [session(Telling().say("make the berth feature now")) for _ in range(3)]
    assert names(told, *others) == ["repeated-feature"]
