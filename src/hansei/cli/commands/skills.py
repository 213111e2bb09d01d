"""`hansei skills`."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

import click

from hansei.cli import app, output, skill_backtest, skill_curate, skill_exchange, skill_gate
from hansei.cli.diagnostics import note, warn
from hansei.cli.skill_desk import because, counted, desk_here, no_place, say
from hansei.errors import UnusableSkill, UsageError

if TYPE_CHECKING:
    from hansei.learn.model import Skill, State

R = TypeVar("R")
BOOKS = ("repository", "workspace", "global")
BROKEN = 3
"""The exit code where a file of a book cannot be read; the rest is shown."""


@click.group(
    short_help="The skillbook: what was learned here, and what may be done with it.",
    invoke_without_command=True,
)
@click.pass_context
def command(context: click.Context) -> None:
    """The skillbook: what was learned here, with its evidence. Alone it lists what there is.

    \b
      hansei skills list                    what there is
      hansei skills show NAME               one skill; `why NAME` says where it comes from
      hansei skills backtest                whether what was learned earlier held later
      hansei skills check PATH              what in a skill folder a person should see first
      hansei skills approve NAME            let it stand in managed blocks as well
      hansei skills curate                  what is said twice, contradicted or out of date
      hansei skills undo                    take the last change back, byte for byte

    A skill is draft (agents load it on demand), approved (it may also stand in managed blocks of
    instruction files), quarantined (written nowhere until you promote it), rejected or retired.
    Draft and approved skills are written as SKILL.md into .agents/skills and .claude/skills.

    Skills are Markdown files: your own below ~/.hansei/skills, a team's with --repo in
    .hansei/skills of the repository, for git to merge.
    """
    if context.invoked_subcommand is None:
        context.invoke(list_)


# --- looking --------------------------------------------------------------------------------------


@command.command("list", short_help="What there is.")
@click.option("--all", "everything", is_flag=True, help="Rejected and retired ones too.")
@click.option(
    "--state", type=click.Choice(skill_exchange.STATES), help="Only skills in this state."
)
@click.option("--section", metavar="NAME", help="Only skills of this section.")
@app.json_option
def list_(everything: bool, state: str | None, section: str | None, as_json: bool) -> None:
    """The skills in force here: the repository's, this workspace's and those for everywhere.

    A file that cannot be read is named with its line, and the exit code is 3; the others are shown.
    """
    from hansei.cli import skill_pages
    from hansei.ops.skills import counts, listed, tampered

    rows, problems = listed(app.config(), app.folder())
    changed = tampered(app.config(), app.folder())
    chosen = [
        it
        for it in rows
        if (state is None or it[1].state == state)
        and (section is None or it[1].section.lower() == section.lower())
    ]
    unused = {"rejected", "retired"}
    shown = [it for it in chosen if everything or state or it[1].state not in unused]
    with desk_here() as desk:
        derived = counted(desk, shown)
    told = counts([skill for _, skill in shown], derived)
    if as_json:
        document = {
            "skills": [skill_pages.told(*it, told[it[1].name]) for it in shown],
            "tampered": {name: it.message for name, it in changed.items()},
            "problems": [
                {"file": str(it.path), "line": it.line, "message": it.message} for it in problems
            ],
        }
        output.write_json("skills", document)
    elif shown:
        for line in skill_pages.listing(shown, told, len(chosen) - len(shown)):
            output.write(line)
    else:
        output.write("No skills here. `hansei learn` offers some, `hansei skills add` writes one.")
    for line in (*skill_pages.tampered(changed), *skill_pages.broken(problems)):
        warn(line)
    if problems:
        sys.exit(BROKEN)


@command.command("show", short_help="One skill.")
@click.argument("name")
@click.option("--raw", is_flag=True, help="The file as it is.")
@app.json_option
def show(name: str, raw: bool, as_json: bool) -> None:
    """One skill: what it says, how it stands, where it is kept."""
    from hansei.cli import skill_pages
    from hansei.learn.files import written
    from hansei.ops.skills import counts, find

    shelf, skill = find(app.config(), app.folder(), name)
    with desk_here() as desk:
        told = counts([skill], counted(desk, [(shelf, skill)]))[name]
    if as_json:
        output.write_json("skill", skill_pages.told(shelf, skill, told))
    elif raw:
        output.write(output.safe(written(skill)), end="")
    else:
        for line in skill_pages.page(shelf, skill, told):
            output.write(line)


@command.command("why", short_help="The whole story of a skill: origin, sessions, votes.")
@click.argument("name")
@app.json_option
def why(name: str, as_json: bool) -> None:
    """The whole story of a skill.

    Where it comes from, its versions, in which sessions it was in force, where it applied and was
    followed or not, what came of that and what is counted from it, what people say, experiments.
    `hansei show SESSION#EVENT` opens an event. docs/concepts/skill-counters.md has the rules.
    """
    from hansei.cli import skill_story
    from hansei.ops import skill_counters
    from hansei.ops.skills import find, history, known_sessions

    with desk_here() as desk:
        shelf, skill = find(desk.config, desk.here, name)
        changes = [
            it
            for it in history(desk.config, desk.here)
            if any(change.name == name for change in it[1].changes)
        ]
        told = skill_counters.story(shelf, skill)
        page = skill_story.Page(
            skill,
            changes,
            known_sessions(desk.store, skill),
            counted(desk, [(shelf, skill)]).get(name),
            skill_counters.tried(desk.store, told),
        )
    if as_json:
        output.write_json("skill-why", skill_story.told(page))
        return
    for line in skill_story.lines(page):
        output.write(line)


# --- writing --------------------------------------------------------------------------------------


@command.command("add", short_help="Write a skill.")
@click.argument("name")
@click.option("--description", "-d", required=True, help="What it is for and when to use it.")
@click.option("--file", metavar="FILE", help="Its text, in Markdown; - is stdin.")
@click.option("--body", metavar="TEXT", help="Its text.")
@click.option("--section", default="General", show_default=True, metavar="NAME")
@click.option("--topic", default="", metavar="WORDS", help="What it is about.")
@click.option("--action", default="", metavar="WORDS", help="What it does.")
@click.option("--language", default="", metavar="NAME", help="It holds for one language only.")
@click.option("--user", is_flag=True, help="For every repository, not only this.")
@click.option("--repo", is_flag=True, help="Keep it in the repository, for the whole team.")
@click.option("--proposed", is_flag=True, help="An agent proposes it: it waits for a person.")
@because
@no_place
@app.json_option
def add(
    name: str,
    file: str | None,
    body: str | None,
    user: bool,
    repo: bool,
    proposed: bool,
    place: bool,
    as_json: bool,
    **texts: Any,
) -> None:
    """Keep a skill that you write yourself; it is a draft and there for the next session.

    \b
      hansei skills add types -d "Type checks. Use after editing *.ts." --body "Run `make types`."
      hansei skills add release -d "How a release is made." --file release.md --repo

    Without --file and --body your editor opens. What an agent runs this for is its proposal, and
    quarantined until a person promotes it.
    """
    from hansei.learn.model import Label, Scope, Skill, State
    from hansei.ops import skills

    if user and repo:
        raise UsageError("a skill is either for every repository or kept in this one")
    if file is not None and body is not None:
        raise UsageError("give either --file or --body")
    text = _given(file) if file is not None else body
    if text is None:
        text = click.edit(f"# {name}\n\n", extension=".md") or ""
    wide = Scope.LANGUAGE if texts["language"] else Scope.GLOBAL if user else Scope.WORKSPACE
    scope = Scope.WORKSPACE if repo else wide
    skill = Skill(name, body=text, scope=scope, **texts)
    if proposed:
        waiting, label = State.QUARANTINED, Label.PROPOSED
        skill = replace(skill, state=waiting, label=label, origin="agent")
    with desk_here() as desk:
        say(skills.add(desk, skill, repo=repo, place=place), as_json=as_json)


def _given(file: str) -> str:
    from hansei.learn.files import LARGEST

    try:
        with click.open_file(file, "rb") as stream:
            data: bytes = stream.read(LARGEST + 1)
        if len(data) > LARGEST:
            raise UsageError(f"{file} has more than {LARGEST:,} bytes, too many for a skill")
        return data.decode("utf-8")
    except UnicodeDecodeError:
        raise UsageError(f"{file} is not UTF-8 text") from None
    except OSError as problem:
        raise UsageError(f"{file} cannot be read: {problem.strerror}") from None


@command.command("update", short_help="Change what a skill says.")
@click.argument("name")
@click.option("--description", "-d", help="What it is for and when to use it.")
@click.option("--file", metavar="FILE", help="Its text, in Markdown; - is stdin.")
@click.option("--body", metavar="TEXT", help="Its text.")
@because
@app.json_option
def update(
    name: str,
    description: str | None,
    file: str | None,
    body: str | None,
    reason: str,
    as_json: bool,
) -> None:
    """Change the description or the text of a skill; a change of either is a new version."""
    from hansei.ops import skills

    if description is None and file is None and body is None:
        raise UsageError("nothing to change", hint="--description, --body or --file says what.")
    text = _given(file) if file is not None else body
    with desk_here() as desk:
        done = skills.update(desk, name, description=description, body=text, reason=reason)
        say(done, as_json=as_json)


@command.command("tag", short_help="File a skill: section, topic, language, book.")
@click.argument("name")
@click.option("--section", metavar="NAME")
@click.option("--topic", metavar="WORDS", help="What it is about.")
@click.option("--action", metavar="WORDS", help="What it does.")
@click.option("--language", metavar="NAME", help="The language it holds for.")
@click.option("--auto-load/--no-auto-load", default=None, help="In every session, not on demand.")
@click.option("--to", type=click.Choice(BOOKS), help="Move it to another book.")
@app.json_option
def tag(name: str, to: str | None, as_json: bool, **fields: Any) -> None:
    """Say how a skill is filed; `--to repository` hands it to the whole team."""
    from hansei.ops import skills

    wanted = {field: value for field, value in fields.items() if value is not None}
    if not wanted and to is None:
        raise UsageError("nothing to change", hint="`hansei skills tag --help` lists what can be.")
    if wanted and to is not None:
        raise UsageError("--to moves a skill; file it in a step of its own")
    with desk_here() as desk:
        done = (
            skills.move(desk, name, to)
            if to is not None
            else skills.update(desk, name, operation="tag", **wanted)
        )
        say(done, as_json=as_json)


@command.command("edit", short_help="Open a skill in your editor.")
@click.argument("name")
@app.json_option
def edit(name: str, as_json: bool) -> None:
    """Open a copy of a skill's file in $EDITOR and keep it if it is one afterwards.

    The file itself is replaced only by a text that can be read again. What cannot be is left for
    you in a file of its own.

    Under `predicates:` stands what is counted from sessions: when it applies (`tool`, `command`,
    `path`, `error`), what to `do`, what to `avoid`, and the command that would `check` it.

    \b
      predicates:
        command: "pytest"
        do:
          - "uv run pytest"
        avoid:
          - "pytest"
    """
    from hansei.learn.files import written
    from hansei.ops import skills

    with desk_here() as desk:
        shelf, skill = skills.find(desk.config, desk.here, name)
        new = _edited(written(skill), skill.name)
        if new is None or new == skill:
            note("Nothing was changed.")
            return
        say(skills.edited(desk, shelf, new), as_json=as_json)


def _edited(text: str, name: str) -> Skill | None:
    """A skill as a person leaves it; asks again on a terminal where it is none."""
    from hansei.learn.files import read
    from hansei.learn.heads import Broken
    from hansei.learn.matching import problems
    from hansei.learn.validation import normal, unfit

    while True:
        left = click.edit(text, extension=".md")
        if left is None:
            return None
        text = left
        try:
            skill = normal(read(text, name))
            faults = [*unfit(skill), *problems(skill.predicates)]
        except Broken as problem:
            faults = [f"line {problem.line}: {problem}"]
        if not faults:
            return skill
        if not sys.stdin.isatty() or not click.confirm(f"{faults[0]}. Edit again?", default=True):
            raise UnusableSkill(
                f"what you wrote is no skill: {faults[0]}", hint=f"It is in {_saved(text, name)}."
            )


def _saved(text: str, name: str) -> str:
    import tempfile

    with tempfile.NamedTemporaryFile(
        "w", encoding="utf-8", prefix=f"{name}-", suffix=".md", delete=False
    ) as file:
        file.write(text)
    return file.name


# --- deciding -------------------------------------------------------------------------------------


def _state(name: str, state: State, reason: str, *, place: bool, as_json: bool) -> None:
    from hansei.ops import skills

    with desk_here() as desk:
        done = skills.change_state(desk, name, state, reason=reason, place=place)
        say(done, as_json=as_json)


@command.command("approve", short_help="Let a skill stand in managed blocks too.")
@click.argument("name")
@because
@no_place
@app.json_option
def approve(name: str, reason: str, place: bool, as_json: bool) -> None:
    """Say that a skill is right: `hansei prompt` may put it into instruction files."""
    from hansei.learn.model import State

    _state(name, State.APPROVED, reason, place=place, as_json=as_json)


@command.command("reject", short_help="Never use or offer a skill again.")
@click.argument("name")
@because
@app.json_option
def reject(name: str, reason: str, as_json: bool) -> None:
    """Say that a skill is wrong: it is taken out where agents read it, and not offered again."""
    from hansei.learn.model import State

    _state(name, State.REJECTED, reason, place=False, as_json=as_json)


@command.command("retire", short_help="Use a skill no more, but keep its story.")
@click.argument("name")
@because
@app.json_option
def retire(name: str, reason: str, as_json: bool) -> None:
    """Say that a skill has had its time: it is taken out where agents read it."""
    from hansei.learn.model import State

    _state(name, State.RETIRED, reason, place=False, as_json=as_json)


@command.command("vote", short_help="Say that a skill helped or harmed.")
@click.argument("name")
@click.argument("verdict", type=click.Choice(["helpful", "harmful"]))
@click.option("--note", "words", default="", metavar="TEXT", help="What happened.")
@app.json_option
def vote(name: str, verdict: str, words: str, as_json: bool) -> None:
    """Your word on a skill; it takes the place of your last one."""
    from hansei.ops import skills

    with desk_here() as desk:
        done = skills.vote(desk, name, helpful=verdict == "helpful", note=words)
        say(done, as_json=as_json)


@command.command("merge", short_help="Make one skill of several.")
@click.argument("name")
@click.argument("others", nargs=-1, required=True)
@because
@app.json_option
def merge(name: str, others: tuple[str, ...], reason: str, as_json: bool) -> None:
    """Have a skill take in the evidence and votes of OTHERS, which are retired.

    Its text stays as it is; `hansei skills edit` changes it. Distrust survives: if one of them is
    quarantined, so is the result.
    """
    from hansei.ops import skills

    with desk_here() as desk:
        say(skills.merge(desk, name, others, reason=reason), as_json=as_json)


@command.command("split", short_help="Make several skills of one.")
@click.argument("name")
@app.json_option
def split(name: str, as_json: bool) -> None:
    """Make a skill of each second-level heading (`## …`) of one, which is retired."""
    from hansei.ops import skills

    with desk_here() as desk:
        say(skills.split(desk, name), as_json=as_json)


# --- history -------------------------------------------------------------------------------------


@command.command("undo", short_help="Take a change of the skillbook back.")
@click.argument("change", required=False, type=int, metavar="[CHANGE]")
@click.option("--list", "listed", is_flag=True, help="What was done, newest first.")
@click.option("--dry-run", is_flag=True, help="Say what would be taken back, change nothing.")
@app.json_option
def undo(change: int | None, listed: bool, dry_run: bool, as_json: bool) -> None:
    """Put back every byte that a change found in the book, and what was placed with it.

    Without a number the last change that stands. A file that you edited since is left alone.
    """
    from hansei.cli import skill_pages
    from hansei.ops import skills

    with desk_here() as desk:
        if listed:
            told = skills.history(desk.config, desk.here)
            if as_json:
                document = {"changes": [skill_pages.told_change(*it) for it in told]}
                output.write_json("skill-changes", document)
            else:
                for line in skill_pages.changes(told):
                    output.write(line)
            return
        shown = skills.undoing(desk, change)
        shown = shown if dry_run else skills.undo(desk, shown)
    if as_json:
        entries = [skill_pages.told_change(*it) for it in shown.entries]
        files = [{"path": it.path, "message": it.message} for it in shown.files]
        output.write_json("skill-undo", {"done": not dry_run, "changes": entries, "files": files})
        return
    for line in skill_pages.undone(shown, done=not dry_run):
        output.write(line)


command.add_command(skill_backtest.backtest)
command.add_command(skill_gate.promote)
command.add_command(skill_gate.check)
command.add_command(skill_curate.curate)
command.add_command(skill_exchange.take_in)
command.add_command(skill_exchange.hand_out)
