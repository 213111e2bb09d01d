"""Every detector, in the order in which they are asked; one file each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hansei.learn.detectors.error_recovery import ErrorRecovery
from hansei.learn.detectors.explicit_instruction import ExplicitInstruction
from hansei.learn.detectors.multi_step import MultiStep
from hansei.learn.detectors.repeated_action import RepeatedAction
from hansei.learn.detectors.user_correction import UserCorrection

if TYPE_CHECKING:
    from hansei.learn.contract import Detector

DETECTORS: tuple[Detector, ...] = (
    MultiStep(),
    ErrorRecovery(),
    UserCorrection(),
    RepeatedAction(),
    ExplicitInstruction(),
)
