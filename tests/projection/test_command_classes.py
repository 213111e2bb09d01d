"""What a command is for."""

from __future__ import annotations

from pathlib import Path

import pytest

from hansei.config import parse_settings
from hansei.errors import ConfigError
from hansei.projection.commands.model import Class
from hansei.projection.commands.parsing import parse

EXAMPLES = {
    Class.TEST: [
        "pytest -q",
        "python -m pytest",
        "npm test",
        "npm run test:unit",
        "pnpm -r test",
        "go test ./...",
        "cargo test -p core",
        "npx vitest run",
        "make test",
        "./gradlew test",
        "dotnet test",
        "uv run pytest",
        "yarn test --watch=false",
        "python -m unittest",
        "just test",
        "make check",
    ],
    Class.BUILD: [
        "npm run build",
        "make",
        "make -C lib all",
        "cargo build --release",
        "go build ./...",
        "tsc -p .",
        "docker build -t app .",
        "docker compose build",
        "mvn package",
        "vite build",
    ],
    Class.LINT: [
        "eslint src",
        "npx tsc --noEmit",
        "ruff check .",
        "mypy src",
        "cargo clippy",
        "go vet ./...",
        "npm run lint",
        "python -m py_compile a.py",
        "pnpm typecheck",
    ],
    Class.FORMAT: [
        "prettier --write .",
        "ruff format",
        "gofmt -w a.go",
        "cargo fmt",
        "npm run format",
    ],
    Class.INSTALL: [
        "npm ci",
        "pip install -r requirements.txt",
        "python -m pip install x",
        "uv sync",
        "yarn",
        "sudo apt-get install -y jq",
        "brew install jq",
        "python -m venv .venv",
        "go mod tidy",
    ],
    Class.RUN: [
        "python scripts/a.py",
        "node server.js",
        "./run.sh",
        "./serve",
        "npm start",
        "npm run dev",
        "cargo run",
        "python -m app.cli",
        "docker compose up -d",
        "bash deploy.sh",
    ],
    Class.GIT: ["git status", "git -C web push", "gh pr create --title x"],
    Class.SEARCH: [
        "rg foo",
        "grep -rn foo src",
        "find . -name a",
        "ls -la",
        "git grep foo",
        "tree -L 2",
    ],
    Class.READ: ["cat a", "sed -n 1,5p a", "head -5 a", "wc -l a", "jq . a.json", "nl a"],
    Class.OTHER: [
        "cd web",
        "echo hi",
        "mkdir -p a",
        "cat > a.txt << E\nhi\nE",
        "sed -i s/a/b/ a",
        "frobnicate now",
    ],
}


@pytest.mark.parametrize(
    ("text", "kind"), [(text, kind) for kind, texts in EXAMPLES.items() for text in texts]
)
def test_a_command_is_for_what_people_use_it_for(text: str, kind: Class) -> None:
    assert parse(text).commands[-1].kind is kind


def test_patterns_of_your_own_win() -> None:
    own = {"just verify*": Class.TEST, "make --dry-run": Class.READ, "deploy": Class.RUN}
    assert parse("just verify-all", own=own).commands[0].kind is Class.TEST
    assert parse("just other", own=own).commands[0].kind is Class.OTHER
    assert parse("make test --dry-run", own=own).commands[0].kind is Class.READ
    assert parse("make test", own=own).commands[0].kind is Class.TEST
    assert parse("./bin/deploy prod", own=own).commands[0].kind is Class.RUN


def test_config_says_what_your_commands_are_for() -> None:
    settings = parse_settings(b'[commands]\n"just verify*" = "test"\n', Path("config.toml"))
    assert parse("just verify", own=settings.commands).commands[0].kind is Class.TEST


@pytest.mark.parametrize(
    "line", ['"just" = "testing"', '"" = "test"', '"--flag" = "test"', "x = 1"]
)
def test_config_refuses_what_it_cannot_mean(line: str) -> None:
    with pytest.raises(ConfigError, match="commands"):
        parse_settings(f"[commands]\n{line}\n".encode(), Path("config.toml"))
