"""The words and numbers of a bet, shared by the screen and by Markdown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from hansei.bets.counting import USUAL_DAYS, WEEK_DAYS
from hansei.bets.model import Design, State
from hansei.cli import output
from hansei.cli.commands.summary import driver
from hansei.config import DAY_MS
from hansei.instructions.findings import Kind

if TYPE_CHECKING:
    from hansei.bets.model import Range
    from hansei.instructions.findings import Finding as Fault
    from hansei.ops.retro import Offer, Retrospect

EVIDENCE: Final = 3
"""Places named in a list; the rest is counted."""
FAULTS: Final = 3
"""Lines of instruction files that are named; the rest is counted."""
QUOTED: Final = 70
"""Letters of such a line that are shown."""
DESIGNS: Final = {Design.LINE: "one line", Design.REMOVAL: "a removal", Design.BRIEF: "a task"}


def span(told: Range) -> str:
    """Two amounts that share their unit: 31–58 k."""
    units = ((1_000_000_000, " G"), (1_000_000, " M"), (1_000, " k"), (1, ""))
    size, unit = next((it for it in units if told.high >= it[0]), units[-1])
    low, high = max(told.low, 0) / size, told.high / size
    places = 1 if unit and high < 10 else 0
    return f"{low:.{places}f}–{high:.{places}f}{unit}"


def roughly(count: float) -> str:
    """An amount that is known to two figures at best: 30 k, 5.5 k."""
    if abs(count) < 100:
        return f"{count:.0f}"
    figures = float(f"{count:.1e}")
    text = output.tokens(int(figures))
    return text.replace(".0 ", " ") if abs(figures) >= 10_000 else text


def costs(offer: Offer) -> str:
    """What it takes: a week, or in all where no week can be told."""
    parts = []
    if offer.tokens is None:
        parts.append("tokens unknown: nothing that was recorded tells them")
    elif offer.weekly is not None:
        week = roughly(offer.weekly.middle)
        parts.append(f"{week} tokens a week ({span(offer.weekly)}, counted from those sessions)")
    else:
        parts.append(f"{output.tokens(offer.tokens)} tokens in all{too_few(offer.active_days)}")
    if offer.tokens is not None and offer.untold:
        parts.append(f"and {output.plural(offer.untold, 'time')} of unknown cost")
    waited = (offer.minutes or 0) / (offer.weeks if offer.weekly is not None else 1)
    if waited >= 1:
        parts.append(f"{output.plural(round(waited), 'minute')} of waiting")
    return ", ".join(parts)


def too_few(active_days: int) -> str:
    """Why no week is told."""
    if not active_days:
        return " (no session is dated, so no week can be told)"
    return f" ({output.plural(active_days, 'active day')}: seven are needed to tell a week)"


def change(offer: Offer) -> str:
    """What would be done, where, and what that itself takes."""
    where = output.one_line(offer.target or "")
    parts = [f"{where}, " if where else "", DESIGNS[offer.change.design]]
    if offer.change_tokens is not None and offer.rent is not None:
        when = "a week" if offer.weekly is not None else "in these sessions"
        parts.append(
            f", {output.plural(offer.change_tokens, 'token')} in every request"
            f" ({roughly(offer.rent)} {when})"
        )
    minutes = output.plural(round(offer.effort_minutes), "minute")
    return f"{''.join(parts)}; about {minutes} to do"


def told_already(offer: Offer) -> str:
    """That an instruction file says so, with what that means for the change."""
    if offer.told_at is None:
        return ""
    return (
        f"{output.one_line(offer.told_at)} says so already: see whether it came after these"
        " sessions; if not, agents do not heed it, and a second line will not help"
    )


def proof(offer: Offer) -> str:
    """How often it recurs now, and when one will know whether that changed."""
    share = offer.sessions / offer.of_sessions if offer.of_sessions else 0.0
    told = f"recurs in {share:.0%} of sessions now"
    more = offer.sessions_to_tell
    if more is None:
        return f"{told}; too seldom for an experiment to tell" if share else told
    pace = offer.of_sessions / offer.weeks if offer.weeks >= 1 else 0.0
    at_pace = f" ({_weeks(more / pace)} at this pace)" if pace else ""
    return f"{told}; with a coin about {output.plural(more, 'session')} will tell{at_pace}"


def demotion(offer: Offer) -> str:
    """Why it ranks lower than its evidence would have it; empty where it does not."""
    return "" if offer.demoted is None else f"{offer.demoted} (`hansei retro --calibration`)"


def _weeks(weeks: float) -> str:
    days = max(round(weeks * WEEK_DAYS), 1)
    return (
        output.plural(days, "day") if days < 2 * WEEK_DAYS else output.plural(round(weeks), "week")
    )


def standing(offer: Offer, look: Retrospect, now: int) -> str:
    """What was said of it before."""
    parts = [f"id {offer.short}"]
    if offer.returned:
        day = output.day(offer.decided_at)
        parts.append(f"back: refused on {day}, and twice the evidence since")
    elif offer.state is not State.PROPOSED:
        parts.append(f"{offer.state} on {output.day(offer.decided_at)}")
    elif since := shown_since(offer, look, now):
        parts.append(since)
    if offer.reason:
        parts.append(f"“{output.one_line(offer.reason)}”")
    return " · ".join(parts)


def shown_since(offer: Offer, look: Retrospect, now: int) -> str:
    """`new` for a day after others were known, then how long it has been in the list."""
    first = now if offer.first_shown is None else offer.first_shown
    days = (now - first) // DAY_MS
    if days >= 1:
        return f"shown since {_weeks(days / WEEK_DAYS)}"
    before = look.shown_before is not None and first - look.shown_before >= DAY_MS
    return "new" if before else ""


def heading(look: Retrospect) -> tuple[str, str]:
    """What was looked at, and what it took."""
    drivers = ", ".join(f"{n:,} {driver(name)}" for name, n in look.drivers.items())
    where = output.one_line(look.workspace or "all workspaces")
    days = output.span(look.first_at, look.last_at)
    counted = output.plural(look.sessions, "session")
    unpriced = f" + {look.unpriced_requests:,} requests of unknown price"
    took = f"{output.tokens(look.tokens)} tokens (measured)"
    if look.cost_nanodollars is not None:
        took += f", {output.dollars(look.cost_nanodollars)} (derived)"
        took += unpriced if look.unpriced_requests else ""
    return f"Retro · {where} · {days} · {counted} ({drivers})", took


def window(look: Retrospect) -> str:
    """Which span of time this is, and what it cannot tell."""
    active = output.plural(look.active_days, "active day")
    if look.asked:
        return f"{active}, as you asked"
    if round(look.weeks * WEEK_DAYS) <= USUAL_DAYS:
        return f"{active} in the {USUAL_DAYS} days up to the last session; --since looks further"
    return f"{active}, as far back as it takes to have seven; --since looks further"


def nothing(look: Retrospect) -> str:
    """What to say where nothing is worth a bet."""
    missing = WEEK_DAYS - look.active_days
    few = (
        f" A bet needs the same thing in several sessions; these were"
        f" {output.plural(look.sessions, 'session')} on {output.plural(look.active_days, 'day')}."
        f" {output.plural(missing, 'more active day')} would tell a week."
        if missing > 0
        else ""
    )
    return f"Nothing was found that goes wrong or costs again and again.{few}"


def fault(told: Fault) -> str:
    """What instruction files say twice or against one another, with the lines to open."""
    places = [f"{output.one_line(it.path)}:{it.line}" for it in told.places]
    if told.kind is Kind.COPY:
        return told.reason
    quotes = dict.fromkeys(output.cut(output.one_line(it.text), QUOTED) for it in told.places)
    said = " – ".join(f"“{it}”" for it in quotes)
    return f"{' and '.join(places)}: {told.reason}: {said}"


def more_faults(look: Retrospect) -> str:
    """How many are not named, and what names them."""
    left = len(look.faults) - FAULTS
    more = f"{left:,} more; " if left > 0 else ""
    return f"{more}`hansei skills curate` shows all, with what left the repository"
