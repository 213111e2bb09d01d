"""Every format, with the same laws: what is written can be read, and no stranger's text harms."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from hansei.learn import exchange, formats_catalogue, seals
from hansei.learn.contents import content, counters, parts
from hansei.learn.formats import agent_skills, kayba
from hansei.learn.model import LIVE, Evidence, Skill, State, Told, Vote
from hansei.learn.validation import LARGEST_BODY, name_problem, normal, spec_problems, unfit
from skill_world import BODIES, LINES, skills

KEY = b"k" * 32
NAMED = lambda it: it.name  # noqa: E731 - a key, not a function
BOOKS = st.lists(skills(), min_size=1, max_size=3, unique_by=NAMED)
FORMATS = pytest.mark.parametrize("form", formats_catalogue.NAMES)
PLAIN = Skill("run-types", "Type checks.", "Run `make types`.", section="Testing")


def sealed(skill: Skill) -> str:
    return seals.seal(skill, KEY)


def through(form: str, book: Sequence[Skill]) -> exchange.Foreign:
    one = formats_catalogue.of_name(form)
    return one.read(one.write(book, sealed))


# --- laws of all ----------------------------------------------------------------------------------


@FORMATS
@settings(max_examples=25)
@given(data=st.data())
def test_what_was_written_is_recognised_and_read_without_a_refusal(
    form: str, data: st.DataObject
) -> None:
    book = [replace(it, state=State.DRAFT) for it in data.draw(BOOKS)]
    files = formats_catalogue.of_name(form).write(book, sealed)
    assert formats_catalogue.recognised(files) == form
    foreign = formats_catalogue.of_name(form).read(files)
    assert len(foreign.skills) == len(book)
    assert not foreign.refused
    assert all(unfit(skill) == [] for skill in foreign.skills)


@FORMATS
@settings(max_examples=25)
@given(data=st.data())
def test_what_survives_once_survives_for_good(form: str, data: st.DataObject) -> None:
    book = [replace(it, state=State.DRAFT) for it in data.draw(BOOKS)]
    once = through(form, book).skills
    twice = through(form, once).skills
    assert sorted(twice, key=NAMED) == sorted(once, key=NAMED)


@FORMATS
@given(garbage=st.binary(max_size=200))
def test_garbage_is_refused_and_raises_nothing(form: str, garbage: bytes) -> None:
    foreign = formats_catalogue.of_name(form).read({"x/SKILL.md": garbage})
    assert all(name_problem(skill.name) is None for skill in foreign.skills)


@FORMATS
def test_deep_and_large_documents_are_refused_quickly(form: str) -> None:
    deep = b'{"skills": ' + b"[" * 100_000
    huge = b'{"skills": {"a": {"content": "' + b"x" * 1_000_000 + b'"}}}'
    line = b"[a-00001] helpful=1 harmful=0 :: " + b"y " * 500_000
    head = b"---\nname: x\ndescription: " + b"z" * 1_000_000 + b"\n---\n"
    began = time.monotonic()
    for text in (deep, huge, line, head):
        formats_catalogue.recognised({"x": text})
        foreign = formats_catalogue.of_name(form).read({"x/SKILL.md": text})
        assert not foreign.skills
    assert time.monotonic() - began < 10


@FORMATS
@given(data=st.data())
@settings(max_examples=20)
def test_words_of_the_text_are_kept(form: str, data: st.DataObject) -> None:
    book = [replace(it, state=State.DRAFT) for it in data.draw(BOOKS)]
    before = sorted(" ".join(content(it).split()) for it in book)
    after = sorted(" ".join(content(it).split()) for it in through(form, book).skills)
    assert after == before


# --- Agent Skills ---------------------------------------------------------------------------------


@settings(max_examples=150)
@given(skills())
def test_every_skill_md_is_valid_by_the_public_specification(skill: Skill) -> None:
    text = agent_skills.skill_md(skill, sealed(skill))
    assert spec_problems(skill.name, text) == []
    told = yaml.safe_load(text.split("---", 2)[1])
    assert told["name"] == skill.name
    assert told["description"] == skill.description
    assert all(isinstance(value, str) for value in told["metadata"].values())


@given(skills())
def test_a_skill_md_carries_all_but_votes_and_dates(skill: Skill) -> None:
    found, seal = agent_skills.read_skill(agent_skills.skill_md(skill, "s"), skill.name)
    # A marker of ours at the top of a text is taken for the one that we write.
    if not skill.body.startswith("<!-- hansei -->"):
        assert found == normal(agent_skills.carried(skill))
    assert seal == "s"


@pytest.mark.parametrize(
    ("folder", "text", "word"),
    [
        ("x", "no head", "begin"),
        ("x", "---\nname: x\n", "closed"),
        ("x", "---\nname: x\ndescription: a: b\n---\n", "line"),
        ("x", "---\nname: y\ndescription: d\n---\n", "folder"),
        ("x", "---\nname: x\n---\n", "description"),
        ("x", "---\nname: x\ndescription: ''\n---\n", "description"),
        ("x", f"---\nname: x\ndescription: {'d' * 1025}\n---\n", "description"),
        ("X", "---\nname: X\ndescription: d\n---\n", "name"),
        ("a--b", "---\nname: a--b\ndescription: d\n---\n", "name"),
        ("-a", "---\nname: '-a'\ndescription: d\n---\n", "name"),
        ("a" * 65, f"---\nname: {'a' * 65}\ndescription: d\n---\n", "name"),
        ("12", "---\nname: 12\ndescription: d\n---\n", "name"),
        ("x", "---\nname: x\ndescription: d\nversion: 1.0.0\n---\n", "version"),
        ("x", "---\nname: x\ndescription: d\nmetadata:\n  v: 1\n---\n", "metadata"),
        ("x", "---\nname: x\ndescription: d\nmetadata: [a]\n---\n", "metadata"),
        ("x", f"---\nname: x\ndescription: d\ncompatibility: {'c' * 501}\n---\n", "compat"),
        ("x", "---\nname: x\ndescription: d\nallowed-tools: {a: b}\n---\n", "tools"),
        ("x", "---\nname: &a x\ndescription: *a\n---\n", "anchors"),
    ],
)
def test_the_validator_says_what_the_specification_says(folder: str, text: str, word: str) -> None:
    assert word in " ".join(spec_problems(folder, text))


@pytest.mark.parametrize(
    "text",
    [
        "---\nname: x\ndescription: d\n---\n",
        "---\nname: x\ndescription: d\nlicense: MIT\nallowed-tools: Bash(git:*) Read\n---\n# x\n",
        "---\nname: x\ndescription: d\nallowed-tools:\n  - Read\n---\n",
        "---\nname: x\ndescription: d\nmetadata:\n  version: '1.0'\n---\n",
    ],
)
def test_the_validator_lets_the_specifications_own_examples_pass(text: str) -> None:
    assert spec_problems("x", text) == []


def test_a_foreign_skill_is_read_without_the_rights_it_asks_for() -> None:
    text = (
        "---\nname: deploy\ndescription: Deploys it.\nlicense: MIT\nallowed-tools: Bash(*)\n"
        "metadata:\n  version: 2.1.0\n  author: them\n  openclaw:\n    deep: value\n---\n# Deploy\n"
    )
    files = {"deploy/SKILL.md": text.encode(), "deploy/scripts/run.sh": b"rm -rf /"}
    foreign = agent_skills.FORMAT.read(files)
    assert [(it.name, it.version, it.owner, it.body) for it in foreign.skills] == [
        ("deploy", 2, "them", "# Deploy")
    ]
    assert foreign.notes == ("deploy/SKILL.md: left out license, allowed-tools, 1 more files",)


@pytest.mark.parametrize("name", ["../../x", "x/../../y", "CON", "a\x00b"])
def test_a_hostile_name_of_a_foreign_skill_is_refused(name: str) -> None:
    files = {"SKILL.md": f"---\nname: {json.dumps(name)}\ndescription: d\n---\nb\n".encode()}
    foreign = agent_skills.FORMAT.read(files)
    assert not foreign.skills
    assert len(foreign.refused) == 1


# --- seals ----------------------------------------------------------------------------------------


@given(skills())
def test_a_seal_fits_what_it_was_put_on_and_nothing_else(skill: Skill) -> None:
    for form in ("json", "agent-skills"):
        foreign = through(form, [skill])
        if skill.body.startswith("<!-- hansei -->"):
            continue
        (found,) = foreign.skills
        assert seals.fits(found, foreign.seals[skill.name], KEY)
        assert not seals.fits(replace(found, body="other"), foreign.seals[skill.name], KEY)
        assert not seals.fits(found, foreign.seals[skill.name], b"another key")
        assert not seals.fits(found, "", KEY)


# --- JSON -----------------------------------------------------------------------------------------


@given(BOOKS)
def test_json_keeps_everything(book: list[Skill]) -> None:
    assert list(through("json", book).skills) == book


def test_a_later_schema_is_refused_by_name() -> None:
    text = b'{"schema": "hansei.skills/2", "skills": []}'
    assert formats_catalogue.recognised({"b.json": text}) == "json"
    (refused,) = formats_catalogue.of_name("json").read({"b.json": text}).refused
    assert "hansei.skills/1" in refused.message


def test_one_bad_skill_does_not_keep_the_others_out() -> None:
    document = json.loads(formats_catalogue.of_name("json").write([PLAIN], sealed)[""])
    bad: list[Any] = [
        {"skill": {"name": "../x", "description": "d", "body": "b"}},
        {"skill": {"name": "y"}},
        {"skill": {"name": "z", "description": "d", "body": "b", "state": "great"}},
        7,
    ]
    document["skills"] = [*bad, *document["skills"]]
    foreign = formats_catalogue.of_name("json").read({"b": json.dumps(document).encode()})
    assert [it.name for it in foreign.skills] == ["run-types"]
    assert [it.place for it in foreign.refused] == [f"b, skill {n}" for n in (1, 2, 3, 4)]


# --- Kayba and the playbook -----------------------------------------------------------------------

OLD = {
    "skills": {
        "testing-00001": {
            "id": "testing-00001",
            "section": "testing",
            "content": "Run the whole suite, not one file.",
            "helpful": 12,
            "harmful": 1,
            "neutral": 2,
            "created_at": "2026-01-02T03:04:05.678901+00:00",
            "updated_at": "2026-01-02T03:04:05+00:00",
            "embedding": [0.1, 0.2],
            "status": "active",
        },
        "general-00002": {"section": "general", "content": "Old one.", "status": "invalid"},
        "general-00003": {"section": "general", "content": ""},
        "general-00004": "nonsense",
    },
    "sections": {"testing": ["testing-00001"], "general": ["general-00002"]},
    "next_id": 2,
    "similarity_decisions": {},
}
NEW = {
    "schema_version": "2",
    "skills": {
        "context-00007": {
            "id": "context-00007",
            "section": "context",
            "keywords": ["imports", "alias"],
            "issue": "Imports are relative.",
            "insight": "Use the alias.",
            "occurrences": [{"trace_uid": "opik:1", "source_system": "opik", "trace_id": "1"}],
            "active": True,
            "used_count": 4,
            "helpful_count": 3,
            "harmful_count": 0,
            "neutral_count": 1,
            "created_at": "2026-01-02T03:04:05+00:00",
            "updated_at": "2026-01-02T03:04:05+00:00",
        }
    },
    "sections": {"context": ["context-00007"]},
    "next_id": 7,
    "similarity_decisions": {},
}


def test_an_old_book_of_kayba_is_read_with_what_it_counted_apart() -> None:
    foreign = kayba.Kayba("0.7").read({"book.json": json.dumps(OLD).encode()})
    first, second = foreign.skills
    assert (first.name, first.section, first.body) == (
        "testing-00001",
        "testing",
        "Run the whole suite, not one file.",
    )
    assert first.told == Told("kayba 0.7", 12, 1, 2)
    assert first.votes == ()
    assert first.created_at == 1767323045678
    assert second.state is State.RETIRED
    assert len(foreign.refused) == 2


def test_a_new_book_of_kayba_is_read_and_written_back() -> None:
    data = json.dumps(NEW).encode()
    assert formats_catalogue.recognised({"b": data}) == "kayba-0.13"
    foreign = kayba.Kayba("0.13").read({"b": data})
    (skill,) = foreign.skills
    assert (skill.description, skill.body, skill.topic) == (
        "Imports are relative.",
        "Use the alias.",
        "imports alias",
    )
    back = json.loads(kayba.Kayba("0.13").write(foreign.skills, sealed)[""])
    kept = {"id", "section", "keywords", "issue", "insight", "active", "used_count"}
    kept |= {"helpful_count", "harmful_count", "neutral_count"}
    told = back["skills"]["context-00007"]
    assert {name: told[name] for name in kept} == {
        name: NEW["skills"]["context-00007"][name]  # type: ignore[index] # a document of JSON
        for name in kept
    }
    assert back["next_id"] == 7


def test_the_shapes_are_told_apart() -> None:
    book = [replace(PLAIN, evidence=(Evidence("s", 3),))]
    for version in ("0.7", "0.9", "0.13"):
        (data,) = kayba.Kayba(version).write(book, sealed).values()
        assert kayba.version_of(data) == version
        (found,) = kayba.Kayba(version).read({"": data}).skills
        assert found.evidence == (() if version == "0.7" else book[0].evidence)
        assert found.name == ("testing-00001" if version == "0.7" else PLAIN.name)
    assert kayba.version_of(b"[]") is None


def test_ids_are_of_the_kind_that_kayba_cites() -> None:
    book = [PLAIN, replace(PLAIN, name="general-00041"), replace(PLAIN, name="b", section="§")]
    document = json.loads(kayba.Kayba("0.7").write(book, sealed)[""])
    assert list(document["skills"]) == ["testing-00042", "general-00041", "general-00043"]
    assert document["next_id"] == 43


def test_playbook_lines_come_back_as_they_were() -> None:
    text = (
        "## STRATEGIES & INSIGHTS\n"
        "[sai-00001] helpful=3 harmful=0 :: Round only at the end: 2.005 -> 2.01.\n"
        "[sai-00002] helpful=0 harmful=4 :: Never.\n\n"
        "## FORMULAS\n"
        "[for-00003] helpful=0 harmful=0 :: a :: b\n"
    )
    one = formats_catalogue.of_name("playbook")
    foreign = one.read({"p.txt": text.encode()})
    assert [it.name for it in foreign.skills] == ["sai-00001", "sai-00002", "for-00003"]
    assert one.write(foreign.skills, sealed)[""].decode() == text


def test_a_line_that_is_none_is_told() -> None:
    (refused,) = (
        formats_catalogue.of_name("playbook").read({"p": b"## A\n[x] helpful=a :: b\n"}).refused
    )
    assert refused.place == "p, line 2"


def test_votes_are_counted_for_books_that_have_only_counters() -> None:
    votes = (Vote("a", 1, helpful=True), Vote("a", 2, helpful=False), Vote("b", 1, helpful=True))
    assert counters(replace(PLAIN, votes=votes, told=Told("x", 3, 1))) == (4, 2)


@given(LINES, BODIES)
def test_description_and_body_are_found_again_in_one_text(line: str, body: str) -> None:
    skill = normal(Skill("x", line, body))
    if not unfit(skill):
        assert parts(content(skill)) == (skill.description, skill.body)


def test_a_body_at_the_limit_is_exported_whole() -> None:
    skill = replace(PLAIN, body="x" * LARGEST_BODY)
    for form in ("json", "agent-skills", "kayba-0.13"):
        assert [it.body for it in through(form, [skill]).skills] == [skill.body]


def test_only_live_skills_stand_in_a_playbook() -> None:
    for state in State:
        data = formats_catalogue.of_name("playbook").write([replace(PLAIN, state=state)], sealed)[
            ""
        ]
        assert (b"run" in data.lower()) == (state in LIVE)


def test_the_schema_of_the_json_book_is_the_one_in_the_docs() -> None:
    """A change is a new version of its name, unless it is a field that readers may pass over."""
    file = Path(__file__).parents[2] / "docs" / "formats" / "skill.schema.json"
    schema = msgspec.json.format(msgspec.json.encode(msgspec.json.schema(Skill)), indent=2)
    assert file.read_text(encoding="utf-8") == schema.decode() + "\n"
