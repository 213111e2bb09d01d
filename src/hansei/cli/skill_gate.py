"""`hansei skills promote` and `hansei skills check`: what people see of the gate."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from hansei.cli import app, output
from hansei.cli.output import bold, dim, one_line
from hansei.cli.skill_desk import because, desk_here, no_place, say
from hansei.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from hansei.learn.checks import Finding
    from hansei.ops.promotion import Promotion
    from hansei.ops.skill_checks import Checked

COLOURS = {"stop": "red", "caution": "yellow"}
MOST_FINDINGS = 40
"""Shown before the rest is only counted; --json tells all."""


@click.command("promote", short_help="Let a skill out of quarantine.")
@click.argument("names", metavar="NAME...", nargs=-1, required=True)
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.option(
    "--allow", "allowed", multiple=True, metavar="RULE", help="Let it pass a rule that stops it."
)
@because
@no_place
@app.json_option
def promote(
    names: tuple[str, ...],
    yes: bool,
    allowed: tuple[str, ...],
    reason: str,
    place: bool,
    as_json: bool,
) -> None:
    """See whose words a skill holds and what would change, and make a draft of it if it is right.

    Its words come from a place that is not to be trusted by itself, or nobody typed them and too
    few sessions came to them, or its file was changed since it was promoted. Where the words first
    stood, the difference to what agents have now and what the checks found is shown first. What you
    agree to is pinned by its hash: changed afterwards, it is not used until you promote it again.
    """
    from hansei.ops import promotion, skill_checks

    if as_json and not yes:
        raise UsageError("--json cannot ask", hint="Add --yes to do it.")
    if as_json and len(names) > 1:
        raise UsageError("--json tells of one skill at a time")
    skill_checks.must_know(allowed)
    with desk_here() as desk:
        for name in names:
            shown = promotion.shown(desk, name)
            _show_and_ask(shown, allowed, yes=yes, as_json=as_json)
            done = promotion.promote(desk, shown, allowed=allowed, reason=reason, place=place)
            say(done, as_json=as_json)
            if not as_json:
                output.write(dim(f"Pinned as sha256 {shown.pin[:16]}."))


def _show_and_ask(shown: Promotion, allowed: Sequence[str], *, yes: bool, as_json: bool) -> None:
    from hansei.cli.commands.apply import agree

    if not as_json:
        for line in page(shown):
            output.write(line)
        output.write()
    if set(shown.stopping) <= set(allowed):
        again = f"hansei skills promote {shown.skill.name} --yes"
        agree("May agents follow this?", again, yes=yes)


def page(shown: Promotion) -> Iterator[str]:
    """All that a person needs to decide."""
    skill = shown.skill
    yield bold(skill.name) + f" · {shown.shelf.kind} book · version {skill.version}"
    yield from output.wrapped(f"It waits: {one_line(shown.why)}.")
    yield ""
    yield bold("Where its words first stood")
    if not shown.origins:
        yield dim("  No event is known.")
    for it in shown.origins:
        place = f"{it.evidence.session}#{it.evidence.event}"
        yield f"  {it.evidence.label}  {dim(one_line(f'hansei show {place}'))}"
        text = "not in this store any more" if it.excerpt is None else f"“{one_line(it.excerpt)}”"
        yield from output.wrapped(f"    {text}", 4)
    if shown.more:
        yield dim(f"  {output.plural(shown.more, 'event')} more: `hansei skills why {skill.name}`")
    yield ""
    yield bold("What agents would have")
    yield from map(_coloured, shown.difference)
    if shown.findings:
        yield ""
        yield bold("What the checks found")
        yield from _listed(shown.findings)


def _coloured(line: str) -> str:
    colour = {"+": "green", "-": "red", "@": "cyan"}.get(line[:1])
    return click.style(output.safe(line), fg=colour)


def _listed(found: Sequence[Finding]) -> Iterator[str]:
    ordered = sorted(found, key=lambda it: (it.severity != "stop", it.file, it.line, it.rule))
    for it in ordered[:MOST_FINDINGS]:
        word = click.style(str(it.severity), fg=COLOURS[it.severity])
        yield f"  {word} {one_line(it.file)}:{it.line} {bold(it.rule)}: {one_line(it.message)}"
        if it.span:
            yield dim(f"      {output.cut(one_line(it.span), output.terminal_width() - 6)}")
    if len(ordered) > MOST_FINDINGS:
        yield dim(f"  {len(ordered) - MOST_FINDINGS:,} more; --json tells all")


@click.command("check", short_help="What in skills a person should see first.")
@click.argument("what", metavar="[PATH|NAME]", required=False)
@app.json_option
def check(what: str | None, as_json: bool) -> None:
    """Look through a skill folder, a file or a skill of the book, and name what speaks against it.

    \b
      hansei skills check                      every skill in force here
      hansei skills check ~/Downloads/skills   folders with SKILL.md, scripts and other files
      hansei skills check NAME                 one skill of the book

    Every finding has its file, line and rule. *stop* keeps a skill in quarantine until a person
    allows the rule by its name (`hansei skills promote NAME --allow RULE`), and the exit code is 1;
    *caution* is what ordinary skills do too. docs/reference/skill-checks.md lists the rules.
    """
    from hansei.ops.skill_checks import check as look

    with desk_here() as desk:
        told = look(desk, what)
    stops = sum(it.severity == "stop" for it in told.findings)
    if as_json:
        output.write_json("skill-check", _plain(told, stops))
    else:
        _write(told, stops)
    if stops:
        sys.exit(1)


def _write(told: Checked, stops: int) -> None:
    for line in _listed(told.findings):
        output.write(line)
    for name in told.unread:
        output.write(dim(f"  not read: {one_line(name)}"))
    looked = output.plural(told.skills, "skill")
    files = f" in {output.plural(told.files, 'file')}" if told.files else ""
    cautions = len(told.findings) - stops
    output.write(
        f"{one_line(told.what)}: {looked}{files}, {output.plural(stops, 'stop')},"
        f" {output.plural(cautions, 'caution')}."
    )


def _plain(told: Checked, stops: int) -> dict[str, Any]:
    return {
        "what": told.what,
        "skills": told.skills,
        "files": told.files,
        "unread": list(told.unread),
        "stops": stops,
        "findings": [it._asdict() for it in told.findings],
    }
