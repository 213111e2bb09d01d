"""An agent under `hansei run` has the terminal to itself: keys, signals, sizes, exit codes.

Everything holds in a sandbox too, where this machine can make one.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from hansei.ops import attend
from terminal_window import window

BASH = shutil.which("bash")


def _can_sandbox() -> bool:
    trial = ["bwrap", "--unshare-user", "--ro-bind", "/", "/", "true"]
    return shutil.which("bwrap") is not None and subprocess.run(trial).returncode == 0


WAYS = [
    pytest.param((), id="plain"),
    pytest.param(
        ("--sandbox",),
        id="sandboxed",
        marks=pytest.mark.skipif(not _can_sandbox(), reason="bubblewrap makes no sandbox here"),
    ),
]
Way = tuple[str, ...]


class Ground:
    """A home and a repository to run agents in."""

    def __init__(self, folder: Path) -> None:
        self.home, self.project = folder / "home", folder / "project"
        self.home.mkdir()
        self.project.mkdir()
        self.variables = {
            "HOME": str(self.home),
            "PATH": os.environ["PATH"],
            "TERM": "xterm",
            "LANG": "C.UTF-8",
            "PS1": "ready> ",
        }

    def agent(self, program: str) -> list[str]:
        """A small agent, written in Python."""
        path = self.project / "agent.py"
        path.write_text(program, encoding="utf-8")
        return [sys.executable, str(path)]

    def hansei(self, way: Way, command: list[str]) -> list[str]:
        return [sys.executable, "-m", "hansei", "run", "--no-learn", *way, "--", *command]

    def run(
        self, way: Way, command: list[str], given: bytes = b""
    ) -> subprocess.CompletedProcess[bytes]:
        return self._direct(self.hansei(way, command), given)

    def direct(self, command: list[str], given: bytes = b"") -> subprocess.CompletedProcess[bytes]:
        return self._direct(command, given)

    def _direct(self, command: list[str], given: bytes) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(
            command, env=self.variables, cwd=self.project, input=given, capture_output=True
        )


@pytest.fixture
def ground(tmp_path: Path) -> Ground:
    return Ground(tmp_path)


TALKATIVE = """\
import os, sys
sys.stdout.write("\\x1b[2J\\x1b[1;31mhello\\x1b[0m " + str(os.get_terminal_size()) + "\\n")
print(os.isatty(0), os.isatty(1), os.isatty(2), flush=True)
print("you said", repr(input("name? ")), flush=True)
print("to stderr", file=sys.stderr)
"""


@pytest.mark.parametrize("way", WAYS)
def test_a_terminal_shows_the_same_bytes(ground: Ground, way: Way) -> None:
    command = ground.agent(TALKATIVE)
    screens = []
    for started in (command, ground.hansei(way, command)):
        with window(started, ground.variables, ground.project) as shown:
            shown.resize(31, 97)
            shown.wait_for("name?")
            shown.type("Ada\n")
            assert shown.ended() == 0
        screens.append(shown.screen)
    assert b"you said 'Ada'" in screens[0]
    assert screens[0] == screens[1]


FILTER = """\
import sys
data = sys.stdin.buffer.read()
sys.stdout.buffer.write(data[::-1])
sys.stderr.buffer.write(b"\\xff\\x00 done")
sys.exit(5)
"""


@pytest.mark.parametrize("way", WAYS)
def test_in_a_pipe_every_byte_passes_and_nothing_is_added(ground: Ground, way: Way) -> None:
    command, given = ground.agent(FILTER), bytes(range(256)) * 700
    through, direct = ground.run(way, command, given), ground.direct(command, given)
    assert (through.returncode, through.stdout, through.stderr) == (
        direct.returncode,
        direct.stdout,
        direct.stderr,
    )
    assert through.stdout == given[::-1]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("code", [0, 1, 77, 127, 255])
def test_the_exit_code_is_the_agents(ground: Ground, way: Way, code: int) -> None:
    assert ground.run(way, ["sh", "-c", f"exit {code}"]).returncode == code


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", ["TERM", "KILL", "SEGV", "INT"])
def test_an_agent_that_a_signal_ended_tells_so_as_in_a_shell(
    ground: Ground, way: Way, name: str
) -> None:
    number = signal.Signals[f"SIG{name}"]
    assert ground.run(way, ["sh", "-c", f"kill -{name} $$"]).returncode == 128 + number


PATIENT = """\
import os, signal, sys, time
def heard(number, frame):
    os.write(1, f"heard {signal.Signals(number).name}\\n".encode())
    if number != signal.SIGINT:
        sys.exit(40 + number)
for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGUSR1"):
    signal.signal(getattr(signal, name), heard)
print("ready", flush=True)
time.sleep(30)
"""


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP", "SIGUSR1"])
def test_a_signal_to_hansei_reaches_the_agent_once(ground: Ground, way: Way, name: str) -> None:
    number = signal.Signals[name]
    with subprocess.Popen(
        ground.hansei(way, ground.agent(PATIENT)),
        env=ground.variables,
        cwd=ground.project,
        stdout=subprocess.PIPE,
        start_new_session=True,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        process.send_signal(number)
        assert process.stdout.read() == f"heard {name}\n".encode()
    assert process.returncode == 40 + number


@pytest.mark.parametrize("way", WAYS)
def test_an_interrupt_without_a_terminal_reaches_the_agent(ground: Ground, way: Way) -> None:
    with subprocess.Popen(
        ground.hansei(way, ground.agent(PATIENT)),
        env=ground.variables,
        cwd=ground.project,
        stdout=subprocess.PIPE,
        start_new_session=True,
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        process.send_signal(signal.SIGINT)
        assert process.stdout.readline() == b"heard SIGINT\n"
        process.send_signal(signal.SIGTERM)
        assert process.stdout.read() == b"heard SIGTERM\n"


@pytest.mark.parametrize("way", WAYS)
def test_ctrl_c_is_the_agents_alone_and_comes_once(ground: Ground, way: Way) -> None:
    with window(
        ground.hansei(way, ground.agent(PATIENT)), ground.variables, ground.project
    ) as shown:
        shown.wait_for("ready")
        shown.type("\x03")
        shown.wait_for("heard SIGINT")
        time.sleep(0.3)
        shown.type("\x03")
        shown.wait_for("heard SIGINT", times=2)
        time.sleep(0.3)
        os.kill(shown.process, signal.SIGTERM)
        assert shown.ended() == 40 + signal.SIGTERM
    assert shown.screen.count(b"heard SIGINT") == 2
    assert b"interrupted" not in shown.screen


SIZES = """\
import os, signal, time
def heard(number, frame):
    os.write(1, str(tuple(os.get_terminal_size())).encode())
    raise SystemExit
signal.signal(signal.SIGWINCH, heard)
print("ready", flush=True)
time.sleep(30)
"""


@pytest.mark.parametrize("way", WAYS)
def test_a_new_window_size_reaches_the_agent(ground: Ground, way: Way) -> None:
    with window(ground.hansei(way, ground.agent(SIZES)), ground.variables, ground.project) as shown:
        shown.wait_for("ready")
        shown.resize(13, 57)
        shown.wait_for("(57, 13)")
        assert shown.ended() == 0


COUNTING = """\
import os, signal, sys
print("began", flush=True)
for line in sys.stdin:
    if line == "stop\\n":
        os.kill(os.getpid(), signal.SIGSTOP)
    print("got", line, end="", flush=True)
    if line == "end\\n":
        sys.exit(9)
"""


@pytest.mark.skipif(BASH is None, reason="needs bash for its job control")
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("stopping", ["\x1a", "stop\n"], ids=["by a key", "by itself"])
def test_a_stopped_agent_gives_the_terminal_back_and_goes_on(
    ground: Ground, way: Way, stopping: str
) -> None:
    command = " ".join(ground.hansei(way, ground.agent(COUNTING)))
    shell = ["bash", "--norc", "--noprofile", "--noediting", "-i"]
    with window(shell, ground.variables, ground.project) as shown:
        shown.wait_for("ready> ")
        shown.type(f"{command}\n")
        shown.wait_for("began")
        for round_ in (1, 2):
            shown.type(stopping)
            shown.wait_for("Stopped", times=2 * round_ - 1)
            shown.type("jobs\n")
            shown.wait_for("Stopped", times=2 * round_)
            shown.type(f"fg\nword{round_}\n")
            shown.wait_for(f"got word{round_}")
        shown.type("end\n")
        shown.wait_for("got end")
        shown.type("echo code $?\n")
        shown.wait_for("code 9")
        shown.type("exit\n")
        shown.ended()


@pytest.mark.skipif(BASH is None, reason="needs bash for its job control")
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("stopping", ["\x1a", "stop\n"], ids=["by a key", "by itself"])
def test_a_window_closed_on_a_stopped_agent_leaves_nothing(
    ground: Ground, way: Way, stopping: str
) -> None:
    command = " ".join(ground.hansei(way, ground.agent(COUNTING)))
    shell = ["bash", "--norc", "--noprofile", "--noediting", "-i"]
    with window(shell, ground.variables, ground.project) as shown:
        shown.wait_for("ready> ")
        shown.type(f"{command}\n")
        shown.wait_for("began")
        shown.type(stopping)
        shown.wait_for("Stopped")
        shown.close()
    deadline = time.monotonic() + 10
    while left := _running(str(ground.project)):
        assert time.monotonic() < deadline, left
        time.sleep(0.05)


def _running(text: str) -> list[str]:
    listed = subprocess.run(["ps", "-eo", "pid,stat,args"], capture_output=True, text=True).stdout
    return [line for line in listed.splitlines() if text in line]


def test_once_the_terminal_is_gone_nobody_stops_for_an_agent_any_more() -> None:
    receiver = attend.Receiver()
    receiver.joined(os.getpid())
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        receiver.pass_on(signal.SIGHUP, None)
        receiver.stop()  # else this would never end
    finally:
        signal.signal(signal.SIGHUP, before)


@pytest.mark.parametrize("way", WAYS)
def test_a_killed_agent_leaves_a_terminal_that_echoes(ground: Ground, way: Way) -> None:
    program = "import os, tty; tty.setraw(0); os.kill(os.getpid(), 9)"
    command = " ".join(ground.hansei(way, ground.agent(program)))
    with window(
        ["sh", "-c", f"{command}; echo code $?; stty -a; exit 3"], ground.variables, ground.project
    ) as shown:
        assert shown.ended() == 3
    assert b"code 137" in shown.screen
    assert b" echo " in shown.screen
    assert b" icanon " in shown.screen


SURROUNDINGS = """\
import os, signal, sys
print([os.fsencode(word) for word in sys.argv[1:]])
print(sorted(item for item in os.environb.items() if item[0] not in (b"_", b"PWD", b"OLDPWD")))
print(os.getcwd(), os.read(7, 100))
print({name: signal.getsignal(getattr(signal, name)) for name in
       ("SIGINT", "SIGQUIT", "SIGHUP", "SIGTERM", "SIGTSTP", "SIGCHLD", "SIGUSR1")})
OF_THE_C_LIBRARY = 3 << 31  # its own two signals, which posix_spawn has begin ignored
with open("/proc/self/status") as status:
    masks = dict(line.split(":") for line in status if line.startswith("Sig"))
print([int(masks[name], 16) & ~OF_THE_C_LIBRARY for name in ("SigBlk", "SigIgn", "SigCgt")])
print(sorted(os.listdir("/proc/self/fd")))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("ignored", ["", "trap '' HUP INT;"], ids=["", "some signals ignored"])
def test_an_agent_finds_the_surroundings_it_would_find_without_us(
    ground: Ground, way: Way, ignored: str
) -> None:
    command = ground.agent(SURROUNDINGS)
    arguments = [b"--debug", b"--", b"-x", b"", b"\xff\xfe", "ä b".encode()]
    found = []
    for started in (command, ground.hansei(way, command)):
        script = f'{ignored} exec "$@" 7<<END\nseven\nEND\n'
        done = subprocess.run(
            ["sh", "-c", script, "sh", *started, *arguments],
            env=ground.variables,
            cwd=ground.project,
            capture_output=True,
            stdin=subprocess.DEVNULL,
        )
        assert done.returncode == 0, done.stderr
        found.append(done.stdout)
    assert found[0] == found[1]


@pytest.mark.parametrize("way", WAYS)
def test_nothing_is_left_of_an_agent(ground: Ground, way: Way) -> None:
    program = "import os; print(os.getpid(), os.getppid(), flush=True)"
    before = _children()
    ground.run(way, ground.agent(program))
    assert _children() == before


def _children() -> bytes:
    return subprocess.run(
        ["ps", "-o", "stat=,args=", "--ppid", str(os.getpid())], capture_output=True
    ).stdout.replace(b"ps -o", b"")
