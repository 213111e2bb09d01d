"""Bare `hansei`: the one-minute screen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hansei.cli import app, output
from hansei.cli.commands.summary import driver, nothing_measured, removed
from hansei.cli.output import bold, dim, plural

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hansei.ops.status import AgentStatus, Status
    from hansei.ops.summary import Summary


def show_status(*, as_json: bool) -> None:
    """Take in what is new, then say what is here and what to do next."""
    from hansei.ops.status import status

    settings = app.config()
    with app.up_to_date(settings, ingest=True) as store:
        answer = status(store, settings, now=app.now())
    if as_json:
        output.write_json("status", answer)
        return
    for line in nothing(answer) if answer.empty else screen(answer):
        output.write(line)
    if answer.empty:
        from hansei.cli.commands.demo import show_demo

        output.write()
        show_demo()


def nothing(answer: Status) -> Iterator[str]:
    """What to say on a machine without transcripts."""
    yield bold("No transcripts of coding agents were found on this machine.")
    for title, (first, *others) in answer.looked_in.items():
        more = f" and {plural(len(others), 'other place')}" if others else ""
        yield f"  {title:18} {dim(f'looked in {app.from_home(first)}{more}')}"
    yield from output.wrapped(
        "If yours are elsewhere, name the folder in config.toml (`hansei config` says where,"
        " `hansei doctor --json` lists every place):"
    )
    yield dim('  [sources]\n  claude_code = ["/path/to/.claude"]')


def screen(answer: Status) -> Iterator[str]:
    yield bold("hansei · what your coding agents left on this machine")
    yield ""
    for agent in answer.agents:
        yield from _agent(agent)
    yield ""
    facts = {
        "spend": _spend(answer.summary),
        "doubles": removed(answer.summary.removed),
        "unread": _unread(answer),
        "places": _workspaces(answer),
    }
    for name, fact in facts.items():
        yield from output.wrapped(f"{name:8} {fact}", 9)
    yield ""
    yield from _next(answer)


def _spend(answer: Summary) -> str:
    total = answer.total
    if total.total_tokens is None:
        return nothing_measured(answer)
    unpriced = f" + {total.unpriced_requests:,} requests of unknown price"
    return (
        f"{output.tokens(total.total_tokens)} tokens (measured),"
        f" {output.dollars(total.cost_nanodollars)} (derived)"
        f"{unpriced if total.unpriced_requests else ''}"
    )


def _agent(agent: AgentStatus) -> Iterator[str]:
    drivers = ", ".join(f"{n:,} {driver(name)}" for name, n in agent.by_driver.items())
    days = output.span(agent.first_at, agent.last_at).replace(" ", "\xa0")
    yield from output.wrapped(
        f"{agent.title:12} {plural(agent.sessions, 'session')} ({drivers}), {days}", 13
    )
    if agent.expiry is not None:
        left = agent.expiry.after_days - agent.expiry.oldest_days
        when = f"in {plural(left, 'day')}" if left > 0 else "at any time"
        told = (
            f"{'':12} it deletes transcripts after {agent.expiry.after_days} days, the oldest"
            f" {when}; what hansei has read stays"
        )
        yield from map(dim, output.wrapped(told, 13))


def _unread(answer: Status) -> str:
    skipped = sum(agent.skipped for agent in answer.agents)
    unreadable = sum(agent.unreadable for agent in answer.agents)
    if not skipped and not unreadable:
        return "nothing: every record was read"
    return f"{plural(skipped, 'record')} and {plural(unreadable, 'file')}: `hansei doctor` says why"


def _workspaces(answer: Status) -> str:
    names = [f"{output.one_line(name)} ({n})" for name, n in list(answer.workspaces.items())[:4]]
    more = len(answer.workspaces) - len(names)
    return f"{', '.join(names)}{f' and {more} more' if more > 0 else ''}"


def _next(answer: Status) -> Iterator[str]:
    ways = {
        "hansei retro": "in a repository: what to change there",
        "hansei retro --all": "the same, over every repository",
        "hansei summary --all --by repo": "what each repository took",
    }
    for label, (command, words) in zip(("next", "", ""), ways.items(), strict=True):
        first, *rest = output.wrapped(f"{label:8} {command:30}   {words}", 42)
        yield first.replace(command, bold(command), 1)
        yield from rest
    yield from map(
        dim,
        output.wrapped(
            f"{'':8} everything stays on this machine, in {app.from_home(answer.store)}", 9
        ),
    )
