"""Random instruction files and what people do to them, for tests of `instructions`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import strategies as st

from hansei.instructions.block import CLOSE, OPEN
from hansei.store.database import Store, open_store

NOW = 1_790_000_000_000
MEMORY = "/dev/shm" if Path("/dev/shm").is_dir() else None
"""Waiting for a disk proves nothing, and takes most of the time."""

LINES = st.sampled_from(
    [
        "",
        "# House rules",
        "- run `make test` before you push",
        "* ünïcode and 漢字",
        "plain words",
        "plain words",
        "    indented code",
        "1. first",
        "| a | b |",
        "<!-- a person's comment -->",
        f"we quote {OPEN} in a line",
        f"    {OPEN}",
        "tab\tand\x0bodd\u2028breaks\rinside",
        "  ",
    ]
)
FENCED = st.lists(
    st.sampled_from(["code", OPEN, CLOSE, "<!-- kfmt -->", "", "~~"]), max_size=4
).map(lambda inner: ["```sh", *inner, "```"])
WAVES = FENCED.map(lambda lines: ["~~~~", *lines, "~~~~"])
ENDS = st.sampled_from(["\n", "\r\n"])


@st.composite
def files(draw: st.DrawFn) -> str:
    """Markdown with code fences in which our markers are quoted, any line ends, maybe no last."""
    parts = draw(st.lists(st.one_of(LINES.map(lambda line: [line]), FENCED, WAVES), max_size=6))
    lines = [line for part in parts for line in part]
    one = draw(ENDS)
    mixed = draw(st.booleans())
    text = "".join(line + (draw(ENDS) if mixed else one) for line in lines)
    if text and draw(st.booleans()):
        text = text.removesuffix("\n").removesuffix("\r")
    return text


ITEMS = st.lists(
    st.sampled_from(
        [
            "- use `tsc --noEmit` in packages/api",
            "Never touch `gen/`: it is made by `make gen`.",
            "- two\n  lines",
            "Do:\n\n```sh\nmake types\n```",
            "- 漢字 <b>bold</b>",
            "a\n\nb",
        ]
    ),
    min_size=1,
    max_size=3,
    unique=True,
)
"""What hansei writes."""


@contextmanager
def ground() -> Iterator[tuple[Store, Path]]:
    """A store and an empty repository."""
    with TemporaryDirectory(dir=MEMORY) as folder:
        repository = Path(folder) / "repository"
        repository.mkdir()
        store = open_store(Path(folder) / "store", now=NOW)
        try:
            yield store, repository.resolve()
        finally:
            store.close()


def content(file: Path) -> bytes | None:
    return file.read_bytes() if file.exists() else None
