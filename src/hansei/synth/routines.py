"""What is done in this codebase in the same order every time, and what people ask to keep of it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Routine:
    """Commands that belong together; what is in braces differs from session to session."""

    name: str
    asked: str
    steps: tuple[tuple[str, str], ...]
    """Each command with what it prints."""
    keep: str
    """How somebody asks to keep it, with the name they give it."""
    kept_as: str


RELEASE = Routine(
    name="release",
    asked="Roll the {entity} desk out to the quay, please.",
    steps=(
        ("uv run python -m berthline.release prepare --desk {entity}", "prepared {entity}"),
        ("docker compose -f deploy/quay.yml build {entity}", "{entity}  Built"),
        ("docker compose -f deploy/quay.yml up -d {entity}", " Container {entity}-1  Started"),
        ("./scripts/smoke.sh --desk {entity} --wait 30", "{count} checks passed"),
    ),
    keep="Save this as a skill called quay-release.",
    kept_as="quay-release",
)


@dataclass(frozen=True)
class RoutineTruth:
    """A routine that a session went through."""

    session: str
    name: str
    calls: tuple[str, ...]
    commands: tuple[str, ...]
    kept_as: str | None
    """The name under which a person asked to keep it."""
