"""LangChain and LangGraph: a callback handler that records what agents do.

    agent.invoke({"messages": [...]}, config={"callbacks": [HanseiHandler()]})

A session is a thread where the program names one (`configurable.thread_id`, or `session_id` in the
metadata), else everything below one call of `invoke`. Requests carry all that was said before; only
what is new is written.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from langchain_core.callbacks import BaseCallbackHandler

from hansei.integrations.journal import Journal, mark, quietly
from hansei.integrations.telling import FORMAT, Told, count, tokens

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator, Sequence
    from uuid import UUID

    from langchain_core.messages import BaseMessage
    from langchain_core.outputs import LLMResult

THREADS = ("session_id", "thread_id", "conversation_id")
"""How programs name a conversation in the metadata, as LangSmith reads it."""
RUNS_KEPT = 10_000
"""Runs that were never heard to end; beyond this the oldest are given up."""
_SPEAKERS = {"human": "human", "system": "harness", "developer": "harness"}
_THOUGHTS = {"reasoning": "reasoning", "thinking": "thinking"}


class HanseiHandler(BaseCallbackHandler):
    """Writes every session it hears of below the hansei home. Safe in threads and with asyncio."""

    raise_error = False
    run_inline = True  # in order, and done when the call returns; a line takes microseconds

    def __init__(
        self,
        *,
        session: str | None = None,
        agent: str = "langchain",
        driver: str | None = None,
        home: str | os.PathLike[str] | None = None,
    ) -> None:
        """Record sessions; all into `session` if one is given.

        `agent` is what the program is called, `driver` who drives it (human, automated), `home`
        another folder than the hansei home.
        """
        super().__init__()
        self._journal = Journal(FORMAT, home)
        self._session, self._agent, self._driver = session, agent, driver
        self._runs: dict[UUID, Told] = {}
        self._tools: dict[UUID, str] = {}

    # --- runs -------------------------------------------------------------------------------------

    def _begin(self, run: UUID, parent: UUID | None, metadata: dict[str, Any] | None) -> Told:
        with self._journal.lock:
            told = self._runs.get(parent) if parent else None
            if told is None:
                named = next((it for it in map((metadata or {}).get, THREADS) if it), None)
                session = str(self._session or named or run)
                told = Told(self._journal, session, self._agent, {"driver": self._driver})
            self._runs[run] = told
            while len(self._runs) > RUNS_KEPT:
                del self._runs[next(iter(self._runs))]
            return told

    def _end(self, run: UUID) -> Told | None:
        with self._journal.lock:
            return self._runs.pop(run, None)

    @quietly
    def on_chain_start(
        self,
        serialized: dict[str, Any],
        inputs: dict[str, Any],
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        metadata: dict[str, Any] | None = None,
        **_: Any,
    ) -> None:
        del serialized, inputs
        self._begin(run_id, parent_run_id, metadata)

    @quietly
    def on_chain_end(self, outputs: dict[str, Any], *, run_id: UUID, **_: Any) -> None:
        del outputs
        self._end(run_id)

    @quietly
    def on_chain_error(
        self,
        error: BaseException,
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        **_: Any,
    ) -> None:
        told = self._end(run_id)
        if told is None or parent_run_id is not None:
            return
        if isinstance(error, KeyboardInterrupt):
            told.tell("interruption", str(run_id))
        elif type(error).__name__ != "GraphInterrupt":  # a graph that waits for its person
            told.tell("notice", str(run_id), name="run_failed", text=_words(error))

    # --- requests ---------------------------------------------------------------------------------

    @quietly
    def on_chat_model_start(
        self,
        serialized: dict[str, Any],
        messages: list[list[BaseMessage]],
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        metadata: dict[str, Any] | None = None,
        **_: Any,
    ) -> None:
        del serialized
        told = self._begin(run_id, parent_run_id, metadata)
        for said in messages:
            _tell_sent(told, said)

    @quietly
    def on_llm_start(
        self,
        serialized: dict[str, Any],
        prompts: list[str],
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        metadata: dict[str, Any] | None = None,
        **_: Any,
    ) -> None:
        del serialized
        told = self._begin(run_id, parent_run_id, metadata)
        for text in prompts:
            told.tell("prompt", mark("human", text, "0"), text=text)

    @quietly
    def on_llm_end(self, response: LLMResult, *, run_id: UUID, **_: Any) -> None:
        told = self._end(run_id)
        if told is None:
            return
        answers = [it for several in response.generations for it in several]
        messages = [getattr(it, "message", None) for it in answers]
        for number, (answer, message) in enumerate(zip(answers, messages, strict=True)):
            known = f"{run_id} {number}"
            if message is None:
                told.tell("reply", known, text=answer.text)
            else:
                _tell_answer(told, known, message, _model(response, message))
        # Each of several answers carries what the whole request took.
        usage = (getattr(it, "usage_metadata", None) for it in messages)
        counts = _counted(response, next((it for it in usage if it), {}))
        model = next((it for it in (_model(response, it) for it in messages) if it), None)
        if counts or model or None in messages:
            told.tell("usage", str(run_id), model=model, **counts)

    @quietly
    def on_llm_error(self, error: BaseException, *, run_id: UUID, **_: Any) -> None:
        told = self._end(run_id)
        if told is not None and not isinstance(error, KeyboardInterrupt):
            told.tell("notice", str(run_id), name="request_failed", text=_words(error))

    # --- tools ------------------------------------------------------------------------------------

    @quietly
    def on_tool_start(
        self,
        serialized: dict[str, Any],
        input_str: str,
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        metadata: dict[str, Any] | None = None,
        inputs: dict[str, Any] | None = None,
        **more: Any,
    ) -> None:
        told = self._begin(run_id, parent_run_id, metadata)
        call = str(more.get("tool_call_id") or run_id)
        self._tools[run_id] = call
        if not told.knows("call", call):
            name = str((serialized or {}).get("name") or more.get("name") or "unnamed")
            given = _plain(inputs) if inputs else {"input": input_str}
            told.tell("call", call, tool=name, arguments=given)

    @quietly
    def on_tool_end(self, output: Any, *, run_id: UUID, **_: Any) -> None:
        told, call = self._end(run_id), self._tools.pop(run_id, str(run_id))
        if told is None:
            return
        status = {"error": "failed", "success": "ok"}.get(getattr(output, "status", ""))
        told.tell("result", call, text=_text(getattr(output, "content", output)), status=status)

    @quietly
    def on_tool_error(self, error: BaseException, *, run_id: UUID, **_: Any) -> None:
        told, call = self._end(run_id), self._tools.pop(run_id, str(run_id))
        if told is None:
            return
        if isinstance(error, KeyboardInterrupt):
            told.tell("result", call, text="interrupted", status="unknown")
        else:
            told.tell("result", call, text=_words(error), status="failed")

    @quietly
    def on_retriever_start(
        self,
        serialized: dict[str, Any],
        query: str,
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        metadata: dict[str, Any] | None = None,
        **more: Any,
    ) -> None:
        told = self._begin(run_id, parent_run_id, metadata)
        name = str(more.get("name") or (serialized or {}).get("name") or "retriever")
        told.tell("call", str(run_id), tool=name, arguments={"query": query})

    @quietly
    def on_retriever_end(self, documents: Sequence[Any], *, run_id: UUID, **_: Any) -> None:
        told = self._end(run_id)
        if told is not None:
            text = "\n\n".join(str(getattr(it, "page_content", it)) for it in documents)
            told.tell("result", str(run_id), text=text, status="ok")

    @quietly
    def on_retriever_error(self, error: BaseException, *, run_id: UUID, **_: Any) -> None:
        told = self._end(run_id)
        if told is not None:
            told.tell("result", str(run_id), text=_words(error), status="failed")


# --- messages -------------------------------------------------------------------------------------


def _tell_sent(told: Told, messages: Sequence[BaseMessage]) -> None:
    """What a person or the program said; what models and tools said was told when they did."""
    seen: Counter[str] = Counter()
    for message in messages:
        speaker = _SPEAKERS.get(message.type)
        if speaker is None:
            continue
        text = _text(message.content)
        words = mark(speaker, text)
        # The id that a graph gives to a message comes only after the first request in some
        # programs, so messages are known by their words and by how often those came before.
        told.tell("prompt", mark(speaker, text, str(seen[words])), text=text, by=speaker)
        seen[words] += 1


def _model(response: LLMResult, message: Any) -> str | None:
    metadata = getattr(message, "response_metadata", None) or {}
    model = metadata.get("model_name") or metadata.get("model")
    model = model or (response.llm_output or {}).get("model_name")
    return str(model) if model else None


def _tell_answer(told: Told, known: str, message: Any, model: str | None) -> None:
    for number, thought in enumerate(_thoughts(message.content)):
        told.tell("thought", f"{known} {number}", text=thought, model=model)
    if text := _text(message.content):
        told.tell("reply", known, text=text, model=model)
    for call in getattr(message, "tool_calls", None) or ():
        id_ = str(call.get("id") or f"{known} {call.get('name')}")
        told.tell(
            "call", id_, tool=call.get("name"), arguments=_plain(call.get("args")), model=model
        )


def _counted(response: LLMResult, usage: dict[str, Any]) -> dict[str, int]:
    if usage:
        sent = usage.get("input_token_details") or {}
        came = usage.get("output_token_details") or {}
        return tokens(
            count(usage.get("input_tokens")),
            count(sent.get("cache_read")),
            count(sent.get("cache_creation")),
            count(usage.get("output_tokens")),
            count(came.get("reasoning")),
        )
    older = (response.llm_output or {}).get("token_usage") or {}
    return tokens(count(older.get("prompt_tokens")), output=count(older.get("completion_tokens")))


def _thoughts(content: Any) -> Iterator[str]:
    for block in content if isinstance(content, list) else ():
        name = _THOUGHTS.get(str(block.get("type"))) if isinstance(block, dict) else None
        if name and block.get(name):
            yield str(block[name])


def _text(content: Any) -> str:
    """The text of a message or of what a tool gave."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        parts = [it.get("text") if isinstance(it, dict) else it for it in content]
        return "\n".join(it for it in parts if isinstance(it, str) and it)
    return "" if content is None else str(content)


def _plain(arguments: Any) -> dict[str, Any]:
    """Arguments by name; what is no JSON, such as the state of a graph, is left out."""
    if not isinstance(arguments, dict):
        return {} if arguments is None else {"input": str(arguments)}
    kinds = (str, int, float, bool, list, dict, type(None))
    return {str(name): it for name, it in arguments.items() if isinstance(it, kinds)}


def _words(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"
