"""The form a command is shown in and the form it is matched by."""

from __future__ import annotations

import pytest

from hansei.projection.commands.model import Dialect
from hansei.projection.commands.normal import normal_call, shown_call
from hansei.projection.commands.parsing import parse


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("go test ./pkg/auth/...", "go test"),
        ("go test ./pkg/db/...", "go test"),
        ("go test ./...", "go test"),
        ("docker build -t myapp:v1 .", "docker build"),
        ("docker build -t app .", "docker build"),
        ("docker tag app registry.example.com/app", "docker tag"),
        ("docker push registry.example.com/app", "docker push"),
        ("docker pull postgres:16-alpine", "docker pull"),
        ("docker run -d --name pg -e POSTGRES_PASSWORD=x postgres:16-alpine", "docker run"),
        ('docker exec pg psql -U postgres -c "SELECT 1"', "docker exec"),
        ("kubectl rollout restart deployment/app", "kubectl rollout restart"),
        ('curl -H "Auth: xxx" https://api.example.com/data', "curl <url>"),
        ("git clone https://github.com/example/repo.git", "git clone <url>"),
        ("cd repo", "cd"),
        ("npm install", "npm install"),
        ("npm test", "npm test"),
        ("npm run build", "npm run build"),
        ("npm run build:prod", "npm run build:prod"),
        ("pip install request", "pip install"),
        ("pip install requests", "pip install"),
        ("cd web && CI=1 npx jest src/a.test.ts 2>&1 | tail -20", "jest"),
        ("python scripts/report.py --year 2026", "python report.py"),
        ("python -m pytest tests/test_a.py -k x", "pytest"),
        ("Get-Content a.txt -Tail 5", "Get-Content"),
        ("", ""),
    ],
)
def test_a_call_is_shown_by_what_it_is(text: str, shown: str) -> None:
    assert shown_call(parse(text)) == shown


@pytest.mark.parametrize(
    ("text", "other"),
    [
        ("pytest -q -x tests", "pytest -x -q tests"),
        ("pytest --tb=short -k foo", "pytest -k foo --tb short"),
        ("head -20 a.py", "head -n 50 a.py"),
        ("sed -n '10,20p' a.py", 'sed -n "300,400p" a.py'),
        ("cat /home/me/wt-1/src/a.py", "cat src/a.py"),
        ("cat /home/me/wt-2/src/a.py", "cat ./src/a.py"),
        ('git commit -m "Fix the parser"', 'git commit -m "Add a test for it"'),
        ("git commit -m \"$(cat <<'EOF'\nLong\nEOF\n)\"", 'git commit -m "Add a test"'),
        ("cat /tmp/tmp.a8f3/out.log", "cat /var/folders/x/y/out.log"),
        ("git show 3f2a9bc", "git show 91d0c4e7aa"),
        ("npm install left-pad@1.3.0", "npm install left-pad@1.2.11"),
        ("curl https://example.com/a", "curl https://example.org/b?c=1"),
        ("cd web && npm test | tail -5", "npm test 2>&1 | head -100; echo done"),
        ("timeout 60 pytest", "uv run pytest"),
        ("git -C /home/me/wt-1 status", "git status"),
        ("ls -la src", "ls -a -l src"),
        ("kill 4711", "kill 815"),
        ("cat './my docs/a.md'", "cat 'my docs/a.md'"),
        ("export CI=1; npm test", "npm test"),
        ("pytest tests/", "pytest tests"),
        ("apt-get install -y jq", "apt-get install jq -y"),
        ("ls ./docs/", "ls docs"),
        ("f=src/a.py; cat $f", "cat src/a.py"),
        ("PY=/opt/venv/bin/python; $PY -m pytest -q", "pytest -q"),
        ("taskkill //F //IM node.exe", "taskkill /im node.exe /f"),
        ("git push -u origin main", "git push origin -u main"),
    ],
)
def test_these_are_the_same_command(text: str, other: str) -> None:
    roots = ["/home/me/wt-1", "/home/me/wt-2"]
    assert normal_call(parse(text), roots) == normal_call(parse(other), roots)


@pytest.mark.parametrize(
    ("text", "other"),
    [
        ("pytest tests/a.py", "pytest tests/b.py"),
        ("pip install request", "pip install requests"),
        ("npm run build", "npm run build:prod"),
        ("pytest", "pytest -x"),
        ("git checkout main", "git checkout -- main"),
        ("find . -name a -o -type f", "find . -type f -o -name a"),
        ("cat specs/001-a/spec.md", "cat specs/002-a/spec.md"),
        ("cat a.py && rm a.py", "cat a.py"),
        ("python -v tool.py", "python tool.py -v"),
        ("mv 'a note.md' 'b note.md'", "mv 'a note.md' 'c note.md'"),
        ("frob --name one two", "frob --name two one"),
        ("rsync -a src dst", "rsync -a src/ dst"),
    ],
)
def test_these_are_different_commands(text: str, other: str) -> None:
    assert normal_call(parse(text)) != normal_call(parse(other))


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        (
            "cd /srv/x && FOO=1 sudo pytest -q --maxfail=2 tests/a.py",
            "pytest --maxfail={n} -q tests/a.py",
        ),
        (
            "docker run --rm -v /tmp/x:/y app:1.2 make test",
            "docker run --rm -v {tmp} app:{n} make test",
        ),
        ("rg -n 'foo|bar' src | head", "rg -n 'foo|bar' src"),
        ('python -c "print(1)"', "python -c 'print(1)'"),
        ("cat ~/My\\ Notes/a.md", "cat '~/My Notes/a.md'"),
        ('echo "[secret:api_key:abc123]"', "echo {secret}"),
        ("frob add --label urgent 'wash the car' -y", "frob add --label urgent {text} -y"),
        ("npm create app web --template react", "npm create app web --template react"),
        ("tmp=build/out; rm -rf $tmp", "rm -f -r build/out"),
        ('rm -rf "$TMPDIR/x"', "rm -f -r {tmp}"),
        ('for f in a.sh b.sh; do chmod +x "$f"; done', "chmod +x {value}"),
        (r"grep -r '\.size\s*=' src", r"grep -r '\.size\s*=' src"),
        ("sed -i 's/a/b/' lib/", "sed -i s/a/b/ lib"),
        ("mv 'my notes/a b.md' \"it's.md\"", "mv 'my notes/a b.md' 'it'\"'\"'s.md'"),
        ("findstr /s /i /c:size *.cs", "findstr /c:size /i /s '*.cs'"),
        ('[ -d "web" ]', "'[' -d web ']'"),
    ],
)
def test_what_differs_by_chance_is_named(text: str, normal: str) -> None:
    assert normal_call(parse(text)) == normal
    assert normal_call(parse(normal, Dialect.BASH)) == normal


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ('dir /s /b "C:\\my work\\quay\\src\\*.cs"', "dir /b /s 'src/*.cs'"),
        ("cmd /c 'del /q src\\a.cs'", "del /q src/a.cs"),
        ("ls /c/my/../c/x", "ls C:/my/../c/x"),
        ('ls "/c/My Work/quay/src/"', "ls src"),
        ('Remove-Item "C:\\my work\\quay\\old notes" -Recurse', "Remove-Item -recurse 'old notes'"),
        ("$tmp = 'C:\\keep\\it'\nRemove-Item $tmp -Force", "Remove-Item -force C:/keep/it"),
        ('Remove-Item "$env:TEMP\\x" -Force', "Remove-Item -force {tmp}"),
        (r"rg '\bsize\b' src", r"rg '\bsize\b' src"),
    ],
)
def test_on_windows_paths_and_switches_are_told_apart(text: str, normal: str) -> None:
    assert normal_call(parse(text), ["C:\\my work\\quay"]) == normal


def test_a_patch_is_known_by_the_files_it_changes() -> None:
    body = "*** Begin Patch\n*** Update File: src/a.py\n@@\n-x\n+y\n*** Add File: my b.md\n+z\n"
    for text in (
        f"apply_patch <<'PATCH'\n{body}*** End Patch\nPATCH",
        f"apply_patch '{body}*** End Patch'",
        f"cd web && apply_patch <<'PATCH'\n{body}*** End Patch\nPATCH",
    ):
        script = parse(text)
        assert script.commands[-1].targets == ("src/a.py", "my b.md")
        assert normal_call(script) == "apply_patch src/a.py 'my b.md'"
