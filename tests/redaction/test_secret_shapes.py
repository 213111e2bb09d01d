"""Every rule by shape finds its secrets wherever they stand, and nothing else.

No secret stands in this file: all are made at run time, from a seeded generator.
"""

from __future__ import annotations

import json
import re
from itertools import pairwise
from pathlib import Path
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fake_secrets import Maker, fakes
from hansei.redaction.engine import Redactor
from hansei.redaction.redactor import PLACEHOLDER
from hansei.redaction.rules import RULES

REDACTOR = Redactor(b"a key for tests")
KINDS = sorted(fakes(0))


def shown(text: str) -> list[str]:
    """The placeholders in a text."""
    return [match.decode() for match in PLACEHOLDER.findall(text.encode())]


def test_every_literal_of_every_rule_is_tried_here() -> None:
    made = fakes(1)
    assert set(made) == {rule.name for rule in RULES}
    for rule in RULES:
        texts = "\n".join(fake.text for fake in made[rule.name])
        assert [literal for literal in rule.literals if literal not in texts] == []


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(8))
def test_a_secret_becomes_a_placeholder_of_its_kind(kind: str, seed: int) -> None:
    for fake in fakes(seed)[kind]:
        (placeholder,) = shown(REDACTOR.scrub(fake.text))
        assert placeholder.startswith(f"[secret:{kind}:")
        assert REDACTOR.scrub(fake.text) == fake.text.replace(fake.secret, placeholder)


CONTEXTS = {
    "prose": "I used {} for it.\n",
    "quoted": 'const x = "{}";',
    "shell": "curl -s -H 'X: {}' https://a.example | jq .",
    "yaml": "deploy:\n  value: {}\n  other: 1\n",
    "url": "see https://a.example/p?q={}&page=2",
    "markdown": "- `{}`\n- next",
    "colour": "\x1b[32m{}\x1b[0m",
    "windows": "first\r\n{}\r\nlast",
    "line number": "    12→{}\n    13→",
    "other script": "値は{}です",
    "diff": "-{}\n+nothing",
    "list": "[a, {}, b]",
}


@pytest.mark.parametrize("context", sorted(CONTEXTS))
@pytest.mark.parametrize("kind", KINDS)
def test_a_secret_is_found_in_any_surroundings(kind: str, context: str) -> None:
    for fake in fakes(99)[kind]:
        alone = shown(REDACTOR.scrub(fake.text))
        clean = REDACTOR.scrub(CONTEXTS[context].format(fake.text))
        assert fake.secret not in clean
        assert clean == CONTEXTS[context].format(fake.text.replace(fake.secret, alone[0]))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("times", [1, 2])
def test_a_secret_is_found_in_escaped_json(kind: str, times: int) -> None:
    for fake in fakes(7)[kind]:
        text = f"first line\n{fake.text}\nlast line"
        for _ in range(times):
            text = json.dumps({"text": text})
        clean = REDACTOR.scrub(text)
        assert fake.secret not in clean
        assert shown(clean) == shown(REDACTOR.scrub(fake.text))


@given(
    kind=st.sampled_from(KINDS),
    seed=st.integers(0, 10_000),
    before=st.text(max_size=40),
    after=st.text(max_size=40),
)
def test_no_secret_survives_in_random_text(kind: str, seed: int, before: str, after: str) -> None:
    for fake in fakes(seed)[kind]:
        assert fake.secret not in REDACTOR.scrub(f"{before}\n{fake.text}\n{after}")


@pytest.mark.parametrize("kind", sorted(set(KINDS) - {"private-key"}))
def test_equal_secrets_stay_equal_and_different_ones_different(kind: str) -> None:
    first, second = (fakes(seed)[kind][0] for seed in (3, 4))
    clean = REDACTOR.scrub(f"{first.text}\n{second.text}\n{first.text}")
    a, b, again = shown(clean)
    assert a == again != b


def test_another_key_gives_another_hash() -> None:
    secret = fakes(5)["github-token"][0].secret
    assert REDACTOR.scrub(secret) == Redactor(b"a key for tests").scrub(secret)
    assert REDACTOR.scrub(secret) != Redactor(b"another key").scrub(secret)


@pytest.mark.parametrize("key", [b"", b"k" * 65])
def test_a_key_that_cannot_be_used_is_refused(key: bytes) -> None:
    with pytest.raises(ValueError, match="1 to 64 bytes"):
        Redactor(key)


def test_a_key_block_is_the_same_key_with_escaped_line_breaks() -> None:
    block = Maker(11).key_block("RSA PRIVATE KEY")
    escaped = block.replace("\n", "\\n")
    assert REDACTOR.scrub(block) == REDACTOR.scrub(escaped)
    assert REDACTOR.scrub(json.dumps({"private_key": block})) == json.dumps(
        {"private_key": REDACTOR.scrub(block)}
    )


@pytest.mark.parametrize("ending", ["\n", "\\n", "\r\n", '\\n" +\n    "'])
@pytest.mark.parametrize("kept", [100, 333, 700])
def test_a_key_block_that_is_cut_off_is_redacted_to_its_end(ending: str, kept: int) -> None:
    block = Maker(12).key_block("PRIVATE KEY", ending=ending)[:kept]
    body = [part for part in block.split(ending)[1:] if part]
    clean = REDACTOR.scrub(f"found this:\n{block}")
    assert not any(part in clean for part in body if len(part) > 3)
    assert clean.startswith("found this:\n[secret:private-key:")
    truncated = REDACTOR.scrub(f"found this:\n{block}\n\n... output truncated")
    assert not any(part in truncated for part in body if len(part) > 20)
    assert truncated.endswith("output truncated")


def test_an_encrypted_key_block_is_redacted_with_its_headers() -> None:
    block = Maker(13).key_block("RSA PRIVATE KEY")
    headed = block.replace("\n", "\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,0A1B\n\n", 1)
    assert shown(REDACTOR.scrub(headed)) == [REDACTOR.scrub(headed)]
    cut = headed[:400]
    assert shown(REDACTOR.scrub(cut)) == [REDACTOR.scrub(cut)]


def test_a_key_shown_with_line_numbers_is_redacted() -> None:
    block = Maker(14).key_block("PRIVATE KEY")
    numbered = "\n".join(f"{n:6}→{line}" for n, line in enumerate(block.split("\n"), 1))
    clean = REDACTOR.scrub(numbered)
    assert not any(line in clean for line in block.split("\n")[1:-1])


UNCHANGED = [
    "AKIA" + "IOSFODNN7" + "EXAMPLE",
    "ghp_" + "x" * 36,
    "sk-" + "x" * 30,
    "sk-ant-api03-your-key-here",
    "sk-…",
    "disk-usage-of-the-volume-abcdefghijklmnopqrstuvwxyz",
    "task-abcdefghijklmnopqrstuvwx",
    "npm_config_registry=https://registry.example/",
    "npm_lifecycle_event",
    "hf_hub_download(repo_id)",
    "vcr_cassette_library_directory",
    "eyJhbGciOiJIUzI1NiJ9",
    "-----BEGIN PUBLIC KEY-----\nMIIB\n-----END PUBLIC KEY-----",
    'if "-----BEGIN PRIVATE KEY-----" in text: raise',
    "-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----",
    "-----BEGIN CERTIFICATE-----\n" + "A" * 64 + "\n-----END CERTIFICATE-----",
    "postgres://localhost:5432/db",
    "https://hooks.slack.com/services/...",
    "xoxb-...",
    "SKU12345",
    "SG.md",
    "key-value pairs",
    "commit " + "0123456789abcdef" * 2 + "01234567",
    "sha256:" + "0123456789abcdef" * 4,
    "3f2504e0-4f89-11d3-9a0c-0305e82c3301",
    "integrity sha512-" + "Ab3" * 28 + "==",
    "data:image/png;base64," + "iVBORw0KGgo" * 5,
    "[secret:github-token:0a1b2c3d]",
]


@pytest.mark.parametrize("text", UNCHANGED)
def test_what_only_resembles_a_secret_stays(text: str) -> None:
    assert REDACTOR.scrub(text) is text
    longer = f"{text}\n" + "and more text to read " * 60
    assert REDACTOR.scrub(longer) is longer


def test_no_literal_begins_with_another() -> None:
    """The search reports one literal where several start, so the shorter would hide the longer."""
    from hansei.redaction.redactor import _looking

    literals = sorted(_looking())
    hidden = [(short, long) for short, long in pairwise(literals) if long.startswith(short)]
    assert hidden == []


@pytest.mark.parametrize("kind", KINDS)
def test_a_secret_is_found_in_a_short_text_and_in_a_long_one(kind: str) -> None:
    """Short texts are searched another way than long ones."""
    filler = "plain words that mean nothing at all\n" * 60
    for fake in fakes(21)[kind]:
        assert shown(REDACTOR.scrub(filler + fake.text + "\n" + filler)) == shown(
            REDACTOR.scrub(fake.text)
        )


def test_a_percent_encoded_secret_is_found() -> None:
    secret = fakes(30)["openai-key"][0].secret
    assert secret not in REDACTOR.scrub("https://a.example/?next=" + quote(f"/?k={secret}"))


def test_a_placeholder_is_lower_case_words_and_eight_hex_digits() -> None:
    for rule in RULES:
        assert re.fullmatch("[a-z0-9]+(-[a-z0-9]+)*", rule.name)
    (placeholder,) = shown(REDACTOR.scrub(fakes(2)["jwt"][0].text))
    assert re.fullmatch(r"\[secret:jwt:[0-9a-f]{8}\]", placeholder)


def test_every_kind_is_listed_where_people_read_about_it() -> None:
    page = Path(__file__).parents[2] / "docs" / "concepts" / "privacy.md"
    listed = set(re.findall(r"`([a-z0-9-]+)`", page.read_text(encoding="utf-8")))
    assert [rule.name for rule in RULES if rule.name not in listed] == []
