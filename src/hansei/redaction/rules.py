r"""The table of secrets that can be told by their shape.

A rule names literals that always stand in such a secret and a pattern that is matched where a
literal stands, never anywhere else. So the cost of a rule is the cost of finding its literals, and
all literals of all rules are found in one go. What the pattern's group encloses is the secret; with
no group it is the whole match. Patterns are matched against UTF-8.

Every quantifier is bounded, or its run can start at one place only (`START`), so no text makes
matching slower than linear.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

_ESCAPED = r"(?<=\\[nrtbf])|(?<=%[0-9A-Fa-f]{2})|(?<=\dm)"
START = rf"(?:(?<![A-Za-z0-9])|{_ESCAPED})"
"""A token starts here: after an escaped line break, a URL escape or a colour code too."""
RUN_START = rf"(?:(?<![A-Za-z0-9_-])|(?<=\A-)|(?<=\n-)|{_ESCAPED})"
"""The same for long tokens that may hold their own literal: each run is looked at once."""

TAIL = 4096
"""The longest token of one piece we look for; the longest documented ones have about 2,000."""

KEY_BLOCK = 20_000
"""The longest private key: RSA with 16,384 bits takes 12,800 characters."""


@dataclass(frozen=True, slots=True, eq=False)
class Rule:
    """One kind of secret, by shape."""

    name: str
    literals: tuple[str, ...]
    pattern: str
    lead: int = 0
    """How many characters of the match stand before the literal."""

    def find(self, text: bytes, position: int) -> tuple[int, int] | None:
        """Where the secret is that the literal at `position` belongs to, if it belongs to one."""
        found = _compiled(self.pattern).match(text, max(0, position - self.lead))
        if found is None:
            return None
        start, end = found.span(found.re.groups and 1)
        return None if _SAMPLE.search(text, start, end) else (start, end)


@cache
def _compiled(pattern: str) -> re.Pattern[bytes]:
    return re.compile(pattern.encode())


_SAMPLE = re.compile(
    rb"([xX0*.])\1{7}|EXAMPLE"
    rb"|(?i:[-_](?:your|example|placeholder|dummy|fake|redacted|here)(?![A-Za-z0-9]))"
)
"""What documentation writes instead: `xxxxxxxx`, `AKIA…EXAMPLE`, `-your-key-here`."""


def _rule(name: str, literals: str, pattern: str, lead: int = 0) -> Rule:
    return Rule(name, tuple(literals.split()), pattern, lead)


def _prefixed(name: str, prefixes: str, body: str) -> Rule:
    """Tokens that are a prefix and a body; the prefix is the literal."""
    alternatives = "|".join(map(re.escape, prefixes.split()))
    return _rule(name, prefixes, rf"{START}(?:{alternatives}){body}")


_BEGIN = r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
_END = r"-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
_KEY_LINES = (
    r"(?:(?:Proc-Type|DEK-Info|Version|Comment): [^\n\\]{0,120}"
    r"|[A-Za-z0-9+/=]{20,}|\\{1,8}[nrt]?|[^A-Za-z0-9\\-]|\d{1,6}(?:→|[\t|:]))"
)

RULES: tuple[Rule, ...] = (
    # Keys that are whole blocks. The second pattern is for a block that was cut off.
    _rule(
        "private-key",
        "-----BEGIN",
        rf"{_BEGIN}(?=(?:[^-]|-(?!----)){{0,200}}[A-Za-z0-9+/=]{{32}})"
        rf"(?:(?:[^-]|-(?!----)){{0,{KEY_BLOCK}}}+{_END}"
        rf"|{_KEY_LINES}{{0,{KEY_BLOCK}}}+(?:[A-Za-z0-9+/=]{{1,19}}\Z)?)",
    ),
    _prefixed("age-key", "AGE-SECRET-KEY-1", r"[A-Z0-9]{40,64}"),
    # Clouds
    _rule(
        "aws-access-key",
        "AKIA ASIA ABIA ACCA",
        rf"{START}A(?:KI|SI|BI|CC)A[A-Z0-9]{{16}}(?![A-Za-z0-9])",
    ),
    _rule(
        "aws-secret-key",
        "ecret SECRET",
        r"(?i:s?ecret_?access_?key)\\{0,7}[\"']?\]?[ \t]{0,16}(?:=>|[=:])[ \t]{0,16}\\{0,7}[\"']?"
        r"([A-Za-z0-9/+]{40})(?![A-Za-z0-9/+])",
    ),
    _prefixed("google-api-key", "AIza", r"[A-Za-z0-9_-]{30,40}"),
    _prefixed("google-oauth-token", "ya29.", rf"[A-Za-z0-9_-]{{20,{TAIL}}}"),
    _prefixed("google-refresh-token", "1//0", r"[A-Za-z0-9_-]{40,512}"),
    _prefixed("google-client-secret", "GOCSPX-", r"[A-Za-z0-9_-]{20,64}"),
    _rule(
        "azure-account-key",
        "AccountKey= SharedAccessKey=",
        r"(?:Account|SharedAccess)Key=([A-Za-z0-9+/]{20,256}={0,2})",
    ),
    _rule(
        "azure-signature",
        "sig=",
        r"(?:(?<=[?&;])|(?<=\\u0026))sig=([A-Za-z0-9%+/_-]{20,256}={0,2})",
    ),
    _rule(
        "azure-client-secret",
        "7Q~ 8Q~",
        rf"{START}[A-Za-z0-9_~.]{{3}}[78]Q~[A-Za-z0-9_~.-]{{31,34}}",
        lead=3,
    ),
    _rule(
        "digitalocean-token",
        "_v1_",
        rf"{START}do[opr]_v1_[a-f0-9]{{20,64}}",
        lead=3,
    ),
    _prefixed("heroku-key", "HRKU-", r"[A-Za-z0-9_-]{20,128}"),
    _prefixed("fly-token", "fm1_ fm2_ fo1_", rf"[A-Za-z0-9+/=_-]{{40,{TAIL}}}"),
    _prefixed("netlify-token", "nfp_", r"[A-Za-z0-9]{20,64}"),
    _prefixed("vercel-token", "vcp_ vci_ vca_ vcr_ vck_", r"[A-Za-z0-9]{24,128}"),
    _prefixed("vercel-token", "vercel_blob_rw_", r"[A-Za-z0-9_]{20,128}"),
    _prefixed("supabase-key", "sb_secret_", r"[A-Za-z0-9_-]{20,128}"),
    _prefixed("supabase-key", "sbp_", r"[a-f0-9]{40,64}"),
    _prefixed("planetscale-token", "pscale_", r"(?:tkn|oauth|pw)_[\w.=-]{20,128}"),
    _prefixed("databricks-token", "dapi", r"[a-f0-9]{32}(?:-\d)?(?![A-Za-z0-9])"),
    _rule(
        "terraform-token",
        ".atlasv1.",
        rf"{START}[A-Za-z0-9]{{14}}\.atlasv1\.[A-Za-z0-9_=-]{{40,128}}",
        lead=14,
    ),
    _prefixed("pulumi-token", "pul-", r"[a-f0-9]{40}(?![A-Za-z0-9])"),
    _prefixed("tailscale-key", "tskey-", r"[A-Za-z0-9-]{16,128}"),
    _prefixed("vault-token", "hvs. hvb. hvr.", r"[A-Za-z0-9_-]{20,512}"),
    _prefixed(
        "doppler-token",
        "dp.",
        r"(?:[sc]t|pt|sa|scim|audit)\.(?:[a-z0-9_-]{2,35}\.)?[A-Za-z0-9]{20,64}",
    ),
    # Where code and packages live
    _prefixed("github-token", "ghp_ gho_ ghu_ ghs_ ghr_", r"[A-Za-z0-9]{20,255}"),
    _prefixed("github-token", "github_pat_", r"[A-Za-z0-9_]{20,255}"),
    _prefixed(
        "gitlab-token",
        "glpat- gldt- glrt- glcbt- glptt- glft- glimt- glagent- glsoat- gloas-",
        r"[A-Za-z0-9_-]{16,255}(?:\.[a-z0-9_.]{1,64})?",
    ),
    _prefixed("atlassian-token", "ATBB ATATT3 ATCTT3", r"[A-Za-z0-9_=-]{20,512}"),
    _prefixed("npm-token", "npm_", r"[A-Za-z0-9]{30,64}"),
    _prefixed("pypi-token", "pypi-AgE", r"[A-Za-z0-9_-]{40,1024}"),
    _prefixed("rubygems-key", "rubygems_", r"[a-f0-9]{40,64}"),
    _prefixed("docker-token", "dckr_", r"[po]at_[A-Za-z0-9_-]{20,128}"),
    _prefixed("sourcegraph-token", "sgp_", r"[a-f0-9_]{40,128}"),
    # Model providers
    _rule("anthropic-key", "sk-", rf"{START}sk-ant-[A-Za-z0-9_-]{{16,512}}"),
    _rule("openrouter-key", "sk-", rf"{START}sk-or-[A-Za-z0-9-]{{16,256}}"),
    _rule(
        "openai-key",
        "sk-",
        rf"{START}sk-(?:(?:proj|svcacct|admin|None|lf)-[A-Za-z0-9_-]{{16,512}}|[A-Za-z0-9]{{20,128}})",
    ),
    _prefixed("huggingface-token", "hf_", r"[A-Za-z0-9]{30,64}(?![A-Za-z0-9_])"),
    _prefixed("groq-key", "gsk_", r"[A-Za-z0-9]{20,128}"),
    _prefixed("xai-key", "xai-", r"[A-Za-z0-9_]{20,128}"),
    _prefixed("replicate-token", "r8_", r"[A-Za-z0-9]{20,64}"),
    _prefixed("perplexity-key", "pplx-", r"[A-Za-z0-9]{20,128}"),
    _prefixed("nvidia-key", "nvapi-", r"[A-Za-z0-9_-]{20,128}"),
    _prefixed("cerebras-key", "csk-", r"[a-z0-9]{20,128}"),
    _prefixed("tavily-key", "tvly-", r"[A-Za-z0-9-]{20,128}"),
    _prefixed("langsmith-key", "lsv2_", r"[a-z]{2}_[a-f0-9_]{20,128}"),
    # Chat
    _prefixed("slack-token", "xox", r"[a-z][-.][\w.-]{16,512}"),
    _prefixed("slack-token", "xapp-", r"[\w-]{16,512}"),
    _rule(
        "slack-webhook",
        "hooks.slack.com/",
        r"hooks\.slack\.com/(?:services|workflows|triggers)/([A-Za-z0-9/_-]{20,256})",
    ),
    _rule("discord-webhook", "/api/webhooks/", r"/api/webhooks/\d{10,24}/([A-Za-z0-9_-]{30,128})"),
    _rule(
        "discord-token",
        ".login( .run(",
        r"\.(?:login|run)\(\s{0,8}\\{0,7}[\"'`]([MNO][\w-]{17,28}\.[\w-]{6}\.[\w-]{25,40})\\{0,7}[\"'`]",
    ),
    _rule("telegram-token", ":AA", r"(?<=\d{8}):(AA[A-Za-z0-9_-]{32,34})(?![A-Za-z0-9_-])"),
    _rule(
        "teams-webhook",
        "webhook.office.com/",
        r"webhook\.office\.com/webhookb2/([A-Za-z0-9@/_-]{40,512})",
    ),
    # Money, mail, shops, work
    _rule(
        "stripe-key",
        "k_live_ k_test_",
        rf"{START}[sr]k_(?:live|test)_[A-Za-z0-9]{{10,255}}",
        lead=1,
    ),
    _prefixed("stripe-webhook", "whsec_", r"[A-Za-z0-9+/=]{16,128}"),
    _prefixed("square-token", "sq0", r"(?:atp|csp)-[A-Za-z0-9_-]{20,64}"),
    _prefixed("square-token", "EAAA", r"[A-Za-z0-9_-]{56,64}(?![A-Za-z0-9_-])"),
    _rule("braintree-token", "$production$", r"\$production\$[a-z0-9]{8,32}\$([a-f0-9]{32})"),
    _prefixed("shopify-token", "shp", r"(?:at|ca|pa|ss)_[a-fA-F0-9]{20,64}"),
    _prefixed("sendgrid-key", "SG.", r"[A-Za-z0-9_-]{16,64}\.[A-Za-z0-9_-]{16,64}"),
    _prefixed("brevo-key", "xkeysib- xsmtpsib-", r"[a-f0-9]{32,128}(?:-[A-Za-z0-9]{16})?"),
    _prefixed("mailgun-key", "key-", r"[a-f0-9]{32}(?![A-Za-z0-9])"),
    _rule("mailchimp-key", "-us1 -us2", rf"{START}[a-f0-9]{{32}}-us[12]\d?(?!\w)", lead=32),
    _rule(
        "twilio-key",
        "SK0 SK1 SK2 SK3 SK4 SK5 SK6 SK7 SK8 SK9 SKa SKb SKc SKd SKe SKf",
        rf"{START}SK[a-f0-9]{{32}}(?![A-Za-z0-9])",
    ),
    _prefixed("linear-key", "lin_", r"(?:api|oauth)_[A-Za-z0-9]{20,128}"),
    _prefixed("notion-token", "ntn_", r"[A-Za-z0-9]{30,64}"),
    _rule("notion-token", "ecret", r"(?<=s)ecret_([A-Za-z0-9]{43})(?![A-Za-z0-9])"),
    _prefixed("figma-token", "figd_", r"[A-Za-z0-9_-]{20,128}"),
    _prefixed("postman-key", "PMAK-", r"[a-f0-9]{24}-[a-f0-9]{34}"),
    _prefixed("grafana-token", "glc_", r"eyJ[A-Za-z0-9+/=_-]{20,512}"),
    _prefixed("grafana-token", "glsa_", r"[A-Za-z0-9]{20,64}_[a-f0-9]{8}"),
    _prefixed("newrelic-key", "NRAK-", r"[A-Z0-9]{20,64}"),
    _prefixed("sentry-token", "sntry", r"[su]_[A-Za-z0-9+/=_]{20,512}"),
    _prefixed("posthog-key", "phx_", r"[A-Za-z0-9]{20,64}"),
    # Carriers
    _rule(
        "jwt",
        "eyJ",
        rf"{RUN_START}eyJ[\w-]{{8,{TAIL}}}\.eyJ[\w-]{{6,{TAIL}}}(?:\.[\w-]{{0,{TAIL}}}){{0,3}}",
    ),
)
"""Every rule by shape; where two match the same text, the first in this table names it."""
