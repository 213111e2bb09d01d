"""A generated history to show things on, and whether what was planted in it came back.

Nothing here is claimed: the planted side comes from the generator, the other from the store and the
files themselves, looked at on the spot.
"""

from __future__ import annotations

import shlex
import sys
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hansei.config import Config, Environment, Settings
from hansei.ops.scope import Scope
from hansei.ops.sessions import sessions
from hansei.ops.summary import summary
from hansei.sources.families import zstd
from hansei.store import reading
from hansei.synth import small_demo

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from hansei.store.database import Store
    from hansei.synth import Truth, World
    from hansei.synth.truth import FailureTruth, SecretTruth


@dataclass(frozen=True)
class Demo:
    """A machine on which nothing ever happened but the generated history."""

    world: World
    config: Config


@dataclass(frozen=True)
class Compared:
    """A planted total and what hansei counted; None where nobody told."""

    what: str
    planted: int | None
    counted: int | None

    @property
    def exact(self) -> bool:
        return self.planted == self.counted


@dataclass(frozen=True)
class Doubles:
    """Tokens, as a reader finds them who adds up every line of every file that tells any."""

    every_line: int
    repeated_lines: int
    copied_by_forks: int
    billed: int
    copied_files: int
    """How many files hold nothing that is not in another one."""

    @property
    def in_copied_files(self) -> int:
        return self.every_line - self.repeated_lines - self.copied_by_forks - self.billed


@dataclass(frozen=True)
class Leaks:
    """Where the planted secrets are."""

    planted: int
    in_transcripts: int
    in_store: int
    files: int
    """Files of the store that were looked through, byte by byte."""
    rows: int
    """Stored events that were unpacked and looked through."""


def make(folder: Path, *, seed: int, now: int) -> Demo:
    """Generate the history in a folder; its store is where a person's own would be."""
    world = small_demo(folder, now, seed)
    environment = Environment(home=world.home, variables={})
    return Demo(world, Config(world.home / ".hansei", Settings(), environment))


def write_launcher(demo: Demo) -> Path:
    """A program beside the history that runs hansei on it, and on nothing of the person's own."""
    path = demo.world.repo.parent / "hansei"
    home, python = shlex.quote(str(demo.world.home)), shlex.quote(sys.executable)
    path.write_text(
        "#!/bin/sh\n"
        "# hansei on the generated history in this folder, and on nothing of yours: variables\n"
        "# that name folders of transcripts are not passed on.\n"
        f'exec env -i HOME={home} PATH="$PATH" TERM="$TERM" ${{TZ:+TZ="$TZ"}}'
        ' ${LANG:+LANG="$LANG"} ${NO_COLOR:+NO_COLOR="$NO_COLOR"} ${COLUMNS:+COLUMNS="$COLUMNS"}'
        f' {python} -m hansei "$@"\n',
        encoding="utf-8",
    )
    path.chmod(0o755)
    return path


def compare(store: Store, truth: Truth) -> list[Compared]:
    """Every total the generator planted beside the one that was counted."""
    total = summary(store, Scope()).total
    listed = sessions(store, Scope())
    planted, counted = truth.tokens, total.tokens
    typed = [
        it.prompts.get("human", 0) + it.prompts.get("queued_human", 0) for it in truth.sessions
    ]
    return [
        Compared("sessions", len(truth.sessions), len(listed)),
        Compared("prompts by people", sum(typed), sum(line.prompts for line in listed)),
        Compared(
            "tool calls",
            sum(sum(it.calls.values()) for it in truth.sessions),
            sum(line.calls for line in listed),
        ),
        Compared("requests", sum(it.requests for it in truth.sessions), total.requests),
        Compared("input tokens", planted.input, counted.input),
        Compared("read from cache", planted.cache_read, counted.cache_read),
        Compared("cached for 5 minutes", planted.cache_write_5m, counted.cache_write_5m),
        Compared("cached for an hour", planted.cache_write_1h, counted.cache_write_1h),
        Compared("output tokens", planted.output, counted.output),
        Compared("of them reasoning", planted.reasoning, counted.reasoning),
    ]


def doubles(store: Store, truth: Truth) -> Doubles:
    """What adding up every line would have said, and where the difference comes from."""
    answer = summary(store, Scope())
    return Doubles(
        every_line=truth.naive_total,
        repeated_lines=answer.removed.repeated_tokens,
        copied_by_forks=answer.removed.replayed_tokens,
        billed=answer.total.total_tokens or 0,  # every generated history tells tokens
        copied_files=sum(len(session.copies) for session in truth.sessions),
    )


def leaks(store: Store, demo: Demo) -> Leaks:
    """Look for every planted secret in the transcripts, and in all that the store keeps."""
    secrets = demo.world.truth.secrets
    files = [path for path in store.folder.rglob("*") if path.is_file()]
    numbers = [number for (number,) in store.db.execute("SELECT id FROM sessions ORDER BY id")]
    rows = [str(row).encode() for number in numbers for row in reading.rows(store, number)]
    written = [
        _plain(demo.world.home / file) for it in demo.world.truth.sessions for file in it.files
    ]
    return Leaks(
        planted=len(secrets),
        in_transcripts=len(_found(secrets, written)),
        in_store=len(_found(secrets, [*(path.read_bytes() for path in files), *rows])),
        files=len(files),
        rows=len(rows),
    )


def _plain(path: Path) -> bytes:
    """A transcript's bytes, unpacked where it is packed."""
    if path.suffix != zstd.SUFFIX:
        return path.read_bytes()
    with closing(zstd.Unpacked(path)) as packed:
        size = packed.size()
        packed.seek(0)
        return packed.read(size)


def _found(secrets: Iterable[SecretTruth], texts: list[bytes]) -> list[SecretTruth]:
    """Secrets of which any piece stands in any of the texts."""
    return [
        secret
        for secret in secrets
        if any(piece.encode() in text for piece in secret.pieces for text in texts)
    ]


def recurring_failure(truth: Truth) -> FailureTruth | None:
    """The newest visible, mended failure of the kind that most agents and sessions ran into."""

    def spread(failure: FailureTruth) -> tuple[int, int, str]:
        same = [other.session for other in truth.failures if other.trouble == failure.trouble]
        agents = {session.agent for session in truth.sessions if session.id in same}
        return len(agents), len(set(same)), failure.trouble

    fitting = [it for it in truth.failures if it.sign and it.recovered_by and not it.masked]
    if not fitting:
        return None
    widest = max(map(spread, fitting))
    return [failure for failure in fitting if spread(failure) == widest][-1]
