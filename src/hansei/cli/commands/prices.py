"""`hansei prices`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from hansei.cli import app, output
from hansei.cli.output import Column

if TYPE_CHECKING:
    from hansei.ops.prices import PriceList
    from hansei.prices import PriceRow


@click.command(short_help="The prices that costs rest on.")
@click.argument("models", nargs=-1)
@app.ingest_option
@app.json_option
def command(models: tuple[str, ...], ingest: bool, as_json: bool) -> None:
    """Dollars per million tokens of every model met in transcripts, or of MODELS.

    Prices come with hansei and are never fetched. Where yours differ, write them into config.toml:

    \b
      [prices."my-model"]
      input = 0.5
      output = 2.0
      cache_read = 0.05
    """
    from hansei.ops.prices import prices

    settings = app.config()
    with app.up_to_date(settings, ingest=ingest) as store:
        answer = prices(store, settings, models)
    if as_json:
        output.write_json("prices", answer)
        return
    for line in report(answer):
        output.write(line)


def report(answer: PriceList) -> list[str]:
    """The price list as a table, and where it is from."""
    checked = f", checked {answer.checked}" if answer.checked else ""
    source = output.dim(f"list prices: {answer.library}{checked} · dollars per million tokens")
    if not answer.rows:
        return ["No model has been met in a transcript yet.", source]
    columns = [
        Column("model", "left", flexible=True, keep="ends"),
        Column("taken for", "left", flexible=True, keep="ends", drop=2),
        Column("requests", drop=1),
        Column("input"),
        Column("cache read"),
        Column("write 5m", drop=3),
        Column("write 1h", drop=4),
        Column("output"),
        Column("holds", "left", flexible=True, drop=5),
    ]
    return [*output.table(columns, [_cells(row, answer) for row in answer.rows]), "", source]


def _cells(row: PriceRow, answer: PriceList) -> list[str]:
    rates = (row.input, row.cache_read, row.cache_write_5m, row.cache_write_1h, row.output)
    return [
        output.one_line(row.model),
        output.one_line(f"{row.provider}/{row.resolved}" if row.provider else row.resolved or ""),
        f"{answer.requests.get(row.model, 0):,}",
        *("?" if rate is None else f"{rate:g}" for rate in rates),
        _holds(row),
    ]


def _holds(row: PriceRow) -> str:
    if row.reason:
        return output.one_line(f"unknown: {row.reason}")
    parts = []
    if row.since:
        parts.append(f"since {row.since}")
    if row.hours:
        parts.append(row.hours)
    if row.above:
        parts.append(f"above {output.tokens(row.above)} input")
    if row.source == "config.toml":
        parts.append("from config.toml")
    return ", ".join(parts)
