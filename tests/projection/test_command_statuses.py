"""Which programs a call runs, and whose failure makes the call fail."""

from __future__ import annotations

import pytest

from hansei.projection.commands.model import Dialect
from hansei.projection.commands.parsing import LONGEST, parse


def told(text: str, dialect: Dialect | None = None) -> str:
    """The programs of a call; in brackets where the call may end well although they failed."""
    return " ".join(
        f"({command.program})" if command.masked else command.program
        for command in parse(text, dialect).commands
    )


@pytest.mark.parametrize(
    ("text", "programs"),
    [
        ("pytest", "pytest"),
        ("make && pytest", "make pytest"),
        ("make; pytest", "(make) pytest"),
        ("make\npytest", "(make) pytest"),
        ("pytest || true", "(pytest) true"),
        ("make && pytest || echo failed", "(make) (pytest) echo"),
        ("pytest || make && ls", "(pytest) make ls"),
        ("pytest | tail -5", "(pytest) tail"),
        ("cd web && pytest 2>&1 | tail -5", "cd (pytest) tail"),
        ("set -o pipefail; pytest | tail -5", "(set) pytest tail"),
        ("set -euo pipefail\nmake | tee log\npytest", "(set) make tee pytest"),
        ("set -e; make && ls; pytest", "(set) (make) ls pytest"),
        ("pytest; echo done", "(pytest) echo"),
        ("pytest; exit $?", "pytest (exit)"),
        ("pytest | tail -3; exit ${PIPESTATUS[0]}", "pytest (tail) (exit)"),
        ("pytest; rc=$?; cat log; exit $rc", "pytest (cat) (exit)"),
        ("pytest || exit 1; echo fine", "pytest (exit) echo"),
        ("pytest || { echo bad; exit 1; }", "pytest (echo) exit"),
        ("pytest &", "(pytest)"),
        ("! pytest", "(pytest)"),
        ("(cd web; pytest)", "(cd) pytest"),
        ("if pytest; then make; else ls; fi", "(pytest) make ls"),
        ("for f in a b; do pytest $f; done", "(pytest)"),
        ("while read x; do make $x; done < list", "(read) (make)"),
        ("case $1 in a) make;; b) pytest;; esac", "make pytest"),
        ("echo $(git rev-parse HEAD)", "(git) echo"),
        ("head=$(git rev-parse HEAD)", "git"),
        ("bash -lc 'make; pytest'", "(make) pytest"),
        ("bash -euo pipefail -c 'make; pytest | tail'", "make pytest tail"),
        ("f() { make; }; pytest", "(make) pytest"),
        ("cat <<'EOF' | python - && ls\nprint(1)\nEOF", "(cat) python ls"),
        ("python - <<'PY'\nx = 1 | 2; print(x) || true\nPY", "python"),
        ("git commit -m \"$(cat <<'EOF'\nFix (it)\n\nEOF\n)\"", "(cat) git"),
        ("npm test --  --watch=false # until it is green", "npm"),
    ],
)
def test_a_failure_counts_where_the_shell_lets_it_through(text: str, programs: str) -> None:
    assert told(text) == programs


@pytest.mark.parametrize(
    ("text", "programs"),
    [
        ("Set-Location web; npm test", "(Set-Location) npm"),
        ("cd web && npm test", "Set-Location npm"),
        ("npm test 2>&1 | Select-Object -Last 5", "(npm) Select-Object"),
        ('if (Test-Path a.txt) { gc a.txt } else { "no" }', "(Test-Path) Get-Content"),
        ('& "C:\\Program Files\\nodejs\\node.exe" x.js', "node"),
        ("$lines = Get-Content a.txt", "(Get-Content) Set-Variable"),
        ("Get-ChildItem | Select-Object Name, Length", "(Get-ChildItem) Select-Object"),
        ("@'\nhello\n'@ | Set-Content a.txt", "Set-Content"),
    ],
)
def test_powershell_is_followed_too(text: str, programs: str) -> None:
    assert told(text, Dialect.POWERSHELL) == programs


def test_powershell_is_recognised_by_its_words() -> None:
    assert parse("Get-Content a.txt -Tail 5").dialect is Dialect.POWERSHELL
    assert parse("$env:CI = 1; npm test").dialect is Dialect.POWERSHELL
    assert parse("git add -A && apt-get install -y jq").dialect is Dialect.BASH


@pytest.mark.parametrize(
    ("text", "program", "wrappers"),
    [
        ("env CI=1 pytest", "pytest", ("env",)),
        ("CI=1 pytest", "pytest", ()),
        ("sudo -u app timeout -k 5 60 pytest", "pytest", ("sudo", "timeout 60")),
        ("npx -y jest", "jest", ("npx",)),
        ("pnpm exec vitest run", "vitest", ("pnpm exec",)),
        ("pnpm --filter web exec vitest", "vitest", ("pnpm exec",)),
        ("uv run --with rich python -m pytest -q", "pytest", ("uv run", "python -m")),
        ("python3.12 -m pytest", "pytest", ("python -m",)),
        (".venv/bin/pytest", "pytest", ()),
        (r'"C:\tools\node.exe" x.js', "node", ()),
        ("find . -name '*.py' | xargs -n 1 wc -l", "wc", ("xargs",)),
        ("bash -lc 'sudo make'", "make", ("bash", "sudo")),
        ('powershell.exe -NoProfile -Command "Get-Date"', "Get-Date", ("powershell",)),
        ("cmd /c dir", "Get-ChildItem", ("cmd",)),
        ("poetry run mypy src", "mypy", ("poetry run",)),
        ("time make", "make", ("time",)),
    ],
)
def test_what_stands_before_a_program_is_taken_off(
    text: str, program: str, wrappers: tuple[str, ...]
) -> None:
    command = parse(text).commands[-1]
    assert (command.program, command.wrappers) == (program, wrappers)


def test_variables_set_for_a_program_are_told_by_name() -> None:
    assert parse("A=1 env B=2 pytest").commands[0].variables == ("A", "B")


@pytest.mark.parametrize(
    ("text", "directory"),
    [
        ("pytest", ""),
        ("cd web && pytest", "web"),
        ("cd web && cd .. && pytest", ""),
        ("cd /srv/app/./web; pytest", "/srv/app/web"),
        ("(cd web; ls); pytest", ""),
        ("cd web | pytest", ""),
        ("pushd web && popd && pytest", ""),
        ('cd "$HOME/x" && pytest', None),
        ("cd - && pytest", None),
        ("ROOT=web; cd $ROOT/src && pytest", "web/src"),
        ("cd && pytest", "~"),
        ("git -C web status", "web"),
        ("cd a && npm --prefix web test", "a/web"),
        ("cd web && bash -c 'cd src && pytest'", "web/src"),
        (r'cd "C:\repo\web" && pytest', "C:/repo/web"),
    ],
)
def test_a_command_runs_where_the_shell_has_gone(text: str, directory: str | None) -> None:
    assert parse(text).commands[-1].directory == directory


@pytest.mark.parametrize(
    ("text", "main", "decides"),
    [
        ("cd web && npm test 2>&1 | tail -20", "npm", "tail"),
        ("npm test > log 2>&1; tail -50 log", "npm", "tail"),
        ("pytest -q; echo EXIT $?", "pytest", "echo"),
        ("cat a.py | head -5", "cat", "head"),
        ("git add -A && git commit -m x", "git", "git"),
        ("echo hello", "echo", "echo"),
        ("frob sync && frob list", "frob", "frob"),
        ("make build; git status", "make", "git"),
        ("docker compose up -d && docker ps", "docker", "docker"),
        ("sort a > b && wc -l b", "sort", "wc"),
        ("pytest &", "pytest", None),
    ],
)
def test_a_call_is_about_one_command_and_ends_with_the_status_of_one(
    text: str, main: str, decides: str | None
) -> None:
    script = parse(text)
    assert script.main is not None
    assert script.commands[script.main].program == main
    deciding = None if script.decides is None else script.commands[script.decides].program
    assert deciding == decides


@pytest.mark.parametrize(
    ("text", "subcommand"),
    [
        ("git add a; git status", "add"),
        ("frob sync && frob list", "sync"),
        ("git tag v1 && git tag", "tag"),
        ("git stash && git stash list", "stash"),
        ("git log -3 && git status", "status"),
        ("frob sync && frob --help", "sync"),
        ("frob sync && frob task list", "sync"),
        ("frob sync && frob create list", "create"),
        ("docker compose up -d && docker logs web", "compose up"),
    ],
)
def test_a_call_is_about_what_it_does_before_what_it_shows(text: str, subcommand: str) -> None:
    script = parse(text)
    assert script.main is not None
    assert script.commands[script.main].subcommand == subcommand


def test_what_a_bracket_is_asked_is_told_word_by_word() -> None:
    command = parse('[ ! -f "my notes.md" ]').commands[0]
    assert (command.flags, command.targets) == (("-f",), ("!", "my notes.md"))


def test_a_line_of_dashes_is_no_option() -> None:
    command = parse('echo "-----"').commands[0]
    assert (command.flags, command.targets) == ((), ("-----",))


def test_switches_of_windows_are_options() -> None:
    command = parse('tasklist /FI "IMAGENAME eq node.exe" /V').commands[0]
    assert (command.flags, command.targets) == (("/fi", "/v"), ())
    assert parse("mkdir /app").commands[0].targets == ("/app",)
    assert parse("dir /home").commands[0].targets == ("/home",)


def test_program_subcommand_flags_and_targets_are_told_apart() -> None:
    command = parse("git -C web log --oneline -n 5 main -- src/a.py").commands[0]
    assert command.program == "git"
    assert command.subcommand == "log"
    assert command.flags == ("-C", "--oneline", "-n")
    assert command.targets == ("main", "src/a.py")


@pytest.mark.parametrize(
    "text",
    ['ls "unfinished', "echo ${x:-<y", "if exist a (call b) 2>&1", "x" * (LONGEST + 1), "cat <("],
)
def test_what_follows_no_grammar_is_told_as_such(text: str) -> None:
    script = parse(text)
    assert not script.parsed
    assert script.decides is None
    assert all(command.masked for command in script.commands)


def test_the_first_words_of_a_text_without_grammar_are_kept() -> None:
    script = parse('ls -la "C:\\repo\\" 2>/dev/null')
    assert [command.program for command in script.commands] == ["ls"]
    assert script.commands[0].flags == ("-l", "-a")


def test_a_heredoc_may_end_with_the_text() -> None:
    assert parse("cat > a.txt << 'END'\nhello").parsed


def test_nothing_is_run_by_nothing() -> None:
    for text in ("", "   ", "# only a remark", "X=1"):
        assert parse(text).commands == ()
        assert parse(text).parsed
