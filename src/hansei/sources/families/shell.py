"""Whether a shell command lets its own exit code through.

Agents often end a command with `| tail`, `|| true` or `; echo done`: then a zero says nothing about
what ran before. This looks only at how the command ends, with quoted text taken out first; a
command it cannot make sense of counts as telling its code.
"""

from __future__ import annotations

import re

_FILTERS = frozenset(
    (
        "awk", "cat", "column", "cut", "egrep", "fgrep", "fmt", "fold", "grep", "head", "jq",
        "less", "more", "nl", "rg", "sed", "sort", "tail", "tee", "tr", "uniq", "wc",
        "Out-String", "Select-Object", "Select-String",
    )
)  # fmt: skip
"""Programs that end a pipe to shorten what another one says."""
_FILLERS = frozenset(
    (
        "echo", "printf", "true", ":", "date", "pwd", "ls", "cat", "head", "tail", "wc", "sleep",
        "cd", "popd", "exit",
    )
)  # fmt: skip
"""Programs that follow the real one and all but always succeed."""

_HEREDOC = re.compile(r"<<-?\s*['\"]?(\w+)")
_QUOTED = re.compile(r"'[^']*'|\"(?:[^\"\\]|\\.)*\"|\\.", re.DOTALL)
_COMMENT = re.compile(r"(?:^|(?<=\s))#[^\n]*")
_STOPS_AT_FAILURE = re.compile(r"\bset\s+-[a-z]*e")
_STATEMENTS = re.compile(r"&&|;;?|\n")
_ASSIGNMENTS = re.compile(r"^(?:\w+=\S*\s+|(?:sudo|time|command|env|timeout\s+\S+)\s+)+")


def hides_status(command: str) -> bool:
    """Whether an exit code of zero may hide that what was run has failed."""
    if not any(sign in command for sign in "|;&\n"):
        return False
    bare = _QUOTED.sub("Q", _without_heredocs(command))
    bare = _COMMENT.sub("", bare).strip() if "#" in bare else bare.strip()
    if bare.endswith("&") and not bare.endswith("&&"):
        return True
    if "||" in _last_statement(bare):
        return True
    *earlier, last = map(_program, _last_statement(bare).split("|"))
    if earlier:
        filtered = last in _FILTERS and not _FILTERS.union(_FILLERS).issuperset(earlier)
        return filtered and "pipefail" not in bare
    return _ends_in_filler(bare) and not _STOPS_AT_FAILURE.search(bare)


def _without_heredocs(command: str) -> str:
    """The command without the text it feeds to a program's input."""
    if "<<" not in command:
        return command
    kept: list[str] = []
    end = ""
    for line in command.split("\n"):
        if end:
            end = "" if line.strip() == end else end
            continue
        kept.append(line)
        if opened := _HEREDOC.search(line):
            end = opened[1]
    return "\n".join(kept)


def _last_statement(bare: str) -> str:
    parts = [part for part in _STATEMENTS.split(bare) if part.strip(" \t)}&")]
    return parts[-1] if parts else ""


def _ends_in_filler(bare: str) -> bool:
    """A filler hides the code before it only where it runs whatever that code was."""
    *earlier, last = [_program(part) for part in re.split(r"[;\n]", bare) if part.strip()] or [""]
    return last in _FILLERS and not _FILLERS.issuperset(earlier)


def _program(stage: str) -> str:
    words = _ASSIGNMENTS.sub("", stage.strip(" \t\n&({!")).split(None, 1)
    return words[0].rsplit("/", 1)[-1] if words else ""
