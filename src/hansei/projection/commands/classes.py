"""What a command is for.

A pattern is words: plain ones must begin the command, `*` stands for anything within a word, and
words with a dash must be among its options. The pattern with the most words wins; yours in
`[commands]` of config.toml win over all of these.
"""

from __future__ import annotations

from fnmatch import fnmatchcase
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from hansei.config import CommandClass as Class

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from hansei.projection.commands.arguments import Arguments

SCRIPT_RUNNERS = (
    "npm run",
    "npm run-script",
    "pnpm",
    "pnpm run",
    "yarn",
    "yarn run",
    "bun",
    "bun run",
)
_TARGET_RUNNERS = ("make", "just", "task", "rake", "deno task", "nx", "turbo", "turbo run", "mix",
                   "gradle", "gradlew", "composer", "hatch", "tox", "nox")  # fmt: skip
_NAMES = {
    Class.TEST: (
        "test",
        "tests",
        "test:*",
        "test-*",
        "*:test",
        "e2e*",
        "unit*",
        "coverage",
        "check",
    ),
    Class.BUILD: (
        "build",
        "build:*",
        "build-*",
        "*:build",
        "compile",
        "dist",
        "bundle",
        "assemble",
    ),
    Class.LINT: ("lint", "lint:*", "*:lint", "typecheck", "type-check", "tsc", "types", "clippy"),
    Class.FORMAT: ("format", "format:*", "fmt", "prettier"),
    Class.INSTALL: ("install", "setup", "bootstrap", "deps"),
    Class.RUN: ("start", "dev", "dev:*", "serve", "preview", "run"),
}
"""What people call the scripts and targets of their projects."""

_TABLE = {
    Class.TEST: """
        pytest, py.test, unittest, nose2, tox, nox, jest, vitest, mocha, ava, tap, karma, cypress,
        cypress run, playwright test, npm test, npm t, pnpm test, yarn test, bun test, deno test,
        go test, gotestsum, cargo test, cargo nextest, mvn test, mvn verify, gradle test,
        gradlew test, gradlew check, dotnet test, swift test, flutter test, dart test, rspec,
        minitest, rails test, mix test, phpunit, pest, ctest, sbt test, bazel test, ng test,
        coverage run, behave, bats, xcodebuild test, zig test, node --test, hardhat test,
        forge test, nx test, turbo test
    """,
    Class.BUILD: """
        tsc, make, cmake, ninja, gcc, g++, clang, clang++, cc, rustc, javac, cargo build,
        cargo check, go build, go install, go generate, mvn, mvn compile, mvn package, mvn install,
        gradle, gradlew, gradle build, gradlew build, dotnet build, dotnet publish, swift build,
        vite build, next build, webpack, rollup, esbuild, parcel build, tsup, docker build,
        docker compose build, docker buildx, npm build, pnpm build, yarn build, bun build, uv build,
        python setup.py, poetry build, build, hatch build, maturin, meson, bazel build, sbt compile,
        ng build, xcodebuild, zig build, flutter build, wasm-pack, sphinx-build, mkdocs build,
        latexmk, pdflatex, prisma generate, protoc, buf generate, turbo build, nx build,
        pyinstaller, hardhat compile, forge build
    """,
    Class.LINT: """
        eslint, tslint, stylelint, biome, biome check, biome lint, oxlint, ruff, ruff check, flake8,
        pylint, pyflakes, mypy, pyright, basedpyright, ty, bandit, py_compile, compileall,
        cargo clippy, go vet, golangci-lint, staticcheck, shellcheck, hadolint, markdownlint,
        yamllint, rubocop, tsc --noEmit, vue-tsc, svelte-check, next lint, lint-imports,
        pre-commit run, actionlint, swiftlint, ktlint, checkstyle, phpstan, psalm, credo, buf lint,
        terraform validate, helm lint, node --check, bash -n, php -l, ansible-lint
    """,
    Class.FORMAT: """
        prettier, black, isort, ruff format, gofmt, goimports, go fmt, cargo fmt, rustfmt,
        clang-format, biome format, dprint, shfmt, autopep8, yapf, mix format, terraform fmt,
        dart format, swift-format, scalafmt, google-java-format, ruff check --fix
    """,
    Class.INSTALL: """
        npm install, npm i, npm ci, npm add, npm uninstall, npm update, pnpm install, pnpm i,
        pnpm add, pnpm remove, yarn, yarn install, yarn add, yarn remove, bun install, bun add,
        pip install, pip3 install, pip uninstall, uv pip install, uv sync, uv add, uv remove,
        uv lock, uv venv, uv tool install, poetry install, poetry add, pipenv install, pdm install,
        conda install, conda create, pipx install, venv, virtualenv, apt install, apt-get install,
        apt update, apt-get update, apk add, dnf install, yum install, brew install, winget install,
        choco install, scoop install, cargo install, cargo add, cargo fetch, go get, go mod,
        gem install, bundle, bundle install, composer install, composer require, mix deps.get,
        dotnet restore, dotnet add, rustup, nvm, corepack, playwright install,
        flutter pub, dart pub, ensurepip
    """,
    Class.RUN: """
        python, node, tsx, ts-node, deno, deno run, bun, bun run, ruby, perl, php, java, bash, sh,
        zsh, pwsh, powershell, cargo run, go run, dotnet run, npm start, npm run, pnpm run,
        yarn run, pnpm start, yarn start, uvicorn, gunicorn, flask, flask run, next dev,
        next start, vite, vite dev, vite preview, nodemon, docker run, docker compose up,
        docker start, docker exec, docker compose exec, docker compose run, rails server, mix run,
        http.server, streamlit, jupyter, electron, swift run, flutter run, Start-Process,
        cargo bench, osascript
    """,
    Class.GIT: "git, gh, glab, hub, git-lfs, tig, jj",
    Class.SEARCH: """
        rg, grep, egrep, fgrep, ag, ack, find, fd, fdfind, locate, git grep, Select-String, findstr,
        ast-grep, sg, fzf, ls, tree, exa, eza, dir, Get-ChildItem, which, where, whereis,
        Get-Command, git ls-files, rg --files, mdfind, zgrep
    """,
    Class.READ: """
        cat, head, tail, less, more, nl, bat, sed, awk, wc, od, xxd, hexdump, strings, Get-Content,
        type, stat, file, jq, yq, diff, cmp, cut, sort, uniq, tac, zcat, column, du, df, realpath,
        readlink, md5sum, sha256sum, shasum, Get-Item, Measure-Object, pdftotext
    """,
}


class _Rule(NamedTuple):
    words: tuple[str, ...]
    flags: frozenset[str]
    kind: Class


def classify(arguments: Arguments, own: Mapping[str, Class] | None = None) -> Class:
    """What a command is for; `own` are patterns that win over the ones we know."""
    subcommand = arguments.subcommand.split() if arguments.subcommand else ()
    plain = (
        arguments.program, *subcommand, *[target.text for target in arguments.targets[:2]]
    )  # fmt: skip
    flags = {option.name for option in arguments.options}
    if own:
        found = _best(_rules(tuple(own.items())), plain, flags)
        if found is not None:
            return found
    found = _best(_known().get(arguments.program, ()), plain, flags)
    if found is None and _is_file(arguments):
        return Class.RUN
    return found or Class.OTHER


def _is_file(arguments: Arguments) -> bool:
    """Whether what is run is a file that lies about, rather than an installed program."""
    spelled = arguments.words[0].text if arguments.words else ""
    return spelled.startswith(("./", "../")) or spelled.endswith(
        (".sh", ".py", ".js", ".mjs", ".ts", ".rb", ".pl", ".ps1")
    )


def _best(rules: Iterable[_Rule], plain: tuple[str, ...], flags: set[str]) -> Class | None:
    size, kind = 0, None
    for rule in rules:
        wanted = len(rule.words) + len(rule.flags)
        if wanted > size and rule.flags <= flags and _begins(plain, rule.words):
            size, kind = wanted, rule.kind
    return kind


def _begins(plain: tuple[str, ...], pattern: tuple[str, ...]) -> bool:
    return len(plain) >= len(pattern) and all(
        word == wanted or ("*" in wanted and fnmatchcase(word, wanted))
        for word, wanted in zip(plain, pattern, strict=False)
    )


@lru_cache(maxsize=1)
def _known() -> dict[str, list[_Rule]]:
    """Our own rules by program, so that a command is compared with few."""
    patterns = [
        (" ".join(pattern.split()), kind)
        for kind, listed in _TABLE.items()
        for pattern in listed.split(",")
    ]
    patterns += [
        (f"{runner} {name}", kind)
        for runner in (*SCRIPT_RUNNERS, *_TARGET_RUNNERS)
        for kind, names in _NAMES.items()
        for name in names
    ]
    known: dict[str, list[_Rule]] = {}
    for rule in _rules(tuple(patterns)):
        known.setdefault(rule.words[0], []).append(rule)
    return known


@lru_cache(maxsize=8)
def _rules(patterns: tuple[tuple[str, Class], ...]) -> tuple[_Rule, ...]:
    return tuple(
        _Rule(
            tuple(word for word in pattern.split() if not word.startswith("-")),
            frozenset(word for word in pattern.split() if word.startswith("-")),
            kind,
        )
        for pattern, kind in patterns
    )
