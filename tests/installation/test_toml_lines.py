"""Hooks at the end of a TOML file."""

from __future__ import annotations

import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hansei.installation.hook_lists import foreign, grouped
from hansei.installation.jsonc import Malformed
from hansei.installation.toml_lines import TomlHooks, parse

LAUNCHER = "/home/me/.hansei/bin/hansei-hook"
HOOKS = TomlHooks(
    {event: grouped(f"{LAUNCHER} codex {event}", 5) for event in ("SessionStart", "Stop")}
)

PIECES = [
    "",
    "# a comment",
    'model = "x" # why',
    'notes = """\n[[hooks.Stop]]\n"""',
    "[features]\nhooks = true",
    '[[hooks.Stop]]\nmatcher = "a"\n\n[[hooks.Stop.hooks]]\ntype = "command"\ncommand = "beep"',
    '[hooks.state."k"]\ntrusted_hash = "sha256:1"',
    "list = [\n  [1, 2],\n  [3],\n]",
]


@given(st.lists(st.sampled_from(range(len(PIECES))), unique=True), st.sampled_from(["\n", "\r\n"]))
def test_adding_and_taking_out_gives_back_every_byte(order: list[int], newline: str) -> None:
    # Keys that stand behind a table would belong to it.
    text = newline.join(PIECES[i] for i in sorted(order)).replace("\r\n", "\n")
    text = text.replace("\n", newline)
    new = HOOKS.install(text)
    assert new is not None
    assert HOOKS.events(new) == ["SessionStart", "Stop"]
    assert foreign(tomllib.loads(new)) == foreign(tomllib.loads(text))
    assert HOOKS.install(new) == new
    left = HOOKS.uninstall(new)
    assert left in (text, text + "\n", text + newline)


def test_ours_are_taken_out_from_between_those_of_others() -> None:
    text = (
        '[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ntype = "command"\n'
        f'command = "{LAUNCHER} codex Stop"\n\n'
        '# mine\n[[hooks.Stop.hooks]]\ntype = "command"\ncommand = "beep"\n'
    )
    left = HOOKS.uninstall(text)
    assert parse(left)["hooks"]["Stop"] == [{"hooks": [{"type": "command", "command": "beep"}]}]
    assert "# mine" in left


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a = 1\nb = = 2\n", "Invalid value"),
        ("[hooks]\nStop = []\n", "hooks cannot be added|overwrite|extend|mutate"),
    ],
)
def test_a_file_that_cannot_be_added_to_is_refused(text: str, words: str) -> None:
    with pytest.raises(Malformed, match=words):
        HOOKS.install(text)


def test_ours_written_by_hand_on_one_line_are_not_touched() -> None:
    text = f'hooks.Stop = [{{hooks = [{{command = "{LAUNCHER} codex Stop"}}]}}]\n'
    with pytest.raises(Malformed, match="do not recognise"):
        HOOKS.uninstall(text)


def test_damage_is_named_with_its_line() -> None:
    with pytest.raises(Malformed) as caught:
        parse("a = 1\n\nb = [1,\n")
    assert caught.value.line >= 3
