"""`hansei doctor`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from hansei.cli import app, output
from hansei.cli.output import Column, bold, dim, plural, size
from hansei.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hansei.ops.certify import Certificate, Verdict
    from hansei.ops.doctor import (
        AgentHealth,
        FactsHealth,
        Health,
        SkillsHealth,
        StoreHealth,
    )
    from hansei.ops.hook_health import AgentHooks, Hooks
    from hansei.ops.spool_health import SpoolHealth

MOST_LISTED = 10


@click.command(short_help="What was found where, and what could not be read.")
@click.option("--rebuild", is_flag=True, help="Make a damaged database anew from what is left.")
@click.option("--certify", is_flag=True, help="Count cases whose true totals are known.")
@app.ingest_option
@app.json_option
def command(rebuild: bool, certify: bool, ingest: bool, as_json: bool) -> None:
    """Say what was found where, what could not be read, and what was not understood.

    --rebuild keeps a damaged database aside, reads the sealed history in cold/ back, and takes in
    every transcript that is still there. Nothing is deleted.

    --certify looks at none of that: it counts the small histories that come with hansei and
    compares with their true totals. It ends with 1 if one is not exact.
    """
    from hansei.ops.doctor import doctor

    if certify and rebuild:
        raise UsageError("--certify and --rebuild exclude each other")
    if certify:
        _certify(as_json=as_json)
        return
    settings = app.config()
    if rebuild:
        from hansei.ops.rebuild import rebuild as make_anew

        made = make_anew(settings, now=app.now())
        output.write(
            f"Made the database anew: {plural(made.events, 'sealed event')} from"
            f" {plural(made.files, 'file')}. The old one is {made.kept_as or 'gone'}."
        )
    with app.up_to_date(settings, ingest=ingest) as store:
        health = doctor(store, settings, now=app.now())
    if as_json:
        output.write_json("doctor", health)
        return
    for line in report(health):
        output.write(line)


def _certify(*, as_json: bool) -> None:
    from hansei.ops.certify import certify

    certificate = certify()
    if as_json:
        output.write_json("certificate", certificate)
    else:
        for line in results(certificate):
            output.write(line)
    if certificate.exact < certificate.cases:
        sys.exit(1)


def results(certificate: Certificate) -> Iterator[str]:
    """The certificate as people read it."""
    columns = [
        Column("case", align="left"),
        Column("tokens"),
        Column("hansei"),
        Column("a naive reader"),
        Column("verdict", align="left"),
    ]
    yield from output.table(
        columns,
        [
            (
                row.case,
                f"{row.tokens:,}",
                "–" if row.counted is None else f"{row.counted:,}",
                f"{row.naive:,}",
                _verdict(row.verdict),
            )
            for row in certificate.rows
        ],
    )
    for row in certificate.rows:
        for difference in row.differences:
            yield click.style(f"! {row.case}, {difference}", fg="yellow")
    yield bold(f"{certificate.exact} of {certificate.cases} exact")


def _verdict(verdict: Verdict) -> str:
    colours = {"ok": "green", "differs": "red", "not read": "yellow"}
    return click.style(verdict, fg=colours[verdict])


def report(health: Health) -> Iterator[str]:
    """The examination as people read it."""
    absent = [agent for agent in health.agents if _is_absent(agent)]
    for agent in health.agents:
        if agent not in absent:
            yield from _agent(agent)
            yield ""
    if absent:
        yield bold("Looked for and not found")
        yield from map(_place, absent)
        yield ""
    if health.hooks.agents:
        yield from _hooks(health.hooks)
        yield ""
    if health.spool.bytes or health.spool.agents:
        yield from _spool(health.spool)
        yield ""
    yield from _store(health.store)
    yield from _facts(health.facts)
    yield from _skills(health.skills)
    for text in health.warnings:
        yield from (click.style(line, fg="yellow") for line in output.wrapped(f"! {text}", 2))


def _facts(facts: FactsHealth) -> Iterator[str]:
    for session, fault in list(facts.failed.items())[:MOST_LISTED]:
        told = output.one_line(f"{session}: {fault}")
        yield click.style(f"  facts not worked out, a fault of hansei: {told}", fg="yellow")
    if len(facts.failed) > MOST_LISTED:
        yield f"  and {len(facts.failed) - MOST_LISTED} more; `hansei doctor --json` lists them"


def _skills(skills: SkillsHealth) -> Iterator[str]:
    if not skills.books:
        return
    books = output.plural(skills.books, "book")
    yield bold("Skills") + f" · {output.plural(skills.skills, 'skill')} in {books}"
    told = [
        *(f"cannot be read: {it}" for it in skills.broken),
        *(f"not used, {it}" for it in skills.tampered),
        *(f"changed where agents read it, {it}" for it in skills.edited),
    ]
    for line in told[:MOST_LISTED]:
        yield click.style(f"! {output.one_line(line)}", fg="yellow")
    if len(told) > MOST_LISTED:
        yield f"  and {len(told) - MOST_LISTED} more; `hansei doctor --json` lists them"


def _is_absent(agent: AgentHealth) -> bool:
    return not agent.transcripts and not any(folder.exists for folder in agent.folders)


def _place(agent: AgentHealth) -> str:
    """Where an agent that is not here was looked for: the usual place, and how many others."""
    first = output.one_line(app.from_home(agent.folders[0].path))
    others = len(agent.folders) - 1
    more = f" and {plural(others, 'other place')}" if others else ""
    return f"  {agent.title}  {dim(first + more)}"


def _agent(agent: AgentHealth) -> Iterator[str]:
    yield bold(agent.title)
    for folder in agent.folders:
        shut = click.style("cannot be read", fg="yellow")
        if folder.exists:
            path = output.one_line(app.from_home(folder.path))
            yield f"  {'found' if folder.readable else shut}  {path}"
    if not agent.transcripts:
        return
    told = (
        f"  {plural(agent.transcripts, 'transcript')}, {size(agent.bytes)},"
        f" {plural(agent.records, 'record')} → {plural(agent.sessions, 'session')},"
        f" {plural(agent.events, 'event')} · tokens {agent.tokens}"
    )
    yield from output.wrapped(told, 4)
    if agent.missing:
        yield f"  {plural(agent.missing, 'transcript')} no longer on disk: what they told is kept"
    if agent.waiting:
        count, first = len(agent.waiting), output.one_line(agent.waiting[0])
        yield f"  {plural(count, 'transcript')} with a last line that is not finished: {first}"
    if agent.rewritten:
        yield f"  {plural(agent.rewritten, 'rewritten file')} read again from the beginning"
    yield from _unread(agent)
    yield from _expiry(agent)
    versions = [
        f"{output.one_line(version)} ({count})" for version, count in agent.versions.items()
    ]
    shown = ", ".join(versions[-MOST_LISTED:])
    more = f" and {len(versions) - MOST_LISTED} older" if len(versions) > MOST_LISTED else ""
    if versions:
        yield from map(dim, output.wrapped(f"  versions, with sessions: {shown}{more}", 4))


def _unread(agent: AgentHealth) -> Iterator[str]:
    if not (agent.unreadable or agent.skipped or agent.unrecognised):
        yield "  every record was read"
    for path, reason in list(agent.unreadable.items())[:MOST_LISTED]:
        yield click.style(f"  not read: {output.one_line(f'{path}: {reason}')}", fg="yellow")
    for skipped in agent.skipped:
        told = output.one_line(f"{skipped.reason}: {', '.join(skipped.examples)}")
        yield click.style(f"  skipped {skipped.records:,} × {told}", fg="yellow")
    for kind, count in agent.unrecognised.items():
        yield click.style(f"  not recognised {count:,} × {output.one_line(kind)}", fg="yellow")


def _expiry(agent: AgentHealth) -> Iterator[str]:
    if agent.expiry is not None:
        soon = agent.expiry.at_risk_within_week
        told = (
            f"  the agent deletes transcripts after {agent.expiry.after_days} days: the oldest is"
            f" {agent.expiry.oldest_days} days old, {plural(soon, 'goes', 'go')} within a week"
        )
        yield from output.wrapped(told, 4)


def _hooks(hooks: Hooks) -> Iterator[str]:
    yield bold("Hooks")
    for agent in hooks.agents:
        yield f"  {agent.title}: {_ran(agent)}"
        if agent.installed and agent.missing:
            yield f"    not for {', '.join(agent.missing)}: `hansei init` adds them"
        for text in agent.faults:
            yield click.style(f"    {output.one_line(text)}", fg="yellow")
        if agent.to_do and agent.last_run is None:
            yield click.style(f"    to do: {agent.to_do}", fg="yellow")
    if hooks.launcher_fault:
        told = output.one_line(f"{hooks.launcher} {hooks.launcher_fault}")
        yield click.style(f"  {told}; `hansei init` makes it anew", fg="yellow")


def _ran(agent: AgentHooks) -> str:
    """Whether an agent's hooks really run, as far as we can tell."""
    if not agent.installed:
        return dim("none installed (`hansei init` shows what it would do)")
    there = f"{plural(len(agent.installed), 'hook')} in {output.one_line(', '.join(agent.files))}"
    if agent.last_run is not None:
        return f"{there}, last ran {output.minute(agent.last_run)}"
    if agent.sessions_since:
        since = plural(agent.sessions_since, "session")
        return f"{there}, " + click.style(f"never ran, though {since} began since", fg="yellow")
    return f"{there}, never ran: no session began since they were installed"


def _spool(spool: SpoolHealth) -> Iterator[str]:
    yield bold("What hooks told")
    waiting = ", not all taken in yet" if spool.waiting else ""
    yield f"  {output.one_line(spool.path)}  {size(spool.bytes)}{waiting}"
    if spool.full:
        yield click.style("  full: hooks record nothing until `hansei ingest` ran", fg="red")
    for agent in spool.agents:
        last = "not lately" if agent.last_at is None else output.minute(agent.last_at)
        yield f"  {output.one_line(agent.agent)}: {plural(agent.calls, 'call')}, last {last}"
    for skipped in spool.skipped:
        told = output.one_line(f"{skipped.reason}: {', '.join(skipped.examples)}")
        yield click.style(f"  skipped {skipped.records:,} × {told}", fg="yellow")
    for it in spool.disagreements[:MOST_LISTED]:
        told = output.one_line(f"{it.item} was delivered to {it.session}, but {it.what}")
        yield click.style(f"  {told}", fg="yellow")


def _store(store: StoreHealth) -> Iterator[str]:
    yield bold("Store")
    yield f"  {app.from_home(store.folder)}"
    told = (
        f"  {plural(store.hot_events, 'recent event')} in {size(store.database_bytes)} of SQLite,"
        f" {store.sealed_events:,} sealed in {plural(store.sealed_files, 'Parquet file')}"
        f" ({size(store.sealed_bytes)})"
    )
    yield from output.wrapped(told, 4)
    for path in store.sealed_missing:
        yield click.style(f"  lost: {path}", fg="red")
    if store.damage:
        yield click.style(f"  damaged: {store.damage}", fg="red")
    elif not store.sealed_missing:
        yield "  sound"
