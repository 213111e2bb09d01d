"""What a repository was like at a commit: its files, who changes them, what they define."""

from hansei.projection.snapshots.snapshot import Cache, Churn, FileFacts, Snapshot, take
from hansei.projection.snapshots.start import Start, StartBasis, start_commit
from hansei.projection.snapshots.symbols import BlobFacts, Symbol, examine

__all__ = [
    "BlobFacts",
    "Cache",
    "Churn",
    "FileFacts",
    "Snapshot",
    "Start",
    "StartBasis",
    "Symbol",
    "examine",
    "start_commit",
    "take",
]
