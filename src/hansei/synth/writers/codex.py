"""Codex: one rollout file per thread, under `~/.codex/sessions/<year>/<month>/<day>`.

Usage comes as `token_count` events with a running total beside the last request's share, and the
same event may come twice. A fork, and a subagent that inherits, begins with the parent's lines
under new timestamps. Some old threads are packed and lie among the archived ones.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import msgspec

from hansei.synth.codebase import REMOTE
from hansei.synth.contract import Traits, Written
from hansei.synth.dice import dice, fingerprint, text, uuid7
from hansei.synth.guides import skills_of
from hansei.synth.notation import hunk, iso, moment, one_of, save
from hansei.synth.output import ROOT
from hansei.synth.skills import listed_with_files
from hansei.synth.story import (
    CHILD_DELAY,
    Change,
    Compaction,
    Consult,
    Create,
    Delegate,
    Fetch,
    Interruption,
    ListFiles,
    Plan,
    Prompt,
    Read,
    Request,
    Run,
    Search,
    spawn_step,
)

if TYPE_CHECKING:
    from pathlib import Path

    from hansei.synth.story import Action, Call, Episode, Era, Session, Told, Usage

Line = dict[str, Any]

VERSIONS: dict[Era, tuple[str, ...]] = {
    "old": ("0.46.0", "0.50.0"),
    "middle": ("0.98.0", "0.104.0"),
    "new": ("0.160.0", "0.166.0"),
}

REPEAT_SHARE = 0.25
"""Part of the usage events that are written a second time."""
WHOLE = 400
"""Lines asked for to see all of a file; no file of the world is longer."""
WINDOW = 272_000
NICKNAMES = ("Alder", "Birch", "Cedar", "Dogwood", "Elm", "Fir")


@dataclass(frozen=True)
class Codex:
    name: str = "codex"
    traits: Traits = field(
        default=Traits(
            model="gpt-5.2-codex",
            small_model="gpt-5.1-codex-mini",
            base_tokens=7_400,
            tells_cache_writes=False,
            tells_reasoning=True,
            records_commands=False,
            records_queue=False,
            subagents_inherit=True,
            cache_block=128,
        )
    )

    def session_id(self, session: Session) -> str:
        return _thread_id(session)

    def call_id(self, call_key: str) -> str:
        return f"call_{text(dice(call_key), 24)}"

    def version(self, session: Session) -> str:
        return one_of(VERSIONS, session)

    def tool(self, action: Action) -> str:
        match action:
            case Change() | Create():
                return "edit"
            case Plan():
                return "plan"
            case Consult():
                return "mcp"
            case Delegate():
                return "subagent"
            case _:
                return "shell"

    def result_text(self, call: Call, session: Session) -> str:
        words = _result_text(call, session.era)
        if isinstance(call.action, Delegate):
            words += _notification(call)
        return words

    def arguments_text(self, call: Call, session: Session) -> str:
        _, name, arguments = _tool(call, session.era, ROOT)
        return f"{name} {arguments}"

    def write(self, home: Path, root: Path, episode: Episode) -> Written:
        """Write one rollout for the session and one for each of its subagents."""
        written = Written()
        place = str(root)
        for told in (episode.main, *episode.children):
            session = told.session
            roll = _Rollout(self, session, place)
            _begin(roll, told, episode)
            _tell(roll, told, closing=True)
            path = home / ".codex" / _file_name(session, "sessions/%Y/%m/%d")
            if episode.put_away and not episode.copied and told is episode.main:
                path = home / ".codex" / f"{_file_name(session, 'archived_sessions')}.zst"
            naive = _save(path, roll.lines, root)
            written.files[session.key] = [path.relative_to(home).as_posix()]
            if episode.copied and told is episode.main:
                copy = home / ".codex" / _file_name(session, "archived_sessions")
                naive += _save(copy, roll.lines, root)
                written.copies.append(copy.relative_to(home).as_posix())
            written.naive[session.key] = naive
        _name_thread(home, episode.main.session)
        return written


WRITER = Codex()


class _Rollout:
    """Lines of one thread, and the counters that run through them."""

    def __init__(self, writer: Codex, session: Session, root: str) -> None:
        self.writer = writer
        self.session = session
        self.root = root
        self.rng = dice(session.key, "codex lines")
        self.lines: list[Line] = []
        self.turn: str | None = None
        self.totals = _counted(0, 0, 0, 0)
        self.said = ""

    def add(self, at: int, kind: str, payload: Line) -> None:
        self.lines.append({"timestamp": iso(at), "type": kind, "payload": payload})

    def item(self, at: int, kind: str, **payload: Any) -> None:
        self.add(at, "response_item", {"type": kind, **payload})

    def event(self, at: int, kind: str, **payload: Any) -> None:
        self.add(at, "event_msg", {"type": kind, **payload})

    def message(self, at: int, role: str, words: str) -> None:
        kind = "output_text" if role == "assistant" else "input_text"
        self.item(at, "message", role=role, content=[{"type": kind, "text": words}])


# --- the beginning of a thread --------------------------------------------------------------------


def _begin(roll: _Rollout, told: Told, episode: Episode) -> None:
    session = told.session
    parent: Told | None = None
    if session.relation == "subagent":
        parent = episode.main
    elif episode.forked_from is not None:
        parent = episode.forked_from.main
    roll.add(session.started, "session_meta", _meta(roll.writer, session, parent))
    if parent is not None and session.inherits:
        spawned_by = session.spawned_by
        steps = spawn_step(parent.session, spawned_by) if spawned_by else episode.forked_at
        _replay(roll, parent, steps)
    else:
        _open(roll, session)


def _meta(writer: Codex, session: Session, parent: Told | None) -> Line:
    automated = session.driver == "automated"
    meta: Line = {
        "id": _thread_id(session),
        "timestamp": iso(session.started),
        "cwd": ROOT,
        "originator": "codex_exec" if automated else "codex_cli_rs",
        "cli_version": writer.version(session),
        "source": "exec" if automated else "cli",
        "model_provider": "openai",
        "base_instructions": {"text": "You are a coding agent at work in a terminal."},
        "git": {"commit_hash": session.commit, "branch": session.branch, "repository_url": REMOTE},
    }
    if parent is None:
        return meta
    parent_id = _thread_id(parent.session)
    if session.relation == "fork":
        return meta | {"forked_from_id": parent_id}
    spawn = {"parent_thread_id": parent_id, "depth": 1, "agent_role": "explorer"}
    return meta | {
        "source": {"subagent": {"thread_spawn": spawn}},
        "thread_source": "subagent",
        "agent_nickname": _nickname(session.key),
    }


def _open(roll: _Rollout, session: Session) -> None:
    """What the program puts before the first prompt."""
    at = session.started
    roll.message(at, "developer", "<permissions instructions>\nworkspace-write\n</permissions>")
    skills = f"## Skills\n### Available skills\n{listed_with_files(skills_of(session), ROOT)}"
    roll.message(at, "developer", f"<skills_instructions>\n{skills}\n</skills_instructions>")
    roll.message(
        at,
        "user",
        f"# AGENTS.md instructions for {ROOT}\n\n<INSTRUCTIONS>\n{session.instructions}\n"
        "</INSTRUCTIONS>",
    )
    roll.message(at, "user", f"<environment_context>\n  <cwd>{ROOT}</cwd>\n</environment_context>")


def _replay(roll: _Rollout, parent: Told, steps: int) -> None:
    """The parent's first steps as its own file has them, but as if they happened just now."""
    taken = replace(parent.session, steps=parent.session.steps[:steps])
    source = _Rollout(roll.writer, parent.session, roll.root)
    source.add(parent.session.started, "session_meta", _meta(roll.writer, parent.session, None))
    _open(source, parent.session)
    _tell(source, replace(parent, session=taken), closing=False)
    for number, line in enumerate(source.lines):
        stamp = iso(roll.session.started + number // 10)
        roll.lines.append({**line, "timestamp": stamp})
    roll.totals = source.totals


# --- a session as lines ---------------------------------------------------------------------------


def _tell(roll: _Rollout, told: Told, *, closing: bool) -> None:
    usages = iter(told.usages)
    for step in told.session.steps:
        if isinstance(step, Prompt):
            _end_turn(roll, step.at)
            _start_turn(roll, step)
        elif isinstance(step, Compaction):
            copied = {"type": "message", "role": "user", "content": []}
            payload = {"message": step.summary, "replacement_history": [copied]}
            roll.add(step.at, "compacted", payload)
            roll.event(step.at, "context_compacted")
        elif isinstance(step, Interruption):
            roll.event(step.at, "turn_aborted", turn_id=roll.turn, reason="interrupted")
            words = "<turn_aborted>\nThe user interrupted the previous turn.\n</turn_aborted>"
            roll.message(step.at, "user", words)
            roll.turn = None
        elif isinstance(step, Request):
            _request(roll, step, next(usages))
    if closing and not _left_open(told.session):
        _end_turn(roll, told.session.steps[-1].at)


def _left_open(session: Session) -> bool:
    last = session.steps[-1]
    return isinstance(last, Request) and any(call.outcome is None for call in last.calls)


def _start_turn(roll: _Rollout, prompt: Prompt) -> None:
    roll.turn = uuid7(prompt.at, roll.rng)
    roll.said = ""
    at = prompt.at
    roll.event(at, "task_started", turn_id=roll.turn, model_context_window=WINDOW)
    roll.add(
        at,
        "turn_context",
        {
            "turn_id": roll.turn,
            "cwd": ROOT,
            "approval_policy": "never" if roll.session.driver == "automated" else "on-request",
            "sandbox_policy": {"type": "workspace-write", "network_access": False},
            "model": roll.writer.traits.model_of(roll.session),
            "effort": "medium",
            "summary": "auto",
        },
    )
    roll.message(at, "user", prompt.text)
    roll.event(at, "user_message", message=prompt.text, images=[])
    if roll.rng.random() < 0.3:
        roll.event(at, "token_count", info=None, rate_limits=_limits(roll))


def _end_turn(roll: _Rollout, at: int) -> None:
    if roll.turn is not None:
        roll.event(at, "task_complete", turn_id=roll.turn, last_agent_message=roll.said)
    roll.turn = None


def _request(roll: _Rollout, request: Request, usage: Usage) -> None:
    at = request.at
    if request.thought:
        summary = [{"type": "summary_text", "text": request.thought}]
        sealed = "gAAAA" + text(roll.rng, 120)
        roll.event(at, "agent_reasoning", text=request.thought)
        roll.item(at, "reasoning", summary=summary, content=None, encrypted_content=sealed)
    if request.reply:
        roll.said = request.reply
        roll.event(at, "agent_message", message=request.reply)
        roll.message(at, "assistant", request.reply)
    for call in request.calls:
        _call(roll, call)
    for call in sorted(request.calls, key=lambda call: call.outcome.at if call.outcome else 0):
        _result(roll, call)
    _count(roll, request, usage)


def _count(roll: _Rollout, request: Request, usage: Usage) -> None:
    """Tell the usage, now and then twice."""
    last = _counted(usage.context, usage.cache_read, usage.output, usage.reasoning or 0)
    roll.totals = {name: roll.totals[name] + last[name] for name in last}
    ends = [call.outcome.at for call in request.calls if call.outcome is not None]
    at = max(ends, default=request.at) + 5
    info = {
        "total_token_usage": dict(roll.totals),
        "last_token_usage": last,
        "model_context_window": WINDOW,
    }
    for _ in range(2 if roll.rng.random() < REPEAT_SHARE else 1):
        roll.event(at, "token_count", info=info, rate_limits=_limits(roll))
        at += 40
    if roll.session.era == "new":
        payload = {
            "thread_id": _thread_id(roll.session),
            "turn_id": roll.turn,
            "response_id": f"resp_{fingerprint(roll.session.key, request.at, size=24)}",
            "usage": last,
            "thread_token_usage": dict(roll.totals),
        }
        roll.add(at, "token_usage_record", payload)


def _counted(context: int, cached: int, output: int, reasoning: int) -> dict[str, int]:
    """Usage as this agent tells it: input includes what was cached, output what was reasoned."""
    return {
        "input_tokens": context,
        "cached_input_tokens": cached,
        "output_tokens": output,
        "reasoning_output_tokens": reasoning,
        "total_tokens": context + output,
    }


def _limits(roll: _Rollout) -> Line:
    used = round(roll.rng.uniform(1, 60), 1)
    return {"primary": {"used_percent": used, "window_minutes": 300}, "secondary": None}


# --- calls ----------------------------------------------------------------------------------------


def _call(roll: _Rollout, call: Call) -> None:
    kind, name, arguments = _tool(call, roll.session.era, roll.root)
    call_id = roll.writer.call_id(call.key)
    if kind == "custom_tool_call":
        roll.item(call.at, kind, status="completed", call_id=call_id, name=name, input=arguments)
    else:
        roll.item(call.at, kind, name=name, arguments=arguments, call_id=call_id)


def _result(roll: _Rollout, call: Call) -> None:
    outcome = call.outcome
    if outcome is None:
        return
    call_id = roll.writer.call_id(call.key)
    patch = isinstance(call.action, Change | Create)
    kind = "custom_tool_call_output" if patch else "function_call_output"
    errand = call.action if isinstance(call.action, Delegate) else None
    answered = call.at + 40 if errand else outcome.at
    roll.item(answered, kind, call_id=call_id, output=_result_text(call, roll.session.era))
    if patch and roll.session.era != "old":
        _patched(roll, call, call_id)
    if errand is not None:
        started = {"call_id": call_id, "new_thread_id": _child_id(call), "prompt": errand.prompt}
        roll.event(call.at + 50, "collab_agent_spawn_end", **started)
        roll.message(outcome.at, "user", _notification(call))


def _patched(roll: _Rollout, call: Call, call_id: str) -> None:
    action, outcome = call.action, call.outcome
    assert isinstance(action, Change | Create)
    assert outcome is not None
    change: Line = {"type": "add", "content": action.content} if isinstance(action, Create) else {}
    if isinstance(action, Change):
        piece = hunk(action)
        head = f"@@ -{piece.start},{piece.old_count} +{piece.start},{piece.new_count} @@"
        change = {"type": "update", "unified_diff": "\n".join((head, *piece.lines, ""))}
    roll.event(
        outcome.at,
        "patch_apply_end",
        call_id=call_id,
        success=outcome.state == "ok",
        changes={f"{ROOT}/{action.path}": change} if outcome.state == "ok" else {},
    )


def _tool(call: Call, era: Era, root: str) -> tuple[str, str, str]:
    """Kind of item, name of the tool, and its arguments as one text."""
    match call.action:
        case Change(path) as change:
            body = "\n".join(hunk(change).lines)
            patch = f"*** Begin Patch\n*** Update File: {path}\n@@\n{body}\n*** End Patch"
            return "custom_tool_call", "apply_patch", patch
        case Create(path, content):
            body = "\n".join(f"+{line}" for line in content.rstrip("\n").split("\n"))
            patch = f"*** Begin Patch\n*** Add File: {path}\n{body}\n*** End Patch"
            return "custom_tool_call", "apply_patch", patch
        case Plan(items):
            plan = {"plan": [{"step": task, "status": state} for task, state in items]}
            return "function_call", "update_plan", _json(plan)
        case Consult(server, tool, arguments):
            return "function_call", f"mcp__{server}__{tool}", _json(arguments)
        case Delegate(_, _, prompt):
            errand = {"agent_type": "explorer", "message": prompt}
            return "function_call", "spawn_agent", _json(errand)
        case _:
            command = _command(call)
            if era == "old":
                shell = {"command": ["bash", "-lc", command], "workdir": root}
                return "function_call", "shell", _json(shell)
            return "function_call", "exec_command", _json({"cmd": command, "workdir": root})


def _command(call: Call) -> str:
    """What this agent types where others have a tool."""
    match call.action:
        case Run(command):
            return command
        case Read(path, start, lines) if lines is not None:
            return f"sed -n '{start},{start + lines - 1}p' {path}"
        case Read(path):
            return f"sed -n '1,{WHOLE}p' {path}" if int(call.key[0], 16) % 2 else f"cat {path}"
        case Search(pattern, path):
            return f'rg -n "{pattern}" {path}'
        case ListFiles(glob):
            return f"rg --files -g '{glob}'"
        case Fetch(url):
            return f"curl -sL {url}"
        case _:
            raise AssertionError(call.action)


def _result_text(call: Call, era: Era) -> str:
    outcome, action = call.outcome, call.action
    assert outcome is not None
    seconds = (outcome.at - call.at) / 1000
    if outcome.state == "declined":
        return "exec command rejected by user"
    if outcome.state == "interrupted":
        return f"aborted by user after {seconds:.1f}s"
    match action:
        case Plan():
            return "Plan updated"
        case Consult():
            return outcome.text
        case Delegate():
            return _json({"agent_id": _child_id(call), "nickname": _nickname(action.child)})
        case Change(path, old) if outcome.state == "failed":
            where = f"{ROOT}/{path}"
            return (
                f"apply_patch verification failed: Failed to find expected lines in {where}:\n{old}"
            )
        case Change(path) | Create(path):
            mark = "M" if isinstance(action, Change) else "A"
            done = f"Success. Updated the following files:\n{mark} {path}\n"
            return done if era == "new" else _with_metadata(done, 0, seconds)
    code = outcome.exit_code or (1 if isinstance(action, Search) and not outcome.text else 0)
    if era == "old":
        return _with_metadata(outcome.text, code, seconds)
    return (
        f"Chunk ID: {call.key[:6]}\nWall time: {seconds:.4f} seconds\n"
        f"Process exited with code {code}\nOriginal token count: {len(outcome.text) // 4}\n"
        f"Output:\n{outcome.text}"
    )


def _with_metadata(output: str, code: int, seconds: float) -> str:
    metadata = {"exit_code": code, "duration_seconds": round(seconds, 1)}
    return _json({"output": output, "metadata": metadata})


def _notification(call: Call) -> str:
    """How a subagent's report reaches its parent."""
    assert call.outcome is not None
    report = {"agent_id": _child_id(call), "status": {"completed": call.outcome.text}}
    return f"<subagent_notification>\n{_json(report)}\n</subagent_notification>"


def _nickname(key: str) -> str:
    return NICKNAMES[int(key[:2], 16) % len(NICKNAMES)]


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()


# --- disk -----------------------------------------------------------------------------------------


def _thread_id(session: Session) -> str:
    return uuid7(session.started, dice(session.key, "thread"))


def _child_id(call: Call) -> str:
    """The thread a call started, which begins a moment after it."""
    assert isinstance(call.action, Delegate)
    return uuid7(call.at + CHILD_DELAY, dice(call.action.child, "thread"))


def _file_name(session: Session, folder: str) -> str:
    stamp = moment(session.started).strftime(f"{folder}/rollout-%Y-%m-%dT%H-%M-%S")
    return f"{stamp}-{_thread_id(session)}.jsonl"


def _save(path: Path, lines: list[Line], root: Path) -> int:
    """Write the lines; returns the tokens that all usages in them add up to."""
    save(path, lines, {ROOT: root})
    return sum(_line_tokens(line["payload"]) for line in lines)


def _line_tokens(payload: Line) -> int:
    info = payload.get("info") or {}
    usage = info.get("last_token_usage") or payload.get("usage") or {}
    total: int = usage.get("total_tokens", 0)
    return total


def _name_thread(home: Path, session: Session) -> None:
    line = {"id": _thread_id(session), "thread_name": session.title}
    with (home / ".codex" / "session_index.jsonl").open("ab") as index:
        index.write(msgspec.json.encode(line) + b"\n")
