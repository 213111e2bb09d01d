"""A person asked for it: "save this as a skill", "remember this", "make a skill about …".

The words must ask: "I remember" tells, and "save this as report.csv" is about a file. The name is
taken from the sentence; what is kept are the person's words and the commands around them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from hansei.events.model import Status
from hansei.learn.lines import typed
from hansei.learn.model import Evidence, Label, Offer, Predicates
from hansei.learn.steps import steps
from hansei.learn.worth import is_repeatable, is_step
from hansei.learn.writing import (
    action,
    body,
    briefly,
    described,
    key_of,
    name_of,
    numbered,
    topic,
)
from hansei.projection.corrections.words import own_words, sentences
from hansei.projection.files import LOOKS
from hansei.projection.wording import counted, one_line

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from hansei.learn.steps import Step, Texts
    from hansei.projection.facts.said import Said
    from hansei.projection.window import Window

_ASKS: Final = re.compile(
    r"(?:^|[,;:–—]\s*|\b(?:please|pls|and|then|now|also|you|to|could|can|should|let's|lets)\s+)"
    r"(?:(?P<skill>(?:add|build|create|generate|make|save|store|turn|write)\b[^.?!\n]{0,60}?"
    r"\bskills?\b(?![-/.]))"
    r"|(?P<keep>remember (?:this|that|how)\b|save (?:this|that)\b))",
    re.IGNORECASE,
)
"""Words that ask, where a sentence or a part of it begins, or after those that ask politely."""
_NAMED: Final = re.compile(
    r"\b(?:as|called|named|name it|call it)\s+(?:an?\s+|the\s+)?(?:skill\s+)?"
    r"(?:(?:called|named)\s+)?[\"'`“]?(?P<name>[A-Za-z][\w-]*(?:[ -][\w-]+){0,3}?)[\"'`”]?"
    r"(?:\s+skill)?(?=\s*(?:[.,;!?]|$|\bso\b|\bfor\b|\band\b|\bwith\b|\bthat\b))",
    re.IGNORECASE,
)
_ABOUT: Final = re.compile(
    r"\bskills?\b(?:\s+(?:about|for|to|on|that|which))\s+(?P<name>[^.,;!?\n]+)", re.IGNORECASE
)
_FILES: Final = re.compile(
    r"\b(?:save|remember)\s+(?:this|that)\s+(?:\w+\s+){0,3}?(?:file|image|picture|report|table"
    r"|csv|json|pdf|data|output|document|chart|plot|log|one|time)\b"
    r"|\bas\s+\S+\.\w{1,5}\b|\bto\s+(?:a\s+)?(?:file|disk|\S+\.\w{1,5})\b|\bin(?:to)?\s+\S*[/\\]\S+",
    re.IGNORECASE,
)
"""What is to be saved is a file, and not something to know."""
_HERE: Final = re.compile(
    r"\b(?:this|that|what (?:you|we) (?:did|just)|how (?:you|we))\b", re.IGNORECASE
)
_LITTLE: Final = (
    "a an the this that it skill skills yourself your my our new to and for with me us please can"
    " you could would save add make create remember how as"
)
_EMPTY: Final = frozenset(_LITTLE.split())
_KEPT: Final = re.compile(
    r"(?:^|/)(?:SKILL|CLAUDE|AGENTS|GEMINI|MEMORY)(?:\.local)?\.md$|/skills?/|/memory/|\.mdc$",
    re.IGNORECASE,
)
"""Files in which agents keep what they are told to keep."""
_MOST: Final = 10
"""Commands around the request that are kept."""
_SENTENCES: Final = 8
"""Sentences of a prompt that are looked at."""
_END: Final = 1 << 62


@dataclass(frozen=True)
class ExplicitInstruction:
    """Knobs."""

    name: str = "explicit-instruction"
    words: int = 3
    """Words of the sentence that make up the name where none is given."""

    def find(self, window: Window, texts: Texts) -> Iterator[Offer]:
        own = steps(window)
        seen: set[int] = set()
        for session, row in window.said:
            sentence = asked(row.text)
            if session in seen or sentence is None or _is_kept(window, session, row.seq):
                continue
            seen.add(session)
            yield self._offer(window, texts, session, row, sentence, own.get(session, ()))

    def _offer(
        self,
        window: Window,
        texts: Texts,
        session: int,
        row: Said,
        sentence: str,
        own: Sequence[Step],
    ) -> Offer:
        near = _near(window, session, row, sentence, own)
        lines = [typed(window, texts, session, seq) for seq in dict.fromkeys(it.seq for it in near)]
        commands = tuple(dict.fromkeys(it.whole for it in lines if it is not None))[:_MOST]
        name = name_of("", named(sentence, self.words))
        said = one_line(sentence, 200)
        return Offer(
            detector=self.name,
            name=name,
            description=described(f"Asked for by a person: {said}{_span(commands)}"),
            body=body(
                name,
                "A person asked to keep this.",
                (
                    ("Asked", [f"- “{said}”"]),
                    ("Commands", numbered(commands)),
                ),
            ),
            commands=commands,
            evidence=(
                Evidence(window.sessions[session].name, row.seq),
                *(
                    Evidence(window.sessions[session].name, seq)
                    for seq in dict.fromkeys(it.seq for it in near)
                ),
            ),
            topic=topic(near[0].ran) if near else name.split("-")[0],
            action=action(it.ran for it in near),
            predicates=_predicates(near),
            key=key_of(self.name, name),
            label=Label.TYPED,
        )


def _predicates(near: Sequence[Step]) -> Predicates:
    """What was done, from its first command on; the last one shows whether it worked."""
    forms = tuple(dict.fromkeys(it.ran.form for it in near))
    return Predicates(command=forms[0], do=forms, check=forms[-1]) if forms else Predicates()


def _span(commands: Sequence[str]) -> str:
    if not commands:
        return ""
    return f" ({counted(len(commands), 'command')}, from {briefly(commands[0])} on)"


def asked(text: str) -> str | None:
    """The sentence by which a person asks to keep something; None where nobody does."""
    told = sentences(own_words(text), _SENTENCES)
    return next((it for it in told if _ASKS.search(it) and not _FILES.search(it)), None)


def named(sentence: str, words: int = 3) -> str:
    """What the sentence calls it; else its first words that say something."""
    found = _NAMED.search(sentence) or _ABOUT.search(sentence)
    told = found["name"] if found else sentence
    plain = [it for it in re.findall(r"[\w-]+", told.lower()) if it.isascii()]
    telling = [it for it in plain if it not in _EMPTY]
    return " ".join(telling[: words + bool(found)]) or "user-skill"


def _is_kept(window: Window, session: int, seq: int) -> bool:
    """Whether the agent itself wrote it down where agents look."""
    return any(
        found == session
        and row.seq > seq
        and row.verb not in LOOKS
        and _KEPT.search(row.path.replace("\\", "/"))
        for found, row in window.touches
    )


def _near(
    window: Window, session: int, row: Said, sentence: str, own: Sequence[Step]
) -> list[Step]:
    """What went well around the request: "this" is what was done before it, else what follows."""
    turns = [it.seq for s, it in window.said if s == session]
    place = turns.index(row.seq)
    before = turns[place - 1] if place else 0
    after = turns[place + 1] if place + 1 < len(turns) else _END
    well = [
        it for it in own if it.status is Status.OK and is_step(it.ran) and is_repeatable(it.ran)
    ]
    earlier = [it for it in well if before < it.seq < row.seq]
    later = [it for it in well if row.seq < it.seq < after]
    return (earlier or later) if _HERE.search(sentence) else (later or earlier)
