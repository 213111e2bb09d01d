"""The corrections of a session, by position, form and repetition.

A prompt can only correct what came before it, so it counts where the agent has acted since the last
thing a person said. Then its form decides, or that it is a request of this session again, or that
the agent was stopped at work. Where the agent had just asked something, a plain "no" is an answer.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, NamedTuple

from hansei.events.model import (
    MARKER,
    Basis,
    Driver,
    FileEdit,
    Interruption,
    Origin,
    Prompt,
    Reply,
    Tool,
    ToolCall,
    ToolResult,
)
from hansei.projection.corrections.forms import (
    Question,
    answers,
    asks_back,
    goes_on,
    may_be_rerun,
    wording,
)
from hansei.projection.corrections.likeness import normal_form, particulars, same
from hansei.projection.corrections.model import Correction, Kind, Rule
from hansei.projection.corrections.words import (
    from_program,
    is_remark,
    is_template,
    own_words,
    sentences,
    shortened,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hansei.projection.calls import Call
    from hansei.store.reading import Numbered

PEOPLE: Final = (Origin.HUMAN, Origin.QUEUED_HUMAN)
MOST_SENTENCES: Final = 4
"""Sentences at the beginning of a remark that are looked at: the point comes first."""
LEAST_REQUEST: Final = 4
"""Words below which a prompt said twice is no request: `continue`, `yes please`."""
REQUESTS_BACK: Final = 3
"""Prompts of the session, back from the last, that a request may repeat."""
MOST_REQUESTS: Final = 2
"""How often a request may stand in a session before it is a macro and no repetition."""
LOOKED_BACK: Final = 30
"""Calls of the turn that are looked at for a name the prompt mentions."""
_EDIT_PART: Final = 4_000
_REASON: Final = re.compile(r"the user said:\s*(.+)", re.DOTALL)
_REASON_PART: Final = 4_000
_NAME: Final = re.compile(r"`([^`\n]{3,80})`|([A-Za-z_][\w-]*(?:[./][\w-]+)+|\w+\(\)|\w+_\w+)")


@dataclass
class _Turn:
    """What happened since a person last spoke."""

    calls: list[int] = field(default_factory=list)
    """Numbers of the calls."""
    reply: int | None = None
    reply_text: str = ""
    replied_last: bool = False
    stopped: Rule | None = None

    @property
    def acted(self) -> bool:
        return bool(self.calls) or self.reply is not None

    @property
    def question(self) -> Question:
        """What the agent asked with its last words."""
        return asks_back(self.reply_text) if self.replied_last else Question.NONE


class _Said(NamedTuple):
    """A prompt of a person, prepared."""

    seq: int
    at: int | None
    words: str
    form: str
    brief: bool
    """Whether it is a remark; of a longer text only the first sentence is looked at."""


def corrections(
    events: Sequence[Numbered], calls: Sequence[Call], driver: Driver | str | None
) -> list[Correction]:
    """The prompts that correct, forbid, repeat or interrupt, in a session that a person drove."""
    if driver != Driver.HUMAN:
        return []
    by_seq = {call.seq: call for call in calls}
    requests = _Requests()
    found: list[Correction] = []
    turn = _Turn()
    for seq, event in events:
        if isinstance(event, ToolCall):
            turn.calls.append(seq)
            turn.replied_last = False
            turn.stopped = None
        elif isinstance(event, FileEdit):
            requests.forget()
        elif isinstance(event, ToolResult):
            if event.basis is Basis.DECLINED:
                turn.stopped = Rule.DECLINED
                found.extend(_reasons(seq, event, turn, by_seq))
        elif isinstance(event, Reply):
            if event.text:
                turn.reply, turn.reply_text, turn.replied_last = seq, event.text, True
                if turn.stopped is Rule.DECLINED:
                    turn.stopped = None  # the agent went on without that call
        elif isinstance(event, Interruption):
            turn.stopped = turn.stopped or Rule.INTERRUPTED
        elif isinstance(event, Prompt) and event.origin in PEOPLE:
            said = _prepared(seq, event)
            if said is not None:
                if turn.acted:
                    found.extend(_judged(said, turn, by_seq, again=requests.again(said)))
                requests.add(said)
                turn = _Turn()
    return requests.without_macros(found)


def _prepared(seq: int, prompt: Prompt) -> _Said | None:
    """A prompt's own words; None where a person typed nothing. A template has no words."""
    text = prompt.text
    if not text.strip() or MARKER in text or from_program(text):
        return None
    words = "" if is_template(text) else own_words(text)
    return _Said(seq, prompt.at, words, normal_form(words or text), is_remark(text, words))


def _judged(said: _Said, turn: _Turn, by_seq: dict[int, Call], *, again: bool) -> list[Correction]:
    """The prompt as a correction; none where it is a task, a question or an answer."""
    remark = sentences(said.words, MOST_SENTENCES if said.brief else 1)
    if not remark or (turn.stopped is not None and goes_on(said.words)):
        return []
    told = [it for it in wording(remark) if it.sentence not in turn.reply_text]
    told = [it for it in told if it.sure or not answers(it, turn.question)]
    if turn.stopped is not None and said.brief:
        kind, basis = Kind.INTERRUPTS, turn.stopped
    elif told:
        kind, basis = told[0].kind, told[0].rule
    elif again:
        kind, basis = Kind.REPEATS, Rule.SAME_REQUEST
    else:
        return []
    decisive = told[0].sentence if told else remark[0]
    strength = len({basis, *(it.rule for it in told)}) + (again and bool(told))
    row = _row(said.seq, said.at, kind, basis, decisive, strength, turn, by_seq)
    return [row._replace(remark=shortened(" ".join(remark)))]


def _reasons(
    seq: int, result: ToolResult, turn: _Turn, by_seq: dict[int, Call]
) -> list[Correction]:
    """What a person typed while refusing a call, which some agents tell in the call's result."""
    reason = _REASON.search(result.text, 0, _REASON_PART)
    said = sentences(own_words(reason[1]), MOST_SENTENCES) if reason else []
    if not said:
        return []
    told = wording(said)
    decisive = told[0].sentence if told else said[0]
    strength = 1 + len({it.rule for it in told})
    return [_row(seq, result.at, Kind.INTERRUPTS, Rule.REASON, decisive, strength, turn, by_seq)]


def _row(
    seq: int,
    at: int | None,
    kind: Kind,
    basis: Rule,
    decisive: str,
    strength: int,
    turn: _Turn,
    by_seq: dict[int, Call],
) -> Correction:
    call = _spoken_of(decisive, [by_seq[it] for it in turn.calls if it in by_seq])
    about = call.seq if call else turn.calls[-1] if turn.calls else turn.reply
    assert about is not None
    return Correction(
        seq=seq,
        kind=kind,
        at=at,
        words=shortened(decisive),
        about=about,
        about_tool=call.event.tool.value if call else None,
        about_path=call.edits[-1].event.path if call and call.edits else None,
        basis=basis,
        strength=strength,
        normal=normal_form(decisive),
    )


def _spoken_of(sentence: str, calls: Sequence[Call]) -> Call | None:
    """The last call that holds a name from the sentence, else the last one but for plans."""
    names = [one or other for one, other in _NAME.findall(sentence)]
    for call in reversed(calls[-LOOKED_BACK:]):
        edited = "".join(hunk.new[:_EDIT_PART] for it in call.edits for hunk in it.event.hunks)
        paths = " ".join(it.event.path for it in call.edits)
        if any(name in call.event.text or name in edited or name in paths for name in names):
            return call
    acts = [call for call in calls if call.event.tool is not Tool.PLAN]
    return acts[-1] if acts else calls[-1] if calls else None


class _Requests:
    """What was asked for so far, to tell what is asked for again because it was not done."""

    def __init__(self) -> None:
        self._open: list[_Said] = []
        self._forms: dict[int, str] = {}

    def forget(self) -> None:
        """A file was changed: what was asked for before was worked on."""
        self._open.clear()

    def again(self, said: _Said) -> bool:
        """Whether one of the last requests is this one, and nothing was changed since."""
        if len(said.form.split()) < LEAST_REQUEST or may_be_rerun(said.words):
            return False
        return any(
            same(said.form, earlier.form) and particulars(said.words) == particulars(earlier.words)
            for earlier in self._open[-REQUESTS_BACK:]
        )

    def add(self, said: _Said) -> None:
        self._open.append(said)
        self._forms[said.seq] = said.form

    def without_macros(self, found: list[Correction]) -> list[Correction]:
        """Rows without requests that come so often that a program or a habit types them."""
        often = Counter(self._forms.values())
        return [
            row
            for row in found
            if row.basis is not Rule.SAME_REQUEST or often[self._forms[row.seq]] <= MOST_REQUESTS
        ]
