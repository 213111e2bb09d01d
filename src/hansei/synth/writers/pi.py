"""Pi: one file per session under `~/.pi/agent/sessions/<folder>`.

It has no subagents, and nothing in a file says that no person was there. A person may have made a
copy of a file, which then is the same session twice.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import msgspec

from hansei.synth import trees
from hansei.synth.contract import Traits, Written
from hansei.synth.dice import dice, uuid4
from hansei.synth.notation import iso, save
from hansei.synth.output import ROOT
from hansei.synth.story import Fetch
from hansei.synth.trees import Manner, Tree

if TYPE_CHECKING:
    from pathlib import Path

    from hansei.synth.story import Action, Call, Episode, Prompt, Session, Told


def _asked(_: Session, prompt: Prompt) -> str:
    return prompt.text


MANNER = Manner(provider="anthropic", terminal="bash", asked=_asked, call=lambda _: None)


@dataclass(frozen=True)
class Pi:
    name: str = "pi"
    traits: Traits = field(
        default=Traits(
            model="claude-sonnet-4-5",
            small_model="claude-haiku-4-5",
            base_tokens=2_300,
            tells_cache_writes=True,
            tells_reasoning=False,
            records_commands=False,
            records_queue=False,
            subagents_inherit=False,
            long_cache=False,
            delegates=False,
            records_driver=False,
        )
    )

    def session_id(self, session: Session) -> str:
        return uuid4(dice(session.key, "pi"))

    def call_id(self, call_key: str) -> str:
        return trees.native_call_id(call_key)

    def version(self, session: Session) -> str:  # noqa: ARG002
        """Nothing in a file tells it."""
        return ""

    def tool(self, action: Action) -> str:
        return "shell" if isinstance(action, Fetch) else trees.kind_of(action)

    def result_text(self, call: Call, session: Session) -> str:  # noqa: ARG002
        return trees.result_text(MANNER, call)

    def arguments_text(self, call: Call, session: Session) -> str:  # noqa: ARG002
        name, arguments = trees.tool_call(MANNER, call)
        return f"{name} {msgspec.json.encode(arguments).decode()}"

    def write(self, home: Path, root: Path, episode: Episode) -> Written:
        """Write one file for the session."""
        told, original = episode.main, episode.forked_from
        parent = _path(home, root, self, original.main) if original else None
        tree = _tree(self, told, str(parent) if parent else None)
        if original is not None:
            source = _tree(self, original.main)
            source.tell(original.main.session.steps[: episode.forked_at])
            tree.lines += source.lines[1:]
            tree.last = source.last
        tree.tell(told.session.steps)
        path = _path(home, root, self, told)
        save(path, tree.lines, {ROOT: root})
        key, naive = told.session.key, trees.naive_total(tree.lines)
        written = Written(files={key: [path.relative_to(home).as_posix()]}, naive={key: naive})
        if episode.copied:
            copy = path.with_name(f"copy-of-{path.name}")
            save(copy, tree.lines, {ROOT: root})
            written.copies.append(copy.relative_to(home).as_posix())
            written.naive[key] += naive
        return written


def _tree(writer: Pi, told: Told, parent: str | None = None) -> Tree:
    session = told.session
    tree = Tree(MANNER, told, writer.session_id(session), writer.traits.model_of(session), parent)
    tree.calls = writer.call_id
    return tree


def _path(home: Path, root: Path, writer: Pi, told: Told) -> Path:
    folder = "-".join(part.strip(":\\/") for part in root.parts).strip("-")
    began = iso(told.session.started).replace(":", "-").replace(".", "-")
    name = f"{began}_{writer.session_id(told.session)}.jsonl"
    return home / ".pi" / "agent" / "sessions" / f"--{folder}--" / name


WRITER = Pi()
