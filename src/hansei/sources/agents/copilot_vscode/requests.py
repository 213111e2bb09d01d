"""A request of a chat as events: the prompt at once, the rest when the request is over."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hansei.events.model import (
    MARKER,
    Compaction,
    Interruption,
    Notice,
    Origin,
    Prompt,
    Reply,
    RequestUsage,
    SlashCommand,
    Thought,
)
from hansei.sources.agents.copilot_vscode import calls
from hansei.sources.agents.copilot_vscode.values import listing, mapping, words
from hansei.sources.agents.copilot_vscode.values import number as count
from hansei.sources.families.clock import instant

if TYPE_CHECKING:
    from hansei.sources.agents.copilot_vscode.reading import Reader

COMPLETE, CANCELLED, FAILED = 1, 2, 3
"""The states of a request that is over; 0 and 4 are still to come."""
_TEXT = frozenset((None, "markdownContent", "markdownVuln"))
_SILENT = frozenset(
    (
        "codeblockUri", "progressMessage", "progressTask",
        "progressTaskSerialized", "confirmation", "undoStop", "mcpServersStarting", "textEditGroup",
        "notebookEditGroup", "workspaceEdit", "multiDiffData", "command", "extensions",
        "pullRequest", "prepareToolInvocation", "elicitation", "elicitationSerialized", "warning",
        "treeData", "questionCarousel", "hook", "clearToPreviousToolInvocation",
        "disabledClaudeHooks", "references", "usedContext", "move", "changesSummary", "info",
    )
)  # fmt: skip
"""Parts of an answer that show something, or tell again what a call tells."""


def tell(reader: Reader, request: Any, place: int, *, over: bool) -> None:
    """A request; `over` where something else than itself says that it is."""
    asked = mapping(request)
    name = asked.get("requestId")
    if not isinstance(name, str) or not name:
        reader.unrecognised("a request without an id", request, str(place))
        return
    where = {"session": reader.session, "at": instant(asked.get("timestamp")), "cwd": reader.cwd}
    _prompt(reader, asked, name, where)
    if not (over or _is_over(asked)):
        return
    result = mapping(asked.get("result"))
    rounds = listing(mapping(result.get("metadata")).get("toolCallRounds"))
    by: dict[str, Any] = {"model": _model(asked, result), "message": name, **where}
    answer = _Answer(reader, by)
    if rounds:
        for turn in rounds:
            _round(answer, mapping(turn), asked)
        calls.unasked(reader, asked, rounds, by)
    else:
        _parts(answer, asked)
    _usage(reader, rounds, result, by, answered=bool(asked.get("response")))
    _end(reader, asked, result, name, where)


def _is_over(asked: dict[str, Any]) -> bool:
    state = mapping(asked.get("modelState")).get("value")
    over = bool(asked.get("result")) or asked.get("isCanceled") is True
    return over or state in (COMPLETE, CANCELLED, FAILED)


def _model(asked: dict[str, Any], result: dict[str, Any]) -> str | None:
    """The model that answered, where the one asked for was `auto`."""
    resolved = mapping(result.get("metadata")).get("resolvedModel")
    wanted = asked.get("modelId")
    named = resolved if isinstance(resolved, str) and resolved else wanted
    return named.removeprefix("copilot/") if isinstance(named, str) and named else None


# --- the user's place -----------------------------------------------------------------------------


def _prompt(reader: Reader, asked: dict[str, Any], name: str, where: dict[str, Any]) -> None:
    text = words(asked.get("message"))
    variables = listing(mapping(asked.get("variableData")).get("variables"))
    images = sum(mapping(it).get("kind") == "image" for it in variables)
    command = mapping(asked.get("slashCommand")).get("name")
    if MARKER in text:
        origin = Origin.HANSEI
    elif asked.get("isSystemInitiated") is True or asked.get("isHidden") is True:
        origin = Origin.HARNESS
    else:
        origin = Origin.HUMAN
    if isinstance(command, str) and command and origin is Origin.HUMAN:
        rest = text.removeprefix(f"/{command}").strip()
        reader.emit(SlashCommand(key=reader.key("prompt", name), name=command, text=rest, **where))
    elif text or images:
        key = reader.key("prompt", name)
        reader.emit(Prompt(key=key, text=text, origin=origin, images=images, **where))


# --- the model's place ----------------------------------------------------------------------------


class _Answer:
    """What is told of an answer: its texts by their order, whichever way they are known."""

    def __init__(self, reader: Reader, by: dict[str, Any]) -> None:
        self.reader = reader
        self.by = by
        self.replies = self.thoughts = 0

    def say(self, text: str) -> None:
        if text.strip():
            key = self.reader.key("reply", self.by["message"], str(self.replies))
            self.reader.emit(Reply(key=key, text=text, **self.by))
            self.replies += 1

    def think(self, text: str) -> None:
        if text:
            key = self.reader.key("thought", self.by["message"], str(self.thoughts))
            self.reader.emit(Thought(key=key, text=text, **self.by))
            self.thoughts += 1


def _round(answer: _Answer, turn: dict[str, Any], asked: dict[str, Any]) -> None:
    """One answer of the model: what it thought, said and asked for."""
    answer.by = {**answer.by, "at": instant(turn.get("timestamp")) or answer.by["at"]}
    answer.think(words(mapping(turn.get("thinking")).get("text")))
    answer.say(words(turn.get("response")))
    for call in listing(turn.get("toolCalls")):
        calls.asked_for(answer.reader, mapping(call), asked, answer.by)
    if summary := words(turn.get("summary")):
        name = turn.get("id") if isinstance(turn.get("id"), str) else str(answer.replies)
        where = {key: answer.by[key] for key in ("session", "at", "cwd")}
        key = answer.reader.key("compaction", answer.by["message"], str(name))
        answer.reader.emit(Compaction(key=key, text=summary, **where))


def _parts(answer: _Answer, asked: dict[str, Any]) -> None:
    """An answer by what was shown of it, where nothing else is kept."""
    said = ""
    for number, part in enumerate(mapping(it) for it in listing(asked.get("response"))):
        kind = part.get("kind")
        kind = kind if kind is None else str(kind)
        if kind in _TEXT:
            said += words(part)
        elif kind == "inlineReference":
            said += words(part.get("name"))
        elif kind == "thinking":
            answer.think(words(part))
        elif kind == "toolInvocationSerialized":
            answer.say(said)
            said = ""
            calls.shown(answer.reader, part, answer.by)
        elif kind not in _SILENT:
            name = answer.by["message"]
            answer.reader.unrecognised(f"part {kind}", part, name, str(number))
    answer.say(said)


def _usage(
    reader: Reader,
    rounds: list[Any],
    result: dict[str, Any],
    by: dict[str, Any],
    *,
    answered: bool,
) -> None:
    """One request to the model for each round. Mostly only the last one's tokens are told."""
    totals = mapping(result.get("metadata"))
    if not rounds and not answered and "promptTokens" not in totals:
        return
    last = max(len(rounds), 1) - 1
    for number in range(last + 1):
        told = mapping(mapping(rounds[number]).get("usage")) if rounds else {}
        counts = _counted(told) if told else {}
        if not counts and number == last:
            given, output = count(totals.get("promptTokens")), count(totals.get("outputTokens"))
            counts = {"input": given, "output": output}
        key = reader.key("request", by["message"], str(number))
        reader.emit(RequestUsage(key=key, **{**by, **counts}))


def _counted(usage: dict[str, Any]) -> dict[str, int | None]:
    """A round's own usage: the prompt includes what was cached, the answer what was thought."""
    given, cached = (
        count(usage.get("prompt_tokens")),
        count(mapping(usage.get("prompt_tokens_details")).get("cached_tokens")),
    )
    thought = count(mapping(usage.get("completion_tokens_details")).get("reasoning_tokens"))
    return {
        "input": None if given is None else max(given - (cached or 0), 0),
        "cache_read": cached,
        "output": count(usage.get("completion_tokens")),
        "reasoning": thought,
    }


def _end(
    reader: Reader,
    asked: dict[str, Any],
    result: dict[str, Any],
    name: str,
    where: dict[str, Any],
) -> None:
    """A request that a person stopped, or that failed."""
    stopped = mapping(asked.get("modelState")).get("value") == CANCELLED
    failed = mapping(result.get("errorDetails")).get("message")
    if stopped or asked.get("isCanceled") is True:
        reader.emit(Interruption(key=reader.key("interruption", name), **where))
    elif isinstance(failed, str):
        key = reader.key("notice", name)
        reader.emit(Notice(key=key, name="error", text=failed, **where))
