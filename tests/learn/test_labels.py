"""Where a text first appeared decides whose it is."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from any_event import events
from hansei.events.model import Origin, Tool
from hansei.learn.labels import Kind, deciding, firsts, parts, plain, rank
from hansei.learn.model import Label
from hansei.learn.pasting import blocks
from hansei.learn.spans import spans
from hansei.store.reading import Numbered
from spoken_session import HOME, Spoken

COMMAND = "frobctl sync --profile staging --wait"
SENTENCE = "Always regenerate the berth index before the harbour tests are started."

SAYS: dict[str, tuple[Callable[[Spoken, str], Spoken], Label]] = {
    "typed": (lambda it, text: it.prompt(f"please run {text}"), Label.TYPED),
    "queued": (lambda it, text: it.prompt(text, Origin.QUEUED_HUMAN), Label.TYPED),
    "pasted": (
        lambda it, text: it.prompt(f"look:\n\n```\none\ntwo\nthree\n{text}\n```"),
        Label.PASTED,
    ),
    "said by the agent": (lambda it, text: it.reply(text), Label.ASSISTANT),
    "repository file": (lambda it, text: it.read(f"{HOME}/README.md", text), Label.REPOSITORY),
    "printed by a program": (lambda it, text: it.ran("make help", text), Label.ASSISTANT),
    "printed by a hook": (lambda it, text: it.prompt(text, Origin.HOOK), Label.ASSISTANT),
    "said when a call was refused": (lambda it, text: it.interrupt(text), Label.PASTED),
    "shown by the shell": (lambda it, text: it.ran("cat README.md", text), Label.REPOSITORY),
    "shown and run": (lambda it, text: it.ran("cat a.md; ./x.sh", text), Label.ASSISTANT),
    "shown and printed": (
        lambda it, text: it.ran("cat README.md; docker logs web", text),
        Label.ASSISTANT,
    ),
    "printed into a file": (
        lambda it, text: it.ran("npx evil > notes.txt", "").ran("cat notes.txt", text),
        Label.ASSISTANT,
    ),
    "installed into a file": (
        lambda it, text: it.ran("npm install evil > log.txt", "").ran("cat log.txt", text),
        Label.FOREIGN,
    ),
    "file outside": (lambda it, text: it.read("/opt/other/notes.md", text), Label.FOREIGN),
    "dependency": (
        lambda it, text: it.read(f"{HOME}/node_modules/left/README.md", text),
        Label.FOREIGN,
    ),
    "dependency by shell": (
        lambda it, text: it.ran("cat .venv/lib/site-packages/x/README", text),
        Label.FOREIGN,
    ),
    "line of a search": (
        lambda it, text: it.ran("grep -rn sync .", f"src/a:1:x\nnode_modules/b/c.md:3:{text}"),
        Label.FOREIGN,
    ),
    "web": (lambda it, text: it.web(text), Label.WEB),
    "mcp": (lambda it, text: it.call(Tool.MCP, "q", text, "issues"), Label.MCP),
    "subagent": (lambda it, text: it.call(Tool.SUBAGENT, "look", text, "Task"), Label.SUBAGENT),
    "notification": (
        lambda it, text: it.prompt(f"<task-notification>{text}", Origin.HARNESS),
        Label.SUBAGENT,
    ),
    "curl": (lambda it, text: it.ran("curl -s https://x.example/doc", text), Label.NETWORK),
    "gh": (lambda it, text: it.ran("gh issue view 12", text), Label.NETWORK),
    "registry": (lambda it, text: it.ran("npm view left-pad", text), Label.NETWORK),
    "code that fetches": (
        lambda it, text: it.ran("python3 -c 'import urllib.request as u; u.urlopen(X)'", text),
        Label.NETWORK,
    ),
    "unknown tool": (lambda it, text: it.call(Tool.OTHER, "", text, "oracle"), Label.FOREIGN),
    "answer of a person": (
        lambda it, text: it.call(Tool.OTHER, "", text, "AskUserQuestion"),
        Label.TYPED,
    ),
}


def label_of(session: Spoken, description: str = "", body: str = "", *commands: str) -> Label:
    sessions = {"s": spans(session.events, [HOME])}
    found = deciding(firsts(parts(description, body, commands), sessions))
    assert found is not None
    return found.label


@pytest.mark.parametrize("place", SAYS)
@pytest.mark.parametrize("text", [COMMAND, SENTENCE])
def test_a_text_is_whose_it_was_first_though_the_agent_repeats_it(place: str, text: str) -> None:
    say, expected = SAYS[place]
    session = say(Spoken().prompt("hello"), text).reply(f"I see: {text}").ran(text)
    body = f"Do this.\n\n{text}\n" if text is SENTENCE else f"```sh\n{text}\n```"
    assert label_of(session, "", body) is expected


def test_what_comes_later_does_not_matter() -> None:
    session = Spoken().prompt(f"run {COMMAND}").web(f"you should run {COMMAND}")
    assert label_of(session, "", "", COMMAND) is Label.TYPED


def test_a_file_filled_from_the_network_is_the_networks() -> None:
    for fill in (
        "curl -s https://x.example/a -o docs/a.md",
        "curl -s https://x.example/a > docs/a.md",
        "wget -q https://x.example/a -O docs/a.md",
    ):
        session = Spoken().ran(fill).read(f"{HOME}/docs/a.md", COMMAND).ran(COMMAND)
        assert label_of(session, "", "", COMMAND) is Label.NETWORK


def test_a_repository_cloned_into_this_one_is_not_this_one() -> None:
    session = (
        Spoken().ran("git clone https://x.example/tool.git").read(f"{HOME}/tool/a.md", COMMAND)
    )
    assert label_of(session, "", "", COMMAND) is Label.NETWORK


def test_a_file_the_agent_wrote_outside_is_the_agents_own() -> None:
    session = Spoken().ran("make all > /tmp/build.log").ran("tail /tmp/build.log", COMMAND)
    assert label_of(session, "", "", COMMAND) is Label.ASSISTANT


def test_asking_this_machine_fetches_nothing_foreign() -> None:
    session = Spoken().ran("curl -s http://localhost:8080/help", COMMAND)
    assert label_of(session, "", "", COMMAND) is Label.ASSISTANT


def test_characters_nobody_sees_do_not_hide_where_a_text_comes_from() -> None:
    hidden = COMMAND.replace("sync", "sy\u200bnc").replace("-", "\uff0d", 1)
    session = Spoken().web(f"run `{hidden}`").ran(COMMAND)
    assert label_of(session, "", "", COMMAND) is Label.WEB


def test_an_address_and_a_package_count_alone() -> None:
    session = Spoken().web("try the harbourkit package, see https://evil.example/x").reply("ok")
    session.ran("npm install harbourkit").ran("curl -s https://evil.example/x")
    assert label_of(session, "", "", "npm install --save-dev harbourkit@2.1") is Label.WEB
    assert label_of(session, "", "", "wget https://evil.example/x") is Label.WEB


def test_what_everybody_types_belongs_to_nobody() -> None:
    session = Spoken().web("npm run build, then git push and make test").ran("npm run build")
    assert firsts(parts("", "", ["npm run build"]), {"s": spans(session.events)}) == []


def test_a_person_who_typed_it_in_one_session_vouches_for_it_in_the_others() -> None:
    typed = spans(Spoken().prompt(f"run {COMMAND}").events)
    web = spans(Spoken().web(COMMAND).events)
    repository = spans(Spoken().read(f"{HOME}/a.md", COMMAND).events)
    wanted = parts("", "", [COMMAND])
    assert {it.label for it in firsts(wanted, {"a": web, "b": typed})} == {Label.TYPED}
    assert {it.label for it in firsts(wanted, {"a": repository, "b": web})} == {Label.WEB}


def test_the_worst_part_decides() -> None:
    session = Spoken().prompt(f"run {COMMAND}").web(SENTENCE)
    assert label_of(session, SENTENCE, "", COMMAND) is Label.WEB


def test_parts_are_commands_addresses_packages_and_sentences() -> None:
    body = "See https://a.example/b.\n\n1. `uv add harbourkit>=2`\n\n" + SENTENCE
    found = {(it.kind, it.text) for it in parts("", body)}
    assert (Kind.ADDRESS, "https://a.example/b") in found
    assert (Kind.PACKAGE, "harbourkit") in found
    assert (Kind.SENTENCE, SENTENCE) in found


def test_what_people_type_is_not_taken_for_pasted() -> None:
    typed = "No, use `make types` here.\n\nAnd please:\n- run the tests\n- then commit"
    assert not [it for it in blocks(typed) if it.pasted]


@pytest.mark.parametrize(
    "text",
    [
        "\n".join(f"line {n}" for n in range(20)),
        'Traceback (most recent call last):\n  File "a.py", line 3, in f\nValueError: no',
        "$ make test\nerror: no rule\n$ ls",
        "> one\n> two",
        "word " * 400,
    ],
)
def test_what_programs_print_and_what_is_long_is_pasted(text: str) -> None:
    assert [it.pasted for it in blocks(text)] == [True]


@given(st.text(max_size=400))
def test_blocks_hold_every_word_of_a_prompt(text: str) -> None:
    assert sorted("\n".join(it.text for it in blocks(text)).split()) == sorted(text.split())


@given(st.lists(events(), max_size=6))
def test_any_events_have_spans(found: list[object]) -> None:
    numbered = [Numbered(n, it) for n, it in enumerate(found, 1)]  # type: ignore[arg-type]
    assert all(it.label in Label for it in spans(numbered))


@given(st.text(max_size=80))
def test_comparing_is_the_same_again(text: str) -> None:
    assert plain(plain(text)) == plain(text)


def test_labels_go_from_the_most_to_the_least_trusted() -> None:
    assert rank(Label.TYPED) < rank(Label.REPOSITORY) < rank(Label.PASTED) < rank(Label.WEB)
