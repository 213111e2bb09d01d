"""What `hansei check` found, as text and as Markdown for a pull request."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

import click

from hansei.cli import output
from hansei.cli.output import bold, dim, one_line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hansei.ops.check import Check, Line
    from hansei.ops.rent import Place

NO_HISTORY: Final = "no history here: sizes and duplicates only"
SIGNS: Final = {"added": "+", "changed": "~", "removed": "-", "moved": ">"}
COLOURS: Final = {"added": "green", "changed": "yellow", "removed": "red", "moved": "cyan"}
NAMED_FIRST: Final = 3
"""Lines that the first sentence speaks of."""
LONGEST: Final = 70
"""Letters of another line that is quoted."""
_HEADING: Final = re.compile(r"\s{0,3}#{1,6} ")


def headline(check: Check) -> str:
    """The whole in one sentence, lines by their numbers: what conflicts, repeats, applies."""
    numbered = list(enumerate(check.lines, 1))
    told = [f"{n} contradicts {_place(it.contradicts[0])}" for n, it in numbered if it.contradicts]
    told += [f"{n} repeats {_place(it.repeats[0])}" for n, it in numbered if it.repeats]
    applied = [(it.applied, -n) for n, it in numbered if it.applied and it.kind != "removed"]
    told += [
        f"{-n} would have applied in {output.plural(count, 'past session')}"
        for count, n in sorted(applied, reverse=True)
    ]
    size = f"{check.added:+,} tokens per session" if check.per_session else "nothing that is sized"
    return "; ".join([size, ", ".join(told[:NAMED_FIRST])] if told else [size])


# --- text -----------------------------------------------------------------------------------------


def report(check: Check, budget: int | None, limit: int) -> Iterator[str]:
    """What people read."""
    yield bold(f"Check · {one_line(check.repository)}") + f" · {one_line(check.compared)}"
    if not check.lines and not check.servers:
        yield "No instruction file, rule or skill differs."
        return
    yield from output.wrapped(headline(check), 2)
    yield from _totals(check, budget)
    shown = chosen(check, limit)
    path = ""
    for number, it in shown:
        if it.path != path:
            path = it.path
            yield ""
            yield from _file(check, it)
        yield from _line(number, it)
    yield from _left_out(check, shown)
    yield ""
    yield from _notes(check)


Numbered = tuple[int, "Line"]


def chosen(check: Check, limit: int) -> list[Numbered]:
    """The lines that say most, in their order; all where no limit is set.

    First what contradicts and repeats others, then what would have applied, then the largest.
    """
    numbered = list(enumerate(check.lines, 1))
    if limit <= 0 or len(numbered) <= limit:
        return numbered

    def weight(it: Numbered) -> tuple[bool, bool, int, int, int]:
        line = it[1]
        missed, applied = line.not_done or 0, line.applied or 0
        return bool(line.contradicts), bool(line.repeats), missed, applied, abs(line.tokens)

    return sorted(sorted(numbered, key=weight, reverse=True)[:limit])


def _file(check: Check, first: Line) -> Iterator[str]:
    own = [it for it in check.lines if it.path == first.path]
    told = f"{sum(it.tokens for it in own):+,} tokens, {output.plural(len(own), 'line')}"
    words = f"{one_line(first.path)}  {told}, read by {', '.join(first.agents)}"
    name, *rest = output.wrapped(words, 2)
    yield bold(one_line(first.path)) + dim(name.removeprefix(one_line(first.path)))
    yield from map(dim, rest)


def _left_out(check: Check, shown: list[Numbered]) -> Iterator[str]:
    told = {number for number, _ in shown}
    rest = [it for number, it in enumerate(check.lines, 1) if number not in told]
    if rest:
        tokens = sum(it.tokens for it in rest)
        yield ""
        yield dim(f"{output.plural(len(rest), 'more line')}, {tokens:+,} tokens; -n 0 shows all")


def _totals(check: Check, budget: int | None) -> Iterator[str]:
    alike: dict[int, list[str]] = {}
    own = [it for it in check.per_session if it in check.used] or list(check.per_session)
    for agent in own:
        alike.setdefault(check.per_session[agent], []).append(agent)
    for tokens, agents in alike.items():
        yield from output.wrapped(
            f"{tokens:>+7,} tokens in every session of {', '.join(agents)}", 8
        )
    others = [it for it in check.per_session if it not in own]
    if others:
        most = max(check.per_session[it] for it in others)
        yield f"{most:>+7,} at most of agents that are not used here"
    if check.on_demand:
        yield f"{check.on_demand:>+7,} tokens that come only when they are wanted"
    if check.weekly_tokens is not None:
        cost = check.weekly_nanodollars
        price = "" if cost is None else f", {_money(cost)}"
        yield f"{_signed(check.weekly_tokens):>7} tokens a week{price}, at the requests of today"
    for server in check.servers:
        yield f"      ? MCP server {one_line(server)}: what its tools take is unknown"
    if budget is not None:
        over = check.added - budget
        words = f"{over:,} over" if over > 0 else f"{-over:,} left of"
        line = f"{words} the budget of {budget:,} tokens more in a session"
        yield click.style(line, fg="red" if over > 0 else "green")


def _line(number: int, it: Line) -> Iterator[str]:
    sign = click.style(f"{SIGNS[it.kind]}", fg=COLOURS[it.kind])
    head = f"{number:>3} {sign} {it.line:>4}  "
    indent = output.width(head)
    size = f"{it.tokens:+,}"
    room = output.terminal_width() - indent - len(size) - 2
    text = output.cut(one_line(it.text), room)
    yield f"{head}{text}{' ' * (room - output.width(text) + 2)}{size}"
    for words in _said(it):
        # No-break spaces stay at the beginning of a line, where plain ones would be cut off.
        yield from map(dim, output.wrapped("\xa0" * indent + words, indent))


def _said(it: Line) -> Iterator[str]:
    """What there is to say of a line besides its words and size."""
    if it.before is not None:
        yield f"was: {output.cut(one_line(it.before), LONGEST)}"
    if it.moved_from is not None and it.moved_from != it.path:
        yield f"moved here from {one_line(it.moved_from)}"
    if it.when != "always":
        yield f"loaded {it.when}" if it.when == "on demand" else f"loaded only {it.when}"
    yield from _counted(it)
    for place in it.contradicts:
        yield f"contradicts {_place(place)}: {output.cut(one_line(place.text), LONGEST)}"
    for place in it.repeats:
        yield f"repeats {_place(place)}: {output.cut(one_line(place.text), LONGEST)}"


def _counted(it: Line) -> Iterator[str]:
    if it.countable is None or _HEADING.match(it.text) or it.kind == "moved":
        return
    if it.applied is None:
        yield "names nothing that can be counted"
        return
    verb = "applied" if it.kind == "removed" else "would have applied"
    count = output.plural(it.applied, "past session")
    told = f"{verb} in {count} that {it.where}" if it.applied else f"no past session {it.where}"
    if it.applied and it.not_done is not None:
        told += f"; not done in {it.not_done:,} of them" if it.not_done else "; done in all of them"
    yield told


def _place(place: Place) -> str:
    return f"{one_line(place.path)}:{place.line}"


def _signed(count: int) -> str:
    return f"{'+' if count >= 0 else '-'}{output.tokens(abs(count))}"


def _money(nanodollars: int) -> str:
    return f"{'+' if nanodollars >= 0 else '-'}{output.dollars(abs(nanodollars))}"


def _basis(check: Check) -> str:
    if check.sessions is None:
        return NO_HISTORY
    return f"held against {output.plural(check.sessions, 'session')} of this workspace"


def _notes(check: Check) -> Iterator[str]:
    from hansei.ops.check import RULES

    yield from map(dim, output.wrapped(_basis(check), 2))
    silent = [it for it in check.lines if it.countable is False and not _HEADING.match(it.text)]
    if silent:
        verb = "names" if len(silent) == 1 else "name"
        count = output.plural(len(silent), "line")
        yield dim(f"{count} {verb} nothing that can be counted")
    names = ["tokens", "session"]
    if check.sessions is not None:
        names += ["applied", "not done"]
    for name in names:
        yield from map(dim, output.wrapped(f"{name}: {RULES[name].removeprefix('tokens = ')}", 2))


# --- Markdown -------------------------------------------------------------------------------------


def markdown(check: Check, budget: int | None, limit: int) -> Iterator[str]:
    """The same for a pull request; what files say stands in code, so it can do nothing there."""
    yield "### hansei check"
    yield ""
    if not check.lines and not check.servers:
        yield f"No instruction file, rule or skill differs ({_code(check.compared)})."
        return
    yield f"**{headline(check)}** ({_code(check.compared)})"
    yield ""
    for line in _totals(check, budget):
        yield f"- {click.unstyle(line).strip()}"
    yield ""
    yield "| | line | what it says | tokens | in past sessions, and beside other lines |"
    yield "|--:|---|---|--:|---|"
    shown = chosen(check, limit)
    for number, it in shown:
        cells = (
            f"{number} {it.kind}",
            _code(f"{it.path}:{it.line}"),
            _code(output.cut(one_line(it.text), LONGEST)),
            f"{it.tokens:+,}",
            "<br>".join(_escaped(words) for words in _said(it)),
        )
        yield f"| {' | '.join(cells)} |"
    for line in _left_out(check, shown):
        yield click.unstyle(line)
    yield ""
    yield "<details><summary>How this is counted</summary>"
    yield ""
    for line in [_basis(check), *_rules()]:
        yield f"- {line}"
    yield ""
    yield "</details>"


def _rules() -> Iterator[str]:
    from hansei.ops.check import RULES

    for name, rule in RULES.items():
        yield f"{name}: {rule.removeprefix('tokens = ')}"


def _code(text: str) -> str:
    """A text as code in a table, whatever backticks it holds."""
    plain = one_line(text).replace("|", "\\|")
    ticks = "`" * (max((len(it) for it in re.findall(r"`+", plain)), default=0) + 1)
    space = " " if plain.startswith("`") or plain.endswith("`") else ""
    return f"{ticks}{space}{plain}{space}{ticks}"


def _escaped(text: str) -> str:
    """Words that may quote a file, without anything that Markdown or HTML would obey."""
    return re.sub(r"([\\`*_{}\[\]<>()#+!|@~&])", r"\\\1", one_line(text))
