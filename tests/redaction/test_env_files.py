"""Env files: what shows one, and what of it is kept."""

from __future__ import annotations

import pytest

from hansei.redaction.engine import Redactor, shows_env_file
from hansei.redaction.redactor import PLACEHOLDER

REDACTOR = Redactor(b"a key for tests")


@pytest.mark.parametrize(
    "text",
    [
        ".env",
        "/x/.env.local",
        "/My Files/app/.env.production",
        r"C:\app\.env",
        "config/prod.env",
        ".envrc",
        ".dev.vars",
        "cat .env",
        "cat ./app/.env | head -5",
        "cd app && cat .env",
        "sudo cat /srv/.env",
        "head -n 3 .env.local",
        "grep KEY .env",
        "sed -n '1,5p' .env",
        "git diff .env",
        "bash -lc 'cat .env'",
        "/usr/bin/zsh -lc 'cd app && cat .env'",
        "Get-Content .env",
        "cat > .env <<'EOF'\nA=b\nEOF",
        "python -c \"print(open('.env').read())\"",
        "python - <<'EOF'\nprint(open('.env').read())\nEOF",
        "cat <<'EOF' | sh\ncat .env\nEOF",
        "cat > a.md <<'EOF'\ntext\nEOF\ncat .env",
        "node -e \"console.log(require('fs').readFileSync('.env', 'utf8'))\"",
        "tail -5 .env",
        "less config/.env.production",
        "bat -p .env",
        "perl -ne print .env",
        "jq -R . < .env",
        "cat .env | grep -v '^#' | xargs",
        "find . -name '.env' -exec cat {} +",
        "find . -name '.env*' | grep . && find . -name .env | xargs cat",
        "for f in .env .env.local; do cat $f; done",
        "source .env && env",
        "set -a; . ./.env; printenv",
        "git show HEAD:.env",
        "docker compose config",
        "docker-compose -f a.yml config",
        "docker inspect web",
        ".env*",
        "**/.env*",
        "*.env",
        ".env.{local,production}",
        "echo A=b >> .env",
        "printenv",
        "printenv HOME",
        "env",
        "env | sort",
        "FOO=1 env",
        "export -p",
        "declare -x",
        "set",
        "docker exec web env",
        "kubectl exec pod -- printenv",
        "cat /proc/1/environ",
        "gci env:",
    ],
)
def test_it_shows_an_env_file(text: str) -> None:
    assert shows_env_file(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        ".env.example",
        "/x/.env.sample",
        "cat .env.template",
        "cat .env.local.example",
        "node -e 'console.log(process.env)'",
        "cat src/process.env.ts",
        "src/env.ts",
        "vite-env.d.ts",
        ".env.d.ts",
        "cat venv/bin/activate",
        "python -m venv env",
        "source .env",
        "ls -la .env",
        "test -f .env",
        "rm .env",
        "touch .env",
        "cp .env.example .env",
        "cp .env.example .env && touch .env.local",
        "mv .env .env.bak && ln -s ../.env .env",
        "[ -f .env ] && npm start",
        "if [ -f .env ]; then npm start; fi",
        "find . -name .env",
        "echo .env >> .gitignore",
        "git add .env",
        "git rm --cached .env",
        "git check-ignore .env",
        "chmod 600 .env",
        "cat > README.md <<'EOF'\nThe file .env is read.\nEOF",
        "git commit -m \"$(cat <<'EOF'\nRead .env first\nEOF\n)\"",
        "docker compose up -d",
        "*.example",
        ".env.example*",
        "env FOO=1 python app.py",
        "/usr/bin/env python",
        "export FOO=1",
        "set -e",
        "git checkout env",
        "grep -r process.env src",
        "docker run image",
    ],
)
def test_it_shows_no_env_file(text: str) -> None:
    assert not shows_env_file(text)


LINES = [
    "STRIPE={}",
    "export STRIPE={}",
    'STRIPE="{}"',
    "STRIPE='{}'",
    "stripe.account = {}",
    "    12→STRIPE={}",
    "     1\tSTRIPE={}",
    "12: STRIPE={}",
    ".env:12:STRIPE={}",
    ".env:STRIPE={}",
    "+STRIPE={}",
    "-STRIPE={}",
    "# STRIPE={}",
    "declare -x STRIPE={}",
    "STRIPE={} # the account",
]


@pytest.mark.parametrize("line", LINES)
@pytest.mark.parametrize("value", ["plainword", "two words", "a1b2c3", "me@mail.test", "käse"])
def test_every_value_of_an_env_file_is_a_secret(line: str, value: str) -> None:
    text = f"A=1\n{line.format(value)}\nB=2\n"
    clean = REDACTOR.scrub_env(text)
    (placeholder,) = [match.decode() for match in PLACEHOLDER.findall(clean.encode())]
    assert clean == f"A=1\n{line.format(placeholder)}\nB=2\n"
    assert REDACTOR.scrub(text) == (clean if line.startswith(".env:") else text)


@pytest.mark.parametrize(
    "line",
    [
        "./.env:1:STRIPE={}",
        ".env.local:3:STRIPE={}",
        "app/.env-3-STRIPE={}",
        "/srv/app/prod.env:STRIPE={}",
        ".dev.vars:2:export STRIPE={}",
        ".env:7:STRIPE='{}'",
    ],
)
@pytest.mark.parametrize("separator", ["\n", "\r\n", "\\n"])
def test_a_line_that_begins_with_the_path_of_an_env_file_is_one_of_its_lines(
    line: str, separator: str
) -> None:
    text = separator.join(["a.py:1:x = plainword", line, "b.py:2:STRIPE=plainword"])
    clean = REDACTOR.scrub(text.format("plainword")).encode()
    assert PLACEHOLDER.sub(b"#", clean).decode() == text.format("#")


@pytest.mark.parametrize(
    "line",
    [
        ".env.example:1:STRIPE=plainword",
        ".env:1:PORT=3000",
        ".env:1:# a comment",
        "src/env.ts:1:STRIPE=plainword",
        "see .env:1:STRIPE=plainword",
        "a.py:1:load('.env') or x=plainword",
        "a.env.ts:1:STRIPE=plainword",
    ],
)
def test_other_lines_of_a_search_stay(line: str) -> None:
    assert REDACTOR.scrub(line) is line


@pytest.mark.parametrize(
    "text",
    [
        "services:\n  web:\n    environment:\n      STRIPE: {}\n      PORT: 3000",
        '{{"environment": {{"STRIPE": "{}", "NODE_ENV": "production"}}}}',
        "{{ STRIPE: '{}', PORT: '3000' }}",
        "{{'STRIPE': '{}'}}",
        '"Env": [\n  "STRIPE={}",\n  "PATH=/usr/bin"\n]',
        "<stdout>STRIPE={}\n</stdout>",
        'Result of calling the Read tool: "     1→STRIPE={}\\n     2→PORT=3000"',
    ],
)
def test_programs_write_variables_in_other_ways_too(text: str) -> None:
    clean = REDACTOR.scrub_env(text.format("plainword")).encode()
    assert PLACEHOLDER.sub(b"#", clean).decode() == text.format("#")
    assert REDACTOR.scrub_env(clean.decode()) == clean.decode()


def test_a_value_over_several_lines_is_one_secret() -> None:
    clean = REDACTOR.scrub_env('A=1\nBLOB="first\nsecond\nthird"\nB=2')
    assert PLACEHOLDER.sub(b"#", clean.encode()) == b'A=1\nBLOB="#"\nB=2'


def test_lines_may_be_separated_in_other_ways() -> None:
    for separator in ("\0", "\r\n", "\\n"):
        clean = REDACTOR.scrub_env(separator.join(["ONE=alpha", "TWO=beta"]))
        assert PLACEHOLDER.sub(b"#", clean.encode()).decode() == separator.join(["ONE=#", "TWO=#"])


@pytest.mark.parametrize(
    "line",
    [
        "EMPTY=",
        "EMPTY=  # nothing",
        "FLAG=true",
        "FLAG=off",
        "PORT=3000",
        "RATIO=0.25",
        "NODE_ENV=production",
        "STAGE=staging",
        "LEVEL=debug",
        "PATH=/usr/local/bin:/usr/bin",
        "HOME=/home/me",
        "LC_ALL=en_GB.UTF-8",
        "CACHE=/var/cache/app",
        "API=http://localhost:3000/api",
        "QUEUE=redis://127.0.0.1:6379/0",
        "SITE=https://a.example",
        "OTHER=$HOME",
        "OTHER=${BASE_URL}",
        "KEY=your-key-here",
        "KEY=<key>",
        "# a comment, no assignment",
        "not an assignment",
        "if a == b:",
    ],
)
def test_a_harmless_value_of_an_env_file_stays(line: str) -> None:
    assert REDACTOR.scrub_env(line) is line


def test_of_an_address_with_a_password_only_the_password_is_replaced() -> None:
    clean = REDACTOR.scrub_env("DATABASE=postgres://me:tulip77@db.example/app")
    assert PLACEHOLDER.sub(b"#", clean.encode()) == b"DATABASE=postgres://me:#@db.example/app"


def test_an_address_with_more_than_a_host_is_a_secret() -> None:
    assert "T0/B1" not in REDACTOR.scrub_env("HOOK=https://hooks.example/T0/B1/x")
