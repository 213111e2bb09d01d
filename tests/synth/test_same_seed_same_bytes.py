from __future__ import annotations

import re
import shutil
import subprocess
import sys
from hashlib import sha256
from typing import TYPE_CHECKING

import msgspec
import pyarrow as pa
import pytest

from hansei.errors import UsageError
from hansei.synth import as_json, build, small_demo
from hansei.synth.history import worktree_of
from synthetic_world import NOW

if TYPE_CHECKING:
    from pathlib import Path

    from hansei.synth import World


def make(folder: Path, seed: int = 3, sessions: int = 16, padding: float = 1.0) -> World:
    return build(
        folder,
        seed=seed,
        now_ms=NOW,
        sessions=sessions,
        weeks=4,
        agents=("claude_code", "codex"),
        padding=padding,
    )


def dashed(world: World) -> str:
    """The repository's folder as it stands in the name of another."""
    return re.sub(r"[^A-Za-z0-9]", "-", str(world.repo))


def truth_of(world: World) -> str:
    return msgspec.json.encode(world.truth).decode().replace(dashed(world), "REPO")


def plain(path: Path) -> bytes:
    """A file's bytes, unpacked: how well a text packs depends on the paths in it."""
    if path.suffix != ".zst":
        return path.read_bytes()
    with pa.input_stream(str(path), compression="zstd") as packed:
        body: bytes = packed.read()
        return body


def fingerprint(world: World) -> dict[str, str]:
    """Digest of every file, with the folder's own path taken out, and the head of the history."""
    places = {str(world.home): "HOME", str(world.repo): "REPO", dashed(world): "REPO"}
    files = {}
    for top in (world.home, world.repo, worktree_of(world.repo)):
        for path in sorted(top.rglob("*")):
            if path.is_file() and ".git" not in path.relative_to(top).parts:
                name, body = str(path.relative_to(top.parent)), plain(path)
                for place, word in places.items():
                    name = name.replace(place, word)
                    body = body.replace(place.encode(), word.encode())
                files[name] = sha256(body).hexdigest()
    head = subprocess.run(
        ["git", "rev-parse", "HEAD"], cwd=world.repo, capture_output=True, check=True, text=True
    )
    return files | {"HEAD": head.stdout.strip()}


def test_the_same_arguments_give_the_same_bytes_in_any_folder(tmp_path: Path) -> None:
    one, other = make(tmp_path / "one"), make(tmp_path / "a-longer-name")
    assert fingerprint(one) == fingerprint(other)
    assert truth_of(one) == truth_of(other)


def test_two_runs_in_one_folder_differ_in_no_byte(tmp_path: Path) -> None:
    seen = []
    for _ in range(2):
        world = make(tmp_path / "world")
        files = [path for path in sorted(world.home.rglob("*")) if path.is_file()]
        assert any(path.suffix == ".zst" for path in files)
        head = fingerprint(world)["HEAD"]
        truth = msgspec.json.encode(world.truth)
        seen.append(([(path, path.read_bytes()) for path in files], head, truth))
        shutil.rmtree(tmp_path / "world")
    assert seen[0] == seen[1]


def test_a_transcript_is_as_old_as_its_last_line(tmp_path: Path) -> None:
    world = make(tmp_path, sessions=4)
    for session in world.truth.sessions:
        changed = (world.home / session.files[0]).stat().st_mtime * 1000
        assert session.ended <= round(changed) < NOW


def test_another_seed_gives_another_world(tmp_path: Path) -> None:
    one, other = make(tmp_path / "one", seed=3), make(tmp_path / "two", seed=4)
    assert fingerprint(one)["HEAD"] != fingerprint(other)["HEAD"]
    ids = [{session.id for session in world.truth.sessions} for world in (one, other)]
    assert not ids[0] & ids[1]
    secrets = [{secret.value for secret in world.truth.secrets} for world in (one, other)]
    assert secrets[0]
    assert not secrets[0] & secrets[1]


def test_the_settings_of_whoever_runs_git_do_not_matter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = make(tmp_path / "plain", sessions=4)
    settings = tmp_path / "gitconfig"
    settings.write_text(
        "[user]\nname=Somebody\n[core]\nautocrlf=true\n[init]\ndefaultBranch=trunk\n"
    )
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(settings))
    monkeypatch.setenv("GIT_AUTHOR_DATE", "2001-01-01T00:00:00Z")
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "elsewhere"))
    monkeypatch.setenv("TZ", "Pacific/Auckland")
    other = make(tmp_path / "other", sessions=4)
    monkeypatch.delenv("GIT_DIR")
    assert fingerprint(plain) == fingerprint(other)


def test_padding_makes_outputs_longer_and_changes_nothing_else(tmp_path: Path) -> None:
    plain, padded = make(tmp_path / "one"), make(tmp_path / "two", padding=8)

    def size(world: World) -> int:
        return sum(path.stat().st_size for path in world.home.rglob("*.jsonl"))

    assert size(padded) > 2 * size(plain)
    assert [session.id for session in plain.truth.sessions] == [
        session.id for session in padded.truth.sessions
    ]
    assert plain.truth.commits == padded.truth.commits
    assert len(plain.truth.failures) == len(padded.truth.failures)


def test_a_folder_that_holds_a_world_is_left_alone(tmp_path: Path) -> None:
    make(tmp_path, sessions=1)
    with pytest.raises(UsageError, match="already holds a world"):
        make(tmp_path, sessions=1)


def test_an_unknown_agent_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="'nobody'"):
        build(tmp_path, seed=1, now_ms=NOW, sessions=1, weeks=1, agents=("nobody",))
    assert not list(tmp_path.iterdir())


def test_more_sessions_than_the_time_holds_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="do not fit"):
        build(tmp_path, seed=1, now_ms=NOW, sessions=5000, weeks=1, agents=("codex",))


@pytest.mark.parametrize("days_later", [0, 2, 33, 400])
def test_the_demo_shows_everything_whatever_the_day(tmp_path: Path, days_later: int) -> None:
    truth = small_demo(tmp_path, NOW + days_later * 86_400_000).truth
    assert {session.agent for session in truth.sessions} == {"claude_code", "codex"}
    assert {session.driver for session in truth.sessions} == {"human", "subagent", "automated"}
    assert {session.relation for session in truth.sessions} == {None, "subagent", "fork"}
    assert {edit.fate for edit in truth.edits} >= {
        "landed", "squashed", "reformatted", "reverted", "reworked", "abandoned"
    }  # fmt: skip
    assert {secret.place for secret in truth.secrets} == {"prompt", "output", "file"}
    assert {failure.masked for failure in truth.failures} == {True, False}
    assert truth.corrections
    assert truth.rereads
    assert truth.hauls
    assert truth.spills
    assert any(session.worktree for session in truth.sessions)
    assert any(path.endswith(".zst") for one in truth.sessions for path in one.files)
    assert truth.rule.broken_before > truth.rule.broken_after


def test_the_truth_is_plain_data(tmp_path: Path) -> None:
    record = as_json(make(tmp_path, sessions=6).truth)
    assert record["sessions"][0]["tokens"]["output"] > 0
    assert set(record) >= {"failures", "edits", "secrets", "rule", "naive_total"}


def test_the_synthetic_world_needs_nothing_else_of_the_project() -> None:
    script = "import hansei.synth, sys; print(*(m for m in sys.modules if m.startswith('hansei')))"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    others = {name for name in done.stdout.split() if not name.startswith("hansei.synth")}
    assert others <= {"hansei", "hansei.errors", "hansei.events", "hansei.events.model"}
