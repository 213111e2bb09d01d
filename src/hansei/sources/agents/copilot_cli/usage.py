"""What requests took: an answer tells its own output, the end of a run the sum of everything.

Newer versions write a record of each request, and sums that go on over all runs: then the records
are what counts. Older sums are told by model, some by agent too. What subagents had is theirs; the
rest of the session's own sums is the main agent's, so that all of them add up to what the program
says.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from hansei.events.model import RequestUsage
from hansei.sources.families.streams import short

if TYPE_CHECKING:
    from hansei.sources.agents.copilot_cli.reading import Reader
    from hansei.sources.agents.copilot_cli.records import Counts, Data, Metric, Record, Spent

MAIN = "main"


class Sum(NamedTuple):
    """What the requests of a run took together; None is not told."""

    input: int | None = None
    cache_read: int | None = None
    cache_write_5m: int | None = None
    output: int | None = None
    reasoning: int | None = None


def answer(reader: Reader, data: Data, message: str, by: dict[str, Any]) -> None:
    """One request: what was put in is told only with the run."""
    output = _sound(data.output_tokens)
    identity = data.api_call_id or message
    state, name, mark = reader.state, _share(by["session"], by["model"]), short(identity)
    before = state.last_output if state.last == mark else 0
    if output and output > before:
        state.told[name] = state.told.get(name, 0) + output - before
        state.last, state.last_output = mark, output
    reader.emit(RequestUsage(key=reader.key("request", identity), output=output, **by))


def recorded(reader: Reader, spent: Spent, identity: str, where: dict[str, Any]) -> None:
    """One request with all it took, told before its answer is."""
    reader.state.recorded = True
    key = reader.key("request", spent.api_call_id or identity)
    model = spent.model or reader.model
    reader.emit(RequestUsage(key=key, model=model, **{**where, **_sum(spent)._asdict()}))


def _share(session: str, model: str | None) -> str:
    """Whose output it is: the agent within the session, and the model."""
    return f"{session.partition('/')[2]}|{short(model or '')}"


def run_ended(reader: Reader, record: Record, data: Data, where: dict[str, Any]) -> None:
    """The sums of a run, less what its answers have told."""
    told, reader.state.told = reader.state.told, {}
    if reader.state.recorded:
        reader.state.seen = {}
        return
    rest = _sums(data.model_metrics)
    for agent, share in sorted((data.agent_metrics or {}).items()):
        if agent != MAIN:
            session = f"{reader.session}/agent-{short(agent)}"
            theirs = _sums(share.model_metrics)
            rest = {name: _less(it, theirs.get(name, Sum())) for name, it in rest.items()}
            at = reader.state.seen.get(short(agent), where["at"])
            _tell(reader, record, theirs, told, {**where, "session": session, "at": at})
    _tell(reader, record, rest, told, where)
    reader.state.seen = {}


def _tell(
    reader: Reader,
    record: Record,
    sums: dict[str, Sum],
    told: dict[str, int],
    where: dict[str, Any],
) -> None:
    own = where["session"] == reader.session
    for model, run in sorted(sums.items()):
        if not any(run):  # all of it was another agent's
            continue
        output = run.output
        if output is not None:
            output = _taken_off(output, told, _share(where["session"], model))
            output = _taken_off(output, told, _share(where["session"], None))
            if own:  # where sums are not told by agent, they hold what subagents have told
                for name in sorted(told):
                    known = name.endswith((f"|{short(model)}", "|"))
                    output = _taken_off(output, told, name) if known else output
        counts = run._replace(output=output)._asdict()
        key = reader.key("run", reader.identity(record), where["session"].partition("/")[2], model)
        reader.emit(RequestUsage(key=key, model=model, sums=True, **{**where, **counts}))


def _taken_off(output: int, told: dict[str, int], name: str) -> int:
    """What is left of a sum, once what an answer has told is taken off it."""
    spent = min(told.get(name, 0), output)
    if spent:
        told[name] -= spent
    return output - spent


def _sums(metrics: dict[str, Metric] | None) -> dict[str, Sum]:
    return {name: _sum(it.usage) for name, it in (metrics or {}).items() if it.usage}


def _sum(counts: Counts) -> Sum:
    """Disjoint counts. How long a cache lasts is not told: writes count as the short kind."""
    whole = _sound(counts.input_tokens)
    read, written = _sound(counts.cache_read_tokens), _sound(counts.cache_write_tokens)
    fresh = None if whole is None else max(whole - (read or 0) - (written or 0), 0)
    output, thought = _sound(counts.output_tokens), _sound(counts.reasoning_tokens)
    return Sum(fresh, read, written, output, thought)


def _less(first: Sum, second: Sum) -> Sum:
    pairs = zip(first, second, strict=True)
    return Sum(*(None if it is None else max(it - (less or 0), 0) for it, less in pairs))


def _sound(count: int | None) -> int | None:
    return count if count is not None and count >= 0 else None
