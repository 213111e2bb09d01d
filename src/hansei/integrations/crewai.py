"""CrewAI: a listener on its event bus that records what crews do.

    HanseiListener()   # once, before the crew is kicked off

A session is everything below one kickoff, or one flow. CrewAI runs listeners in threads of its own,
one event after the other; it waits for them when the program ends.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crewai.events import (
    AgentExecutionStartedEvent,
    BaseEventListener,
    CrewKickoffFailedEvent,
    CrewKickoffStartedEvent,
    FlowStartedEvent,
    LiteAgentExecutionStartedEvent,
    LLMCallCompletedEvent,
    LLMCallFailedEvent,
    LLMCallStartedEvent,
    MethodExecutionStartedEvent,
    TaskStartedEvent,
    ToolUsageErrorEvent,
    ToolUsageFinishedEvent,
    ToolUsageStartedEvent,
)
from crewai.types.usage_metrics import UsageMetrics

from hansei.integrations.journal import Journal, mark, quietly
from hansei.integrations.telling import FORMAT, Told, tokens

if TYPE_CHECKING:
    import os

    from crewai.events import BaseEvent, CrewAIEventsBus

EVENTS_KEPT = 100_000
"""Events whose session is remembered; beyond this the oldest are given up."""
_SCOPES: tuple[type[BaseEvent], ...] = (
    CrewKickoffStartedEvent, FlowStartedEvent, MethodExecutionStartedEvent, TaskStartedEvent,
    AgentExecutionStartedEvent, LiteAgentExecutionStartedEvent,
)  # fmt: skip
"""Events that others happen below."""


class HanseiListener(BaseEventListener):
    """Writes every kickoff it hears of below the hansei home."""

    def __init__(
        self,
        *,
        agent: str = "crewai",
        driver: str | None = None,
        home: str | os.PathLike[str] | None = None,
    ) -> None:
        """Record crews.

        `agent` is what the program is called, `driver` who drives it (human, automated), `home`
        another folder than the hansei home.
        """
        self._journal = Journal(FORMAT, home)
        self._agent, self._driver = agent, driver
        self._sessions: dict[str, Told] = {}
        """By the id of an event in it."""
        super().__init__()

    def setup_listeners(self, crewai_event_bus: CrewAIEventsBus) -> None:
        """Listen to what opens a scope, to requests and to tools."""
        for scope in _SCOPES:
            crewai_event_bus.on(scope)(self._begun)
        for kind, handler in (
            (CrewKickoffFailedEvent, self._failed),
            (LLMCallStartedEvent, self._asked),
            (LLMCallCompletedEvent, self._answered),
            (LLMCallFailedEvent, self._refused),
            (ToolUsageStartedEvent, self._called),
            (ToolUsageFinishedEvent, self._returned),
            (ToolUsageErrorEvent, self._raised),
        ):
            crewai_event_bus.on(kind)(handler)

    def _told(self, event: Any) -> Told:
        """The session of an event: that of the event it happened below, else a new one."""
        with self._journal.lock:
            above = (event.parent_event_id, event.started_event_id, event.task_id)
            told = next((self._sessions[it] for it in above if it in self._sessions), None)
            if told is None:
                facts = {"driver": self._driver, "title": getattr(event, "crew_name", None)}
                told = Told(self._journal, event.event_id, self._agent, facts)
            self._sessions[event.event_id] = told
            if event.task_id:
                self._sessions[event.task_id] = told
            while len(self._sessions) > EVENTS_KEPT:
                del self._sessions[next(iter(self._sessions))]
            return told

    @quietly
    def _begun(self, source: Any, event: Any) -> None:
        del source
        self._told(event)

    @quietly
    def _failed(self, source: Any, event: CrewKickoffFailedEvent) -> None:
        del source
        self._told(event).tell("notice", event.event_id, name="run_failed", text=event.error)

    # --- requests ---------------------------------------------------------------------------------

    @quietly
    def _asked(self, source: Any, event: LLMCallStartedEvent) -> None:
        del source
        with self._journal.lock:
            _tell_sent(self._told(event), event.messages)

    @quietly
    def _answered(self, source: Any, event: LLMCallCompletedEvent) -> None:
        del source
        with self._journal.lock:
            told = self._told(event)
            if isinstance(event.response, str) and event.response:
                told.tell("reply", event.call_id, text=event.response, model=event.model)
            told.tell("usage", event.call_id, model=event.model, **_counted(event.usage))

    @quietly
    def _refused(self, source: Any, event: LLMCallFailedEvent) -> None:
        del source
        told = self._told(event)
        told.tell("notice", event.event_id, name="request_failed", text=event.error)

    # --- tools ------------------------------------------------------------------------------------

    @quietly
    def _called(self, source: Any, event: ToolUsageStartedEvent) -> None:
        del source
        given = event.tool_args if isinstance(event.tool_args, dict) else {"input": event.tool_args}
        with self._journal.lock:
            self._told(event).tell("call", event.event_id, tool=event.tool_name, arguments=given)

    @quietly
    def _returned(self, source: Any, event: ToolUsageFinishedEvent) -> None:
        del source
        failed = getattr(event, "failure", None) is not None
        self._result(event, str(event.output), failed=failed)

    @quietly
    def _raised(self, source: Any, event: ToolUsageErrorEvent) -> None:
        del source
        self._result(event, str(event.error), failed=True)

    def _result(self, event: Any, text: str, *, failed: bool) -> None:
        with self._journal.lock:
            told = self._told(event)
            call = event.started_event_id or event.event_id
            if not told.knows("call", call):
                told.tell("call", call, tool=event.tool_name)
            told.tell("result", call, text=text, status="failed" if failed else "ok")


def _tell_sent(told: Told, messages: Any) -> None:
    """What the crew was told. After an answer, the program speaks in the user's place."""
    listed = messages if isinstance(messages, list) else [{"role": "user", "content": messages}]
    answered = False
    for message in listed:
        role, text = message.get("role"), message.get("content")
        answered = answered or role == "assistant"
        if role in ("system", "user") and isinstance(text, str) and text:
            by = "human" if role == "user" and not answered else "harness"
            told.tell("prompt", mark(by, text), text=text, by=by)


def _counted(usage: dict[str, Any] | None) -> dict[str, int]:
    """Tokens by CrewAI's own reading of each provider, whose zeros may be what was not told."""
    metrics = UsageMetrics.from_provider_dict(usage) if usage else None
    if metrics is None:
        return {}
    return tokens(
        metrics.prompt_tokens,
        metrics.cached_prompt_tokens or None,
        metrics.cache_creation_tokens or None,
        metrics.completion_tokens,
        metrics.reasoning_tokens or None,
    )
