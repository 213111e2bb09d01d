"""Secrets that only their place gives away: in a URL, a header, a login option."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hansei.redaction.values import is_code, is_harmless, is_secret

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True, slots=True)
class Place:
    """A place where secrets stand: literals, pattern, and a test of what its group holds."""

    literals: tuple[str, ...]
    pattern: re.Pattern[bytes]
    accepts: Callable[[re.Match[bytes], str], bool]

    def find(self, text: bytes, position: int) -> tuple[int, int] | None:
        """Where the secret is that stands at the literal at `position`, if one does."""
        found = self.pattern.match(text, position)
        if found is None or not self.accepts(found, found[1].decode("utf-8", "replace")):
            return None
        return found.span(1)


_DOCUMENTED = frozenset({"password", "pass", "passwd", "pwd", "secret", "token", "pw"})
"""Passwords as documentation writes them."""


def _is_password(_found: re.Match[bytes], value: str) -> bool:
    return value.lower() not in _DOCUMENTED and not is_harmless(value)


_OPAQUE = re.compile(r"[0-9]|[a-z][A-Z]")
"""No word has a digit or a capital inside."""


def _is_opaque(_found: re.Match[bytes], value: str) -> bool:
    return _OPAQUE.search(value) is not None and not is_harmless(value) and not is_code(value)


def _is_chosen(_found: re.Match[bytes], value: str) -> bool:
    return is_secret(value, "password", "shell")


_COMMAND_REACH = 400
"""How far before `-u` the word `curl` may stand for the option to be curl's."""


def _is_given_to_curl(found: re.Match[bytes], value: str) -> bool:
    start = found.start()
    before = max(0, start - _COMMAND_REACH)
    return found.string.rfind(b"curl", before, start) >= 0 and _is_chosen(found, value)


_TOKEN_LENGTH = 16
"""The shortest token that stands where a URL has its user; names of people are shorter."""

_NAME_OF_USER = re.compile(r"[a-z]+\d{0,4}(?:[-_.](?:[a-z]+\d{0,4}|\d{1,4}))*")


def _is_token_of_user(_found: re.Match[bytes], value: str) -> bool:
    has_digit = any(map(str.isdigit, value))
    return has_digit and not _NAME_OF_USER.fullmatch(value) and not is_harmless(value)


PLACES: tuple[Place, ...] = (
    # scheme://user:password@host, but not image:tag@sha256:… The user may be a mail address. With a
    # slash in it a password ends where a host follows that says it is one, by dots, port or path.
    Place(
        ("://", r":\/\/"),
        re.compile(
            rb"""
            :\\?/\\?/[^\s:/?\#"'`<>\\]{0,128}:
            (?!\d{1,5}[,;|)\]])                          # a port in a list of addresses
            (
                [^\s/?\#"'`<>\\]{1,256}(?=@(?!sha256:))
              | (?!\d{1,5}\\?/|:)                       # a port and a path
                (?:[^\s/?\#"'`<>\\,;]|\\?/(?![/@\\])){1,256}?
                (?=@(?:[A-Za-z][\w-]{0,62}(?:\.[\w-]{1,62}){0,8}(?::\d|\\?/)
                     |(?:[A-Za-z][\w-]{0,62}\.){1,8}[A-Za-z]{2,24}(?![\w@.-])
                     |\d{1,3}(?:\.\d{1,3}){3}(?![\w@.-])))
            )
            """,
            re.VERBOSE,
        ),
        _is_password,
    ),
    # scheme://token@host
    Place(
        ("://", r":\/\/"),
        re.compile(
            rb""":\\?/\\?/([^\s:/?\#@"'`<>\\]{%d,256})@(?!sha\d)(?=[A-Za-z\[]|\d{1,3}\.\d{1,3}\.\d)"""
            % _TOKEN_LENGTH
        ),
        _is_token_of_user,
    ),
    # Authorization: Bearer …, also as a field of JSON or code
    Place(
        ("uthorization", "AUTHORIZATION"),
        re.compile(
            rb"""
            (?:uthorization|AUTHORIZATION)\\{0,7}["'`]?\]?[ \t]{0,8}(?:=>|[:=,])[ \t]{0,8}
            (?:[fFbBrR]?\\{0,7}["'`])?
            (?:(?i:bearer|basic|token|bot|apikey|api-key|key|digest|negotiate)[ \t]{1,4})?
            ([^\s"'`,;<>{}$\\()]{8,4096})
            """,
            re.VERBOSE,
        ),
        _is_opaque,
    ),
    Place(("earer ",), re.compile(rb"earer [ \t]{0,3}([A-Za-z0-9._~+/=-]{16,4096})"), _is_opaque),
    # Basic authentication as npm and Docker keep it
    Place((":_auth=",), re.compile(rb":_auth=[\"']?([A-Za-z0-9+/=]{12,4096})"), _is_opaque),
    Place(
        ('"auth":',),
        re.compile(rb'"auth":\s{0,8}"([A-Za-z0-9+/]{12,4096}={0,2})"'),
        _is_opaque,
    ),
    # Passwords on a command line, and a line of .netrc
    Place(
        (" -u ", "--user ", "--user="),
        re.compile(rb"(?: -u|--user)[ =][ \t]{0,3}[\"']?[^\s:\"'`]{0,128}:([^\s\"'`]{1,256})"),
        _is_given_to_curl,
    ),
    Place(
        ("sshpass -p",),
        re.compile(rb"sshpass -p {0,4}[\"']?([^\s\"'`]{1,256})"),
        _is_chosen,
    ),
    Place(
        ("machine ",),
        re.compile(
            rb"machine\s{1,8}\S{1,253}\s{1,8}login\s{1,8}\S{1,128}\s{1,8}password\s{1,8}(\S{1,256})"
        ),
        _is_chosen,
    ),
)
