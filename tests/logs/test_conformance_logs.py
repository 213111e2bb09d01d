"""What every format of logs must do, over every built-in format and every fixture it brings.

A fixture is a folder `tests/fixtures/logs/<format>/<case>/` with files as programs write them and
`expected.json`, the truth worked out by hand. Where a session's id begins with a digest, the truth
has `*` for it; several such are told apart by `#` and a number, in the order of reading.
"""

from __future__ import annotations

import json
import random
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from hansei.config import Environment
from hansei.errors import UnreadableTranscript
from hansei.events import codec
from hansei.events.model import MARKER, Origin, Prompt
from hansei.sources import catalogue
from hansei.sources.contract import START, Transcript
from hansei.sources.log_files import Form, open_log, taken_apart
from spoiling import swapped
from truth import Told, assert_truth, summarise

if TYPE_CHECKING:
    from hansei.sources.log_format import LogFormat

FIXTURES = Path(__file__).parents[1] / "fixtures" / "logs"
CASES = sorted(path.parent for path in FIXTURES.glob("*/*/expected.json"))
FORMATS = [catalogue.load_format(name) for name in catalogue.formats()]
SWAPS = 40
every_case = pytest.mark.parametrize(
    "case", CASES, ids=lambda path: f"{path.parent.name}-{path.name}"
)


def format_of(case: Path) -> LogFormat:
    return catalogue.load_format(case.parent.name)


def files(case: Path) -> list[Path]:
    found = [path for path in case.rglob("*") if path.is_file() and path.name != "expected.json"]
    return sorted(found)


def told_by(source: LogFormat, paths: list[Path]) -> Told:
    told = Told()
    for path in paths:
        reading = source.read(Transcript(source.name, path), START)
        assert len({event.key for event in reading.events}) == len(reading.events)
        told.events += reading.events
        told.problems += reading.problems
        for facts in reading.sessions.values():
            told.learn(facts)
    return told


def named(found: dict[str, Any], expected: dict[str, Any]) -> dict[str, Any]:
    """What was found, with sessions of a digest under the names that the truth has for them."""
    sessions = dict(found["sessions"])
    for name in expected["sessions"]:
        star, rest = name[:1] == "*", name[1:].partition("#")[0]
        if star:
            digests = [it for it in sessions if it.endswith(rest) and it[0] != "*"]
            sessions[name] = sessions.pop(digests[0])
    for session in sessions.values():
        if session.get("lines") == session.get("requests"):
            session.pop("lines", None)
    return {**found, "sessions": sessions}


def in_order(told: Told, found: dict[str, Any]) -> dict[str, Any]:
    order = dict.fromkeys(event.session for event in told.known)
    return {**found, "sessions": {it: found["sessions"][it] for it in order}}


@every_case
def test_what_is_told_equals_the_fixtures_truth(case: Path) -> None:
    expected = json.loads((case / "expected.json").read_text("utf-8"))
    told = told_by(format_of(case), files(case))
    assert_truth(expected, named(in_order(told, summarise(told)), expected))


@every_case
def test_each_log_is_recognised_by_its_own_format_alone(case: Path) -> None:
    for path in files(case):
        log = open_log(path)
        assert [it.name for it in FORMATS if it.recognises(log)] == [case.parent.name]


@every_case
def test_reading_again_adds_nothing(case: Path) -> None:
    source = format_of(case)
    for path in files(case):
        transcript = Transcript(source.name, path)
        first = source.read(transcript, START)
        again = source.read(transcript, first.cursor)
        assert (again.events, again.problems, again.cursor) == ([], [], first.cursor)
        assert source.read(transcript, START).events == first.events


@every_case
def test_a_log_that_grows_repeats_what_it_told_under_the_same_keys(
    case: Path, tmp_path: Path
) -> None:
    source = format_of(case)
    for path in files(case):
        log = open_log(path)
        if log.form is not Form.LINES or log.problems or source.name in LATE_PARENTS:
            continue
        lines = path.read_bytes().splitlines(keepends=True)
        whole = {event.key for event in source.told(log).events}
        for end in range(1, len(lines)):
            part = tmp_path / path.name
            part.write_bytes(b"".join(lines[:end]) + b"\n")
            form = taken_apart(path, part.read_bytes())
            assert {event.key for event in source.told(form).events} <= whole


LATE_PARENTS = {"otlp", "openai_agents"}
"""What a span belongs to is known only when the spans around it have ended."""


@every_case
def test_broken_records_are_counted_and_change_nothing_else(case: Path) -> None:
    source = format_of(case)
    for path in files(case):
        log, content = open_log(path), path.read_bytes()
        whole = source.told(log)
        if log.form is Form.LINES:
            spoilt = content + b'{"half": \n17\n'
            expected = len(whole.problems) + 2
        elif log.form is Form.LIST:
            spoilt = content.rstrip()[:-1] + b', 17, "text"]'
            expected = len(whole.problems) + 2
        else:
            continue
        told = source.told(taken_apart(path, spoilt))
        assert len(told.problems) == expected
        assert told.events == whole.events


@every_case
def test_a_log_that_is_cut_off_says_so_or_tells_what_it_has(case: Path, tmp_path: Path) -> None:
    source = format_of(case)
    for path in files(case):
        content = path.read_bytes()
        half = tmp_path / path.name
        half.write_bytes(content[: len(content) // 2])
        if open_log(half).form is Form.BROKEN:
            with pytest.raises(UnreadableTranscript, match="cut off"):
                source.read(Transcript(source.name, half), START)
        else:
            told = source.read(Transcript(source.name, half), START)
            assert told.events or told.problems


@every_case
def test_no_spoiled_record_raises(case: Path) -> None:
    source, dice = format_of(case), random.Random(case.name)
    for path in files(case):
        log = open_log(path)
        if log.form is Form.TEXT:
            continue
        values = [record.value for record in log.records]
        for _ in range(SWAPS):
            spoilt = [swapped(it, dice) if dice.random() < 0.5 else it for it in values]
            lines = [json.dumps(it).encode() for it in spoilt]
            content = (
                b"\n".join(lines) if log.form is not Form.LIST else json.dumps(spoilt).encode()
            )
            changed = taken_apart(path, content)
            for it in FORMATS:
                if changed.records:
                    it.recognises(changed)
            if changed.form not in (Form.EMPTY, Form.BROKEN, Form.TEXT):
                for event in source.told(changed).events:
                    codec.decode(codec.encode(event))


@every_case
def test_every_event_survives_the_codec(case: Path) -> None:
    events = told_by(format_of(case), files(case)).events
    assert events
    for event in events:
        assert codec.decode(codec.encode(event)) == event


@every_case
def test_what_hansei_wrote_is_never_a_persons(case: Path, tmp_path: Path) -> None:
    source = format_of(case)
    copy = tmp_path / case.name
    shutil.copytree(case, copy)
    said = [it for it in told_by(source, files(case)).events if isinstance(it, Prompt)]
    for path in files(copy):
        content = path.read_text("utf-8")
        for text in sorted({it.text.split("\n")[0] for it in said if it.text}, key=len):
            content = content.replace(f'"{text}"', json.dumps(f"{text} {MARKER}"))
        path.write_text(content, "utf-8")
    prompts = [it for it in told_by(source, files(copy)).events if isinstance(it, Prompt)]
    assert all(it.origin is Origin.HANSEI for it in prompts if MARKER in it.text)


def test_every_format_has_a_fixture() -> None:
    assert {case.parent.name for case in CASES} == set(catalogue.formats())


def test_no_transcript_of_an_agent_is_taken_for_a_log() -> None:
    """It would be told twice, once by the agent's own source and once wrongly."""
    folder = FIXTURES.parent / "agents"
    looked_at = 0
    for path in sorted(it for it in folder.rglob("*.json*") if it.name != "expected.json"):
        log = open_log(path)
        looked_at += bool(log.records)
        taken = [it.name for it in FORMATS if log.records if it.recognises(log)]
        assert taken == [], path
    assert looked_at > 100


def test_formats_are_no_agents_and_have_no_folders() -> None:
    assert not set(catalogue.formats()) & set(catalogue.names())
    for source in FORMATS:
        assert catalogue.load(source.name).name == source.name
        assert not source.roots(Environment(home=Path("/nowhere"), variables={}), [])


def test_a_folder_that_is_named_stands_where_the_log_says_nothing(tmp_path: Path) -> None:
    source = catalogue.load_format("openai_chat")
    path = tmp_path / "chat.json"
    path.write_bytes(msgspec.json.encode([{"role": "user", "content": "hi"}]))
    bare = Transcript(source.name, path)
    there = Transcript(source.name, path, "/w/app")
    first = source.read(bare, START)
    again = source.read(there, first.cursor)
    assert [it.cwd for it in again.sessions.values()] == ["/w/app"]
    assert source.fingerprint(bare) != source.fingerprint(there)
    assert source.read(there, again.cursor).events == []
