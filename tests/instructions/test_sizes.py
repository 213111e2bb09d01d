"""What a text costs is derived by a rule that can be printed."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from hansei.events.model import Evidence
from hansei.instructions.block import CLOSE, OPEN
from hansei.instructions.sizes import size
from hansei.projection.provenance.calibration import TYPICAL, Rates


@given(st.text(max_size=300), st.text(max_size=300))
def test_a_longer_text_costs_no_less_and_lies_in_its_range(text: str, more: str) -> None:
    short, long = size(text), size(text + "\n" + more)
    assert short.tokens <= long.tokens
    assert 0 <= long.low <= long.tokens <= long.high
    assert long.kind is Evidence.DERIVED


def test_the_rates_of_a_session_replace_the_typical_ones() -> None:
    text = "run the types of the api before you push anything"
    twice = Rates(tuple(2 * weight for weight in TYPICAL), steps=40)
    typical, fitted = size(text), size(text, twice)
    assert abs(fitted.tokens - 2 * typical.tokens) <= 1
    assert "fitted on 40 requests, give or take 10%" in fitted.rule
    assert "0.28 a letter" in typical.rule
    assert "typical, give or take 35%" in typical.rule


def test_the_markers_stay_cheap() -> None:
    assert size(f"{OPEN}\n{CLOSE}\n").tokens <= 12
    assert size("<!-- kfmt -->\n").tokens <= 5
