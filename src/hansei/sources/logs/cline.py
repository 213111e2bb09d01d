"""Tasks of Cline and its relatives: what the person saw, as `ui_messages.json` keeps it.

A request is one message that is filled in when it ends; the totals in the task's history are the
sum of these and lie elsewhere. What is still streaming in is marked, and told again when it is
whole. The first message is the task.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hansei.events.model import Compaction, Origin, Tool
from hansei.sources.contract import Capabilities
from hansei.sources.families import chat
from hansei.sources.families.chat import Kind, Part
from hansei.sources.families.clock import instant
from hansei.sources.families.records import rescue
from hansei.sources.families.streams import Counts
from hansei.sources.families.telling import Conversation
from hansei.sources.log_files import Form
from hansei.sources.log_format import LogFormat

if TYPE_CHECKING:
    from hansei.sources.families.telling import Telling
    from hansei.sources.log_files import LogFile

_TOOLS = {
    name: tool
    for tool, names in {
        Tool.READ: "readfile",
        Tool.EDIT: "applieddiff editedexistingfile searchandreplace insertcontent",
        Tool.WRITE: "newfilecreated",
        Tool.SEARCH: """searchfiles listfilestoplevel listfilesrecursive listcodedefinitionnames
            codebasesearch listfiles""",
        Tool.WEB: "webfetch websearch",
        Tool.SUBAGENT: "newtask",
        Tool.PLAN: "switchmode finishtask updatetodolist",
    }.items()
    for name in names.split()
}
_HUMAN = frozenset(("user_feedback", "user_feedback_diff", "task"))
_REPLIES = frozenset(("text", "completion_result", "followup", "plan_mode_respond"))
_QUIET = frozenset(
    (
        "task_progress", "checkpoint_created", "checkpoint_saved", "api_req_finished",
        "api_req_retry_delayed", "resume_task", "resume_completed_task", "deleted_api_reqs",
        "api_req_deleted", "shell_integration_warning", "mcp_server_request_started",
        "load_mcp_documentation", "info", "command_output_pending",
    )
)  # fmt: skip
"""What tells nothing that an event has a place for, or repeats what others say."""
_TROUBLE = frozenset(
    (
        "error", "error_retry", "api_req_retried", "api_req_failed", "mistake_limit_reached",
        "rooignore_error", "clineignore_error", "auto_approval_max_req_reached",
    )
)  # fmt: skip

Value = dict[str, Any]


def recognises(log: LogFile) -> bool:
    """Whether it is a list of messages that were said or asked."""
    return (
        log.form in (Form.LIST, Form.LINES)
        and bool(log.first)
        and all(it.get("type") in ("say", "ask") and "ts" in it for it in log.first)
    )


def tell(telling: Telling, log: LogFile) -> None:
    """Tell one task."""
    messages = [(record.line, record.value) for record in log.records]
    whole = [(line, it) for line, it in messages if it.get("partial") is not True]
    if not whole:
        return
    session = _session(log, whole[0][1])
    telling.session(session)
    talk = Conversation(telling, session, tools=_TOOLS)
    for place, (_, message) in enumerate(whole):
        _tell_message(talk, message, first=place == 0)


def _session(log: LogFile, first: Value) -> str:
    """The task's folder, which is named for it, else when it began."""
    name = log.path.parent.name
    is_task = log.path.name == "ui_messages.json" and log.path.parent.parent.name == "tasks"
    return name if is_task else str(instant(first.get("ts")) or log.stem)


def _tell_message(talk: Conversation, message: Value, *, first: bool) -> None:
    kind = str(message.get("say") or message.get("ask") or "")
    text, at = chat.text_of(message.get("text")), instant(message.get("ts"))
    known = f"{kind} {message.get('ts')}"
    talk.scope = known
    if first or kind in _HUMAN:
        images = message.get("images")
        drawn = len(images) if isinstance(images, list) else 0
        talk.prompt(text, Origin.HUMAN, at=at, images=drawn)
    elif kind == "api_req_started":
        _tell_request(talk, message, text, at)
    elif kind == "reasoning":
        talk.thought(text, at=at, model=_model(message))
    elif kind in _REPLIES:
        if message.get("type") == "say" or kind not in ("completion_result", "text"):
            talk.reply(_words(text), at=at, model=_model(message))
    elif kind in ("tool", "command", "use_mcp_server", "browser_action_launch", "browser_action"):
        _tell_call(talk, kind, text, at, known)
    elif kind in ("command_output", "mcp_server_response", "browser_action_result", "diff_error"):
        failed = True if kind == "diff_error" else None
        talk.result(Part(Kind.RESULT, text, failed=failed), at=at)
    elif kind in ("condense_context", "sliding_window_truncation"):
        key = talk.telling.key("compaction", talk.session, known)
        talk.telling.emit(Compaction(key=key, session=talk.session, at=at, text=text))
    elif kind in _TROUBLE:
        talk.telling.notice(talk.session, known, kind, text=text, at=at)
    elif kind not in _QUIET:
        talk.telling.unrecognised(talk.session, f"message {kind}", message, at)


def _tell_request(talk: Conversation, message: Value, text: str, at: int | None) -> None:
    """What a request took. One that was cut off before any answer says zero, and took unknown."""
    told = rescue(text.encode("utf-8", "surrogatepass")).value or {}
    names = ("tokensIn", "cacheReads", "cacheWrites", "tokensOut")
    sent, read, written, output = (chat.count(told.get(name)) for name in names)
    if sent is None and output is None:
        return
    counts = Counts(sent, read, written, None, output)
    if told.get("cancelReason") and not any(counts):
        reason = str(told.get("cancelReason"))
        talk.telling.notice(talk.session, talk.scope, "request_failed", text=reason, at=at)
        return
    talk.telling.usage(talk.session, talk.scope, counts, at=at, model=_model(message))


def _tell_call(talk: Conversation, kind: str, text: str, at: int | None, known: str) -> None:
    told = rescue(text.encode("utf-8", "surrogatepass")).value
    if kind == "command" or told is None:
        arguments: Value = {"command" if kind == "command" else "input": text}
        name = "execute_command" if kind == "command" else kind
        talk.call(Part(Kind.CALL, id=known, name=name, arguments=arguments), at=at)
        return
    name = str(told.get("tool") or told.get("toolName") or told.get("action") or kind)
    given = {key: it for key, it in told.items() if key not in ("tool", "content") and it != ""}
    changes = _TOOLS.get(name.lower()) in (Tool.EDIT, Tool.WRITE)
    if changes and isinstance(told.get("content"), str):
        given["content"] = told["content"]
    talk.call(Part(Kind.CALL, id=known, name=name, arguments=given), at=at)
    if not changes and isinstance(told.get("content"), str) and kind == "tool":
        talk.result(Part(Kind.RESULT, told["content"], known), at=at)


def _words(text: str) -> str:
    """What is asked of the person; some versions put it into an object with the choices."""
    told = rescue(text.encode("utf-8", "surrogatepass")).value if text[:1] == "{" else None
    asked = (told or {}).get("question") or (told or {}).get("response")
    return asked if isinstance(asked, str) else text


def _model(message: Value) -> str | None:
    told = message.get("modelInfo")
    name = told.get("modelId") if isinstance(told, dict) else None
    return name if isinstance(name, str) and name else None


SOURCE = LogFormat(
    name="cline",
    title="Cline",
    looks_like="a list of messages with `ts` and a `type` of say or ask (ui_messages.json)",
    recognises=recognises,
    tell=tell,
    capabilities=Capabilities(file_edits=False),
)
