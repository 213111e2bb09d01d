"""Which files a command changes, and how."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from hansei.projection.commands import programs
from hansei.projection.commands.model import Writing
from hansei.projection.commands.syntax import Word

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from hansei.projection.commands.arguments import Arguments
    from hansei.projection.commands.syntax import Redirect

_OUTPUTS = {">": Writing.REPLACE, ">|": Writing.REPLACE, "&>": Writing.REPLACE,
            ">>": Writing.APPEND, "&>>": Writing.APPEND, ">&": Writing.REPLACE}  # fmt: skip
_NOWHERE = re.compile(r"/dev/.*|&?\d+|-|\$null|nul", re.IGNORECASE)
_PATCH_HEAD = re.compile(
    r"^\*\*\* (Add File|Update File|Delete File|Move to): (.+?)\s*$", re.MULTILINE
)
_PATCHED = {
    "Add File": Writing.REPLACE,
    "Update File": Writing.EDIT,
    "Delete File": Writing.DELETE,
    "Move to": Writing.MOVE,
}

PATCHES = frozenset(("apply_patch", "applypatch"))
"""Programs that are given a patch of this form."""
_HERE = (".", "./")
"""Words of `git checkout` that name everything here rather than a branch."""

Change = tuple[Word, Writing]


def redirected(redirects: Iterable[Redirect]) -> Iterator[Change]:
    """Files that output is sent to."""
    for redirect in redirects:
        how = _OUTPUTS.get(redirect.operator.lstrip("0123456789*"))
        if (
            how is not None
            and redirect.target.text
            and not _NOWHERE.fullmatch(redirect.target.text)
        ):
            yield redirect.target, how


def sends_away(redirects: Iterable[Redirect]) -> bool:
    """Whether what a command says goes to a file instead of being shown."""
    return any(
        redirect.operator in (">", ">>", "&>", "&>>", ">|", "1>")
        and redirect.descriptor in (None, 1)
        and not re.fullmatch(r"&?\d+", redirect.target.text)
        for redirect in redirects
    )


def changed(arguments: Arguments, redirects: Iterable[Redirect]) -> Iterator[Change]:
    """Files that a program changes by itself."""
    family = programs.SAME.get(arguments.program, arguments.program)
    if family in PATCHES:
        yield from patched(arguments, redirects)
    elif changer := _CHANGERS.get(family):
        yield from changer(arguments)


def patched(arguments: Arguments, redirects: Iterable[Redirect]) -> Iterator[Change]:
    """Files that a patch in the form of `*** Begin Patch` names."""
    texts = [word.text for word in arguments.targets]
    texts += [redirect.target.text for redirect in redirects if redirect.operator == "<<"]
    for found in _PATCH_HEAD.finditer("\n".join(texts)):
        yield Word(found[2], quoted=True), _PATCHED[found[1]]


def _each(how: Writing) -> Callable[[Arguments], Iterator[Change]]:
    def change(arguments: Arguments) -> Iterator[Change]:
        return ((word, how) for word in arguments.targets)

    return change


def _tee(arguments: Arguments) -> Iterator[Change]:
    how = Writing.APPEND if arguments.has("-a", "--append") else Writing.REPLACE
    return ((word, how) for word in arguments.targets)


def _in_place(arguments: Arguments) -> Iterator[Change]:
    """`sed -i` and `perl -pi`: the first word is the script unless an option gave it."""
    inside = any(
        it.name.startswith("--in-place") or re.fullmatch(r"-[a-zA-Z]*i.*", it.name)
        for it in arguments.options
    )
    if not inside:
        return
    scripted = arguments.has("-e", "--expression", "-f", "--file")
    if arguments.program == "perl":
        scripted = False
    targets = arguments.targets if scripted else arguments.targets[1:]
    if not scripted and arguments.targets and not arguments.targets[0].text:
        targets = arguments.targets[2:]  # the `-i ''` of BSD
    for word in targets:
        yield word, Writing.EDIT


def _moved(arguments: Arguments) -> Iterator[Change]:
    *sources, target = arguments.targets or (Word(""),)
    for source in sources:
        yield source, Writing.DELETE
        yield _inside(target, source, len(sources) > 1), Writing.MOVE


def _copied(arguments: Arguments) -> Iterator[Change]:
    *sources, target = arguments.targets or (Word(""),)
    for source in sources:
        yield _inside(target, source, len(sources) > 1), Writing.REPLACE


def _inside(target: Word, source: Word, several: bool) -> Word:
    """Where a file lands: a folder keeps its name."""
    if not several and not target.text.endswith(("/", "\\")) and target.text not in (".", ".."):
        return target
    name = source.text.replace("\\", "/").rstrip("/").rsplit("/", 1)[-1]
    return Word(f"{target.text.rstrip('/')}/{name}", literal=target.literal and source.literal)


def _git(arguments: Arguments) -> Iterator[Change]:
    subcommand, targets = arguments.subcommand, arguments.targets
    if subcommand == "checkout":
        restored = targets[arguments.rest :] or [word for word in targets if word.text in _HERE]
        yield from ((word, Writing.RESTORE) for word in restored)
    elif subcommand == "restore":
        if not arguments.has("--staged", "-S") or arguments.has("--worktree", "-W"):
            yield from ((word, Writing.RESTORE) for word in targets)
    elif subcommand == "reset" and arguments.has("--hard"):
        yield Word("."), Writing.RESTORE
    elif subcommand == "clean" and _deletes(arguments):
        yield from ((word, Writing.CLEAN) for word in targets or (Word("."),))
    elif subcommand == "rm" and not arguments.has("--cached"):
        yield from ((word, Writing.DELETE) for word in targets)
    elif subcommand == "mv":
        yield from _moved(arguments)


def _deletes(arguments: Arguments) -> bool:
    """Whether `git clean` does more than ask or show."""
    letters = "".join(it.name for it in arguments.options if not it.name.startswith("--"))
    shown = "n" in letters or "i" in letters or arguments.has("--dry-run", "--interactive")
    return not shown and ("f" in letters or arguments.has("--force"))


def _downloaded(arguments: Arguments) -> Iterator[Change]:
    names = ("-o", "--output") if arguments.program == "curl" else ("-O", "--output-document")
    path = arguments.value(*names)
    if path and not _NOWHERE.fullmatch(path):
        yield Word(path), Writing.REPLACE


def _item(how: Writing, *options: str) -> Callable[[Arguments], Iterator[Change]]:
    """A PowerShell command that changes the file it names first."""

    def change(arguments: Arguments) -> Iterator[Change]:
        named = [it.value for it in arguments.options if it.name in options and it.value]
        for word in named or arguments.targets[:1]:
            if how is Writing.REPLACE and arguments.has("-append"):
                yield word, Writing.APPEND
            elif not _NOWHERE.fullmatch(word.text):
                yield word, how

    return change


def _created(arguments: Arguments) -> Iterator[Change]:
    kind = arguments.value("-itemtype", "-type") or ""
    if kind.lower() not in ("directory", "symboliclink", "junction"):
        yield from _item(Writing.CREATE, "-path", "-name")(arguments)


def _from_to(arguments: Arguments) -> tuple[Word | None, Word | None]:
    targets = list(arguments.targets)
    source = next((it.value for it in arguments.options if it.name in _PATHS), None)
    target = next(
        (it.value for it in arguments.options if it.name in ("-destination", "-newname")), None
    )
    source = source or (targets.pop(0) if targets else None)
    return source, target or (targets.pop(0) if targets else None)


def _items_moved(arguments: Arguments) -> Iterator[Change]:
    source, target = _from_to(arguments)
    if source and target:
        if arguments.program != "Copy-Item":
            yield source, Writing.DELETE
        copied = arguments.program == "Copy-Item"
        yield _inside(target, source, False), Writing.REPLACE if copied else Writing.MOVE


_PATHS = ("-path", "-literalpath", "-filepath")
_CHANGERS: dict[str, Callable[[Arguments], Iterator[Change]]] = {
    "tee": _tee,
    "sed": _in_place,
    "perl": _in_place,
    "mv": _moved,
    "cp": _copied,
    "rm": _each(Writing.DELETE),
    "unlink": _each(Writing.DELETE),
    "touch": _each(Writing.CREATE),
    "truncate": _each(Writing.REPLACE),
    "git": _git,
    "curl": _downloaded,
    "wget": _downloaded,
    "Set-Content": _item(Writing.REPLACE, *_PATHS),
    "Out-File": _item(Writing.REPLACE, *_PATHS),
    "Tee-Object": _item(Writing.REPLACE, *_PATHS),
    "Clear-Content": _item(Writing.REPLACE, *_PATHS),
    "Add-Content": _item(Writing.APPEND, *_PATHS),
    "Remove-Item": _item(Writing.DELETE, *_PATHS),
    "New-Item": _created,
    "Move-Item": _items_moved,
    "Rename-Item": _items_moved,
    "Copy-Item": _items_moved,
}
