"""Install, install again, uninstall, in as many kinds of homes as people have."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from hansei.config import Config
from hansei.installation import jsonc
from hansei.installation.launcher import is_ours
from hansei.ops.hooks import HookPlan, Wanted, plan, removal

NOW = 1_790_000_000_000
CLAUDE = [Wanted("claude_code", "2.1.200")]
OLD = "/somewhere/else/bin/hansei-hook claude_code Stop"

OTHERS = """\
{
  "permissions": {"allow": ["Bash(git log:*)"]},
  "hooks": {
    "PreToolUse": [
      {
        "matcher": "Bash",
        "hooks": [
          {"type": "command", "command": "guard.sh"}
        ]
      }
    ],
    "Notification": [{"hooks": [{"type": "command", "command": "beep"}]}]
  },
  "model": "opus"
}
"""

TEXTS = {
    "empty file": b"",
    "blank file": b"\n\n",
    "empty object": b"{}",
    "empty object over two lines": b"{\n}\n",
    "plain settings": b'{\n  "model": "opus"\n}\n',
    "one line": b'{"model":"opus","env":{"A":"1"}}',
    "comments and trailing commas": (
        b'{\n  // which model\n  "model": "opus", /* the big one */\n  "env": {"A": "1",},\n}\n'
    ),
    "hooks of other tools": OTHERS.encode(),
    "crlf": OTHERS.replace("\n", "\r\n").encode(),
    "tabs": OTHERS.replace("  ", "\t").encode(),
    "bom": b"\xef\xbb\xbf" + OTHERS.encode(),
    "no newline at the end": OTHERS.rstrip().encode(),
    "unusual order and layout": (
        b'{"hooks" :\n{"Stop":[ {"hooks":[{"command":"x","type":"command"}]} ],\n'
        b'  "SessionStart" : []\n}\n, "$schema": "https://example.org"}'
    ),
    "empty lists of hooks": b'{"hooks": {"Stop": [], "PreToolUse": []}}\n',
    "same event with matchers": (
        b'{\n    "hooks": {\n        "PreToolUse": [\n            {"matcher": "Edit|Write", "hooks"'
        b': [{"type": "command", "command": "fmt"}]},\n            {"matcher": "", "hooks": []}\n'
        b"        ]\n    }\n}\n"
    ),
    "other letters": '{\n  "greeting": "ようこそ \\u00e9 é"\n}\n'.encode(),
}


def settings(config: Config) -> Path:
    folder = config.environment.home / ".claude"
    folder.mkdir(exist_ok=True)
    return folder / "settings.json"


def install(config: Config) -> HookPlan:
    return plan(config, CLAUDE, {}, now=NOW)


def uninstall(config: Config) -> HookPlan:
    return removal(config, [], now=NOW + 1)


def everything(home: Path) -> dict[str, bytes]:
    """Every file of a home, without hansei's own backups."""
    return {
        str(path.relative_to(home)): path.read_bytes()
        for path in sorted(home.rglob("*"))
        if path.is_file() and "backups" not in path.parts
    }


@pytest.mark.parametrize("kind", TEXTS)
def test_uninstalling_gives_back_every_byte(kind: str, config: Config) -> None:
    path = settings(config)
    path.write_bytes(TEXTS[kind])
    before = everything(config.environment.home)

    first = install(config)
    after = everything(config.environment.home)
    assert first.files == 1
    assert first.refused == 0
    commands = [str(hook) for hook in _commands(path)]
    assert len([command for command in commands if is_ours(command)]) == 10

    again = install(config)
    assert again.changes == 0
    assert everything(config.environment.home) == after

    uninstall(config)
    assert everything(config.environment.home) == before


def _commands(path: Path) -> list[object]:
    hooks = jsonc.parse(path.read_text(encoding="utf-8-sig")).value["hooks"]
    return [
        handler["command"]
        for groups in hooks.values()
        for group in groups
        for handler in group["hooks"]
    ]


@pytest.mark.parametrize("kind", TEXTS)
def test_only_lines_of_ours_are_added(kind: str, config: Config) -> None:
    """Nothing a person wrote is moved or written anew: it is all there, in its order."""
    path = settings(config)
    path.write_bytes(TEXTS[kind])
    install(config)
    content = path.read_bytes()
    rest = iter(content)
    assert all(byte in rest for byte in TEXTS[kind].strip())


def test_a_home_without_settings_is_left_without_them(config: Config) -> None:
    home = config.environment.home
    assert install(config).files == 1
    path = home / ".claude" / "settings.json"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    json.loads(path.read_bytes())
    uninstall(config)
    assert everything(home) == {}
    assert not (home / ".claude").exists()
    assert not (home / ".hansei" / "bin").exists()


def test_a_folder_that_someone_else_uses_by_then_stays(config: Config) -> None:
    install(config)
    other = config.environment.home / ".claude" / "history.jsonl"
    other.write_text("kept")
    uninstall(config)
    assert other.read_text() == "kept"
    assert not other.with_name("settings.json").exists()


def test_a_link_stays_a_link_and_its_target_is_changed(config: Config, tmp_path: Path) -> None:
    dotfiles = tmp_path / "dotfiles" / "claude.json"
    dotfiles.parent.mkdir()
    dotfiles.write_text(OTHERS)
    path = settings(config)
    path.symlink_to(os.path.relpath(dotfiles, path.parent))
    install(config)
    assert path.is_symlink()
    assert "hansei-hook" in dotfiles.read_text()
    uninstall(config)
    assert path.is_symlink()
    assert dotfiles.read_text() == OTHERS


def test_permissions_are_kept(config: Config) -> None:
    path = settings(config)
    path.write_text(OTHERS)
    path.chmod(0o640)
    install(config)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    uninstall(config)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def dangling(path: Path) -> None:
    path.symlink_to("nowhere.json")


def read_only(path: Path) -> None:
    path.write_text(OTHERS)
    path.chmod(0o444)


def half_written(path: Path) -> None:
    path.write_text(OTHERS[: len(OTHERS) // 2])


def a_folder(path: Path) -> None:
    path.mkdir()


def not_text(path: Path) -> None:
    path.write_bytes(b'{\n"a": "\xff\xfe"}')


def a_list(path: Path) -> None:
    path.write_text("[1, 2]")


def hooks_of_another_shape(path: Path) -> None:
    path.write_text('{\n  "hooks": ["Stop"]\n}')


def events_of_another_shape(path: Path) -> None:
    path.write_text('{\n  "hooks": {\n    "Stop": "beep"\n  }\n}')


REFUSED: dict[Callable[[Path], None], str] = {
    dangling: "which is not there",
    read_only: "is read-only",
    half_written: "line 8, column 20: it ends where a value should be",
    a_folder: "cannot be read",
    not_text: "line 2: it is not UTF-8",
    a_list: "settings should be an object",
    hooks_of_another_shape: 'line 2, column 3: "hooks" should be an object',
    events_of_another_shape: 'line 3, column 5: "Stop" should be a list',
}


@pytest.mark.parametrize("make", REFUSED, ids=lambda make: make.__name__)
def test_a_file_that_cannot_be_used_is_left_alone_and_named(
    make: Callable[[Path], None], config: Config
) -> None:
    path = settings(config)
    make(path)
    before = everything(config.environment.home)
    shown = install(config)
    (refusal,) = shown.agents[0].refused
    assert str(path) in refusal.message
    assert REFUSED[make] in refusal.message
    assert refusal.hint
    assert {k: v for k, v in everything(config.environment.home).items() if ".hansei" not in k} == (
        before
    )


def test_hooks_of_an_older_launcher_are_brought_up_to_date_in_place(config: Config) -> None:
    path = settings(config)
    hook = '{"type": "command", "command": "%s", "timeout": 30}'
    text = '{"hooks": {"Stop": [{"matcher": "x", "hooks": [%s, %s]}]}}'
    path.write_text(text % (hook % OLD, hook % "beep"))
    install(config)
    new = path.read_text()
    assert OLD not in new
    (group,) = jsonc.parse(new).value["hooks"]["Stop"]
    assert group["matcher"] == "x"
    assert group["hooks"][0]["timeout"] == 30
    assert group["hooks"][0]["command"].startswith(str(config.environment.home / ".hansei/bin"))
    uninstall(config)
    assert path.read_text() == text.replace("%s, %s", hook % "beep")
