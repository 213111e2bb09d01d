"""What a person said once, as a rule for the next time, in the person's own words.

What only answers the agent ("no,", "I said", "please") is taken off; nothing is put into anybody's
mouth.
"""

from __future__ import annotations

import re
from typing import Final

from hansei.projection.corrections.words import sentences
from hansei.projection.wording import one_line

_OPENING: Final = re.compile(
    r"^(?:"
    # A bare "no" before a noun is part of what is said: "no print statements".
    r"(?:no+|nope|nah|wait|stop|again|nein|non|não|нет)\s*[,.!:;–—]+\s*"
    r"|(?:hey|ok(?:ay)?|oh|hm+|well|sorry|actually|please|pls|so|and|but)\b(?!-)[\s,.!:;–—-]*"
    r"|(?:as )?i(?:'ve| have)?(?: already| just)? (?:said|told you|asked(?: you)?|wrote)"
    r"(?: (?:before|already|that|to|you|twice|again))*[\s,.!:;–—-]*"
    r"|(?:can|could|would|will) you(?: please)? |i(?: would|'d)? (?:want|like|need) you to "
    r"|you (?:should|must|need to|have to|ought to) |(?:let's|lets) |once more[\s,.!:;–—-]*"
    r"|how (?:often|many times) do i have to (?:say|tell you)(?: that| to)?[\s,.!:;–—-]*"
    r")",
    re.IGNORECASE,
)
_ENDING: Final = re.compile(
    r"[\s,]*(?:please|pls|thanks|thank you|again)?[\s.!?…。！？]*$", re.IGNORECASE
)
_BLAME: Final = re.compile(
    r"(?:you|it|that|this|they|why|what|still|wrong)\b|\w+'s\b", re.IGNORECASE
)
"""How a sentence begins that says what was wrong and not what to do."""
_LEAST_WORDS: Final = 3
"""Words that a sentence needs to say something to somebody who was not there."""
_MOST_SENTENCES: Final = 4
_LONGEST: Final = 200
"""Characters of an instruction: a longer one costs more than it says."""


def instruction(remark: str) -> str | None:
    """A person's remark as a line for the instruction file, in the same words.

    Sentences that say what to do come before those that say what was wrong; None where neither
    means anything to somebody who was not there.
    """
    said = sentences(one_line(remark, 4 * _LONGEST), _MOST_SENTENCES)
    told = [own for one in said if (own := _own(one))]
    tells = [it for it in told if not _BLAME.match(it) and _says_something(it)]
    if tells:
        return one_line(" ".join(f"{it}." for it in tells[:2]), _LONGEST)
    whole = ". ".join(told)
    if not _says_something(whole):
        return None
    return f"People had to say: “{one_line(whole, _LONGEST)}”. Do not make them say it again."


def _own(sentence: str) -> str:
    """A sentence without what only answers the agent."""
    text, before = sentence, ""
    while before != text:
        before, text = text, _OPENING.sub("", text, count=1)
    return _ENDING.sub("", text)


def _says_something(text: str) -> bool:
    wide = sum(sign > "\u2e80" for sign in text)
    return len(re.findall(r"\w+", text)) >= _LEAST_WORDS or wide > 2 * _LEAST_WORDS
