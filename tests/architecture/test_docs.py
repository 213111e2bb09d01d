"""What is not documented does not exist."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import click

from hansei import plugins
from hansei.cli.main import COMMANDS
from hansei.cli.root import root

ROOT = Path(__file__).parents[2]


def test_the_reference_says_what_the_code_does() -> None:
    done = subprocess.run(
        [sys.executable, "tools/reference.py", "--check"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout


def test_every_agent_has_a_page_about_its_format() -> None:
    for agent in plugins.builtin_names("hansei.sources.agents"):
        assert (ROOT / "docs" / "formats" / f"{agent}.md").is_file()


def test_every_command_says_the_same_in_the_list_and_in_its_own_help() -> None:
    context = click.Context(root)
    for name, line in COMMANDS.items():
        command = root.get_command(context, name)
        assert command is not None
        assert command.short_help == line


def test_links_between_pages_lead_somewhere() -> None:
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), ROOT / "tests/README.md"]
    link = re.compile(r"\]\(([^)#:]+)(?:#[^)]*)?\)")
    broken = [
        f"{page.relative_to(ROOT)} → {target}"
        for page in pages
        for target in link.findall(page.read_text(encoding="utf-8"))
        if not (page.parent / target).exists()
    ]
    assert broken == []


FENCE = re.compile(r"^\s*```")
TYPED = re.compile(r"^\s*(?:\$ )?(?:[^`#]*\| |\w+=\S+ )?(hansei(?: [\w-].*)?)$")
QUOTED = re.compile(r"`(hansei(?: [^`]*)?)`")
ASIDE = re.compile(r"\s(?:#|\||>|&&|;|\s).*| …$|\.\.\.$")
"""What follows a command: a comment, another command, or what an example says about it."""


def commands_of(page: Path) -> Iterator[tuple[int, str]]:
    """Every `hansei …` that a page tells people to type, with its line."""
    fenced = False
    for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
        if FENCE.match(line):
            fenced = not fenced
        elif fenced and (typed := TYPED.match(line)) and ". " not in line:  # no sentence
            yield number, typed[1]
        else:
            yield from ((number, quoted) for quoted in QUOTED.findall(line))


def refused(command: str) -> str | None:
    """Why the command line cannot be meant; arguments may be missing, values be placeholders."""
    words = shlex.split(ASIDE.sub("", command))[1:]
    current: click.Command = root
    context = click.Context(root)
    while isinstance(current, click.Group) and words and not words[0].startswith("-"):
        below = current.get_command(context, words[0])
        if words[0].isupper():  # a placeholder
            return None
        if below is None:
            return f"there is no {words[0]}"
        current, context, words = below, click.Context(below, parent=context), words[1:]
    try:
        current.make_parser(context).parse_args(args=words)
    except click.NoSuchOption as problem:
        return problem.format_message()
    except click.BadOptionUsage:  # named without its value
        return None
    return None


def test_commands_in_the_pages_can_be_typed() -> None:
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
    told = [(page, *it) for page in pages for it in commands_of(page)]
    assert len(told) > 300, "the pages are read"
    wrong = [
        f"{page.relative_to(ROOT)}:{line} {command}: {why}"
        for page, line, command in told
        if (why := refused(command))
    ]
    assert wrong == []


def test_commands_that_messages_name_can_be_typed() -> None:
    files = sorted((ROOT / "src").rglob("*.py"))
    told = [
        (file, command)
        for file in files
        for command in QUOTED.findall(file.read_text(encoding="utf-8"))
        if not set('{"\n\\') & set(command)  # made when it is said, or told over several lines
    ]
    assert len(told) > 150, "the sources are read"
    wrong = [f"{file.relative_to(ROOT)} {it}: {why}" for file, it in told if (why := refused(it))]
    assert wrong == []


def test_a_command_that_is_not_there_would_be_seen() -> None:
    assert refused("hansei nonsense") == "there is no nonsense"
    assert refused("hansei exp nonsense") == "there is no nonsense"
    assert (refused("hansei retro --nonsense 1 | head") or "").startswith("No such option")
    assert refused("hansei show SESSION#EVENT  # opens one") is None


def test_the_pages_for_newcomers_name_every_folder() -> None:
    folders = {it.parent.name for it in (ROOT / "src/hansei").glob("*/__init__.py")}
    for page in ("docs/design/architecture.md", "AGENTS.md"):
        words = set(re.findall(r"\w+", (ROOT / page).read_text(encoding="utf-8")))
        assert folders - words == set(), page


def test_every_dependency_argues_for_itself() -> None:
    needed = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    page = (ROOT / "docs/design/dependencies.md").read_text(encoding="utf-8")
    names = {re.split(r"[<>=!~;\[ ]", it)[0] for it in needed["dependencies"]}
    grammars = {it for it in names if it.startswith("tree-sitter-")}
    assert [it for it in sorted(names - grammars) if f"| {it} |" not in page] == []
    assert [it for it in sorted(grammars) if it.removeprefix("tree-sitter") not in page] == []


def test_instructions_for_agents_stay_short() -> None:
    assert (ROOT / "AGENTS.md").read_text(encoding="utf-8").count("\n") <= 60
