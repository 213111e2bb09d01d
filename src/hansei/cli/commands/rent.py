"""`hansei rent`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from hansei.cli import app, output
from hansei.cli.output import bold, dim, one_line
from hansei.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hansei.ops.rent import Place, Rent, Rented, RentLine

OVER_BUDGET = 1
DEAREST = 10
"""Lines that are named without being asked for all."""
PAIRS = 10
_WEEKLY = output.Column("a week")
"""The first column that only sessions can fill."""
LONGEST = 60
"""Letters of a sentence in a list."""


@click.command(short_help="What instructions, rules, skills and servers cost, line by line.")
@click.option("--all", "everywhere", is_flag=True, help="Every repository on this machine.")
@click.option("--since", metavar="WHEN", help="Count requests from then on: 7d, 2026-11-01 …")
@click.option(
    "--budget", type=click.IntRange(min=0), metavar="N", help="Tokens a session may take."
)
@click.option("--check", is_flag=True, help="With --budget: exit 1 if this repository takes more.")
@click.option("-n", "--limit", type=int, default=DEAREST, help="How many lines; 0 for all.")
@app.ingest_option
@app.json_option
def command(
    everywhere: bool,
    since: str | None,
    budget: int | None,
    check: bool,
    limit: int,
    ingest: bool,
    as_json: bool,
) -> None:
    """What stands in every session here, what that costs, and when it was last of use.

    \b
      hansei rent                           every file, rule, skill and server, the dearest lines
      hansei rent -n 0                      every line
      hansei rent --budget 2000 --check     for CI: exit 1 if a session takes more

    Files are read as they are on disk now. Also named: sentences that stand in several places, and
    those of which one forbids what the other asks for.

    --check looks at the files of this repository alone, so it gives the same answer on every
    machine; it needs no transcripts and no store.
    """
    if check and budget is None:
        raise UsageError("--check needs a --budget", hint="For example --budget 2000.")
    if check and (everywhere or since):
        raise UsageError("--check is about the files of this repository alone")
    found = _checked() if check else _counted(since, everywhere=everywhere, ingest=ingest)
    if as_json:
        output.write_json("rent", _told(found, budget))
    else:
        for number, it in enumerate(found):
            if number:
                output.write()
            for line in report(it, budget, limit):
                output.write(line)
        if not found:
            output.write("No repository of which there are sessions is on this machine.")
    if check and any(_is_over(it, budget) for it in found):
        sys.exit(OVER_BUDGET)


def _checked() -> list[Rent]:
    from hansei.ops.rent import inventory

    return [inventory(app.folder())]


def _counted(since: str | None, *, everywhere: bool, ingest: bool) -> list[Rent]:
    from hansei.ops.rent import rent, rents

    settings = app.config()
    with app.up_to_date(settings, ingest=ingest) as store:
        wanted = dict.fromkeys(("workspace", "until", "agent", "driver"))
        scope = app.scope(store, {**wanted, "everywhere": everywhere, "since": since})
        app.with_facts(store, settings, scope)
        if everywhere:
            return rents(store, settings, scope)
        return [rent(store, settings, scope, app.folder())]


def _is_over(rent: Rent, budget: int | None) -> bool:
    return budget is not None and rent.most > budget


def _told(found: list[Rent], budget: int | None) -> dict[str, Any]:
    from hansei.ops.rent import RULES

    over = None if budget is None else any(_is_over(it, budget) for it in found)
    return {"budget": budget, "over": over, "rules": RULES, "places": found}


def report(rent: Rent, budget: int | None, limit: int) -> Iterator[str]:
    """One repository."""
    yield bold(f"Rent · {one_line(rent.workspace)}") + f" · {_basis(rent)}"
    if not rent.texts:
        yield "No instruction file, rule, skill or MCP server is in force here."
        return
    yield from _sessions(rent, budget)
    yield ""
    yield from _texts(rent)
    yield from _dearest(rent, limit)
    yield from _repeated(rent, limit)
    yield from _opposite(rent, limit)
    yield ""
    yield from _notes(rent)


def _basis(rent: Rent) -> str:
    if rent.sessions is None:
        return "sizes on disk; no sessions to count requests in"
    counted = output.plural(rent.sessions, "session")
    if rent.weeks is None:
        return f"{counted} on fewer than seven days: no week can be told"
    requests = sum(rent.requests.values())
    return f"{counted}, {requests:,.0f} requests a week"


def _sessions(rent: Rent, budget: int | None) -> Iterator[str]:
    alike: dict[int, list[str]] = {}
    for agent, tokens in rent.told.items():
        alike.setdefault(tokens, []).append(agent)
    for tokens, agents in alike.items():
        yield from output.wrapped(f"{tokens:>7,} tokens in every session of {', '.join(agents)}", 8)
    if budget is not None:
        over = rent.most - budget
        told = f"{over:,} over" if over > 0 else f"{-over:,} left of"
        line = f"{told} the budget of {budget:,} tokens a session"
        yield click.style(line, fg="red" if over > 0 else "green")


def _texts(rent: Rent) -> Iterator[str]:
    columns = [
        output.Column("text", "left", flexible=True, keep="ends"),
        output.Column("kind", "left", drop=2),
        output.Column("read by", "left", flexible=True, drop=1),
        output.Column("tokens"),
        _WEEKLY,
        output.Column("cost"),
        output.Column("last fired", "left"),
    ]
    rows = [
        [
            one_line(it.path),
            it.kind,
            ", ".join(it.agents),
            _amount(it.tokens),
            output.tokens(it.weekly_tokens),
            output.dollars(it.weekly_nanodollars),
            _fired(it),
        ]
        for it in rent.texts
    ]
    kept = len(columns) if rent.sessions is not None else columns.index(_WEEKLY)
    yield from output.table(columns[:kept], [row[:kept] for row in rows])


def _amount(tokens: int | None) -> str:
    return output.UNKNOWN if tokens is None else f"{tokens:,}"


def _fired(it: Rented) -> str:
    if it.last_fired is not None:
        return output.day(it.last_fired)
    if it.fired is None:
        return output.UNKNOWN
    return f"never in {output.plural(it.fired_known, 'session')}" if not it.fired else "undated"


def _dearest(rent: Rent, limit: int) -> Iterator[str]:
    lines: list[tuple[Rented, RentLine]] = [
        (text, line) for text in rent.texts if text.below is None for line in text.lines
    ]
    # By text where all are shown, so that a file can be read from its top.
    if limit > 0:
        lines.sort(key=lambda it: (-it[1].tokens, it[0].path, it[1].line))
    if not lines:
        return
    shown = lines[:limit] if limit > 0 else lines
    columns = [
        output.Column("line", "left", flexible=True, keep="ends"),
        output.Column("tokens"),
        output.Column("text", "left", flexible=True),
    ]
    rows = [
        [f"{one_line(text.path)}:{line.line}", f"{line.tokens:,}", one_line(line.text)]
        for text, line in shown
    ]
    yield ""
    yield bold("The dearest lines" if limit > 0 else "Every line")
    yield from output.table(columns, rows)
    if len(shown) < len(lines):
        yield dim(f"{len(lines) - len(shown):,} more; -n 0 shows all")


def _repeated(rent: Rent, limit: int) -> Iterator[str]:
    if not rent.repeated:
        return
    yield ""
    yield bold("Said more than once")
    shown = rent.repeated if limit <= 0 else rent.repeated[:PAIRS]
    for it in shown:
        places = "  ".join(_place(place) for place in it.places)
        paid = "one agent reads both" if it.together else "no agent reads both, but they may drift"
        yield f"  {places}  {dim(paid)}"
        yield f"    {output.cut(one_line(it.places[0].text), LONGEST)}"
    if len(shown) < len(rent.repeated):
        yield dim(f"  {len(rent.repeated) - len(shown):,} more; -n 0 shows all")


def _opposite(rent: Rent, limit: int) -> Iterator[str]:
    if not rent.opposite:
        return
    yield ""
    yield bold("Contradictions")
    shown = rent.opposite if limit <= 0 else rent.opposite[:PAIRS]
    for number, pair in enumerate(shown):
        if number:
            yield ""
        for place in pair:
            yield f"  {_place(place)}  {output.cut(one_line(place.text), LONGEST)}"
    if len(shown) < len(rent.opposite):
        yield dim(f"  {len(rent.opposite) - len(shown):,} more; -n 0 shows all")


def _place(place: Place) -> str:
    return f"{one_line(place.path)}:{place.line}"


def _notes(rent: Rent) -> Iterator[str]:
    from hansei.ops.rent import RULES

    wanted = ["tokens", "session", *(("a week", "cost") if rent.weeks else ())]
    for name in wanted:
        yield from map(dim, output.wrapped(f"{name}: {RULES[name].removeprefix('tokens = ')}", 2))
    if rent.unpriced_models and rent.weeks:
        models = ", ".join(map(one_line, rent.unpriced_models))
        yield from map(dim, output.wrapped(f"no price of cached input is known for {models}", 2))
