"""Skills and servers that cost rent and never fire."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from hansei.bets.model import Design, Finding
from hansei.projection.funnel import Use
from hansei.projection.told import Teller, Told
from hansei.retro.heuristics.idle_rent import IdleRent
from made_window import read, seq_of, window_of

_USE = Use(
    "skill", "roster", "/home/me/.agents/skills/roster/SKILL.md", 3, None, None, None,
    False, False, None, 0, 0, 400, 100, 4_000, "transcript",
)  # fmt: skip


def use(**more: Any) -> Use:
    return _USE._replace(**more)


def found(*uses: Use, sessions: int = 10, days: int = 10) -> list[Finding]:
    window = window_of(
        {it: [[]] for it in range(sessions)},
        dict.fromkeys(range(sessions), uses),
        {it: it % days for it in range(sessions)},
    )
    return list(IdleRent().find(window))


def test_a_skill_that_is_listed_and_never_loaded_is_to_go() -> None:
    (finding,) = found(use())
    assert finding.change.design is Design.REMOVAL
    assert finding.change.path == "~/.agents/skills/roster/SKILL.md"
    assert "`roster`" in finding.change.text
    assert sum(it.tokens or 0 for it in finding.occurrences) == 40_000


def test_skills_of_one_folder_are_one_bet() -> None:
    more = use(name="tides", path="/home/me/.agents/skills/tides/SKILL.md")
    (finding,) = found(use(), more)
    assert "2 skills of `~/.agents/skills`" in finding.claim
    assert len(finding.occurrences) == 10


def test_a_server_whose_tools_are_never_called_is_to_go() -> None:
    (finding,) = found(use(kind="mcp", name="tracker", path=None))
    assert "MCP server `tracker`" in finding.claim


def test_a_size_that_is_not_recorded_is_not_nothing() -> None:
    (finding,) = found(use(kind="mcp", name="tracker", path=None, rent=None, tokens=None))
    assert {it.tokens for it in finding.occurrences} == {None}
    assert "not recorded" in finding.because[1]


def test_a_plug_in_goes_as_a_whole_or_not_at_all() -> None:
    idle = use(name="figma:use", path=None)
    assert len(found(idle)) == 1
    assert found(idle, use(name="figma:draw", path=None, fired=True)) == []


@pytest.mark.parametrize(
    "told",
    [
        use(fired=True),
        use(fired=None),
        use(matched=True),
        use(rent=50),
        use(path=None),
        use(path="/home/me/.agents/skills/.system/roster/SKILL.md"),
        use(kind="instructions", name="AGENTS.md", path="AGENTS.md"),
        use(kind="rule", name="style.mdc", path=".rules/style.mdc"),
    ],
    ids=["fired", "unknown", "wanted", "cheap", "nobody's", "built in", "instructions", "rule"],
)
def test_what_is_not_known_to_be_idle_stays(told: Use) -> None:
    assert found(told) == []


def test_a_few_sessions_or_days_say_little() -> None:
    assert found(use(), sessions=7) == []
    assert found(use(), days=2) == []


def long_lists(sizes: dict[int, int], count: int = 60) -> list[Finding]:
    """Ten sessions, with this many bytes in a list of so many skills more than `count`."""
    uses = {}
    for session in range(10):
        more, total = list(sizes.items())[session % len(sizes)]
        names = [f"skill{number:03}" for number in range(count + more)]
        each = total // len(names)
        uses[session] = [
            use(name=it, path=f"/home/me/.agents/skills/{it}/SKILL.md", bytes=each) for it in names
        ]
    window = window_of({it: [[]] for it in range(10)}, uses)
    return list(IdleRent(sessions=5).find(window))


def test_where_a_list_is_full_it_is_about_room_and_no_saving_is_told() -> None:
    (finding,) = long_lists({0: 21_000, 10: 20_000})
    assert finding.claim.startswith("Switch off 70 of 70 skills")
    assert "60 skills take 21,000 bytes" in finding.because[0]
    assert {it.tokens for it in finding.occurrences} == {None}


def test_of_a_long_list_that_may_have_been_cut_nothing_is_said() -> None:
    assert long_lists({0: 21_000, 10: 24_500}) == []
    assert long_lists({0: 21_000}) == []


def test_a_short_list_costs_what_it_costs() -> None:
    (finding,) = long_lists({0: 6_000})
    assert sum(it.tokens or 0 for it in finding.occurrences) == 10 * 60 * 4_000


TOLD = {it: [use()] for it in range(10)}


@pytest.mark.parametrize("path", ["docs/roles.md", "/home/me/team/roles.md"])
@pytest.mark.parametrize(
    ("text", "wanted"),
    [("| reviewer | `roster` |", True), ("use the roster skill", True), ("a roster", False)],
)
def test_what_a_file_names_that_was_read_is_meant_to_be_used(
    path: str, text: str, wanted: bool
) -> None:
    story = [[read(path)]]
    window = window_of(dict.fromkeys(range(10), story), TOLD)
    call = seq_of(story, 0, 0)
    window.told(9).append(Told(call + 1, Teller.PROGRAM, "", call, text))
    assert (list(IdleRent().find(window)) == []) is wanted


def test_what_a_skill_says_of_itself_is_no_intention() -> None:
    story = [[read("/home/me/.agents/skills/roster/SKILL.md")]]
    window = window_of(dict.fromkeys(range(10), story), TOLD)
    call = seq_of(story, 0, 0)
    window.told(9).append(Told(call + 1, Teller.FILE, "", call, "# The roster skill"))
    assert len(list(IdleRent().find(window))) == 1


@pytest.mark.parametrize(
    ("agent", "reach"),
    [("claude_code", "Switch off for this project"), ("codex", "Switch off for all your projects")],
)
def test_it_says_what_the_setting_reaches_and_what_it_rests_on(agent: str, reach: str) -> None:
    window = window_of({it: [[]] for it in range(10)}, TOLD)
    sessions = {it: told._replace(agent=agent) for it, told in window.sessions.items()}
    (finding,) = IdleRent().find(replace(window, sessions=sessions))
    assert finding.change.text.startswith(reach)
    assert ("another project" in finding.disproof) is (agent == "codex")
    assert "10 sessions (10 of people) on 10 days" in finding.because[0]
