"""Events to bytes and back, and their canonical order of fields."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from hansei.events.model import AnyEvent

if TYPE_CHECKING:
    from hansei.events.model import Event

_encoder = msgspec.json.Encoder(order="deterministic")
_decoder: msgspec.json.Decoder[AnyEvent] = msgspec.json.Decoder(AnyEvent)


def encode(event: Event) -> bytes:
    """One event as JSON; equal events give equal bytes."""
    return _encoder.encode(event)


def decode(data: bytes | str) -> AnyEvent:
    return _decoder.decode(data)
