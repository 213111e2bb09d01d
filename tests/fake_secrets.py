"""Secrets of every kind, made up at run time from a seeded generator; none stands in a file."""

from __future__ import annotations

import json
import string
from dataclasses import dataclass
from pathlib import Path
from random import Random

import pyarrow.parquet as pq

ALNUM = string.ascii_letters + string.digits
HEX = "0123456789abcdef"
URLSAFE = ALNUM + "-_"
BASE64 = ALNUM + "+/"


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


def everything(folder: Path) -> bytes:
    """Every byte of the store, and every value in its compressed files."""
    parts = [path.read_bytes() for path in folder.rglob("*") if path.is_file()]
    for path in folder.rglob("*.parquet"):
        table = pq.read_table(path)
        parts.append(json.dumps(table.to_pydict(), ensure_ascii=False, default=str).encode())
        parts.append(str(table.schema.metadata).encode())
    return b"\n".join(parts)
