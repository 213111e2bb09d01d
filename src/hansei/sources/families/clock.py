"""Times as agents write them: ISO 8601 with or without a zone, or a number since 1970."""

from __future__ import annotations

from datetime import UTC, datetime

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECONDS_FROM = 100_000_000_000
"""Numbers from here on are milliseconds: as seconds they would lie beyond the year 5000."""
_LAST = 253_402_300_800_000
"""The year 10000 in milliseconds. A time beyond it or before 1970 is a fault in the record."""


def instant(value: object) -> int | None:
    """Milliseconds since 1970 in UTC; None for what is not a time. No zone is taken as UTC."""
    if isinstance(value, str):
        return _from_text(value)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return _within(value if abs(value) >= _MILLISECONDS_FROM else value * 1000)
    return None


def _from_text(text: str) -> int | None:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return _from_digits(text)
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    gap = moment - _EPOCH
    return _within((gap.days * 86_400 + gap.seconds) * 1000 + gap.microseconds // 1000)


def _from_digits(text: str) -> int | None:
    try:
        return instant(float(text))
    except ValueError:
        return None


def _within(milliseconds: float) -> int | None:
    return int(milliseconds) if 0 < milliseconds < _LAST else None
