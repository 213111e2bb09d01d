"""Offers shown to a person, asked about, and what they answer done.

Every answer takes effect at once, so that stopping in between loses nothing and breaks nothing.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import click

from hansei.cli import app, offer_cards, output
from hansei.cli.diagnostics import note, warn
from hansei.errors import SourceError, StoreUnwritable, UsageError
from hansei.learn.model import State
from hansei.ops import sessions
from hansei.ops.classic import simple
from hansei.ops.learn import RETURN_DAYS, around, is_unconfirmed, learn, reset_skips, save, skip
from hansei.ops.skills import Desk

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from hansei.config import Config
    from hansei.ops.learn import Learned, Saved, Suggestion
    from hansei.ops.scope import Scope
    from hansei.store.database import Store

QUESTION: Final = "Save as skill? [Y/n/s]"
QUESTION_UNCONFIRMED: Final = "Is it right? Then agents may use it. [y/N/s]"
_ANSWERS: Final = {
    **dict.fromkeys(("y", "yes"), "y"),
    **dict.fromkeys(("n", "no"), "n"),
    **dict.fromkeys(("s", "skip", "never"), "s"),
}


def desk(store: Store, settings: Config) -> Desk:
    """Where the person stands now."""
    return Desk(store, settings, app.folder(), app.now())


def look(desk: Desk, scope: Scope, among: Sequence[str] = ()) -> Learned:
    """What the sessions of a scope, or the named ones, are worth keeping for."""
    if among:
        scope = around(desk.store, [sessions.find(desk.store, it) for it in among])
    app.with_facts(desk.store, desk.config, scope)
    return learn(desk, scope, among)


def offer(
    desk: Desk, look: Learned, *, user: bool = False, yes: bool = False, as_json: bool = False
) -> int:
    """Show what was found, ask about each where there is somebody to ask, save what is wanted.

    Returns how much there was to tell.
    """
    count = len(look.suggestions) + len(look.kept_back)
    asks = not (yes or as_json) and sys.stdin.isatty() and sys.stdout.isatty()
    if (yes or asks) and count:
        _must_be_writable(desk.store)
    if as_json:
        wanted = [*look.suggestions, *filter(_is_quarantined, look.kept_back)] if yes else []
        saved = [_save(desk, it, user=user) for it in wanted]
        output.write_json("learn", _told(look, [it for it in saved if it is not None]))
        return count
    _write(offer_cards.heading(look))
    if asks and look.suggestions:
        note("\n".join(output.wrapped(offer_cards.ANSWERS)))
    for number, found in enumerate(look.suggestions, 1):
        _write(["", *offer_cards.card(number, found, look)])
        answer = "y" if yes else _asked_about(found) if asks else None
        _obey(desk, answer, found, user=user, promoted=asks)
    for found in look.kept_back:
        _write(["", *offer_cards.kept_back(found)])
        if (yes or asks) and _is_quarantined(found):
            _obey(desk, "y", found, user=user)
    if look.suggestions and not (yes or asks):
        note("\nNothing was saved: there is nobody to ask. `hansei learn --yes` saves all of it.")
    return count


def _write(lines: Iterable[str]) -> None:
    for line in lines:
        output.write(line)


def _is_quarantined(found: Suggestion) -> bool:
    return found.state is State.QUARANTINED


def _save(desk: Desk, found: Suggestion, *, user: bool, promoted: bool = False) -> Saved | None:
    """Save one; where that cannot be, say why and go on with the next."""
    try:
        return save(desk, found, user=user, promoted=promoted)
    except (UsageError, SourceError) as problem:
        warn(f"{found.offer.name} was not saved: {problem.message}. {problem.hint or ''}".strip())
        return None


def _asked_about(found: Suggestion) -> str:
    """What a person wants done; nothing that needs their word is taken for agreed."""
    return _ask(QUESTION_UNCONFIRMED, "n") if is_unconfirmed(found) else _ask()


def _ask(question: str = QUESTION, usual: str = "y") -> str:
    """What a person wants done; asks again where the answer is none."""
    while True:
        given = click.prompt(question, default="", show_default=False, err=True, prompt_suffix=" ")
        answer = _ANSWERS.get(str(given).strip().lower() or usual)
        if answer is not None:
            return answer
        note("y saves it, n leaves it for later, s never offers it again; Ctrl-C stops.")


def _obey(
    desk: Desk, answer: str | None, found: Suggestion, *, user: bool, promoted: bool = False
) -> None:
    """Do what a person wants."""
    desk = replace(desk, now=app.now())
    if answer == "y":
        done = _save(desk, found, user=user, promoted=promoted)
        if done is not None:
            _write(offer_cards.saved(done, desk.here, desk.config.environment.home))
    elif answer == "n":
        skip(desk, found, for_ever=False)
        note(f"Not now: offered again in {RETURN_DAYS} days, or when it has doubled.")
    elif answer == "s":
        skip(desk, found, for_ever=True)
        note("Never again; `hansei learn --reset-skips` if you change your mind.")


def _told(look: Learned, done: Sequence[Saved]) -> dict[str, Any]:
    return {
        "workspace": look.scope.workspace_name,
        "among": look.among,
        "sessions": look.sessions,
        "first_at": look.first_at,
        "last_at": look.last_at,
        "suggestions": [_plain(it) for it in look.suggestions],
        "kept_back": [_plain(it) for it in look.kept_back],
        "said": [_plain(it) for it in look.said],
        "skipped": [_plain(it) for it in look.skipped],
        "saved": [{**it._asdict(), "files": list(map(str, it.files))} for it in done],
    }


def _plain(found: Suggestion) -> dict[str, Any]:
    aside = found.skipped
    return {
        "workspace": found.workspace,
        "state": found.state,
        "offer": found.offer,
        "evidence": found.places,
        "reasons": found.reasons,
        "said": found.said,
        "skipped": None if aside is None else {"at": aside.at, "for_ever": aside.for_ever},
    }


def compare(store: Store, look: Learned, *, as_json: bool) -> None:
    """What the simple rules offer from the same sessions; saves nothing."""
    named = look.among[0] if look.among else None
    found = simple(store, look.scope, app.now(), named)
    if as_json:
        output.write_json("learn.classic", {"sessions": found.sessions, "offers": found.offers})
    elif named is None:
        _write(offer_cards.compared(found, look))
    else:
        _write(offer_cards.simple_offers(found, named))


def reset(store: Store, scope: Scope, *, as_json: bool) -> None:
    """Have what was skipped offered again."""
    _must_be_writable(store)
    count = reset_skips(store, scope.workspace)
    if as_json:
        output.write_json("learn.reset", {"offered_again": count})
        return
    where = f" in {output.one_line(scope.workspace_name)}" if scope.workspace_name else ""
    if count:
        output.write(f"{output.plural(count, 'offer')}{where} will be made again where found.")
    else:
        wider = " `--all` looks at every workspace." if where else ""
        output.write(f"Nothing was skipped{where}.{wider}")


def _must_be_writable(store: Store) -> None:
    if not store.writable:
        raise StoreUnwritable(
            f"{store.folder} is read-only: nothing can be remembered",
            hint="Set HANSEI_HOME to a folder you can write to.",
        )
