"""Pictures for pages: SVG drawn by ziaplot, coloured by the page.

A colour is a CSS variable, so one picture serves light, dark and paper. Words that are drawn come
from transcripts: ziaplot builds an ElementTree, which escapes them. Each picture is drawn for a
wide and for a narrow page, because an SVG that shrinks takes its letters along.
"""

from __future__ import annotations

import re
from itertools import count
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from hansei.cli import output

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from xml.etree.ElementTree import Element


class Room(NamedTuple):
    """The page that a picture is drawn for."""

    name: str
    width: int
    letters: int
    """That a label beside a bar may take."""
    marks: int
    """Labels that fit below one another on the long axis."""


WIDE: Final = Room("wide", 720, 44, 12)
NARROW: Final = Room("narrow", 340, 20, 5)

_FONT: Final = 13
_CSS: Final = f"""
* {{ font: system-ui, sans-serif; font_size: {_FONT}; color: var(--soft); edge_color: none;
     edge_width: 0; }}
Canvas {{ color: none; }}
Graph {{ color: none; edge_color: none; edge_width: 0; font_size: {_FONT}; }}
Bars {{ edge_width: 0; edge_color: none; }}
BarsHoriz {{ edge_width: 0; edge_color: none; }}
Graph.GridX {{ color: none; }}
Graph.GridY {{ color: var(--line); stroke: solid; stroke_width: 1; }}
Graph.TickX {{ font_size: {_FONT}; color: var(--soft); height: 0; stroke_width: 0; pad: 0; }}
Graph.TickY {{ font_size: {_FONT}; color: var(--soft); height: 0; stroke_width: 0; pad: 0; }}
Text {{ font_size: {_FONT}; color: var(--ink); }}
PolyLine {{ stroke_width: 2; edge_width: 0; edge_color: none; }}
"""
_BAR: Final = 26
"""Of a bar and the space below it, as high as a line of text."""
_LETTER: Final = 8.2
"""Width of a letter, of the wider fonts that browsers take."""
_SLACK: Final = 1.6
"""Of these, what ziaplot, which counts with narrow letters, leaves no room for."""


class Bar(NamedTuple):
    """One bar with what is written beside and behind it."""

    name: str
    value: float
    told: str
    colour: str = "var(--with)"


def bars(rows: Sequence[Bar]) -> Callable[[Room], Element]:
    """Bars from left to right, the first on top, each with its number behind it."""

    def draw(room: Room) -> Element:
        import ziaplot as zp

        most = max((it.value for it in rows), default=0) or 1
        behind = max((len(it.told) for it in rows), default=0) + 1
        names = [output.cut(output.one_line(it.name), room.letters, "ends") for it in rows]
        letters = max((output.width(it) for it in names), default=0)
        room_for_bars = max(room.width - (letters + behind) * _LETTER, 40)
        last = len(rows) - 1
        with zp.Graph() as made:
            for place, it in enumerate(rows):
                zp.BarsHoriz([last - place], [it.value], width=0.62).color(it.colour)
                zp.Text(it.value, last - place, f"\xa0{output.one_line(it.told)}", valign="center")
            made.yticks([last - place for place in range(len(rows))], names)
            made.noxticks()
            made.xrange(0, most * (1 + behind * _LETTER / room_for_bars))
            made.yrange(-0.6, last + 0.6)
        height = len(rows) * _BAR + 16
        return _drawn(made, room, height, "Graph.GridY { color: none; }", _SLACK * letters)

    return draw


class Layer(NamedTuple):
    """One part of every column."""

    values: Sequence[float]
    colour: str


def columns(names: Sequence[str], layers: Sequence[Layer]) -> Callable[[Room], Element]:
    """Columns over time, the layers on top of one another."""

    def draw(room: Room) -> Element:
        import ziaplot as zp

        places = list(range(len(names)))
        with zp.Graph() as made:
            below = [0.0] * len(names)
            for layer in layers:
                tops = [one + more for one, more in zip(below, layer.values, strict=True)]
                zp.Bars(places, tops, y2=below, width=0.7).color(layer.colour)
                below = tops
            most = max(below, default=0.0) or 1.0
            steps = _steps(most)
            made.yticks(steps, [output.tokens(round(it)).replace(".0 ", " ") for it in steps])
            shown = places[:: -(-len(places) // room.marks) or 1]
            made.xticks(shown, [names[it] for it in shown])
            made.xrange(-0.6, len(names) - 0.4)
            made.yrange(0, max(steps[-1], most))
        return _drawn(made, room, 240)

    return draw


class Path(NamedTuple):
    """Points that belong together, joined by a line."""

    points: Sequence[tuple[float, float]]
    colour: str
    radii: Sequence[float] = ()
    """Of a dot at each point; none where there are none."""


class Axis(NamedTuple):
    """What is written along a side: places with their words, from where to where."""

    marks: Mapping[float, str]
    low: float
    high: float


def paths(
    lines: Sequence[Path], across: Axis, up: Axis, *, bar: float | None = None, height: int = 220
) -> Callable[[Room], Element]:
    """Lines over time or steps; `bar` is a height that is marked."""

    def draw(room: Room) -> Element:
        import ziaplot as zp

        with zp.Graph() as made:
            if bar is not None:
                zp.HLine(bar).color("var(--soft)").stroke("dashed")
            for line in lines:
                _line(zp, line)
            _axes(made, across, up)
        return _drawn(made, room, height, "Graph.GridY { color: none; }")

    return draw


def _line(zp: Any, line: Path) -> None:
    if len(line.points) > 1:
        zp.PolyLine(*map(list, zip(*line.points, strict=True))).color(line.colour)
    for point, radius in zip(line.points, line.radii, strict=False):
        _dot(zp, point, radius, line.colour)


def _dot(zp: Any, point: tuple[float, float], radius: float, colour: str) -> None:
    """A line without length that has a mark: what ziaplot makes of a single point is no path."""
    x, y = point
    zp.PolyLine([x, x], [y, y]).color(colour).marker("o", radius)


def _axes(made: Any, across: Axis, up: Axis) -> None:
    for axis, marks, span in (
        (across, made.xticks, made.xrange),
        (up, made.yticks, made.yrange),
    ):
        marks(list(axis.marks), list(axis.marks.values()))
        span(axis.low, axis.high)


class Span(NamedTuple):
    """An amount with the interval it lies in, and what would be too little to matter."""

    low: float
    middle: float
    high: float
    margin: float
    words: tuple[str, str]
    """At the two ends."""


def interval(told: Span) -> Callable[[Room], Element]:
    """Where an amount lies, beside nothing at all."""

    def draw(room: Room) -> Element:
        import ziaplot as zp

        # Wide enough that what is written at the ends of the interval stays inside.
        reach = 1.3 * max(abs(told.low), abs(told.high), 2 * told.margin)
        with zp.Graph() as made:
            zp.Bars([0], [2], width=2 * told.margin).color("var(--band)")
            zp.PolyLine([0, 0], [0, 2]).color("var(--soft)").stroke("dashed")
            zp.PolyLine([told.low, told.high], [1, 1]).color("var(--with)")
            for end, word, side in zip(
                (told.low, told.high), told.words, ("right", "left"), strict=True
            ):
                zp.PolyLine([end, end], [0.7, 1.3]).color("var(--with)")
                zp.Text(end, 0.35, word, halign="center" if room is NARROW else side)
            _dot(zp, (told.middle, 1), 6, "var(--with)")
            made.xticks([0], ["no difference"])
            made.noyticks()
            made.xrange(-reach, reach)
            made.yrange(0, 2)
        return _drawn(made, room, 110, "Graph.GridY { color: none; }")

    return draw


def _steps(most: float) -> list[float]:
    """Two to four round heights up to the highest."""
    size = 10.0 ** len(str(int(most)))
    while size > most:
        size /= 10
    step = next((size * it for it in (0.25, 0.5, 1, 2, 2.5, 5) if most / (size * it) <= 4), size)
    return [step * it for it in range(int(most / step) + 1)]


# --- the picture itself ---------------------------------------------------------------------------

_NAMED: Final = re.compile(r"url\(#([\w-]+)\)")


def _drawn(made: Any, room: Room, height: int, more: str = "", left: float = 0.0) -> Element:
    """The picture of a graph, with so much space on its left."""
    made.css(_CSS + more)
    made.size(room.width - left, height)
    found: Element = made.svgxml()
    found.set("class", room.name)
    found.set("viewBox", f"{-left:g} 0 {room.width} {height}")
    for size in ("width", "height"):  # the page decides, by the box it is drawn in
        del found.attrib[size]
    return found


def apart(pictures: Iterator[Element]) -> None:
    """Give every part that is named a name of its own: ids belong to the whole page."""
    for number, picture in zip(count(1), pictures, strict=False):
        for part in picture.iter():
            for key, value in list(part.attrib.items()):
                if key == "id":
                    part.set(key, f"p{number}-{value}")
                elif "url(#" in value:
                    part.set(key, _NAMED.sub(rf"url(#p{number}-\1)", value))
