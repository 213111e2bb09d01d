"""`hansei retro --html`: a page that a real browser shows in light and dark, wide and narrow."""

from __future__ import annotations

import json
import shutil
import time
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from browser import Browser, Tab, browser, installed
from hansei.cli import app, html_page, page_files, plots
from hansei.cli.retro_html import EXCERPT, excerpt
from hansei.cli.root import root
from hansei.config import Environment
from hansei.errors import StoreUnwritable, UsageError
from hansei.synth import World, build
from synthetic_world import NOW, even_place

Ask = Callable[..., str]
SVG = "{http://www.w3.org/2000/svg}"
SECTIONS = [
    "What to change",
    "Where the tokens went",
    "Week by week",
    "What failed again and again",
    "What instructions take",
    "Do such bets come true here?",
    "How the numbers came about",
]


@pytest.fixture(scope="module")
def world() -> Iterator[World]:
    with even_place() as folder:
        yield build(folder, seed=11, now_ms=NOW, sessions=50, weeks=6, agents=("claude_code",))


@pytest.fixture(scope="module")
def store(world: World, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store in which the history is, and its facts."""
    folder = tmp_path_factory.mktemp("store")
    _type(world, folder, world.repo, "facts", "--json")
    return folder


def _type(world: World, store: Path, where: Path, *arguments: str) -> None:
    here = Environment(world.home, {"HANSEI_HOME": str(store), "PATH": "/usr/bin:/bin"})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(app, "now", lambda: NOW)
        patch.setenv("TZ", "UTC")
        time.tzset()
        with app.elsewhere(app.Place(here, where)):
            root.main(args=list(arguments), standalone_mode=False)
    time.tzset()


@pytest.fixture
def ask(world: World, store: Path, capsys: pytest.CaptureFixture[str]) -> Ask:
    """Type a command in the generated repository and read what it prints."""

    def run(*arguments: str, where: Path = world.repo) -> str:
        capsys.readouterr()
        _type(world, store, where, *arguments, "--no-ingest")
        return capsys.readouterr().out

    return run


@pytest.fixture(scope="module")
def page(world: World, store: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("page") / "retro.html"
    _type(world, store, world.repo, "retro", "--html", str(path), "--no-ingest")
    return path.read_text(encoding="utf-8")


def parsed(page: str) -> ET.Element:
    """The main part as a tree: it is well-formed."""
    body = page.partition("<main>")[2].partition("</main>")[0]
    return ET.fromstring(f"<main>{body}</main>")


# --- what stands on it ----------------------------------------------------------------------------


def test_it_is_whole_in_itself_and_small(page: str) -> None:
    for word in ("<script", "src=", "href=", "@import", "url(http", "<link", "<img"):
        assert word not in page
    assert page.count("http") == page.count("http://www.w3.org/2000/svg")
    assert len(page.encode()) < 2_000_000
    assert "prefers-color-scheme: dark" in page
    assert "@media print" in page


def test_it_says_what_matters_then_the_bets_then_where_tokens_went(page: str) -> None:
    tree = parsed(page)
    assert [it.text for it in tree.iter("h2")] == SECTIONS
    first = next(it for it in tree if it.get("class") == "word")
    best = tree.find("article/h3")
    assert best is not None
    claim = "".join(best.itertext()).removeprefix("1. ")
    assert "".join(first.itertext()).startswith(claim.rstrip("."))
    assert "tokens a week" in "".join(first.itertext())


def test_every_picture_has_words_and_no_two_parts_share_a_name(page: str) -> None:
    tree = parsed(page)
    pictures = list(tree.iter(f"{SVG}svg"))
    assert len(pictures) == 2 * 4
    assert all(len(it.findtext(f"{SVG}title") or "") > 20 for it in pictures)
    names = [it.get("id") for it in tree.iter() if it.get("id")]
    assert len(names) == len(set(names)) > 0
    assert all(f"url(#{name})" in page for name in names)


def test_the_evidence_of_a_bet_is_what_show_prints(ask: Ask, page: str) -> None:
    card = parsed(page).find("article")
    assert card is not None
    opened = card.find("details")
    assert opened is not None
    place = opened.find("p/code")
    shown = opened.find("pre")
    assert place is not None
    assert shown is not None
    told = ask(*(place.text or "").split()[1:])
    assert (shown.text or "").splitlines()[0] in told
    for line in (shown.text or "").splitlines():
        assert line.rstrip("…") in told or line.startswith("…")


def test_numbers_say_how_they_came_about(page: str) -> None:
    words = "".join(parsed(page).itertext())
    for kind in ("measured", "derived", "unknown"):
        assert f"({kind}" in words or kind in words
    assert "saved at most: if it never recurs" in words


def test_all_workspaces_make_one_page(ask: Ask) -> None:
    whole = ask("retro", "--all", "--html", "-")
    assert "Retro · all workspaces" in whole
    assert [it.text for it in parsed(whole).iter("h2")] == SECTIONS


def test_a_place_without_sessions_makes_a_page_that_says_so(ask: Ask, tmp_path: Path) -> None:
    empty = ask("retro", "--html", "-", where=tmp_path)
    assert "There are no sessions to look back at." in empty
    assert "<svg" not in empty


def test_words_of_transcripts_stay_words() -> None:
    html, main = html_page.page("<script>alert(1)</script>")
    evil = '<img src=x onerror="alert(1)"> \x1b[31m `<b>`'
    html_page.said(main, "p", evil)
    html_page.shown(main, "</pre><script>alert(2)</script>")
    html_page.table(main, [evil], [[evil]])
    html_page.figure(main, plots.bars([plots.Bar(evil, 3, evil)]), evil, evil)
    text = html_page.text(html)
    for word in ("<script", "<img", "<b>", "\x1b"):
        assert word not in text


@pytest.mark.parametrize("count", [0, EXCERPT, EXCERPT + 1, 500])
def test_an_excerpt_keeps_both_ends(count: int) -> None:
    lines = [f"{n}" + "x" * 1000 for n in range(count)]
    found = excerpt(lines)
    assert len(found) <= EXCERPT + 1
    assert all(len(it) <= 301 for it in found)
    if count:
        assert (found[0][0], found[-1][0]) == (lines[0][0], lines[-1][0])


# --- where it goes --------------------------------------------------------------------------------


def test_without_a_name_it_goes_into_the_store(ask: Ask, store: Path) -> None:
    path = Path(ask("retro", "--html").strip())
    assert path.parent == store / "pages"
    assert path.stat().st_mode & 0o077 == 0
    assert path.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")


@pytest.mark.parametrize(
    ("named", "workspace", "wanted"),
    [
        ("new/r.html", "app", "here/new/r.html"),
        ("", "app", "store/pages/retro-app.html"),
        ("", "../we ird (x)", "store/pages/retro-we-ird-x.html"),
        ("", None, "store/pages/retro-all.html"),
        (".", None, "here/hansei-retro.html"),
    ],
)
def test_a_name_is_taken_as_it_is(
    tmp_path: Path, named: str, workspace: str | None, wanted: str
) -> None:
    here, store = tmp_path / "here", tmp_path / "store"
    here.mkdir()
    path = page_files.place(named, here, store, workspace)
    assert path == tmp_path / wanted
    page_files.write(path, html_page.text(html_page.page("one")[0]))
    page_files.write(path, html_page.text(html_page.page("two")[0]))
    assert "<title>two</title>" in path.read_text(encoding="utf-8")
    assert [it.name for it in path.parent.iterdir()] == [path.name]


def test_a_file_of_somebody_else_is_left_alone(tmp_path: Path) -> None:
    theirs = tmp_path / "index.html"
    theirs.write_text("<p>mine</p>", encoding="utf-8")
    with pytest.raises(UsageError, match="not made by hansei"):
        page_files.write(theirs, "text")
    assert theirs.read_text(encoding="utf-8") == "<p>mine</p>"


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(StoreUnwritable, match=r"page\.html cannot be written"):
        page_files.write(tmp_path / "file" / "page.html", "text")


@pytest.mark.parametrize(
    "arguments",
    [
        ("--html", "--json"),
        ("--html", "--markdown"),
        ("--html", "--calibration"),
        ("--html", "--explain", "1"),
        ("--open",),
        ("--html", "-", "--open"),
    ],
)
def test_what_cannot_be_meant_together_is_refused(ask: Ask, arguments: tuple[str, ...]) -> None:
    with pytest.raises(UsageError):
        ask("retro", *arguments)


def test_forgetting_takes_the_pages_of_the_store(
    ask: Ask, world: World, store: Path, tmp_path: Path
) -> None:
    own = tmp_path / "own"
    shutil.copytree(store, own)
    page = own / "pages" / "retro-old.html"
    page.parent.mkdir(exist_ok=True)
    page.write_text("words", encoding="utf-8")
    _type(world, own, world.repo, "forget", str(world.repo), "--yes")
    assert not page.exists()


# --- do such bets come true ---------------------------------------------------------------------


def test_calibration_tells_each_heuristic_and_the_rules(ask: Ask) -> None:
    text = ask("retro", "--calibration")
    told = json.loads(ask("retro", "--calibration", "--json"))
    assert told["schema"] == "hansei.retro.calibration/1"
    (found,) = told["workspaces"]
    assert found["weeks"] >= 3
    assert found["scores"]
    for score in found["scores"]:
        (line,) = (it for it in text.splitlines() if it.startswith(score["heuristic"]))
        assert line.endswith(score["standing"])
        assert score["low"] <= score["seen"] <= score["high"]
    assert all(f"{name}: " in text for name in told["rules"])


def test_calibration_of_a_place_without_a_past_says_what_is_missing(
    ask: Ask, tmp_path: Path
) -> None:
    assert "There is no past to replay" in ask("retro", "--calibration", where=tmp_path)


# --- in a browser ---------------------------------------------------------------------------------

DRAWN = """
[...document.querySelectorAll('svg')].filter(it => it.getClientRects().length).map(it => {
  const box = it.getBoundingClientRect();
  const shapes = [...it.querySelectorAll(':scope > rect, :scope > path')].filter(one => {
    const own = one.getBBox();
    return own.width > 0 && own.height > 0 && one.getAttribute('fill') != 'none';
  });
  return [box.width, box.height, shapes.length, it.querySelectorAll('text').length];
})
"""
CONTRAST = """
(() => {
  const light = colour => {
    const parts = colour.match(/[\\d.]+/g).slice(0, 3).map(it => it / 255)
      .map(it => it <= 0.03928 ? it / 12.92 : ((it + 0.055) / 1.055) ** 2.4);
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2];
  };
  const page = light(getComputedStyle(document.body).backgroundColor);
  const against = colour => {
    const one = light(colour);
    return (Math.max(one, page) + 0.05) / (Math.min(one, page) + 0.05);
  };
  const words = [...document.querySelectorAll('p, td, th, dt, dd, summary, figcaption')]
    .map(it => against(getComputedStyle(it).color));
  const drawn = [...document.querySelectorAll('svg text')]
    .map(it => against(getComputedStyle(it).fill));
  const bars = [...document.querySelectorAll('svg > rect')].map(it => getComputedStyle(it).fill)
    .filter(it => it != 'none').map(against);
  return [Math.min(...words), Math.min(...drawn), Math.min(...bars)];
})()
"""


@pytest.fixture(scope="module")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    program = installed()
    if program is None:
        pytest.skip("no Chromium or Chrome is installed here")
    with browser(program, tmp_path_factory.mktemp("profile")) as running:
        yield running


@pytest.fixture
def tab(chromium: Browser, page: str, tmp_path: Path) -> Tab:
    file = tmp_path / "retro.html"
    file.write_text(page, encoding="utf-8")
    return chromium.open(file)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_browser_draws_every_picture_and_complains_of_nothing(tab: Tab, scheme: str) -> None:
    tab.look(scheme=scheme)
    found: list[Any] = tab.run(DRAWN)
    assert len(found) == 4
    for width, height, shapes, words in found:
        assert min(width, height) > 50
        assert shapes > 0
        assert words > 1
    words, drawn, bars = tab.run(CONTRAST)
    assert min(words, drawn) >= 4.5, "letters are hard to read"
    assert bars >= 3, "bars are hard to see"
    assert tab.complaints == []
    assert [it for it in tab.requests if not it.startswith("file:")] == []
    assert len(tab.requests) == 1


def test_light_and_dark_differ(tab: Tab) -> None:
    seen = []
    for scheme in ("light", "dark"):
        tab.look(scheme=scheme)
        seen.append(tab.run("getComputedStyle(document.body).backgroundColor"))
    assert seen == ["rgb(255, 255, 255)", "rgb(23, 24, 26)"]


@pytest.mark.parametrize("width", [320, 375, 900])
def test_nothing_is_wider_than_the_page(tab: Tab, width: int) -> None:
    tab.look(width=width)
    tab.run("document.querySelectorAll('details').forEach(it => it.open = true)")
    assert tab.run("document.documentElement.scrollWidth") <= width
    assert len(tab.run(DRAWN)) == 4


def test_it_can_be_printed(tab: Tab) -> None:
    tab.look(scheme="dark")
    paper = tab.printed()
    assert paper.startswith(b"%PDF")
    tab.ask("Emulation.setEmulatedMedia", media="print")
    assert tab.run("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert len(tab.run(DRAWN)) == 4
