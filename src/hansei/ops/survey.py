"""Whether there is anything to do: what is on disk against what has been read.

Every reading command asks this first, so nothing here opens a transcript or imports a parser.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from hansei.prices.stamp import version_stamp
from hansei.sources import catalogue
from hansei.store import transcripts
from hansei.store.upkeep import sealing_due, sums_due

if TYPE_CHECKING:
    from hansei.config import Config
    from hansei.sources.contract import Transcript
    from hansei.store.database import Store


class Found(NamedTuple):
    """A transcript and what its agent's fingerprint says now."""

    transcript: Transcript
    fingerprint: str


class Survey(NamedTuple):
    """What is on disk against what has been read."""

    found: dict[str, int]
    changed: list[Found]
    missing: list[tuple[str, str]]
    warnings: list[str]


def survey(store: Store, config: Config) -> Survey:
    """Look at every agent's folders without opening a transcript."""
    known = transcripts.places(store)
    sources, warnings = catalogue.load_all()
    changed: list[Found] = []
    counts: dict[str, int] = {}
    seen: set[tuple[str, str]] = set()
    for source in sources:
        extra = config.settings.sources.get(source.name, [])
        fresh = []
        for transcript in source.discover(config.environment, extra):
            counts[source.name] = counts.get(source.name, 0) + 1
            seen.add((source.name, transcript.id))
            place = known.get((source.name, transcript.id))
            fingerprint = _fingerprint(transcript)
            if place is None or place.missing or place.fingerprint != fingerprint:
                fresh.append(transcript)
        changed += [Found(item, _fingerprint(item)) for item in source.reading_order(fresh)]
    read = {source.name for source in sources}
    missing = [
        at for at, place in known.items() if at[0] in read and at not in seen and not place.missing
    ]
    return Survey(counts, changed, missing, warnings)


def anything_to_do(store: Store, config: Config, now: int) -> bool:
    """Whether taking in would change anything."""
    look = survey(store, config)
    return bool(look.changed or look.missing) or upkeep_due(store, config, now)


def _fingerprint(transcript: Transcript) -> str:
    if transcript.fingerprint:
        return transcript.fingerprint
    try:
        return catalogue.load(transcript.agent).fingerprint(transcript)
    except OSError:
        return "gone"


def upkeep_due(store: Store, config: Config, now: int) -> bool:
    """Whether sealing, pricing or summing waits to be done."""
    return store.writable and (
        sealing_due(store, now) or sums_due(store) or prices_changed(store, config)
    )


def prices_changed(store: Store, config: Config) -> bool:
    """Whether what is summed rests on other prices than those in force."""
    return store.meta("prices") != version_stamp(config.settings.prices)
