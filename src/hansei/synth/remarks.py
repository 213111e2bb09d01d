"""What people say in between: corrections in many words, and what only sounds like one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from hansei.synth.draft import ran

if TYPE_CHECKING:
    from hansei.synth.scenes import Tale

ASIDES: Final = ("answer", "approval", "quotation", "task", "question")


def misread(tale: Tale) -> None:
    """Do something else than was asked, and be told so, in whatever words and language."""
    draft = tale.draft
    draft.act(ran("git log --oneline -n 3", draft.body(3), 0.1), reply=tale.pick("say_misread"))
    draft.act(reply="That is how it looks at the moment.")
    draft.say(tale.pick("correct_misread"), topic="misread")
    draft.act(ran("git status --short", "", 0.1), reply=tale.pick("say_sorry"))


def ask_again(tale: Tale) -> None:
    """Talk about what was asked instead of doing it, and be asked again."""
    draft = tale.draft
    wanted = tale.pick("ask_twice")
    draft.say(wanted)
    draft.act(ran(f"rg -n limit {tale.service}", draft.body(2), 0.1))
    draft.act(reply="There are several of them, and each has its own unit.")
    again = tale.rng.choice((wanted, wanted.lower(), f"please {wanted[0].lower()}{wanted[1:]}"))
    draft.say(again, topic="request", manner="repeated")
    draft.act(ran("git diff --stat", "", 0.1), reply="Now I see what you want.")


def aside(tale: Tale) -> None:
    """Say something that holds the words of a correction and is none."""
    draft = tale.draft
    why = tale.rng.choice(ASIDES)
    draft.act(ran("git status --short", "", 0.1))
    draft.act(reply=tale.pick("say_choice" if why == "answer" else "say_news"))
    draft.say(tale.pick(f"aside_{why}"), aside=why)
    draft.act(reply="All right.")
