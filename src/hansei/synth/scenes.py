"""What can happen in a session, one function per kind of happening.

A scene adds steps to a draft and says what it planted. Scenes know nothing of one another;
`compose` puts them in order.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from hansei.synth import voices
from hansei.synth.codebase import page_path, service_path, suite_path
from hansei.synth.dice import fingerprint
from hansei.synth.draft import Doing, Draft, ran
from hansei.synth.history import DRAFT_GAP, draft_headlines, headline
from hansei.synth.output import committed, found, listing, particulars
from hansei.synth.routines import RELEASE
from hansei.synth.secrets import secret
from hansei.synth.skills import WANTED
from hansei.synth.story import (
    Change,
    Command,
    Consult,
    Course,
    Decoy,
    Delegate,
    Discovery,
    Fetch,
    Haul,
    Interruption,
    Landing,
    Leak,
    ListFiles,
    Plan,
    Read,
    Recourse,
    Refusal,
    Reread,
    Run,
    Search,
    Spill,
    Struggle,
    Stumble,
    Trial,
)
from hansei.synth.troubles import BY_NAME, ENVIRONMENT, MISSED_EDIT, ROUNDING
from hansei.synth.voices import pick
from hansei.synth.work import reworked

if TYPE_CHECKING:
    from random import Random

    from hansei.synth.contract import Traits
    from hansei.synth.history import Assignment
    from hansei.synth.plan import Outline
    from hansei.synth.troubles import Trouble
    from hansei.synth.work import Deed, Edit


@dataclass(frozen=True)
class Errand:
    """Work handed to a subagent."""

    call: str
    child: str
    role: str
    title: str
    prompt: str
    report: str


@dataclass
class Tale:
    """A draft with what its scenes need to know."""

    draft: Draft
    outline: Outline
    traits: Traits
    deed: Deed
    entity: str
    branch: str
    assignment: Assignment | None
    commits: dict[str, str]
    """Names of commits to their ids."""
    errands: list[Errand] = field(default_factory=list)

    @property
    def rng(self) -> Random:
        return self.draft.rng

    @property
    def service(self) -> str:
        return self.assignment.work.edits[0].path if self.assignment else service_path(self.entity)

    @property
    def words(self) -> dict[str, str]:
        return {"entity": self.entity, "name": self.deed.name, "phrase": self.deed.phrase}

    def pick(self, table: str, **words: str) -> str:
        return pick(self.rng, table, **self.words, **words)

    def plants(self, pattern: str) -> bool:
        return pattern in self.outline.patterns


# --- the usual course -----------------------------------------------------------------------------


def explore(tale: Tale) -> None:
    """Look around, then read what the task is about."""
    draft = tale.draft
    folder = "src/berthline/services"
    looked, _ = draft.act(
        Doing(ListFiles(f"{folder}/*.py"), listing(draft.files, folder)),
        Doing(Search(f"{tale.entity}s", "src"), found(draft.files, f"{tale.entity}s", "src")),
        reply=tale.pick("say_start"),
        thought=tale.pick("think_start"),
    )
    draft.plants.append(Discovery(looked, f"{folder}/"))
    paths = [path for path in (tale.service, suite_path(tale.entity)) if path in draft.files]
    draft.read(*paths)


def look_at_logs(tale: Tale) -> None:
    command = f"grep {tale.entity} /tmp/serve.log | head -n 30"
    tale.draft.act(ran(command, tale.draft.body(30), 0.2), reply="What does the service say?")


def plan(tale: Tale) -> None:
    tasks = ("Read the service", f"Add {tale.deed.name}", "Test it")
    states = ("completed", "in_progress", "pending")
    tale.draft.act(Doing(Plan(tuple(zip(tasks, states, strict=True)))))


def edit(tale: Tale) -> None:
    """Make the changes of the assignment, perhaps with a slip or a miss on the way."""
    assert tale.assignment is not None
    for number, wanted in enumerate(tale.assignment.as_written):
        if wanted.old:
            tale.draft.read(wanted.path)
        if number == 0 and tale.plants(MISSED_EDIT) and wanted.old:
            _miss(tale, wanted)
        _make(tale, wanted)


def _miss(tale: Tale, wanted: Edit) -> None:
    """Edit with an old text that is not in the file, then look again."""
    draft = tale.draft
    stale = wanted.old.replace("    ", "  ", 1) if "    " in wanted.old else f"{wanted.old} "
    action = Change(wanted.path, stale, wanted.new, draft.files[wanted.path])
    (key,) = draft.act(Doing(action, state="failed"), reply=tale.pick("say_edit"))
    start = draft.files[wanted.path][: draft.files[wanted.path].index(wanted.old)].count("\n") + 1
    lines = wanted.old.count("\n") + 1
    (look,) = draft.act(
        Doing(Read(wanted.path, start, lines), wanted.old),
        thought="The text I meant to replace is not there in that form; look at those lines again.",
    )
    draft.plants.append(Reread(look, wanted.path, excused=True))
    draft.plants.append(Stumble(key, MISSED_EDIT, None, recovered_by=draft.next_call()))


def _make(tale: Tale, wanted: Edit) -> None:
    assert tale.assignment is not None
    draft, slip = tale.draft, wanted.slip
    new = wanted.new.replace(slip.right, slip.wrong, 1) if slip else wanted.new
    key = draft.change(
        wanted.path,
        wanted.old,
        new,
        reply=tale.pick("say_edit"),
        thought=tale.pick("think_edit"),
    )
    added = wanted.added.replace(f"{slip.right}\n", "", 1) if slip else wanted.added
    draft.plants.append(_landing(tale, key, wanted.path, added))
    if slip:
        draft.read(wanted.path)
        draft.say(pick(tale.rng, f"correct_{slip.topic}"), topic=slip.topic, about=key)
        again = draft.change(wanted.path, slip.wrong, slip.right, tale.pick("say_sorry"))
        draft.plants.append(_landing(tale, again, wanted.path, slip.right))


def _landing(tale: Tale, call: str, path: str, added: str) -> Landing:
    """What became of a call's lines, which need not be what became of the whole work."""
    assert tale.assignment is not None
    assignment, outline = tale.assignment, tale.outline
    landed = next(edit for edit in assignment.work.edits if edit.path == path)
    fate, undone = assignment.fate, assignment.afterthought(outline)
    if fate == "reworked" and reworked(tale.deed, assignment.work.edits[0])[0] not in added:
        fate, undone = "landed", None
    if fate == "reformatted" and landed.added == added:
        fate = "landed"
    return Landing(call, path, added, fate, assignment.commit_names(outline), undone)


def check(tale: Tale) -> None:
    """Run the tests: an occasion to break the rule of the world."""
    if not tale.outline.breaks_rule:
        words = particulars(tale.rng, tale.entity, tale.deed.name)
        text = ENVIRONMENT.relief.format(**words)
        doing = ran(ENVIRONMENT.remedy.format(**words), text, float(words["seconds"]))
        (key,) = tale.draft.act(doing, reply=tale.pick("say_run"))
        tale.draft.plants.append(Trial(key, broken=False))
        return
    masked = tale.plants(f"masked:{ENVIRONMENT.name}")
    topic = "environment" if tale.outline.topic == "environment" else None
    key = _stumble(tale, ENVIRONMENT, masked=masked, topic=topic)
    tale.draft.plants.append(Trial(key, broken=True))


def trouble(tale: Tale, name: str, *, masked: bool) -> None:
    _stumble(tale, BY_NAME[name], masked=masked, topic=None)


def _stumble(tale: Tale, what: Trouble, *, masked: bool, topic: str | None) -> str:
    """Fail in a known way and get past it; returns the failed call."""
    draft = tale.draft
    words = particulars(tale.rng, tale.entity, tale.deed.name)
    seconds = float(words["seconds"])
    text = what.output.format(**words)
    if masked and what.masked.endswith("echo done"):
        text += "done"
    command = what.masked if masked else what.command
    doing = ran(command.format(**words), text, seconds, 0 if masked else what.exit_code)
    (failed,) = draft.act(doing, reply=tale.pick("say_run"))
    if topic is not None:
        draft.act(reply="The tests cannot import the package. Shall I change the import path?")
        draft.say(pick(tale.rng, f"correct_{topic}"), topic=topic)
    elif tale.rng.random() < 0.3:
        draft.act(Doing(Search("uv run", "Makefile"), found(draft.files, "uv run", "Makefile")))
    recovered = None
    if what is ENVIRONMENT or tale.rng.random() < 0.85:
        relief = ran(what.remedy.format(**words), what.relief.format(**words), seconds + 0.4)
        (recovered,) = draft.act(relief, thought=tale.pick("think_trouble"))
    draft.plants.append(Stumble(failed, what.name, what.exit_code, masked, recovered))
    return failed


def commit(tale: Tale) -> None:
    """Commit the work where the agent does that itself; ends the work either way."""
    draft, assignment = tale.draft, tale.assignment
    if assignment is None:
        return
    if assignment.fate == "abandoned":
        draft.say(tale.pick("abandon"))
        draft.act(ran("git restore . && git clean -fdq src tests web", "", 0.2))
        draft.work_done = draft.now()
    elif assignment.by_agent:
        _commit_by_agent(tale, assignment)
    else:
        draft.work_done = draft.now()


def _commit_by_agent(tale: Tale, assignment: Assignment) -> None:
    draft = tale.draft
    names = assignment.commit_names(tale.outline)
    drafts = assignment.fate == "squashed"
    subjects = draft_headlines(tale.deed) if drafts else (headline(tale.deed),)
    added = sum(edit.added.count("\n") for edit in assignment.work.edits)
    for name, subject in zip(names, subjects, strict=False):
        what = assignment.work.edits[0].path if drafts and name == names[0] else "-A"
        command = f'git add {what} && git commit -m "{subject}"'
        said = committed(tale.branch, tale.commits[name], subject, added, len(subjects))
        if name == names[0]:
            draft.act(ran(command, said, 0.2))
            draft.work_done = draft.now()
        else:
            draft.act_after(DRAFT_GAP / 1000, ran(command, said, 0.2))


def close(tale: Tale, table: str) -> None:
    """The agent's last word."""
    tale.draft.act(reply=tale.pick(table, count=str(tale.rng.randrange(14, 64))))


# --- what is planted besides ----------------------------------------------------------------------


def reread(tale: Tale) -> None:
    """Read a file again though nothing changed, once with the tool and maybe once in the shell."""
    draft = tale.draft
    path = tale.service if tale.service in draft.files else "src/berthline/app.py"
    draft.read(path)
    (key,) = draft.act(Doing(Read(path), draft.files[path]))
    draft.plants.append(Reread(key, path))
    if tale.rng.random() < 0.4:
        (key,) = draft.act(ran(f"cat {path}", draft.files[path], 0.1))
        draft.plants.append(Reread(key, path))


def haul(tale: Tale) -> None:
    """Pull far more text into the context than the task needs."""
    command = tale.rng.choice(
        ("docker compose logs app", "git log -p --stat", "cat /tmp/serve.log")
    )
    lines = tale.rng.randrange(380, 620)
    (key,) = tale.draft.act(ran(command, tale.draft.body(lines), 2.0))
    tale.draft.plants.append(Haul(key, command))
    for path in ("src/berthline/money.py", "src/berthline/app.py"):
        tale.draft.read(path)


def spill(tale: Tale) -> None:
    """Print so much that the agent moves it to a file and shows its model the beginning only."""
    if not tale.traits.spills_outputs or tale.plants("copy"):  # a copied file leaves those behind
        return
    text = tale.draft.body(tale.rng.randrange(900, 1200))
    (key,) = tale.draft.act(Doing(Run("git log -p --stat"), text, 1.1, exit_code=0, spilled=True))
    tale.draft.plants.append(Spill(key))


def delegate(tale: Tale) -> None:
    draft = tale.draft
    role, title, prompt = voices.errand(tale.rng, tale.entity)
    child = fingerprint(draft.name, "child", len(tale.errands))
    report = tale.pick("errand_reports", count=str(tale.rng.randrange(3, 30)))
    action = Delegate(role, title, prompt, child)
    (key,) = draft.act(
        Doing(action, report, tale.rng.uniform(25, 70)), reply="I'll have that looked up."
    )
    tale.errands.append(Errand(key, child, role, title, prompt, report))


def interrupt(tale: Tale) -> None:
    """A person stops a long command and says what to do instead."""
    draft = tale.draft
    seconds = tale.rng.uniform(9, 40)
    stopped = Doing(Run("make test && make test"), draft.body(12), seconds, "interrupted")
    draft.act(stopped, reply="Running the whole suite twice to be sure.")
    draft.steps.append(Interruption(draft.now(), during_call=True))
    draft.say(tale.pick("stopped"), topic="interrupted", manner="interrupted")
    words = particulars(tale.rng, tale.entity, tale.deed.name)
    draft.act(ran(ENVIRONMENT.remedy.format(**words), ENVIRONMENT.relief.format(**words), 1.4))


def decline(tale: Tale) -> None:
    """A person refuses a command; it never runs."""
    draft = tale.draft
    command = tale.rng.choice(
        ("git push --force", "git reset --hard HEAD~1", "rm -rf web/node_modules")
    )
    (key,) = draft.act(Doing(Run(command), "", 6, "declined"), reply="One more step to clean up.")
    draft.plants.append(Refusal(key, command))
    draft.steps.append(Interruption(draft.now(), during_call=True))
    draft.say(tale.pick("declined"), topic="declined", manner="interrupted")
    draft.act(ran("git status --short", " M src/berthline/services", 0.1), reply="Left as it is.")


def struggle(tale: Tale) -> None:
    """Change a line that others hang on, again and again, until the suite passes; then drop it."""
    draft, path = tale.draft, ROUNDING.path
    whole = draft.files[path]
    draft.read(path)
    runs = []
    old, rounds = "    base, rest = divmod(cents, parts)", tale.rng.randrange(4, 7)
    for number in range(rounds):
        new = f"    base, rest = divmod(cents + {number}, parts or {tale.rng.randrange(2, 99)})"
        key = draft.change(path, old, new, reply=tale.pick("say_edit"))
        last = number == rounds - 1
        draft.plants.append(Landing(key, path, new, "discarded" if last else "replaced"))
        old, words = new, particulars(tale.rng, tale.entity, tale.deed.name)
        text = (ROUNDING.relief if last else ROUNDING.output).format(**words)
        command, code = ROUNDING.command, 0 if last else ROUNDING.exit_code
        runs += draft.act(ran(command, text, float(words["seconds"]), code))
    for run in runs[:-1]:
        draft.plants.append(Stumble(run, ROUNDING.name, ROUNDING.exit_code, False, runs[-1]))
    draft.plants.append(Struggle(path, ROUNDING.command, tuple(runs)))
    draft.act(ran(f"git restore {path}", "", 0.1), reply=tale.pick("say_sorry"))
    draft.files[path] = whole
    draft.seen.pop(path, None)


def routine(tale: Tale) -> None:
    """Do what is done in one order every time; somebody may ask to keep it."""
    draft, words = tale.draft, particulars(tale.rng, tale.entity, tale.deed.name)
    draft.say(RELEASE.asked.format(**words))
    commands = tuple(command.format(**words) for command, _ in RELEASE.steps)
    told = (text.format(**words) for _, text in RELEASE.steps)
    calls = [draft.act(ran(*it, 4.0))[0] for it in zip(commands, told, strict=True)]
    kept = RELEASE.kept_as if tale.rng.random() < 0.3 else None
    if kept:
        draft.act(reply=tale.pick("say_run"))
        draft.say(RELEASE.keep)
        draft.act(reply="Noted.")
    draft.plants.append(Course(RELEASE.name, tuple(calls), commands, kept))


def decoy(tale: Tale) -> None:
    """Calls that look like failures: errors as a subject, and a search that finds nothing."""
    draft = tale.draft
    hits = found(draft.files, "rror", "src")
    (first,) = draft.act(ran('rg -n "[Ee]rror" src', hits, 0.1))
    draft.plants.append(Decoy(first, "mentions_errors"))
    (second,) = draft.act(ran(f'rg -n "legacy_{tale.entity}" src', "", 0.1, exit_code=1))
    draft.plants.append(Decoy(second, "nothing_found"))


def scope(tale: Tale) -> None:
    """Write a file nobody asked for and take it back."""
    draft = tale.draft
    note = f"# Notes\n\nWe can now {tale.deed.phrase}. See services/{tale.entity}.py.\n"
    key = draft.change("NOTES.md", "", note, reply="I also wrote this down.")
    draft.plants.append(Landing(key, "NOTES.md", note, "discarded"))
    draft.say(pick(tale.rng, "correct_scope"), topic="scope", about=key)
    draft.act(ran("rm NOTES.md", "", 0.1), reply=tale.pick("say_sorry"))
    del draft.files["NOTES.md"]


def fetch(tale: Tale) -> None:
    url = f"https://tariffs.example.org/{tale.entity}"
    doing = Doing(Fetch(url, "How are dues set elsewhere?"), pick(tale.rng, "article"), 2.2)
    tale.draft.act(doing, reply="Let me see how others do it.")


def consult(tale: Tale) -> None:
    number = str(tale.rng.randrange(100, 999))
    answer = f"#{number} {tale.deed.phrase} — open, reported by the harbour office"
    action = Consult("tracker", "get_issue", {"number": number})
    tale.draft.act(Doing(action, answer, 0.8), reply="Reading the ticket.")


def skill(tale: Tale) -> None:
    """Read a skill, asked for or not, and perhaps do what it says."""
    draft, chosen = tale.draft, tale.rng.choice(WANTED)
    asked, follows = tale.rng.random() < 0.5, tale.rng.random() < 0.5
    if asked:
        draft.say(chosen.asked)
    (key,) = draft.act(Doing(Read(chosen.path), chosen.text), reply="There is a skill for this.")
    followed_by = None
    if follows:
        (followed_by,) = draft.act(ran(chosen.command, chosen.output, 1.5))
    draft.plants.append(Recourse(key, chosen.name, asked, followed_by))


def slash(tale: Tale) -> None:
    if tale.traits.records_commands:
        step = Command(tale.draft.now(), "/cost", "", "Total duration (API): 2m 11s")
        tale.draft.steps.append(step)


def compact(tale: Tale) -> None:
    """A person asks for a shorter context."""
    draft = tale.draft
    if tale.traits.records_commands:
        draft.wait(10, 60)
        draft.steps.append(Command(draft.now(), "/compact", "keep the open points", "Compacted"))
    draft.compact("manual")
    draft.say(tale.pick("follow_up"))
    draft.act(reply="Yes – going on from the summary.")


def queue(tale: Tale) -> None:
    """A person types while a command is still running."""
    draft = tale.draft
    words = particulars(tale.rng, tale.entity, tale.deed.name)
    draft.act(ran("make test", ENVIRONMENT.relief.format(**words), 14.0))
    draft.say(tale.pick("queued"), "queued_human" if tale.traits.records_queue else "human")
    draft.act(reply="Noted, I'll keep that in mind.")


def leak_output(tale: Tale) -> None:
    kind = tale.rng.choice(("aws_access_key_id", "openai_key", "json_web_token", "private_key"))
    value = _leak(tale, kind, "output")
    draft = tale.draft
    draft.act(
        ran("docker compose exec app env", f"PATH=/usr/bin\nHARBOUR_KEY={value}\nTZ=UTC", 0.6)
    )


def leak_file(tale: Tale) -> None:
    """Read the file that holds the service's secrets."""
    url, key = (_leak(tale, kind, "file") for kind in ("postgres_url", "aws_secret_access_key"))
    text = f"BERTHLINE_DB_URL={url}\nAWS_SECRET_ACCESS_KEY={key}\nBERTHLINE_PORT=8400\n"
    tale.draft.act(Doing(Read(".env"), text))


def leaked_in_prompt(tale: Tale) -> str:
    """Words for a prompt that hold a secret."""
    kind = tale.rng.choice(("github_token", "slack_token", "postgres_url"))
    return f"\nIf you need it: {_leak(tale, kind, 'prompt')}"


def _leak(tale: Tale, kind: str, place: Literal["prompt", "output", "file"]) -> str:
    value = secret(kind, tale.rng)
    tale.draft.plants.append(Leak(kind, value, place))
    return value


def unanswered(tale: Tale) -> None:
    """The session ends while a command is still running."""
    tale.draft.act(Doing(Run("make serve"), answered=False), reply="Starting the service.")


def chores(tale: Tale) -> None:
    """What an automated run does every time."""
    draft = tale.draft
    words = particulars(tale.rng, tale.entity, tale.deed.name)
    draft.act(ran("make lint", "uv run ruff check src tests\nAll checks passed!", 1.2))
    draft.act(ran("make test", ENVIRONMENT.relief.format(**words), float(words["seconds"])))
    draft.act(ran("docker compose logs --tail 40 app", draft.body(40), 0.9))
    draft.read("pyproject.toml", page_path(tale.entity))


def second_sitting(tale: Tale) -> None:
    """Come back to a session another time."""
    draft = tale.draft
    draft.say(tale.pick("ask_resume"))
    words = particulars(tale.rng, tale.entity, tale.deed.name)
    draft.act(ran("git status --short", "", 0.1), ran("git stash list", "", 0.1))
    draft.act(ran("make test", ENVIRONMENT.relief.format(**words), float(words["seconds"])))
    draft.act(reply="Still green; nothing is left open here.")
