"""What went wrong in a session, what it was, and how it was got past.

`verdicts` says how every call ended, `failures` what each that did not simply succeed is known by,
`episodes` what happened from a first failure to the next success, and `families` brings the same
failure of many sessions together.
"""

from hansei.projection.failures.episodes import episodes
from hansei.projection.failures.families import families
from hansei.projection.failures.model import (
    Ending,
    Episode,
    Failure,
    Family,
    Kind,
    Refuser,
    Verdict,
)
from hansei.projection.failures.runs import runs_of_tests
from hansei.projection.failures.signature import failures
from hansei.projection.failures.verdicts import verdicts

__all__ = [
    "Ending",
    "Episode",
    "Failure",
    "Family",
    "Kind",
    "Refuser",
    "Verdict",
    "episodes",
    "failures",
    "families",
    "runs_of_tests",
    "verdicts",
]
