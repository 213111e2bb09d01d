"""`brief`: what matters before work begins."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from msgspec import Meta

from hansei.mcp.contract import MOST_TEXT, Answer, Arguments, Tool
from hansei.mcp.quotes import Quote, inert, quote
from hansei.mcp.remembered import Failure, failure

if TYPE_CHECKING:
    from hansei.mcp.desk import Desk

MOST_FILES = 50


class Asked(Arguments, frozen=True):
    task: Annotated[str, Meta(max_length=MOST_TEXT)] = ""
    files: Annotated[tuple[str, ...], Meta(max_length=MOST_FILES)] = ()
    budget: Annotated[int, Meta(ge=100, le=8_000)] = 1_200


class Skill(Answer, frozen=True):
    """An approved skill, whole or by its description: what it says is to be followed."""

    skill: str
    says: str


class Steer(Answer, frozen=True):
    said: Quote
    sessions: int
    see: str


class Hot(Answer, frozen=True):
    path: str
    changed_in_sessions: int


class Brief(Answer, frozen=True):
    from_sessions: int
    skills: tuple[Skill, ...] = ()
    failures: tuple[Failure, ...] = ()
    said_again: tuple[Steer, ...] = ()
    hot_files: tuple[Hot, ...] = ()
    left_out: int = 0


def answer(desk: Desk, asked: Asked) -> Brief:
    from hansei.ops.brief import brief

    with desk.with_facts() as (store, scope):
        found = brief(
            store,
            desk.config,
            desk.here,
            scope,
            now=desk.clock(),
            task=asked.task,
            files=asked.files,
            budget=asked.budget,
        )
    return Brief(
        from_sessions=found.known,
        skills=tuple(Skill(it.name, it.text) for it in found.skills),
        failures=tuple(failure(it) for it in found.failures),
        said_again=tuple(
            Steer(quote(it.words, "person"), it.sessions, it.reference) for it in found.steers
        ),
        hot_files=tuple(Hot(inert(it.path), it.sessions) for it in found.hot),
        left_out=found.left_out,
    )


TOOL = Tool(
    name="brief",
    about="Before you start: skills that apply here, failures that come back and their fixes, "
    "what people keep saying, files most changed. Name the task and files you know.",
    arguments=Asked,
    answer=answer,
)
