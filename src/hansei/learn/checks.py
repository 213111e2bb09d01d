"""What a skill folder holds that a person should see before an agent obeys it: file, line, rule.

Every rule has one severity. *Stop* has no honest use in a skill, or is worth a person's own word by
the name of the rule; *caution* is what ordinary skills do as well, such as deleting a build folder.
Nothing is run or fetched: texts are read, commands are parsed.
"""

from __future__ import annotations

import re
from enum import StrEnum
from typing import TYPE_CHECKING, Final, NamedTuple

from hansei.learn import harm, hostile, risks
from hansei.learn.labels import INLINE, without_code
from hansei.learn.warnings import forbids, warned

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from hansei.learn.model import Offer, Skill

MAIN: Final = "SKILL.md"
LONGEST_TEXT: Final = 2 * 1024 * 1024
"""Characters of a file; what is longer is not read, and said."""
LONGEST_SPAN: Final = 80

_PROSE: Final = frozenset((".md", ".markdown", ".mdx", ".txt", ".rst", ".adoc", ""))
_SHELL: Final = frozenset((".sh", ".bash", ".zsh", ".ksh", ".fish", ".ps1", ".bat", ".cmd"))
_SHELL_BLOCKS: Final = frozenset(
    ("", "sh", "bash", "zsh", "shell", "console", "shell-session", "terminal", "fish", "powershell",
     "ps1", "pwsh", "cmd", "bat")
)  # fmt: skip
"""What a fence calls code that a shell runs; one that calls it nothing may be anything."""
_FENCE: Final = re.compile(r"^\s*(?:>\s*)*(`{3,}|~{3,})\s*\{?\.?([\w+-]*)")
_PROMPT: Final = re.compile(r"^\s*(?:[$❯%]|PS>|>>>)\s+")
_HASH: Final = re.compile(r"^\s*(?:#|//|--|;|REM\b|::)")
_ORDER: Final = re.compile(r"“([^”]+)”")
_SENTENCE: Final = re.compile(r"[.!?]\s")
_STRAY: Final = re.compile("[\u200b-\u200d\u2061-\u2064]")
_HIDING: Final = re.compile(
    "[\u200b-\u200d\u2061-\u2064]{3,}|[A-Za-z][\u200b-\u200d\u2061-\u2064]+[A-Za-z]"
    "|[\u202a-\u202e\u2066-\u2069\U000e0000-\U000e007f\U000e0100-\U000e01ef\ufe00-\ufe0f]"
)
"""What carries a message, parts a word that is looked for, or turns the text around."""
_ADDRESSED: Final = re.compile(r"[\w-]\.\w|\$|//")
"""`curl | sh` without an address is only spoken of."""
_CONTINUED: Final = re.compile(r"(?<!\\)\\$")


class Severity(StrEnum):
    """What a finding means for a skill."""

    STOP = "stop"
    CAUTION = "caution"


class Rule(NamedTuple):
    """One thing that is looked for."""

    name: str
    severity: Severity
    what: str


_STOP, _CAUTION = Severity.STOP, Severity.CAUTION
RULES: Final = (
    Rule("hidden-unicode", _STOP, "letters that nobody sees, or that turn the text around: tags,"
         " bidirectional marks, characters without width, selectors of variants in a row"),
    Rule("look-alike", _STOP, "a command, address or option with letters of another alphabet that"
         " look like Latin ones"),
    Rule("terminal-escape", _STOP, "codes that drive a terminal"),
    Rule("control-character", _STOP, "control characters"),
    Rule("override", _STOP, "words that talk an agent out of its instructions, or hide something"
         " from the person"),
    Rule("marker", _STOP, "a marker of hansei's own"),
    Rule("fetch-and-run", _STOP, "runs what another machine sends: `curl … | sh`, `iwr … | iex`,"
         ' `eval "$(curl …)"`'),
    Rule("hidden-code", _STOP, "decodes something and runs it: `base64 -d | bash`"),
    Rule("credentials", _STOP, "a command that reads keys, passwords, keychains or browser"
         " profiles"),
    Rule("exfiltration", _STOP, "sends secrets or the environment to another machine, or to where"
         " strangers collect: webhooks, paste bins, names asked of DNS"),
    Rule("persistence", _STOP, "writes a schedule, a hook of git, or settings and hooks of an"
         " agent"),
    Rule("permissions", _STOP, "widens what an agent may do: `--dangerously-…`, allow lists for"
         " everything, hooks or sandbox switched off"),
    Rule("destructive", _STOP, "destroys what does not come back: a disk, a home, a machine"),
    Rule("deletes", _CAUTION, "deletes or overwrites something: `rm -rf build/`, `git reset"
         " --hard`, `kubectl delete`"),
    Rule("unchecked", _CAUTION, "goes past a check: `--no-verify`"),
    Rule("superuser", _CAUTION, "asks for all rights on the machine: `sudo`"),
    Rule("credential-path", _CAUTION, "names a place where keys and passwords lie"),
    Rule("installer", _CAUTION, "installs a well-known tool by running what its own site sends"),
    Rule("service", _CAUTION, "sets up something that starts by itself: a service, hooks of git"),
    Rule("messages", _CAUTION, "sends messages to a channel of a messenger"),
    Rule("stray-unicode", _CAUTION, "characters without width between words"),
    Rule("shell-profile", _CAUTION, "adds to what a shell runs when it starts"),
    Rule("remote", _CAUTION, "adds a remote to the repository, or pushes to an address"),
    Rule("runs-on-load", _CAUTION, "an agent program runs it while it reads the skill"),
    Rule("comment", _CAUTION, "a comment that a reader of the page does not see"),
    Rule("markup", _CAUTION, "markup that a viewer would run"),
    Rule("unreadable", _CAUTION, "a long code that nobody can read"),
    Rule("too-long", _CAUTION, "a file or command longer than anybody reads; it was not looked"
         " through"),
)  # fmt: skip
SEVERITY: Final = {rule.name: rule.severity for rule in RULES}


class Finding(NamedTuple):
    """What stands where."""

    file: str
    line: int
    rule: str
    message: str
    span: str
    """The words themselves, with characters that nobody sees written out."""
    severity: Severity
    """That of the rule, but a caution where the text around shows it as something to avoid."""


class _Line(NamedTuple):
    number: int
    text: str
    """Continued lines are one."""
    code: str | None
    """What language it is in; None for prose."""
    against: bool
    """Whether what stands around it warns of it."""


def of_skill(skill: Skill | Offer) -> list[Finding]:
    """Findings in a skill of a book, or in what may become one, told as in its SKILL.md."""
    told = skill.predicates
    steps = "\n".join((*told.do, told.check))
    found = [
        *_checked("name", skill.name, _lines(skill.name)),
        *_checked("description", skill.description, _lines(skill.description)),
        *_checked(MAIN, skill.body, _lines(skill.body)),
        *_checked("topic", skill.topic, _lines(skill.topic)),
        *_checked("action", skill.action, _lines(skill.action)),
        *_checked("predicates", steps, _script(steps, "sh")),
    ]
    avoided = {" ".join(it.split()) for it in told.avoid}
    return [it for it in found if it.span not in avoided]


def of_files(files: Mapping[str, str]) -> list[Finding]:
    """Findings in the files of a skill folder, by path."""
    return [found for path, text in sorted(files.items()) for found in _of_file(path, text)]


def stopping(found: Iterable[Finding]) -> list[Finding]:
    return [it for it in found if it.severity is Severity.STOP]


def _of_file(path: str, text: str) -> list[Finding]:
    if len(text) > LONGEST_TEXT:
        message = f"it has {len(text):,} characters"
        return [Finding(path, 1, "too-long", message, "", Severity.CAUTION)]
    ending = f".{path.rpartition('/')[2].rpartition('.')[2]}" if "." in path else ""
    shebang = text.startswith("#!") and re.match(r"#!.*\b(?:ba|z|da|k)?sh\b", text) is not None
    if ending in _PROSE and not text.startswith("#!"):
        return list(_checked(path, text, _lines(text)))
    language = "sh" if ending in _SHELL or shebang else ending.strip(".") or "text"
    return list(_checked(path, text, _script(text, language)))


def _checked(path: str, text: str, lines: Iterable[_Line]) -> Iterator[Finding]:
    found = [*_texts(text, prose=path != "predicates"), *_in_lines(lines)]
    for it in sorted(dict.fromkeys(found)):
        severity = SEVERITY[it.rule]
        if it.against and severity is Severity.CAUTION:
            continue
        told = f"{it.message}, as something to avoid" if it.against else it.message
        severity = Severity.CAUTION if it.against else severity
        yield Finding(path, it.line, it.rule, told, it.span, severity)


class _Told(NamedTuple):
    line: int
    rule: str
    message: str
    span: str
    against: bool


def _texts(text: str, *, prose: bool) -> Iterator[_Told]:
    """What the whole text shows, wherever it stands."""
    clean = hostile.cleaned(text)
    lines, spoken = clean.split("\n"), without_code(clean).split("\n")
    for found in hostile.findings(clean, code=not prose):
        said = lines[found.line - 1] if found.line <= len(lines) else ""
        against = found.rule == "override" and _is_shown(found, lines, spoken)
        rule = _renamed(found.rule, said)
        yield _Told(found.line, rule, found.message, shown(said), against)


def _is_shown(found: hostile.Finding, lines: Sequence[str], spoken: Sequence[str]) -> bool:
    """Whether an order is only shown: a mark as code, or words that are warned of."""
    words = _ORDER.search(found.message)
    if words is None or found.line > len(lines):
        return False
    line = lines[found.line - 1]
    if words[1][0] in "<[" and words[1] not in spoken[found.line - 1]:
        return True
    before = _SENTENCE.split(line[: max(0, line.find(words[1][:12]))])[-1]
    return forbids(before) or warned(lines)[found.line - 1]


def _renamed(rule: str, line: str) -> str:
    if rule == "hidden-unicode" and _STRAY.search(line) and not _HIDING.search(line):
        return "stray-unicode"
    return "unreadable" if rule == "hidden-code" else rule


def _in_lines(lines: Iterable[_Line]) -> Iterator[_Told]:
    for line in lines:
        if line.code is None:
            yield from _in_prose(line)
        elif not _HASH.match(line.text):
            text = _PROMPT.sub("", line.text).strip()
            yield from _in_code(line, text, as_shell=line.code in _SHELL_BLOCKS)


def _in_prose(line: _Line) -> Iterator[_Told]:
    for match in INLINE.finditer(line.text):
        against = line.against or forbids(line.text[: match.start()])
        yield from _in_code(line._replace(against=against), match[2].strip(), as_shell=True)
    plain = INLINE.sub(" ", line.text)
    against = line.against or forbids(plain)
    for found in risks.in_prose(plain):
        yield _Told(line.number, found.rule, found.message, shown(line.text), against)


def _in_code(line: _Line, text: str, *, as_shell: bool) -> Iterator[_Told]:
    done = risks.unsaid(text)
    found = [*risks.in_code(done)]
    if as_shell and done:
        found += [harm.Harm(_weighed(it, done), it.message) for it in harm.harms(done)]
    once = {it.rule: it for it in reversed(found)}
    if "credentials" in once:
        once.pop("credential-path", None)
    for it in once.values():
        if it.rule != "fetch-and-run" or _ADDRESSED.search(done):
            yield _Told(line.number, it.rule, it.message, shown(text), line.against)


def _weighed(found: harm.Harm, text: str) -> str:
    """The rule of a finding among ours: what a learned text may not have, a written one may."""
    if found.rule == "destructive" and not found.grave:
        return "deletes"
    if found.rule == "fetch-and-run" and risks.is_installer(text):
        return "installer"
    # Whether keys are read or only named is told by `risks`.
    return "credential-path" if found.rule == "credentials" else found.rule


def shown(text: str) -> str:
    """Words as a terminal may show them: one line, what is not seen written out."""
    plain = " ".join(text.split())
    told = "".join(it if it.isprintable() else f"\\u{{{ord(it):x}}}" for it in plain)
    return told if len(told) <= LONGEST_SPAN else f"{told[: LONGEST_SPAN - 1]}…"


def _lines(text: str) -> Iterator[_Line]:
    """The lines of a Markdown text."""
    raw = text.split("\n")
    bad = warned(raw)
    fence, language, against = "", "", False
    joined: list[str] = []
    for number, line in enumerate(raw):
        mark = _FENCE.match(line)
        if fence:
            if mark and mark[1].startswith(fence) and not mark[2]:
                fence, joined = "", []
                continue
            joined.append(line)
            if _CONTINUED.search(line):
                continue
            yield _Line(number + 2 - len(joined), _one(joined), language, against)
            joined = []
        elif mark:
            fence, language, against = mark[1], mark[2].lower(), bad[number]
        else:
            yield _Line(number + 1, line, None, bad[number])


def _script(text: str, language: str) -> Iterator[_Line]:
    """The lines of a program."""
    joined: list[str] = []
    for number, line in enumerate(text.split("\n"), 1):
        joined.append(line)
        if not _CONTINUED.search(line):
            yield _Line(number + 1 - len(joined), _one(joined), language, against=False)
            joined = []
    if joined:
        yield _Line(text.count("\n") + 2 - len(joined), _one(joined), language, against=False)


def _one(lines: Sequence[str]) -> str:
    return " ".join(_CONTINUED.sub("", it).strip() for it in lines)
