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
from hansei.hook.delivery import FILE
from hansei.ops.experiments.shelf import listed

if TYPE_CHECKING:
    from hansei.experiments.experiment import Experiment
    from hansei.store.database import Store

VERSION: Final = 1


def delivered(text: str) -> str:
    """A text as sessions get it: marked as ours, so that nobody takes it for a person's."""
    return text if MARKER in text else f"{MARKER}\n{text}"


def deliver(store: Store, home: Path) -> bool:
    """Have hooks deliver what runs now and nothing else of ours; says whether that changed."""
    known = listed(store)
    own = {it.id for it in known}
    tried = [it for it in known if it.bind is Bind.EXPOSURE and it.stage is Stage.RUNNING]
    before = _items(home / FILE)
    others = [it for it in before if not isinstance(it, dict) or it.get("id") not in own]
    items = [*others, *(_item(store, it) for it in tried)]
    if items == before:
        return False
    _write(home / FILE, items)
    return True


def _item(store: Store, it: Experiment) -> dict[str, Any]:
    row = store.db.execute("SELECT folder FROM workspaces WHERE id = ?", (it.workspace,)).fetchone()
    folder = None if row is None else row[0]
    folders = [] if folder is None else sorted({folder, *worktrees(folder)})
    return {
        "id": it.id,
        "text": delivered(it.terms.text or ""),
        "salt": it.terms.salt,
        "share": it.terms.share,
        "workspaces": folders,
    }


def _items(file: Path) -> list[Any]:
    """What is delivered now; a file that cannot be read delivers nothing."""
    try:
        said = msgspec.json.decode(file.read_bytes())
    except (OSError, msgspec.DecodeError):
        return []
    items = said.get("items") if isinstance(said, dict) and said.get("v") == VERSION else None
    return items if isinstance(items, list) else []


def _write(file: Path, items: list[Any]) -> None:
    """All or nothing: a hook may read it at any moment."""
    if not items:
        file.unlink(missing_ok=True)
        return
    data = msgspec.json.format(msgspec.json.encode({"v": VERSION, "items": items}), indent=2)
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
