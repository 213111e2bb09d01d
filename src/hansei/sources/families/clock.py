"""Times as agents write them: ISO 8601 with or without a zone, or a number since 1970."""

from __future__ import annotations

from datetime import UTC, datetime

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECONDS_FROM = 100_000_000_000
"""Numbers from here on are milliseconds: as seconds they would lie beyond the year 5000."""
_LAST = 253_402_300_800_000
"""The year 10000 in milliseconds; a later time is a fault in the record."""


def instant(value: object) -> int | None:
    """Milliseconds since 1970 in UTC; None for what is not a time. No zone is taken as UTC."""
    if isinstance(value, str):
        try:
            moment = datetime.fromisoformat(value)
        except ValueError:
            return _from_digits(value)
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=UTC)
        try:
            gap = moment - _EPOCH
        except OverflowError:
            return None
        return (gap.days * 86_400 + gap.seconds) * 1000 + gap.microseconds // 1000
    if isinstance(value, int | float) and not isinstance(value, bool):
        return _from_number(value)
    return None


def _from_digits(text: str) -> int | None:
    try:
        return _from_number(float(text))
    except ValueError:
        return None


def _from_number(value: float) -> int | None:
    scaled = value if abs(value) >= _MILLISECONDS_FROM else value * 1000
    return int(scaled) if 0 < scaled < _LAST else None
