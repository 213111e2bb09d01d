"""What requests took: an answer tells its own output, the end of a run the sum of everything."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hansei.events.model import RequestUsage
from hansei.sources.families.streams import short

if TYPE_CHECKING:
    from hansei.sources.agents.copilot_cli.reading import Reader
    from hansei.sources.agents.copilot_cli.records import Counts, Data, Record


def answer(reader: Reader, data: Data, message: str, by: dict[str, Any]) -> None:
    """One request: what was put in is told only with the run."""
    output = _sound(data.output_tokens)
    identity = data.api_call_id or message
    state, name, mark = reader.state, short(by["model"] or ""), short(identity)
    before = state.last_output if state.last == mark else 0
    if output and output > before:
        state.told[name] = state.told.get(name, 0) + output - before
        state.last, state.last_output = mark, output
    reader.emit(RequestUsage(key=reader.key("request", identity), output=output, **by))


def run_ended(reader: Reader, record: Record, data: Data, where: dict[str, Any]) -> None:
    """The sums of a run, by model, less what its answers have told."""
    told, reader.state.told = reader.state.told, {}
    unnamed = told.pop("", 0)
    for model, metric in sorted((data.model_metrics or {}).items()):
        counts = metric.usage
        if counts is None:
            continue
        output = _sound(counts.output_tokens)
        if output is not None:
            rest = max(output - told.get(short(model), 0), 0)
            spent = min(unnamed, rest)
            unnamed, output = unnamed - spent, rest - spent
        event = RequestUsage(
            key=reader.key("run", reader.identity(record), model),
            model=model,
            output=output,
            reasoning=_sound(counts.reasoning_tokens),
            sums=True,
            **{**where, **_inputs(counts)},
        )
        reader.emit(event)


def _inputs(counts: Counts) -> dict[str, int | None]:
    """Disjoint inputs. How long a cache lasts is not told, so writes count as the short kind."""
    whole = _sound(counts.input_tokens)
    read, written = _sound(counts.cache_read_tokens), _sound(counts.cache_write_tokens)
    fresh = None if whole is None else max(whole - (read or 0) - (written or 0), 0)
    return {"input": fresh, "cache_read": read, "cache_write_5m": written}


def _sound(count: int | None) -> int | None:
    return count if count is not None and count >= 0 else None
