"""Write docs/reference from the code, or check that it says what the code does.

A command, option, setting, event kind or error that is not on these pages does not exist.
"""

import inspect
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click
import msgspec

from hansei import errors
from hansei.bets.recurring import Fact
from hansei.cli.main import COMMANDS
from hansei.cli.root import root
from hansei.config import PriceOverride, Settings
from hansei.events import model
from hansei.experiments.metrics.catalogue import AMOUNTS
from hansei.experiments.metrics.recurrence import COUNTED
from hansei.installation import catalogue
from hansei.learn import checks
from hansei.redaction.rules import RULES
from hansei.retro.catalogue import HEURISTICS

if TYPE_CHECKING:
    from hansei.retro.contract import Heuristic

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "reference"
MADE = "<!-- Made by `make docs` from the code. Change the code, not this page. -->"


def cli_page() -> Iterator[str]:
    yield "# Commands"
    yield ""
    yield "Every command prints its answer to stdout and everything else to stderr."
    yield "`--json` prints a document whose `schema` names its shape, such as `hansei.summary/1`."
    yield ""
    context = click.Context(root, info_name="hansei", max_content_width=88, terminal_width=88)
    yield from help_block("hansei", root.get_help(context))
    for name in COMMANDS:
        command = root.get_command(context, name)
        assert command is not None
        inner = click.Context(
            command, parent=context, info_name=name, max_content_width=88, terminal_width=88
        )
        yield from help_block(f"hansei {name}", command.get_help(inner))
        if isinstance(command, click.Group):
            for part, below in command.commands.items():
                deeper = click.Context(
                    below, parent=inner, info_name=part, max_content_width=88, terminal_width=88
                )
                yield from help_block(f"hansei {name} {part}", below.get_help(deeper))


def help_block(title: str, text: str) -> Iterator[str]:
    yield f"## {title}"
    yield ""
    yield "```text"
    yield from text.splitlines()
    yield "```"
    yield ""


def config_page() -> Iterator[str]:
    yield "# Settings"
    yield ""
    yield "`config.toml` in the store (`hansei config` says where). Every setting has a default."
    yield ""
    yield "| setting | type | default | meaning |"
    yield "|---|---|---|---|"
    yield from setting_rows(Settings)
    yield ""
    yield "## Your own prices"
    yield ""
    yield '`[prices."MODEL"]`, in dollars per million tokens:'
    yield ""
    yield "| key | type | default | meaning |"
    yield "|---|---|---|---|"
    yield from setting_rows(PriceOverride)
    yield ""
    yield "## Environment"
    yield ""
    yield "| variable | meaning |"
    yield "|---|---|"
    yield "| `HANSEI_HOME` | the store to use instead of `~/.hansei` or a repository's own |"
    yield "| `NO_COLOR` | print without colour |"


def setting_rows(kind: type[msgspec.Struct]) -> Iterator[str]:
    notes = field_notes(kind)
    for field in msgspec.structs.fields(kind):
        default = "required" if field.required else "none"
        if field.default is not msgspec.NODEFAULT:
            default = "unset" if field.default is None else f"`{field.default}`"
        type_name = str(kind.__annotations__[field.name]).replace("|", "or")
        yield f"| `{field.name}` | `{type_name}` | {default} | {notes.get(field.name, '')} |"


def field_notes(kind: type) -> dict[str, str]:
    """The text that stands below each field in the source."""
    notes: dict[str, str] = {}
    name = ""
    source = inspect.getsource(kind).splitlines()
    for index, line in enumerate(source):
        text = line.strip()
        if ": " in text and not text.startswith(('"""', "#", "class", "@")):
            name = text.partition(":")[0]
            _, mark, comment = line.partition("  # ")
            if mark:
                notes[name] = comment
        elif text.startswith('"""') and name and index > 1:
            block = text
            following = iter(source[index + 1 :])
            while not (block.endswith('"""') and len(block) > 5):
                block += " " + next(following).strip()
            notes[name] = block.strip('"')
            name = ""
    return notes


def events_page() -> Iterator[str]:
    yield "# Events"
    yield ""
    yield "What every agent's transcript is told in. `docs/concepts/events.md` explains the ideas."
    yield ""
    yield "Shared by all: `key` (identity), `session`, `at` (milliseconds, UTC), `cwd`, `branch`."
    shared = {field.name for field in msgspec.structs.fields(model.Event)}
    for kind in model.KINDS:
        tag = kind.__struct_config__.tag
        summary = (kind.__doc__ or "").strip().splitlines()
        yield ""
        yield f"## {tag}"
        if summary and not summary[0].startswith(kind.__name__):
            yield ""
            yield summary[0]
        yield ""
        yield "| field | type | meaning |"
        yield "|---|---|---|"
        notes = field_notes(kind)
        for field in msgspec.structs.fields(kind):
            if field.name not in shared:
                type_name = str(kind.__annotations__[field.name]).replace("|", "or")
                yield f"| `{field.name}` | `{type_name}` | {notes.get(field.name, '')} |"
    for closed in (
        model.Evidence,
        model.Origin,
        model.Driver,
        model.Tool,
        model.Status,
        model.Basis,
    ):
        yield ""
        yield f"## {closed.__name__}"
        yield ""
        yield (closed.__doc__ or "").strip()
        yield ""
        notes = enum_notes(closed)
        for member in closed:
            note = notes.get(member.name)
            yield f"- `{member.value}`{f': {note}' if note else ''}"


def enum_notes(kind: type) -> dict[str, str]:
    notes = {}
    for line in inspect.getsource(kind).splitlines():
        code, mark, comment = line.partition("  # ")
        if mark and "=" in code:
            notes[code.partition("=")[0].strip()] = comment
    return notes


def metrics_page() -> Iterator[str]:
    yield "# Metrics"
    yield ""
    yield "What can be counted in sessions. `docs/concepts/metrics.md` explains the ideas."
    yield ""
    yield "## Amounts"
    yield ""
    yield "For `--metric`. Differences below the smallest amount hardly count."
    yield ""
    yield "| name | what it is | unit | smallest | better |"
    yield "|---|---|---|---|---|"
    for it in AMOUNTS:
        yield f"| `{it.name}` | {it.words} | {it.unit} | {it.smallest:g} | {it.better} |"
    yield ""
    yield "## What can come up again"
    yield ""
    yield "Every bet is about one of these; less is better."
    yield ""
    yield "| fact | its subject | what is counted in a session, and what could have been |"
    yield "|---|---|---|"
    notes = enum_notes(Fact)
    for fact, count in COUNTED.items():
        told = (inspect.getdoc(count) or "").splitlines()[0]
        yield f"| `{fact}` | {notes[fact.name]} | {told} |"


def heuristics_page() -> Iterator[str]:
    yield "# Heuristics"
    yield ""
    yield "What `hansei retro` looks for. `docs/concepts/bets.md` explains how findings are counted"
    yield "and ranked, `docs/concepts/calibration.md` how each is held against what happened later."
    yield ""
    yield from (f"- [`{it.name}`](#{it.name}): {first_paragraph(it)}" for it in HEURISTICS)
    for it in HEURISTICS:
        yield ""
        yield f"## {it.name}"
        yield ""
        yield from module_text(it).splitlines()
        yield from knob_rows(it)


def knob_rows(heuristic: "Heuristic") -> Iterator[str]:
    knobs = {name: value for name, value in vars(heuristic).items() if name != "name"}
    if not knobs:
        return
    yield ""
    yield "| knob | default | meaning |"
    yield "|---|---|---|"
    notes = field_notes(type(heuristic))
    for name, value in knobs.items():
        yield f"| `{name}` | `{knob(value)}` | {notes.get(name, '')} |"


def knob(value: object) -> str:
    if isinstance(value, set | frozenset | tuple | list):
        return ", ".join(sorted(map(str, value)))
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else f"{value}"


def module_text(heuristic: "Heuristic") -> str:
    return inspect.getdoc(sys.modules[type(heuristic).__module__]) or ""


def first_paragraph(heuristic: "Heuristic") -> str:
    """What its module says first, on one line."""
    return " ".join(module_text(heuristic).partition("\n\n")[0].split())


def errors_page() -> Iterator[str]:
    yield "# Errors and exit codes"
    yield ""
    yield "| code | when |"
    yield "|---|---|"
    yield "| 0 | the command did what it says; records that could not be read are only counted |"
    yield "| 1 | a fault in hansei itself |"
    yield "| 2 | the request cannot be meant as written, or names something that is not there |"
    yield "| 3 | an agent's files or a plug-in cannot be used |"
    yield "| 4 | the store cannot be read or written |"
    yield "| 130 | interrupted; nothing is half-written |"
    yield "| 141 | the reader of our output went away |"
    yield ""
    yield "```text"
    yield from (errors.__doc__ or "").strip().splitlines()[2:]
    yield "```"


def hooks_page() -> Iterator[str]:
    yield "# Hooks of agents"
    yield ""
    yield "What `hansei init` installs, since which version of the agent each hook exists, and how"
    yield "we know. [The guide](../guides/install-hooks.md) tells how it is done and undone."
    for agent in catalogue.load_all():
        yield ""
        yield f"## {agent.title} (`{agent.name}`)"
        yield ""
        about = (inspect.getdoc(sys.modules[agent.targets.__module__]) or "").splitlines()
        yield from about[2:]
        yield ""
        yield "| hook | since | evidence |"
        yield "|---|---|---|"
        for event in agent.events:
            yield f"| `{event.name}` | {event.since} | {event.evidence} |"


def redaction_page() -> Iterator[str]:
    yield "# Secrets that are replaced"
    yield ""
    yield "`docs/concepts/privacy.md` explains how. The rules, by name:"
    yield ""
    for rule in RULES:
        yield f"- `{rule.name}`"


def skill_checks_page() -> Iterator[str]:
    yield "# What the checks look for in skills"
    yield ""
    yield "`hansei skills check` names every finding with its file, line and rule; `hansei"
    yield "skills promote` shows them too. *stop* keeps a skill in quarantine until a person"
    yield "allows the rule by its name (`--allow RULE`); *caution* is what ordinary skills do."
    yield "What the text around shows as something to avoid is a caution. How often they are wrong:"
    yield "[the gate](../concepts/gate.md#how-often-it-is-wrong)."
    yield ""
    yield "| rule | severity | what it means |"
    yield "|---|---|---|"
    for rule in checks.RULES:
        yield f"| `{rule.name}` | {rule.severity} | {rule.what.replace('|', BAR)} |"


BAR = "\\|"
PAGES: dict[str, Callable[[], Iterator[str]]] = {
    "cli.md": cli_page,
    "config.md": config_page,
    "errors.md": errors_page,
    "events.md": events_page,
    "heuristics.md": heuristics_page,
    "hooks.md": hooks_page,
    "metrics.md": metrics_page,
    "redaction.md": redaction_page,
    "skill-checks.md": skill_checks_page,
}


def main() -> int:
    check = "--check" in sys.argv[1:]
    stale = []
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, lines in PAGES.items():
        text = "\n".join([MADE, "", *lines()]).rstrip() + "\n"
        path = FOLDER / name
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            stale.append(name)
            if not check:
                path.write_text(text, encoding="utf-8")
    if check and stale:
        print(f"docs/reference is out of date: {', '.join(stale)}. Run `make docs`.")
        return 1
    print("docs/reference: " + ("up to date" if not stale else f"wrote {', '.join(stale)}"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
