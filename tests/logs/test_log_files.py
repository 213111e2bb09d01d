"""What the bytes of a log are, in whichever state people hand it over."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hansei.sources.log_files import Form, taken_apart

ONE = json.dumps({"role": "user", "content": "grüß dich"}, ensure_ascii=False).encode()
TWO = json.dumps({"role": "assistant", "content": "hello"}).encode()


@pytest.mark.parametrize(
    ("data", "records", "faults"),
    [
        (b"%b\n%b\n" % (ONE, TWO), [1, 2], []),
        (b"\xef\xbb\xbf%b\r\n%b\r\n" % (ONE, TWO), [1, 2], []),
        (b"%b\n\0\0\0\0\n%b" % (ONE, TWO), [1, 3], []),
        (b"%b\n%b" % (ONE, TWO[:20]), [1], [2]),
        (b"<<<<<<< HEAD\n%b\n=======\n%b\n>>>>>>> other\n" % (ONE, TWO), [2, 4], [1, 3, 5]),
        (b"warning: old version\n%b\n%b\n" % (ONE, TWO), [2, 3], [1]),
        (b"%b\n%b\n" % (ONE, TWO.replace(b"hello", b"hel\xfflo")), [1, 2], [2]),
        (b"%b\n%b\n" % (ONE, TWO.replace(b"hello", b"x" * 1_500_000)), [1, 2], []),
        ((ONE + b"\n" + TWO).decode().encode("utf-16"), [1, 2], []),
    ],
    ids=["plain", "marked", "nuls", "cut", "merged", "warned", "bad bytes", "long", "utf-16"],
)
def test_lines_are_had_whatever_stands_between_them(
    data: bytes, records: list[int], faults: list[int]
) -> None:
    log = taken_apart(Path("x"), data)
    assert log.form is Form.LINES
    assert [record.line for record in log.records] == records
    assert [problem.line for problem in log.problems] == faults
    assert log.records[0].value["content"] == "grüß dich"
    assert log.size == len(data)


@pytest.mark.parametrize(
    ("data", "form"),
    [
        (b"", Form.EMPTY),
        (b"\n \0\n", Form.EMPTY),
        (b"# Notes\n\n{ not one }\n", Form.TEXT),
        (b"42", Form.TEXT),
        (ONE[:20], Form.BROKEN),
        (b"[" * 100_000, Form.BROKEN),
    ],
)
def test_what_is_no_log_is_told_by_what_it_is(data: bytes, form: Form) -> None:
    log = taken_apart(Path("x"), data)
    assert (log.form, log.records) == (form, [])
