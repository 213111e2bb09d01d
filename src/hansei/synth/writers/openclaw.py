"""OpenClaw: one file per session under `~/.openclaw/agents/main/sessions`, and a list of them.

People's messages come with the time they were sent at. A schedule's prompt says which schedule it
is. Subagents' sessions say nothing of what they are: the list does. A session that was ended by
`/new` lies in a renamed file, and the list has forgotten it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import msgspec

from hansei.synth import trees
from hansei.synth.contract import Traits, Written
from hansei.synth.dice import dice, uuid4
from hansei.synth.notation import iso, moment, save
from hansei.synth.output import ROOT
from hansei.synth.story import Delegate, Fetch, Plan, Run
from hansei.synth.trees import Manner, Tree

if TYPE_CHECKING:
    from pathlib import Path

    from hansei.synth.story import Action, Call, Episode, Prompt, Session, Told


def _asked(session: Session, prompt: Prompt) -> str:
    if session.driver == "automated":
        return f"[cron:{uuid4(dice(session.title, 'job'))} {session.title[:20]}] {prompt.text}"
    return f"{moment(prompt.at).strftime('[%a %Y-%m-%d %H:%M UTC]')} {prompt.text}"


def _own_call(call: Call) -> tuple[str, dict[str, Any]] | None:
    match call.action:
        case Plan(items):
            return "update_plan", {"plan": [{"step": it, "status": state} for it, state in items]}
        case Fetch(url):
            return "web_fetch", {"url": url}
        case Delegate(_, title, prompt):
            return "sessions_spawn", {"task": prompt, "label": title}
    return None


def _notes(call: Call) -> dict[str, Any] | None:
    """A failed command is not marked as an error: its notes say it."""
    outcome = call.outcome
    if outcome is None or not isinstance(call.action, Run) or outcome.exit_code is None:
        return None
    state = "completed" if outcome.state == "ok" else "failed"
    return {"status": state, "exitCode": outcome.exit_code, "durationMs": outcome.at - call.at}


def _accepted(call: Call) -> str | None:
    """A subagent's report does not come back as the result of the call."""
    return '{"status": "accepted"}' if isinstance(call.action, Delegate) else None


def _announced(call: Call) -> str:
    if not isinstance(call.action, Delegate) or call.outcome is None:
        return ""
    return (
        "[Inter-session message] sourceTool=subagent_announce isUser=false\n"
        f"A subagent has finished.\n\n{call.outcome.text}"
    )


MANNER = Manner(
    provider="anthropic",
    terminal="exec",
    asked=_asked,
    call=_own_call,
    answer=_accepted,
    after=_announced,
    notes=_notes,
)


@dataclass(frozen=True)
class OpenClaw:
    name: str = "openclaw"
    traits: Traits = field(
        default=Traits(
            model="claude-opus-4-6",
            small_model="claude-haiku-4-5",
            base_tokens=9_800,
            tells_cache_writes=True,
            tells_reasoning=False,
            records_commands=False,
            records_queue=False,
            subagents_inherit=False,
            long_cache=False,
            records_interruptions=False,
            schedules=True,
        )
    )

    def session_id(self, session: Session) -> str:
        return uuid4(dice(session.key, "openclaw"))

    def call_id(self, call_key: str) -> str:
        return trees.native_call_id(call_key)

    def version(self, session: Session) -> str:  # noqa: ARG002
        """Nothing in a file tells it."""
        return ""

    def tool(self, action: Action) -> str:
        own = {Fetch: "web", Delegate: "subagent"}
        return own.get(type(action)) or trees.kind_of(action)

    def result_text(self, call: Call, session: Session) -> str:  # noqa: ARG002
        return trees.result_text(MANNER, call) + _announced(call)

    def arguments_text(self, call: Call, session: Session) -> str:  # noqa: ARG002
        name, arguments = trees.tool_call(MANNER, call)
        return f"{name} {msgspec.json.encode(arguments).decode()}"

    def write(self, home: Path, root: Path, episode: Episode) -> Written:
        """Write a file for the session and one for each of its subagents, and list them."""
        folder = home / ".openclaw" / "agents" / "main" / "sessions"
        written = Written()
        for told in (episode.main, *episode.children):
            main = told is episode.main
            lines = self._lines(told, episode if main else None, folder)
            path = folder / f"{self.session_id(told.session)}.jsonl"
            if main and _is_over(episode):
                ended = iso(told.session.steps[-1].at + 1000).replace(":", "-")
                path = path.with_name(f"{path.name}.reset.{ended}")
            save(path, lines, {ROOT: root})
            key, naive = told.session.key, trees.naive_total(lines)
            written.files[key], written.naive[key] = [path.relative_to(home).as_posix()], naive
            if main and episode.copied:
                copy = path.with_name(f"{path.name}.full.bak")
                save(copy, lines, {ROOT: root})
                written.copies.append(copy.relative_to(home).as_posix())
                written.naive[key] += naive
        self._list(folder, episode)
        return written

    def _lines(self, told: Told, episode: Episode | None, folder: Path) -> list[trees.Line]:
        original = episode.forked_from if episode else None
        parent = f"{folder}/{self.session_id(original.main.session)}.jsonl" if original else None
        tree = self._tree(told, parent)
        if episode is not None and original is not None:
            source = self._tree(original.main)
            source.tell(original.main.session.steps[: episode.forked_at])
            tree.lines += source.lines[1:]
            tree.last = source.last
        tree.tell(told.session.steps)
        return tree.lines

    def _tree(self, told: Told, parent: str | None = None) -> Tree:
        session = told.session
        model = self.traits.model_of(session)
        tree = Tree(MANNER, told, self.session_id(session), model, parent)
        tree.calls = self.call_id
        return tree

    def _list(self, folder: Path, episode: Episode) -> None:
        """Add the sessions to the list, which the program rewrites whole."""
        path = folder / "sessions.json"
        listed = msgspec.json.decode(path.read_bytes()) if path.exists() else {}
        main = episode.main.session
        kind = "cron" if main.driver == "automated" else "telegram:direct"
        key = f"agent:main:{kind}:{main.key[:12]}"
        if not _is_over(episode):
            listed[key] = {"sessionId": self.session_id(main), "updatedAt": main.steps[-1].at}
        for told in episode.children:
            child = told.session
            entry = {"sessionId": self.session_id(child), "updatedAt": child.steps[-1].at}
            entry |= {"spawnedBy": key, "label": child.title}
            listed[f"agent:main:subagent:{child.key[:12]}"] = entry
        path.write_bytes(msgspec.json.format(msgspec.json.encode(listed), indent=2))


def _is_over(episode: Episode) -> bool:
    """Whether `/new` has put the session away; not while subagents are listed under it."""
    return episode.put_away and not episode.copied and not episode.children


WRITER = OpenClaw()
