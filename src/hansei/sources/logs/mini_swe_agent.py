"""Trajectories of mini-swe-agent: chat messages, each with what the program noted beside it.

Every answer carries the provider's whole response, so tokens are known per request; every
observation carries its exit code. A run over a benchmark has an instance; one without was started
by a person.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from hansei.events.model import Driver, Origin
from hansei.sources.contract import Capabilities
from hansei.sources.families import chat
from hansei.sources.families.chat import Kind, Part, Role
from hansei.sources.families.clock import instant
from hansei.sources.families.fields import mapping, mappings, word
from hansei.sources.families.telling import Conversation, made_up
from hansei.sources.log_files import Form
from hansei.sources.log_format import LogFormat

if TYPE_CHECKING:
    from hansei.sources.families.chat import Spoken
    from hansei.sources.families.telling import Telling
    from hansei.sources.log_files import LogFile

MARK = "mini-swe-agent"
_COMMAND = re.compile(r"```(?:bash|mswea_bash_command)\s*\n(.*?)\n```", re.DOTALL)
_CODE = re.compile(r"<returncode>(-?\d+)</returncode>")
TOOL = "bash"


def recognises(log: LogFile) -> bool:
    """Whether the format names itself, or the program's own version stands in it."""
    info = log.value.get("info")
    if log.form is not Form.OBJECT or not isinstance(log.value.get("messages"), list):
        return False
    named = str(log.value.get("trajectory_format", "")).startswith(MARK)
    return named or (isinstance(info, dict) and "mini_version" in info)


def tell(telling: Telling, log: LogFile) -> None:
    """Tell one run."""
    value = log.value
    info = mapping(value.get("info"))
    messages = mappings(value.get("messages"))
    session = _session(log, messages)
    _learn(telling, session, value, info)
    origin = Origin.HARNESS if value.get("instance_id") else Origin.HUMAN
    talk = Conversation(telling, session, origin, folder=telling.session(session).cwd)
    observing = False
    for number, message in enumerate(messages):
        observing = _message(talk, message, number, observing=observing)
    _end(telling, session, info, messages)


def _session(log: LogFile, messages: list[dict[str, Any]]) -> str:
    """A run is its instance and when it began: the same instance is run again and again."""
    named = log.value.get("instance_id") or log.path.name.removesuffix(".traj.json")
    times = [at for it in messages if (at := instant(mapping(it.get("extra")).get("timestamp")))]
    return made_up(str(named), str(named), str(times[0])) if times else str(named)


def _learn(telling: Telling, session: str, value: dict[str, Any], info: dict[str, Any]) -> None:
    automated = bool(value.get("instance_id"))
    facts = telling.session(session, Driver.AUTOMATED if automated else Driver.HUMAN)
    facts.driver_recorded = automated
    environment = mapping(mapping(info.get("config")).get("environment"))
    facts.cwd = word(environment.get("cwd"))
    facts.version = word(info.get("mini_version"))
    facts.title = word(value.get("instance_id"))
    facts.entrypoint = MARK


def _message(talk: Conversation, message: dict[str, Any], number: int, *, observing: bool) -> bool:
    """Tell a message; returns whether a command waits for what it printed."""
    extra = mapping(message.get("extra"))
    at = instant(extra.get("timestamp")) or instant(message.get("timestamp"))
    spoken = chat.spoken(message)
    if message.get("role") == "exit":
        return False
    if spoken is None:
        talk.telling.unrecognised(talk.session, f"message {message.get('role')}", message, at)
        return observing
    if spoken.role is Role.ASSISTANT:
        return _answer(talk, spoken, extra, at, number)
    if spoken.role is Role.TOOL or (observing and _is_observation(spoken, extra)):
        _observation(talk, message, extra, at)
        return False
    if spoken.role is Role.USER and number > 1:  # the program asks for another answer
        spoken = spoken._replace(role=Role.SYSTEM)
    talk.say(spoken, at=at)
    return False


def _is_observation(spoken: Spoken, extra: dict[str, Any]) -> bool:
    return "returncode" in extra or any(_CODE.search(part.text) for part in spoken.parts)


def _answer(
    talk: Conversation, spoken: Spoken, extra: dict[str, Any], at: int | None, number: int
) -> bool:
    response = mapping(extra.get("response"))
    model, told = word(response.get("model")), word(response.get("id"))
    calls = [part for part in spoken.parts if part.kind is Kind.CALL]
    talk.say(spoken, at=at, model=model, message=told)
    commands = [] if calls else _commands(spoken, extra)
    for command in commands:
        part = Part(Kind.CALL, name=TOOL, arguments={"command": command})
        talk.call(part, at=at, model=model, message=told)
    counts = chat.usage(response.get("usage"))
    if counts is not None:
        known = told or f"answer {number}"
        talk.telling.usage(talk.session, known, counts, at=at, model=model, message=told)
    return bool(commands)


def _commands(spoken: Spoken, extra: dict[str, Any]) -> list[str]:
    """The commands of an answer that calls no tool: noted beside it, else the block in its text."""
    actions = extra.get("actions")
    noted = (
        [word(mapping(it).get("command")) for it in actions] if isinstance(actions, list) else []
    )
    if any(noted):
        return [command for command in noted if command]
    text = "\n".join(part.text for part in spoken.parts if part.kind is Kind.TEXT)
    found = _COMMAND.findall(text)
    return found if len(found) == 1 else []


def _observation(
    talk: Conversation, message: dict[str, Any], extra: dict[str, Any], at: int | None
) -> None:
    text = chat.text_of(message.get("content"))
    raw, code = word(extra.get("raw_output")), extra.get("returncode")
    found = _CODE.search(text)
    if not isinstance(code, int) and found:
        code = int(found[1])
    stopped = bool(word(extra.get("exception_info")))
    part = Part(
        Kind.RESULT,
        raw or text,
        word(message.get("tool_call_id")),
        failed=True if stopped else None,
        exit_code=code if isinstance(code, int) and not stopped else None,
    )
    talk.result(part, at=at)


def _end(
    telling: Telling, session: str, info: dict[str, Any], messages: list[dict[str, Any]]
) -> None:
    status = word(info.get("exit_status"))
    if status is None:
        return
    last = messages[-1] if messages else {}
    at = instant(mapping(last.get("extra")).get("timestamp"))
    data = {"exit_status": status, **mapping(info.get("model_stats"))}
    telling.notice(session, "end", "run_ended", text=word(info.get("submission")) or "", at=at,
                   data=data)  # fmt: skip


SOURCE = LogFormat(
    name="mini_swe_agent",
    title="mini-swe-agent",
    looks_like="one object with `messages` and `info`, and a `trajectory_format` of mini-swe-agent",
    recognises=recognises,
    tell=tell,
    capabilities=Capabilities(exit_codes=True, reasoning_tokens=True),
)
