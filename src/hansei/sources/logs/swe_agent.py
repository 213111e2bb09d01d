"""Trajectories of SWE-agent: steps of a thought, an action and what came of it.

Tokens are told only as a total of the run, so no request has any; the total is kept as it is, in
the notice of the run's end. Demonstrations that were shown to the model did not happen.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hansei.events.model import Driver, Origin, Tool
from hansei.sources.contract import Capabilities
from hansei.sources.families import chat
from hansei.sources.families.chat import Kind, Part
from hansei.sources.families.fields import mapping, mappings, word
from hansei.sources.families.records import rescue
from hansei.sources.families.telling import Conversation, made_up
from hansei.sources.log_files import Form
from hansei.sources.log_format import LogFormat

if TYPE_CHECKING:
    from hansei.sources.families.telling import Telling
    from hansei.sources.log_files import LogFile

_TOOLS = {
    name: tool
    for tool, names in {
        Tool.READ: "open goto scroll_up scroll_down view",
        Tool.EDIT: "edit insert str_replace_editor",
        Tool.WRITE: "create",
        Tool.SEARCH: "search_dir search_file find_file",
        Tool.PLAN: """submit exit_cost exit_context exit_forfeit exit_api exit_error exit_format
            skip""",
    }.items()
    for name in names.split()
}
"""Commands of the program itself; whatever else is done is a shell command."""
_REFUSED = ("Your proposed edit has introduced new syntax error", "Your command cannot contain")
"""How the program begins an answer to what it did not do."""


def recognises(log: LogFile) -> bool:
    """Whether it is an object with steps, and with what the run ended."""
    value = log.value
    steps = value.get("trajectory")
    return (
        log.form is Form.OBJECT
        and isinstance(steps, list)
        and ("history" in value or "info" in value)
        and all(isinstance(step, dict) and "action" in step for step in steps[:3])
    )


def tell(telling: Telling, log: LogFile) -> None:
    """Tell one run."""
    value = log.value
    info = mapping(value.get("info"))
    steps = mappings(value.get("trajectory"))
    history = mappings(value.get("history"))
    session = _session(log, history, steps)
    facts = telling.session(session, Driver.AUTOMATED)
    facts.driver_recorded, facts.entrypoint = True, "swe-agent"
    facts.title = log.stem
    facts.version = word(info.get("swe_agent_version"))
    facts.cwd = next((cwd for step in steps if (cwd := _folder(step))), None)
    talk = Conversation(telling, session, Origin.HARNESS, _TOOLS)
    for message in _opening(history):
        talk.prompt(chat.text_of(message.get("content")), Origin.HARNESS)
    for step in steps:
        _step(talk, step)
    if info:
        _end(telling, session, info)


def _session(log: LogFile, history: list[dict[str, Any]], steps: list[dict[str, Any]]) -> str:
    """A run is its file and how it began: there is no time in it, and no id."""
    first = chat.text_of(history[0].get("content")) if history else ""
    answers = [str(step.get("response") or step.get("action") or "") for step in steps[:3]]
    return made_up(log.stem, log.stem, first, *answers)


def _opening(history: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What the model was given before its first answer, without demonstrations."""
    opening = []
    for message in history:
        if message.get("role") == "assistant" and not message.get("is_demo"):
            break
        if not message.get("is_demo") and message.get("role") in ("system", "user"):
            opening.append(message)
    return opening


def _step(talk: Conversation, step: dict[str, Any]) -> None:
    thought, action = word(step.get("thought")), word(step.get("action"))
    response = word(step.get("response"))
    said = thought if thought is not None else response
    if said:
        talk.reply(said)
    if action is None or not action.strip():
        return
    talk.folder = _folder(step) or talk.folder
    name = action.split(maxsplit=1)[0]
    own = name in _TOOLS
    part = Part(Kind.CALL, name=name if own else "bash", arguments={"command": action.strip()})
    call = talk.call(part)
    observation = step.get("observation")
    if observation is None:
        return
    text = chat.text_of(observation)
    refused = own and text.startswith(_REFUSED)
    talk.result(Part(Kind.RESULT, text, call, failed=True if refused else None))


def _end(telling: Telling, session: str, info: dict[str, Any]) -> None:
    stats = mapping(info.get("model_stats"))
    data = {"exit_status": word(info.get("exit_status")), **stats}
    text = word(info.get("submission")) or ""
    telling.notice(session, "end", "run_ended", text=text, data=data)


def _folder(step: dict[str, Any]) -> str | None:
    state = step.get("state")
    if isinstance(state, str):
        state = rescue(state.encode("utf-8", "surrogatepass")).value
    folder = word(mapping(state).get("working_dir"))
    return folder if folder != "n/a" else None


SOURCE = LogFormat(
    name="swe_agent",
    title="SWE-agent",
    looks_like="one object with a `trajectory` of steps that have an `action`, and `info`",
    recognises=recognises,
    tell=tell,
    capabilities=Capabilities(tokens=False, cache_tokens=False, thoughts=False, file_edits=False),
)
