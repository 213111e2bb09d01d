"""The skillbook's verbs on a temporary home: books, places, undo, strangers' books."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from conftest import NOW
from fake_secrets import fakes
from hansei.config import Config, Environment, Settings
from hansei.errors import NotFound, UnusableInstructions, UnusableSkill, UsageError
from hansei.learn.model import Evidence, Label, Scope, Skill, State
from hansei.learn.validation import spec_problems
from hansei.ops import skill_exchange, skill_places, skills
from hansei.ops.skills import Desk, Done
from hansei.store.database import open_store

PLAIN = Skill("run-types", "Type checks.", "Run `make types`.", section="Testing")
PLACES = (".agents/skills/run-types/SKILL.md", ".claude/skills/run-types/SKILL.md")


def git(folder: Path, *arguments: str) -> str:
    done = subprocess.run(
        ["git", "-c", "user.name=Ana", "-c", "user.email=a@b.c", *arguments],
        cwd=folder,
        check=True,
        capture_output=True,
        text=True,
    )
    return done.stdout


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    here = tmp_path / "app"
    here.mkdir()
    git(here, "init", "-q")
    git(here, "config", "user.name", "Ana")
    git(here, "commit", "-q", "--allow-empty", "-m", "first")
    home = tmp_path / "home"
    home.mkdir()
    config = Config(home / ".hansei", Settings(), Environment(home, {}))
    store = open_store(config.store, now=NOW)
    yield Desk(store, config, here, NOW)
    store.close()


def later(desk: Desk, by: int = 1000) -> Desk:
    return replace(desk, now=desk.now + by)


def tree(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and ".git/" not in str(path)
    }


def book_files(desk: Desk) -> dict[str, bytes]:
    found = tree(desk.config.store / "skills")
    return {path: data for path, data in found.items() if path.endswith(".md")}


# --- places ---------------------------------------------------------------------------------------


def test_a_new_skill_is_there_for_the_next_session(desk: Desk) -> None:
    done = skills.add(desk, PLAIN)
    assert sorted(tree(desk.here)) == sorted(PLACES)
    for path in PLACES:
        assert spec_problems("run-types", (desk.here / path).read_text()) == []
    assert done.skills[0].owner == "Ana"


def test_undoing_takes_back_the_book_and_the_places(desk: Desk) -> None:
    skills.add(desk, PLAIN)
    states = [(tree(desk.here), book_files(desk))]
    acts: list[Callable[[Desk], Done]] = [
        lambda it: skills.change_state(it, "run-types", State.APPROVED),
        lambda it: skills.vote(it, "run-types", helpful=True),
        lambda it: skills.update(it, "run-types", body="Run `make all`."),
        lambda it: skills.change_state(it, "run-types", State.RETIRED, reason="old"),
    ]
    for number, act in enumerate(acts, 1):
        act(later(desk, number))
        states.append((tree(desk.here), book_files(desk)))
    assert states[-1][0] == {}
    while states:
        assert (tree(desk.here), book_files(desk)) == states.pop()
        skills.undo(desk, skills.undoing(desk, None))
    assert tree(desk.here) == {}
    assert book_files(desk) == {}


@pytest.mark.parametrize("state", [State.RETIRED, State.REJECTED])
def test_a_skill_that_is_not_live_is_taken_out(desk: Desk, state: State) -> None:
    skills.add(desk, PLAIN)
    skills.change_state(later(desk), "run-types", state)
    assert tree(desk.here) == {}
    assert not (desk.here / ".claude").exists()


def test_what_a_person_edited_in_a_placed_file_is_never_overwritten(desk: Desk) -> None:
    skills.add(desk, PLAIN)
    mine, other = (desk.here / path for path in PLACES)
    mine.write_text(mine.read_text() + "And mine.\n")
    done = skills.update(later(desk), "run-types", body="Run `make all`.")
    assert "And mine." in mine.read_text()
    assert "make all" not in mine.read_text()
    assert "make all" in other.read_text()
    assert "by hand" in done.placed[0].notes[0].message
    skills.change_state(later(desk, 2), "run-types", State.RETIRED)
    assert "And mine." in mine.read_text()
    assert not other.exists()


def test_what_a_person_deleted_is_put_back_only_if_they_ask(desk: Desk) -> None:
    skills.add(desk, PLAIN)
    (desk.here / PLACES[0]).unlink()
    skills.update(later(desk), "run-types", body="Run `make all`.")
    assert sorted(tree(desk.here)) == [PLACES[1]]
    _, skill = skills.find(desk.config, desk.here, "run-types")
    skills.place(later(desk, 2), skill, again=True)
    assert sorted(tree(desk.here)) == sorted(PLACES)


def test_a_skill_of_somebody_else_is_not_overwritten_and_nothing_is_kept(desk: Desk) -> None:
    file = desk.here / PLACES[1]
    file.parent.mkdir(parents=True)
    file.write_text("theirs")
    with pytest.raises(UnusableInstructions, match="did not write"):
        skills.add(desk, PLAIN)
    assert tree(desk.here) == {PLACES[1]: b"theirs"}
    assert book_files(desk) == {}


def test_one_folder_that_is_a_link_to_the_other_is_written_once(desk: Desk) -> None:
    (desk.here / ".agents/skills").mkdir(parents=True)
    (desk.here / ".claude").mkdir()
    (desk.here / ".claude/skills").symlink_to("../.agents/skills")
    done = skills.add(desk, PLAIN)
    assert done.placed[0].paths == (PLACES[0],)


def test_a_link_out_of_the_repository_is_refused(desk: Desk, tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (desk.here / ".agents").symlink_to(tmp_path / "outside")
    with pytest.raises(UnusableInstructions, match="outside"):
        skills.add(desk, PLAIN)
    assert tree(tmp_path / "outside") == {}


def test_a_skill_for_everywhere_is_placed_in_the_persons_own_folders(desk: Desk) -> None:
    skills.add(desk, replace(PLAIN, scope=Scope.GLOBAL))
    assert tree(desk.here) == {}
    home = desk.config.environment.home
    assert all((home / path).is_file() for path in PLACES)
    skills.change_state(later(desk), "run-types", State.RETIRED)
    assert not any((home / path).exists() for path in PLACES)


def test_quarantined_skills_are_written_nowhere(desk: Desk) -> None:
    skills.add(desk, replace(PLAIN, state=State.QUARANTINED, label=Label.WEB))
    assert tree(desk.here) == {}
    _, skill = skills.find(desk.config, desk.here, "run-types")
    assert skills.place(desk, skill).paths == ()
    skills.change_state(later(desk), "run-types", State.DRAFT)
    assert sorted(tree(desk.here)) == sorted(PLACES)


@pytest.mark.parametrize("verb", ["add", "update", "promote", "import"])
def test_no_skill_that_destroys_gets_into_use_by_any_door(
    desk: Desk, tmp_path: Path, verb: str
) -> None:
    body = "1. `rm -rf /srv/data`\n"
    harmful = Skill(name="clean-up", description="Cleans up before a release.", body=body)
    if verb == "add":
        with pytest.raises(UnusableSkill, match="cannot be used"):
            skills.add(desk, harmful)
        assert skills.listed(desk.config, desk.here)[0] == []
        return
    if verb == "update":
        skills.add(desk, replace(harmful, body="1. `make clean`\n"))
        with pytest.raises(UnusableSkill, match="cannot be used"):
            skills.update(desk, "clean-up", body=body)
    elif verb == "promote":
        skills.add(desk, replace(harmful, state=State.QUARANTINED))
        with pytest.raises(UnusableSkill, match="cannot be used"):
            skills.change_state(later(desk), "clean-up", State.DRAFT)
    else:
        skills.add(desk, replace(harmful, state=State.QUARANTINED))
        book = exported(desk, "json", tmp_path / "book.json")
        emptied(desk)
        (taken,) = taken_in(later(desk), book, trust=True)
        assert taken.state is State.QUARANTINED
    assert not (desk.here / ".claude" / "skills" / "clean-up").exists() or verb == "update"


def test_placed_files_are_told_in_the_journal_of_instruction_files(desk: Desk) -> None:
    from hansei.ops.undo import changes

    skills.add(desk, PLAIN)
    (line,) = changes(desk.store, None)
    assert line.claim == "skill run-types"


# --- books ----------------------------------------------------------------------------------------


def test_secrets_are_not_kept(desk: Desk) -> None:
    fake = fakes(7)["aws-access-key"][0]
    skills.add(desk, replace(PLAIN, body=f"Run `deploy --token {fake.text}`."))
    kept = b"".join((*tree(desk.here).values(), *book_files(desk).values()))
    assert fake.secret.encode() not in kept


def test_a_repositorys_book_is_kept_by_git_and_a_store_beside_it_is_not(desk: Desk) -> None:
    open_store(desk.here / ".hansei", now=NOW).close()
    skills.add(desk, PLAIN, repo=True, place=False)
    git(desk.here, "add", "-A")
    assert git(desk.here, "diff", "--cached", "--name-only").split() == [
        ".hansei/.gitignore",
        ".hansei/skills/run-types.md",
    ]
    shelf, _ = skills.find(desk.config, desk.here, "run-types")
    assert shelf.kind == "repository"
    mode = (desk.here / ".hansei/skills/run-types.md").stat().st_mode
    assert mode & 0o044


def test_a_book_that_a_link_leads_out_of_the_repository_is_refused(
    desk: Desk, tmp_path: Path
) -> None:
    (tmp_path / "outside").mkdir()
    (desk.here / ".hansei").mkdir()
    (desk.here / ".hansei/skills").symlink_to(tmp_path / "outside")
    with pytest.raises(UnusableSkill, match="outside the repository"):
        skills.add(desk, PLAIN, repo=True)
    assert tree(tmp_path / "outside") == {}


def test_a_workspace_keeps_its_book_when_its_identity_changes(desk: Desk) -> None:
    skills.add(desk, PLAIN)
    git(desk.here, "remote", "add", "origin", "https://example.com/team/other.git")
    assert skills.find(desk.config, desk.here, "run-types")[0].kind == "workspace"
    skills.add(later(desk), replace(PLAIN, name="more"))
    git(desk.here, "remote", "set-url", "origin", "https://example.com/team/third.git")
    assert len(skills.listed(desk.config, desk.here)[0]) == 2


def test_another_repository_sees_only_what_is_for_everywhere(desk: Desk, tmp_path: Path) -> None:
    skills.add(desk, PLAIN)
    skills.add(later(desk), replace(PLAIN, name="all", scope=Scope.GLOBAL))
    other = tmp_path / "other"
    other.mkdir()
    git(other, "init", "-q")
    found, _ = skills.listed(desk.config, other)
    assert [skill.name for _, skill in found] == ["all"]


def test_a_name_is_taken_once_over_all_books(desk: Desk) -> None:
    skills.add(desk, replace(PLAIN, scope=Scope.GLOBAL))
    with pytest.raises(UsageError, match="global book"):
        skills.add(desk, PLAIN)


def test_moving_to_the_team_and_undoing_it(desk: Desk) -> None:
    skills.add(desk, PLAIN)
    before = (tree(desk.here), book_files(desk))
    skills.move(later(desk), "run-types", "repository")
    assert (desk.here / ".hansei/skills/run-types.md").is_file()
    assert book_files(desk) == {}
    skills.undo(desk, skills.undoing(desk, None))
    found = {path: data for path, data in tree(desk.here).items() if ".hansei" not in path}
    assert (found, book_files(desk)) == before


def test_moving_to_everywhere_moves_the_places(desk: Desk) -> None:
    skills.add(desk, PLAIN)
    skills.move(later(desk), "run-types", "global")
    assert tree(desk.here) == {}
    assert (desk.config.environment.home / PLACES[0]).is_file()
    skills.undo(desk, skills.undoing(desk, None))
    assert sorted(tree(desk.here)) == sorted(PLACES)
    assert not (desk.config.environment.home / PLACES[0]).exists()


def test_merging_and_splitting_over_the_book(desk: Desk) -> None:
    skills.add(desk, PLAIN)
    skills.add(later(desk), replace(PLAIN, name="types", evidence=(Evidence("s", 1),)))
    skills.merge(later(desk, 2), "run-types", ["types"])
    states = {skill.name: skill for _, skill in skills.listed(desk.config, desk.here)[0]}
    assert states["types"].state is State.RETIRED
    assert states["run-types"].evidence == (Evidence("s", 1),)
    assert not any("skills/types/" in path for path in tree(desk.here))
    skills.update(later(desk, 3), "run-types", body="## One\na\n\n## Two\nb")
    done = skills.split(later(desk, 4), "run-types")
    assert [it.name for it in done.skills] == ["run-types-one", "run-types-two", "run-types"]
    assert {path.split("/")[2] for path in tree(desk.here)} == {"run-types-one", "run-types-two"}


def test_a_missing_name_says_which_is_near(desk: Desk) -> None:
    skills.add(desk, PLAIN)
    with pytest.raises(NotFound) as problem:
        skills.find(desk.config, desk.here, "run-type")
    assert problem.value.hint == "Did you mean 'run-types'?"


# --- strangers' books -----------------------------------------------------------------------------


def taken_in(desk: Desk, path: Path, *, trust: bool = False, over: bool = False) -> list[Skill]:
    shown = skill_exchange.look(desk, path, form=None, trust=trust, over=over)
    done = skill_exchange.take_in(desk, shown, scope=Scope.WORKSPACE, repo=False, place=True).done
    return [] if done is None else list(done.skills)


def exported(desk: Desk, form: str, target: Path) -> Path:
    files = skill_exchange.export(
        desk, [], form=form, states=[State.DRAFT, State.APPROVED, State.QUARANTINED]
    )
    skill_exchange.write(files, target, over=False)
    return target


def emptied(desk: Desk) -> None:
    for _ in skills.history(desk.config, desk.here):
        skills.undo(desk, skills.undoing(desk, None))


@pytest.mark.parametrize("form", ["json", "agent-skills"])
def test_our_own_export_keeps_its_state_and_a_changed_one_does_not(
    desk: Desk, tmp_path: Path, form: str
) -> None:
    skills.add(desk, PLAIN)
    skills.change_state(later(desk), "run-types", State.APPROVED)
    target = exported(desk, form, tmp_path / "book")
    emptied(desk)
    (skill,) = taken_in(later(desk, 5), target)
    assert skill.state is State.APPROVED
    skills.undo(desk, skills.undoing(desk, None))
    file = target if form == "json" else target / "run-types/SKILL.md"
    file.write_text(file.read_text().replace("make types", "make evil"))
    (skill,) = taken_in(later(desk, 6), target)
    assert (skill.state, skill.label) == (State.QUARANTINED, Label.FOREIGN)
    assert tree(desk.here) == {}


@pytest.mark.parametrize("form", ["kayba-0.7", "kayba-0.9", "kayba-0.13", "playbook"])
def test_other_books_are_quarantined_unless_trusted(desk: Desk, tmp_path: Path, form: str) -> None:
    skills.add(desk, PLAIN)
    target = exported(desk, form, tmp_path / "book")
    emptied(desk)
    (held,) = taken_in(later(desk, 5), target)
    assert held.state is State.QUARANTINED
    assert tree(desk.here) == {}
    (trusted,) = taken_in(later(desk, 6), target, trust=True, over=True)
    assert trusted.state is State.DRAFT
    assert len(tree(desk.here)) == 2


def test_a_stranger_cannot_make_an_approved_or_loaded_skill(desk: Desk, tmp_path: Path) -> None:
    told = {"name": "evil", "description": "d", "body": "b", "state": "approved", "scope": "global"}
    vote = {"by": "Ana", "at": 1, "helpful": True}
    skill = {**told, "auto_load": True, "votes": [vote], "label": "typed"}
    document = {"schema": "hansei.skills/1", "skills": [{"skill": skill, "seal": "0" * 32}]}
    file = tmp_path / "book.json"
    file.write_text(json.dumps(document))
    (kept,) = taken_in(desk, file)
    assert kept.state is State.QUARANTINED
    assert kept.scope is Scope.WORKSPACE
    assert not kept.auto_load
    assert kept.votes == ()
    assert kept.label is Label.FOREIGN


def test_a_skill_that_is_here_is_not_replaced_unasked(desk: Desk, tmp_path: Path) -> None:
    skills.add(desk, PLAIN)
    target = exported(desk, "json", tmp_path / "book")
    shown = skill_exchange.look(desk, target, form=None, trust=True, over=False)
    assert shown.there == ("run-types",)
    assert shown.skills == ()


def test_a_folder_is_looked_through_without_following_links(desk: Desk, tmp_path: Path) -> None:
    inside = tmp_path / "given/good"
    inside.mkdir(parents=True)
    (inside / "SKILL.md").write_text("---\nname: good\ndescription: d\n---\nb\n")
    (tmp_path / "secret/hidden").mkdir(parents=True)
    (tmp_path / "secret/hidden/SKILL.md").write_text("---\nname: hidden\ndescription: d\n---\n")
    (tmp_path / "given/hidden").symlink_to(tmp_path / "secret/hidden")
    (tmp_path / "given/bad").mkdir()
    (tmp_path / "given/bad/SKILL.md").write_text("---\nname: ../../x\ndescription: d\n---\n")
    shown = skill_exchange.look(desk, tmp_path / "given", form=None, trust=False, over=False)
    assert [it.name for it in shown.skills] == ["good"]
    assert ["bad" in it.place for it in shown.refused] == [True]


def test_what_is_no_book_is_said_to_be_none(desk: Desk, tmp_path: Path) -> None:
    (tmp_path / "x.txt").write_text("hello")
    with pytest.raises(UsageError, match="no book"):
        skill_exchange.look(desk, tmp_path / "x.txt", form=None, trust=False, over=False)
    with pytest.raises(NotFound):
        skill_exchange.look(desk, tmp_path / "none", form=None, trust=False, over=False)


def test_quarantined_skills_are_not_handed_out_unasked(desk: Desk) -> None:
    skills.add(desk, replace(PLAIN, state=State.QUARANTINED))
    live = [State.DRAFT, State.APPROVED]
    with pytest.raises(UsageError, match="not handed out"):
        skill_exchange.export(desk, ["run-types"], form="json", states=live)
    with pytest.raises(NotFound):
        skill_exchange.export(desk, [], form="json", states=live)


def test_an_export_replaces_nothing_unasked(desk: Desk, tmp_path: Path) -> None:
    skills.add(desk, PLAIN)
    target = exported(desk, "agent-skills", tmp_path / "out")
    with pytest.raises(UsageError, match="already"):
        exported(desk, "agent-skills", target)
    assert skill_places.is_placed(desk.store, "run-types", desk.here)
