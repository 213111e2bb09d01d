"""A report as one page of HTML: no script, nothing loaded, light and dark as the reader has it.

The pictures are SVG made with the standard library's ElementTree, which escapes whatever words of
transcripts come into it. Colours are CSS variables, so one picture serves both schemes.
"""

from __future__ import annotations

from math import log
from typing import TYPE_CHECKING, Final
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from hansei.cli import experiment_charts as charts
from hansei.cli import output
from hansei.cli.experiment_pages import median_columns, median_rows, title, unplaced
from hansei.ops.experiments.words import headline, sentences, steps

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from hansei.ops.experiments.reports import Report

WIDTH: Final = 720
LEFT: Final = 56
RIGHT: Final = 12

_STYLE: Final = """
:root { color-scheme: light dark; --page: #fff; --ink: #1c1c1e; --soft: #6b6b70; --line: #d6d6da;
  --with: #0a6cbd; --without: #9a6700; --band: #e9eef5; }
@media (prefers-color-scheme: dark) { :root { --page: #17181a; --ink: #ececee; --soft: #9b9ba1;
  --line: #3a3b40; --with: #6cb6ff; --without: #e3b341; --band: #232a33; } }
body { background: var(--page); color: var(--ink); font: 16px/1.5 system-ui, sans-serif;
  max-width: 760px; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.3rem; margin-bottom: 0; } h2 { font-size: 1rem; margin: 2rem 0 .3rem; }
.soft, figcaption { color: var(--soft); font-size: .9rem; }
.word { font-size: 1.6rem; font-weight: 600; }
figure { margin: 1.5rem 0; } svg { width: 100%; height: auto; } svg text { fill: var(--soft);
  font: 12px system-ui, sans-serif; }
table { border-collapse: collapse; width: 100%; font-size: .92rem; }
th, td { text-align: right; padding: .3rem .5rem; border-bottom: 1px solid var(--line); }
th:first-child, td:first-child { text-align: left; } th { color: var(--soft); font-weight: normal; }
.axis { stroke: var(--line); } .bar { stroke: var(--soft); stroke-dasharray: 4 4; }
.with { stroke: var(--with); fill: var(--with); } .without { stroke: var(--without);
  fill: var(--without); } .band { fill: var(--band); } polyline { fill: none; stroke-width: 2; }
polyline.with, polyline.without { fill: none; }
svg text.with { fill: var(--with); stroke: none; }
svg text.without { fill: var(--without); stroke: none; }
@media (max-width: 30rem) { th, td { padding: .3rem .15rem; font-size: .75rem; } }
code { background: var(--band); padding: .1rem .3rem; border-radius: 3px; }
"""


def page(told: Report) -> str:
    """The whole page."""
    html = Element("html", lang="en")
    head = SubElement(html, "head")
    SubElement(head, "meta", charset="utf-8")
    SubElement(head, "meta", name="viewport", content="width=device-width, initial-scale=1")
    SubElement(head, "title").text = output.safe(told.hypothesis)
    SubElement(head, "style").text = _STYLE
    body = SubElement(html, "body")
    _top(body, told)
    for caption, picture in (
        (_arms_caption(told), _arms),
        ("Where the difference lies; the band would be too small to matter.", _interval),
        ("How the evidence grew; the dashed line is the bar.", _evidence),
    ):
        _figure(body, told, caption, picture)
    _medians(body, told)
    _left_out(body, told)
    _next(body, told)
    indent(body)
    return "<!DOCTYPE html>\n" + tostring(html, encoding="unicode", method="html") + "\n"


def _top(body: Element, told: Report) -> None:
    _said(body, "h1", told.hypothesis)
    _said(body, "p", f"{title(told)}. Counts {told.counted}.", "soft")
    _said(body, "p", headline(told), "word")
    _said(body, "p", " ".join(sentences(told)))
    for line in told.notes:
        _said(body, "p", line)


def _said(parent: Element, tag: str, text: str, css: str | None = None) -> Element:
    made = SubElement(parent, tag)
    if css is not None:
        made.set("class", css)
    parts = output.safe(text).split("`")
    if len(parts) % 2 == 0:  # one that nothing closes
        parts = ["`".join(parts)]
    made.text = parts[0]
    for code, after in zip(parts[1::2], parts[2::2], strict=True):
        part = SubElement(made, "code")
        part.text, part.tail = code, after
    return made


def _figure(
    body: Element, told: Report, caption: str, draw: Callable[[Report], Element | None]
) -> None:
    picture = draw(told)
    if picture is None:
        return
    figure = SubElement(body, "figure")
    figure.append(picture)
    _said(figure, "figcaption", caption)


def _canvas(height: int, words: str) -> Element:
    return Element(
        "svg",
        {
            "xmlns": "http://www.w3.org/2000/svg",
            "viewBox": f"0 0 {WIDTH} {height}",
            "role": "img",
            "aria-label": words,
        },
    )


def _line(parent: Element, css: str, x1: float, y1: float, x2: float, y2: float) -> None:
    places = {"x1": x1, "y1": y1, "x2": x2, "y2": y2}
    SubElement(parent, "line", {"class": css, **{k: f"{v:.1f}" for k, v in places.items()}})


def _text(
    parent: Element, x: float, y: float, words: str, anchor: str = "start", css: str = ""
) -> None:
    made = SubElement(parent, "text", {"x": f"{x:.1f}", "y": f"{y:.1f}", "text-anchor": anchor})
    if css:
        made.set("class", css)
    made.text = output.safe(words)


def _dot(parent: Element, css: str, x: float, y: float, radius: float = 3) -> None:
    SubElement(
        parent, "circle", {"class": css, "cx": f"{x:.1f}", "cy": f"{y:.1f}", "r": f"{radius:.1f}"}
    )


def _path(parent: Element, css: str, points: Sequence[tuple[float, float]]) -> None:
    words = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    SubElement(parent, "polyline", {"class": css, "points": words})


def _across(place: int, count: int) -> float:
    return LEFT + (WIDTH - LEFT - RIGHT) * (place + 0.5) / max(1, count)


# --- the three pictures ---------------------------------------------------------------------------


def _arms_caption(told: Report) -> str:
    days = told.spans[0].days if told.spans else 1
    each = "day" if days == 1 else f"{days} days"
    what = "Share of sessions" if told.verdict.control.hits is not None else told.counted
    return f"{what[0].upper()}{what[1:]} for each {each}; larger dots stand for more sessions."


def _arms(told: Report) -> Element | None:
    """Both arms over time."""
    if not told.spans:
        return None
    made, height = _canvas(220, "both arms over time"), 180.0
    known = [it for span in told.spans for it in (span.control, span.treatment) if it is not None]
    top = max(known, default=0.0) or 1.0

    def down(value: float) -> float:
        return height - (height - 24) * value / top

    _line(made, "axis", LEFT, height, WIDTH - RIGHT, height)
    _text(made, LEFT - 6, down(top) + 4, charts.height(told, top), "end")
    _text(made, LEFT - 6, height + 4, charts.height(told, 0.0), "end")
    count = len(told.spans)
    for css in ("without", "with"):
        values = [it.control if css == "without" else it.treatment for it in told.spans]
        sizes = [
            it.control_sessions if css == "without" else it.treatment_sessions for it in told.spans
        ]
        points = [(_across(n, count), down(it)) for n, it in enumerate(values) if it is not None]
        _path(made, css, points)
        for place, (value, size) in enumerate(zip(values, sizes, strict=True)):
            if value is not None:
                _dot(made, css, _across(place, count), down(value), min(7.0, 2 + size**0.5))
    first, last = told.spans[0].day, told.spans[-1].day + told.spans[-1].days - 1
    _text(made, LEFT, height + 20, output.day(first * 86_400_000 + 43_200_000))
    _text(made, WIDTH - RIGHT, height + 20, output.day(last * 86_400_000 + 43_200_000), "end")
    _text(made, LEFT + 4, 14, "● without the change", css="without")
    _text(made, LEFT + 170, 14, "● with it", css="with")
    return made


def _interval(told: Report) -> Element | None:
    """The difference with its interval."""
    found, middle = told.verdict.interval, told.verdict.difference
    if found is None or middle is None:
        return None
    made = _canvas(92, "the difference and its interval")
    margin = told.margin if told.verdict.control.hits is not None else log(1.25)
    # Wide enough that what is written beside the ends of the interval stays inside.
    reach = 1.25 * max(abs(found.low), abs(found.high), 2 * margin)

    def across(value: float) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * (value + reach) / (2 * reach)

    SubElement(
        made,
        "rect",
        {
            "class": "band",
            "x": f"{across(-margin):.1f}",
            "y": "20",
            "width": f"{across(margin) - across(-margin):.1f}",
            "height": "44",
        },
    )
    _line(made, "axis", across(0), 20, across(0), 64)
    _line(made, "with", across(found.low), 42, across(found.high), 42)
    for end in found:
        _line(made, "with", across(end), 34, across(end), 50)
    _dot(made, "with", across(middle), 42, 5)
    _text(made, across(0), 13, "no difference", "middle")
    _text(made, across(found.low), 82, charts.difference(told, found.low), "end")
    _text(made, across(found.high), 82, charts.difference(told, found.high))
    return made


def _evidence(told: Report) -> Element | None:
    """Evidence in both directions, after each step."""
    verdict = told.verdict
    if not verdict.steps:
        return None
    made, height = _canvas(180, "evidence after each session"), 150.0
    most = max(verdict.bar, *verdict.lower, *verdict.higher)

    def down(value: float) -> float:
        return height - (height - 20) * log(max(value, 1.0)) / log(most)

    _line(made, "axis", LEFT, height, WIDTH - RIGHT, height)
    _line(made, "bar", LEFT, down(verdict.bar), WIDTH - RIGHT, down(verdict.bar))
    _text(made, LEFT - 6, down(verdict.bar) + 4, f"{verdict.bar:.0f}", "end")
    _text(made, LEFT - 6, height + 4, "1", "end")
    count = len(verdict.steps)
    for css, path in (("with", verdict.lower), ("without", verdict.higher)):
        _path(made, css, [(_across(place, count), down(it)) for place, it in enumerate(path)])
    _text(made, LEFT + 4, 12, "● for less with the change", css="with")
    _text(made, LEFT + 200, 12, "● for more", css="without")
    _text(made, WIDTH - RIGHT, height + 18, f"{count:,} steps", "end")
    return made


# --- the rest -------------------------------------------------------------------------------------


def _medians(body: Element, told: Report) -> None:
    if not told.medians:
        return
    _said(body, "h2", f"Medians, with {told.resamples:,} resamples; they describe, never decide")
    table = SubElement(body, "table")
    head = SubElement(table, "tr")
    for column in median_columns(told):
        _said(head, "th", column.title)
    for row in median_rows(told):
        line = SubElement(table, "tr")
        for cell in row:
            _said(line, "td", cell)


def _left_out(body: Element, told: Report) -> None:
    if not told.left_out:
        return
    _said(body, "h2", unplaced(told))
    table = SubElement(body, "table")
    for why, count in told.left_out.items():
        line = SubElement(table, "tr")
        _said(line, "td", why)
        _said(line, "td", f"{count:,}")


def _next(body: Element, told: Report) -> None:
    for step in steps(told):
        line = SubElement(body, "p")
        code = SubElement(line, "code")
        code.text = step.command
        code.tail = f" {step.why}"
