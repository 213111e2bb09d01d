"""Whether there is anything to do: what is on disk against what has been read.

Every reading command asks this first, so nothing here opens a transcript or imports a parser.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from hansei.prices.stamp import version_stamp
from hansei.sources import catalogue, live
from hansei.store import transcripts
from hansei.store.upkeep import exposure_due, sealing_due, sums_due

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from hansei.config import Config
    from hansei.sources.contract import Source, Transcript
    from hansei.store.database import Store
    from hansei.store.transcripts import Place

GONE = "gone"
"""The fingerprint of a transcript that is no longer there."""


class Found(NamedTuple):
    """A transcript and what its agent's fingerprint says now."""

    transcript: Transcript
    fingerprint: str


class Survey(NamedTuple):
    """What is on disk against what has been read."""

    transcripts: list[Transcript]
    """Every transcript there is, of those agents that were asked about."""
    changed: list[Found]
    missing: list[tuple[str, str]]
    warnings: list[str]

    @property
    def found(self) -> dict[str, int]:
        """How many transcripts there are, by agent."""
        return dict(Counter(transcript.agent for transcript in self.transcripts))


def survey(store: Store, config: Config, agents: Collection[str] | None = None) -> Survey:
    """Look at every agent's folders, or at some agents', without opening a transcript."""
    known = transcripts.places(store)
    sources, warnings = catalogue.load_all()
    asked = [source for source in sources if agents is None or source.name in agents]
    found: list[Transcript] = []
    changed: list[Found] = []
    for source in asked:
        extra = config.settings.sources.get(source.name, [])
        there = list(source.discover(config.environment, extra))
        changed += _changed(source, there, known)
        found += there
    names = {source.name for source in asked}
    seen = {(transcript.agent, transcript.id) for transcript in found}
    missing = [
        at for at, place in known.items() if at[0] in names and at not in seen and not place.missing
    ]
    return Survey(found, changed, missing, warnings)


def glance(store: Store, named: Iterable[Transcript]) -> Survey:
    """Look at these transcripts and no others. One that is gone is left to `survey`."""
    looked = [replace(transcript, fingerprint="") for transcript in named]
    there = [
        replace(transcript, fingerprint=fingerprint)
        for transcript in looked
        if (fingerprint := _fingerprint(transcript)) != GONE
    ]
    known = transcripts.places(store, [(item.agent, item.id) for item in there])
    changed: list[Found] = []
    for agent in sorted({transcript.agent for transcript in there}):
        of_agent = [transcript for transcript in there if transcript.agent == agent]
        changed += _changed(catalogue.load(agent), of_agent, known)
    return Survey(there, changed, [], [])


def _changed(
    source: Source, there: list[Transcript], known: dict[tuple[str, str], Place]
) -> list[Found]:
    """Those that differ from what was read of them, in the order to read them in."""
    fresh = []
    for transcript in there:
        place = known.get((source.name, transcript.id))
        if place is None or place.missing or place.fingerprint != _fingerprint(transcript):
            fresh.append(transcript)
    return [Found(item, _fingerprint(item)) for item in source.reading_order(fresh)]


def spooled(store: Store, config: Config) -> list[Found]:
    """What hooks wrote and nobody has read: it is no transcript, and any round takes it in."""
    spool = catalogue.load(catalogue.SPOOL)
    there = list(spool.discover(config.environment, []))
    known = transcripts.places(store, [(item.agent, item.id) for item in there])
    return _changed(spool, there, known)


def live_logs(store: Store, config: Config) -> list[Found]:
    """What running programs wrote below the hansei home and nobody has read."""
    there = live.discover(config.environment)
    known = transcripts.places(store, [(item.agent, item.id) for item in there]) if there else {}
    read = {at: place.fingerprint for at, place in known.items() if not place.missing}
    news = [it for it in there if read.get((it.agent, it.id)) != it.fingerprint]
    return [Found(item, item.fingerprint) for item in news]


def anything_to_do(store: Store, config: Config, now: int) -> Survey | None:
    """What was found, where taking it in would change anything."""
    look = survey(store, config)
    waiting = spooled(store, config) or live_logs(store, config)
    news = look.changed or look.missing or waiting
    return look if news or upkeep_due(store, config, now) else None


def _fingerprint(transcript: Transcript) -> str:
    if transcript.fingerprint:
        return transcript.fingerprint
    try:
        return catalogue.load(transcript.agent).fingerprint(transcript)
    except OSError:
        return GONE


def upkeep_due(store: Store, config: Config, now: int) -> bool:
    """Whether sealing, pricing or summing waits to be done."""
    return store.writable and (
        sealing_due(store, now)
        or sums_due(store)
        or exposure_due(store)
        or prices_changed(store, config)
    )


def prices_changed(store: Store, config: Config) -> bool:
    """Whether what is summed rests on other prices than those in force."""
    return store.meta("prices") != version_stamp(config.settings.prices)
