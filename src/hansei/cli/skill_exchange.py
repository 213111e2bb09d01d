"""`hansei skills import` and `hansei skills export`."""

from __future__ import annotations

import click

from hansei.cli import app, output
from hansei.cli.skill_desk import desk_here, no_place
from hansei.errors import UsageError

FORMATS = ("agent-skills", "json", "kayba-0.7", "kayba-0.9", "kayba-0.13", "playbook")
STATES = ("draft", "approved", "rejected", "quarantined", "retired")


@click.command("import", short_help="Take in another book.")
@click.argument("path", type=click.Path())
@click.option("--format", "form", type=click.Choice(FORMATS), help="If it is not recognised.")
@click.option("--trust", is_flag=True, help="You know where it comes from: drafts at once.")
@click.option("--replace", "over", is_flag=True, help="Also where a skill of that name is here.")
@click.option("--user", is_flag=True, help="For every repository, not only this.")
@click.option("--repo", is_flag=True, help="Into the repository's book, for the whole team.")
@click.option("--dry-run", is_flag=True, help="Say what would be taken in, change nothing.")
@no_place
@app.json_option
def take_in(
    path: str,
    form: str | None,
    trust: bool,
    over: bool,
    user: bool,
    repo: bool,
    dry_run: bool,
    place: bool,
    as_json: bool,
) -> None:
    """Take in Agent Skills folders, JSON, a skillbook of Kayba or a playbook of ACE.

    What comes in is a stranger's text: it is quarantined and written nowhere until you promote it,
    unless you say --trust. Skills that this very store exported and nobody changed since keep their
    state; they carry a seal that only your store can make.
    """
    from hansei.cli import skill_pages
    from hansei.learn.model import Scope
    from hansei.ops import skill_exchange

    if user and repo:
        raise UsageError("a book is taken in either for every repository or for this one")
    scope = Scope.GLOBAL if user else Scope.WORKSPACE
    with desk_here() as desk:
        shown = skill_exchange.look(desk, app.folder() / path, form=form, trust=trust, over=over)
        if not dry_run:
            shown = skill_exchange.take_in(desk, shown, scope=scope, repo=repo, place=place)
    if as_json:
        output.write_json("skill-import", skill_pages.told_import(shown))
        return
    for line in skill_pages.imported(shown):
        output.write(line)
    if shown.done is not None:
        for line in skill_pages.ending(shown.done):
            output.write(line)


@click.command("export", short_help="Hand out skills.")
@click.argument("names", nargs=-1)
@click.option(
    "--format", "form", type=click.Choice(FORMATS), default="agent-skills", show_default=True
)
@click.option(
    "--state",
    "states",
    type=click.Choice(STATES),
    multiple=True,
    default=("draft", "approved"),
    show_default=True,
    help="Only skills in these states. May be repeated.",
)
@click.option("--to", metavar="PATH", help="A folder for agent-skills, else a file; - is stdout.")
@click.option("--force", is_flag=True, help="Replace files that are there.")
@app.json_option
def hand_out(
    names: tuple[str, ...],
    form: str,
    states: tuple[str, ...],
    to: str | None,
    force: bool,
    as_json: bool,
) -> None:
    """Write skills for another program: all that are draft or approved, or those you name.

    \b
      hansei skills export --to shared/skills              folders that agents read
      hansei skills export --format json --to book.json    everything, to take in again elsewhere
      hansei skills export --format kayba-0.13 --to -      to stdout
    """
    from hansei.learn.model import State
    from hansei.ops import skill_exchange

    folder = form == "agent-skills"
    if to is None and (folder or as_json):
        raise UsageError("say where to with --to", hint="For example --to exported-skills.")
    with desk_here() as desk:
        chosen = [State(it) for it in states]
        files = skill_exchange.export(desk, names, form=form, states=chosen)
    if to in (None, skill_exchange.STDOUT):
        if folder:
            raise UsageError("folders do not fit into stdout", hint="Name a folder with --to.")
        click.echo(files[""], nl=False)
        return
    paths = skill_exchange.write(files, app.folder() / str(to), over=force)
    if as_json:
        output.write_json("skill-export", {"format": form, "files": [str(it) for it in paths]})
    else:
        output.write(f"Wrote {output.plural(len(paths), 'file')} as {form} to {to}.")
