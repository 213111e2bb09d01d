"""How people and agents put things: tables of sentences with gaps to fill."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from random import Random


def pick(rng: Random, table: tuple[str, ...], **words: str) -> str:
    """One sentence of a table with its gaps filled."""
    return rng.choice(table).format(**words)


ASK_FEATURE = (
    "Add a way to {phrase}. It belongs in the {entity} service; write a test for it too.",
    "we need to {phrase}. put it next to the other {entity} rules and cover it with a test please",
    "Members keep asking whether we can {phrase}. Can you build that? Keep it small.",
    "Next on the list: {phrase}. Same style as the rest of services/{entity}.py.",
    "Please implement `{name}` ({phrase}). Reuse what is there, no new dependencies.",
    "The harbour office wants to {phrase} before the weekend. {entity} service, plus a test.",
    "Can the system {phrase}? If not, make it so, with a test next to the others.",
    "{name}: we should {phrase}. Look at how the last rule in the {entity} service was done.",
)

ASK_FIX = (
    "The limit for this is off: to {phrase} the office needs another number in services/{entity}.py.",
    "bug: visitors could not {phrase} last night because of the constant in the {entity} service",
    "Please correct the number at the top of the {entity} service so that we can {phrase}.",
)

ASK_QUESTION = (
    "How do we decide today whether a {entity} is still open? Walk me through it.",
    "where does the amount of a {entity} get rounded, and could we lose a cent there?",
    "Explain what happens on the nightly run for a {entity}. Just explain, no changes.",
    "If I wanted to {phrase}, which files would have to change? Don't change anything yet.",
)

ASK_FORK = (
    "Different idea, starting from here: what if we {phrase} in the nightly job instead?",
    "Going back to this point. Show me how it would look on the {entity} page only.",
    "Let me try another branch of this: compare it with what the {entity} api does.",
)

ASK_CHORE = (
    "Nightly check of the main branch: run lint and tests, then report in three lines. Do not edit.",
    "Scheduled review: look for rules without a test and list them. Read only.",
    "Dependency watch: check what is pinned and say if anything needs a person.",
)

ASK_RESUME = (
    "back again – are the tests still green after yesterday?",
    "Picking this up from before lunch. Run the checks once more and tell me where we stand.",
    "ok I'm back. what was left to do here?",
)

FOLLOW_UP = (
    "Good. Also make sure the name matches what the office calls it.",
    "fine, and run everything once more",
    "Looks right. Anything you had to leave out?",
)

QUEUED = (
    "oh and keep the old behaviour for visitors",
    "also: mention it in the commit message",
    "one more thing, the limit should be a parameter",
)

STOPPED = (
    "That takes too long, just run the {entity} tests.",
    "Stop, you don't need the whole suite for this. Only {entity}.",
    "no, not that one. the {entity} tests are enough",
)

DECLINED = (
    "Don't force anything. Leave the branch as it is.",
    "No. I want to look at the diff first.",
    "not like that, never reset my working copy",
)

ABANDON = (
    "Thanks, but the office changed its mind. Throw this away.",
    "we won't do this after all, please drop the changes",
)

CORRECTIONS: dict[str, tuple[str, ...]] = {
    "logger": (
        "No print statements here please, use the logger from berthline.log.",
        "you used print again. we log through berthline.log, always",
        "Don't print in services; that is what the logger is for. Please change it.",
        "That print has to go – use logger.info like everywhere else.",
        "Again a bare print in a service. Use our logger instead.",
    ),
    "cents": (
        "Amounts are whole cents, never floats. Fix that line.",
        "no floats for money! integer cents only",
        "We keep money as integer cents, don't convert it to float.",
        "Please undo the float: amounts stay in cents as int.",
    ),
    "clock": (
        "Use clock.today(), not datetime.now(); the tests set our own clock.",
        "don't call datetime.now here, we have berthline.clock for that",
        "That must go through clock.today() or the tests can't fix the day.",
    ),
    "environment": (
        "Use `uv run pytest`, plain pytest does not see the environment.",
        "you have to run the tests with uv run, as always",
        "Again: uv run pytest. The bare command can't import our package.",
        "no, `uv run pytest …` – otherwise it doesn't find berthline",
    ),
    "scope": (
        "I didn't ask for a notes file. Remove it and only do what I asked.",
        "please don't add extra documents, just the change itself",
        "No extra files. Delete that one again.",
    ),
}

THINK_START = (
    "I should see how the existing {entity} rules are laid out before adding one.",
    "Let me look at services/{entity}.py and its test first; the new rule should match.",
    "The request touches the {entity} service only. Reading the module and the test comes first.",
    "First find where a {entity} is decided on today, then place the new code beside it.",
)

THINK_EDIT = (
    "The last function in the file is a good neighbour; the new one goes after it.",
    "A small pure function is enough. Name: {name}.",
    "It should refuse politely and otherwise leave the row alone.",
    "The pattern is clear: guard, compute, return. I'll write `{name}` the same way.",
)

THINK_TROUBLE = (
    "That did not work. The message points at the setup, not at the change.",
    "The command failed before it reached my code. There must be another way to call it here.",
    "Exit status is not zero; reading the last lines tells why.",
    "This is about how it is started. Let me try the documented way.",
)

SAY_START = (
    "I'll look at the current {entity} rules first.",
    "Let me find the place for this.",
    "I'll start with the service and its tests.",
)

SAY_EDIT = (
    "Now the rule itself.",
    "Adding `{name}`.",
    "Next, the code.",
    "",
)

SAY_RUN = ("Let me check it.", "Running the checks.", "", "Now the tests.")

SAY_SORRY = (
    "You're right, I'll change that.",
    "Understood – correcting it now.",
    "Yes, that goes against the house style. Fixing it.",
)

SAY_DONE = (
    "Done. `{name}` is in the {entity} service with a test, and everything passes.\n\n"
    "- the rule refuses with a sentence the visitor can read\n- nothing else was touched",
    "It is in place: `{name}`. I kept to the pattern of the neighbouring functions and ran the "
    "checks once more.",
    "Finished. The change is small:\n\n1. the rule in `services/{entity}.py`\n2. its test\n\n"
    "Both are green.",
    "That's it – we can now {phrase}. Tell me if the office wants another number.",
)

SAY_EXPLAINED = (
    "Here is how it works today.\n\nA {entity} counts as open while its state is `held` or "
    "`confirmed`; `open_{entity}s` filters on that and sorts by date. The amount never leaves whole "
    "cents: `money.share` gives the rest to the first shares, so no cent is lost.",
    "In short: the nightly script calls `close_day` of the service, which looks back `GRACE_DAYS` "
    "and writes one log line. Nothing is deleted.\n\nTo {phrase} you would touch the service, its "
    "test and one line on the page.",
    "Three places matter: the model (plain data), the service (the decision) and the api (only "
    "formatting). For your question the service is the one to read.",
)

SAY_REPORT = (
    "Report: lint clean, {count} tests passed, nothing for a person to do.",
    "All quiet. {count} tests green, no new findings since the last run.",
)

ERRANDS = (
    ("Explore", "Find callers", "Find every place that reads the state of a {entity} and list file and line."),
    ("Explore", "Trace amounts", "Trace how amount_cents of a {entity} flows from the model to the page."),
    ("general-purpose", "Review rule", "Review the rules in services/{entity}.py for gaps in their tests."),
)  # fmt: skip

ERRAND_REPORTS = (
    "Found {count} places. The service decides, the api only formats; no other caller reads it.",
    "The value passes through three files and is never rounded on the way. {count} lines matter.",
    "{count} rules, each with a test. The oldest one has no case for an empty list.",
)

SUMMARY = (
    "The user asked to {phrase}. So far: read services/{entity}.py and its test, added `{name}` and "
    "checked it. Open: run everything once more and report.\n\nFiles touched: services/{entity}.py, "
    "tests/services/test_{entity}.py. House rules: whole cents, our logger, our clock."
)

ARTICLE = (
    "Harbour dues are usually set per metre of length overall. Many places round up to the next half "
    "metre and grant members a grace period at the end of the season. Electricity is metered apart. "
    "A berth that is held but not paid is released after a day and a half in most tariffs."
)
