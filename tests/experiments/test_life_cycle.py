"""`hansei exp`: what can be done with an experiment, in which order, and what comes of it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast
from xml.etree import ElementTree as ET

import pytest

from experiment_desk import LINE, TARGET, Office
from git_world import DAY, HOUR
from hansei.config import Config, Environment, Settings
from hansei.errors import NotFound, StoreUnwritable, UsageError
from hansei.experiments.binding.days import arm_of_day
from hansei.experiments.placing import Arm
from hansei.ops.live import Live
from hansei.ops.watch import Look
from hansei.projection.facts import folds
from hansei.store import bets, experiments
from hansei.store.experiments import Role

GIT = ("exp", "new", "--bind", "git", "--hypothesis", "splitting auth.py takes fewer tokens")
COIN = ("exp", "new", "--bind", "exposure", "--text", LINE, "--hypothesis", "it helps")
TRIED = (*COIN, "--metric", TARGET)


def exposed(office: Office) -> list[str]:
    file = office.store_folder / "exposure.json"
    return [it["id"] for it in json.loads(file.read_text())["items"]] if file.exists() else []


# --- forward, never back --------------------------------------------------------------------------


def test_it_goes_from_draft_to_archive_and_never_back(office: Office) -> None:
    drafted = office.told(*GIT, "--draft")
    name = drafted["id"][:4]
    assert drafted["stage"] == "draft"
    for wrong in (("conclude", name), ("archive", name)):
        with pytest.raises(UsageError, match="is draft"):
            office.type("exp", *wrong)
    assert office.told("exp", "start", name)["stage"] == "running"
    for wrong in (("start", name), ("archive", name)):
        with pytest.raises(UsageError, match="is running"):
            office.type("exp", *wrong)
    office.type("exp", "conclude", name)
    for wrong in (("start", name), ("conclude", name)):
        with pytest.raises(UsageError, match="is concluded"):
            office.type("exp", *wrong)
    office.type("exp", "archive", name)
    with pytest.raises(UsageError, match="is archived"):
        office.type("exp", "archive", name)
    assert office.told("exp", "list")["experiments"] == []
    (kept,) = office.told("exp", "list", "--all")["experiments"]
    assert kept["stage"] == "archived"
    assert office.report(name)["stage"] == "concluded"


def test_a_hypothesis_is_enough(office: Office) -> None:
    office.days(3)
    begun = office.told(*GIT)
    head = office.repo.git("rev-parse", "HEAD")
    assert (begun["stage"], begun["fact"], begun["terms"]["pin"]) == ("running", "tokens", head)
    office.repo.now = office.clock
    office.repo.commit("split", {"auth.py": "x = 1\n"})
    office.clock += 2 * HOUR
    office.days(3)
    found = office.report()
    assert found["id"] == begun["id"]
    counts = found["verdict"]
    assert (counts["control"]["sessions"], counts["treatment"]["sessions"]) == (6, 6)
    assert found["headline"] == "inconclusive"


def test_a_commit_of_the_past_divides_what_is_there(office: Office) -> None:
    office.days(4)
    office.repo.now = office.clock
    change = office.repo.commit("rule", {"CLAUDE.md": f"# Rules\n\n- tests first\n- {LINE}\n"})
    office.clock += 2 * HOUR
    office.days(3)
    office.told(*GIT, "--change", change[:8], "--metric", TARGET)
    found = office.report()["verdict"]
    assert (found["control"]["sessions"], found["treatment"]["sessions"]) == (8, 6)


def test_without_a_name_the_running_one_is_meant_and_two_are_told_apart(office: Office) -> None:
    with pytest.raises(NotFound, match="no experiment is running"):
        office.type("exp", "report")
    one = office.told(*GIT)
    assert office.report()["id"] == one["id"]
    other = office.told(*COIN)
    with pytest.raises(UsageError, match="2 experiments are running"):
        office.type("exp", "report")
    assert office.report(other["id"][:6])["id"] == other["id"]
    with pytest.raises(NotFound, match="there is no experiment"):
        office.type("exp", "report", "zzzz")


def test_what_is_concluded_stays_as_it_was(office: Office) -> None:
    begun = office.told(*TRIED)
    office.days(3, hooked=True)
    office.type("exp", "conclude")
    before = office.report(begun["id"])
    office.days(3, hooked=True)
    office.type("ingest")
    assert office.report(begun["id"]) == before
    assert office.report(begun["id"], "--resamples", "500") == before
    with office.open() as store:
        sample = experiments.members(store, begun["id"], Role.SAMPLE)
    assert len(sample) == 6
    with pytest.raises(UsageError, match="frozen"):
        office.type("exp", "tag", "control", "00000001", "--exp", begun["id"])


def test_a_store_that_cannot_be_written_begins_nothing(office: Office) -> None:
    office.type("ingest")
    from hansei.ops import apply

    def refuse(_: object) -> None:
        raise StoreUnwritable("read-only")

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(apply, "must_be_writable", refuse)
        with pytest.raises(StoreUnwritable):
            office.type(*GIT)
    assert office.told("exp", "list")["experiments"] == []


# --- the coin -------------------------------------------------------------------------------------


def test_both_arms_are_recorded_and_read_back(office: Office) -> None:
    begun = office.told(*TRIED)
    office.days(5, hooked=True)
    found = office.report()
    counts = found["verdict"]
    total = counts["control"]["sessions"] + counts["treatment"]["sessions"]
    assert total == 10
    assert min(counts["control"]["sessions"], counts["treatment"]["sessions"]) > 0
    (item,) = json.loads((office.store_folder / "exposure.json").read_text())["items"]
    assert (item["id"], item["workspaces"]) == (begun["id"], [str(office.place)])
    assert item["text"].startswith("<!-- hansei -->")


def test_a_session_that_no_hook_saw_is_left_out_and_counted(office: Office) -> None:
    office.told(*TRIED)
    office.days(2, hooked=True)
    office.days(1, hooked=False)
    assert office.report()["left_out"] == {"no hook saw it begin": 2}


def test_a_delivery_that_the_transcript_does_not_show_is_left_out(office: Office) -> None:
    office.told(*TRIED)
    office.days(4, hooked=True)
    for file in (office.home / ".claude").rglob("*.jsonl"):
        kept = [it for it in file.read_text().splitlines() if "hook_additional" not in it]
        file.write_text("\n".join(kept) + "\n")
    found = office.report()
    assert found["verdict"]["treatment"]["sessions"] == 0
    assert found["left_out"]["the transcript does not show what was delivered"] > 0


def test_a_text_that_every_session_has_cannot_be_tried(office: Office) -> None:
    (office.place / "CLAUDE.md").write_text(f"- {LINE}\n")
    with pytest.raises(UsageError, match=r"CLAUDE\.md holds this text already"):
        office.type(*COIN)


def test_an_applied_bet_cannot_be_tried_by_a_coin(office: Office) -> None:
    office.days(14)
    office.type("retro", "-n", "0")
    office.type("apply", "1", "--yes")
    bet = office.told("exp", "list")["experiments"][0]["bet"]
    with pytest.raises(UsageError, match="every session has it"):
        office.type("exp", "new", "--bind", "exposure", "--bet", bet)


def test_two_experiments_on_one_text_are_refused(office: Office) -> None:
    first = office.told(*COIN)
    with pytest.raises(UsageError, match="is running on the same text"):
        office.type(*COIN)
    office.type("exp", "delete", first["id"], "--yes")
    assert exposed(office) == []
    second = office.told(*COIN)
    assert exposed(office) == [second["id"]]


def test_what_other_stores_deliver_stays(office: Office) -> None:
    other = {"id": "x", "text": "<!-- hansei -->\nhi", "salt": "s", "share": 0.5, "workspaces": []}
    file = office.store_folder / "exposure.json"
    file.write_text(json.dumps({"v": 1, "items": [other]}))
    begun = office.told(*COIN)
    assert exposed(office) == ["x", begun["id"]]
    office.type("exp", "conclude")
    assert exposed(office) == ["x"]


ADDED = ("skills", "add", "types-first", "--description", "Check types.", "--body", LINE)


def test_a_skill_is_tried_by_its_text_and_not_while_its_folder_is_there(office: Office) -> None:
    office.type(*ADDED)
    wish = ("exp", "new", "--bind", "exposure", "--skill", "types-first")
    with pytest.raises(UsageError, match="load it on demand"):
        office.type(*wish)
    office.type("skills", "undo")
    office.type(*ADDED, "--no-place")
    assert LINE in office.told(*wish)["terms"]["text"]


def test_a_skill_that_is_out_of_use_is_given_to_nobody(office: Office) -> None:
    office.type(*ADDED, "--no-place")
    office.type("skills", "retire", "types-first")
    with pytest.raises(UsageError, match="is retired"):
        office.type("exp", "new", "--bind", "exposure", "--skill", "types-first")


def test_a_tag_wins_over_the_coin_and_then_no_coin_decided(office: Office) -> None:
    office.told(*TRIED)
    office.days(3, hooked=True)
    first = office.report()
    assert first["randomised"]
    name = "00000001"
    for arm in ("treatment", "control"):
        office.type("exp", "tag", arm, name)
        found = office.report()
        if not found["randomised"]:
            assert "not randomised" in " ".join(found["notes"])
            break
    else:
        pytest.fail("one of the two tags is against the coin")
    office.type("exp", "tag", "none", name)
    again = office.report()
    assert (again["randomised"], again["verdict"]) == (True, first["verdict"])


def test_only_a_coin_may_undo_by_itself(office: Office) -> None:
    with pytest.raises(UsageError, match="only an experiment with a coin"):
        office.type(*GIT, "--auto")


def test_a_coin_that_finds_harm_ends_its_bet(office: Office) -> None:
    office.days(14)
    office.type("retro", "-n", "0")
    begun = office.told("exp", "new", "--bind", "exposure", "--bet", "1")
    office.days(10, a_day=8, hooked=True, told=0.9, untold=0.1)
    done = office.told("exp", "conclude")
    assert (done["headline"], done["kept"]) == ("harmed", None)
    assert exposed(office) == []
    with office.open() as store:
        kept = bets.named(store, begun["bet"])
    assert kept is not None
    assert kept.state == "reverted"


# --- days -----------------------------------------------------------------------------------------


def test_a_block_is_switched_by_days_and_taken_out_at_the_end(office: Office) -> None:
    before = (office.place / "CLAUDE.md").read_bytes()
    begun = office.told(
        *("exp", "new", "--bind", "days", "--text", LINE, "--hypothesis", "it helps"),
        *("--metric", TARGET, "--to", "CLAUDE.md", "--yes"),
    )
    arms = []
    for _ in range(8):
        planned = arm_of_day("fixed salt", office.clock // DAY, 0.5)
        (switched,) = office.told("exp", "switch")["switched"]
        assert switched["arm"] == planned
        held = "make types" in (office.place / "CLAUDE.md").read_text()
        assert held == (planned is Arm.TREATMENT)
        arms.append(planned)
        office.clock += HOUR
        office.days(1)
    assert {*arms} == {*Arm}
    found = office.report()
    whole = found["verdict"]["control"]["sessions"] + found["verdict"]["treatment"]["sessions"]
    assert whole == 16, found["left_out"]
    office.type("exp", "conclude", begun["id"], "--no-keep")
    assert (office.place / "CLAUDE.md").read_bytes() == before


def test_taking_in_and_watching_switch_it_too(office: Office) -> None:
    office.told(
        *("exp", "new", "--bind", "days", "--text", LINE, "--hypothesis", "it helps"),
        *("--to", "CLAUDE.md", "--yes"),
    )
    config = Config(office.store_folder, Settings(), Environment(office.home, {}))
    nothing = cast(Any, None)
    warned: list[str] = []
    live = Live(config, nothing, lambda: office.clock, lambda: False, lambda _: None, warned.append)
    seen = set()
    for day in range(12):
        office.clock += DAY
        if day % 2:
            office.type("ingest")
        else:
            live.take_in(Look(everything=True))
        planned = arm_of_day("fixed salt", office.clock // DAY, 0.5)
        held = "make types" in (office.place / "CLAUDE.md").read_text()
        assert held == (planned is Arm.TREATMENT)
        seen.add((day % 2, planned))
    assert len(seen) == 4
    assert warned == []


def test_a_line_that_was_edited_by_hand_is_left_alone(office: Office) -> None:
    office.told(
        *("exp", "new", "--bind", "days", "--text", LINE, "--hypothesis", "it helps"),
        *("--to", "CLAUDE.md", "--yes"),
    )
    while arm_of_day("fixed salt", office.clock // DAY, 0.5) is Arm.CONTROL:
        office.clock += DAY
    office.type("exp", "switch")
    file = office.place / "CLAUDE.md"
    file.write_text(file.read_text().replace("make types", "make my-types"))
    edited = file.read_text()
    while arm_of_day("fixed salt", office.clock // DAY, 0.5) is Arm.TREATMENT:
        office.clock += DAY
    office.type("exp", "switch")
    assert "edited by hand" in office.said
    assert file.read_text() == edited


def test_a_day_on_which_nobody_switched_counts_for_nothing(office: Office) -> None:
    office.told(
        *("exp", "new", "--bind", "days", "--text", LINE, "--hypothesis", "it helps"),
        *("--metric", TARGET, "--to", "CLAUDE.md", "--yes"),
    )
    first = arm_of_day("fixed salt", office.clock // DAY, 0.5)
    while arm_of_day("fixed salt", office.clock // DAY, 0.5) is first:
        office.clock += DAY
    office.days(1)
    office.clock += DAY
    # Tending comes with the report, after the session: that day was out of step.
    assert office.report()["left_out"] == {"the file did not read as it should have on that day": 2}


# --- what was applied -----------------------------------------------------------------------------


def test_what_was_applied_and_taken_back_is_concluded_by_itself(office: Office) -> None:
    office.days(14)
    office.type("retro", "-n", "0")
    office.type("apply", "1", "--yes")
    office.days(2)
    assert office.report()["verdict"]["treatment"]["sessions"] == 4
    office.type("undo", "--yes")
    office.days(2)
    office.type("exp", "status")
    (it,) = office.told("exp", "list")["experiments"]
    assert it["stage"] == "concluded"
    found = office.report(it["id"])
    assert found["verdict"]["treatment"]["sessions"] == 4
    assert found["left_out"]["it began after the experiment"] == 4


def test_deleting_an_adopted_one_does_not_bring_it_back(office: Office) -> None:
    office.days(14)
    office.type("retro", "-n", "0")
    office.type("apply", "1", "--yes")
    (it,) = office.told("exp", "list")["experiments"]
    assert office.told("exp", "delete", it["id"], "--yes")["experiment"] == it["id"]
    office.type("ingest")
    assert office.told("exp", "list")["experiments"] == []


# --- screens --------------------------------------------------------------------------------------


def test_screens_read_as_the_golden_files_say(
    office: Office, golden: Callable[[str, str], None]
) -> None:
    golden("exp-list-empty.txt", office.type("exp", "list"))
    office.days(14)
    office.type("retro", "-n", "0")
    golden("exp-power.txt", office.type("exp", "power", "--bet", "1", "--after", "5"))
    golden("exp-new.txt", office.type("exp", "new", "--bind", "exposure", "--bet", "1"))
    office.days(3, a_day=4, hooked=True)
    golden("exp-report-early.txt", office.type("exp", "report"))
    golden("exp-status.txt", office.type("exp", "status"))
    office.days(9, a_day=8, hooked=True)
    golden("exp-report.txt", office.type("exp", "report"))
    golden("exp-report.md", office.type("exp", "report", "--markdown"))
    golden("exp-conclude.txt", office.type("exp", "conclude", "--keep"))
    golden("exp-list.txt", office.type("exp", "list"))


def test_the_page_is_whole_in_itself_for_light_and_dark(office: Office, tmp_path: Path) -> None:
    office.told(*TRIED[:-4], "--hypothesis", "<script>alert(1)</script> & so", "--metric", TARGET)
    office.days(4, hooked=True)
    page = office.type("exp", "report", "--html")
    assert "prefers-color-scheme: dark" in page
    assert "<script" not in page
    assert "src=" not in page
    assert "href=" not in page
    pictures = page.split("<svg")[1:]
    assert len(pictures) == 2 * 3  # for wide and for narrow pages
    for picture in pictures:
        ET.fromstring("<svg" + picture.partition("</svg>")[0] + "</svg>")


@pytest.mark.parametrize(
    ("hypothesis", "heading"),
    [
        ("`make types` is better", "<code>make types</code> is better</h1>"),
        ("use `a` & `b`", "<h1>use <code>a</code> &amp; <code>b</code>"),
        ("one ` alone", "<h1>one ` alone</h1>"),
    ],
)
def test_what_stands_between_backticks_is_code_on_the_page(
    office: Office, hypothesis: str, heading: str
) -> None:
    office.type(*GIT[:-1], hypothesis)
    assert heading in office.type("exp", "report", "--html")


@pytest.mark.parametrize(
    ("arguments", "schema"),
    [
        (("exp", "list"), "hansei.experiments/1"),
        (("exp", "status"), "hansei.experiment_status/1"),
        (("exp", "report"), "hansei.experiment_report/1"),
        (("exp", "power", "--before", "50", "--sessions", "40"), "hansei.power/1"),
        (("exp", "switch"), "hansei.switch/1"),
    ],
)
def test_every_answer_for_programs_names_its_shape(
    office: Office, arguments: tuple[str, ...], schema: str
) -> None:
    assert office.told(*COIN)["schema"] == "hansei.experiment/1"
    assert office.told(*arguments)["schema"] == schema


def test_deleting_for_a_program_has_nobody_to_ask(office: Office) -> None:
    it = office.told(*GIT)
    with pytest.raises(UsageError, match="cannot ask"):
        office.told("exp", "delete", it["id"])
    assert office.told("exp", "list")["experiments"]


# --- what is counted ------------------------------------------------------------------------------


def signatures(office: Office) -> list[str]:
    office.type("retro")
    with office.open() as store:
        found = folds.FAILURES.read(store, "1", ())
        return sorted({row.signature for _, row in found})


def test_a_failure_that_says_what_is_missing_is_counted_by_that(office: Office) -> None:
    office.days(3, untold=1.0)
    (signature,) = signatures(office)
    it = office.told(*COIN, "--metric", f"failures:{signature}")
    assert f"{it['fact']}:{it['subject']}" == TARGET
    assert f"known by what is missing: --metric {TARGET}" in office.said


def test_a_failure_that_nobody_has_seen_yet_stays_what_was_asked_for(office: Office) -> None:
    office.days(1)
    it = office.told(*COIN, "--metric", "failures:make: the disk is full")
    assert (it["fact"], it["subject"]) == ("failures", "make: the disk is full")
    assert "known by" not in office.said


# --- what apply foretells -------------------------------------------------------------------------


def applied(office: Office) -> str:
    office.type("retro", "-n", "0")
    return " ".join(office.type("apply", "1", "--yes").split())


def test_apply_says_where_there_is_too_little_to_compare_with(office: Office) -> None:
    office.days(42)
    assert "there are too few weeks to compare with" in applied(office)


def test_apply_foretells_by_the_rule_that_its_experiment_is_judged_by(office: Office) -> None:
    office.days(120, a_day=1, untold=1.0)
    assert "the chance to know it is even after" in applied(office)


def test_apply_says_what_half_a_year_would_not_tell(office: Office) -> None:
    office.days(75, untold=0.2)
    assert "hardly be told from chance within half a year" in applied(office)
