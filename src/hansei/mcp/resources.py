"""What an agent's program may read as a document: approved skills, and the newest reports."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from hansei.errors import NotFound
from hansei.events.model import MARKER
from hansei.learn.model import State
from hansei.mcp.quotes import inert

if TYPE_CHECKING:
    from hansei.mcp.desk import Desk

SKILL: Final = "hansei://skill/"
RETRO: Final = "hansei://report/retro"
EXPERIMENT: Final = "hansei://report/experiment/"
MARKDOWN: Final = "text/markdown"


class Document(NamedTuple):
    uri: str
    name: str
    about: str


def documents(desk: Desk) -> list[Document]:
    """Everything that can be read, in a fixed order."""
    from hansei.ops.experiments import shelf
    from hansei.ops.skills import listed

    found = [Document(RETRO, "retro", "What goes wrong here again and again.")]
    found += [
        Document(f"{SKILL}{it.name}", it.name, inert(it.description))
        for _, it in sorted(listed(desk.config, desk.here)[0], key=lambda it: it[1].name)
        if it.state is State.APPROVED
    ]
    try:
        with desk.opened() as store:
            workspace = desk.scope(store).workspace
            tried = [it for it in shelf.listed(store, workspace) if it.started_at is not None]
    except NotFound:  # nothing was ever taken in
        tried = []
    found += [
        Document(f"{EXPERIMENT}{shelf.short(it)}", shelf.short(it), inert(it.hypothesis))
        for it in tried
    ]
    return found


def document(desk: Desk, uri: str) -> str:
    """One of them, as Markdown."""
    if uri.startswith(SKILL):
        return _skill(desk, uri.removeprefix(SKILL))
    if uri == RETRO:
        return _retro(desk)
    if uri.startswith(EXPERIMENT):
        return _experiment(desk, uri.removeprefix(EXPERIMENT))
    raise NotFound(f"there is no resource {inert(uri)!r}", hint="resources/list names them.")


def _skill(desk: Desk, name: str) -> str:
    from hansei.ops.skills import find

    _, skill = find(desk.config, desk.here, name)
    if skill.state is not State.APPROVED:
        raise NotFound(f"skill {name!r} is {skill.state}: only approved ones can be read")
    return f"{MARKER}\n# {skill.name}\n\n{skill.description}\n\n{skill.body}\n"


def _retro(desk: Desk) -> str:
    from hansei.ops.retro import retro

    with desk.with_facts() as (store, scope):
        look = retro(store, scope, desk.clock())
    lines = [MARKER, f"# Retro of {inert(look.workspace or '')}, {look.sessions} sessions", ""]
    for it in look.offers[: max(look.short, 1)]:
        lines += [
            f"## {inert(it.claim, 400)}",
            f"`{it.short}`, {it.sessions} of {it.of_sessions} sessions, {it.heuristic}.",
            "",
            *(f"- {inert(text, 400)}" for text in it.because),
            "",
        ]
    return "\n".join(lines)


def _experiment(desk: Desk, name: str) -> str:
    from hansei.ops.experiments import shelf
    from hansei.ops.experiments.reports import report

    with desk.with_facts() as (store, _):
        told = report(store, shelf.named(store, name), desk.here, desk.clock(), resamples=1).report
    verdict = told.verdict
    coin = "a coin decided who had it" if told.randomised else "no coin decided who had it"
    return (
        f"{MARKER}\n# {inert(told.hypothesis, 400)}\n\n{verdict.word}: {verdict.control.sessions}"
        f" sessions without the change, {verdict.treatment.sessions} with it; {coin}."
        f" Counted: {inert(told.counted, 400)}.\n"
    )
