"""A name is priced as a listed model only if it means that very model."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hansei.prices import PriceBook

BOOK = PriceBook()


def meaning(model: str) -> str | None:
    """`seller: listed model`, or None where the name is not known."""
    row = BOOK.known([model])[0]
    return None if row.reason else f"{row.provider}: {row.resolved}"


@pytest.mark.parametrize(
    ("seen", "listed"),
    [
        ("claude-sonnet-4-5", "anthropic: claude-sonnet-4-5"),
        ("claude-sonnet-4-5-20250929", "anthropic: claude-sonnet-4-5"),
        ("claude-sonnet-4-5-20250929[1m]", "anthropic: claude-sonnet-4-5"),
        ("claude-opus-4-6[1m]", "anthropic: claude-opus-4-6"),
        ("Claude-Opus-4-6", "anthropic: claude-opus-4-6"),
        ("claude-opus-4-20250514", "anthropic: claude-opus-4-0"),
        ("claude-3-5-haiku-latest", "anthropic: claude-3-5-haiku-latest"),
        ("claude-fable-5", "anthropic: claude-fable-5"),
        ("claude-fable-5-20260601", "anthropic: claude-fable-5"),
        ("claude-opus-4-8", "anthropic: claude-opus-4-8"),
        ("anthropic/claude-sonnet-4-5", "anthropic: claude-sonnet-4-5"),
        ("anthropic/claude-sonnet-4.5", "anthropic: claude-sonnet-4-5"),
        ("openrouter/anthropic/claude-sonnet-4.5", "openrouter: anthropic/claude-sonnet-4.5"),
        ("gpt-5.2-codex", "openai: gpt-5.2"),
        ("openai/gpt-5.2-codex", "openai: gpt-5.2"),
        ("gpt-5.2-2025-12-11", "openai: gpt-5.2"),
        ("gpt-5.2-20251211", "openai: gpt-5.2"),
        ("gpt-4o-2024-05-13", "openai: gpt-4o-2024-05-13"),
        ("azure/gpt-5.3-codex", "openai: gpt-5.3-codex"),
        ("glm-4.5", "zai: GLM-4.5"),
        ("z-ai/glm-4.7", "zai: GLM-4.7"),
        ("zhipuai/glm-4.7", "zhipuai: GLM-4.7"),
        ("minimax-m2.7", "minimax: MiniMax-M2.7"),
        ("MiniMax-M2.7-highspeed", "minimax: MiniMax-M2.7-highspeed"),
        ("x-ai/grok-code-fast-1", "x-ai: grok-code-fast-1"),
        ("xai/grok-code-fast-1", "x-ai: grok-code-fast-1"),
        ("deepseek/deepseek-chat", "deepseek: deepseek-chat"),
        ("gemini-2.5-pro", "google: gemini-2.5-pro"),
        ("gemini-2.5-pro-preview-06-05", "google: gemini-2.5-pro"),
        ("models/gemini-2.5-pro", "google: gemini-2.5-pro"),
    ],
)
def test_dates_prefixes_and_suffixes_are_seen_through(seen: str, listed: str) -> None:
    assert meaning(seen) == listed


@pytest.mark.parametrize(
    ("seen", "listed"),
    [
        (
            "us.anthropic.claude-sonnet-4-20250514-v1:0",
            "aws: regional.anthropic.claude-sonnet-4-20250514-v1:0",
        ),
        (
            "anthropic.claude-3-5-sonnet-20240620-v1:0",
            "aws: regional.anthropic.claude-3-5-sonnet-20240620-v1:0",
        ),
        (
            "bedrock/global.anthropic.claude-sonnet-4-5-20250929-v1:0",
            "aws: global.anthropic.claude-sonnet-4-5-20250929-v1:0",
        ),
        (
            "arn:aws:bedrock:eu-west-1:000000000000:inference-profile/eu.anthropic.claude-opus-4-6-v1",
            "aws: regional.anthropic.claude-opus-4-6-v1:0",
        ),
        ("claude-opus-4@20250514", "google: claude-4-opus"),
        ("claude-sonnet-4-5@20250929", "google: claude-sonnet-4-5"),
        ("vertex_ai/claude-sonnet-4-5@20250929", "google: claude-sonnet-4-5"),
    ],
)
def test_a_cloud_is_known_by_how_it_writes_names(seen: str, listed: str) -> None:
    assert meaning(seen) == listed


def test_a_cloud_may_ask_more_than_the_maker() -> None:
    [maker] = BOOK.known(["claude-opus-4-8"])
    [cloud] = BOOK.known(["us.anthropic.claude-opus-4-8-v1:0"])
    assert (maker.input, cloud.input) == (5.0, 5.5)


@pytest.mark.parametrize(
    "seen",
    [
        "claude-opus-4-10",  # would pass for 4.1
        "claude-opus-4-85",  # would pass for 4.8
        "claude-haiku-4-5-mini",
        "claude-sonnet-4-6-fast",
        "claude-opus-4-8-v2",
        "gpt-5-nano-2",
        "gemini-2.5-pro-ultra",
        "gemini-3.6-flash-lite",
        "gemini-3.5-flash-8b",
        "kimi-k2.5-turbo",
        "deepseek-chat-v3.1",
        "deepseek-chat-v4",
        "us.anthropic.claude-opus-4-80-v1:0",
        "claude-opus-4-10@20270101",
        "anthropic/claude-opus-4-10",
    ],
)
def test_a_new_model_is_not_taken_for_an_older_one_that_begins_alike(seen: str) -> None:
    assert meaning(seen) is None


@pytest.mark.parametrize(
    "seen",
    [
        "claude-opus-6",
        "gpt-9-foo",
        "gpt-5.2-2030-01-01",  # a snapshot the list does not have may have its own price
        "my-model",
        "sonnet",
        "llama3",
        "gpt-oss:20b",
        "acme/claude-sonnet-4-5",  # sold by a stranger
        "acme.claude-sonnet-4-5",
        "acme.claude-sonnet-4-5@20250929",
        "anthropic/claude-sonnet-4.5:free",
        "us.anthropic.claude-opus-9-v1:0",
        "claude-opus-4-8[2m]",
        "anthropic/",
        "<synthetic>",
        "",
    ],
)
def test_an_unlisted_name_is_unknown(seen: str) -> None:
    assert meaning(seen) is None


def test_a_bare_name_that_its_maker_sells_at_two_prices_is_unknown() -> None:
    [row] = BOOK.known(["glm-4.7"])
    assert row.reason == "zhipuai and zai ask different prices for it"


LISTED = ["claude-opus-4-1", "claude-sonnet-4-5", "gpt-5-nano", "gemini-3.6-flash", "kimi-k2.5"]


@given(st.sampled_from(LISTED), st.text("abcdefghijklmnopqrstuvwxyz.", min_size=1, max_size=8))
def test_no_further_word_is_ever_ignored(listed: str, word: str) -> None:
    [row, *_] = BOOK.known([f"{listed}-{word}"])
    assert word == "latest" or row.resolved is None or row.resolved.lower().endswith(word)


@given(st.sampled_from(LISTED), st.integers(0, 9))
def test_no_further_digit_is_ever_ignored(listed: str, digit: int) -> None:
    assert meaning(f"{listed}{digit}") is None


@given(st.text(max_size=40))
def test_any_text_may_be_a_name(name: str) -> None:
    [row, *_] = BOOK.known([name])
    assert row.model == name
    assert (row.reason is None) == (row.input is not None)
