"""OTLP JSON: spans with OpenTelemetry's GenAI names, or with OpenInference's.

Only what asks a model is counted, and of such spans only those that hold no other: spans of agents
and workflows carry the sums of what lies below them. Spans are written when they end, so they are
put into the order in which they began. Metrics repeat what spans say and are passed over.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hansei.events.model import Driver, Origin, Prompt, Relation, Tool
from hansei.sources.contract import Capabilities
from hansei.sources.families import chat
from hansei.sources.families.chat import Kind, Part, Role
from hansei.sources.families.telling import Conversation
from hansei.sources.log_format import LogFormat
from hansei.sources.logs.otlp.messages import exchange
from hansei.sources.logs.otlp.spans import (
    Span,
    decoded,
    is_span,
    is_wrapped,
    records_of,
    spans_of,
)

if TYPE_CHECKING:
    from hansei.sources.families.streams import Counts
    from hansei.sources.families.telling import Telling
    from hansei.sources.log_files import LogFile

OPERATION = "gen_ai.operation.name"
_TOOLS = {
    "run_command_in_terminal": Tool.SHELL,
    "run_build": Tool.SHELL,
    "get_file": Tool.READ,
    "code_search": Tool.SEARCH,
}
"""Tools that programs which send spans call so."""
_MODEL = frozenset(("chat", "text_completion", "generate_content", "completion", "LLM", "llm"))
_TOOL = frozenset(("execute_tool", "TOOL", "tool"))
_AGENT = frozenset(("invoke_agent", "AGENT", "agent", "invoke_workflow", "workflow"))
_QUIET = frozenset(
    (
        "CHAIN", "RETRIEVER", "RERANKER", "EMBEDDING", "GUARDRAIL", "EVALUATOR", "PROMPT",
        "UNKNOWN", "create_agent", "embeddings", "retrieval", "task", "create_memory",
        "search_memory", "update_memory",
    )
)  # fmt: skip
"""Spans that tell nothing of their own which an event has a place for."""
_SESSIONS = (
    "gen_ai.conversation.id", "session.id", "copilot_chat.session_id", "langfuse.session.id",
    "traceloop.association.properties.session_id", "thread.id",
)  # fmt: skip
_INPUT = ("gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens", "llm.token_count.prompt",
          "llm.usage.prompt_tokens")  # fmt: skip
_OUTPUT = ("gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens",
           "llm.token_count.completion", "llm.usage.completion_tokens")  # fmt: skip
_READ = ("gen_ai.usage.cache_read.input_tokens", "gen_ai.usage.cache_read_input_tokens",
         "llm.token_count.prompt_details.cache_read")  # fmt: skip
_WRITE = ("gen_ai.usage.cache_creation.input_tokens", "gen_ai.usage.cache_creation_input_tokens",
          "gen_ai.usage.cache_write.input_tokens",
          "llm.token_count.prompt_details.cache_write")  # fmt: skip
_REASONING = ("gen_ai.usage.reasoning.output_tokens", "gen_ai.usage.reasoning_tokens",
              "llm.token_count.completion_details.reasoning")  # fmt: skip
_MODELS = ("gen_ai.response.model", "gen_ai.request.model", "llm.model_name")
_GIVEN = ("gen_ai.tool.call.arguments", "tool.parameters", "input.value", "traceloop.entity.input",
          "gen_ai.tool.input")  # fmt: skip
_CAME = ("gen_ai.tool.call.result", "output.value", "traceloop.entity.output", "gen_ai.tool.output")


def recognises(log: LogFile) -> bool:
    """Whether every record is an export request, or a span."""
    return bool(log.first) and all(is_wrapped(it) or is_span(it) for it in log.first)


def tell(telling: Telling, log: LogFile) -> None:
    """Tell every span of a log, in the order in which they began."""
    spans: dict[tuple[str, str], Span] = {}
    beside: list[Span] = []
    for record in log.records:
        if not (is_wrapped(record.value) or is_span(record.value)):
            telling.problem(record.line, "neither an export request nor a span", record.offset)
        for span in spans_of(record.value):
            spans[span.trace, span.id] = span
        beside += records_of(record.value)
    _attach(spans, beside)
    tree = Tree(spans)
    ordered = sorted(spans.values(), key=lambda it: (it.start or 0, it.trace, it.id))
    for span in ordered:
        _tell_span(telling, tree, span)
    asked = {it.session for it in telling.events.values() if isinstance(it, Prompt)}
    for span in ordered:
        if kind_of(span) in _AGENT and (session := _session(telling, tree, span)) not in asked:
            asked.add(session)
            _tell_task(telling, session, span)


def _attach(spans: dict[tuple[str, str], Span], beside: list[Span]) -> None:
    """Log records as events of their span; one whose span is not here stands for it."""
    for record in beside:
        place = (record.trace, record.id)
        if place in spans:
            spans[place].events += record.events
        elif kind_of(record) in _MODEL:
            spans[place] = record


def kind_of(span: Span) -> str:
    """What a span is, in the word its maker has for it; empty for spans of other things."""
    told = span.get(OPERATION, "openinference.span.kind", "traceloop.span.kind")
    if isinstance(told, str) and told:
        return told
    if span.get("gen_ai.tool.name", "tool.name"):
        return "execute_tool"
    return "chat" if span.get(*_MODELS) and span.get(*_INPUT, *_OUTPUT) is not None else ""


class Tree:
    """Which span lies in which, and which session each belongs to."""

    def __init__(self, spans: dict[tuple[str, str], Span]) -> None:
        self.spans = spans
        self.holders: set[tuple[str, str]] = set()
        """Spans of models that hold another span of a model."""
        self.traces: dict[str, str] = {}
        for span in sorted(spans.values(), key=lambda it: (it.start or 0, it.id)):
            told = _own_session(span)
            if told:
                self.traces.setdefault(span.trace, told)
            if kind_of(span) in _MODEL:
                above = self.above(span)
                self.holders |= {(it.trace, it.id) for it in above if kind_of(it) in _MODEL}

    def above(self, span: Span) -> list[Span]:
        """The spans around one, the nearest first."""
        found: dict[tuple[str, str], Span] = {}
        place = (span.trace, span.parent)
        while place in self.spans and place not in found:
            found[place] = self.spans[place]
            place = (span.trace, found[place].parent)
        return list(found.values())

    def conversation(self, span: Span) -> str:
        """The session as the program names it: here, around it, in its trace, or the trace."""
        near = (told for it in (span, *self.above(span)) if (told := _own_session(it)))
        return next(near, None) or self.traces.get(span.trace) or span.trace or span.id

    def agents(self, span: Span) -> list[Span]:
        """The agents around a span and itself, the nearest first, none twice under one name."""
        found: list[Span] = []
        for it in (span, *self.above(span)):
            if kind_of(it) in _AGENT and (not found or agent_of(it) != agent_of(found[-1])):
                found.append(it)
        return found


def _own_session(span: Span) -> str | None:
    return span.text(*_SESSIONS)


def agent_of(span: Span) -> str:
    """The name of the agent that a span is about."""
    told = span.attributes.get("gen_ai.agent.name") or span.attributes.get("agent.name")
    return str(told) if told else span.name


def _session(telling: Telling, tree: Tree, span: Span) -> str:
    """The session of a span, begun if it is new. An agent within an agent has its own."""
    top = tree.conversation(span)
    agents = tree.agents(span)
    session = top if len(agents) < 2 else f"{top}/{agents[0].id}"
    if session not in telling.sessions:
        _learn(telling, session, span, agents)
    if session != top:
        facts = telling.session(session)
        facts.driver, facts.driver_recorded = Driver.SUBAGENT, True
        facts.parent = top if len(agents) == 2 else f"{top}/{agents[1].id}"
        facts.relation, facts.role = Relation.SUBAGENT, agent_of(agents[0])
    return session


def _learn(telling: Telling, session: str, span: Span, agents: list[Span]) -> None:
    facts = telling.session(session)
    service = span.text("service.name")
    unnamed = service is None or service.startswith("unknown_service")
    facts.entrypoint = agent_of(agents[-1]) if unnamed and agents else service
    facts.version = span.text("gen_ai.agent.version", "service.version")
    facts.cwd = span.text("process.working_directory", "code.workspace", "workspace.path")
    facts.branch = span.text("vcs.ref.head.name")
    facts.commit = span.text("vcs.ref.head.revision")


# --- spans ----------------------------------------------------------------------------------------


def _tell_span(telling: Telling, tree: Tree, span: Span) -> None:
    kind = kind_of(span)
    if kind in _MODEL:
        if (span.trace, span.id) not in tree.holders:
            _tell_request(telling, _session(telling, tree, span), span)
    elif kind in _TOOL:
        _tell_tool(telling, _session(telling, tree, span), span)
    elif kind in _AGENT:
        session = _session(telling, tree, span)
        name = agent_of(span)
        data = {"agent": name, **({"failed": True} if span.failed else {})}
        telling.notice(session, span.id, "agent", text=span.reason, at=span.start, data=data)
    elif kind and kind not in _QUIET:
        telling.unrecognised(_session(telling, tree, span), f"span {kind}", span.name, span.start)


def _tell_request(telling: Telling, session: str, span: Span) -> None:
    model = span.text(*_MODELS)
    told = span.text("gen_ai.response.id")
    talk = Conversation(telling, session, _origin(telling, session), _TOOLS)
    said = exchange(span)
    for message in said.sent:
        if (spoken := chat.spoken(message)) is not None:
            answered = model if spoken.role is Role.ASSISTANT else None
            talk.say(spoken, at=span.start, model=answered)
    for message in said.answered:
        if (spoken := chat.spoken(message)) is not None:
            talk.say(spoken, at=span.end or span.start, model=model, message=told)
    counts = usage(span)
    if counts is not None:
        telling.usage(
            session,
            f"{span.trace} {told or span.id}",
            counts,
            at=span.start,
            model=model,
            message=told,
            everywhere=bool(span.trace),
        )
    if span.failed:
        words = span.reason or span.text("error.type") or ""
        telling.notice(session, span.id, "request_failed", text=words, at=span.end)


def usage(span: Span) -> Counts | None:
    """The tokens of a request; an input smaller than what a cache held leaves that out."""
    sent, output = chat.count(span.get(*_INPUT)), chat.count(span.get(*_OUTPUT))
    if sent is None and output is None:
        return None
    read, written = chat.count(span.get(*_READ)), chat.count(span.get(*_WRITE))
    return chat.disjoint(sent, read, written, output, chat.count(span.get(*_REASONING)))


def _origin(telling: Telling, session: str) -> Origin:
    is_subagent = telling.session(session).driver is Driver.SUBAGENT
    return Origin.PARENT_AGENT if is_subagent else Origin.HUMAN


def _tell_tool(telling: Telling, session: str, span: Span) -> None:
    name = span.text("gen_ai.tool.name", "tool.name") or span.name.removeprefix("execute_tool ")
    arguments = chat.arguments_of(decoded(span.get(*_GIVEN)))
    told = span.text("gen_ai.tool.call.id", "tool_call.id")
    call = told or telling.claim(session, name, arguments) or span.id
    talk = Conversation(telling, session, tools=_TOOLS)
    talk.call(Part(Kind.CALL, id=call, name=name, arguments=arguments), at=span.start)
    telling.claimed(session, name, call)
    came, code = span.get(*_CAME), chat.count(span.get("process.exit.code"))
    failed = True if span.failed or span.get("error.type") else span.failed
    if came is None and failed is None and code is None and span.end is None:
        return
    text = chat.text_of(decoded(came)) or (span.reason if failed else "")
    talk.result(Part(Kind.RESULT, text, call, failed=failed, exit_code=code), at=span.end)


def _tell_task(telling: Telling, session: str, span: Span) -> None:
    """What an agent was asked, where no request tells it."""
    talk = Conversation(telling, session, _origin(telling, session))
    said = exchange(span)
    told = [(it, span.start) for it in said.sent] + [(it, span.end) for it in said.answered]
    for message, at in told:
        if (spoken := chat.spoken(message)) is not None:
            talk.say(spoken, at=at)
    given: Any = span.get("input.value", "traceloop.entity.input")
    if not said.sent and isinstance(given, str) and given:
        talk.prompt(given, talk.origin, at=span.start)


SOURCE = LogFormat(
    name="otlp",
    title="OTLP spans",
    looks_like="`resourceSpans` of OTLP's JSON, or spans with `trace_id`, `span_id`, `attributes`",
    recognises=recognises,
    tell=tell,
    capabilities=Capabilities(reasoning_tokens=True, exit_codes=True, branch=True, commit=True),
)
