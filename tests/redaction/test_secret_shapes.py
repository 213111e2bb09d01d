"""Every rule by shape finds its secrets wherever they stand, and nothing else.

No secret stands in this file: all are made here, from a seeded generator.
"""

from __future__ import annotations

import json
import re
import string
from dataclasses import dataclass
from itertools import pairwise
from random import Random
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hansei.redaction.engine import Redactor
from hansei.redaction.redactor import PLACEHOLDER
from hansei.redaction.rules import RULES

ALNUM = string.ascii_letters + string.digits
HEX = "0123456789abcdef"
URLSAFE = ALNUM + "-_"
BASE64 = ALNUM + "+/"
REDACTOR = Redactor(b"a key for tests")


@dataclass(frozen=True)
class Fake:
    """A made-up secret and the text it stands in, which is often nothing but the secret."""

    text: str
    secret: str


class Maker:
    """Makes secrets of every kind from one source of chance."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)

    def of(self, alphabet: str, length: int) -> str:
        body = "".join(self.random.choices(alphabet, k=length - 2))
        # A body that ends in a letter and a digit is never mistaken for the end of a sentence.
        return body + self.random.choice("bcdf") + self.random.choice("2345")

    def capitals(self, length: int) -> str:
        return "".join(self.random.choices(string.ascii_uppercase + string.digits, k=length))

    def prefixed(self, prefixes: str, alphabet: str, length: int) -> list[Fake]:
        secrets = [prefix + self.of(alphabet, length) for prefix in prefixes.split()]
        return [Fake(secret, secret) for secret in secrets]

    def placed(self, before: str, alphabet: str, length: int, after: str = "") -> list[Fake]:
        secret = self.of(alphabet, length)
        return [Fake(before + secret + after, secret)]

    def whole(self, *secrets: str) -> list[Fake]:
        return [Fake(secret, secret) for secret in secrets]

    def key_block(self, kind: str, lines: int = 12, *, ending: str = "\n") -> str:
        body = [self.of(BASE64, 64) for _ in range(lines)]
        head, foot = (f"-----{word} {kind}-----" for word in ("BEGIN", "END"))
        return ending.join([head, *body, foot])

    def jwt(self) -> str:
        return ".".join(
            ["eyJ" + self.of(URLSAFE, 30), "eyJ" + self.of(URLSAFE, 80), self.of(URLSAFE, 43)]
        )


def fakes(seed: int) -> dict[str, list[Fake]]:
    """At least one secret for every literal of every rule, by the rule's name."""
    make = Maker(seed)
    return {
        "private-key": [
            fake
            for kind in (
                "PRIVATE KEY",
                "RSA PRIVATE KEY",
                "OPENSSH PRIVATE KEY",
                "EC PRIVATE KEY",
                "PGP PRIVATE KEY BLOCK",
            )
            for fake in make.whole(make.key_block(kind), make.key_block(kind, ending="\\n"))
        ],
        "age-key": make.whole("AGE-SECRET-KEY-1" + make.capitals(58)),
        "aws-access-key": make.whole(
            *(prefix + make.capitals(16) for prefix in ("AKIA", "ASIA", "ABIA", "ACCA"))
        ),
        "aws-secret-key": make.placed("aws_secret_access_key = ", BASE64, 40)
        + make.placed('"SecretAccessKey": "', BASE64, 40, '"')
        + make.placed("AWS_SECRET_ACCESS_KEY=", BASE64, 40),
        "google-api-key": make.prefixed("AIza", URLSAFE, 35),
        "google-oauth-token": make.prefixed("ya29.", URLSAFE, 120),
        "google-refresh-token": make.prefixed("1//0", URLSAFE, 60),
        "google-client-secret": make.prefixed("GOCSPX-", URLSAFE, 28),
        "azure-account-key": [
            Fake(f"{name}={secret};EndpointSuffix=x", secret)
            for name in ("AccountKey", "SharedAccessKey")
            for secret in [make.of(BASE64, 86) + "=="]
        ],
        "azure-signature": [
            Fake(f"https://a.example/c?sv=1&sig={secret}", secret)
            for secret in [make.of(ALNUM, 43) + "%3D"]
        ],
        "azure-client-secret": make.whole(
            *(make.of(ALNUM, 3) + digit + "Q~" + make.of(ALNUM, 34) for digit in "78")
        ),
        "digitalocean-token": make.prefixed("dop_v1_ doo_v1_ dor_v1_", HEX, 64),
        "heroku-key": make.prefixed("HRKU-", URLSAFE, 60),
        "fly-token": make.prefixed("fm1_ fm2_ fo1_", BASE64, 120),
        "netlify-token": make.prefixed("nfp_", ALNUM, 40),
        "vercel-token": make.prefixed("vcp_ vci_ vca_ vcr_ vck_ vercel_blob_rw_", ALNUM, 40),
        "supabase-key": make.prefixed("sb_secret_ sbp_", HEX, 40),
        "planetscale-token": make.prefixed("pscale_tkn_ pscale_oauth_ pscale_pw_", ALNUM, 43),
        "databricks-token": make.prefixed("dapi", HEX, 32),
        "terraform-token": make.whole(make.of(ALNUM, 14) + ".atlasv1." + make.of(URLSAFE, 67)),
        "pulumi-token": make.prefixed("pul-", HEX, 40),
        "tailscale-key": make.prefixed("tskey-auth- tskey-api-", ALNUM, 30),
        "vault-token": make.prefixed("hvs. hvb. hvr.", URLSAFE, 90),
        "doppler-token": make.prefixed("dp.st. dp.pt. dp.ct. dp.sa. dp.scim. dp.audit.", ALNUM, 43),
        "github-token": make.prefixed("ghp_ gho_ ghu_ ghs_ ghr_ github_pat_", ALNUM, 36),
        "gitlab-token": make.prefixed(
            "glpat- gldt- glrt- glcbt- glptt- glft- glimt- glagent- glsoat- gloas-", ALNUM, 20
        ),
        "atlassian-token": make.prefixed("ATBB ATATT3 ATCTT3", ALNUM, 40),
        "npm-token": make.prefixed("npm_", ALNUM, 36),
        "pypi-token": make.prefixed("pypi-AgE", URLSAFE, 150),
        "rubygems-key": make.prefixed("rubygems_", HEX, 48),
        "docker-token": make.prefixed("dckr_pat_ dckr_oat_", URLSAFE, 27),
        "sourcegraph-token": make.prefixed("sgp_", HEX, 40),
        "anthropic-key": make.prefixed("sk-ant-api03- sk-ant-oat01-", URLSAFE, 95),
        "openrouter-key": make.prefixed("sk-or-v1-", HEX, 64),
        "openai-key": make.prefixed("sk- sk-proj- sk-svcacct- sk-admin-", ALNUM, 48),
        "huggingface-token": make.prefixed("hf_", string.ascii_letters, 34),
        "groq-key": make.prefixed("gsk_", ALNUM, 52),
        "xai-key": make.prefixed("xai-", ALNUM, 80),
        "replicate-token": make.prefixed("r8_", ALNUM, 37),
        "perplexity-key": make.prefixed("pplx-", ALNUM, 48),
        "nvidia-key": make.prefixed("nvapi-", URLSAFE, 64),
        "cerebras-key": make.prefixed("csk-", HEX, 48),
        "tavily-key": make.prefixed("tvly-", ALNUM, 32),
        "langsmith-key": make.whole(f"lsv2_pt_{make.of(HEX, 32)}_{make.of(HEX, 10)}"),
        "slack-token": make.whole(
            *(f"{prefix}-{make.random.randrange(10**11)}-{make.of(ALNUM, 24)}" for prefix in SLACK)
        ),
        "slack-webhook": [
            Fake(f"https://hooks.slack.com/{kind}/{secret}", secret)
            for kind in ("services", "workflows", "triggers")
            for secret in [f"T{make.of(ALNUM, 9)}/B{make.of(ALNUM, 9)}/{make.of(ALNUM, 24)}"]
        ],
        "discord-webhook": make.placed(
            f"https://discord.com/api/webhooks/{make.random.randrange(10**17, 10**18)}/",
            URLSAFE,
            68,
        ),
        "discord-token": [
            Fake(f'bot.{verb}("{secret}")', secret)
            for verb in ("login", "run")
            for secret in [f"M{make.of(ALNUM, 24)}.{make.of(ALNUM, 6)}.{make.of(ALNUM, 38)}"]
        ],
        "telegram-token": [
            Fake(f"{make.random.randrange(10**8, 10**10)}:{secret}", secret)
            for secret in ["AA" + make.of(URLSAFE, 33)]
        ],
        "teams-webhook": make.placed("https://x.webhook.office.com/webhookb2/", URLSAFE, 90),
        "stripe-key": make.prefixed("sk_live_ sk_test_ rk_live_ rk_test_", ALNUM, 24),
        "stripe-webhook": make.prefixed("whsec_", ALNUM, 32),
        "square-token": make.prefixed("sq0atp- sq0csp-", URLSAFE, 22)
        + make.prefixed("EAAA", URLSAFE, 60),
        "braintree-token": make.placed(f"access_token$production${make.of(HEX, 16)}$", HEX, 32),
        "shopify-token": make.prefixed("shpat_ shpca_ shppa_ shpss_", HEX, 32),
        "sendgrid-key": make.whole(f"SG.{make.of(URLSAFE, 22)}.{make.of(URLSAFE, 43)}"),
        "brevo-key": make.whole(
            *(f"{prefix}-{make.of(HEX, 64)}-{make.of(ALNUM, 16)}" for prefix in BREVO)
        ),
        "mailgun-key": make.prefixed("key-", HEX, 32),
        "mailchimp-key": make.whole(f"{make.of(HEX, 32)}-us12", f"{make.of(HEX, 32)}-us2"),
        "twilio-key": make.whole(*(f"SK{first}{make.of(HEX, 31)}" for first in HEX)),
        "linear-key": make.prefixed("lin_api_ lin_oauth_", ALNUM, 40),
        "notion-token": make.prefixed("ntn_", ALNUM, 46) + make.placed("secret_", ALNUM, 43),
        "figma-token": make.prefixed("figd_", URLSAFE, 40),
        "postman-key": make.whole(f"PMAK-{make.of(HEX, 24)}-{make.of(HEX, 34)}"),
        "grafana-token": make.prefixed("glc_eyJ", ALNUM, 60)
        + make.whole(f"glsa_{make.of(ALNUM, 32)}_{make.of(HEX, 8)}"),
        "newrelic-key": make.whole("NRAK-" + make.capitals(27)),
        "sentry-token": make.prefixed("sntrys_ sntryu_", ALNUM, 64),
        "posthog-key": make.prefixed("phx_", ALNUM, 43),
        "jwt": make.whole(make.jwt()),
    }


SLACK = ("xoxb", "xoxp", "xoxa", "xoxr", "xoxs", "xoxe.xoxp", "xapp")
BREVO = ("xkeysib", "xsmtpsib")
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
