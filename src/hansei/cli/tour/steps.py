"""The story of the tour: one function per stop, in the order of `STOPS`.

A stop looks at what the generated data holds, says which question comes next, and names the command
that answers it. What it claims beyond that output it works out from the planted truth.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import click

from hansei.cli import output
from hansei.cli.output import Column, dim, plural
from hansei.cli.tour.guide import Proof, Step
from hansei.errors import NotFound
from hansei.events.model import ToolCall, ToolResult
from hansei.ops import demo

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from hansei.cli.tour.guide import Stop, Tour
    from hansei.store.database import Store
    from hansei.store.reading import Numbered

LISTED = "8"
"""Sessions in the list: with the words around it that is one screen."""

PLACEHOLDER = "[secret:"


def found(tour: Tour) -> Step:
    agents = sorted({session.agent for session in tour.demo.world.truth.sessions})
    return Step(
        "What did coding agents leave on this machine?",
        f"This machine is made up: a small repository and three weeks of work on it by"
        f" {plural(len(agents), 'agent')}, in the very files those agents write. `hansei` alone"
        f" takes in what is new and answers on one screen.",
        (),
    )


def spend(_: Tour) -> Step:
    return Step(
        "Where did the tokens and the dollars go?",
        "By model here; --by takes agent, model, repo, branch, pr, commit, day or driver. Tokens"
        " are read from the transcripts, dollars are those tokens at list prices.",
        ("summary",),
    )


def sessions(_: Tour) -> Step:
    return Step(
        "Which sessions were there, and where did something fail?",
        "The newest first. A subagent has a session of its own, and who drove a session is told"
        " apart: you, a parent agent, or a program.",
        ("sessions", "-n", LISTED),
    )


def opened(tour: Tour) -> Step | None:
    """A session in which a command fails and another one gets past it."""
    failure = demo.recurring_failure(tour.demo.world.truth)
    if failure is None or failure.recovered_by is None:
        return None
    with tour.store() as store:
        name, events = _events(store, failure.session)
    return Step(
        "What happened in one of them?",
        "A session opens as a timeline. Here is its heading and the part in which a command fails"
        " and the agent finds another way; every number behind # can be opened by itself.",
        ("show", name),
        part=_between(_number(events, failure.call), _number(events, failure.recovered_by, -1)),
    )


def again(tour: Tour) -> Step | None:
    """The same failure in other sessions, whichever agent ran into it."""
    truth = tour.demo.world.truth
    failure = demo.recurring_failure(truth)
    if failure is None:
        return None
    same = {other.session for other in truth.failures if other.trouble == failure.trouble}
    agents = {session.agent for session in truth.sessions if session.id in same}
    return Step(
        "Has that happened before?",
        "Search looks through prompts, replies, commands, outputs and edits, old and new. This"
        f" failure was planted in {plural(len(same), 'session')} of {plural(len(agents), 'agent')};"
        " each had to find the way round it anew.",
        ("search", failure.sign, "-C", "0"),
    )


def facts(_: Tour) -> Step:
    return Step(
        "What really happened, over all sessions?",
        "Failures with what they took and what ended them; `files`, `corrections`, `commands`,"
        " `outcomes` and `exposure` tell the rest. The last column names a place to open.",
        ("facts", "failures", "-n", LISTED),
    )


def retro(_: Tour) -> Step:
    return Step(
        "So what should I change?",
        "Ranked bets: what to change, because of what, for how much a week, and how you will know"
        " whether it helped. `hansei retro --explain 1` opens the first one.",
        ("retro",),
    )


def change(_: Tour) -> Step:
    return Step(
        "What exactly would that change?",
        "The whole difference, and what the added text costs in every request. Without --dry-run it"
        " asks, writes, and leaves a measurement behind; `hansei undo` restores every byte.",
        ("apply", "1", "--dry-run"),
    )


def doubles(tour: Tour) -> Step:
    with tour.store() as store:
        sums = demo.doubles(store, tour.demo.world.truth)
    rows = [
        ("adding up every line of every file", sums.every_line),
        ("answers told again line by line", -sums.repeated_lines),
        ("history that a fork or a subagent begins with", -sums.copied_by_forks),
        (f"{plural(sums.copied_files, 'file')} that are copies of others", -sums.in_copied_files),
        ("what was really billed", sums.billed),
    ]
    lines = output.table(
        [Column("", "left"), Column("tokens")],
        [(what, f"{count:,}".replace("-", "−")) for what, count in rows],
    )
    times = f"{sums.every_line / max(sums.billed, 1):.1f}"
    return Step(
        "Was anything counted twice?",
        "Agents write one request down several times: with every line of an answer, in forks, in"
        f" copies. hansei counts it once. Adding up all lines would say {times} times as much.",
        ("summary", "--by", "agent"),
        proof=Proof({**_fields(sums), "in_copied_files": sums.in_copied_files}, lines),
    )


def secrets(tour: Tour) -> Step | None:
    with tour.store() as store:
        reference = _redacted(store, tour)
        leaks = demo.leaks(store, tour.demo)
    if reference is None:
        return None
    line = (
        f"{plural(leaks.planted, 'planted secret')}: {leaks.in_transcripts} in the transcripts,"
        f" {leaks.in_store} in the store"
    )
    looked = (
        f"looked through {plural(leaks.files, 'file')} and {plural(leaks.rows, 'stored event')}"
    )
    return Step(
        "An agent read my keys. Where are they now?",
        "Secrets are replaced before anything is stored. What stands there now tells their kind"
        " and shows where the same one turns up again.",
        ("show", reference),
        proof=Proof(_fields(leaks), [_verdict(not leaks.in_store, line), dim(looked)]),
    )


def trust(tour: Tour) -> Step:
    with tour.store() as store:
        compared = demo.compare(store, tour.demo.world.truth)
    lines = output.table(
        [Column("", "left"), Column("planted"), Column("counted"), Column("verdict", "left")],
        [(it.what, _count(it.planted), _count(it.counted), _same(it.exact)) for it in compared],
    )
    return Step(
        "Why should I believe any of this?",
        "hansei says what it found where and what it could not read. And as this history was"
        " generated, its true totals are known. Here they are beside what was counted.",
        ("doctor",),
        proof=Proof([{**_fields(it), "exact": it.exact} for it in compared], lines),
    )


STOPS: tuple[Stop, ...] = (
    found,
    spend,
    sessions,
    opened,
    again,
    facts,
    retro,
    change,
    doubles,
    secrets,
    trust,
)
"""The whole tour, in the order in which one question leads to the next."""

FIRST_LOOK: tuple[Stop, ...] = (spend, sessions)
"""What somebody sees whose machine holds no transcripts yet."""


# --- picking --------------------------------------------------------------------------------------


def _events(store: Store, session: str) -> tuple[str, list[Numbered]]:
    """A session's shortest usual name that fits no other, and its events."""
    from hansei.ops.sessions import short_id
    from hansei.ops.show import show

    for name in (short_id(session), session):
        try:
            return name, show(store, name).events
        except NotFound:
            continue
    return session, []


def _number(events: Iterable[Numbered], call: str, which: int = 0) -> int:
    """The number of a call, or with -1 of its result."""
    own = [
        seq
        for seq, event in events
        if isinstance(event, ToolCall | ToolResult) and event.call == call
    ]
    return own[which]


def _redacted(store: Store, tour: Tour) -> str | None:
    """An event from which a secret was taken; rather an output than a prompt."""
    planted = sorted(tour.demo.world.truth.secrets, key=lambda secret: secret.place == "prompt")
    for secret in planted:
        name, events = _events(store, secret.session)
        for seq, event in events:
            if PLACEHOLDER in str(getattr(event, "text", "")):
                return f"{name}#{seq}"
    return None


def _between(first: int, last: int) -> Callable[[list[str]], list[str]]:
    """The heading of a timeline and the events from one number to another."""

    def part(lines: list[str]) -> list[str]:
        heading = lines[: lines.index("")] if "" in lines else []
        numbers = [_numbered(line) for line in lines]
        start = next(i for i, number in enumerate(numbers) if number and number >= first)
        after = (i for i, number in enumerate(numbers) if number and number > last)
        stop = next(after, len(lines))
        return [
            *heading,
            dim(f"… {plural(start - len(heading), 'line')} before"),
            *lines[start:stop],
            *([dim(f"… {plural(len(lines) - stop, 'line')} more")] if stop < len(lines) else []),
        ]

    return part


def _numbered(line: str) -> int | None:
    mark = re.match(r" *#(\d+) ", click.unstyle(line))
    return int(mark[1]) if mark else None


# --- telling --------------------------------------------------------------------------------------


def _fields(value: object) -> dict[str, object]:
    return dict(vars(value))


def _count(count: int | None) -> str:
    return output.UNKNOWN if count is None else f"{count:,}"


def _same(exact: bool) -> str:
    return click.style("exact", fg="green") if exact else click.style("differs", fg="red")


def _verdict(good: bool, words: str) -> str:
    return click.style(words, fg="green" if good else "red", bold=True)
