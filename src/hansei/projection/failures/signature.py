"""What a failure is known by: its program and the one line that says what went wrong.

The line is picked by the program's own runner where there is one, then by forms that many programs
share. What differs by chance is named (`<n>`, `<path>`): numbers, places, hashes, times. Names that
matter stay: the missing module, the missing script, the file that is not there.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from hansei.events.model import Tool
from hansei.projection.failures import harness, lookup, summary
from hansei.projection.failures.model import Failure, Kind, Refuser
from hansei.projection.failures.outputs import looked_at
from hansei.projection.failures.polls import followed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from hansei.projection.calls import Call
    from hansei.projection.commands.model import Command
    from hansei.projection.failures.model import Verdict
    from hansei.projection.failures.runner import Runner

LONGEST: Final = 160
"""Characters of a line that are kept."""

OF_SHELL = ("command not found: ", "syntax error", "unexpected EOF")
"""What a shell says before any program has begun."""
_TIMED_OUT = re.compile(r"(?:\w+ search|[Cc]ommand) timed out")
_PATCH = re.compile(
    r"^(?:[^\n]{0,60}: )??((?:Failed to find|[Ii]nvalid (?:patch )?hunk)[^\n]*)", re.MULTILINE
)
_COUNTS = re.compile(
    r"(?:[Ee]rror: )?[^:]{0,40}\b(?:found|with|has) \d+ (?:errors?|problems?|issues?|warnings?)"
    r"(?:\(s\))?[.!]?"
)
"""A heading that says how many things are wrong, but none of them."""
_NO_FILE = re.compile(r"File (?:does not exist|not found)", re.IGNORECASE)
_HOST = re.compile(r"https?://([^/\s:]+)")
_TRACEBACK = "Traceback (most recent call last)"
_EXCEPTION = re.compile(
    r"^([A-Za-z_][\w.]*(?:Error|Exception|Exit|Interrupt|NotFound)\b.*)$", re.MULTILINE
)
_SHELL = (
    re.compile(
        r"^(?:.{0,80}?: )?(?:line \d+: )?(?:(?P<name>[\w./+-]+): command not found"
        r"|command not found: (?P<other>[\w./+-]+)) *$",
        re.MULTILINE,
    ),
    re.compile(r"^'?([\w./+-]+)'? is not recognized as an internal", re.MULTILINE),
    re.compile(
        r"^(?:\S*sh: )?(?:eval: )?line \d+: (?:cd: )?(syntax error.*|unexpected EOF.*)$",
        re.MULTILINE,
    ),
    re.compile(r"^(?:[^\n]{0,80}: ?)?(?:line \d+: )?cd:(?:\d+:)? (.+)$", re.MULTILINE),
    re.compile(r"^(?:zsh|\(eval\)|bash)(?::\d+)?: (.+)$", re.MULTILINE),
    re.compile(r"^\S*sh: (?:eval: )?(?:line \d+: )?(.+)$", re.MULTILINE),
)
_SHARED = (
    re.compile(r"^[ \t]*((?:[A-Z]\w*)(?:Error|Exception)(?: \[\w+\])?: .+)$", re.MULTILINE),
    re.compile(
        r"^[ \t]*((?:fatal|error|Error|ERROR|FATAL|E|panic|Exception)(?:\[\w+\]| \w+)?: .+)$",
        re.MULTILINE,
    ),
    re.compile(r"^[ \t]*(?:[✗✖❌×] )(.+)$", re.MULTILINE),
    re.compile(r"^([A-Z]\w+-\w+ ?: \S.+)$", re.MULTILINE),
    re.compile(
        r"^(.*\b(?:errors?|failed|failure|cannot|can't|could not|unable|denied|refused|not found"
        r"|no such|invalid|unknown|missing|unexpected|timed out|not permitted)\b.*)$",
        re.MULTILINE | re.IGNORECASE,
    ),
)


def failures(calls: Sequence[Call], verdicts: Iterable[Verdict]) -> list[Failure]:
    """A row for every call that did not simply succeed."""
    return [
        failure(call, found)
        for call, found in zip(followed(calls), verdicts, strict=True)
        if found.kind is not None
    ]


def failure(call: Call, found: Verdict) -> Failure:
    """What one such call is known by."""
    assert found.kind is not None
    command = None
    if call.script is not None and found.command is not None:
        command = call.script.commands[found.command]
    program = (command.program if command else "") or call.event.name
    subcommand = command.subcommand if command else None
    line = _line(call, found.kind, command)
    wrapper, _, said = line.partition(": ")
    if command is not None and said and any(it.split()[0] == wrapper for it in command.wrappers):
        # What stood before it, such as sudo, did not let it begin.
        program, subcommand = wrapper, None
    else:
        said = line
    of_shell = line.startswith(OF_SHELL)
    return Failure(
        seq=call.seq,
        at=call.event.at,
        kind=found.kind,
        basis=found.basis,
        exit_code=call.result.exit_code if call.result else None,
        program=program,
        subcommand=subcommand,
        line=line[: 2 * LONGEST],
        signature=signature("" if of_shell else program, "" if of_shell else subcommand, said),
    )


def signature(program: str, subcommand: str | None, line: str) -> str:
    """The text by which the same failure is known in another session."""
    head = " ".join(part for part in (program, subcommand) if part)
    body = normalised(line)
    return f"{head}: {body}" if head and body else head or body


def _line(call: Call, kind: Kind, command: Command | None) -> str:
    """The line that says what went wrong; a few words where nothing was printed."""
    said = call.result.text if call.result else ""
    if kind is Kind.INTERRUPTED:
        return "Sibling tool call errored" if harness.with_sibling(said) else kind.value
    if kind is Kind.DECLINED:
        return _of_refusal(call)
    assert call.result is not None
    if kind is Kind.NEGATIVE:
        return "no"
    output = looked_at(call.result.text)
    if kind is Kind.HARNESS and (harness.said(output) or _PATCH.search(output)):
        return _of_harness(output)
    output = harness.after_time_limit(output) or output
    if command is None:
        return _of_tool(call, output)
    found = _telling(_candidates(command, output))
    if found:
        return found
    code = call.result.exit_code
    return "failed" if code is None else f"exit {code}"


def _telling(lines: Iterator[str]) -> str:
    """The first line that names a problem; one that only counts them where there is no other."""
    counts = ""
    for line in lines:
        if not _COUNTS.fullmatch(line):
            return line
        counts = counts or line
    return counts


def _of_refusal(call: Call) -> str:
    """Who said no; a hook also says why, and for the web the host matters."""
    text = call.result.text if call.result is not None else ""
    who = harness.refused_by(text)
    if who is Refuser.HOOK:
        return f"{who}: {_first(harness.reason(text) or looked_at(text))}"
    host = _HOST.match(call.event.text) if call.event.tool is Tool.WEB else None
    return f"{who} ({host[1]})" if host else who.value


def _of_harness(output: str) -> str:
    """What the agent program says, without the advice that follows."""
    text = _first(output)
    if _TIMED_OUT.match(text):
        return "timed out"
    patch = _PATCH.search(output)
    if patch is not None:
        return patch[1]
    if text.endswith(":"):
        second = output.partition(text)[2].strip().partition("\n")[0]
        return f"{text} {second.removesuffix('</tool_use_error>')}".strip()
    return text.partition(". ")[0].removesuffix(".")


def _of_tool(call: Call, output: str) -> str:
    """What a tool says that is no shell; with the file or the host where it does not name them."""
    text = _first(output)
    if text.startswith("<"):
        text = next(_matches(_SHARED, output), text)
    if call.event.tool is Tool.READ and _NO_FILE.match(text):
        return f"File does not exist: '{call.event.text}'"
    host = _HOST.match(call.event.text) if call.event.tool is Tool.WEB else None
    return f"{text} ({host[1]})" if host and host[1] not in text else text


def _first(output: str) -> str:
    """The first line, without what the agent program puts around it."""
    text = output.strip().removeprefix("<tool_use_error>").removesuffix("</tool_use_error>")
    text = text.removeprefix("Error: ").strip()
    return text.partition("\n")[0].strip() or "failed"


def _candidates(command: Command, output: str) -> Iterator[str]:
    """Lines that may say it, best first."""
    yield from _matches(_SHELL[:2], output, unknown=True)
    known = lookup.runners(command)
    own = known[:1] if lookup.is_launcher(command) else known
    yield from _by_runners(own, output)
    yield from _matches(_SHELL[2:4], output)
    if _TRACEBACK in output:
        yield from reversed(_EXCEPTION.findall(output))
    yield from _by_runners([it for it in known[len(own) :] if _speaks(it, output)], output)
    yield from (it.strip() for it in summary.complaint(command.program).findall(output))
    yield from _matches((*_SHELL[4:], *_SHARED), output)
    lines = output.strip().splitlines()
    if lines:
        yield lines[-1].strip()


def _speaks(runner: Runner, output: str) -> bool:
    return runner.failed is not None and runner.failed.search(output) is not None


def _by_runners(known: Sequence[Runner], output: str) -> Iterator[str]:
    for runner in known:
        yield from _matches(runner.decisive, output)


def _matches(
    patterns: Iterable[re.Pattern[str]], output: str, *, unknown: bool = False
) -> Iterator[str]:
    for pattern in patterns:
        found = pattern.search(output)
        if found is not None:
            text = " ".join(group.strip() for group in found.groups() if group)
            yield f"command not found: {text.rsplit('/', 1)[-1]}" if unknown else text


# --- what differs by chance -----------------------------------------------------------------------

_ABOUT_A_FILE = re.compile(
    r"no such file|not found|(?:can(?:no|')t|could not|unable to|cannot) (?:find|create|access|stat"
    r"|open|read|resolve|load)|do(?:es not|esn't) exist|already exists|not a directory"
    r"|did not match|permission denied|not permitted|is a directory|illegal operation",
    re.IGNORECASE,
)
_SECRET = re.compile(r"\[secret:[^\]\s]*\]")
_URL = re.compile(r"\b[a-z][a-z0-9+.-]*://[^\s'\"`)>\]]+", re.IGNORECASE)
_UUID = re.compile(r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b", re.IGNORECASE)
_ADDRESS = re.compile(r"\b0x[0-9a-fA-F]+\b")
_HASH = re.compile(r"\b(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{7,64}\b")
_TIME = re.compile(r"\b\d{4}[-/]\d\d[-/]\d\d(?:[T _]\d\d[:_]\d\d(?:[:_]\d\d(?:[.,_]\d+)?)?Z?)?")
_IP = re.compile(r"\b\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?\b")
_TEMPORARY = re.compile(
    r"(?:/private)?(?:/tmp|/var/tmp|/var/folders|/dev/shm)/[^\s'\"`:,;)\]]+"
    r"|[A-Za-z]:[\\/]Users[\\/][^\\/\s]+[\\/]AppData[\\/]Local[\\/]Temp[\\/][^\s'\"`:,;)\]]+"
)
_QUOTED_PATH = re.compile(r"(['\"`])((?:[A-Za-z]:|~|\.{0,2})[\\/][^'\"`\n]*)\1")
_PATH = re.compile(
    r"(?<![\w@<>./\\-])(?:(?:[A-Za-z]:[\\/]|~?/(?!/)|\.{1,2}[\\/])[^\s'\"`:,;()\[\]{}<>|]+"
    # A folder may have spaces in its name: what goes on with a slash is the same path.
    r"(?: (?!and/)[\w.@+-]+(?=[\\/])[^\s'\"`:,;()\[\]{}<>|]+)*"
    r"|(?!@)[\w.+-]+(?:[\\/][\w.@+\[\]-]+)*[\\/][\w.@+-]+\.[A-Za-z]\w{0,5}"
    r"|(?!@)[\w.+-]+(?:[\\/][\w.@+-]+){2,})[\\/]?(?::\d+)*"
)
_NUMBER = re.compile(
    r"(?<![\w<.$])[-+]?\d+(?:[.,_:]\d+)*(?: ?(?:ms|s|min|m|h|kB|KB|KiB|MB|MiB|GB|B|%))?(?![\w>])"
)
_MEANS = re.compile(r"(?:status(?: code)?|HTTP(?:/[\d.]+)?(?: Error)?|code|exit) $")
_IDENTIFIER = re.compile(
    r"\b[A-Za-z]+(?:-[A-Za-z0-9]+)*-(?=[a-z]*\d+[a-z])[a-z0-9]{3,12}\b|\b\w+-<n>\b"
    # Three parts, the last of them short and with a digit: `app-task-ci4`, but not `lib-x-v18`.
    r"|\b[a-z]{2,4}-[a-z]+-(?!v\d)(?=[a-z]*\d)[a-z0-9]{3,4}\b"
)
_LIST = re.compile(r"<n>(?:, ?<n>)+")
_LONG_QUOTE = re.compile(r"(?<!\w)(['\"`])[^'\"`\n]{60,}?\1(?!\w)")
_NAMED_FILE = re.compile(
    r"(^|(?:can't|cannot) (?:read|open|access|stat) |: )([^:'\"`]*[\\/][^:'\"`]*)"
    r"(?=: (?:No such file|Not a directory|Is a directory|Permission denied|Operation not))"
)
"""Files that coreutils name without quotes, maybe with spaces."""
_BORDERS = re.compile(r"\s+")


@lru_cache(maxsize=1024)
def normalised(line: str) -> str:
    """A line with what differs by chance named."""
    text = _BORDERS.sub(" ", line[: 4 * LONGEST]).strip(" |")
    text = _URL.sub("<url>", _SECRET.sub("<secret>", text))
    text = _ADDRESS.sub("<address>", _UUID.sub("<id>", text))
    text = _TEMPORARY.sub("<tmp>", _TIME.sub("<time>", text))
    about_a_file = _ABOUT_A_FILE.search(text) is not None
    text = _NAMED_FILE.sub(lambda it: f"{it[1]}{_place(it[2], about_a_file)}", text)
    text = _QUOTED_PATH.sub(lambda it: f"{it[1]}{_place(it[2], about_a_file)}{it[1]}", text)
    text = _PATH.sub(lambda it: _place(it[0], about_a_file), text)
    text = _HASH.sub("<hash>", text)
    text = _NUMBER.sub(_number, _IP.sub("<ip>", text))
    text = _LIST.sub("<n>", _IDENTIFIER.sub("<id>", text))
    return _LONG_QUOTE.sub(r"\1<text>\1", text)[:LONGEST].rstrip()


def _place(path: str, about_a_file: bool) -> str:
    """A path; only where the file itself is what is wrong its name says something."""
    if not about_a_file:
        return "<path>"
    name = re.split(r"[\\/]", re.sub(r"(?::\d+)+$", "", path).rstrip("\\/"))[-1]
    name = re.sub(r"\d+", "<n>", name)
    return f"<path>/{name}" if name and name not in ("*", "~", ".", "..") else "<path>"


def _number(found: re.Match[str]) -> str:
    """A number; one that is a code stays."""
    before = found.string[max(0, found.start() - 24) : found.start()]
    return found[0] if _MEANS.search(before) and found[0].isdigit() else "<n>"
