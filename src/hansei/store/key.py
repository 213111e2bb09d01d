"""The key that placeholders of secrets are hashed with: made once, never stored beside the data."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from hansei.store.database import complaints

if TYPE_CHECKING:
    from pathlib import Path

KEY_BYTES = 32


def redaction_key(folder: Path) -> bytes:
    """The store's key; a random one is written on first use, readable by the user alone."""
    path = folder / "redaction.key"
    with complaints(folder):
        try:
            handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        except FileExistsError:
            return path.read_bytes()
        with os.fdopen(handle, "wb") as file:
            key = os.urandom(KEY_BYTES)
            file.write(key)
        return key
