"""What people said against what agents did, in prompts and in reviews.

Corrections are found by position, form and repetition, never by a single word; reviews come from
the output of `gh` and `glab` in transcripts and from files a person imports.
"""

from hansei.projection.corrections.clusters import clusters
from hansei.projection.corrections.fold import corrections
from hansei.projection.corrections.matching import matched
from hansei.projection.corrections.model import RULES, Cluster, Correction, Kind, Matched, Rule
from hansei.projection.corrections.reviews import reviews

__all__ = [
    "RULES",
    "Cluster",
    "Correction",
    "Kind",
    "Matched",
    "Rule",
    "clusters",
    "corrections",
    "matched",
    "reviews",
]
