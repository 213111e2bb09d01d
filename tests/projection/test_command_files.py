"""Which files and lines a command shows, and which it changes."""

from __future__ import annotations

import pytest

from hansei.projection.commands.model import Dialect, Read
from hansei.projection.commands.parsing import parse
from hansei.projection.commands.paths import locate


def spelled(read: Read) -> str:
    """`path first-last`; `~` for some of the lines, `!` for none of them."""
    lines = ""
    if (read.first, read.last) != (None, None):
        lines = f" {read.first or ''}..{read.last or ''}"
    mark = {"lines": "", "part": "~", "hidden": "!"}[read.how]
    revision = f"{read.revision}:" if read.revision else ""
    return f"{mark}{revision}{read.path}{lines}"


def shown(text: str, dialect: Dialect | None = None) -> list[str]:
    return [spelled(read) for command in parse(text, dialect).commands for read in command.reads]


def changed(text: str, dialect: Dialect | None = None) -> list[str]:
    commands = parse(text, dialect).commands
    return [f"{it.how} {it.path}" for command in commands for it in command.writes]


@pytest.mark.parametrize(
    ("text", "reads"),
    [
        ("cat a.py b.py", ["a.py", "b.py"]),
        ("cat -n src/../a.py", ["a.py"]),
        ("cd web && cat a.py", ["web/a.py"]),
        ("(cd web && cat a.py); cat b.py", ["web/a.py", "b.py"]),
        ('cat "my file.txt"', ["my file.txt"]),
        ("cat ~/notes.md /etc/hosts", ["~/notes.md", "/etc/hosts"]),
        ("head a.py", ["a.py 1..10"]),
        ("head -n 40 a.py", ["a.py 1..40"]),
        ("head -40 a.py", ["a.py 1..40"]),
        ("head -n -5 a.py", ["a.py 1..-6"]),
        ("head -c 100 a.py", ["~a.py"]),
        ("tail -n 20 a.py", ["a.py -20.."]),
        ("tail -n +30 a.py", ["a.py 30.."]),
        ("tail -f log", ["log -10.."]),
        ("sed -n '10,20p' a.py", ["a.py 10..20"]),
        ("sed -n 5p a.py", ["a.py 5..5"]),
        ("sed -n '5,$p' a.py", ["a.py 5.."]),
        ("sed -n '5,+3p' a.py", ["a.py 5..8"]),
        ("sed -n -e '1,5p' -e '9,12p' a.py", ["a.py 1..5", "a.py 9..12"]),
        ("sed -n '1,5p;9,12p' a.py", ["a.py 1..5", "a.py 9..12"]),
        ("sed -n '/start/,/end/p' a.py", ["~a.py"]),
        ("sed 30q a.py", ["a.py 1..30"]),
        ("sed -i 's/a/b/' a.py", []),
        ("awk 'NR>=10 && NR<=20' a.py", ["a.py 10..20"]),
        ("awk 'NR==7' a.py", ["a.py 7..7"]),
        ("awk 'NR>10 && NR<20 {print NR\": \"$0}' a.py", ["a.py 11..19"]),
        ("awk '{print $1}' a.py", ["~a.py"]),
        ("nl -ba a.py | sed -n '10,20p'", ["a.py 10..20"]),
        ("cat a.py | head -50", ["a.py 1..50"]),
        ("cat a.py | head -50 | tail -n +11", ["a.py 11..50"]),
        ("head -100 a.py | sed -n '20,200p'", ["a.py 20..100"]),
        ("head -50 a.py | grep x", ["~a.py 1..50"]),
        ("cat a.py b.py | head -50", ["~a.py", "~b.py"]),
        ("cat a.py | wc -l", ["!a.py"]),
        ("cat a.py > b.py", ["!a.py"]),
        ("cat a.py | python tool.py", ["!a.py"]),
        ("wc -l a.py", ["!a.py"]),
        ("less a.py", ["a.py"]),
        ("bat -r 5:9 a.py", ["a.py 5..9"]),
        ("bat --line-range=5:+4 a.py", ["a.py 5..9"]),
        ("rg -n foo src tests", ["~src", "~tests"]),
        ("rg foo", ["~."]),
        ("rg --files src", []),
        ("rg --files | rg test", []),
        ("cd web && rg -g '*.ts' foo", ["~web"]),
        ("grep -n 'def x' a.py", ["~a.py"]),
        ("grep -rn -A3 foo src/", ["~src"]),
        ("grep -e foo a.py", ["~a.py"]),
        ("grep -n '' a.py", ["a.py"]),
        ("grep -l foo a.py", ["!a.py"]),
        ("ps aux | grep node", []),
        ("git show HEAD~1:src/a.py", ["HEAD~1:src/a.py"]),
        ("git show main:a.py | head -5", ["main:a.py 1..5"]),
        ("git show abc1234", []),
        ("git blame -L 5,9 a.py", ["a.py 5..9"]),
        ("cat < a.py", ["a.py"]),
        ("for f in a.py b.py; do echo $f; sed -n 1,5p $f; done", ["a.py 1..5", "b.py 1..5"]),
        ("F=src/a.py; cat $F", ["src/a.py"]),
        ('cat "$UNKNOWN/a.py"', []),
        ("cat src/*.py", ["src/*.py"]),
        ('echo "$(cat a.py)"', ["a.py"]),
        ("x=$(cat a.py)", ["!a.py"]),
        ("cat a.py 2>/dev/null || cat b.py", ["a.py", "b.py"]),
        ("bash -lc 'cd web && sed -n 1,9p a.py'", ["web/a.py 1..9"]),
        ("cat <<'EOF'\ncat b.py\nEOF", []),
        ("jq .name package.json", ["~package.json"]),
        ("cat /mnt/c/repo/a.py", ["C:/repo/a.py"]),
        (r'cat "C:\repo\a.py"', ["C:/repo/a.py"]),
        ("cat /dev/null", []),
        ("base64 -w 0 logo.png", ["~logo.png"]),
        ("base64 logo.png | wc -c", ["!logo.png"]),
        ("python3 -m json.tool a.json", ["~a.json"]),
        ("cat a.json | python3 -c 'print(1)'", ["~a.json"]),
        ("cat a.txt | perl -ne print", ["~a.txt"]),
        ("cat setup.py | python3", ["!setup.py"]),
        ("iconv -f latin1 -t utf8 a.txt", ["~a.txt"]),
        ("type node", []),
    ],
)
def test_a_command_shows_these_lines(text: str, reads: list[str]) -> None:
    assert shown(text) == reads


@pytest.mark.parametrize(
    ("text", "reads"),
    [
        ("Get-Content a.txt", ["a.txt"]),
        ("gc -Path .\\src\\a.txt -TotalCount 20", ["src/a.txt 1..20"]),
        ("Get-Content a.txt -Tail 5", ["a.txt -5.."]),
        ("type a.txt", ["a.txt"]),
        ("cat a.txt | Select-Object -First 30", ["a.txt 1..30"]),
        ("Get-Content a.txt | Select-Object -Skip 10 -First 5", ["a.txt 11..15"]),
        ("(Get-Content a.txt)[9..19]", ["a.txt 10..20"]),
        ("Get-Content a.txt, b.txt", ["a.txt", "b.txt"]),
        ("Select-String -Path src\\*.py -Pattern foo", ["~src/*.py"]),
        ("Select-String foo a.txt", ["~a.txt"]),
        ("Set-Location web; Get-Content -Raw a.txt", ["web/a.txt"]),
        ("$text = Get-Content a.txt", ["!a.txt"]),
        ("findstr /n foo a.txt", ["~a.txt"]),
    ],
)
def test_powershell_shows_these_lines(text: str, reads: list[str]) -> None:
    assert shown(text, Dialect.POWERSHELL) == reads


@pytest.mark.parametrize(
    ("text", "writes"),
    [
        ("echo x > a.txt", ["replace a.txt"]),
        ("echo x >> a.txt", ["append a.txt"]),
        ("make > log 2>&1", ["replace log"]),
        ("make &> log", ["replace log"]),
        ("make 2>/dev/null", []),
        ("cd web && cat > a.txt <<'EOF'\nx\nEOF", ["replace web/a.txt"]),
        ("make | tee -a log", ["append log"]),
        ("sed -i 's/a/b/' a.py b.py", ["edit a.py", "edit b.py"]),
        ("sed -i '' -e 's/a/b/' a.py", ["edit a.py"]),
        ("perl -pi -e 's/a/b/' a.py", ["edit a.py"]),
        ("mv a.py b.py", ["delete a.py", "move b.py"]),
        ("mv a.py b.py lib/", ["delete a.py", "move lib/a.py", "delete b.py", "move lib/b.py"]),
        ("cp src/a.py .", ["replace a.py"]),
        ("rm -rf a.py build", ["delete a.py", "delete build"]),
        ("touch a.py", ["create a.py"]),
        ("git checkout -- a.py", ["restore a.py"]),
        ("git checkout main -- a.py", ["restore a.py"]),
        ("git checkout main", []),
        ("git restore a.py", ["restore a.py"]),
        ("git restore --staged a.py", []),
        ("git restore --staged --worktree a.py", ["restore a.py"]),
        ("git checkout .", ["restore ."]),
        ("cd web && git reset --hard HEAD~1", ["restore web"]),
        ("git reset --soft HEAD~1", []),
        ("git clean -fd", ["clean ."]),
        ("git clean --force build", ["clean build"]),
        ("git clean -nd", []),
        ("git clean -fdn", []),
        ("git -C web rm a.py", ["delete web/a.py"]),
        ("curl -o out.html https://example.com", ["replace out.html"]),
        ("(make; ls) > log", ["replace log"]),
        ("for f in a b; do touch $f.py; done", ["create a.py", "create b.py"]),
        ("> a.txt", ["replace a.txt"]),
        (
            "apply_patch <<'E'\n*** Begin Patch\n*** Update File: a.py\n@@\n*** End Patch\nE",
            ["edit a.py"],
        ),
    ],
)
def test_a_command_changes_these_files(text: str, writes: list[str]) -> None:
    assert changed(text) == writes


@pytest.mark.parametrize(
    ("text", "writes"),
    [
        ("Set-Content -Path a.txt -Value x", ["replace a.txt"]),
        ("'x' | Out-File -Append a.txt", ["append a.txt"]),
        ("Remove-Item -Recurse -Force build", ["delete build"]),
        ("New-Item -ItemType File a.txt", ["create a.txt"]),
        ("New-Item -ItemType Directory a", []),
        ("Move-Item a.txt b.txt", ["delete a.txt", "move b.txt"]),
        ("Copy-Item -Path a.txt -Destination b.txt", ["replace b.txt"]),
        ("npm test > out.txt", ["replace out.txt"]),
        ("npm test 2>$null", []),
    ],
)
def test_powershell_changes_these_files(text: str, writes: list[str]) -> None:
    assert changed(text, Dialect.POWERSHELL) == writes


@pytest.mark.parametrize(
    ("path", "cwd", "place"),
    [
        ("src/a.py", "/home/me/repo", "/home/me/repo/src/a.py"),
        ("../a.py", "/home/me/repo", "/home/me/a.py"),
        ("src\\a.py", "C:\\repo", "C:/repo/src/a.py"),
        ("C:/repo/a.py", "/mnt/c/repo", "C:/repo/a.py"),
        ("a.py", "/mnt/c/repo", "C:/repo/a.py"),
        ("/c/repo/a.py", "C:\\repo", "C:/repo/a.py"),
        ("/c/repo/a.py", "/home/me", "/c/repo/a.py"),
        ("c:\\repo\\a.py", None, "C:/repo/a.py"),
        ("\\\\wsl$\\Ubuntu\\home\\me\\a.py", "C:\\repo", "/home/me/a.py"),
        ("/a.py", "/home/me", "/a.py"),
    ],
)
def test_one_file_has_one_spelling(path: str, cwd: str | None, place: str) -> None:
    assert locate(path, cwd) == place
