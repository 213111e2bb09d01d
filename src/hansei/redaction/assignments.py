"""Secrets that only their name gives away: `DB_PASSWORD=…`, `"apiKey": "…"`, `--token …`.

Such a value has no shape of its own, so two questions decide: does the name mean a secret, which is
answered here, and is the value one (`values`). `docs/concepts/privacy.md` tells the rule in words.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from hansei.redaction.values import is_secret

if TYPE_CHECKING:
    from hansei.redaction.values import Kind, Written


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


NAME_WORDS = _words(
    """
    oken TOKEN ecret SECRET assw PASSW _PASS pwd PWD Pwd assphrase PASSPHRASE redential CREDENTIAL
    pi_key API_KEY pikey APIKEY piKey APIKey pi-key pi-Key API-Key API-KEY
    ccess_key ACCESS_KEY ccessKey ccess-key rivate_key PRIVATE_KEY rivateKey rivate-key
    igning_key SIGNING_KEY igningKey ncryption_key ENCRYPTION_KEY ncryptionKey
    aster_key MASTER_KEY auth_key AUTH_KEY
    """
)
"""Every secret's name has one of these in it. Without its first letter a word has no case."""

_PASSWORDS = ("password", "passwd", "pwd", "passphrase")
_SECRETS = ("token", "secret", "apikey", "accesskey", "privatekey", "credential", "credentials")
_SECRET_KEYS = frozenset(
    {"api", "access", "private", "secret", "signing", "encryption", "master", "auth"}
)

_ABOUT = _words(
    """
    address age alg algorithm arn at attempts audience backend budget button cache category char
    chars checksum class client color column config configured cookie cost count created date days
    description desc digest dir driver duration enabled endpoint engine env error errors event
    exists exp expired expires expiration expire expiry field fields file filename fingerprint form
    format function handler header headers help hint history hook host id identifier ids index info
    input invalid issuer kind label last len length level lifetime limit link list location manager
    map max message method metadata min missing mode model module msg name names number object
    option options order page param parameter parser path pattern placeholder policies policy
    position prefix present price prompt provider ratio reader ref reference regex region request
    required requirements reset resolver response result role rotation rule rules schema scope
    scopes screen sent service sha size source state status storage store strategy strength suffix
    summary tab table tag template text time timeout timestamp title total ttl type types
    updated uri url usage use used user username valid validation validator var variable verified
    version view visibility visible wall width window
    """
)
"""Last words of names that speak about a secret and do not hold it: `token_url`, `secretName`."""

_NOT_SECRET_TOKENS = _words(
    """
    bos class cls completion continuation cursor eos eot first input last mask max mean min
    next num of output pad page per prompt prev previous reasoning sep special start stop sync text
    thinking total unk word
    """
)
"""Words before `token` that make it a piece of text or a page mark: `eos_token`, `pageToken`."""

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")


@lru_cache(maxsize=4096)
def secret_name(name: str) -> Kind | None:
    """What kind of secret a variable, key or header of this name holds, if any.

    The last word says what a name is about: `password_reset_token` is a token, `token_url` a URL.
    """
    words = [word.lower() for word in _WORD.findall(name)]
    if not words or words[-1] in _ABOUT:
        return None
    for place, word in enumerate(words):
        before = words[place - 1] if place else ""
        if word.endswith(_PASSWORDS) or (word == "pass" and before):
            return "password"
        if word == "token" and before in _NOT_SECRET_TOKENS:
            continue
        if word.endswith(_SECRETS) or (word == "key" and before in _SECRET_KEYS):
            return "key"
    return None


_NAME_CHARACTERS = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-"
_NAME_LIMIT = 64

_ASSIGNED = re.compile(
    rb"""
    [A-Za-z0-9_-]{0,64}+(?P<end>)
    (?P<close>\\{0,7}["'`]\]?|\]|\?)?
    (?:[ \t]{0,4}:[ \t]{0,4}[A-Za-z_][\w.\[\]|<>,\ ]{0,60}?(?==))?     # a type, as in `key: str =`
    (?P<before>[ \t]{0,16}+)
    (?P<separator>=>|:=|={1,3}|!={1,2}|:(?!:))
    (?P<after>[ \t]{0,16}+)
    (?:
        (?P<prefix>[fFbBrRuU]{0,2})
        (?P<open>"{3}|'{3}|\\{0,7}["'`])(?!(?P=open))(?P<quoted>[^\n]{1,4096}?)(?<!\\)(?P=open)
      | ["'`]?(?P<bare>(?:[^\s"'`,;<>&\\]{1,512}+|&(?![\w.-]{1,64}=|&|\s)|\\(?![nrtu"'\\])){1,8}+)
    )
    """,
    re.VERBOSE,
)
"""What follows a word of a name when something is assigned to the name.

An opening quote may lack its closing one, because texts are cut.
"""


_PERHAPS = re.compile(rb"[A-Za-z0-9_-]{0,64}+[\\\"'`\]? \t]{0,16}+(?:[=:]|!=)")
"""The beginning of the same, to fail fast: most words that sound secret are prose or plain code."""


def assigned(text: bytes, position: int) -> tuple[int, int] | None:
    """Where the secret is that is assigned to the name which goes through `position`."""
    found = _ASSIGNED.match(text, position) if _PERHAPS.match(text, position) else None
    if found is None:
        return None
    name = text[_name_start(text, position) : found.end("end")].decode()
    kind = secret_name(name)
    return _assigned_value(found, name, kind) if kind else None


OPTIONS = frozenset(
    f"-{name} "
    for name in _words(
        "token password passwd passphrase secret api-key apikey access-key private-key"
    )
)
"""How command line options end that are followed by a secret: `--token …`, `--db-password …`."""

_OPTION = re.compile(
    rb"""
    (?P<name>[a-z-]{1,16})[ \t]{1,4}
    (?: (?P<open>["'])(?P<quoted>[^\n]{1,4096}?)(?P=open) | (?P<bare>[^\s"'`,;<>|&)\\]{1,4096}+) )
    """,
    re.VERBOSE,
)


def follows_option(text: bytes, position: int) -> tuple[int, int] | None:
    """Where the secret is that follows the option whose ending is at `position`."""
    start = _name_start(text, position)
    found = _OPTION.match(text, position) if text.startswith(b"--", start) else None
    if found is None:
        return None
    kind: Kind = "password" if b"pass" in found["name"] else "key"
    return _value_span(found, kind, "bare")


def _name_start(text: bytes, position: int) -> int:
    """Where the name begins that runs up to `position`; an escaped line break is no part of it."""
    low = max(0, position - _NAME_LIMIT)
    start = low + len(text[low:position].rstrip(_NAME_CHARACTERS))
    escaped = text[start - 1 : start] == b"\\" and text[start : start + 1] in b"nrtbf"
    return min(start + 1, position) if escaped else start


def _assigned_value(found: re.Match[bytes], name: str, kind: Kind) -> tuple[int, int] | None:
    if name.lower().endswith("pwd") and _FOLDER.match(found.string, found.end("after")):
        return None
    if found["quoted"] is None and found["separator"] not in _UNQUOTED:
        return None
    if found["prefix"] and b"f" in found["prefix"].lower() and b"{" in found["quoted"]:
        return None
    tight = found["separator"] == b"=" and not found["before"] and not found["after"]
    shell = tight and not found["close"] and name.isupper()
    return _value_span(found, kind, "shell" if shell else "bare")


_FOLDER = re.compile(rb"[\"']?[/~.]")
"""`pwd` is a password or the working folder."""

_UNQUOTED = (b"=", b":", b":=")
"""What may come before a literal without quotes; after `=>` or `==` it would be code."""

_TO_THE_END = re.compile(rb"(?:[^\s\"'`&\\]{1,512}+|&(?![\w.-]{1,64}=|&)|\\(?![nrtu\"'\\])){1,8}+")
"""A shell's or an env file's value, which may hold what ends a value elsewhere."""


def _value_span(found: re.Match[bytes], kind: Kind, bare: Written) -> tuple[int, int] | None:
    """Where the value that was matched is, if it is a secret; `bare` is how it counts unquoted."""
    if found["quoted"] is not None:
        written: Written = "quoted" if bare == "bare" else bare
        quoted = found["quoted"].decode("utf-8", "replace")
        return found.span("quoted") if is_secret(quoted, kind, written) else None
    start = found.start("bare")
    whole = _TO_THE_END.match(found.string, start) if bare == "shell" else None
    value = whole[0] if whole else found["bare"]
    value = _without_punctuation(value)
    secret = is_secret(value.decode("utf-8", "replace"), kind, bare)
    return (start, start + len(value)) if secret else None


def _without_punctuation(value: bytes) -> bytes:
    """An unquoted value without what belongs to the sentence or the code around it."""
    if value.endswith(b"..."):  # which says that the value was shortened
        return value
    opened = any(bracket in value for bracket in (b"(", b"[", b"{"))
    return value.rstrip(b".,:;|" if opened else b".,:;|)]}")
