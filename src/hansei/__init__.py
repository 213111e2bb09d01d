"""hansei: an honest look back at what coding agents did, so that the next session does better."""

from __future__ import annotations

TYPE_CHECKING = False  # `typing` is not imported: every hook imports this file
if TYPE_CHECKING:
    from collections.abc import Sequence
    from os import PathLike

__version__ = "0.1.0"


def prompt(
    workspace: str | PathLike[str] | None = None,
    budget: int | None = None,
    paths: Sequence[str | PathLike[str]] = (),
) -> str:
    """What was learned in a workspace, as text for the instructions of an agent of your own.

    `workspace` is a folder of it, without one the folder you are in; `budget` is in tokens; `paths`
    are the files at work, and leave out what is about others. The same text as `hansei prompt
    --format text`; empty where no skill is approved. Nothing is written.
    """
    from hansei.ops.prompt import text_for

    return text_for(workspace, budget, [str(path) for path in paths])
