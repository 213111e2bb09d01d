"""Skills that a prompt asked for and that no agent loaded, session by session."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from hansei.hook.places import SKILL

if TYPE_CHECKING:
    from hansei.projection.facts.tables import Found
    from hansei.projection.funnel import Use
    from hansei.projection.window import Window

BUILT_IN: Final = "/.system/"
"""Part of the path of skills that come with an agent program."""


def unfired(window: Window) -> list[Found[Use]]:
    """Where a prompt named a skill or spoke of what it is for, and it is known not to have fired.

    Skills that come with the agent program are left out: nobody here can change them.
    """
    return [
        found
        for found in window.uses
        if found.row.kind == SKILL
        and found.row.matched
        and found.row.fired is False
        and BUILT_IN not in (found.row.path or "").replace("\\", "/")
    ]
