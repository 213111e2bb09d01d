"""One page of HTML: no script, nothing loaded, light and dark as the reader has it, and paper.

Made with the standard library's ElementTree, which escapes whatever words of transcripts come into
it. Words between backticks are code.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from hansei.cli import output, plots

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from hansei.cli.plots import Room

GENERATOR: Final = "hansei"
"""Named in every page, so that a page of ours is known from other people's files."""

_STYLE: Final = """
:root { color-scheme: light dark; --page: #fff; --ink: #1c1c1e; --soft: #5f6066; --line: #d9d9de;
  --with: #0a6cbd; --without: #9a6700; --third: #7a5195; --band: #edf1f6; --card: #f7f8fa; }
@media (prefers-color-scheme: dark) { :root { --page: #17181a; --ink: #ececee; --soft: #a5a5ad;
  --line: #3a3b40; --with: #6cb6ff; --without: #e3b341; --third: #c9a3e8; --band: #262d36;
  --card: #1e2023; } }
* { box-sizing: border-box; }
body { background: var(--page); color: var(--ink); font: 16px/1.5 system-ui, sans-serif;
  max-width: 760px; margin: 2rem auto; padding: 0 1rem; overflow-wrap: anywhere; }
h1 { font-size: 1.3rem; margin-bottom: 0; }
h2 { font-size: 1.15rem; margin: 2.6rem 0 .4rem; }
h3 { font-size: 1rem; margin: 0 0 .3rem; }
p { margin: .4rem 0; }
.soft, figcaption, .kind { color: var(--soft); font-size: .9rem; }
.word { font-size: 1.45rem; font-weight: 600; line-height: 1.3; margin: 1rem 0; }
figure { margin: 1.2rem 0; } svg { width: 100%; height: auto; display: block;
  overflow: visible; }
svg.narrow { display: none; } svg text { font-family: system-ui, sans-serif; }
.key { display: inline-block; margin-right: 1rem; }
.key i { display: inline-block; width: .7rem; height: .7rem; border-radius: 2px;
  margin-right: .35rem; }
.with { background: var(--with); } .without { background: var(--without); }
.third { background: var(--third); }
table { border-collapse: collapse; width: 100%; font-size: .9rem; }
caption { text-align: left; color: var(--soft); padding-bottom: .3rem; }
th, td { text-align: right; padding: .3rem .5rem; border-bottom: 1px solid var(--line);
  vertical-align: top; }
th:first-child, td:first-child, .left { text-align: left; }
thead th { color: var(--soft); font-weight: normal; overflow-wrap: normal; }
tbody th { font-weight: normal; } td:not(.left), .names tbody th { white-space: nowrap; }
details { margin: .5rem 0; } summary { cursor: pointer; color: var(--with); }
article { background: var(--card); border: 1px solid var(--line); border-radius: 8px;
  padding: .9rem 1rem; margin: .9rem 0; }
dl { display: grid; grid-template-columns: 5.5rem 1fr; gap: .2rem .6rem; margin: .6rem 0; }
dt { color: var(--soft); } dd { margin: 0; min-width: 0; }
ul.tiles { list-style: none; display: grid; gap: .6rem; padding: 0; margin: 1.2rem 0;
  grid-template-columns: repeat(auto-fit, minmax(9.5rem, 1fr)); }
ul.tiles li { border: 1px solid var(--line); border-radius: 8px; padding: .5rem .8rem; }
ul.tiles b { display: block; font-size: 1.2rem; }
pre, code { font-family: ui-monospace, "SF Mono", Consolas, monospace; }
code { background: var(--band); padding: .1rem .3rem; border-radius: 3px; font-size: .88em; }
pre { background: var(--band); padding: .6rem .8rem; border-radius: 6px; font-size: .8rem;
  white-space: pre-wrap; margin: .4rem 0; }
@media (max-width: 34rem) { svg.wide { display: none; } svg.narrow { display: block; }
  th, td { padding: .3rem .15rem; font-size: .78rem; } dl { grid-template-columns: 1fr; gap: 0; }
  dd { margin-bottom: .4rem; } .word { font-size: 1.2rem; } .roomy { display: none; } }
@media print { :root { color-scheme: light; --page: #fff; --ink: #000; --soft: #444;
  --line: #bbb; --with: #0a6cbd; --without: #9a6700; --third: #7a5195; --band: #f2f2f2;
  --card: #fff; }
  body { max-width: none; margin: 0; padding: 0; font-size: 11pt; }
  pre { border: 1px solid var(--line); } figure, tr, pre { break-inside: avoid; }
  h2, h3, .kind { break-after: avoid; }
  .key i { print-color-adjust: exact; }
  svg.wide { display: block; } svg.narrow { display: none; }
  details::details-content { content-visibility: visible; block-size: auto; }
  summary { color: #444; } }
"""


def page(title: str) -> tuple[Element, Element]:
    """An empty page, and its main part."""
    html = Element("html", lang="en")
    head = SubElement(html, "head")
    SubElement(head, "meta", charset="utf-8")
    SubElement(head, "meta", name="viewport", content="width=device-width, initial-scale=1")
    SubElement(head, "meta", name="generator", content=GENERATOR)
    SubElement(head, "title").text = output.safe(title)
    SubElement(head, "style").text = _STYLE
    return html, SubElement(SubElement(html, "body"), "main")


def text(html: Element) -> str:
    """The page as it is written to a file."""
    plots.apart(it for it in html.iter("svg"))
    for block in html.iter("main"):
        _indented(block)
    return "<!DOCTYPE html>\n" + tostring(html, encoding="unicode", method="html") + "\n"


def _indented(main: Element) -> None:
    """Line breaks between the parts of a page; what stands in `pre` stays as it is."""
    if not any(True for _ in main.iter("pre")):
        indent(main)
    else:
        for part in main:
            part.tail = "\n"


def said(parent: Element, tag: str, words: str, css: str | None = None) -> Element:
    """Words in an element of their own."""
    made = SubElement(parent, tag)
    if css is not None:
        made.set("class", css)
    parts = output.safe(words).split("`")
    if len(parts) % 2 == 0:  # one that nothing closes
        parts = ["`".join(parts)]
    made.text = parts[0]
    for code, after in zip(parts[1::2], parts[2::2], strict=True):
        part = SubElement(made, "code")
        part.text, part.tail = code, after
    return made


def shown(parent: Element, words: str) -> None:
    """A text as it is: an excerpt, a change."""
    SubElement(parent, "pre").text = output.safe(words)


def figure(
    parent: Element,
    draw: Callable[[Room], Element],
    caption: str,
    words: str,
    key: Sequence[tuple[str, str]] = (),
) -> None:
    """A picture, drawn for wide and for narrow pages; `words` are for those who do not see it."""
    made = SubElement(parent, "figure")
    if key:
        line = SubElement(made, "div", {"class": "soft"})
        for css, meaning in key:
            one = SubElement(line, "span", {"class": "key"})
            SubElement(one, "i", {"class": css}).tail = output.safe(meaning)
    for room in (plots.WIDE, plots.NARROW):
        picture = draw(room)
        picture.set("role", "img")
        named = Element("title")
        named.text = output.safe(words)
        picture.insert(0, named)
        made.append(picture)
    said(made, "figcaption", caption)


def table(
    parent: Element,
    head: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    caption: str = "",
    left: Sequence[int] = (),
    roomy: Sequence[int] = (),
    names: bool = False,
) -> None:
    """A table; columns that are `left` hold words, `roomy` ones are left out on narrow pages.

    `names` says that the first column holds names, which are not broken.
    """

    def css(place: int) -> str | None:
        names = ["left"] * (place in left) + ["roomy"] * (place in roomy)
        return " ".join(names) or None

    made = SubElement(parent, "table", {"class": "names"} if names else {})
    if caption:
        said(made, "caption", caption)
    if any(head):
        line = SubElement(SubElement(made, "thead"), "tr")
        for place, title in enumerate(head):
            said(line, "th", title, css(place)).set("scope", "col")
    body = SubElement(made, "tbody")
    for row in rows:
        line = SubElement(body, "tr")
        for place, cell in enumerate(row):
            one = said(line, "td" if place else "th", cell, css(place))
            if not place:
                one.set("scope", "row")


def folded(parent: Element, title: str, *, is_open: bool = False) -> Element:
    """A part that opens when one asks for it."""
    made = SubElement(parent, "details", {"open": ""} if is_open else {})
    said(made, "summary", title)
    return made
