"""Our entries among those of others."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from hansei.installation import jsonc
from hansei.installation.hook_lists import HookLists, flat, foreign, grouped
from written_json import objects, written

EVENTS = ("SessionStart", "Stop", "PreToolUse")
LAUNCHER = "/home/a b/.hansei/bin/hansei-hook"
LAYOUTS = {"groups": grouped, "flat": flat}


def lists(layout: str, events: tuple[str, ...] = EVENTS) -> HookLists:
    entry = LAYOUTS[layout]
    entries = {event: entry(f"'{LAUNCHER}' agent {event}", 5) for event in events}
    return HookLists(entries, {"version": 1} if layout == "flat" else {})


def handlers() -> st.SearchStrategy[dict[str, Any]]:
    commands = st.sampled_from(
        ["beep", "echo '}'", "my-hansei-hook x", "/old/.hansei/bin/hansei-hook agent Stop"]
    )
    return st.fixed_dictionaries({"command": commands}, optional={"timeout": st.integers(1, 9)})


def entries() -> st.SearchStrategy[Any]:
    group = st.fixed_dictionaries(
        {"hooks": st.lists(handlers(), max_size=3)}, optional={"matcher": st.just("Bash")}
    )
    return st.one_of(group, handlers())


@st.composite
def settings(draw: st.DrawFn) -> tuple[str, dict[str, Any]]:
    """Settings as anyone may have them: other keys, other hooks, ours of an older store."""
    value = draw(objects())
    if draw(st.booleans()):
        events = st.sampled_from([*EVENTS, "Notification"])
        value["hooks"] = draw(st.dictionaries(events, st.lists(entries(), max_size=3), max_size=3))
    return written(value, draw(st.integers(0, 1 << 16))), value


@given(settings(), st.sampled_from(sorted(LAYOUTS)))
def test_installing_adds_ours_and_changes_nothing_else(
    given_settings: tuple[str, dict[str, Any]], layout: str
) -> None:
    text, value = given_settings
    wanted = lists(layout)
    new = wanted.install(text)
    assert new is not None
    assert wanted.events(new) == sorted(EVENTS)
    assert foreign(jsonc.parse(new).value) == {**wanted.preface, **foreign(value)}


@given(settings(), st.sampled_from(sorted(LAYOUTS)))
def test_installing_twice_is_installing_once(
    given_settings: tuple[str, dict[str, Any]], layout: str
) -> None:
    once = lists(layout).install(given_settings[0])
    assert lists(layout).install(once) == once


@given(settings(), st.sampled_from(sorted(LAYOUTS)))
def test_what_is_left_after_uninstalling_is_what_others_wrote(
    given_settings: tuple[str, dict[str, Any]], layout: str
) -> None:
    text, value = given_settings
    new = lists(layout).install(text)
    assert new is not None
    left = lists(layout).uninstall(new)
    assert "bin/hansei-hook" not in left
    assert left.count("note") == text.count("note") - _notes_inside_ours(text)
    assert foreign(jsonc.parse(left).value) == {**lists(layout).preface, **foreign(value)}


def _notes_inside_ours(text: str) -> int:
    """Comments that stood inside an entry of ours, or that only such entries held."""
    return text.count("note") - lists("groups").uninstall(text).count("note")


@given(settings())
def test_an_event_no_longer_wanted_loses_its_hook(
    given_settings: tuple[str, dict[str, Any]],
) -> None:
    new = lists("groups").install(given_settings[0])
    fewer = lists("groups", EVENTS[:1]).install(new)
    assert fewer is not None
    assert lists("groups").events(fewer) == ["SessionStart"]


def test_a_command_that_only_looks_like_ours_is_not() -> None:
    text = '{"hooks": {"Stop": [{"hooks": [{"command": "my-hansei-hook"}, {"command": 3}]}]}}'
    assert lists("groups").events(text) == []
    assert lists("groups").uninstall(text) == text


def test_a_persons_changes_to_our_entry_are_kept() -> None:
    new = lists("groups").install("{}")
    assert new is not None
    changed = new.replace('"timeout": 5', '"timeout": 60')
    assert lists("groups").install(changed) == changed
