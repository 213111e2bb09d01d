"""What became of the code that agents wrote, found by content in git.

Lines of edits are looked for in commits: never by time alone, so squashing, rebasing, moving and
formatting do not hide them.
"""

from hansei.projection.outcomes.edits import told_once, written
from hansei.projection.outcomes.judge import judge, without_repository
from hansei.projection.outcomes.model import By, Fate, Later, Outcome, Written
from hansei.projection.outcomes.places import paths_of, place
from hansei.projection.outcomes.result import Label, Result, Run, Turn, session_result, turns
from hansei.projection.outcomes.texts import Texts

__all__ = [
    "By",
    "Fate",
    "Label",
    "Later",
    "Outcome",
    "Result",
    "Run",
    "Texts",
    "Turn",
    "Written",
    "judge",
    "paths_of",
    "place",
    "session_result",
    "told_once",
    "turns",
    "without_repository",
    "written",
]
