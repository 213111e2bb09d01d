"""Installing hooks and taking them out, whatever happened in between."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from hansei.config import Config, Environment, Settings
from hansei.errors import NotFound
from hansei.installation import catalogue, files
from hansei.installation.journal import Journal, digest
from hansei.installation.jsonc import parse
from hansei.installation.launcher import Launcher, fault, is_ours
from hansei.ops.hook_health import hook_health
from hansei.ops.hooks import Wanted, newest_versions, plan, removal, wanted
from hansei.store.database import Store
from hansei.store.log import commit
from pieces import piece, prompt

NOW = 1_790_000_000_000
VERSIONS = {
    "claude_code": "2.1.325",
    "codex": "0.166.0",
    "copilot": "1.0.102",
    "cursor": "3.7.21",
    "gemini": "0.61.0",
    "openclaw": "2026.9.6",
    "opencode": "1.18.33",
}
EVERY = [Wanted(name, version) for name, version in VERSIONS.items()]


def contents(home: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(home)): path.read_bytes()
        for path in sorted(home.rglob("*"))
        if path.is_file() and "backups" not in path.parts
    }


def claude(config: Config, text: str | None = None) -> Path:
    path = config.environment.home / ".claude" / "settings.json"
    path.parent.mkdir(exist_ok=True)
    if text is not None:
        path.write_text(text)
    return path


def test_every_agent_is_known_here() -> None:
    assert sorted(VERSIONS) == catalogue.names()


def test_hooks_of_every_agent_come_and_go_without_a_trace(config: Config) -> None:
    home = config.environment.home
    done = plan(config, EVERY, {}, now=NOW)
    assert {agent.state for agent in done.agents} == {"ready"}
    assert done.refused == 0
    assert done.launcher is not None
    assert os.access(home / ".hansei/bin/hansei-hook", os.X_OK)
    after = contents(home)
    assert plan(config, EVERY, {}, now=NOW + 1).changes == 0
    assert contents(home) == after
    removal(config, [], now=NOW + 2)
    assert contents(home) == {}
    assert [path.name for path in home.iterdir()] == [".hansei"]


def test_without_a_clock_nothing_is_changed(config: Config) -> None:
    shown = plan(config, EVERY, {})
    assert shown.files >= len(EVERY)
    assert list(config.environment.home.iterdir()) == []
    plan(config, EVERY, {}, now=NOW)
    before = contents(config.environment.home)
    assert removal(config, []).files == shown.files
    assert contents(config.environment.home) == before


def test_what_is_shown_is_what_is_done(config: Config) -> None:
    claude(config, '{\n  "model": "opus"\n}\n')
    shown = plan(config, EVERY, {})
    done = plan(config, EVERY, {}, now=NOW)
    assert [agent.files for agent in shown.agents] == [agent.files for agent in done.agents]


def test_a_file_changed_in_between_loses_only_what_is_ours(config: Config) -> None:
    path = claude(config, '{\n  "model": "opus"\n}\n')
    plan(config, EVERY[:1], {}, now=NOW)
    path.write_text(path.read_text().replace('"opus"', '"haiku",\n  "env": {"A": "1"}'))
    done = removal(config, [], now=NOW + 1)
    assert path.read_text() == '{\n  "model": "haiku",\n  "env": {"A": "1"}\n}\n'
    assert [file.change for file in done.agents[0].files] == ["edit"]


def test_a_file_rewritten_by_the_agent_in_its_own_layout_loses_only_what_is_ours(
    config: Config,
) -> None:
    path = claude(config, '{"model": "opus", "hooks": {"Stop": [{"hooks": [{"command": "a"}]}]}}')
    before = json.loads(path.read_text())
    plan(config, EVERY[:1], {}, now=NOW)
    path.write_text(json.dumps(json.loads(path.read_text()), indent=2))
    removal(config, [], now=NOW + 1)
    assert json.loads(path.read_text()) == before


def test_a_file_that_we_made_and_others_use_by_now_stays_with_what_is_theirs(
    config: Config,
) -> None:
    path = claude(config)
    plan(config, EVERY[:1], {}, now=NOW)
    settings = json.loads(path.read_text())
    path.write_text(json.dumps({"model": "opus", **settings}))
    removal(config, [], now=NOW + 1)
    assert json.loads(path.read_text()) == {"model": "opus"}


def test_a_file_that_we_made_and_that_was_only_laid_out_anew_goes(config: Config) -> None:
    path = claude(config)
    plan(config, EVERY[:1], {}, now=NOW)
    path.write_text(json.dumps(json.loads(path.read_text()), indent=4))
    removal(config, [], now=NOW + 1)
    assert not path.exists()


def test_the_first_original_is_kept_over_several_installations(config: Config) -> None:
    text = '{ "model" : "opus" }'
    path = claude(config, text)
    for version in ("2.0.40", "2.0.55", "2.1.325"):
        plan(config, [Wanted("claude_code", version)], {}, now=NOW)
    assert len(parse(path.read_text()).value["hooks"]) == 10
    removal(config, [], now=NOW + 1)
    assert path.read_text() == text


def test_a_lost_backup_still_lets_ours_be_taken_out(config: Config) -> None:
    path = claude(config, '{\n  "model": "opus"\n}\n')
    plan(config, EVERY[:1], {}, now=NOW)
    for kept in (config.environment.home / ".hansei/backups").glob("*-settings.json"):
        kept.write_text("damaged")
    removal(config, [], now=NOW + 1)
    assert path.read_text() == '{\n  "model": "opus"\n}\n'


def test_a_lost_or_torn_journal_still_lets_ours_be_taken_out(config: Config) -> None:
    path = claude(config, '{\n  "model": "opus"\n}\n')
    plan(config, EVERY[:1], {}, now=NOW)
    journal = config.environment.home / ".hansei/backups/journal.jsonl"
    journal.write_bytes(journal.read_bytes()[:-40])
    removal(config, [], now=NOW + 1)
    assert path.read_text() == '{\n  "model": "opus"\n}\n'


def test_originals_are_laid_aside_for_the_person_alone(config: Config) -> None:
    path = claude(config, '{"model": "opus"}')
    original = path.read_bytes()
    plan(config, EVERY[:1], {}, now=NOW)
    folder = config.environment.home / ".hansei/backups"
    assert folder.stat().st_mode & 0o077 == 0
    kept = {file.read_bytes(): file for file in folder.glob("*-settings.json")}
    assert original in kept
    assert kept[original].stat().st_mode & 0o077 == 0
    assert Journal(config.environment.home / ".hansei").last(path) is not None


def test_one_agent_can_be_taken_out_alone(config: Config) -> None:
    plan(config, EVERY, {}, now=NOW)
    removal(config, [Wanted("cursor", None)], now=NOW + 1)
    home = config.environment.home
    assert not (home / ".cursor").exists()
    assert (home / ".claude/settings.json").exists()
    assert (home / ".hansei/bin/hansei-hook").exists()


def test_hooks_that_went_into_another_folder_are_found_again(config: Config, home: Path) -> None:
    elsewhere = Environment(home, {"CLAUDE_CONFIG_DIR": str(home / "other")})
    plan(Config(config.store, Settings(), elsewhere), EVERY[:1], {}, now=NOW)
    assert (home / "other/settings.json").exists()
    removal(config, [], now=NOW + 1)
    assert not (home / "other").exists()


def test_a_version_too_old_for_hooks_loses_ours(config: Config) -> None:
    path = claude(config, "{}")
    plan(config, EVERY[:1], {}, now=NOW)
    done = plan(config, [Wanted("claude_code", "1.0.20")], {}, now=NOW + 1)
    assert done.agents[0].state == "too old"
    assert done.launcher is None
    assert "hansei-hook" not in path.read_text()


def test_an_unknown_version_installs_nothing(config: Config) -> None:
    claude(config, "{}")
    (shown,) = [agent for agent in plan(config, [], {}).agents if agent.agent == "claude_code"]
    assert (shown.state, shown.files) == ("version unknown", [])
    (shown,) = plan(config, [Wanted("claude_code", None)], {"claude_code": "2.1.40"}).agents
    assert (shown.state, shown.basis) == ("ready", "its newest session")


def test_one_unusable_file_does_not_keep_the_others_from_their_hooks(config: Config) -> None:
    path = claude(config, '{"a": ')
    done = plan(config, EVERY, {}, now=NOW)
    assert done.refused == 1
    assert path.read_text() == '{"a": '
    assert (config.environment.home / ".cursor/hooks.json").exists()


def test_an_agent_that_writes_at_the_same_moment_is_not_overwritten(
    config: Config, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = claude(config, '{\n  "model": "opus"\n}\n')
    real = files.replace
    raced: list[Path] = []

    def racing(target: Path, content: bytes, **how: object) -> None:
        if target == path and not raced:
            raced.append(target)
            path.write_text('{\n  "model": "haiku"\n}\n')
        real(target, content, **how)  # type: ignore[arg-type] # handed on as it came

    monkeypatch.setattr(files, "replace", racing)
    assert plan(config, EVERY[:1], {}, now=NOW).refused == 0
    settings = json.loads(path.read_text())
    assert settings["model"] == "haiku"
    assert len(settings["hooks"]) == 10


def test_a_full_disk_leaves_the_file_as_it_was(
    config: Config, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = claude(config, '{"model": "opus"}')
    real = os.fsync

    def full(handle: int) -> None:
        if Path(f"/proc/self/fd/{handle}").readlink().parent == path.parent:
            raise OSError(28, "No space left on device")
        real(handle)

    if not Path("/proc/self/fd").exists():
        pytest.skip("needs /proc to tell files apart")
    monkeypatch.setattr(os, "fsync", full)
    (agent,) = plan(config, EVERY[:1], {}, now=NOW).agents
    assert "No space left" in agent.refused[0].message
    assert path.read_text() == '{"model": "opus"}'
    assert [file.name for file in path.parent.iterdir()] == ["settings.json"]


def test_a_file_of_our_name_that_is_not_ours_is_left_alone(config: Config) -> None:
    path = config.environment.home / ".config/opencode/plugins/hansei.js"
    path.parent.mkdir(parents=True)
    path.write_text("export const Mine = 1\n")
    (agent,) = plan(config, [Wanted("opencode", "1.18.33")], {}, now=NOW).agents
    assert "not ours" in agent.refused[0].message
    removal(config, [], now=NOW + 1)
    assert path.read_text() == "export const Mine = 1\n"


def test_codex_hooks_go_where_the_person_keeps_them(config: Config) -> None:
    folder = config.environment.home / ".codex"
    folder.mkdir()
    toml = '# mine\n[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ntype = "command"\ncommand = "beep"\n'
    (folder / "config.toml").write_text(toml)
    plan(config, [Wanted("codex", "0.166.0")], {}, now=NOW)
    assert not (folder / "hooks.json").exists()
    assert "hansei-hook codex SessionEnd" in (folder / "config.toml").read_text()
    removal(config, [], now=NOW + 1)
    assert (folder / "config.toml").read_text() == toml


def test_codex_says_what_is_left_to_do_until_its_hooks_are_trusted(config: Config) -> None:
    only = [Wanted("codex", "0.166.0")]
    (agent,) = plan(config, only, {}, now=NOW).agents
    assert agent.to_do is not None
    assert "/hooks" in agent.to_do
    folder = config.environment.home / ".codex"
    events = ["session_start", "user_prompt_submit", "pre_tool_use", "post_tool_use", "stop"]
    events += ["pre_compact", "subagent_start", "subagent_stop", "session_end"]
    marks = [
        f'[hooks.state."{folder}/hooks.json:{name}:0:0"]\ntrusted_hash = "x"' for name in events
    ]
    (folder / "config.toml").write_text("\n".join(marks[:-1]))
    assert plan(config, only, {}).agents[0].to_do is not None
    (folder / "config.toml").write_text("\n".join(marks))
    assert plan(config, only, {}).agents[0].to_do is None


@pytest.mark.parametrize(
    ("name", "file", "text"),
    [
        ("claude_code", ".claude/settings.json", '{"disableAllHooks": true}'),
        ("claude_code", ".claude/settings.json", '{\n  // why\n  "model": "opus"}'),
        ("codex", ".codex/config.toml", "[features]\nhooks = false\n"),
        ("gemini", ".gemini/settings.json", '{"hooksConfig": {"enabled": false}}'),
        ("copilot", ".copilot/settings.json", '{"disableAllHooks": true}'),
        ("openclaw", ".openclaw/openclaw.json", '{"hooks": {"internal": {"enabled": false}}}'),
    ],
)
def test_a_setting_that_keeps_hooks_from_running_is_named(
    name: str, file: str, text: str, config: Config
) -> None:
    path = config.environment.home / file
    path.parent.mkdir()
    path.write_text(text)
    (agent,) = plan(config, [Wanted(name, VERSIONS[name])], {}, now=NOW).agents
    assert agent.switched_off is not None
    assert str(path) in agent.switched_off


def test_an_agent_is_asked_for_by_name_and_version() -> None:
    assert wanted("cursor") == Wanted("cursor", None)
    assert wanted("cursor@2.5") == Wanted("cursor", "2.5")
    with pytest.raises(NotFound):
        wanted("emacs")


def test_commands_are_safe_in_a_folder_with_spaces_and_quotes(
    config: Config, tmp_path: Path
) -> None:
    home = tmp_path / "it's a home"
    home.mkdir()
    spaced = Config(home / ".hansei", Settings(), Environment(home, {}))
    plan(spaced, EVERY, {}, now=NOW)
    settings = json.loads((home / ".claude/settings.json").read_text())
    command = settings["hooks"]["Stop"][0]["hooks"][0]["command"]
    assert is_ours(command)
    done = subprocess.run(["sh", "-c", command], input=b"{}", capture_output=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert plan(spaced, EVERY, {}).changes == 0
    removal(spaced, [], now=NOW + 1)
    assert list(contents(home)) == [".hansei/spool/hooks.jsonl"]  # what the hook told stays


def fake_program(folder: Path) -> Path:
    """Stands for the hook program: it notes its arguments and input in the home it is given."""
    path = folder / "run.py"
    path.write_text(
        "import sys\n"
        "text = ' '.join(sys.argv[2:]) + ' ' + sys.stdin.read() + '\\n'\n"
        "open(sys.argv[1] + '/noted', 'a').write(text)\n"
        "print('delivered')\n"
        "sys.exit(int(sys.argv[2] == 'crash'))\n"
    )
    return path


@pytest.fixture
def tool(tmp_path: Path) -> Launcher:
    home = tmp_path / "a home"
    made = Launcher(home, sys.executable, fake_program(tmp_path))
    made.path.parent.mkdir(parents=True)
    made.path.write_text(made.script())
    made.path.chmod(0o700)
    return made


def call(
    tool: Launcher, *arguments: str, data: bytes = b"{}"
) -> subprocess.CompletedProcess[bytes]:
    command = [str(tool.path), *arguments]
    return subprocess.run(command, input=data, capture_output=True, check=False)


def test_the_launcher_hands_everything_on(tool: Launcher) -> None:
    done = call(tool, "codex", "Stop", data=b'{"a": 1}')
    assert (done.returncode, done.stdout) == (0, b"delivered\n")
    assert (tool.home / "noted").read_text() == 'codex Stop {"a": 1}\n'


def test_the_launcher_never_fails(tool: Launcher) -> None:
    assert call(tool, "crash", "Stop").returncode == 0
    tool.program.write_text("import nothing_of_that_name")
    done = call(tool, "codex", "Stop")
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_the_launcher_takes_all_input_when_hansei_is_gone(tool: Launcher) -> None:
    """An agent that cannot write its input would report a failed hook."""
    tool.program.unlink()
    done = call(tool, "codex", "Stop", data=b"x" * (1 << 20))
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_a_launcher_that_works_has_no_fault(tool: Launcher) -> None:
    assert fault(tool) is None
    assert not (tool.home / "noted").exists()


def test_what_is_wrong_with_a_launcher_is_said(tool: Launcher) -> None:
    tool.program.write_text("")
    assert fault(tool) == "runs, but notes nothing"
    tool.program.unlink()
    assert fault(tool) == f"runs {tool.program}, which is not there"
    tool.path.chmod(0o600)
    assert fault(tool) == "may not be executed"
    tool.path.chmod(0o700)
    tool.path.write_text("#!/bin/sh\n")
    assert fault(tool) == "was changed by hand"
    tool.path.unlink()
    assert fault(tool) == "is not there"


def spooled(config: Config, *lines: object) -> None:
    spool = config.environment.home / ".hansei/spool"
    spool.mkdir(parents=True, exist_ok=True)
    text = "\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines)
    (spool / "hooks.jsonl").write_text(text + "\n")


def test_doctor_tells_whether_hooks_ran(store: Store, config: Config) -> None:
    claude(config, "{}")
    assert hook_health(store, config).agents[0].installed == []

    plan(config, EVERY[:1], {}, now=NOW)
    (agent,) = hook_health(store, config).agents
    assert len(agent.installed) == 10
    assert (agent.installed_at, agent.last_run, agent.sessions_since) == (NOW, None, 0)

    _session(store, "early", NOW - 5000)
    _session(store, "late", NOW + 5000)
    (agent,) = hook_health(store, config).agents
    assert (agent.last_run, agent.sessions_since) == (None, 1)

    line = {"v": 1, "agent": "claude_code", "hook": "Stop"}
    spooled(config, {**line, "at": NOW + 9000}, {**line, "at": NOW + 7000}, '{"torn": ', "", [1])
    (agent,) = hook_health(store, config).agents
    assert agent.last_run == NOW + 9000


def _session(store: Store, name: str, at: int) -> None:
    told = piece(
        [prompt(name, 1, at)],
        agent="claude_code",
        path=f"/t/{name}",
        version="2.1.325",
    )
    commit(store, [told], now=at, seal_before=0)


def test_doctor_names_settings_that_no_longer_load(store: Store, config: Config) -> None:
    path = claude(config, "{}")
    plan(config, EVERY[:1], {}, now=NOW)
    path.write_text(path.read_text() + "}")
    (agent,) = hook_health(store, config).agents
    assert agent.installed == []
    assert f"{path}, line" in agent.faults[0]


def test_doctor_names_events_that_a_newer_version_brought(store: Store, config: Config) -> None:
    claude(config, "{}")
    plan(config, [Wanted("claude_code", "2.0.50")], {}, now=NOW)
    _session(store, "newer", NOW)
    assert newest_versions(store) == {"claude_code": "2.1.325"}
    (agent,) = hook_health(store, config).agents
    assert agent.missing == ["PostToolUseFailure"]


def test_doctor_says_when_the_launcher_is_gone(store: Store, config: Config) -> None:
    claude(config, "{}")
    assert hook_health(store, config).launcher_fault is None
    plan(config, EVERY[:1], {}, now=NOW)
    (config.environment.home / ".hansei/bin/hansei-hook").unlink()
    assert hook_health(store, config).launcher_fault == "is not there"


def test_a_hash_of_nothing_is_nothing() -> None:
    assert digest(None) is None
    assert digest(b"") != digest(b"x")


# --- packages -------------------------------------------------------------------------------------

PACKAGED = [it for it in EVERY if it.agent in ("claude_code", "codex", "cursor", "opencode")]


def test_packages_come_and_go_without_a_trace(config: Config) -> None:
    home = config.environment.home
    claude(config, '{"model": "opus", "statusLine": {"type": "command", "command": "mine"}}')
    before = contents(home)
    plan(config, PACKAGED, {}, now=NOW)
    hooked = contents(home)
    done = plan(config, PACKAGED, {}, package=True, status_line=True, now=NOW)
    assert not done.refused
    assert {agent.package for agent in done.agents} == {"yes"}
    assert not plan(config, PACKAGED, {}, now=NOW).changes, "a later init keeps them as they are"
    added = {name for name in contents(home) if name not in hooked}
    assert {name for name in added if "hansei-brief" in name} == {
        ".claude/skills/hansei/skills/hansei-brief/SKILL.md",
        ".codex/skills/hansei-brief/SKILL.md",
        ".config/opencode/skills/hansei-brief/SKILL.md",
        ".cursor/skills/hansei-brief/SKILL.md",
    }
    removal(config, [], now=NOW)
    assert contents(home) == before
    assert not (home / ".claude" / "skills").exists()


def test_the_hooks_are_in_the_settings_or_in_the_plug_in_but_never_in_both(config: Config) -> None:
    path = claude(config, '{\n  "model": "opus"\n}\n')
    only = [Wanted("claude_code", "2.1.325")]
    plan(config, only, {}, now=NOW)
    assert "hansei-hook" in path.read_text()
    plan(config, only, {}, package=True, now=NOW)
    assert "hansei-hook" not in path.read_text()
    hooks = json.loads((path.parent / "skills/hansei/hooks/hooks.json").read_text())["hooks"]
    assert len(hooks) == 10
    assert all(isinstance(groups, list) for groups in hooks.values())
    plan(config, only, {}, now=NOW)
    assert "hansei-hook" not in path.read_text()


def test_a_version_that_was_not_seen_to_load_a_plug_in_keeps_its_hooks_in_the_settings(
    config: Config,
) -> None:
    path = claude(config, "{}")
    done = plan(config, [Wanted("claude_code", "2.1.100")], {}, package=True, now=NOW)
    assert done.agents[0].package == "too old"
    assert "hansei-hook" in path.read_text()
    assert not (path.parent / "skills").exists()


def test_a_folder_of_that_name_that_is_a_persons_own_is_left_alone(config: Config) -> None:
    path = claude(config, "{}")
    own = path.parent / "skills" / "hansei" / ".claude-plugin" / "plugin.json"
    own.parent.mkdir(parents=True)
    own.write_text('{"name": "mine"}')
    done = plan(config, [Wanted("claude_code", "2.1.325")], {}, package=True, now=NOW)
    assert done.refused
    assert own.read_text() == '{"name": "mine"}'


def test_doctor_finds_the_hooks_of_a_plug_in(config: Config, store: Store) -> None:
    claude(config, "{}")
    plan(config, [Wanted("claude_code", "2.1.325")], {}, package=True, now=NOW)
    (found,) = [it for it in hook_health(store, config).agents if it.agent == "claude_code"]
    assert len(found.installed) == 10
    assert not found.faults
