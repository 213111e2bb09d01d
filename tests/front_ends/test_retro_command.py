"""`hansei retro` over a generated history."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from hansei.cli import app
from hansei.cli.bet_pages import fenced, plain
from hansei.cli.root import root
from hansei.config import Environment
from hansei.errors import NotFound, UsageError
from hansei.synth import World, build
from synthetic_world import NOW, even_place

DAY = 86_400_000

Ask = Callable[..., str]


@pytest.fixture(scope="module")
def world() -> Iterator[World]:
    agents = ("claude_code", "codex")
    with even_place() as folder:
        yield build(folder, seed=11, now_ms=NOW, sessions=60, weeks=6, agents=agents)


@pytest.fixture(scope="module")
def taken_in(world: World, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store in which the history is, and its facts."""
    folder = tmp_path_factory.mktemp("store")
    here = Environment(world.home, {"HANSEI_HOME": str(folder), "PATH": "/usr/bin:/bin"})
    with app.elsewhere(app.Place(here, world.repo)):
        root.main(args=["facts", "--json"], standalone_mode=False)
    return folder


@pytest.fixture
def ask(
    world: World,
    taken_in: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Iterator[Ask]:
    """Type a command in the generated repository and read what it prints; its store is its own."""
    import shutil

    clock = [NOW]
    monkeypatch.setattr(app, "now", lambda: clock[0])
    monkeypatch.setenv("COLUMNS", "110")
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    store = tmp_path / "own"
    shutil.copytree(taken_in, store)
    here = Environment(world.home, {"HANSEI_HOME": str(store), "PATH": "/usr/bin:/bin"})

    def run(*arguments: str, later: int = 0) -> str:
        clock[0] = NOW + later
        with app.elsewhere(app.Place(here, world.repo)):
            root.main(args=[*arguments, "--no-ingest"], standalone_mode=False)
        return capsys.readouterr().out

    yield run
    monkeypatch.undo()
    time.tzset()


def told(ask: Ask, *arguments: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(ask("retro", "--json", *arguments))
    return found


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("list", ()),
        ("all", ("-n", "0")),
        ("explain", ("--explain", "1")),
        ("markdown", ("--markdown",)),
        ("explain-markdown", ("--explain", "1", "--markdown", "-n", "2")),
        ("few-days", ("--since", "4d")),
    ],
)
def test_it_prints_what_the_golden_file_says(
    name: str, arguments: tuple[str, ...], ask: Ask, golden: Callable[[str, str], None]
) -> None:
    golden(f"retro-{name}.txt", ask("retro", *arguments))


def test_two_runs_print_the_same_bytes(ask: Ask) -> None:
    assert ask("retro") == ask("retro") == ask("retro", later=1000)
    assert ask("retro", "--json") == ask("retro", "--json")


def test_json_holds_the_numbers_and_every_place(ask: Ask) -> None:
    found = told(ask)
    assert found["schema"] == "hansei.retro/1"
    assert found["offers"]
    assert found["short"] == len(found["offers"]) <= 5
    for offer in found["offers"]:
        week = offer["weekly"]
        assert week["low"] < week["middle"] < week["high"]
        assert len({it["session"] for it in offer["evidence"]}) == offer["sessions"]
        assert sum(it["tokens"] or 0 for it in offer["evidence"]) == offer["tokens"]
        assert offer["net"] == round(week["middle"] - (offer["rent"] or 0))
    assert len(told(ask, "-n", "0")["offers"]) == len(found["offers"]) + found["more"]


def test_every_place_that_is_named_can_be_opened(ask: Ask) -> None:
    for offer in told(ask)["offers"]:
        for place in offer["evidence"][:2]:
            assert ask("show", place["place"])


def test_a_number_means_the_list_that_was_seen_last(ask: Ask) -> None:
    ask("retro")
    seen = [it["id"] for it in told(ask)["offers"]]
    assert len(seen) > 1
    ask("retro", "--dismiss", "1")
    now_first = told(ask)["offers"][0]["id"]
    assert now_first != seen[0]
    assert json.loads(ask("retro", "--json", "--explain", "1"))["bet"]["id"] == seen[0]
    assert json.loads(ask("retro", "--json", "--explain", "2"))["bet"]["id"] == seen[1]
    ask("retro")
    assert json.loads(ask("retro", "--json", "--explain", "1"))["bet"]["id"] == now_first


def test_a_number_also_means_the_time_that_list_was_about(ask: Ask) -> None:
    ask("retro", "--since", "2020-01-01", "-n", "0")
    wide = told(ask, "--since", "2020-01-01", "-n", "0")["offers"][0]
    assert wide["of_sessions"] > told(ask)["offers"][0]["of_sessions"]
    meant = json.loads(ask("retro", "--json", "--explain", "1"))["bet"]
    assert (meant["id"], meant["of_sessions"]) == (wide["id"], wide["of_sessions"])


def test_a_number_may_mean_the_list_over_all_workspaces(ask: Ask) -> None:
    ask("retro", "-n", "1")
    here = told(ask, "-n", "0")["offers"]
    ask("retro", "--all", "-n", "0", "--since", "2020-01-01", later=1000)
    everywhere = told(ask, "--all", "-n", "0", "--since", "2020-01-01")["offers"]
    second = json.loads(ask("retro", "--json", "--explain", "2"))["bet"]
    assert (second["id"], second["sessions"]) == (everywhere[1]["id"], everywhere[1]["sessions"])
    named = ("--workspace", "berthline", "--explain")
    assert json.loads(ask("retro", "--json", *named, "1"))["bet"]["id"] == here[0]["id"]
    with pytest.raises(NotFound, match="number 2"):
        ask("retro", *named, "2")


def test_a_dismissed_bet_is_gone_and_can_be_taken_back(ask: Ask) -> None:
    first = told(ask)["offers"][0]
    said = ask("retro", "--dismiss", first["short"], "--reason", "the CI needs it")
    assert first["claim"] in said
    after = ask("retro", "-n", "0")
    assert "the CI needs it" in after
    assert after.index("Decided about") < after.index(first["claim"])
    ask("retro", "--accept", first["id"])
    assert told(ask)["offers"][0]["state"] == "accepted"
    assert "accepted on 9 Oct 2025" in ask("retro")


def test_it_says_since_when_a_bet_is_in_the_list(ask: Ask) -> None:
    assert "new" not in ask("retro", "-n", "1").split()
    later = ask("retro", later=21 * DAY)
    assert later.count("shown since 3 weeks") == 1
    assert later.count("· new") == len(told(ask)["offers"]) - 1


def test_words_that_mean_no_bet_are_refused(ask: Ask) -> None:
    with pytest.raises(NotFound, match="number 99"):
        ask("retro", "--explain", "99")
    with pytest.raises(NotFound, match="no bet 'ffffffff'"):
        ask("retro", "--explain", "ffffffff")
    with pytest.raises(UsageError, match="neither"):
        ask("retro", "--accept", "x")
    with pytest.raises(UsageError, match="a look of their own"):
        ask("retro", "--accept", "1", "--dismiss", "1")
    with pytest.raises(UsageError, match="--reason"):
        ask("retro", "--reason", "why")


def test_without_sessions_it_says_what_would_widen_the_look(ask: Ask) -> None:
    assert "--all" in ask("retro", "--since", "1h", "--agent", "cursor")
    with pytest.raises(NotFound, match="no sessions"):
        ask("retro", "--since", "1h", "--agent", "cursor", "--explain", "1")


def test_with_too_little_to_go_by_it_says_how_much_is_missing(ask: Ask) -> None:
    few = ask("retro", "--since", "4d", "--driver", "subagent")
    assert "Nothing was found" in few
    assert "more active days would tell a week" in few


def test_programs_that_read_it_do_not_change_what_was_seen(ask: Ask) -> None:
    told(ask)
    assert told(ask)["shown_before"] is None
    ask("retro")
    assert told(ask)["shown_before"] == NOW


def test_words_from_transcripts_stay_words_in_markdown() -> None:
    assert plain("run `a<b>` <img> [x](y)\x1b[0m @me") == (
        r"run `a<b>` \<img\> \[x\](y)\\x1b\[0m \@me"
    )
    assert list(fenced("a\n```\nb")) == ["````text", "a", "```", "b", "````"]


@pytest.fixture
def two_minds(world: World) -> Iterator[None]:
    """An instruction file that says one thing twice, and one against itself."""
    file = world.repo / ".claude" / "CLAUDE.md"
    file.parent.mkdir(exist_ok=True)
    file.write_text(
        "# Rules\n\n- Always run `make lint` before you commit.\n"
        "- Keep the handlers of web requests free of database calls.\n\n## More\n\n"
        "- Never run `make lint` before you commit.\n"
        "- Keep handlers of web requests free of database calls!\n"
    )
    yield
    file.unlink()


def test_what_instruction_files_say_twice_or_against_one_another_is_told_beside_the_bets(
    ask: Ask, two_minds: None
) -> None:
    screen = ask("retro")
    assert "Instruction files" in screen
    assert ".claude/CLAUDE.md:3 and .claude/CLAUDE.md:8: one forbids what the other" in screen
    assert "`hansei skills curate` shows all" in screen
    assert "## Instruction files" in ask("retro", "--markdown")
    assert "Said twice, or against one another" in ask("retro", "--html", "-")
    faults = told(ask)["faults"]
    assert [it["kind"] for it in faults] == ["conflict", "duplicate"]
    assert [it["line"] for it in faults[1]["places"]] == [4, 9]


def test_where_instruction_files_agree_nothing_is_said_of_them(ask: Ask) -> None:
    assert told(ask)["faults"] == []
    assert "Instruction files" not in ask("retro")
