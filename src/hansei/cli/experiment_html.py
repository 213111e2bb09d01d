"""A report as one page of HTML, with its three pictures."""

from __future__ import annotations

from math import log10
from typing import TYPE_CHECKING
from xml.etree.ElementTree import SubElement

from hansei.cli import experiment_charts as charts
from hansei.cli import html_page, output, plots
from hansei.cli.experiment_pages import median_columns, median_rows, title, unplaced
from hansei.cli.html_page import figure, said, table
from hansei.config import DAY_MS
from hansei.ops.experiments.words import headline, sentences, steps

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

    from hansei.ops.experiments.reports import Report, Span

_ARMS = (("without", "without the change"), ("with", "with it"))


def page(told: Report) -> str:
    """The whole page."""
    html, main = html_page.page(told.hypothesis)
    _top(main, told)
    _arms(main, told)
    _interval(main, told)
    _evidence(main, told)
    if told.medians:
        words = f"Medians, with {told.resamples:,} resamples; they describe, never decide"
        said(main, "h2", words)
        table(main, [it.title for it in median_columns(told)], median_rows(told))
    if told.left_out:
        said(main, "h2", unplaced(told))
        table(main, [], ((why, f"{count:,}") for why, count in told.left_out.items()))
    _next(main, told)
    return html_page.text(html)


def _top(main: Element, told: Report) -> None:
    said(main, "h1", told.hypothesis)
    said(main, "p", f"{title(told)}. Counts {told.counted}.", "soft")
    said(main, "p", headline(told), "word")
    said(main, "p", " ".join(sentences(told)))
    for line in told.notes:
        said(main, "p", line)


def _arms(main: Element, told: Report) -> None:
    """Both arms over time."""
    if not told.spans:
        return
    known = [it for span in told.spans for it in (span.control, span.treatment) if it is not None]
    top = max(known, default=0.0) or 1.0
    low = top / 20  # dots on the line are seen whole
    last = len(told.spans) - 1
    ends = {0.0: _day(told.spans[0].day)}
    if last:
        ends[float(last)] = _day(told.spans[-1].day + told.spans[-1].days - 1)
    draw = plots.paths(
        [_arm(told, css) for css, _ in _ARMS],
        plots.Axis(ends, -0.5, last + 0.5),
        plots.Axis({0.0: charts.height(told, 0.0), top: charts.height(told, top)}, -low, 1.1 * top),
    )
    days = told.spans[0].days
    each = "day" if days == 1 else f"{days} days"
    what = "Share of sessions" if told.verdict.control.hits is not None else told.counted
    caption = f"{what[0].upper()}{what[1:]} for each {each}; larger dots stand for more sessions."
    figure(main, draw, caption, "both arms over time", _ARMS)


def _arm(told: Report, css: str) -> plots.Path:
    def of(span: Span) -> tuple[float | None, int]:
        if css == "without":
            return span.control, span.control_sessions
        return span.treatment, span.treatment_sessions

    seen = [(place, *of(span)) for place, span in enumerate(told.spans)]
    known = [(place, value, size) for place, value, size in seen if value is not None]
    return plots.Path(
        [(float(place), value) for place, value, _ in known],
        f"var(--{css})",
        [min(8.0, 2.5 + size**0.5) for *_, size in known],
    )


def _day(day: int) -> str:
    return output.day(day * DAY_MS + DAY_MS // 2)


def _interval(main: Element, told: Report) -> None:
    """The difference with its interval."""
    found, middle = told.verdict.interval, told.verdict.difference
    if found is None or middle is None:
        return
    margin = charts.margin_of(told)
    words = (charts.difference(told, found.low), charts.difference(told, found.high))
    draw = plots.interval(plots.Span(found.low, middle, found.high, margin, words))
    caption = "Where the difference lies; the band would be too small to matter."
    figure(main, draw, caption, f"the difference lies between {words[0]} and {words[1]}")


def _evidence(main: Element, told: Report) -> None:
    """Evidence in both directions, after each step."""
    verdict = told.verdict
    if not verdict.steps:
        return
    most = log10(max(verdict.bar, *verdict.lower, *verdict.higher))
    bar, last = log10(verdict.bar), max(len(verdict.steps) - 1, 1)
    draw = plots.paths(
        [
            plots.Path(
                [(float(place), log10(max(it, 1.0))) for place, it in enumerate(path)],
                f"var(--{css})",
            )
            for css, path in (("with", verdict.lower), ("without", verdict.higher))
        ],
        plots.Axis({float(last): output.plural(len(verdict.steps), "step")}, 0, last * 1.12),
        plots.Axis({0.0: "1", bar: f"{verdict.bar:.0f}"}, 0, 1.1 * most),
        bar=bar,
        height=180,
    )
    key = (("with", "for less with the change"), ("without", "for more"))
    caption = "How the evidence grew; the dashed line is the bar."
    figure(main, draw, caption, "evidence after each session", key)


def _next(main: Element, told: Report) -> None:
    for step in steps(told):
        line = SubElement(main, "p")
        code = SubElement(line, "code")
        code.text = step.command
        code.tail = f" {step.why}"
