"""`hansei init`."""

from __future__ import annotations

import sys
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

import click

from hansei.cli import app, output
from hansei.cli.diagnostics import note
from hansei.cli.output import bold, dim, one_line, plural
from hansei.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hansei.config import Config
    from hansei.ops.hooks import AgentPlan, FilePlan, HookPlan

LEFT_ALONE = 3
"""The exit code where a file could not be changed; the rest was."""


@dataclass(frozen=True)
class Wish:
    """What a person asked for."""

    agents: tuple[str, ...]
    uninstall: bool
    plugin: bool
    statusline: bool


BY_HAND = "docs/guides/mcp.md connects it by hand"
VERBS = {"make": "makes", "edit": "changes", "restore": "restores", "delete": "deletes"}


@click.command(short_help="Make the store and install hooks into your agents.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.option("--dry-run", is_flag=True, help="Show what would change, change nothing.")
@click.option("--uninstall", is_flag=True, help="Take the hooks out again.")
@click.option(
    "--agent",
    "agents",
    multiple=True,
    metavar="NAME[@VERSION]",
    help="This agent only, and the version to assume. May be repeated.",
)
@click.option("--plugin", is_flag=True, help="Also a server to ask and skills, for your agents.")
@click.option("--statusline", is_flag=True, help="Also cost, context and warnings in its line.")
@click.option("--local", is_flag=True, help="Keep this repository's sessions in its own .hansei.")
@click.option("--service", is_flag=True, help="Print units that keep `hansei ingest --watch` up.")
@app.json_option
def command(
    yes: bool,
    dry_run: bool,
    uninstall: bool,
    agents: tuple[str, ...],
    plugin: bool,
    statusline: bool,
    local: bool,
    service: bool,
    as_json: bool,
) -> None:
    """Make the store, and have your agents tell hansei what happens.

    Transcripts do not say which commit a session began at, whether the tree was clean, or which
    instructions were in force. Hooks do. This finds the agents on this machine, shows what it would
    change in their settings, asks, and changes it. Everything else in the settings stays byte for
    byte, and the originals are kept in ~/.hansei/backups.

    --uninstall puts every file back as it was; where one was changed since, only what is ours is
    taken out. Nothing is ever written into a repository.

    --plugin connects `hansei mcp` to your agents and gives them three skills (brief, retro, learn):
    a plug-in for Claude Code, settings and skills for Codex, Cursor and OpenCode. --statusline puts
    cost, context and repeated failures beside your own status line (docs/guides/statusline.md).
    Both stay up to date with every later `hansei init`, and go with --uninstall.

    With --local this repository gets a store of its own, in .hansei, which git ignores; no hooks
    are installed then.

    --service prints a systemd user unit and a launchd agent, and changes nothing.
    """
    alone = sum((local, service, uninstall)) > 1 or (uninstall and (plugin or statusline))
    if alone or ((local or service) and (agents or dry_run or plugin or statusline)):
        raise UsageError("these options exclude each other")
    if service:
        _services(as_json=as_json)
    elif local:
        _local(as_json=as_json)
    else:
        wish = Wish(agents, uninstall=uninstall, plugin=plugin, statusline=statusline)
        _hooks(wish, yes=yes, dry_run=dry_run, as_json=as_json)


def _services(*, as_json: bool) -> None:
    from hansei.ops.service import services

    units = services(app.config().environment)
    if as_json:
        output.write_json("service", units)
        return
    for unit in (units.systemd, units.launchd):
        note(f"{unit.path}, then: {unit.start}")
        output.write(unit.text)


def _local(*, as_json: bool) -> None:
    from hansei.ops.init import init_local

    made = init_local(app.config(), app.folder(), now=app.now())
    if as_json:
        output.write_json("init", made)
        return
    output.write(f"{'The store is' if made.existed else 'Made a store'} in {made.store}.")
    if not made.existed:
        output.write("Next: hansei")


def _hooks(wish: Wish, *, yes: bool, dry_run: bool, as_json: bool) -> None:
    from hansei.ops.init import init

    settings = app.config()
    uninstall = wish.uninstall
    if not (dry_run or uninstall):
        made = init(settings, now=app.now())
        if not made.existed and not as_json:
            output.write(f"Made a store in {made.store}.")
    shown = _planned(settings, wish)
    if not as_json:
        for line in report(shown, uninstall=uninstall):
            output.write(line)
    done = not dry_run and shown.changes > 0
    if done:
        _agree(shown, yes=yes, uninstall=uninstall)
        shown = _planned(settings, wish, now=app.now())
    if as_json:
        document = {"store": str(settings.store), "uninstall": uninstall, "done": done}
        output.write_json("init", {**document, **asdict(shown)})
    elif done or not shown.changes:
        for line in ending(shown, done=done, uninstall=uninstall):
            output.write(line)
    if shown.refused:
        sys.exit(LEFT_ALONE)


def _planned(settings: Config, wish: Wish, *, now: int | None = None) -> HookPlan:
    from hansei.ops.hooks import newest_versions, plan, removal, wanted

    only = [wanted(text) for text in wish.agents]
    if wish.uninstall:
        return removal(settings, only, now=now)
    versions = {}
    if (settings.store / "hansei.db").exists():
        with app.opened(settings, create=False) as store:
            versions = newest_versions(store)
    return plan(settings, only, versions, package=wish.plugin, status_line=wish.statusline, now=now)


def _agree(shown: HookPlan, *, yes: bool, uninstall: bool) -> None:
    if yes:
        return
    if not sys.stdin.isatty():
        again = "hansei init --uninstall --yes" if uninstall else "hansei init --yes"
        raise UsageError(
            "no settings were changed, because there is nobody to ask",
            hint=f"`{again}` does it without asking.",
        )
    question = "Take the hooks out" if uninstall else "Install the hooks"
    click.confirm(f"{question} ({plural(shown.changes, 'file')})?", abort=True, err=True)


def report(shown: HookPlan, *, uninstall: bool) -> Iterator[str]:
    """What was found and what would change, as people read it."""
    absent = [agent.title for agent in shown.agents if agent.state == "not found"]
    for agent in shown.agents:
        if uninstall or agent.state != "not found":
            yield from _agent(agent, uninstall=uninstall)
            yield ""
    if absent and not uninstall:
        yield dim(f"Not found on this machine: {', '.join(absent)}.")
    if shown.without:
        named = ", ".join(shown.without)
        yield dim(f"No hooks to install, but transcripts to read: {named}.")
    if shown.launcher is not None:
        yield bold("The program that the settings name")
        yield from _file(shown.launcher)
    if shown.server is not None:
        yield bold("The program that answers agents")
        yield from _file(shown.server)


def _agent(agent: AgentPlan, *, uninstall: bool) -> Iterator[str]:
    version = f" {one_line(agent.version)}" if agent.version else ""
    basis = dim(f"  known from {one_line(agent.basis)}") if agent.basis else ""
    yield bold(f"{agent.title}{version}") + basis
    if not uninstall:
        yield f"  {_hooks_of(agent)}"
        yield from _package_of(agent)
    if agent.switched_off:
        yield click.style(f"  it runs no hooks: {one_line(agent.switched_off)}", fg="yellow")
    for refusal in agent.refused:
        yield click.style(f"  left alone: {one_line(refusal.message)}", fg="yellow")
        if refusal.hint:
            yield f"  {one_line(refusal.hint)}"
    for file in agent.files:
        yield from _file(file)


def _hooks_of(agent: AgentPlan) -> str:
    if agent.state == "version unknown":
        return (
            "its version is not known, so no hooks are installed;"
            f" `--agent {agent.agent}@VERSION` says which it is"
        )
    if agent.state == "too old":
        return f"it has no hooks that hansei can use; {agent.first} has them"
    known = plural(len(agent.events), "hook")
    without = f", without {', '.join(agent.left_out)} of later versions" if agent.left_out else ""
    there = "" if agent.files or agent.refused else ", all there already"
    return f"{known}{without}{there}"


def _package_of(agent: AgentPlan) -> Iterator[str]:
    if agent.package == "yes":
        yield "  a server to ask and three skills"
    elif agent.package == "too old":
        yield f"  no plug-in: that needs {agent.package_since}; {BY_HAND}"
    elif agent.package == "unknown":
        yield f"  no plug-in: hansei has none for it; {BY_HAND}"


def _file(file: FilePlan) -> Iterator[str]:
    """A file that changes, line by line; one that is ours and goes needs no more than its name."""
    yield f"  {VERBS[file.change]} {one_line(file.path)}"
    colours = {"+": "green", "-": "red", "@": "cyan"}
    for line in file.diff.splitlines() if file.change != "delete" else ():
        yield click.style(f"    {output.safe(line)}", fg=colours.get(line[:1]))


def ending(shown: HookPlan, *, done: bool, uninstall: bool) -> Iterator[str]:
    """What came of it, and what is left to do."""
    if not done:
        yield "Nothing to change." if not shown.refused else "Nothing could be changed."
    elif uninstall:
        yield f"Took the hooks out of {plural(shown.files, 'file')}."
    else:
        yield f"Installed hooks in {plural(shown.files, 'file')}."
    for agent in shown.agents if not uninstall else ():
        if agent.to_do:
            yield f"{bold(agent.title)}: {agent.to_do}."
    if done and not uninstall:
        yield dim("`hansei doctor` says whether they run. `hansei init --uninstall` undoes it all.")
