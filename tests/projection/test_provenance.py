"""Token provenance: what filled the context, to the token."""

from __future__ import annotations

from time import process_time
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from any_event import events as any_events
from hansei.events.model import Origin, RequestUsage, Tool
from hansei.prices.rates import Rates as Prices
from hansei.projection.exchanges import conversation
from hansei.projection.provenance import Carried, Kind, Left, Provenance, cost, provenance
from hansei.projection.provenance.calibration import Thoughts, calibrate
from hansei.projection.provenance.check import held_out
from hansei.projection.provenance.ledger import Ledger
from hansei.projection.provenance.pieces import measured
from hansei.projection.provenance.steps import steps
from hansei.projection.spans import spans
from told import call, compaction, numbered, prompt, reply, result, thought, usage

if TYPE_CHECKING:
    from hansei.events.model import AnyEvent
    from hansei.store.reading import Numbered

RATE = 0.4
LINE = "def total(values): return sum(values)\n"
OUTPUT = 50


def tokens(text: str) -> int:
    return round(len(text) * RATE)


def billed(found: Provenance) -> int:
    return sum(it.billed for it in found.pieces) + sum(it.context for it in found.asides)


def of(found: Provenance, kind: Kind) -> list[Carried]:
    return [it for it in found.pieces if it.kind is kind]


class Meter:
    """Writes a session whose context is known to the token."""

    def __init__(self, prefix: int = 5_000) -> None:
        self.context = prefix
        self.events: list[AnyEvent] = []
        self.calls = 0

    def say(self, text: str) -> None:
        self.events.append(prompt(text))
        self.context += tokens(text)

    def ask(self, text: str, tool: Tool = Tool.SHELL, extra: int = 0) -> None:
        """A request that calls a tool, and what the tool gave back."""
        self.calls += 1
        name = f"c{self.calls}"
        self.events += [
            usage(self.context, OUTPUT),
            call(name, tool, arguments={"command": "run the whole thing now"}),
            result(name, text),
        ]
        self.context += OUTPUT + tokens(text) + extra

    def told(self) -> Provenance:
        return provenance(conversation(numbered([*self.events, usage(self.context, 1)])))


def session(sizes: list[int]) -> Meter:
    meter = Meter()
    meter.say("please look at the totals " * 4)
    for size in sizes:
        meter.ask(LINE * size)
    return meter


def test_what_is_booked_is_what_was_billed() -> None:
    found = session([20, 40, 10, 80]).told()
    assert found.billed == billed(found)
    assert found.requests == 5


def test_a_large_output_pays_rent_with_every_later_request() -> None:
    meter = session([10, 20, 400, 15, 30, 25])
    found = meter.told()
    (haul,) = [it for it in of(found, Kind.COMMAND) if it.seq == 10]
    assert haul.tokens == pytest.approx(tokens(LINE * 400), rel=0.03)
    assert haul.requests == 4
    assert haul.left is None


def test_the_first_context_is_prompt_and_prefix() -> None:
    found = session([20, 30, 40, 50]).told()
    (prefix,) = of(found, Kind.PREFIX)
    assert prefix.tokens == pytest.approx(5_000, rel=0.02)
    assert prefix.requests == found.requests


def test_instructions_are_told_apart_from_the_prefix() -> None:
    events = numbered([*session([20, 30, 40, 50]).events])
    found = provenance(conversation(events), instructions={"CLAUDE.md": 2_000})
    (known,) = of(found, Kind.INSTRUCTIONS)
    assert known.label == "CLAUDE.md"
    assert 200 < known.tokens < 1_500
    assert billed(found) == found.billed


def test_what_a_continued_session_stands_on_is_not_called_a_prefix() -> None:
    events = numbered(session([20, 30, 40, 50]).events)
    found = provenance(conversation(events), inherited=True)
    assert not of(found, Kind.PREFIX)
    assert of(found, Kind.UNEXPLAINED)[0].tokens > 4_000


def test_what_later_left_was_no_prefix() -> None:
    """A session taken up in the middle stands on a conversation that its transcript lacks."""
    meter = Meter(prefix=60_000)
    meter.say("go on")
    for size in (20, 30, 40):
        meter.ask(LINE * size)
    meter.events.append(compaction("in short " * 30))
    meter.context = 8_000
    for size in (20, 30):
        meter.ask(LINE * size)
    found = meter.told()
    (prefix,) = of(found, Kind.PREFIX)
    assert prefix.tokens <= 8_000
    assert (prefix.requests, prefix.left) == (found.requests, None)
    lost = max(of(found, Kind.UNEXPLAINED), key=lambda it: it.tokens)
    assert lost.tokens > 50_000
    assert lost.left is Left.COMPACTED


def test_growth_no_event_accounts_for_is_unexplained() -> None:
    meter = session([20, 30, 40, 25])
    meter.ask(LINE * 20, extra=3_000)
    for size in (30, 20, 35):
        meter.ask(LINE * size)
    found = meter.told()
    largest = max(of(found, Kind.UNEXPLAINED), key=lambda it: it.tokens)
    assert largest.tokens == pytest.approx(3_000, rel=0.1)
    assert largest.requests == 4


def test_a_shrink_without_a_word_drops_the_oldest_results() -> None:
    meter = session([200, 20, 30, 40])
    dropped = tokens(LINE * 200)
    meter.ask(LINE * 20, extra=-dropped)
    meter.ask(LINE * 25)
    found = meter.told()
    gone = [it for it in found.pieces if it.left is Left.DROPPED]
    assert sum(it.tokens for it in gone if it.seq == 4) == pytest.approx(dropped, rel=0.1)
    assert all(it.until == 17 for it in gone)
    assert billed(found) == found.billed


def test_a_compaction_replaces_everything_but_the_ground() -> None:
    meter = session([100, 200, 50])
    summary = "the totals were looked at and are right " * 30
    meter.events.append(compaction(summary))
    meter.context = 5_000 + tokens(summary)
    meter.ask(LINE * 10)
    found = meter.told()
    (kept,) = of(found, Kind.SUMMARY)
    assert kept.tokens == pytest.approx(tokens(summary), rel=0.2)
    assert kept.requests == 2
    compacted = [it for it in found.pieces if it.left is Left.COMPACTED]
    assert {Kind.PROMPT, Kind.COMMAND} <= {it.kind for it in compacted}
    assert of(found, Kind.PREFIX)[0].requests == found.requests


def test_a_request_aside_drops_nothing() -> None:
    meter = session([100, 200, 50, 60])
    aside = usage(2_000, 10)
    meter.events += [aside, call("x"), result("x", LINE)]
    meter.context += OUTPUT + tokens(LINE)
    for size in (20, 30):
        meter.ask(LINE * size)
    found = meter.told()
    assert [it.context for it in found.asides] == [2_000]
    assert not [it for it in found.pieces if it.left is not None]
    assert billed(found) == found.billed


def test_requests_that_tell_no_tokens_are_counted_and_passed_over() -> None:
    meter = session([20, 30])
    meter.events += [usage(None, None), call("x"), result("x", LINE * 40)]
    meter.context += tokens(LINE * 40)
    found = meter.told()
    assert found.untold == 1
    assert next(it for it in of(found, Kind.COMMAND) if it.seq == 10).requests == 1


def test_shown_bytes_count_where_the_model_saw_other_than_the_text() -> None:
    meter = session([20, 30, 40])
    meter.events += [
        usage(meter.context, OUTPUT),
        call("x"),
        result("x", LINE * 1_000, shown=len(LINE) * 10),
    ]
    meter.context += OUTPUT + tokens(LINE * 10)
    found = meter.told()
    (cut,) = [it for it in of(found, Kind.COMMAND) if it.seq == 13]
    assert cut.tokens == pytest.approx(tokens(LINE * 10), rel=0.15)


def test_thoughts_that_leave_with_their_turn_are_found_out() -> None:
    meter = Meter()
    thinking = 0
    for turn in range(6):
        meter.context -= thinking
        meter.say("now look at the next one, please " * (turn + 1))
        thinking = 0
        for size in (20, 30):
            meter.events.append(thought("hm", at=None))
            meter.events.append(usage(meter.context, OUTPUT + 400, reasoning=400))
            name = f"t{turn}-{size}"
            meter.events += [call(name), result(name, LINE * size)]
            meter.context += OUTPUT + 400 + tokens(LINE * size)
            thinking += 400
    found = meter.told()
    assert found.rates.thoughts is Thoughts.TURN
    assert [it.tokens for it in found.pieces if it.left is Left.TURN] == [400] * 5
    assert not [it for it in found.pieces if it.left is Left.DROPPED]


def test_an_output_count_from_the_beginning_of_a_stream_is_not_believed() -> None:
    meter = Meter()
    meter.say("write it")
    for size in (30, 60, 20, 90):
        name = f"w{size}"
        meter.events += [
            usage(meter.context, 1),
            call(name, Tool.WRITE, arguments={"content": LINE * size}),
            result(name, "ok"),
        ]
        meter.context += tokens(LINE * size) + 40
    found = meter.told()
    written = [it.tokens for it in of(found, Kind.EDIT) if it.seq in (3, 6, 9, 12)]
    assert written == pytest.approx([tokens(LINE * it) for it in (30, 60, 20, 90)], rel=0.15)


def test_what_came_in_with_its_size_untold_is_booked_on_its_event() -> None:
    """A search for tools brings schemas, a provider's own search brings pages: no text tells."""
    meter = session([20, 30, 40, 25])
    meter.ask("", Tool.SEARCH, extra=3_000)
    meter.ask(LINE * 20)
    meter.events += [usage(meter.context, OUTPUT), call("hosted", Tool.WEB)]
    meter.context += OUTPUT + 4_000
    meter.ask(LINE * 30)
    found = meter.told()
    schemas = [it.tokens for it in of(found, Kind.SEARCH) if it.seq == 16]
    assert sum(schemas) == pytest.approx(3_000, rel=0.1)
    pages = [it.tokens for it in of(found, Kind.WEB) if it.seq == 21]
    assert sum(pages) == pytest.approx(4_000, rel=0.1)
    assert not [it for it in of(found, Kind.UNEXPLAINED) if it.tokens > 300]
    assert billed(found) == found.billed


def test_a_search_that_found_nothing_explains_nothing() -> None:
    meter = session([20, 30, 40, 25])
    meter.ask("No files found", Tool.SEARCH, extra=3_000)
    meter.ask(LINE * 20)
    assert max(it.tokens for it in of(meter.told(), Kind.UNEXPLAINED)) > 2_500


def test_kinds_follow_the_tool_and_the_speaker() -> None:
    meter = Meter()
    meter.events.append(prompt("reminder " * 40, origin=Origin.HARNESS))
    meter.context += tokens("reminder " * 40)
    meter.say("go " * 40)
    for tool in (Tool.READ, Tool.SHELL, Tool.SEARCH, Tool.EDIT, Tool.WEB):
        meter.ask(LINE * 20, tool)
    meter.events += [usage(meter.context, 30), reply("done " * 20)]
    meter.context += 30
    meter.say("thanks " * 10)
    kinds = {it.kind for it in meter.told().pieces}
    assert kinds >= {
        Kind.PREFIX,
        Kind.INJECTED,
        Kind.PROMPT,
        Kind.READ,
        Kind.COMMAND,
        Kind.SEARCH,
        Kind.EDIT,
        Kind.WEB,
        Kind.CALL,
        Kind.REPLY,
    }


def test_rent_is_priced_as_written_once_and_then_read() -> None:
    piece = Carried(3, Kind.READ, 1_000, 4, 5, None, None)
    prices = Prices(input=3_000, cache_read=300, cache_write_5m=3_750)
    assert cost(piece, prices) == round(1_000 * (3_750 + 4 * 300) / 1_000_000)
    assert cost(piece, Prices(output=1)) is None


def test_texts_are_told_apart_by_what_they_are_made_of() -> None:
    assert measured("ab12 ;é\n 7") == (2, 2, 1, 3, 2, 0, 0)
    assert measured("", 1, 2) == (0, 0, 0, 0, 0, 1, 2)


@pytest.mark.parametrize("text", ["x = total(17, é) + 2\n", LINE, "| 12 | 3.5 | ok |\n", "ß"])
def test_of_a_long_text_a_sample_tells_the_same(text: str) -> None:
    whole = measured(text)
    long = measured(text * 5_000)
    assert sum(long[:5]) == pytest.approx(5_000 * sum(whole[:5]), rel=0.05)
    for part, many in zip(whole, long, strict=True):
        assert many / 5_000 == pytest.approx(part, abs=0.1 * sum(whole[:5]))


def test_a_language_of_its_own_rate_is_fitted_from_the_session() -> None:
    meter = Meter()
    meter.say("x")
    text = "请查看总数并修复它"
    for size in (50, 90, 30, 70, 60, 40):
        name = f"z{size}"
        meter.events += [usage(meter.context, OUTPUT), call(name), result(name, text * size)]
        meter.context += OUTPUT + round(len((text * size).encode()) * 0.8)
    found = meter.told()
    rent = {it.seq: it.tokens for it in of(found, Kind.COMMAND)}
    assert rent[10] == pytest.approx(len((text * 30).encode()) * 0.8, rel=0.1)


@settings(max_examples=100)
@given(st.lists(any_events(), max_size=40))
def test_whatever_the_events_every_billed_token_is_booked_once(events: list[AnyEvent]) -> None:
    found = provenance(conversation(numbered(events)))
    assert billed(found) == found.billed
    assert all(it.tokens > 0 and it.requests > 0 for it in found.pieces)
    assert sum(it.billed for it in found.totals) == found.billed


def long_session(steps: int, *, told: bool) -> list[Numbered]:
    meter = Meter()
    for step in range(steps):
        if step % 10 == 0:
            meter.say("please look at the totals ")
        meter.ask(LINE * (step % 7 + 1))
        if meter.context > 100_000:
            meter.events.append(compaction("in short " * 50))
            meter.context = 5_200
    untold = (usage(None) if isinstance(it, RequestUsage) else it for it in meter.events)
    return numbered(meter.events if told else untold)


@pytest.mark.parametrize("told", [True, False])
def test_time_per_event_does_not_grow_with_the_session(told: bool) -> None:
    """Quadratic work would make it eight times as long; half of that allows for a busy machine."""

    def per_event(events: list[Numbered]) -> float:
        def once() -> float:
            start = process_time()
            both = conversation(events)
            provenance(both)
            spans(both, session="s", cost=lambda it: 1)
            return process_time() - start

        return min(once() for _ in range(3)) / len(events)

    short, long = (per_event(long_session(it, told=told)) for it in (250, 2_000))
    assert long < 4 * short


moves = st.lists(
    st.tuples(
        st.sampled_from(["say", "ask", "shrink", "hidden", "compact", "untold"]),
        st.integers(1, 60),
    ),
    max_size=25,
)


def played(chosen: list[tuple[str, int]]) -> Meter:
    meter = Meter()
    for move, size in chosen:
        if move == "say":
            meter.say("tell me " * size)
        elif move == "compact":
            meter.events.append(compaction("in short " * size))
            meter.context = 5_000 + tokens("in short " * size)
        elif move == "untold":
            meter.events.append(usage(None, None))
        else:
            extra = {"ask": 0, "shrink": -size * 20, "hidden": size * 20}[move]
            meter.ask(LINE * size, extra=max(extra, 1 - meter.context))
    return meter


@settings(max_examples=100)
@given(moves)
def test_every_request_is_carried_to_the_token(chosen: list[tuple[str, int]]) -> None:
    events = numbered(played(chosen).events)
    found = provenance(conversation(events))
    contexts = {it.seq: it.context for it in steps(conversation(events))}
    aside = {it.seq for it in found.asides}
    for seq, context in contexts.items():
        if seq not in aside:
            live = [
                it.tokens
                for it in found.pieces
                if it.since <= seq and (it.until is None or it.until > seq)
            ]
            assert sum(live) == context


@settings(max_examples=50)
@given(moves, st.integers(0, 25))
def test_a_ledger_goes_on_from_where_it_stopped(chosen: list[tuple[str, int]], cut: int) -> None:
    """What came later changes only how long a piece is carried, and whether it left."""
    every = steps(conversation(numbered(played(chosen).events)))
    rates = calibrate(every)

    def booked(upto: int) -> list[Carried]:
        ledger = Ledger(rates)
        for place, step in enumerate(every[:upto]):
            if place:
                ledger.take(step)
            else:
                ledger.begin(step, {}, step.context)
        return ledger.close()

    seen = {it.seq for it in every[:cut]}

    def entered(rows: list[Carried]) -> dict[tuple[int, str, int], int]:
        sums: dict[tuple[int, str, int], int] = {}
        for it in rows:
            if it.since in seen:
                place = (it.seq, it.kind, it.since)
                sums[place] = sums.get(place, 0) + it.tokens
        return sums

    assert entered(booked(cut)) == entered(booked(len(every)))


@settings(max_examples=30)
@given(moves)
def test_the_same_events_give_the_same_answer(chosen: list[tuple[str, int]]) -> None:
    events = numbered(played(chosen).events)
    assert provenance(conversation(events)) == provenance(conversation(list(events)))


def test_half_of_a_steady_session_predicts_the_other() -> None:
    meter = session([20, 40, 10, 80, 35, 60, 25, 90, 15, 70] * 3)
    check = held_out(conversation(numbered(meter.events)))
    assert check is not None
    assert check.missed < 0.05


def test_a_session_that_never_grew_cannot_be_checked() -> None:
    assert held_out(conversation(numbered([usage(100), reply("a"), usage(90)]))) is None
