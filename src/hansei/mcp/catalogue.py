"""Every tool, in the order agents are shown them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from hansei.mcp.tools import (
    bet,
    brief,
    experiments,
    feedback,
    propose_skill,
    recall,
    retro,
    session,
    skills,
    summary,
)

if TYPE_CHECKING:
    from hansei.mcp.contract import Tool

TOOLS: Final[tuple[Tool[Any], ...]] = (
    brief.TOOL,
    recall.TOOL,
    retro.TOOL,
    bet.TOOL,
    experiments.TOOL,
    skills.TOOL,
    session.TOOL,
    summary.TOOL,
    propose_skill.TOOL,
    feedback.TOOL,
)
BY_NAME: Final = {it.name: it for it in TOOLS}
