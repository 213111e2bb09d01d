"""A made-up world on disk: a git repository, the sessions about it, and the truth of both."""

from __future__ import annotations

import importlib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, cast

from hansei.errors import UsageError
from hansei.synth.compose import compose
from hansei.synth.dice import dice
from hansei.synth.history import Sitting, walk, worktree_of, write_repository
from hansei.synth.meter import bill, context_after
from hansei.synth.plan import GUIDED, PATTERNS, plan_world
from hansei.synth.story import Episode, Prompt, Session, Told, spawn_step
from hansei.synth.truth import Recorder

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hansei.synth.contract import Writer
    from hansei.synth.story import Usage
    from hansei.synth.truth import Truth

DEMO_AGENTS = ("claude_code", "codex")
DEMO_SEED = 10
"""A world of this seed by these agents has every pattern within its few sessions."""


@dataclass(frozen=True)
class World:
    home: Path
    """Stands for a user's home folder: the agents' files are under it."""
    repo: Path
    truth: Truth


def agents() -> list[str]:
    """Every agent whose files can be made."""
    folder = Path(__file__).parent / "writers"
    return sorted(path.stem for path in folder.glob("[a-z]*"))


def build(
    folder: Path,
    *,
    seed: int,
    now_ms: int,
    sessions: int,
    weeks: int,
    agents: Sequence[str],
    padding: float = 1.0,
    guided: bool = False,
) -> World:
    """Write a world into `<folder>/home` and `<folder>/repo…`; same arguments, same bytes.

    `padding` scales the bodies of long tool outputs; `guided` plants a skill with its outcomes.
    Sessions are written one at a time, so memory
    does not grow with their number. Of the folder nothing but its path is in the transcripts.
    """
    folder = folder.resolve()
    home, repo = folder / "home", folder / "repo"
    if home.exists() or repo.exists():
        raise UsageError(f"{folder} already holds a world", hint="Give an empty folder.")
    writers = {name: writer_of(name) for name in agents}
    patterns = (*PATTERNS, *GUIDED) if guided else PATTERNS
    plan = plan_world(seed, now_ms, sessions, weeks, list(writers), patterns)
    commits = write_repository(repo, plan)
    recorder = Recorder(commits)
    last_fork = {outline.fork_of: outline.index for outline in plan.outlines}
    kept: dict[int, Episode] = {}
    for sitting in walk(plan):
        if not isinstance(sitting, Sitting):
            continue
        outline = sitting.outline
        writer = writers[outline.agent]
        session, children = compose(plan, sitting, commits, writer.traits, padding)
        original = kept[outline.fork_of] if outline.fork_of is not None else None
        episode = replace(
            _episode(session, children, original, writer),
            copied="copy" in outline.patterns,
            put_away="put_away" in outline.patterns,
        )
        place = worktree_of(repo) if outline.in_worktree else repo
        written = writer.write(home, place, episode)
        recorder.add(outline, episode, written, writer)
        if outline.index in last_fork:
            kept[outline.index] = episode
        if outline.fork_of is not None and last_fork[outline.fork_of] == outline.index:
            del kept[outline.fork_of]
    return World(home, repo, recorder.truth())


def small_demo(folder: Path, now_ms: int, seed: int = DEMO_SEED) -> World:
    """Fourteen sessions over three weeks by two agents."""
    return build(folder, seed=seed, now_ms=now_ms, sessions=14, weeks=3, agents=DEMO_AGENTS)


def writer_of(name: str) -> Writer:
    """How one agent's files are made."""
    if name not in agents():
        raise UsageError(
            f"no agent is named {name!r} in the synthetic world",
            hint=f"There are {', '.join(agents())}.",
        )
    return cast("Writer", importlib.import_module(f"hansei.synth.writers.{name}").WRITER)


def _episode(
    session: Session,
    children: list[Session],
    original: Episode | None,
    writer: Writer,
) -> Episode:
    """A session with its bills and all that is written along with it."""
    forked_at, inherited = 0, None
    if original is not None:
        parent = original.main.session
        forked_at = _fork_point(parent)
        inherited = context_after(parent, writer, parent.steps[:forked_at])
    main = Told(session, bill(session, writer, inherited))
    return Episode(
        main,
        tuple(Told(child, _child_bill(child, session, writer)) for child in children),
        original,
        forked_at,
    )


def _child_bill(child: Session, parent: Session, writer: Writer) -> tuple[Usage, ...]:
    inherited = None
    if child.inherits and child.spawned_by is not None:
        before = parent.steps[: spawn_step(parent, child.spawned_by)]
        inherited = context_after(parent, writer, before)
    return bill(child, writer, inherited)


def _fork_point(parent: Session) -> int:
    """Where somebody went back to: before one of the later prompts, or the very end."""
    prompts = [index for index, step in enumerate(parent.steps) if isinstance(step, Prompt)][1:]
    return dice(parent.key, "fork").choice([*prompts, len(parent.steps)])
