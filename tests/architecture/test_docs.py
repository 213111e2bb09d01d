"""What is not documented does not exist."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from hansei import plugins
from hansei.cli.main import COMMANDS

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
    import click

    from hansei.cli.root import root

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


def test_instructions_for_agents_stay_short() -> None:
    assert (ROOT / "AGENTS.md").read_text(encoding="utf-8").count("\n") <= 60
