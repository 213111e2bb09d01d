"""What hooks may know of failures: a small file for each folder, made from the facts.

A failure is in it that came up in at least two sessions, and only where it can be told from a line
of its output. Its fix is in it if at least two sessions got past it in the same way, by another
command; the text is made here, because a hook has neither the time nor the means.
"""

from __future__ import annotations

import re
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import TYPE_CHECKING, Any, Final

import msgspec

from hansei.config import home_folder
from hansei.events.keys import digest
from hansei.events.model import MARKER
from hansei.git.history import worktrees
from hansei.hook.known import VERSION, follow, place
from hansei.learn.harm import cautions, harms
from hansei.learn.hostile import findings
from hansei.learn.network import brings_code
from hansei.ops.recall import got_past, remembered
from hansei.ops.scope import Scope
from hansei.projection.facts.folds import COMMANDS, FAILURES
from hansei.projection.failures.model import Kind
from hansei.projection.failures.signature import normalised
from hansei.projection.wording import inert

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from hansei.config import Config
    from hansei.ops.recall import Fix
    from hansei.store.database import Store

AGAIN: Final = 2
"""Sessions with the same failure, and sessions with the same fix: one is an anecdote."""
MOST: Final = 50
"""Failures of a folder that hooks are told of, those of most sessions first."""
LEAST_LETTERS: Final = 12
"""In the pieces of a line: fewer are in every other output."""
_DIFFERS: Final = re.compile(r"<(?:n|path|tmp|url|id|hash|time|address|ip|secret|text)>")
_NOT_FOUND: Final = "command not found: "


class Line(msgspec.Struct, frozen=True):
    """What a failure is told by in an output."""

    words: list[str]
    pieces: list[str]


def write(store: Store, config: Config, workspaces: Iterable[int]) -> None:
    """Have hooks know what is known in these workspaces; facts have to be up to date."""
    home = home_folder(config.environment)
    for workspace in workspaces:
        row = store.db.execute("SELECT folder FROM workspaces WHERE id = ?", (workspace,))
        folder = next((name for (name,) in row if name), None)
        if folder is not None:
            found = known_failures(store, Scope(workspace=workspace))
            for root in sorted({folder, *worktrees(folder)}):
                _put(home / place(root), found)


def forget(config: Config, folders: Iterable[str]) -> None:
    """Have hooks know nothing about folders any more."""
    for folder in folders:
        (home_folder(config.environment) / place(folder)).unlink(missing_ok=True)


def _put(file: Path, found: list[dict[str, Any]]) -> None:
    """All or nothing: a hook may read it at any moment. That it cannot be written is no matter."""
    try:
        if not found:
            file.unlink(missing_ok=True)
            return
        data = msgspec.json.encode({"v": VERSION, "failures": found})
        if file.exists() and file.read_bytes() == data:
            return
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with NamedTemporaryFile(dir=file.parent, prefix=f".{file.name}.", delete=False) as made:
            made.write(data)
        Path(made.name).replace(file)
    except OSError:
        return


def known_failures(store: Store, scope: Scope) -> list[dict[str, Any]]:
    """The failures that come back in scope and can be recognised, with the fix of each."""
    where, values = scope.sessions()
    rows = store.db.execute(
        f"SELECT f.signature, count(DISTINCT f.session) c FROM {FAILURES.name} f"
        f" JOIN sessions s ON s.id = f.session WHERE {where} AND f.kind = :kind"
        f" GROUP BY 1 HAVING c >= {AGAIN} ORDER BY c DESC, max(f.at) DESC, 1",
        {**values, "kind": Kind.FAILURE},
    ).fetchall()
    solved = got_past(store, scope)
    found: list[dict[str, Any]] = []
    for signature, sessions in rows:
        line = _line(store, signature) if len(found) < MOST else None
        if line is not None:
            fixed = _fixed(store, scope, signature) if signature in solved else {}
            head = {"id": digest(signature.encode()), "sessions": sessions}
            found.append({**head, **msgspec.to_builtins(line), **fixed})
    return found


def _line(store: Store, signature: str) -> Line | None:
    """How a failing command is recognised; None where one line does not tell it.

    What other tools say is put into words by us, so no output holds it.
    """
    session, row = next(FAILURES.read(store, "signature = ?", (signature,)))
    if not any(COMMANDS.read(store, "session = ? AND seq = ?", (session, row.seq))):
        return None
    words = [] if signature == normalised(row.line) else [row.program, row.subcommand or ""]
    body = normalised(row.line)
    if body.startswith(_NOT_FOUND):
        pieces = [f"{body.removeprefix(_NOT_FOUND)}: command not found"]
        said = pieces[0]
    else:
        pieces = [it for part in _DIFFERS.split(body) if (it := part.strip())]
        said = " ".join(row.line.split())
    told = sum(it.isalpha() for piece in pieces for it in piece)
    if told < LEAST_LETTERS or not follow(said, pieces):
        return None
    return Line([it for it in words if it], pieces)


def _fixed(store: Store, scope: Scope, signature: str) -> dict[str, str]:
    """The fix and the text that tells it, where there is one that may be told."""
    for fix in remembered(store, scope, signature, 1.0).fixes:
        if fix.sessions >= AGAIN and (fix.added or fix.removed) and _is_safe(fix.command):
            command = inert(fix.command)
            return {"fix": command, "text": told(signature, fix)}
    return {}


def _is_safe(command: str) -> bool:
    """Whether a command may be told: one that destroys, brings in what others wrote or orders
    readers about may not."""
    return not (
        harms(command) or cautions(command) or brings_code(command) or findings(command, code=True)
    )


def told(signature: str, fix: Fix) -> str:
    """What a session is told: evidence, in words that nobody takes for a person's.

    What changed comes first: the command itself is known in its normal form only.
    """
    changed = [
        f"{verb} {_quoted(' '.join(words))}"
        for verb, words in (("adding", fix.added), ("leaving out", fix.removed))
        if words
    ]
    return (
        f"{MARKER}\nEvidence from hansei, not an instruction: in {fix.sessions} earlier sessions"
        f" of this project {_quoted(signature)} was got past by {' and '.join(changed)}. What then"
        f" succeeded was, in short, {_quoted(fix.command)} ({fix.reference})."
    )


def _quoted(text: str) -> str:
    return f"`{inert(text).replace('`', '')}`"


def folders_of(store: Store, workspaces: Sequence[int]) -> list[str]:
    """Every folder that a file may be about."""
    found: set[str] = set()
    for workspace in workspaces:
        row = store.db.execute("SELECT folder FROM workspaces WHERE id = ?", (workspace,))
        for (folder,) in row:
            found |= {folder, *worktrees(folder)} if folder else set()
    return sorted(found)
