"""The watcher's loop, with a clock and events of its own."""

from __future__ import annotations

import errno
from collections.abc import Callable, Collection
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hansei.errors import NewerStore, StoreLocked, StoreUnwritable
from hansei.ops.watch import Folder, Look, Stopped, database_of, is_below
from watch_world import AGENT, ROOT, world


def names(look: Look) -> list[str]:
    return sorted(transcript.path.name for transcript in look.named)


def test_what_was_written_before_is_taken_in_first() -> None:
    here = world("a", "b")
    here.run(1)
    assert here.rounds[0][1] == Look(everything=True)
    assert here.unread() == set()
    assert here.told[0].read == 2


def test_an_event_reads_the_one_transcript_it_names() -> None:
    here = world("a", "b", "c")
    here.at(10, lambda: here.write("b"))
    here.run(20)
    ((at, look),) = here.later()
    assert at == 10
    assert names(look) == ["b"]
    assert not look.agents
    assert not look.everything


def test_a_streaming_session_is_read_in_pieces() -> None:
    here = world("a")
    for tenth in range(100):
        here.at(10 + tenth / 10, lambda: here.write("a"))
    here.run(30)
    assert 10 <= len(here.later()) <= 21
    assert here.unread() == set()


def test_slow_rounds_rest_longer() -> None:
    here = world("a", reading=0.09)
    for tenth in range(100):
        here.at(10 + tenth / 10, lambda: here.write("a"))
    here.run(30)
    assert len(here.later()) <= 7


def test_a_long_catch_up_does_not_delay_the_next_line() -> None:
    here = world("a", reading=120.0)
    here.at(121, lambda: here.write("a"))
    here.run(124)
    assert names(here.later()[0][1]) == ["a"]


def test_a_new_file_makes_its_agent_be_looked_through() -> None:
    here = world("a")
    here.at(10, lambda: here.write("new"))
    here.run(20)
    assert here.later() == [(10, Look(agents=frozenset([AGENT])))]
    assert here.unread() == set()


def test_the_second_event_of_a_new_file_reads_it_alone() -> None:
    here = world("a")
    here.at(10, lambda: here.write("new"))
    here.at(12, lambda: here.write("new"))
    here.run(20)
    assert names(here.later()[1][1]) == ["new"]


def test_a_log_that_never_concerns_us_is_asked_after_less_and_less() -> None:
    here = world("a")
    for second in range(5, 250):
        here.at(second, lambda: {f"{ROOT}/debug.log"})
    here.run(250)
    assert 2 <= len(here.later()) <= 9


def test_a_new_transcript_is_seen_at_once_beside_a_noisy_log() -> None:
    here = world("a")
    for second in range(5, 100):
        here.at(second, lambda: {f"{ROOT}/debug.log"})
    here.at(80.5, lambda: here.write("new"))
    here.run(82)
    assert here.unread() == set()


def test_events_of_a_folder_nobody_owns_mean_nothing() -> None:
    here = world("a")
    here.at(10, lambda: {"/elsewhere/b"})
    here.run(20)
    assert here.later() == []


@pytest.mark.parametrize("suffix", ["-wal", "-shm", "-journal"])
def test_the_journal_of_a_database_tells_of_the_database(suffix: str) -> None:
    here = world("state.db", "other")
    here.at(10, lambda: here.write("state.db", heard={f"{ROOT}/state.db{suffix}"}))
    here.run(20)
    ((_, look),) = here.later()
    assert names(look) == ["state.db"]
    assert here.unread() == set()


def test_a_transcript_that_was_packed_is_found_again() -> None:
    here = world("one.jsonl", "two.jsonl")

    def pack() -> Collection[str]:
        gone = here.remove("one.jsonl")
        here.write("one.jsonl.zst")
        return gone

    here.at(10, pack)
    here.run(20)
    assert here.unread() == set()
    assert f"{ROOT}/one.jsonl" not in here.read
    assert [told.missing for told in here.told[1:]] == [1]


def test_what_no_event_told_of_is_found_within_minutes() -> None:
    here = world("a")
    here.at(10, lambda: here.write("a", heard=()))
    here.run(320)
    ((at, look),) = here.later()
    assert 300 <= at <= 303
    assert look.everything
    assert here.unread() == set()


def test_lost_events_make_everything_be_followed_and_looked_at_anew() -> None:
    here = world("a")

    def lost() -> None:
        here.write("a")

    here.at(10, lost)
    here.run(20)
    assert len(here.followed) == 2
    assert [look for _, look in here.later()] == [Look(everything=True)]
    assert here.unread() == set()


def test_a_folder_that_appears_is_followed_and_looked_at() -> None:
    here = world("a", there={})
    here.run(10)
    here.at(11, lambda: here.mount(1))
    here.run(10)
    assert here.followed[-1] == [ROOT]
    assert here.rounds[-1][1].everything


def test_a_folder_that_becomes_another_one_is_followed_anew() -> None:
    """Unmounted and mounted, or deleted and made again: the path is the same."""
    here = world("a")
    here.at(10, lambda: here.mount(2))
    here.run(20)
    assert here.followed == [[ROOT], [ROOT]]
    assert here.later()[0][1].everything


def test_an_unmounted_folder_ends_nothing() -> None:
    here = world("a")

    def unmount() -> Collection[str]:
        here.there.clear()
        here.files.clear()
        return ()

    def mount() -> Collection[str] | None:
        here.there[ROOT] = Folder(AGENT, (2, 2))
        return here.write("a", heard=())

    here.at(10, unmount)
    here.at(60, mount)
    here.run(70)
    assert here.unread() == set()
    assert here.followed == [[ROOT], [], [ROOT]]


def test_where_events_do_not_suffice_the_agent_is_looked_through_again_and_again() -> None:
    here = world("a", short={ROOT: "nfs4 keeps quiet"})
    here.at(10, lambda: here.write("a", heard=()))
    here.run(13)
    assert here.unread() == set()
    assert here.notes == [f"{ROOT} is looked through at intervals: nfs4 keeps quiet"]


def test_a_transcript_outside_the_folders_is_looked_at_every_tick() -> None:
    here = world("a")
    here.files["/elsewhere/history"] = 1

    def grow() -> Collection[str]:
        here.files["/elsewhere/history"] = 2
        return ()

    here.at(10, grow)
    here.run(13)
    ((_, look),) = here.later()
    assert names(look) == ["history"]
    assert here.unread() == set()


def test_what_hooks_wrote_starts_a_round() -> None:
    spool = Path("/store/spool")
    here = world("a", there={ROOT: Folder(AGENT, (1, 1)), spool: Folder("", (1, 2))})
    here.at(10, lambda: {f"{spool}/hooks.jsonl"})
    here.run(20)
    assert here.later() == [(10, Look())]


def test_a_failure_is_told_and_tried_again_with_longer_and_longer_rests() -> None:
    here = world("a")
    full = [StoreUnwritable("no room left", hint="Free some."), OSError(errno.EIO, "bad disk")]
    here.at(10, lambda: here.fail(*full))
    here.at(10, lambda: here.write("a"))
    here.run(30)
    assert [at for at, _ in here.later()] == [10, 12, 16]
    problems = [(told.problem, told.again_in_seconds) for told in here.told if told.problem]
    assert problems == [("no room left", 2.0), ("[Errno 5] bad disk", 4.0)]
    assert here.told[1].hint == "Free some."
    assert here.unread() == set()


def test_backing_off_has_an_end() -> None:
    here = world("a", problems=[StoreUnwritable("no room left") for _ in range(50)])
    here.run(3600)
    waits = [told.again_in_seconds for told in here.told if told.again_in_seconds]
    assert max(waits) == 300
    assert len(waits) >= 15


def test_a_store_in_use_is_tried_again_without_a_word() -> None:
    here = world("a")
    here.at(10, lambda: here.fail(*[StoreLocked("in use")] * 3))
    here.at(10, lambda: here.write("a"))
    here.run(20)
    assert [at for at, _ in here.later()] == [10, 11, 12, 13]
    assert not [told for told in here.told if told.problem]
    assert here.unread() == set()


def test_a_store_of_a_later_hansei_ends_the_watch() -> None:
    here = world("a", problems=[NewerStore("written by a later hansei")])
    with pytest.raises(NewerStore):
        here.run(10)


def test_a_round_that_was_told_to_stop_is_no_failure() -> None:
    here = world("a", problems=[Stopped()])
    here.run(0.0005)
    assert here.told == []


def test_a_transcript_that_cannot_be_read_is_told_of_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    here = world("a")
    take_in = here.take_in

    def refused(look: Look):  # type: ignore[no-untyped-def]
        taken = take_in(look)
        taken.report.read = 0
        taken.report.unreadable.append((f"{ROOT}/a", "no permission"))
        return taken

    monkeypatch.setattr(here, "take_in", refused)
    here.run(1000)
    assert len(here.rounds) >= 4
    assert [told.unreadable for told in here.told] == [((f"{ROOT}/a", "no permission"),)]


def test_rounds_without_news_are_not_told() -> None:
    here = world("a")
    here.run(2000)
    assert len(here.rounds) >= 6
    assert len(here.told) == 1


def test_waking_after_a_day_of_sleep_looks_at_everything_once() -> None:
    here = world("a")
    here.at(10, lambda: here.sleep(86_400))
    here.run(86_430)
    assert [look for _, look in here.later()] == [Look(everything=True)]


def test_a_quiet_watcher_starts_anew_to_free_memory() -> None:
    here = world("a", heavy=True)
    here.at(30, lambda: here.write("a"))
    assert here.run(500) == "grown"
    assert 90 <= here.time - 1000 <= 93


def test_a_light_watcher_goes_on() -> None:
    assert world("a").run(500) == "stopped"


@settings(max_examples=25)
@given(looking=st.floats(0.001, 30), polled=st.booleans(), strays=st.booleans())
def test_looking_without_being_asked_takes_half_a_percent_at_most(
    looking: float, polled: bool, strays: bool
) -> None:
    here = world("a", looking=looking, short={ROOT: "slow"} if polled else {})
    if strays:
        here.files["/elsewhere/history"] = 1
    here.run(20_000)
    beyond_the_first = here.looked_seconds - looking
    assert beyond_the_first <= 20_000 * 0.005 + looking


@given(st.data())
def test_nothing_that_was_written_is_ever_left_unread(data: st.DataObject) -> None:
    """Whatever comes in whatever order, with failures, locks and lost events in between."""
    here = world("a", "b", "state.db", late=data.draw(st.floats(0, 3)))
    mishaps = (StoreLocked("in use"), StoreUnwritable("no room left"), OSError(errno.EIO, "bad"))

    def lost() -> None:
        here.write("b")

    happenings: dict[str, Callable[[], Collection[str] | None]] = {
        "write": lambda: here.write(data.draw(st.sampled_from("abcde"))),
        "database": lambda: here.write("state.db", heard={f"{ROOT}/state.db-wal"}),
        "unheard": lambda: here.write("a", heard=()),
        "lost": lost,
        "noise": lambda: {f"{ROOT}/debug.log", f"{ROOT}/x.tmp"},
        "mishap": lambda: here.fail(data.draw(st.sampled_from(mishaps))),
        "remount": lambda: here.mount(len(here.rounds)),
    }
    kinds = st.tuples(st.floats(0, 60), st.sampled_from(sorted(happenings)))
    for at, kind in data.draw(st.lists(kinds, max_size=30)):
        here.at(at, happenings[kind])
    here.run(60)
    here.run(1000)
    assert here.unread() == set()


@given(st.data())
def test_whatever_events_told_of_is_read_within_seconds(data: st.DataObject) -> None:
    here = world("a", "b", "state.db")
    happenings: dict[str, Callable[[], Collection[str] | None]] = {
        "write": lambda: here.write(data.draw(st.sampled_from("abcde"))),
        "database": lambda: here.write("state.db", heard={f"{ROOT}/state.db-wal"}),
        "noise": lambda: {f"{ROOT}/debug.log", f"{ROOT}/x.tmp"},
        "locked": lambda: here.fail(StoreLocked("in use")),
        "removed": lambda: here.remove("b") if f"{ROOT}/b" in here.files else (),
    }
    kinds = st.tuples(st.floats(5, 60), st.sampled_from(sorted(happenings)))
    planned = data.draw(st.lists(kinds, min_size=1, max_size=20))
    for at, kind in planned:
        here.at(at, happenings[kind])
    here.run(60 + len(planned))  # each lock costs a second
    here.run(2)
    assert here.unread() == set()
    assert set(here.read) == set(here.files)


def test_paths_are_below_folders_and_not_below_their_namesakes() -> None:
    assert is_below("/a/b/c", "/a/b")
    assert is_below("/a/b", "/a/b")
    assert is_below("/a", "/")
    assert not is_below("/a/bc", "/a/b")
    assert database_of("/a/wal") == "/a/wal"
