"""`hansei run`: what happens once the agent has ended, and that it never changes the exit code."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from terminal_window import Window, window

TESTS = Path(__file__).parents[1]

AGENT = """\
import sys, time
sys.path.insert(0, {tests!r})
from pathlib import Path
from claude_home import Session
home, project = Path({home!r}), {project!r}
def session(name, at=None, cwd=project):
    path = home / ".claude/projects/-w" / (name + ".jsonl")
    made = Session(path, name, int(time.time() * 1000) - 2000 if at is None else at, cwd=cwd)
    made.prompt("Please mend the pump.")
    made.say("Done.")
    return made
{then}
"""
"""A small agent that leaves transcripts as Claude Code does."""

OFFERS = """
import sys, types
fake = types.ModuleType("hansei.cli.commands.learn")
def offer_from(store, settings, among):
    print("offered from", *among, "asking" if sys.stdin.isatty() else "not asking")
    {then}
    return len(among)
fake.offer_from = offer_from
sys.modules[fake.__name__] = fake
"""
"""In the place of learning, which has its own tests."""

FIRST = "aaaaaaaa-0000-4000-8000-000000000001"
SECOND = "bbbbbbbb-0000-4000-8000-000000000002"
OLD = "cccccccc-0000-4000-8000-000000000003"


class Ground:
    """A home, a repository, and an agent called `claude`."""

    def __init__(self, folder: Path) -> None:
        self.home, self.project, self.bin = folder / "home", folder / "project", folder / "bin"
        for made in (self.home, self.project, self.bin):
            made.mkdir()

    def program(self, then: str, name: str = "claude") -> None:
        text = AGENT.format(
            tests=str(TESTS), home=str(self.home), project=str(self.project), then=then
        )
        path = self.bin / name
        path.write_text(f"#!{sys.executable}\n{text}", encoding="utf-8")
        path.chmod(0o700)

    def settings(self, text: str) -> None:
        (self.home / ".hansei").mkdir(exist_ok=True)
        (self.home / ".hansei/config.toml").write_text(text, encoding="utf-8")

    def run(self, *words: str, learning: str = "pass") -> subprocess.CompletedProcess[str]:
        return self.hansei("run", *words, before=OFFERS.format(then=learning))

    def hansei(self, *words: str, before: str = "") -> subprocess.CompletedProcess[str]:
        script = f"{before}\nimport sys\nfrom hansei.cli.main import main\nmain(sys.argv[1:])"
        return subprocess.run(
            [sys.executable, "-c", script, *words],
            env={"HOME": str(self.home), "PATH": f"{self.bin}:/usr/bin:/bin", "TZ": "UTC"},
            cwd=self.project,
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
        )

    def window(self, learning: str) -> contextlib.AbstractContextManager[Window]:
        """`hansei run -- claude` in a terminal."""
        before = OFFERS.format(then=learning)
        script = f"{before}\nfrom hansei.cli.main import main\nmain(sys.argv[1:])"
        variables = {"HOME": str(self.home), "PATH": f"{self.bin}:/usr/bin:/bin", "TERM": "xterm"}
        return window(
            [sys.executable, "-c", script, "run", "--", "claude"], variables, self.project
        )

    def stored(self) -> set[str]:
        told = self.hansei("sessions", "--all", "--no-ingest", "--json")
        listed: list[dict[str, Any]] = json.loads(told.stdout)["sessions"]
        return {one["id"] for one in listed}


@pytest.fixture
def ground(tmp_path: Path) -> Ground:
    return Ground(tmp_path)


def test_what_the_agent_wrote_is_taken_in_and_offered_on_stderr(ground: Ground) -> None:
    ground.program(f"session({FIRST!r}); print('all done'); sys.exit(3)")
    done = ground.run("--", "claude")
    assert (done.returncode, done.stdout) == (3, "all done\n")
    assert done.stderr == f"offered from {FIRST} not asking\n"
    assert ground.stored() == {FIRST}


def test_only_sessions_of_this_workspace_that_began_or_grew_meanwhile_count(ground: Ground) -> None:
    resumed = f"session({FIRST!r}, at=1_790_000_000_000)"
    ground.program(f"{resumed}; session({OLD!r}, at=1_790_000_000_000)")
    ground.run("--no-learn", "--", "claude")
    grow = f"made = session({FIRST!r}); made.say('More.')"
    elsewhere = f"session('dddddddd-0000-4000-8000-000000000004', cwd={str(ground.home)!r})"
    ground.program(f"{grow}; session({SECOND!r}); {elsewhere}")
    done = ground.run("--", "claude")
    assert done.stderr == f"offered from {FIRST} {SECOND} not asking\n"
    assert len(ground.stored()) == 4


GEMINI = """
import datetime, json
chats = home / ".gemini/tmp/quay/chats"
chats.mkdir(parents=True)
(chats.parent / ".project_root").write_text(project)
now = datetime.datetime.now(datetime.UTC).isoformat()
said = dict(id=name, timestamp=now, type="user", content=[dict(text="Mend the pump.")])
lines = [dict(sessionId=name, startTime=now, kind="main"), said]
(chats / "session-1.jsonl").write_text("".join(json.dumps(it) + chr(10) for it in lines))
"""


def test_an_agent_that_sources_call_by_another_name_is_known(ground: Ground) -> None:
    ground.program(f"name = {FIRST!r}\n{GEMINI}", name="gemini")
    assert ground.run("--", "gemini").stderr == f"offered from {FIRST} not asking\n"


def test_sessions_of_other_agents_do_not_count_where_the_agent_is_known(ground: Ground) -> None:
    ground.program(f"session({FIRST!r})", name="codex")
    assert ground.run("--", "codex").stderr == ""
    ground.program(f"session({SECOND!r})", name="my-agent")
    assert FIRST not in (told := ground.run("--", "my-agent").stderr)
    assert SECOND in told
    ground.program(f"session({OLD!r})", name="my-agent")
    assert ground.run("--agent=opencode", "--", "my-agent").stderr == ""


@pytest.mark.parametrize(
    ("setting", "options", "offered"),
    [
        ("", (), True),
        ("", ("--no-learn",), False),
        ("learn_after_run = false", (), False),
        ("learn_after_run = false", ("--learn",), True),
    ],
)
def test_learning_is_on_unless_switched_off(
    ground: Ground, setting: str, options: tuple[str, ...], offered: bool
) -> None:
    ground.settings(setting)
    ground.program(f"session({FIRST!r})")
    done = ground.run(*options, "--", "claude")
    assert (FIRST in done.stderr) is offered
    assert ground.stored() == {FIRST}


@pytest.mark.parametrize(
    "trouble",
    [
        "raise KeyError('a fault')",
        "raise KeyboardInterrupt",
        "sys.exit(9)",
        "import os, signal; os.kill(os.getpid(), signal.SIGTERM)",
        "import click; raise click.Abort",
        "from hansei.errors import StoreDamaged; raise StoreDamaged('it is broken')",
        "raise BrokenPipeError",
    ],
)
@pytest.mark.parametrize("code", [0, 3])
def test_trouble_with_learning_never_changes_the_exit_code(
    ground: Ground, trouble: str, code: int
) -> None:
    ground.program(f"session({FIRST!r}); sys.exit({code})")
    done = ground.run("--", "claude", learning=trouble)
    assert done.returncode == code
    assert "Traceback" not in done.stderr


def test_settings_that_cannot_be_read_are_told_and_change_nothing(ground: Ground) -> None:
    ground.settings("learn_after_run = maybe")
    ground.program("print('all done'); sys.exit(4)")
    done = ground.run("--", "claude")
    assert (done.returncode, done.stdout) == (4, "all done\n")
    assert "config.toml" in done.stderr


def test_a_store_that_cannot_be_made_changes_nothing(ground: Ground) -> None:
    (ground.home / ".hansei").write_text("a file\n", encoding="utf-8")
    ground.program("sys.exit(4)")
    assert ground.run("--", "claude").returncode == 4


def test_nobody_left_to_tell_changes_nothing(ground: Ground) -> None:
    ground.program(f"session({FIRST!r}); sys.exit(6)")
    reading, writing = os.pipe()
    os.close(reading)
    before = OFFERS.format(then="raise KeyError")
    script = f"{before}\nfrom hansei.cli.main import main\nmain(sys.argv[1:])"
    done = subprocess.run(
        [sys.executable, "-c", script, "run", "--", "claude"],
        env={"HOME": str(ground.home), "PATH": f"{ground.bin}:/usr/bin:/bin"},
        cwd=ground.project,
        stderr=writing,
    )
    os.close(writing)
    assert done.returncode == 6


ASKING = "import click; print('answer', repr(click.prompt('Save?', default='', err=True)))"


def test_a_person_at_a_terminal_is_asked(ground: Ground) -> None:
    ground.program(f"session({FIRST!r}); sys.exit(5)")
    with ground.window(ASKING) as shown:
        shown.wait_for("Save?")
        time.sleep(0.3)
        shown.type("s\n")
        assert shown.ended() == 5
    assert b"asking" in shown.screen
    assert b"not asking" not in shown.screen
    assert b"answer 's'" in shown.screen


def test_keys_from_before_the_question_are_no_answer(ground: Ground) -> None:
    ground.program(f"session({FIRST!r}); print('over', flush=True); sys.exit(5)")
    with ground.window(f"import time; time.sleep(1); {ASKING}") as shown:
        shown.wait_for("over")
        shown.type("\n\n")
        shown.wait_for("Save?")
        time.sleep(0.3)
        shown.type("n\n")
        assert shown.ended() == 5
    assert b"answer 'n'" in shown.screen


def test_ctrl_c_at_the_question_keeps_the_exit_code(ground: Ground) -> None:
    ground.program(f"session({FIRST!r}); sys.exit(5)")
    with ground.window(ASKING) as shown:
        shown.wait_for("Save?")
        time.sleep(0.3)
        shown.type("\x03")
        assert shown.ended() == 5
    assert b"answer" not in shown.screen


def test_a_terminal_is_told_that_there_is_nothing_to_learn(ground: Ground) -> None:
    ground.program(f"session({FIRST!r})")
    with ground.window("return 0") as shown:
        assert shown.ended() == 0
    assert b"hansei took in 1 session: nothing new to learn." in shown.screen


def test_a_terminal_that_closes_ends_the_agent_and_then_us(ground: Ground) -> None:
    mark = ground.project / "heard"
    ground.program(
        "import signal\n"
        f"leave = lambda *_: (Path({str(mark)!r}).touch(), sys.exit(7))\n"
        "signal.signal(signal.SIGHUP, leave)\n"
        f"session({FIRST!r}); print('ready', flush=True); time.sleep(30)"
    )
    with ground.window("pass") as shown:
        shown.wait_for("ready")
        shown.close()
    assert mark.exists()
    assert shown.code == 7


def test_nothing_is_said_where_there_is_nothing_to_say(ground: Ground) -> None:
    ground.program("pass")
    done = ground.run("--", "claude")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_a_program_that_is_not_there(ground: Ground) -> None:
    done = ground.run("--", "no-such-agent", "--print")
    assert (done.returncode, done.stdout) == (127, "")
    assert "no program 'no-such-agent' on the PATH" in done.stderr
    assert not (ground.home / ".hansei").exists()


def test_a_program_that_cannot_be_started(ground: Ground) -> None:
    (ground.bin / "claude").write_text("#!/no/such/shell\n", encoding="utf-8")
    (ground.bin / "claude").chmod(0o700)
    done = ground.run("--", "claude")
    assert done.returncode == 127
    assert "its first line" in done.stderr
    (ground.project / "notes").write_text("no program\n", encoding="utf-8")
    done = ground.run("--", "./notes")
    assert done.returncode == 126
    assert "cannot be started" in done.stderr


@pytest.mark.parametrize("words", [(), ("--",), ("--sandbox",)])
def test_nothing_to_run(ground: Ground, words: tuple[str, ...]) -> None:
    done = ground.run(*words)
    assert done.returncode == 2
    assert "hansei run -- claude" in done.stderr


def test_an_agent_nobody_knows(ground: Ground) -> None:
    done = ground.run("--agent=clod", "--", "true")
    assert done.returncode == 2
    assert "claude_code" in done.stderr


def test_options_behind_the_agent_are_the_agents(ground: Ground) -> None:
    ground.program("print(sys.argv[1:])")
    for dashes in ((), ("--",)):
        done = ground.run(*dashes, "claude", "--sandbox", "--debug", "-h", "--", "--offline")
        assert done.stdout == "['--sandbox', '--debug', '-h', '--', '--offline']\n"
