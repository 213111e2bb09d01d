"""Words that talk an agent out of its instructions, in the languages and spellings they come in.

Letters that only look alike are read as what they look like, and letters that were spaced out are
put together again, before the words are looked for.
"""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING, Final, NamedTuple

from hansei.learn.labels import LOOK_ALIKES

if TYPE_CHECKING:
    from collections.abc import Iterator

_ENGLISH: Final = (
    r"\b(?:ignore|disregard|forget|override|bypass)\b[^.\n]{0,30}\b(?:previous|prior|above|earlier"
    r"|preceding|all other|your|system|developer|existing|any)\b[^.\n]{0,20}"
    r"\b(?:instructions?|rules?|prompts?|guidelines?|directives?|messages?|constraints?)\b"
    r"|\b(?:do not|don't|never|without)\s+(?:tell|telling|inform|informing|notify|notifying|alert"
    r"|alerting|mention(?:ing)?\s+(?:this|it)\s+to|show(?:ing)?\s+(?:this|it)\s+to"
    r"|reveal(?:ing)?\s+(?:this|it)\s+to)\s+(?:to\s+)?(?:the\s+)?(?:user|human|developer|person)"
    r"\b(?:\s*[.!,;]|\s+(?:about|of|that|what|this|any)\b|\s*$)"
    r"|\b(?:hide|conceal|keep)\s+(?:this|it)\s+(?:secret\s+)?from\s+(?:the\s+)?(?:user|human)\b"
    r"|\byou are now (?:in )?(?:a |an )?(?:developer mode|jailbreak|dan\b|god mode|unrestricted"
    r"|admin)\b|\bnew (?:system prompt|system instructions?)\s*:"
    r"|\b(?:reveal|print|repeat|output)\b[^.\n]{0,20}\byour (?:system prompt|hidden instructions)\b"
)
_MARKS: Final = (
    r"(?-i:</?(?:system|system-reminder|system_prompt|assistant|human|im_start|im_end)>)"
    r"|<\|(?:im_start|im_end|system|endoftext|begin_of_text)\|>|\[/?INST\]|<<SYS>>"
)
_OTHERS: Final = (
    # German, Dutch
    r"\b(?:ignorier(?:e|en|t)|missachte|vergiss|vergesst)\b[^.\n]{0,30}\b(?:vorherig|bisherig|obig"
    r"|früher|vorig|all)\w*[^.\n]{0,20}\b(?:anweisung|regel|vorgabe|instruktion)\w*"
    r"|\b(?:negeer|vergeet)\b[^.\n]{0,30}\b(?:vorige|eerdere|bovenstaande)\b[^.\n]{0,20}"
    r"\b(?:instructies|regels|opdrachten)\b"
    # Spanish, Portuguese, Italian, French
    r"|\b(?:ignor[aeoiz]\w*|olvid[ae]\w*|descart[ae]\w*|dimentica\w*|oubli\w+|desconsidere|esqueça)\b"
    r"[^.\n]{0,30}\b(?:instrucciones|instructions|istruzioni|instruções|reglas|regras|regole|règles"
    r"|consignes|órdenes|indicaciones)\b[^.\n]{0,20}\b(?:anteriores|previas|prévias|précédentes"
    r"|precedenti|antérieures|ci-dessus)\b"
    r"|\b(?:ignor[aeoiz]\w*|oubli\w+)\b[^.\n]{0,20}\b(?:précédentes|anteriores|precedenti|previas)\b"
    r"[^.\n]{0,20}\b(?:instrucciones|instructions|istruzioni|instruções)\b"
    # Russian, Ukrainian, Polish, Turkish
    r"|(?:игнорируй|забудь|игнорировать|ігноруй)\w*[^.\n]{0,30}(?:предыдущ|прошл|прежн|попередн)\w*"
    r"[^.\n]{0,20}(?:инструкц|указан|правил|інструкц)\w*"
    r"|\b(?:zignoruj|ignoruj|zapomnij)\b[^.\n]{0,30}\b(?:poprzedni|wcześniejsz)\w*[^.\n]{0,20}"
    r"\b(?:instrukcj|polece|zasad)\w*"
    r"|\b(?:önceki|yukarıdaki)\b[^.\n]{0,20}\b(?:talimat|kural|yönerge)\w*[^.\n]{0,20}"
    r"\b(?:yok say|unut|görmezden)\w*"
    # Chinese, Japanese, Korean, Arabic, Hindi
    r"|(?:忽略|无视|無視|忘记|忘記)(?:之前|以上|先前|上面|所有|前面)[^。\n]{0,8}(?:指令|指示|规则|規則)"
    r"|(?:以前|これまで|上記|前)の(?:すべての)?(?:指示|命令|ルール)を(?:すべて)?(?:無視|忘れ)"
    r"|(?:이전|위의|앞의|기존)\s?(?:모든\s?)?(?:지시|명령|규칙|지침)\S{0,3}\s?(?:을|를|사항을)?\s?"
    r"(?:모두\s?)?(?:무시|잊)"
    r"|(?:تجاهل|انس)[^.\n]{0,20}(?:التعليمات|الأوامر|القواعد)[^.\n]{0,20}(?:السابقة|أعلاه)"
    r"|(?:पिछले|पहले के|उपरोक्त)[^।\n]{0,20}(?:निर्देश|नियम)\S*[^।\n]{0,20}(?:अनदेखा|नज़रअंदाज़|भूल)"
)
_OVERRIDE: Final = re.compile(f"{_ENGLISH}|{_MARKS}|{_OTHERS}", re.IGNORECASE)
_SWITCHES_OFF: Final = re.compile(
    r"\b(?:always|automatically)\s+(?:approve|allow|accept)\s+(?:all|every|any)\b[^.\n]{0,30}"
    r"\b(?:permissions?|tools?|requests?|prompts?|commands?)\b"
    r"|\b(?:skip|bypass|disable|turn off)\s+(?:all\s+)?(?:the\s+)?"
    r"(?:permission|approval|safety|security)\s+(?:checks?|prompts?|rules?)\b",
    re.IGNORECASE,
)
_SPACED: Final = re.compile(r"(?<!\w)(?:\w[ .\-_*]){4,}\w(?!\w)")
_LEET: Final = str.maketrans("013457@$", "oieastas")


class Order(NamedTuple):
    """Words that give orders, and the line, from 1."""

    words: str
    line: int
    protects: bool
    """Whether they switch off what protects, rather than what was said before."""


def orders(text: str) -> Iterator[Order]:
    """Orders in a text, which may be broken over lines and spelled in odd ways."""
    flat = re.sub(r"[ \t]*\n[ \t>*#-]*", "\n", unicodedata.normalize("NFKC", text))
    seen: set[Order] = set()
    for spelling in dict.fromkeys((flat, _respelled(flat))):
        joined = spelling.replace("\n", " ")
        for rule, protects in ((_OVERRIDE, False), (_SWITCHES_OFF, True)):
            for match in rule.finditer(joined):
                line = spelling.count("\n", 0, match.start()) + 1
                order = Order(" ".join(match[0].split()), line, protects)
                if order not in seen and not {it for it in seen if it.line == line}:
                    seen.add(order)
                    yield order


def _respelled(text: str) -> str:
    """A text as a reader takes it: look-alikes, spaced-out letters and digits for letters."""
    latin = text.translate(LOOK_ALIKES)
    together = _SPACED.sub(lambda it: re.sub(r"[ .\-_*]", "", it[0]), latin)
    return re.sub(r"\b(?=\w*[A-Za-z])[\w@$]{4,}", lambda it: it[0].translate(_LEET), together)
