"""What became of the code that agents wrote, found by content in git.

Lines of edits are looked for in commits: never by time alone, so squashing, rebasing, moving and
formatting do not hide them.
"""

from hansei.projection.outcomes.edits import written
from hansei.projection.outcomes.memory import Known
from hansei.projection.outcomes.misplaced import Misplaced, Misstep, misplaced
from hansei.projection.outcomes.model import By, Fate, Instead, Later, Outcome, Written
from hansei.projection.outcomes.places import place
from hansei.projection.outcomes.repository import Judged, has_news, judge_repository
from hansei.projection.outcomes.result import (
    Broke,
    Label,
    Result,
    Run,
    Turned,
    broke,
    session_result,
    turns,
)
from hansei.projection.outcomes.rows import Stored, WrittenRow, packed, told_once, unpacked

__all__ = [
    "Broke",
    "By",
    "Fate",
    "Instead",
    "Judged",
    "Known",
    "Label",
    "Later",
    "Misplaced",
    "Misstep",
    "Outcome",
    "Result",
    "Run",
    "Stored",
    "Turned",
    "Written",
    "WrittenRow",
    "broke",
    "has_news",
    "judge_repository",
    "misplaced",
    "packed",
    "place",
    "session_result",
    "told_once",
    "turns",
    "unpacked",
    "written",
]
