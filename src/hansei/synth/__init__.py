"""A synthetic world with known truth: histories to show, to test on and to measure with."""

from hansei.synth.truth import Truth, as_json
from hansei.synth.world import DEMO_SEED, World, agents, build, small_demo

__all__ = ["DEMO_SEED", "Truth", "World", "agents", "as_json", "build", "small_demo"]
