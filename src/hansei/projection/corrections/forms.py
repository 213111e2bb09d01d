"""Which form a remark has: how people word a correction is in `forms.toml`.

A pattern says something about one sentence, at its beginning. What stands around it matters too:
approval is no correction, a question is none, and what is forbidden behind a new task is a part of
that task.
"""

from __future__ import annotations

import re
import tomllib
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

from hansei.projection.corrections.model import Kind, Rule


class Wording(NamedTuple):
    """A form that a sentence has."""

    sentence: str
    rule: Rule
    kind: Kind
    sure: bool
    """Whether it corrects whatever the agent asked before."""


class _Form(NamedTuple):
    rule: Rule
    kind: Kind
    sure: bool
    pattern: re.Pattern[str]


_LEAD: Final = (
    r"(?:(?:ok(?:ay)?|well|hey|oh|hm+|and|but|so|please|pls|plz|yes|yeah|sorry|wait|also|just"
    r"|i think|i guess|i believe|i suspect|hold on|man|dude|bro)\b[\s,.:!–—-]*){0,4}"
)
"""What people put before the point."""


@cache
def _forms() -> tuple[_Form, ...]:
    """Every form, made ready when the first remark is looked at: it takes 50 ms."""
    table = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
    return tuple(
        _Form(
            Rule(form["rule"]),
            Kind(form["kind"]),
            form["sure"],
            re.compile(f"{_LEAD if form['lead'] else ''}(?:{'|'.join(form['patterns'])})"),
        )
        for form in table["form"]
    )


_APOSTROPHE: Final = re.compile("['’`´]")
_FINE: Final = re.compile(
    r"(?:no|nope|nah|nein|non|não|нет)[\s,.!–—-]*(?:no\b[\s,]*)?"
    r"(?:(?:that|it|this|everything|all|they|we)s?(?: is|re| are| was)?|im|i am|youre|you are"
    r"|looks?|sounds?|works?|still)?"
    r"\s*(?:all |just |totally |perfectly |pretty |very |really )*"
    r"(?:fine|good|ok(?:ay)?|great|perfect|alright|all right|right|correct|cool|nice|works?|passt"
    r"|gut|bien|perfecto|bom|хорошо|nothing|thanks?|thank you|danke|merci|problem|worries|worry"
    r"|rush|idea|doubt|need|matter|more (?:questions?|changes|comments?)|further|hurry|questions?"
    r"|errors?|issues?|warnings?|biggie|luck|go (?:ahead|on)|continue|proceed|keep going|carry on"
    r"|you can|i like|i love)\b"
)
"""A no that approves, or says that there is nothing to say."""

_QUESTION: Final = re.compile(r"[?？]\s*$|.*吗\s*$")
_RHETORICAL: Final = re.compile(
    r"why\b|.{0,24}不是|你为什么|(?:did|didnt) i\b|how (?:many|often)\b"
)
_TASK: Final = re.compile(
    r"(?:(?:ok(?:ay)?|please|pls|now|next|then|also|and|so|first|great|good|thanks|perfect|yes"
    r"|cool|nice|looks good|alright)\b[\s,.!:-]*){0,3}"
    r"(?:(?:can|could|would|will) (?:you|we|i)\b|lets\b|id like|i would like"
    r"|i (?:want|need) (?:you )?to\b|we (?:need|want|should)\b|add|write|create|make|build"
    r"|implement|update|explain|show|list|review|check|read|find|give|tell|help|refactor|rename"
    r"|move|generate|set up|install|search|look|document|test|design|plan|analy[sz]e|summari[sz]e"
    r"|describe|draft|prepare|deploy|commit|push|pull|merge|open|start|go through|investigate"
    r"|figure out|how|what|where|when|which|who|is|are|do|does)\b"
)


def plain(sentence: str) -> str:
    """A sentence as patterns are written: in lower case, without apostrophes."""
    return " ".join(_APOSTROPHE.sub("", sentence.lower()).split())


def wording(sentences: list[str]) -> list[Wording]:
    """The forms of a remark, the deciding one first; none where its first words approve."""
    found: list[Wording] = []
    first = plain(sentences[0]) if sentences else ""
    assigns = bool(_TASK.match(first) or _QUESTION.search(first))
    for place, sentence in enumerate(sentences):
        line = plain(sentence)
        if _FINE.match(line) or (place and assigns and not found):
            break
        asks = bool(_QUESTION.search(line)) and not _RHETORICAL.match(line)
        for form in _forms():
            if form.kind is Kind.FORBIDS and place > 1 and not found:
                continue  # so far behind it belongs to what was asked first
            if form.pattern.match(line) and (not asks or form.rule is Rule.NO):
                found.append(Wording(sentence, form.rule, form.kind, form.sure))
    return sorted(found, key=lambda it: not it.sure)


_ASKED: Final = re.compile(
    r"[?？][\W_]*$"
    r"|(?:let me know|tell me|please (?:confirm|choose|pick|provide|specify)|which (?:one|option"
    r"|approach|of)|reply with|say the word|would you (?:like|prefer)|do you want|should i|shall i"
    r"|want me to)\b[^.\n]{0,160}[.?!:)]*\s*$",
    re.IGNORECASE,
)
_INVITES: Final = re.compile(
    r"(?:have|take) a look|looks? (?:right|good|ok)|anything (?:else|you)|what do you think"
    r"|(?:let me know|tell me) (?:if|whether|what you think|how)|happy with|to your liking"
    r"|feedback|make sense|does (?:this|that|it) (?:work|match|fit)"
    r"|(?:is|was) (?:this|that) (?:what|right|ok)",
    re.IGNORECASE,
)
_LAST_WORDS: Final = 300
_LAST_SENTENCE: Final = re.compile(r"[.!\n][^.!\n]*[\w?？][^.!\n]*[.!\s]*$")
_CHOICE: Final = re.compile(r"\bor\b|\bwhich\b|\boptions?\b|\([A-Da-d1-4]\)|还是", re.IGNORECASE)
_OTHER_WAY: Final = re.compile(
    r"no\w*[\s,.!–—-]+(?:(?:please|just|you should|you have to|we) )?"
    r"(?:`|(?:use|try|run|call|take)\b|i (?:want|meant|said)\b"
    r"|(?:it|that) (?:should|must|has to)\b)"
)


class Question(StrEnum):
    """What a reply ends with."""

    NONE = "none"
    PROPOSAL = "proposal"  # may be turned down
    CHOICE = "choice"


def asks_back(reply: str) -> Question:
    """What a plain no would answer. Who asks what people think of the work gets a correction."""
    end = reply[-_LAST_WORDS:]
    if not _ASKED.search(end):
        return Question.NONE
    found = _LAST_SENTENCE.search(end)
    last = found[0] if found else end
    if _INVITES.search(last):
        return Question.NONE
    return Question.CHOICE if _CHOICE.search(last) else Question.PROPOSAL


def answers(told: Wording, question: Question) -> bool:
    """Whether words that may correct just answer what was asked.

    A no to a proposal corrects it where it names another way.
    """
    if told.sure or question is Question.NONE:
        return False
    line = " ".join(told.sentence.lower().split())
    return question is Question.CHOICE or _OTHER_WAY.match(line) is None


_GO_ON: Final = re.compile(
    r"(?:(?:please|ok(?:ay)?|yes|now|and|just|sorry|pls|go and|you can)\b[\s,.!]*){0,3}"
    r"(?:continue|keep (?:working|going|doing|on|fixing)|go (?:on|ahead)|carry on|proceed|resume"
    r"|next|yes|ok(?:ay)?|y|go|retry|try again|hello|hi|are you (?:there|working|ok|done|stuck)"
    r"|weiter|mach weiter|continue[rz]?|continúa|sigue|продолжай|дальше|继续|続けて|계속)?"
    r"[\s,.!?…]*(?:please|from where you (?:left|stopped)(?: off)?|working|with (?:it|that|this))?"
    r"[\s.!?…]*$"
)
_LONGEST_GO_ON: Final = 60
_PROPOSES: Final = re.compile(r"(?:\w+[\s,]+){0,3}?(?:can|could|should|shall|let|would|why)\b")


def goes_on(words: str) -> bool:
    """Whether a prompt after an interruption only says to go on, or asks what is going on."""
    line = plain(words)
    if len(line) <= _LONGEST_GO_ON and _GO_ON.match(line):
        return True
    return bool(_QUESTION.search(line)) and not _PROPOSES.match(line)


_RERUN: Final = re.compile(
    r"(?:(?:please|now|ok(?:ay)?|and)[\s,]+)*(?:(?:re-?)?run|test|check|show|list|print|start|stop"
    r"|launch|open|retry|try|continue|deploy|commit|push|pull|status|what|how|is|are|can|does|why"
    r"|where|when|git|npm|npx|pip|sudo|make|docker|cd|ls|python\d?|cargo|go)\b"
)


def may_be_rerun(words: str) -> bool:
    """Whether asking it twice means doing it twice: a command, a check, a question."""
    return _RERUN.match(plain(words)) is not None
