"""`hansei exp`."""

from __future__ import annotations

import secrets
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from hansei.cli import app, output
from hansei.cli.commands.apply import agree, difference
from hansei.cli.diagnostics import note, warn
from hansei.errors import UnusableInstructions, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from hansei.config import Config
    from hansei.experiments.experiment import Experiment
    from hansei.ops.experiments.reports import Report
    from hansei.ops.experiments.verbs import Concluded, Tended
    from hansei.ops.retro import Offer
    from hansei.store.database import Store

BINDS = ("git", "exposure", "nudge", "days", "branch", "prompt", "tag")
MOST_RESAMPLES = 1_000_000
NOWHERE = -1
"""The workspace of a folder in which no session ever was: it has no experiments."""


@click.group(short_help="Experiments: did a change help?")
def command() -> None:
    """Did a change help? Compare the sessions that had it with those that had not.

    \b
      hansei exp new --bind git --hypothesis "splitting auth.py takes fewer tokens"
      …work for a week…
      hansei exp report                  what was found, in two sentences and a picture

    \b
    How the sessions are told apart (--bind):
      exposure   a coin decides for each session; the hook delivers the text to half of them
      nudge      a coin decides; the hook tells half of the sessions that meet a known failure
                 what got past it before (docs/concepts/nudge.md)
      days       a coin decides for each day; for agents without a hook
      git        before and after a commit; also what `hansei apply` wrote, by itself
      branch, prompt, tag    two branches, two sets of instructions, or sessions you name

    Only a coin (exposure, days) can say helped or harmed. The others say lower since or higher
    since, because something else may have changed at the same time.

    An experiment goes draft, running, concluded, archived, and never back. Without an ID the
    commands mean the one that is running here.
    """


@contextmanager
def _desk(*, ingest: bool = True) -> Iterator[tuple[Store, Config, Path, int]]:
    """A store with experiments tended, the settings, where the person stands, its workspace."""
    from hansei.ops.experiments.verbs import tend
    from hansei.ops.scope import current_workspace

    settings = app.config()
    with app.up_to_date(settings, ingest=ingest) as store:
        workspace, _ = current_workspace(store, app.folder())
        _say(tend(store, settings, app.folder(), app.now()))
        yield store, settings, app.folder(), NOWHERE if workspace is None else workspace


def _say(done: Tended) -> None:
    for it in done.adopted:
        note(f"Experiment {it.id[:4]} measures what you applied: {output.one_line(it.hypothesis)}")
    for it in done.undone:
        note(f"Experiment {it.id[:4]} harmed and was ended: {output.one_line(it.hypothesis)}")
    for switched in done.switched:
        if switched.problem:
            warn(f"{switched.path} could not be switched: {switched.problem}")
    for problem in done.problems:
        warn(problem)


def _facts(store: Store, settings: Config, it: Experiment) -> None:
    from hansei.ops.scope import Scope

    app.with_facts(store, settings, Scope(workspace=it.workspace))


# --- beginning ------------------------------------------------------------------------------------


@command.command("new", short_help="Begin an experiment.")
@click.option("--bind", type=click.Choice(BINDS), default="git", show_default=True)
@click.option("--hypothesis", metavar="TEXT", help="What you expect, in your own words.")
@click.option("--metric", metavar="NAME", help="What is counted; tokens per session by default.")
@click.option("--bet", metavar="N", help="Of `hansei retro`: its line, and how often it recurs.")
@click.option("--text", metavar="TEXT", help="What is delivered (exposure, days).")
@click.option("--skill", metavar="NAME", help="Deliver a skill's text (exposure, days).")
@click.option("--change", metavar="COMMIT", help="A commit made already (git).")
@click.option("--pin", metavar="COMMIT", help="The last commit without the change (git): HEAD.")
@click.option("--treatment", metavar="NAME", help="The branch or fingerprint with the change.")
@click.option("--control", metavar="NAME", help="The one without it; else all others.")
@click.option("--to", "path", metavar="FILE", help="The file that is switched (days).")
@click.option(
    "--share", type=click.FloatRange(0.05, 0.95), default=0.5, help="Of sessions with the change."
)
@click.option(
    "--margin",
    type=click.FloatRange(0.01, 0.5),
    default=0.1,
    help="A difference this small is none.",
)
@click.option("--auto", is_flag=True, help="End it by itself where it harms (exposure, days).")
@click.option("--draft", is_flag=True, help="Write it down only; `exp start` begins it.")
@click.option("--yes", is_flag=True, help="Do not ask before a file is written (days).")
@app.ingest_option
@app.json_option
def new(draft: bool, yes: bool, ingest: bool, as_json: bool, bet: str | None, **asked: Any) -> None:
    """Begin an experiment. It starts at once; --draft only writes it down.

    \b
      hansei exp new --bind git --hypothesis "…"             all from HEAD on against all before
      hansei exp new --bind git --change 3f2a91c --hypothesis "…"   a commit of the past
      hansei exp new --bind exposure --bet 1                 the line of a bet, by a coin
      hansei exp new --bind exposure --text "Use make lint, not ruff." --metric requests
      hansei exp new --bind nudge                            known fixes, when a failure is met
      hansei exp new --bind days --text "…" --hypothesis "…" by days, for agents without hooks

    --metric is one of tokens, cost, requests, minutes, green, failed, loops, compactions, remarks,
    landed, surviving, result, or a fact and its subject such as "rereads:src/auth.py". With --bet
    it is how often that recurs. `hansei exp power` says how many sessions it will take.

    While a coin decides, the text may stand in no instruction file.
    """
    from hansei.experiments.experiment import Bind
    from hansei.ops.experiments.drafting import Wish
    from hansei.ops.experiments.drafting import draft as drafted
    from hansei.ops.scope import Scope

    with _desk(ingest=ingest) as (store, settings, here, workspace):
        _must_be_writable(store)
        offer = None if bet is None else _offer(store, settings, bet)
        wish = Wish(**{**asked, "bind": Bind(asked["bind"]), "offer": offer})
        if wish.metric is not None:
            app.with_facts(store, settings, Scope(workspace=workspace))
        salt = secrets.token_hex(8)
        it = drafted(store, settings, wish, here, now=app.now(), salt=salt)
        if wish.metric is not None and wish.metric not in (it.fact, f"{it.fact}:{it.subject}"):
            note(f"That is known by what is missing: --metric {it.fact}:{it.subject}")
        if not draft:
            it = _started(store, settings, it, here, yes=yes, as_json=as_json)
        _tell(store, it, as_json=as_json)


def _offer(store: Store, settings: Config, bet: str) -> Offer:
    from hansei.ops.decisions import offered

    wanted = dict.fromkeys(("everywhere", "workspace", "since", "until", "agent", "driver"))
    scope = app.scope(store, wanted)
    app.with_facts(store, settings, scope)
    return offered(store, scope, bet, app.now())[1]


def _must_be_writable(store: Store) -> None:
    from hansei.ops.apply import must_be_writable

    must_be_writable(store)


def _started(
    store: Store, settings: Config, it: Experiment, here: Path, *, yes: bool, as_json: bool
) -> Experiment:
    """Start, after asking where a file of the person's will be written."""
    from hansei.experiments.experiment import Bind
    from hansei.ops.experiments.places import repository
    from hansei.ops.experiments.switching import planned
    from hansei.ops.experiments.verbs import start

    folder = repository(store, it.workspace, here)
    if it.bind is Bind.DAYS and folder is not None:
        plan = planned(store, it, folder)
        if plan.problems:
            raise UnusableInstructions(plan.problems[0].message, hint=plan.problems[0].hint)
        if not as_json:
            output.write("On the days of one arm this stands in the file, on others not:\n")
            for line in difference(plan.diff):
                output.write(line)
        agree("Switch it day by day?", f"hansei exp start {it.id[:4]} --yes", yes=yes)
    return start(store, settings, it, here, app.now())


def _tell(store: Store, it: Experiment, *, as_json: bool) -> None:
    from hansei.cli import experiment_pages as pages

    if as_json:
        output.write_json("experiment", pages.told(it))
        return
    for line in pages.begun(it, hooked=_is_hooked(store, it)):
        output.write(line)


def _is_hooked(store: Store, it: Experiment) -> bool:
    """Whether a hook has ever seen a session here."""
    query = (
        "SELECT 1 FROM evidence e JOIN sessions s ON s.id = e.session"
        " WHERE e.basis = 'hook' AND s.workspace = ? LIMIT 1"
    )
    return store.db.execute(query, (it.workspace,)).fetchone() is not None


@command.command("start", short_help="Begin a draft.")
@click.argument("name", metavar="[ID]", required=False)
@click.option("--yes", is_flag=True, help="Do not ask before a file is written (days).")
@app.json_option
def start(name: str | None, yes: bool, as_json: bool) -> None:
    """Begin an experiment that was written down with `exp new --draft`."""
    from hansei.experiments.experiment import Stage
    from hansei.ops.experiments.shelf import meant

    with _desk(ingest=False) as (store, settings, here, workspace):
        _must_be_writable(store)
        it = meant(store, name, workspace, (Stage.DRAFT,))
        _tell(store, _started(store, settings, it, here, yes=yes, as_json=as_json), as_json=as_json)


@command.command("power", short_help="How many sessions will it take?")
@click.argument("name", metavar="[ID]", required=False)
@click.option(
    "--before", type=click.FloatRange(0.5, 99.5), help="Percent of sessions it is in now."
)
@click.option("--after", type=click.FloatRange(0, 100), help="Percent you hope for: half of it.")
@click.option("--bet", metavar="N", help="Take --before from a bet of `hansei retro`.")
@click.option("--sessions", type=click.IntRange(20, 5000), default=400, show_default=True)
@app.ingest_option
@app.json_option
def power(
    name: str | None,
    before: float | None,
    after: float | None,
    bet: str | None,
    sessions: int,
    ingest: bool,
    as_json: bool,
) -> None:
    """Play experiments through before you spend a session on one.

    \b
      hansei exp power --before 30 --after 5      from 30 in 100 sessions to 5
      hansei exp power --bet 1                    what a bet is about, cut by half

    It says how often a verdict is reached within that many sessions, and after how many, with a
    coin and without one.
    """
    from hansei.cli import experiment_pages as pages
    from hansei.ops.experiments.powers import outlook

    with _desk(ingest=ingest) as (store, settings, here, workspace):
        offer = None if bet is None else _offer(store, settings, bet)
        it = None
        if before is None and offer is None:
            from hansei.ops.experiments.shelf import meant

            it = meant(store, name, workspace)
            _facts(store, settings, it)
        found = outlook(
            store,
            here,
            app.now(),
            workspace=workspace,
            experiment=it,
            offer=offer,
            before=None if before is None else before / 100,
            after=None if after is None else after / 100,
            sessions=sessions,
        )
    if as_json:
        output.write_json("power", found)
        return
    for line in pages.powers(found):
        output.write(line)


# --- looking --------------------------------------------------------------------------------------


@command.command("list", short_help="The experiments here.")
@click.option("--all", "everywhere", is_flag=True, help="Of every workspace, archived ones too.")
@app.json_option
def list_(everywhere: bool, as_json: bool) -> None:
    """The experiments of this repository, oldest first."""
    from hansei.cli import experiment_pages as pages
    from hansei.experiments.experiment import Stage
    from hansei.ops.experiments.shelf import listed

    with _desk(ingest=False) as (store, _, _here, workspace):
        found = listed(store, None if everywhere else workspace)
    shown = [it for it in found if everywhere or it.stage is not Stage.ARCHIVED]
    if as_json:
        output.write_json("experiments", {"experiments": [pages.told(it) for it in shown]})
        return
    for line in pages.listing(shown, len(found) - len(shown)):
        output.write(line)


@command.command("status", short_help="How far those that run have got.")
@app.ingest_option
@app.json_option
def status(ingest: bool, as_json: bool) -> None:
    """One line for each experiment that runs here: sessions, verdict, how many are missing."""
    from hansei.cli import experiment_pages as pages
    from hansei.ops.experiments import verbs
    from hansei.ops.experiments.reports import report
    from hansei.ops.experiments.shelf import running

    with _desk(ingest=ingest) as (store, settings, here, workspace):
        for it in running(store, workspace)[:1]:
            _facts(store, settings, it)
        _say(verbs.tend(store, settings, here, app.now(), judge=True))
        found = [
            report(store, it, here, app.now(), resamples=1).report
            for it in running(store, workspace)
        ]
    if as_json:
        output.write_json("experiment_status", {"running": [pages.summed(it) for it in found]})
        return
    for line in pages.standing(found):
        output.write(line)


@command.command("report", short_help="What was found.")
@click.argument("name", metavar="[ID]", required=False)
@click.option("--resamples", type=click.IntRange(100, MOST_RESAMPLES), default=10_000)
@click.option("--confidence", type=click.FloatRange(50, 99.9), default=95.0, help="Percent.")
@click.option("--markdown", is_flag=True, help="As Markdown, to paste somewhere.")
@click.option("--html", is_flag=True, help="As one page of HTML with pictures, on stdout.")
@app.ingest_option
@app.json_option
def report(
    name: str | None,
    resamples: int,
    confidence: float,
    markdown: bool,
    html: bool,
    ingest: bool,
    as_json: bool,
) -> None:
    """What was found: two sentences, a picture, and all that it rests on.

    \b
      hansei exp report                    the one that runs here, else the last one concluded
      hansei exp report 3f2a --html > report.html

    Look as often as you like: the error is bounded over all looks together. Medians come with
    intervals from --resamples; they describe and never decide. The report of a concluded
    experiment stays as it was.
    """
    if markdown + html + as_json > 1:
        raise UsageError("--json, --markdown and --html exclude each other")
    told = _report(name, resamples, confidence / 100, ingest=ingest)
    _print_report(told, markdown=markdown, html=html, as_json=as_json)


def _report(name: str | None, resamples: int, confidence: float, *, ingest: bool) -> Report:
    from hansei.experiments.experiment import Stage
    from hansei.ops.experiments import verbs
    from hansei.ops.experiments.reports import CONFIDENCE, RESAMPLES
    from hansei.ops.experiments.reports import report as reported
    from hansei.ops.experiments.shelf import meant, named

    with _desk(ingest=ingest) as (store, settings, here, workspace):
        stages = (Stage.RUNNING, Stage.CONCLUDED, Stage.DRAFT)
        it = meant(store, name, workspace, stages)
        if it.report is None:
            _facts(store, settings, it)
            _say(verbs.tend(store, settings, here, app.now(), judge=True))
            it = named(store, it.id)
        elif (resamples, confidence) != (RESAMPLES, CONFIDENCE):
            note("It is concluded: the report stays as it was.")
        looked = reported(store, it, here, app.now(), resamples=resamples, confidence=confidence)
    return looked.report


def _print_report(told: Report, *, markdown: bool, html: bool, as_json: bool) -> None:
    from hansei.cli import experiment_pages as pages

    if as_json:
        output.write_json("experiment_report", pages.reported(told))
    elif html:
        from hansei.cli.experiment_html import page

        output.write(page(told), end="")
    else:
        for line in pages.markdown(told) if markdown else pages.page(told):
            output.write(line)


# --- by hand --------------------------------------------------------------------------------------


@command.command("tag", short_help="Put sessions in an arm by hand.")
@click.argument("arm", type=click.Choice(["treatment", "control", "none"]))
@click.argument("sessions", nargs=-1, required=True, metavar="SESSION...")
@click.option("--exp", "name", metavar="ID", help="Of which experiment; the running one.")
@app.json_option
def tag(arm: str, sessions: tuple[str, ...], name: str | None, as_json: bool) -> None:
    """Put sessions in an arm by hand; `none` takes the tag off again.

    \b
      hansei exp tag treatment 3f2a91c0 77b1
      hansei exp tag none 77b1

    A tag always wins, over the binding and over the coin. Where a coin was to decide, one tag
    against it makes the experiment one without a coin, and the report says so.
    """
    from hansei.experiments.experiment import Stage
    from hansei.experiments.placing import Arm
    from hansei.ops.experiments.shelf import meant
    from hansei.ops.experiments.verbs import tag as tagged

    with _desk(ingest=False) as (store, _, _here, workspace):
        _must_be_writable(store)
        it = meant(store, name, workspace, (Stage.RUNNING, Stage.DRAFT))
        done = tagged(store, it, sessions, None if arm == "none" else Arm(arm))
    if as_json:
        output.write_json("tags", {"experiment": it.id, "arm": arm, "sessions": done})
        return
    where = "no arm by hand" if arm == "none" else f"{arm} by hand"
    output.write(f"{output.plural(len(done), 'session')} of experiment {it.id[:4]}: {where}.")


@command.command("conclude", short_help="End it and freeze what was found.")
@click.argument("name", metavar="[ID]", required=False)
@click.option("--resamples", type=click.IntRange(100, MOST_RESAMPLES), default=10_000)
@click.option("--confidence", type=click.FloatRange(50, 99.9), default=95.0, help="Percent.")
@click.option("--keep/--no-keep", default=None, help="Put what helped into the file, or do not.")
@click.option("--undo/--no-undo", default=None, help="Take back what did not help, or do not.")
@app.ingest_option
@app.json_option
def conclude(
    name: str | None,
    resamples: int,
    confidence: float,
    keep: bool | None,
    undo: bool | None,
    ingest: bool,
    as_json: bool,
) -> None:
    """End an experiment: the sample and the verdict stay as they are now.

    Nothing is delivered or switched any more. A line that helped (with a coin) is shown as a
    change of the instruction file and written if you agree; a line that stands there and did not
    help is taken out if you agree, because lines cost rent.
    """
    from hansei.ops.experiments import verbs
    from hansei.ops.experiments.shelf import meant

    with _desk(ingest=ingest) as (store, settings, here, workspace):
        _must_be_writable(store)
        it = meant(store, name, workspace)
        _facts(store, settings, it)
        done = verbs.conclude(
            store,
            settings,
            it,
            here,
            app.now(),
            resamples=resamples,
            confidence=confidence / 100,
        )
        if not as_json:
            _print_report(done.report, markdown=False, html=False, as_json=False)
        entry = _kept(store, done, keep=keep, as_json=as_json)
        undone = _undone(store, done, here, undo=undo, as_json=as_json)
    if as_json:
        from hansei.cli import experiment_pages as pages

        body = pages.reported(done.report)
        output.write_json("experiment_report", {**body, "kept": entry, "undone": undone})


def _wants(wish: bool | None, question: str, *, as_json: bool) -> bool:
    """What a person said before, or says now; nobody to ask is a no."""
    if wish is not None:
        return wish
    if as_json or not sys.stdin.isatty():
        return False
    return click.confirm(question, err=True)


def _kept(store: Store, done: Concluded, *, keep: bool | None, as_json: bool) -> int | None:
    from hansei.ops.experiments import verbs

    plan = done.offer
    if plan is None or plan.problems or not plan.files:
        return None
    if not as_json:
        output.write("\nFor every session from now on:\n")
        for line in difference(plan.diff):
            output.write(line)
    if not _wants(keep, "Write this?", as_json=as_json):
        if not as_json:
            note("Nothing was written. `hansei exp conclude` asks once; `hansei apply` does too.")
        return None
    entry = verbs.keep(store, done.experiment, plan, app.now())
    if not as_json:
        output.write(f"Wrote {entry.files[0].path}. `hansei undo {entry.id}` takes it back.")
    return entry.id


def _undone(
    store: Store, done: Concluded, here: Path, *, undo: bool | None, as_json: bool
) -> int | None:
    from hansei.ops.experiments import verbs

    if done.undo is None or not _wants(undo, "Take the line out again?", as_json=as_json):
        return None
    verbs.take_back(store, done.experiment, done.undo, here, app.now())
    if not as_json:
        output.write(f"Undid change {done.undo}.")
    return done.undo


@command.command("switch", short_help="Put the blocks in or out for today (days).")
@app.json_option
def switch(as_json: bool) -> None:
    """Put the blocks of --bind days in or take them out, as the coin says for today.

    `hansei ingest` and `hansei ingest --watch` do this by themselves; run it each morning, by
    cron or by hand, where neither runs.
    """
    from hansei.ops.experiments.verbs import tend

    settings = app.config()
    with app.opened(settings) as store:
        done = tend(store, settings, app.folder(), app.now())
    if as_json:
        output.write_json("switch", {"switched": [it._asdict() for it in done.switched]})
        return
    _say(done)
    for it in done.switched:
        state = "in" if it.arm == "treatment" else "out"
        what = "switched" if it.changed else "as it was"
        output.write(f"Experiment {it.experiment[:4]}: today {it.path} has it {state} ({what}).")
    if not done.switched:
        output.write("No experiment goes by days here.")


@command.command("archive", short_help="Put a concluded one away.")
@click.argument("name", metavar="[ID]", required=False)
@app.json_option
def archive(name: str | None, as_json: bool) -> None:
    """Put a concluded experiment away; `exp list --all` and `exp report ID` still show it."""
    from hansei.experiments.experiment import Stage
    from hansei.ops.experiments import verbs
    from hansei.ops.experiments.shelf import meant

    with _desk(ingest=False) as (store, _, _here, workspace):
        _must_be_writable(store)
        it = meant(store, name, workspace, (Stage.CONCLUDED,))
        away = verbs.archive(store, it, app.now())
        if as_json:
            _tell(store, away, as_json=True)
            return
    output.write(f"Archived experiment {it.id[:4]}.")


@command.command("delete", short_help="Remove one for good.")
@click.argument("name", metavar="ID")
@click.option("--yes", is_flag=True, help="Do not ask.")
@app.json_option
def delete(name: str, yes: bool, as_json: bool) -> None:
    """Remove an experiment, its tags and its report. What it delivers is stopped first."""
    from hansei.ops.experiments import verbs
    from hansei.ops.experiments.shelf import named

    if as_json and not yes:
        raise UsageError("--json cannot ask", hint="Add --yes to do it.")
    with _desk(ingest=False) as (store, settings, here, _):
        _must_be_writable(store)
        it = named(store, name)
        if not as_json:
            output.write(f"{it.id[:4]} ({it.stage}): {output.one_line(it.hypothesis)}")
        agree("Delete it for good?", f"hansei exp delete {it.id[:4]} --yes", yes=yes)
        verbs.delete(store, settings, it, here, app.now())
    if as_json:
        output.write_json("deletion", {"experiment": it.id, "stage": it.stage})
        return
    output.write(f"Deleted experiment {it.id[:4]}.")
