"""What only OpenClaw does."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hansei.config import Environment
from hansei.errors import UnreadableTranscript
from hansei.events.model import AnyEvent, Driver, Origin, Prompt, ToolResult
from hansei.sources.agents.openclaw import INDEX, SESSION, SOURCE
from hansei.sources.agents.openclaw.prompts import pieces
from hansei.sources.agents.openclaw.reading import driver_of
from hansei.sources.contract import START, Transcript, latest
from hansei.sources.families.tree.records import Message

FIXTURES = Path(__file__).parents[1] / "fixtures" / "agents" / "openclaw"


def told(path: Path, variant: str = SESSION) -> list[AnyEvent]:
    return SOURCE.read(Transcript(SOURCE.name, path, variant), START).events


def only(folder: Path) -> Path:
    (path,) = folder.rglob("*.jsonl")
    return path


@pytest.mark.parametrize(
    ("key", "driver"),
    [
        ("agent:main:main", Driver.HUMAN),
        ("agent:main:telegram:group:-100", Driver.HUMAN),
        ("agent:main:subagent:77", Driver.SUBAGENT),
        ("agent:main:cron:9f8e:run:1", Driver.AUTOMATED),
        ("cron:9f8e", Driver.AUTOMATED),
        ("hook:77", Driver.AUTOMATED),
        ("3", None),
        ("", None),
    ],
)
def test_a_key_says_who_drives_the_session(key: str, driver: Driver | None) -> None:
    assert driver_of(key) is driver


def test_what_the_gateway_puts_before_a_message_is_no_persons() -> None:
    prompts = [event for event in told(only(FIXTURES / "channel")) if isinstance(event, Prompt)]
    typed = [event.text for event in prompts if event.origin is Origin.HUMAN]
    assert typed == ["Which branch are we on?", "And is it clean?", "Thanks", "Free some space"]


def test_a_time_inside_a_text_stays() -> None:
    text = "It broke [at 2026-11-06 10:00] again"
    assert [said.text for said in pieces(text, Message())] == [text]


def test_a_message_of_nothing_but_metadata_is_no_prompt_of_a_person() -> None:
    text = 'Sender (untrusted metadata):\n```json\n{\n  "id": "1"\n}\n```\n\n'
    assert [said.origin for said in pieces(text, Message())] == [Origin.HARNESS]


def test_a_file_that_was_renamed_tells_the_same_under_the_same_keys(tmp_path: Path) -> None:
    live = only(FIXTURES / "schedule")
    renamed = tmp_path / f"{live.name}.deleted.2026-11-07T00-00-00.000Z"
    renamed.write_bytes(live.read_bytes())
    assert told(renamed) == told(live)


def test_a_list_of_sessions_that_is_half_written_is_read_again_later(tmp_path: Path) -> None:
    whole = (FIXTURES / "listed/agents/main/sessions/sessions.json").read_bytes()
    path = tmp_path / "sessions.json"
    transcript = Transcript(SOURCE.name, path, INDEX)
    path.write_bytes(whole[:-40])
    with pytest.raises(UnreadableTranscript, match="not all of it yet"):
        SOURCE.read(transcript, START)
    path.write_bytes(whole)
    reading = SOURCE.read(transcript, START)
    assert {facts.driver for facts in reading.sessions.values()} == {Driver.HUMAN, Driver.SUBAGENT}
    assert SOURCE.read(transcript, reading.cursor).sessions == {}


def test_a_list_without_keys_and_one_of_nonsense_are_read_without_harm(tmp_path: Path) -> None:
    path = tmp_path / "sessions.json"
    contents: tuple[object, ...] = ([{"id": "a"}, 7, {"sessionId": 5}], "text", 5, None, {"k": []})
    for content in contents:
        path.write_text(json.dumps(content))
        reading = SOURCE.read(Transcript(SOURCE.name, path, INDEX), START)
        assert set(reading.sessions) <= {"a"}
        assert not any(facts.driver for facts in reading.sessions.values())


def test_a_result_written_again_replaces_the_first(tmp_path: Path) -> None:
    events = latest(told(only(FIXTURES / "told_again")))
    (result,) = [event for event in events if isinstance(event, ToolResult)]
    assert result.text.endswith("[cut]")


def test_archives_and_lists_are_found_and_other_files_are_not(tmp_path: Path) -> None:
    folder = tmp_path / ".openclaw" / "agents" / "main" / "sessions"
    folder.mkdir(parents=True)
    found = {
        "a.jsonl", "b.jsonl.reset.2026-02-17T04-06-12.498Z", "d-topic-7.jsonl", "sessions.json",
        "c.jsonl.deleted.2026-02-17T04-06-12.498Z", "e.jsonl.full.bak",
    }  # fmt: skip
    for name in (*found, "a.jsonl.lock", "sessions.json.tmp", "notes.bak", "Z"):
        (folder / name).touch()
    (tmp_path / ".openclaw" / "workspace").mkdir()
    (tmp_path / ".openclaw" / "workspace" / "other.jsonl").touch()
    environment = Environment(home=tmp_path, variables={})
    assert {item.path.name for item in SOURCE.discover(environment, [])} == found
