"""Reading model names: who sells the model, and whether a name means that very model.

Agents, gateways and clouds decorate names. What only decorates is taken off (`[1m]`, a seller's
prefix); what may name another model is left on. A price list's matching is generous, so that
`claude-opus-4-10` would pass for `claude-opus-4-1`; here a name means a listed model only if
nothing but a release mark, such as a date, is left over.
"""

from __future__ import annotations

import re
from typing import NamedTuple

NO_MODEL = "<synthetic>"
"""What an agent writes on replies it made up itself."""

SELLERS = {
    "amazon-bedrock": "aws",
    "azure_ai": "azure",
    "bedrock": "aws",
    "fireworks_ai": "fireworks",
    "gemini": "google",
    "github_copilot": "github-copilot",
    "google-vertex": "google",
    "google-vertex-anthropic": "google",
    "mistralai": "mistral",
    "models": "google",
    "moonshot": "moonshotai",
    "together_ai": "together",
    "vertex_ai": "google",
    "xai": "x-ai",
    "z-ai": "zai",
}
"""Prefixes that agents and gateways write, where they differ from the price list's own ids."""

# Kept as text: `re` compiles each at first use, which start-up does not wait for.
BEDROCK = (
    r"(?:(?:us|eu|apac|au|jp|in|ca|us-gov|global)\.)?"
    r"(?:ai21|amazon|anthropic|cohere|deepseek|google|meta|mistral|nvidia|openai|qwen|writer)\."
)
COMPACT_DATE = r"-(20\d{2})(\d{2})(\d{2})$"
RELEASE = (
    r"(?:-latest"
    r"|@(?:latest|default)"
    r"|[-@]20\d{6}"
    r"|-20\d{2}-\d{2}-\d{2}"
    r"|-(?:0[1-9]|1[0-2])(?:[0-2]\d|3[01])"
    r"|-preview-\d{2}-(?:\d{2}|\d{4})"
    r"|-\d{3}"
    r")?"
)
BEDROCK_VENDOR = r"(?:[a-z-]+\.)*"
BEDROCK_RELEASE = r"(?:-v\d+)?(?::\d+)?"


class Reference(NamedTuple):
    """A model as named, and the seller if the name tells."""

    seller: str | None
    name: str


def read_name(seen: str) -> Reference:
    """Take off what only decorates a name.

    `[1m]` asks for a longer context and is no other model. Dotted names (`us.anthropic.…`) and
    resource names are Bedrock's, a date after `@` is Vertex AI's.
    """
    name = plain_name(seen)
    if name.startswith("arn:aws:bedrock:"):
        return Reference("aws", name.rpartition("/")[2])
    prefix, slash, rest = name.partition("/")
    if slash:
        return Reference(SELLERS.get(prefix, prefix), rest)
    if re.match(BEDROCK, name):
        return Reference("aws", name)
    return Reference("google" if "@" in name else None, name)


def plain_name(seen: str) -> str:
    return seen.strip().lower().removesuffix("[1m]")


def spellings(name: str) -> tuple[str, ...]:
    """The name as written, and with its date spelt out where it is compact."""
    spelt_out = re.sub(COMPACT_DATE, r"-\1-\2-\3", name)
    return (name,) if spelt_out == name else (name, spelt_out)


def is_release_of(name: str, listed: str, seller: str) -> bool:
    """Whether a name is a listed one with nothing but a release mark behind it.

    Only Bedrock writes region and vendor in front and counts releases as `-v1:0`; elsewhere `-v3`
    names another model.
    """
    stem = re.escape(listed.lower().rstrip("-@")) + RELEASE
    pattern = BEDROCK_VENDOR + stem + BEDROCK_RELEASE if seller == "aws" else stem
    return re.fullmatch(pattern, name) is not None
