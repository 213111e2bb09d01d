"""`exposure.json`: the texts that hooks deliver to the sessions of one arm, while that is tried.

The file belongs to the user, not to one store: items that other stores wrote stay as they are.
"""

from __future__ import annotations

from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import TYPE_CHECKING, Any, Final

import msgspec

from hansei.errors import StoreUnwritable
from hansei.events.model import MARKER
from hansei.experiments.experiment import Bind, Stage
from hansei.git.history import worktrees
from hansei.hook.delivery import FILE, NUDGES
from hansei.ops.experiments.shelf import listed

if TYPE_CHECKING:
    from hansei.experiments.experiment import Experiment
    from hansei.store.database import Store

VERSION: Final = 1
_LISTS: Final = {"items": Bind.EXPOSURE, NUDGES: Bind.NUDGE}
"""The parts of the file, by what they are for."""


def delivered(text: str) -> str:
    """A text as sessions get it: marked as ours, so that nobody takes it for a person's."""
    return text if MARKER in text else f"{MARKER}\n{text}"


def deliver(store: Store, home: Path) -> bool:
    """Have hooks deliver what runs now and nothing else of ours; says whether that changed."""
    known = listed(store)
    own = {it.id for it in known}
    before = _said(home / FILE)
    after = {
        name: [
            *(it for it in before[name] if not isinstance(it, dict) or it.get("id") not in own),
            *(_item(store, it) for it in known if it.bind is bind and it.stage is Stage.RUNNING),
        ]
        for name, bind in _LISTS.items()
    }
    if after == before:
        return False
    _write(home / FILE, after)
    return True


def _item(store: Store, it: Experiment) -> dict[str, Any]:
    row = store.db.execute("SELECT folder FROM workspaces WHERE id = ?", (it.workspace,)).fetchone()
    folder = None if row is None else row[0]
    folders = [] if folder is None else sorted({folder, *worktrees(folder)})
    coin = {"salt": it.terms.salt, "share": it.terms.share, "workspaces": folders}
    if it.bind is Bind.NUDGE:  # what is told lies in `known`, by failure
        return {"id": it.id, **coin}
    return {"id": it.id, "text": delivered(it.terms.text or ""), **coin}


def _said(file: Path) -> dict[str, list[Any]]:
    """What is delivered now; a file that cannot be read delivers nothing."""
    try:
        said = msgspec.json.decode(file.read_bytes())
    except (OSError, msgspec.DecodeError):
        said = None
    known = said if isinstance(said, dict) and said.get("v") == VERSION else {}
    return {name: told if isinstance(told := known.get(name), list) else [] for name in _LISTS}


def _write(file: Path, told: dict[str, list[Any]]) -> None:
    """All or nothing: a hook may read it at any moment."""
    if not any(told.values()):
        file.unlink(missing_ok=True)
        return
    said = {"v": VERSION, **{name: items for name, items in told.items() if items}}
    data = msgspec.json.format(msgspec.json.encode(said), indent=2)
    try:
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with NamedTemporaryFile(dir=file.parent, prefix=f".{FILE}.", delete=False) as made:
            made.write(data + b"\n")
        Path(made.name).replace(file)
    except OSError as problem:
        raise StoreUnwritable(
            f"{file} cannot be written: {problem.strerror}",
            hint="Hooks read there what to deliver. Make the folder writable.",
        ) from None
