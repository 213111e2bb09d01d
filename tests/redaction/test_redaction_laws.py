"""What holds for every text."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from hansei.redaction.engine import Redactor, shows_env_file
from hansei.redaction.redactor import PLACEHOLDER

REDACTOR = Redactor(b"a key for tests")

ANY_TEXT = st.text(st.characters(exclude_categories=()))


def _words(text: str) -> list[str]:
    return text.split()


PIECES = [
    *_words("= : == => \" ' ` \\ \\n @ / . - _ , ; & { } [ ] ( ) < > $ # % ! → é"),
    *_words("token TOKEN Secret password PASSWORD pwd api_key API-Key Authorization Bearer Basic"),
    *_words("postgres:// https:// user me@host --token --password curl -u export env name url"),
    *_words("ghp_ sk- sk-ant- AKIA AIza eyJ xoxb- SG. key- glpat- hf_ npm_ :AA sig= AccountKey="),
    *_words("a1b2c3d4e5f6 hunter2 correcthorse 12345678 A1B2C3D4E5F6G7H8 null your xxx"),
    *_words("-----BEGIN -----END [secret: [secret:value:0a1b2c3d] [secret:github-token:0a1b2c3d]"),
    *("-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----", "machine a login b password "),
    *(" ", "\n", "\0", "\x1b[0m", "0123456789abcdef" * 4, "Ab3" * 20),
]
SECRETISH = st.lists(st.sampled_from(PIECES), max_size=30).map("".join)
TEXTS = SECRETISH | ANY_TEXT


@settings(max_examples=600)
@given(TEXTS)
@example('token: "[secret:value:0a1b2c3d]"')
@example("postgres://me:[secret:value:0a1b2c3d]@host")
@example("PASSWORD=[secret:value:0a1b2c3d]")
@example("Authorization: Bearer [secret:github-token:0a1b2c3d]")
def test_cleaning_twice_is_cleaning_once(text: str) -> None:
    once = REDACTOR.scrub(text)
    assert REDACTOR.scrub(once) is once
    env = REDACTOR.scrub_env(text)
    assert REDACTOR.scrub_env(env) is env
    assert REDACTOR.scrub(env) is env


@settings(max_examples=300)
@given(TEXTS)
def test_what_comes_out_can_always_be_encoded(text: str) -> None:
    for clean in (REDACTOR.scrub(text), REDACTOR.scrub_env(text)):
        assert clean.encode().decode() == clean
        assert "\ufffd" not in clean or not _is_plain_unicode(text)


def _is_plain_unicode(text: str) -> bool:
    try:
        return "\ufffd" not in text.encode().decode()
    except UnicodeEncodeError:
        return False


@settings(max_examples=300)
@given(TEXTS)
def test_a_placeholder_is_never_touched(text: str) -> None:
    before = PLACEHOLDER.findall(text.encode(errors="replace"))
    for clean in (REDACTOR.scrub(text), REDACTOR.scrub_env(text)):
        after = PLACEHOLDER.findall(clean.encode())
        remaining = iter(after)
        assert all(placeholder in remaining for placeholder in before)


@settings(max_examples=300)
@given(TEXTS)
def test_a_fresh_redactor_agrees_with_one_that_has_seen_much(text: str) -> None:
    assert REDACTOR.scrub(text) == Redactor(b"a key for tests").scrub(text)


@given(st.text("0123456789abcdef", min_size=40, max_size=40), ANY_TEXT, ANY_TEXT)
def test_a_git_hash_stays(digest: str, before: str, after: str) -> None:
    for line in (f"commit {digest}", f"sha: {digest}", f'"key": "{digest}"', f"{digest}..{digest}"):
        assert line in REDACTOR.scrub(f"{before}\n{line}\n{after}")


@given(st.uuids(), ANY_TEXT)
def test_a_uuid_stays(uuid: object, before: str) -> None:
    for line in (f"session_id={uuid}", f'"tool_use_id": "{uuid}"', f"/x/{uuid}.jsonl", f"{uuid}"):
        assert line in REDACTOR.scrub(f"{before}\n{line}")


@given(TEXTS)
def test_asking_whether_something_shows_an_env_file_never_fails(text: str) -> None:
    assert shows_env_file(text) in (True, False)


def test_more_short_texts_than_are_remembered_are_all_cleaned() -> None:
    redactor = Redactor(b"k")
    texts = [f"API_TOKEN=a1b2c3d4e{number}" for number in range(25_000)]
    assert len({redactor.scrub(text) for text in texts}) == len(texts)


REPEATED = [
    "token=",
    'token="',
    "token='x\\",
    "token: str",
    "tokentoken",
    "token_",
    "password: ",
    "PASSWORD=a1b2c3 ",
    "--token ",
    "://",
    "://a:",
    "://a:b",
    "@",
    "eyJ",
    "eyJa.",
    "eyJ-",
    "eyJaaaaaaaa.eyJ",
    "sk-",
    "sk-proj-",
    "sk-ant-",
    "-----BEGIN",
    "-----BEGIN PRIVATE KEY-----",
    "-----BEGIN PRIVATE KEY-----\n" + "A" * 64,
    "-----",
    "Authorization: Bearer ",
    "earer ",
    "curl -u a:",
    " -u ",
    "machine a login b ",
    "sig=",
    "xoxb-",
    "SG.aaaaaaaaaaaaaaaaaaaa.",
    "[secret:",
    "[secret:value:0a1b2c3d]",
    "a.b.",
    "\\",
    "A='\n",
    'A="',
    "A=b\\n",
    "token=" + "a" * 4000 + "! ",
    "token=" + "aB" * 2000 + ".! ",
    "token=" + "1." * 2000 + "x ",
    "token=/Aa" + "a" * 2000 + "! ",
    'password="a' + ":" * 60 + '!" ',
    'password="a' + "->" * 30 + '!" ',
    "PASSWORD=" + "a(" * 1000 + " ",
    "://" + "a" * 100 + ":" + "b" * 300,
    " ",
    "\t1",
    " \n",
    "a-",
    "a/",
    "cat .env; ",
    "a=b ",
    "env",
    ".env.",
    "x" * 50,
    "0123456789abcdef",
]


@pytest.mark.parametrize("piece", REPEATED, ids=[repr(piece[:24]) for piece in REPEATED])
def test_time_grows_no_faster_than_the_text(piece: str) -> None:
    """Eight times the text takes about eight times as long; the square would be 64."""
    small, large = 20_000, 160_000
    for scrub in (REDACTOR.scrub, REDACTOR.scrub_env, shows_env_file):
        brief = _seconds(scrub, piece * (small // len(piece)))
        long = _seconds(scrub, piece * (large // len(piece)))
        assert long < 32 * max(brief, 0.0005)


def _seconds(scrub: Callable[[str], object], text: str) -> float:
    """The best of three runs by the process's own clock: other work does not count."""
    times = []
    for _ in range(3):
        start = time.process_time()
        scrub(text)
        times.append(time.process_time() - start)
    return min(times)
