"""Folders as this agent writes them: addresses, and folder names squeezed into one word."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from hansei.sources.families.clock import instant

if TYPE_CHECKING:
    from collections.abc import Iterator

_QUOTED = re.compile(rb"%([0-9A-Fa-f]{2})")
_DRIVE = re.compile(r"/?([A-Za-z]):(?=[/\\]|$)")
_WSL_SHARES = frozenset(("wsl$", "wsl.localhost"))
_SQUEEZED = re.compile(r"[^A-Za-z0-9]+")
DEEPEST = 16
"""Folders below one another that are tried for one squeezed name."""


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


class Kept(NamedTuple):
    """What the command-line program keeps of a chat beside its transcript."""

    folder: str | None
    created: int | None


def kept_by_program(transcript: Path, chat: str) -> Kept | None:
    """The note the command-line program made of a chat; None if it is not one of its chats."""
    projects = next((place for place in transcript.parents if place.name == "projects"), None)
    if projects is None:
        return None
    for place in _chat_folders(projects.parent / "chats", chat):
        try:
            note = json.loads((place / "meta.json").read_bytes())
        except (OSError, ValueError):
            note = {}
        note = note if isinstance(note, dict) else {}
        return Kept(folder_of(note.get("cwd")), instant(note.get("createdAtMs")))
    return None


def _chat_folders(chats: Path, chat: str) -> Iterator[Path]:
    try:
        workspaces = sorted(chats.iterdir())
    except OSError:
        return
    yield from (place for workspace in workspaces if (place := workspace / chat).is_dir())


def unsqueezed(transcript: Path, top: Path = Path("/")) -> str | None:
    """The one folder there is whose name, squeezed, is that of a transcript's project.

    `home-me-my-app` may be /home/me/my-app or /home/me/my/app. None if there is none any more, or
    more than one.
    """
    parents = transcript.parents
    place = next((number for number, at in enumerate(parents) if at.name == "projects"), 0)
    if not place:
        return None
    words = _SQUEEZED.sub("-", parents[place - 1].name).strip("-")
    found = list(_matching(top, words, DEEPEST))
    return str(found[0]) if len(found) == 1 else None


def _matching(folder: Path, words: str, depth: int) -> Iterator[Path]:
    try:
        below = [entry for entry in sorted(folder.iterdir()) if entry.is_dir()]
    except OSError:
        return
    for entry in below:
        name = _SQUEEZED.sub("-", entry.name).strip("-")
        if name and words == name:
            yield entry
        elif name and depth and words.startswith(f"{name}-"):
            yield from _matching(entry, words[len(name) + 1 :], depth - 1)
