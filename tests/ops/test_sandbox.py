"""Walls around an agent: what they let through, whatever lies in what, and what is said without."""

from __future__ import annotations

import os
import shutil
import stat
import struct
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as some

from hansei.config import Config, Environment, Settings
from hansei.errors import NoSandbox, UsageError
from hansei.ops.sandbox import keep, terminal
from hansei.ops.sandbox.homes import HOMES, agent_of
from hansei.ops.sandbox.walls import SECRETS, Access, Walls, arguments, around

# --- which agent ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("command", "agent"),
    [
        ("claude", "claude_code"),
        ("/opt/bin/claude --print hello", "claude_code"),
        ("npx -y @anthropic-ai/claude-code@latest --print x", "claude_code"),
        ("bunx opencode-ai run x", "opencode"),
        ("codex exec claude", "codex"),
        ("cursor-agent -p x", "cursor"),
        ("timeout 60 claude -p x", "claude_code"),
        ("make claude", None),
        ("./agent.sh", None),
        ("--", None),
    ],
)
def test_the_agent_is_known_by_its_program(command: str, agent: str | None) -> None:
    assert agent_of(command.split()) == agent


# --- walls ----------------------------------------------------------------------------------------

NAMES = some.sampled_from(("a", "b", "c"))
PATHS = some.lists(NAMES, min_size=1, max_size=4).map(lambda parts: Path("/", *parts))
PLACES = some.dictionaries(PATHS, some.sampled_from(Access), max_size=8)


def effective(options: list[str], path: Path) -> str:
    """What bubblewrap does to a path: the last mount that covers it, in the order given."""
    told = ""
    at = options.index("--proc") + 2
    while options[at] != "--chdir":
        option = options[at]
        step = 3 if option in ("--bind", "--ro-bind") else 2
        target = Path(options[at + step - 1])
        if option != "--remount-ro" and path.is_relative_to(target):
            hiding = options[at + 1] == os.devnull
            told = "--tmpfs" if hiding else option
        at += step
    return told


MOUNTS = {
    Access.WRITABLE: "--bind",
    Access.SHOWN: "--ro-bind",
    Access.PRIVATE: "--tmpfs",
    Access.HIDDEN: "--tmpfs",
}


@given(PLACES, PATHS)
def test_the_innermost_place_decides_in_whatever_order_they_are_named(
    places: dict[Path, Access], path: Path
) -> None:
    nearest = next((places[it] for it in (path, *path.parents) if it in places), None)
    options = arguments(Walls(Path("/"), places))
    assert effective(options, path) == ("" if nearest is None else MOUNTS[nearest])
    turned = dict(reversed(places.items()))
    assert options == arguments(Walls(Path("/"), turned))


@given(PLACES, some.booleans())
def test_whatever_is_open_all_else_is_read_only_and_powerless(
    places: dict[Path, Access], offline: bool
) -> None:
    options = arguments(Walls(Path("/a"), places, offline=offline))
    root = options.index("--ro-bind")
    assert options[root + 1 : root + 3] == ["/", "/"]
    for wanted in ("--unshare-user", "--unshare-pid", "--die-with-parent"):
        assert wanted in options[:root]
    assert ("--unshare-net" in options) is offline
    assert options[options.index("--cap-drop") + 1] == "ALL"
    assert options[-2:] == ["--chdir", "/a"]


@pytest.fixture
def ground(tmp_path: Path) -> Config:
    home = tmp_path / "home"
    for name in (".claude", ".codex", ".ssh", "src/shop", ".hansei/spool", ".hansei/bin"):
        (home / name).mkdir(parents=True)
    (home / ".netrc").write_text("machine example.invalid\n", encoding="utf-8")
    environment = Environment(home, {"TMPDIR": str(tmp_path / "scratch")})
    (tmp_path / "scratch").mkdir()
    return Config(home / ".hansei", Settings(sandbox_writable=["~/.codex"]), environment)


def git(folder: Path, *words: str) -> None:
    who = ("-c", "user.name=A", "-c", "user.email=a@example.invalid")
    subprocess.run(["git", "-C", str(folder), *who, *words], check=True, capture_output=True)


def test_repository_and_own_state_are_open_and_others_are_hidden(ground: Config) -> None:
    home = ground.environment.home
    git(home / "src/shop", "init")
    (home / "src/shop/part").mkdir()
    walls = around(ground, home / "src/shop/part", "claude_code")
    assert walls.folder == home / "src/shop/part"
    assert walls.places[home / "src/shop"] is Access.WRITABLE
    assert walls.places[home / ".claude"] is Access.WRITABLE
    assert walls.places[home / ".claude.json"] is Access.WRITABLE
    assert walls.places[home / ".codex"] is Access.WRITABLE  # because the settings say so
    assert walls.places[home / ".ssh"] is Access.HIDDEN
    assert walls.places[home / ".netrc"] is Access.HIDDEN
    assert walls.places[home / ".hansei"] is Access.HIDDEN
    assert walls.places[home / ".hansei/bin"] is Access.SHOWN
    assert walls.places[home / ".hansei/spool"] is Access.WRITABLE
    assert walls.places[Path("/tmp")] is Access.PRIVATE
    assert walls.places[home.parent / "scratch"] is Access.PRIVATE


def test_the_state_of_other_agents_is_hidden(ground: Config) -> None:
    home = ground.environment.home
    plain = Config(ground.store, Settings(), ground.environment)
    walls = around(plain, home / "src/shop", None)
    assert walls.places[home / ".codex"] is Access.HIDDEN
    assert walls.places[home / ".claude"] is Access.HIDDEN
    assert not (home / ".gemini").exists()


def test_state_that_is_not_there_yet_is_made_for_the_agent_that_needs_it(ground: Config) -> None:
    home = ground.environment.home
    walls = around(ground, home / "src/shop", "opencode")
    for name in (".local/share/opencode", ".config/opencode"):
        assert (home / name).is_dir()
        assert walls.places[home / name] is Access.WRITABLE
    around(ground, home / "src/shop", "claude_code")
    assert (home / ".claude.json").read_text(encoding="utf-8") == "{}\n"
    assert not (home / ".gemini").exists()


def test_a_worktree_can_write_to_what_its_git_keeps(ground: Config) -> None:
    home = ground.environment.home
    git(home / "src/shop", "init")
    git(home / "src/shop", "commit", "--allow-empty", "-m", "begin")
    git(home / "src/shop", "worktree", "add", str(home / "src/retry"))
    walls = around(ground, home / "src/retry", "claude_code")
    assert walls.places[home / "src/retry"] is Access.WRITABLE
    assert walls.places[home / "src/shop/.git"] is Access.WRITABLE
    assert home / "src/shop" not in walls.places


def test_a_place_behind_a_link_is_opened_where_it_really_is(ground: Config, tmp_path: Path) -> None:
    home = ground.environment.home
    (tmp_path / "dotfiles").mkdir()
    (home / ".gemini").symlink_to(tmp_path / "dotfiles")
    walls = around(ground, home / "src/shop", "gemini")
    assert walls.places[tmp_path / "dotfiles"] is Access.WRITABLE
    assert home / ".gemini" not in walls.places


@pytest.mark.parametrize("where", ["home", "."])
def test_a_sandbox_around_the_whole_home_is_refused(ground: Config, where: str) -> None:
    with pytest.raises(UsageError, match="no wall at all"):
        around(ground, ground.environment.home.parent / where, "claude_code")


def test_every_secret_is_named_below_the_home() -> None:
    places = [place for home in HOMES.values() for place in home.places]
    for name in (*SECRETS, *(place.default for place in places)):
        assert not name.startswith(("/", "~"))
        assert ".." not in Path(name).parts


def test_the_guide_names_every_secret() -> None:
    guide = Path(__file__).parents[2] / "docs/guides/run.md"
    told = guide.read_text(encoding="utf-8")
    assert [name for name in SECRETS if f"`{name}`" not in told] == []


def test_a_hansei_inside_the_repository_cannot_be_changed(ground: Config) -> None:
    shop = ground.environment.home / "src/shop"
    (shop / ".venv").mkdir()
    walls = around(ground, shop, "claude_code", own=[shop / ".venv", Path(sys.base_prefix)])
    assert walls.places[shop / ".venv"] is Access.SHOWN


# --- forged keys ----------------------------------------------------------------------------------

ALLOWED, REFUSED = 0x7FFF0000, 0x00050001
TIOCSTI, TIOCGWINSZ = 0x5412, 0x5413


def answer(program: bytes, architecture: int, number: int, request: int) -> int:
    """What the kernel's little machine says of one call."""
    data = struct.pack("<iIQ6Q", number, architecture, 0, 1, request, 0, 0, 0, 0)
    steps = list(struct.iter_unpack("<HBBI", program))
    at, held = 0, 0
    while True:
        code, then, otherwise, value = steps[at]
        at += 1
        match code:
            case 0x20:
                (held,) = struct.unpack_from("<I", data, value)
            case 0x15:
                at += then if held == value else otherwise
            case 0x35:
                at += then if held >= value else otherwise
            case 0x06:
                return int(value)
            case _:
                raise AssertionError(code)


@pytest.mark.parametrize("machine", list(terminal.INTERFACES))
def test_only_forged_keys_are_refused(machine: str) -> None:
    program = terminal.forged_keys_refused(machine)
    assert program is not None
    for interface in terminal.INTERFACES[machine]:
        at = interface.architecture
        assert answer(program, at, interface.ioctl, TIOCSTI) == REFUSED
        assert answer(program, at, interface.ioctl, TIOCSTI | 1 << 32) == REFUSED
        assert answer(program, at, interface.ioctl, TIOCGWINSZ) == ALLOWED
        assert answer(program, at, interface.ioctl + 1, TIOCSTI) == ALLOWED
        assert answer(program, at, 0, TIOCSTI) == ALLOWED
    assert answer(program, 0x1234, 0, 0) == REFUSED


def test_another_way_to_number_calls_is_no_way_around() -> None:
    program = terminal.forged_keys_refused("x86_64")
    assert program is not None
    assert answer(program, 0xC000003E, 0x40000000 | 514, TIOCSTI) == REFUSED


def test_a_machine_we_do_not_know_has_no_filter() -> None:
    assert terminal.forged_keys_refused("riscv64") is None


# --- without bubblewrap ---------------------------------------------------------------------------


def program(folder: Path, text: str) -> None:
    path = folder / "bwrap"
    path.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
    path.chmod(stat.S_IRWXU)


def test_without_bubblewrap_it_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(NoSandbox, match="not on the PATH") as refused:
        keep.bubblewrap()
    assert "apt install bubblewrap" in (refused.value.hint or "")


@pytest.mark.parametrize(
    ("said", "hint"),
    [
        ("bwrap: setting up uid map: Permission denied", "forbids user namespaces"),
        ("bwrap: No permissions to create new namespace", "forbids user namespaces"),
        ("bwrap: execvp /root/bin/python3: Permission denied", "install hansei elsewhere"),
        ("bwrap: Unknown option --as-pid-1", "Nothing was run"),
        ("", "Nothing was run"),
    ],
)
def test_where_none_can_be_made_it_says_why(tmp_path: Path, said: str, hint: str) -> None:
    program(tmp_path, f"echo '{said}' >&2; exit 1")
    with pytest.raises(NoSandbox) as refused:
        keep.complain(str(tmp_path / "bwrap"), Walls(tmp_path, {}))
    assert (said or "exit code 1") in refused.value.message
    assert hint in (refused.value.hint or "")


def hansei(ground: Config, path: str, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "hansei", "run", *words],
        env={"HOME": str(ground.environment.home), "PATH": path},
        cwd=ground.environment.home / "src/shop",
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
    )


@pytest.mark.parametrize("text", [None, "echo no namespaces here >&2; exit 1"])
def test_nothing_ever_runs_outside_because_there_is_no_inside(
    ground: Config, tmp_path: Path, text: str | None
) -> None:
    (tmp_path / "bin").mkdir()
    if text:
        program(tmp_path / "bin", text)
    mark = ground.environment.home / "src/shop/ran"
    done = hansei(ground, str(tmp_path / "bin"), "--sandbox", "--", "/bin/touch", str(mark))
    assert (done.returncode, done.stdout) == (125, "")
    assert "Nothing was run" in done.stderr
    assert not mark.exists()


def test_only_a_sandbox_can_be_offline(ground: Config) -> None:
    done = hansei(ground, "/bin:/usr/bin", "--offline", "--", "true")
    assert done.returncode == 2
    assert "--sandbox --offline" in done.stderr


# --- with it --------------------------------------------------------------------------------------


def _works() -> bool:
    trial = ["bwrap", "--unshare-user", "--ro-bind", "/", "/", "true"]
    return shutil.which("bwrap") is not None and subprocess.run(trial).returncode == 0


PATH = f"{Path(shutil.which('bwrap') or '').parent}:/bin:/usr/bin"
real = pytest.mark.skipif(not _works(), reason="bubblewrap makes no sandbox here")

ATTEMPTS = """\
for path in src/shop/new .claude/new .codex/new .ssh/new new .hansei/new .hansei/spool/new; do
  if (echo x > "$HOME/$path") 2>/dev/null; then echo "wrote $path"; fi
done
echo secrets: $(ls -A ~/.ssh; cat ~/.netrc)
echo x > /tmp/hansei-sandbox-test && echo "wrote tmp"
echo x > "$TMPDIR/hansei-sandbox-test" && echo "wrote TMPDIR"
mount -o remount,rw / 2>/dev/null && echo remounted
mount --bind / /mnt 2>/dev/null && echo mounted
unshare -Urm sh -c 'umount ~/.ssh && ls ~/.ssh' 2>/dev/null && echo uncovered
unshare -Urm mount -o remount,rw / 2>/dev/null && echo remounted
kill -0 OUTSIDE 2>/dev/null && echo "sees us"
ls /proc | grep -cx OUTSIDE
ls /run
"""


@real
def test_an_agent_writes_where_it_works_and_nowhere_else(ground: Config) -> None:
    home = ground.environment.home
    (home / ".ssh/id_test").write_text("a key\n", encoding="utf-8")
    git(home / "src/shop", "init")
    script = ATTEMPTS.replace("OUTSIDE", str(os.getpid()))
    (ground.store / "config.toml").write_text('sandbox_writable = ["~/.codex"]', encoding="utf-8")
    done = hansei(ground, PATH, "--sandbox", "--agent=claude_code", "--", "sh", "-c", script)
    assert done.stdout.splitlines()[:7] == [
        "wrote src/shop/new",
        "wrote .claude/new",
        "wrote .codex/new",
        "wrote new",
        "wrote .hansei/spool/new",
        "secrets:",
        "wrote tmp",
    ], done.stderr
    for untrue in ("remounted", "mounted", "sees us", "uncovered"):
        assert untrue not in done.stdout
    assert "\n0\n" in done.stdout
    assert not Path("/tmp/hansei-sandbox-test").exists()
    assert (home / "src/shop/new").read_text(encoding="utf-8") == "x\n"
    assert not (home / "new").exists()


@real
def test_a_file_of_state_is_written_where_it_is_and_links_beside_it_stay(ground: Config) -> None:
    home = ground.environment.home
    (home / ".profile").symlink_to("src/shop/profile")
    (home / "src/shop/profile").write_text("by a link\n", encoding="utf-8")
    script = "echo new > ~/.claude.json; cat ~/.profile; echo x > ~/src/other; ls ~"
    done = hansei(ground, PATH, "--sandbox", "--agent=claude_code", "--", "sh", "-c", script)
    assert done.stdout == "by a link\nsrc\n"
    assert "Read-only" in done.stderr
    assert (home / ".claude.json").read_text(encoding="utf-8") == "new\n"
    assert not (home / "src/other").exists()


@real
def test_offline_there_is_no_network_at_all(ground: Config) -> None:
    script = "grep -c : /proc/net/dev"
    counts = [
        int(hansei(ground, PATH, "--sandbox", *more, "--", "sh", "-c", script).stdout)
        for more in ((), ("--offline",))
    ]
    assert counts[0] >= counts[1] == 1  # the loopback of its own


@real
def test_an_agent_cannot_type_into_our_terminal(ground: Config) -> None:
    from terminal_window import window

    home = ground.environment.home
    script = (
        "import fcntl, termios\n"
        "try:\n    fcntl.ioctl(0, termios.TIOCSTI, b'x')\n    print('typed')\n"
        "except OSError as problem:\n    print('refused', problem.errno)\n"
    )
    (home / "src/shop/agent.py").write_text(script, encoding="utf-8")
    command = [sys.executable, "-m", "hansei", "run", "--sandbox", "--", sys.executable, "agent.py"]
    variables = {"HOME": str(home), "PATH": os.environ["PATH"], "TERM": "xterm"}
    with window(command, variables, home / "src/shop") as shown:
        assert shown.ended() == 0
    assert b"refused 1" in shown.screen
