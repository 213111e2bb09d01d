"""Addresses of folders as editors of the VS Code family write them."""

from __future__ import annotations

import re
from typing import Any

_QUOTED = re.compile(rb"%([0-9A-Fa-f]{2})")
_DRIVE = re.compile(r"/?([A-Za-z]):(?=[/\\]|$)")
_WSL_SHARES = frozenset(("wsl$", "wsl.localhost"))


def folder_of(address: object) -> str | None:
    """The folder an address names, as the system it lies on would write it.

    Handles `file:///c%3A/app`, `file://server/share`, `vscode-remote://wsl+Ubuntu/home/me/app`,
    plain paths, and an address taken apart into an object. On another machine, or in a container,
    a folder stays an address: it must not be mistaken for one of the same name here.
    """
    if isinstance(address, dict):
        return _folder_of_parts(address)
    if not isinstance(address, str) or not address.strip():
        return None
    address = address.strip()
    if "://" not in address:
        return _tidy(address)
    scheme, _, rest = address.partition("://")
    host, slash, below = rest.partition("/")
    host, path = _unquoted(host), _unquoted(slash + below)
    if scheme == "file":
        return _local(host, path)
    if scheme == "vscode-remote" and host.partition("+")[0] == "wsl":
        return _tidy(path) if path else None
    return f"{scheme}://{host}{path}".rstrip("/") if host or path else None


def _unquoted(text: str) -> str:
    """Percent signs and the bytes they stand for, as text again."""
    quoted = text.encode("utf-8", "surrogatepass")
    plain = _QUOTED.sub(lambda found: bytes.fromhex(found[1].decode()), quoted)
    return plain.decode("utf-8", "replace")


def _folder_of_parts(parts: dict[str, Any]) -> str | None:
    """An address as the editor keeps it in memory; the whole of it first."""
    external, scheme = parts.get("external"), parts.get("scheme")
    if isinstance(external, str) and "://" in external:
        return folder_of(external)
    path = parts.get("fsPath") or parts.get("path")
    if not isinstance(path, str) or not path:
        return None
    if isinstance(scheme, str) and scheme not in ("", "file"):
        authority = parts.get("authority")
        return folder_of(f"{scheme}://{authority if isinstance(authority, str) else ''}{path}")
    return _tidy(path)


def _local(host: str, path: str) -> str | None:
    if host.lower() in _WSL_SHARES:  # /Ubuntu/home/me/app, seen from Windows
        inside = path.lstrip("/").partition("/")[2]
        return _tidy(f"/{inside}")
    if host and host != "localhost":
        return "\\\\" + host + path.replace("/", "\\").rstrip("\\")
    return _tidy(path) if path else None


def _tidy(path: str) -> str:
    """A path of Windows with its drive in capitals and its own slashes; no slash at its end."""
    drive = _DRIVE.match(path)
    if drive:
        rest = path[drive.end() :].replace("/", "\\").rstrip("\\")
        return f"{drive[1].upper()}:{rest or chr(92)}"
    return path.rstrip("/") or "/"
