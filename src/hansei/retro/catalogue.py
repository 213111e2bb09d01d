"""Every heuristic, in the order they are run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hansei.retro.heuristics.abandoned_sessions import AbandonedSessions
from hansei.retro.heuristics.big_file import BigFile
from hansei.retro.heuristics.breaks_other_tests import BreaksOtherTests
from hansei.retro.heuristics.call_sites_later import CallSitesLater
from hansei.retro.heuristics.cold_cache import ColdCache
from hansei.retro.heuristics.compacted_by import CompactedBy
from hansei.retro.heuristics.cost_outlier import CostOutlier
from hansei.retro.heuristics.crowded_search import CrowdedSearch
from hansei.retro.heuristics.declined_again import DeclinedAgain
from hansei.retro.heuristics.edit_loop import EditLoop
from hansei.retro.heuristics.edited_together import EditedTogether
from hansei.retro.heuristics.flaky_command import FlakyCommand
from hansei.retro.heuristics.formatter_rewrites import FormatterRewrites
from hansei.retro.heuristics.idle_rent import IdleRent
from hansei.retro.heuristics.large_output import LargeOutput
from hansei.retro.heuristics.missing_here import MissingHere
from hansei.retro.heuristics.paged_file import PagedFile
from hansei.retro.heuristics.premium_model import PremiumModel
from hansei.retro.heuristics.recurring_failure import RecurringFailure
from hansei.retro.heuristics.rediscovered import Rediscovered
from hansei.retro.heuristics.repeated_correction import RepeatedCorrection
from hansei.retro.heuristics.replaced_pattern import ReplacedPattern
from hansei.retro.heuristics.reread import Reread
from hansei.retro.heuristics.reworked_area import ReworkedArea
from hansei.retro.heuristics.slow_command import SlowCommand
from hansei.retro.heuristics.unfinished_plan import UnfinishedPlan
from hansei.retro.heuristics.unfired_skill import UnfiredSkill
from hansei.retro.heuristics.untested_end import UntestedEnd
from hansei.retro.heuristics.unused_report import UnusedReport
from hansei.retro.heuristics.wrong_place import WrongPlace

if TYPE_CHECKING:
    from hansei.retro.contract import Heuristic

HEURISTICS: tuple[Heuristic, ...] = (
    RecurringFailure(),
    CrowdedSearch(),
    Rediscovered(),
    Reread(),
    LargeOutput(),
    BigFile(),
    IdleRent(),
    MissingHere(),
    RepeatedCorrection(),
    EditLoop(),
    DeclinedAgain(),
    ReplacedPattern(),
    ReworkedArea(),
    PagedFile(),
    UnfiredSkill(),
    ColdCache(),
    CompactedBy(),
    UnusedReport(),
    PremiumModel(),
    CostOutlier(),
    AbandonedSessions(),
    UnfinishedPlan(),
    BreaksOtherTests(),
    CallSitesLater(),
    EditedTogether(),
    FlakyCommand(),
    FormatterRewrites(),
    SlowCommand(),
    UntestedEnd(),
    WrongPlace(),
)
