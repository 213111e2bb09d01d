"""Skills of every kind, hostile ones among them, for tests of the book and its formats."""

from __future__ import annotations

from hypothesis import strategies as st

from hansei.learn.model import Evidence, Label, Predicates, Scope, Skill, State, Told, Vote
from hansei.learn.validation import LATEST, name_problem, normal, unfit

NASTY = [
    "a: b",
    "--- not the end ---",
    "---",
    "----------",
    'say "no"',
    "it's",
    "back\\slash",
    "*anchor &alias !tag",
    "{flow: [map]}",
    "# a heading",
    "| pipe",
    "> folded",
    "% percent %20",
    "@mention `code`",
    "null",
    "no",
    "1.0",
    "2026-11-16",
    "漢字 ünïcode 🙂",
    "\u00a0no-break\u200b",
    "<!-- hansei -->",
    "=======",
    "key: |\n  block",
]
TEXT = st.one_of(
    st.sampled_from(NASTY),
    st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cf", "Zl", "Zp"]), max_size=40),
)
NAMES = st.from_regex(r"\A[a-z0-9]{1,6}(-[a-z0-9]{1,6}){0,3}\Z").filter(
    lambda name: name_problem(name) is None
)
LINES = st.lists(TEXT, max_size=4).map(" ".join)
BODIES = st.lists(TEXT, min_size=1, max_size=6).map("\n".join)
TIMES = st.integers(0, LATEST)
EVIDENCE = st.builds(Evidence, TEXT.filter(bool), st.integers(0, 10**12))
VOTES = st.builds(Vote, TEXT, TIMES, st.booleans(), TEXT)
COUNTS = st.integers(0, 10**6)


@st.composite
def skills(draw: st.DrawFn) -> Skill:
    """Any skill that may be kept."""
    skill = normal(
        Skill(
            name=draw(NAMES),
            description=draw(LINES),
            body=draw(BODIES),
            section=draw(LINES),
            state=draw(st.sampled_from(State)),
            scope=draw(st.sampled_from(Scope)),
            language=draw(TEXT),
            version=draw(st.integers(1, 10**6)),
            owner=draw(TEXT),
            reason=draw(TEXT),
            origin=draw(st.sampled_from(["person", "repeated-action", "import"])),
            key=draw(TEXT),
            topic=draw(TEXT),
            action=draw(TEXT),
            auto_load=draw(st.booleans()),
            predicates=draw(
                st.builds(
                    Predicates,
                    command=TEXT,
                    path=TEXT,
                    do=st.lists(TEXT, max_size=2).map(tuple),
                    avoid=st.lists(TEXT, max_size=2).map(tuple),
                )
            ),
            evidence=tuple(draw(st.lists(EVIDENCE, max_size=3))),
            label=draw(st.sampled_from(Label)),
            votes=tuple(draw(st.lists(VOTES, max_size=2))),
            told=draw(st.none() | st.builds(Told, TEXT, COUNTS, COUNTS, COUNTS, COUNTS)),
            created_at=draw(TIMES),
            changed_at=draw(TIMES),
        )
    )
    if unfit(skill):
        skill = normal(Skill(skill.name, "What it is for.", "- do it", evidence=skill.evidence))
    return skill
