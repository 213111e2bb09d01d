"""`hansei learn`, typed in a repository in which offers were planted."""

from __future__ import annotations

import io
import json
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import click
import pytest

from bet_world import NOW, repository, stocked
from hansei.cli import app, offering
from hansei.cli.commands.learn import offer_from
from hansei.cli.root import root
from hansei.config import Config, Environment, Settings
from hansei.errors import NotFound, StoreUnwritable, UsageError
from hansei.learn.model import Offer
from hansei.store.database import open_store
from learn_world import offer, plant

DAY = 86_400_000
CHECKS = offer()
RELEASE = offer(
    "repeated-release-notes",
    ["make notes for=next"],
    detector="repeated-action",
    sessions=(4, 9),
    description="Notes of the next release; use it when something people notice is merged.",
)
WIPE = offer("procedure-wipe", ["git clean -fdx", "rm -rf / --no-preserve-root"])


class Keyboard(io.StringIO):
    """A terminal at which somebody types these lines, and then stops it."""

    def isatty(self) -> bool:
        return True


class Desk:
    """A repository, a store, and what is printed when a command is typed there."""

    def __init__(
        self, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        self.folder = repository(folder / "app")
        self.home = folder / "home"
        self.home.mkdir()
        self.store = folder / "store"
        stocked(self.store, self.folder).close()
        self.monkeypatch = monkeypatch
        self.capsys = capsys
        self.said = ""
        self.clock = NOW

    def type(self, *arguments: str, answers: str | None = None) -> str:
        """What a command prints; with answers it runs in a terminal."""
        self.clock += 1000
        self.capsys.readouterr()
        variables = {"HANSEI_HOME": str(self.store), "PATH": "/usr/bin:/bin"}
        place = app.Place(Environment(self.home, variables), self.folder)
        with self.monkeypatch.context() as patched, app.elsewhere(place):
            patched.setattr(sys, "stdin", io.StringIO() if answers is None else Keyboard(answers))
            patched.setattr(sys.stdout, "isatty", lambda: answers is not None, raising=False)
            try:
                root.main(args=["learn", *arguments, "--no-ingest"], standalone_mode=False)
            finally:
                out, self.said = self.capsys.readouterr()
        return out

    def told(self, *arguments: str) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.type(*arguments, "--json"))
        return found

    def skills(self) -> set[str]:
        """Skills that agents find in the repository."""
        places = [self.folder / it / "skills" for it in (".agents", ".claude")]
        first, second = ({it.parent.name for it in place.glob("*/SKILL.md")} for place in places)
        assert first == second
        return first


@pytest.fixture
def desk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[Desk]:
    made = Desk(tmp_path, monkeypatch, capsys)
    plant(monkeypatch, [CHECKS, RELEASE])
    monkeypatch.setattr(app, "now", lambda: made.clock)
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield made
    monkeypatch.undo()
    time.tzset()


@pytest.fixture
def planted(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    return lambda *offers: plant(monkeypatch, offers)


def even(text: str, desk: Desk) -> str:
    """A screen that is the same wherever the test runs."""
    plain = click.unstyle(text)
    return plain.replace(str(desk.folder), "/work/app").replace(str(desk.home), "/home/me")


# --- screens --------------------------------------------------------------------------------------


def test_without_a_terminal_it_shows_and_saves_nothing(
    desk: Desk, golden: Callable[[str, str], None]
) -> None:
    golden("learn-list.txt", even(desk.type() + desk.said, desk))
    assert not desk.skills()


def test_a_terminal_is_asked_about_each(desk: Desk, golden: Callable[[str, str], None]) -> None:
    out = desk.type(answers="what\nn\ny\n")
    golden("learn-asked.txt", even(f"{out}--- said ---\n{desk.said}", desk))
    assert desk.skills() == {"repeated-release-notes"}


def test_what_is_kept_back_is_told_in_a_line_and_saved_nowhere(
    desk: Desk, planted: Callable[..., None], golden: Callable[[str, str], None]
) -> None:
    planted(WIPE)
    golden("learn-refused.txt", even(desk.type("--yes"), desk))
    assert not desk.skills()


def test_one_session_is_named_in_the_heading(
    desk: Desk, golden: Callable[[str, str], None]
) -> None:
    golden("learn-session.txt", even(desk.type("00000004"), desk))


def test_where_there_is_nothing_it_says_what_there_was(
    desk: Desk, planted: Callable[..., None]
) -> None:
    planted()
    assert "Nothing new to keep." in desk.type()


def test_few_sessions_are_told_to_be_few(desk: Desk, planted: Callable[..., None]) -> None:
    planted()
    out = desk.type("--since", "2d")
    assert "2 sessions tell little: what recurs shows from 3 on" in " ".join(out.split())


def test_no_sessions_are_told_as_that(desk: Desk) -> None:
    assert "No sessions in app that fit" in desk.type("--since", "1h")
    assert desk.told("--since", "1h")["suggestions"] == []


# --- answers --------------------------------------------------------------------------------------


def test_enter_saves_nothing_that_needs_a_word_of_its_own(desk: Desk) -> None:
    desk.type(answers="\n\n")
    assert not desk.skills()


@pytest.mark.parametrize("answer", ["y", "Y", "yes", " Yes "])
def test_yes_saves(answer: str, desk: Desk) -> None:
    out = desk.type("00000007", answers=f"{answer}\n")
    assert "Saved procedure-make in .agents/skills and .claude/skills. " in out
    assert desk.skills() == {"procedure-make"}
    assert "Nothing new to keep; 1 said already in skill procedure-make." in desk.type("00000007")


@pytest.mark.parametrize(("answer", "later"), [("n", True), ("no", True), ("s", False)])
def test_no_puts_off_and_s_is_for_ever(answer: str, later: bool, desk: Desk) -> None:
    desk.type("00000007", answers=f"{answer}\n")
    assert not desk.skills()
    assert "1 skipped before (`hansei learn --reset-skips`)" in desk.type("00000007")
    desk.clock += 28 * DAY
    assert ("1  procedure-make" in desk.type("00000007")) is later


@pytest.mark.parametrize("words", [("--reset-skips",), ("reset-skips",)])
def test_skips_can_be_reset(words: tuple[str, ...], desk: Desk) -> None:
    desk.type("00000007", answers="s\n")
    assert desk.type(*words) == "1 offer in app will be made again where found.\n"
    assert "1  procedure-make" in desk.type("00000007")
    assert desk.type(*words) == "Nothing was skipped in app. `--all` looks at every workspace.\n"
    assert desk.told("--reset-skips", "--all") == {
        "schema": "hansei.learn.reset/1",
        "offered_again": 0,
    }


def test_an_answer_that_is_none_is_asked_for_again(desk: Desk) -> None:
    desk.type("00000007", answers="maybe\nlater\ny\n")
    assert desk.said.count(offering.QUESTION_UNCONFIRMED) == 3
    assert desk.skills() == {"procedure-make"}


def test_stopping_in_between_keeps_what_was_answered(desk: Desk) -> None:
    with pytest.raises(click.Abort):
        desk.type(answers="y\n")
    assert desk.skills() == {"procedure-make"}
    assert [it["offer"]["name"] for it in desk.told()["suggestions"]] == ["repeated-release-notes"]


def test_stopping_at_once_leaves_everything_as_it_was(desk: Desk) -> None:
    before = desk.told()
    with pytest.raises(click.Abort):
        desk.type(answers="")
    assert desk.told() == before
    assert not (desk.folder / ".agents").exists()


# --- saving ---------------------------------------------------------------------------------------


def test_yes_for_all_puts_in_use_only_what_needs_no_word_of_its_own(desk: Desk) -> None:
    out = desk.type("--yes")
    assert "The next session has it" not in out
    assert "`hansei skills promote repeated-release-notes`" in " ".join(out.split())
    assert not desk.skills()
    assert desk.told()["suggestions"] == []


def test_for_the_user_they_lie_in_the_home_folder(desk: Desk) -> None:
    out = desk.type("--user", answers="y\ny\n")
    assert "procedure-make in ~/.agents/skills and ~/.claude/skills" in out
    assert (desk.home / ".claude" / "skills" / "procedure-make" / "SKILL.md").is_file()
    assert not desk.skills()
    assert desk.told()["suggestions"] == []


def test_json_never_asks_and_saves_only_if_told(desk: Desk) -> None:
    found = desk.told()
    assert found["schema"] == "hansei.learn/1"
    assert found["saved"] == []
    first = found["suggestions"][0]
    assert first["evidence"] == ["00000009#3", "00000008#3", "00000007#3"]
    assert first["offer"]["commands"] == list(CHECKS.commands)
    saved = desk.told("--yes")["saved"]
    assert [it["name"] for it in saved] == ["procedure-make", "repeated-release-notes"]
    assert all(Path(file).is_file() for it in saved for file in it["files"])


def test_a_skill_that_cannot_be_saved_does_not_keep_the_next_from_it(desk: Desk) -> None:
    """Where `.agents` is a file, nothing can be put there."""
    (desk.folder / ".agents").write_text("a file")
    (desk.folder / ".claude").write_text("a file")
    desk.type(answers="y\ny\n")
    assert desk.said.count("was not saved") == 2
    assert len(desk.told()["suggestions"]) == 2


def test_a_store_that_cannot_be_written_is_told_before_anybody_is_asked(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.type()
    opened = open_store

    def read_only(*arguments: Any, **named: Any) -> Any:
        store = opened(*arguments, **named)
        object.__setattr__(store, "writable", False)
        return store

    monkeypatch.setattr("hansei.store.database.open_store", read_only)
    assert "1  procedure-make" in desk.type()
    with pytest.raises(StoreUnwritable):
        desk.type("--yes")
    with pytest.raises(StoreUnwritable):
        desk.type("--reset-skips")


def test_sessions_that_show_nothing_new_are_not_spoken_of(
    desk: Desk, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = Config(desk.store, Settings(), Environment(desk.home, {"PATH": "/usr/bin:/bin"}))
    capsys.readouterr()
    with closing(open_store(desk.store, now=NOW)) as store:
        assert offer_from(store, settings, ["00000001", "00000002"]) == 0
        assert capsys.readouterr().out == ""
        assert offer_from(store, settings, ["00000001", "00000009"]) == 2
    assert "2  repeated-release-notes" in capsys.readouterr().out


# --- what is refused ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "words",
    [
        ("--classic", "--yes"),
        ("--classic", "--user"),
        ("--reset-skips", "--yes"),
        ("--reset-skips", "--classic"),
        ("00000001", "--since", "7d"),
        ("00000001", "--all"),
    ],
)
def test_words_that_contradict_one_another_are_refused(words: tuple[str, ...], desk: Desk) -> None:
    with pytest.raises(UsageError):
        desk.type(*words)


def test_a_session_that_is_not_there_is_refused(desk: Desk) -> None:
    with pytest.raises(NotFound, match="no session begins with 'nowhere'"):
        desk.type("nowhere")


def hostile() -> Offer:
    """What a transcript may try to make of a screen and of a file's place."""
    words = "\x1b[2J\x1b]0;owned\x07 do\u202e this"
    return replace(offer("../../x", [f"make {words}"]), description=words, body=f"# {words}\n")


def test_text_of_transcripts_does_not_drive_the_terminal(
    desk: Desk, planted: Callable[..., None]
) -> None:
    planted(hostile(), replace(hostile(), name="plain-name", key="other"))
    out = desk.type("--yes")
    assert not any(it in out for it in "\x1b\x07\u202e")
    assert all("/" not in it and "." not in it for it in desk.skills())


# --- the simple rules -----------------------------------------------------------------------------


def test_the_simple_rules_are_compared_with_ours_and_save_nothing(desk: Desk) -> None:
    out = desk.type("--classic")
    assert out.startswith("The simple rules on 10 sessions\n")
    assert "multi-step" in out
    assert not desk.skills()
    assert desk.told("--classic") == {
        "schema": "hansei.learn.classic/1",
        "sessions": 10,
        "offers": [],
    }
    assert "They offer nothing." in desk.type("00000004", "--classic")
