"""What can come up again: the things that later sessions are searched for after a change.

Each bet is about one of them. How a session is searched for it is `experiments/metrics/recurrence`.
"""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Final

from hansei.projection.wording import one_line


class Fact(StrEnum):
    """What is looked for in a session; the subject says which one of them."""

    FAILURES = "failures"  # a signature
    MISSING = "missing"  # the key of tries for something that is not there
    CORRECTIONS = "corrections"  # the name of a cluster of what people say
    DECLINED = "declined"  # who said no, and to what
    REREADS = "rereads"  # a path
    WHOLE_READS = "whole_reads"  # the path of a big file
    LOOPS = "edit_loops"  # the path of a file that is edited between failed runs
    LARGE_OUTPUTS = "large_outputs"  # a command, or a tool of a server
    CROWDED = "crowded"  # where such searches begin
    LISTINGS = "listings"  # a folder
    LISTINGS_ABOVE = "listings_above"  # the folder where source begins
    CALLERS = "missed_callers"  # always the same: renames whose callers were missed
    MISPLACED = "misplaced"  # where lines were written first, and where they belong
    BROKEN = "broken_tests"  # a file or folder, and the tests that its edits turn red
    REWRITTEN = "rewritten"  # what rewrites files after agents
    UNTESTED = "untested_ends"  # a test command
    FLAKY = "flaky_runs"  # a command
    SLOW = "slow_runs"  # a command
    FORGOTTEN = "forgotten"  # a file, and one that has to change with it
    IDLE = "idle"  # a kind, and names of texts of that kind
    UNFOLLOWED = "unfollowed"  # a kind and the name of one text
    REWORKED = "reworked"  # the path of a file, or of a folder with a slash behind it
    REPLACED = "replaced"  # what agents write, an arrow, and what people write instead
    PAGED = "paged"  # the path of a file that is read page by page
    COLD = "cold_caches"  # how the cache was lost
    COMPACTED = "compacted_by"  # the file, command or tool that filled the context
    UNFIRED = "unfired"  # the name of a skill that prompts ask for
    PREMIUM = "premium"  # a model
    OUTLIERS = "outliers"  # a number of tokens, and what took them
    UNUSED = "unused_reports"  # a kind of subagent
    ABANDONED = "abandoned"  # what such sessions begin with
    UNFINISHED = "unfinished"  # a kind of step in a plan


_WORDS: Final = {
    Fact.FAILURES: "sessions that fail with “{}”",
    Fact.MISSING: "sessions that try what is not there: {}",
    Fact.CORRECTIONS: "sessions in which a person says this again (cluster {})",
    Fact.DECLINED: "sessions in which it is refused again: {}",
    Fact.REREADS: "sessions that read {} again, unchanged",
    Fact.WHOLE_READS: "sessions that read {} whole for small edits",
    Fact.LOOPS: "sessions that edit {} and fail, over and over",
    Fact.LARGE_OUTPUTS: "sessions that carry a large output of {} along",
    Fact.CROWDED: "sessions whose searches are answered with files that nobody wrote",
    Fact.LISTINGS: "sessions that list {} and then open a file in it",
    Fact.LISTINGS_ABOVE: "sessions that list folders above {} before they work there",
    Fact.CALLERS: "sessions that fail by the old name of something that was renamed",
    Fact.MISPLACED: "sessions that write to the first and move it to the second: {}",
    Fact.BROKEN: "sessions that edit the first and turn the second red: {}",
    Fact.REWRITTEN: "sessions in which {} rewrites what was just written",
    Fact.UNTESTED: "sessions that change code and end without {}",
    Fact.FLAKY: "sessions in which {} fails and then passes unchanged",
    Fact.SLOW: "sessions that wait for {}",
    Fact.FORGOTTEN: "sessions that edit the first and the second only when it failed: {}",
    Fact.IDLE: "sessions that carry it unused: {}",
    Fact.UNFOLLOWED: "sessions that had it and did not follow it: {}",
    Fact.REWORKED: "sessions whose lines in {} people change or revert within two weeks",
    Fact.REPLACED: "sessions that write what people then replace: {}",
    Fact.PAGED: "sessions that read {} page by page",
    Fact.COLD: "sessions that lose the cache in this way: {}",
    Fact.COMPACTED: "sessions that are compacted with {} in their context",
    Fact.UNFIRED: "sessions that ask for what the skill {} is for and do not load it",
    Fact.PREMIUM: "sessions that are small and use {}",
    Fact.OUTLIERS: "sessions above this many tokens for this reason: {}",
    Fact.UNUSED: "sessions that do not use a report of {}",
    Fact.ABANDONED: "sessions that begin with “{}” and are left with nothing done",
    Fact.UNFINISHED: "sessions whose plan ends with this step open: {}",
}


_IN_CONTEXT: Final = {
    Fact.REREADS: re.compile(r"(.+)"),
    Fact.WHOLE_READS: re.compile(r"(.+)"),
    Fact.PAGED: re.compile(r"(.+)"),
    Fact.COMPACTED: re.compile(r"file (.+)"),
    Fact.OUTLIERS: re.compile(r"\d+ carrying file (.+)"),
}


def in_context(fact: str, subject: str) -> str | None:
    """The file whose place in contexts is counted; None where it is about something else."""
    form = _IN_CONTEXT.get(Fact(fact))
    found = None if form is None else form.fullmatch(subject)
    return None if found is None else found[1]


def in_words(fact: str, subject: str) -> str:
    """What is counted, as a person would say it."""
    return _WORDS[Fact(fact)].format(one_line(subject))
