"""The fold: what was in force, then how far each of it got."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from typing import TYPE_CHECKING

from hansei.events.model import Tool
from hansei.hook.places import INSTRUCTIONS, RULE, SERVER, SKILL
from hansei.projection.funnel import citing, matching
from hansei.projection.funnel.listing import size
from hansei.projection.funnel.loading import file_loads, loads
from hansei.projection.funnel.model import Use
from hansei.projection.funnel.record import record
from hansei.projection.funnel.steps import cited, loaded, served
from hansei.projection.funnel.table import Table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hansei.projection.calls import Call
    from hansei.projection.exposure import Row
    from hansei.projection.funnel.citing import Speech
    from hansei.projection.funnel.matching import Asked
    from hansei.projection.funnel.model import Load
    from hansei.projection.funnel.record import Record
    from hansei.projection.funnel.steps import Reached
    from hansei.projection.funnel.table import Piece, Text
    from hansei.store.reading import Numbered


def funnel(
    events: Sequence[Numbered],
    calls: Sequence[Call],
    texts: Sequence[Row] = (),
    tokens_per_byte: float | None = None,
) -> list[Use]:
    """One row for each text in force in a session, by kind and name.

    `texts` are the session's rows of the exposure ledger; what the transcript lists comes on top.
    `tokens_per_byte` is the session's own rate; without it tokens are unknown.
    """
    table = Table(texts)
    told = record(events)
    table.read(told)
    _load(table, told, calls)
    _call(table, calls)
    found = table.in_force(calls)
    if not found:
        return []
    matches = _matched(found, told)
    steps = _reached(found, told, calls)
    rows = [_row(text, matches[text.key], steps[text.key], told, tokens_per_byte) for text in found]
    return sorted(rows, key=lambda row: (row.kind, row.name, row.path or ""))


def _row(
    text: Text,
    match: tuple[bool | None, int | None],
    step: Reached,
    told: Record,
    rate: float | None,
) -> Use:
    known = text.sized and bool(text.pieces)
    taken = sum(piece.bytes for piece in text.pieces) if known else None
    weight = _weight(text, told) if known else None
    listed = text.listed_seq
    if listed is not None and step.fired_seq is not None:
        listed = min(listed, step.fired_seq)
    return Use(
        kind=text.kind,
        name=text.name,
        path=text.path,
        listed_seq=listed,
        matched_seq=match[1],
        fired_seq=step.fired_seq,
        followed_seq=step.followed_seq,
        matched=match[0],
        fired=step.fired,
        followed=step.followed,
        calls=step.calls,
        failed=step.failed,
        bytes=taken,
        tokens=None if taken is None or rate is None else round(taken * rate),
        rent=None if weight is None or rate is None else round(weight * rate),
        basis=text.basis,
    )


def _weight(text: Text, told: Record) -> int | None:
    """Bytes times the requests that carried them; None where requests are not recorded."""
    if not told.requests:
        return None
    return sum(piece.bytes * _carried(piece, told) for piece in text.pieces)


def _carried(piece: Piece, told: Record) -> int:
    """How many requests carried a piece: to the end, or to a compaction that replaced it."""
    end = len(told.requests)
    if piece.seq is None:
        return end
    place = bisect_right(told.compactions, piece.seq)
    if not piece.stays and place < len(told.compactions):
        end = bisect_left(told.requests, told.compactions[place])
    return max(0, end - bisect_right(told.requests, piece.seq))


# --- what was brought in and called ---------------------------------------------------------------


def _load(table: Table, told: Record, calls: Sequence[Call]) -> None:
    for load in loads(told, calls, table.names(SKILL)):
        text = table.skill(load.name, load.path)
        if text is None and load.worked:
            text = table.add(SKILL, load.name, load.path, load.seq)
        if text is not None:
            text.path = text.path or load.path
            _keep(text, load)
    requestable = [it.path for it in table.of(RULE) if it.said and it.path]
    for path, load in file_loads(calls, requestable) if requestable else ():
        text = table.file(path)
        if text is not None:
            _keep(text, load)


def _keep(text: Text, load: Load) -> None:
    text.loads.append(load)
    if not load.worked:
        return
    if load.text_seq is None:
        text.sized = False
    else:
        text.carry(size(load.text), load.text_seq, stays=False)


def _call(table: Table, calls: Sequence[Call]) -> None:
    for call in calls:
        server = call.event.server
        if server is not None:
            text = table.server(server) or table.add(SERVER, server, None, call.seq)
            text.calls.append(call)
        elif call.event.tool in (Tool.MCP, Tool.OTHER):
            listed = table.server_of_tool(call.event.name)
            if listed is not None:
                listed.calls.append(call)
            elif call.event.tool is Tool.MCP and not call.event.name.startswith("mcp_"):
                table.unknown_server = True


# --- how far it got -------------------------------------------------------------------------------


def _matched(found: Sequence[Text], told: Record) -> dict[str, tuple[bool | None, int | None]]:
    names = {name for it in found for name in matching.names(it.name)}
    prompts = [
        matching.asked(seq, prompt.text, names) for seq, prompt in told.prompts if prompt.text
    ]
    commands = {command.name.lower(): seq for seq, command in reversed(told.commands)}
    own = matching.distinctive({it.key: it.said for it in found if it.said})
    comparable = bool(prompts) and all(it.comparable for it in prompts)
    matches: dict[str, tuple[bool | None, int | None]] = {}
    for text in found:
        seqs = [_named(text, found, prompts)]
        if text.kind == SKILL:
            seqs.append(commands.get(text.name.lower()))
        if text.said:
            seqs.append(matching.speaks_of(prompts, own[text.key]))
        seq = min((it for it in seqs if it is not None), default=None)
        known = bool(text.said) and comparable
        matches[text.key] = (True if seq is not None else False if known else None, seq)
    return matches


def _named(text: Text, found: Sequence[Text], prompts: Sequence[Asked]) -> int | None:
    if text.kind in (SKILL, SERVER):
        pattern = matching.naming(text.name, text.kind)
        return matching.first_naming(prompts, pattern, matching.hint(text.name))
    name = _file_name(text, found)
    if name is None:
        return None
    return matching.first_naming(prompts, matching.file_naming(name), name.lower())


def _file_name(text: Text, found: Sequence[Text]) -> str | None:
    """What names this file and no other; None where nothing short does."""
    alike = [it for it in found if it.kind in (INSTRUCTIONS, RULE) and it.name == text.name]
    if len(alike) == 1:
        return text.name
    parts = (text.path or "").replace("\\", "/").split("/")
    return "/".join(parts[-2:]) if len(parts) > 1 and parts[-2] else None


def _reached(found: Sequence[Text], told: Record, calls: Sequence[Call]) -> dict[str, Reached]:
    said: Speech | None = None
    steps = {}
    for text in found:
        if text.kind == SERVER:
            steps[text.key] = served(text.calls, unsure=text.unsure)
        elif text.kind == SKILL or text.loads:
            steps[text.key] = loaded(text.loads, calls, told.roots)
        else:
            said = said or citing.speech(told, calls)
            name = _file_name(text, found)
            steps[text.key] = cited(text, name, said, calls, told.roots)
    return steps
