"""A tree followed the way a shell would: which folder, which status counts, what is shown.

Nothing is run. A folder or a variable that the text does not tell is unknown from there on.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

from hansei.projection.commands import arguments as words_of
from hansei.projection.commands import paths, programs, reads, writes
from hansei.projection.commands.classes import classify
from hansei.projection.commands.model import Class, Command, How, Read, Write
from hansei.projection.commands.showing import only_shows
from hansei.projection.commands.syntax import (
    Block,
    BlockKind,
    Dialect,
    Item,
    Sequence,
    Simple,
    Step,
    Unparsable,
    Word,
)
from hansei.projection.commands.wrappers import Unwrapped, program_name, unwrap

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from hansei.projection.commands.arguments import Arguments

_VARIABLE = re.compile(r"\$(?:\{(\w+)\}|(\w+))")
_STATUS = ("$?", '"$?"')
_FIRST_STATUS = "${PIPESTATUS[0]}"
_MOST_VALUES = 64
"""A loop over more files than this is not told file by file."""
_DEEPEST = 4
"""Shells inside shells; real calls have one or two."""


class _Counts(NamedTuple):
    """Whether a failure here makes the call fail."""

    failure: bool
    first_stage: bool = False
    """Whether it is the first program of the pipe whose status is asked for."""


@dataclass
class _Shell:
    """What a shell knows while it goes through a script."""

    directory: str | None = ""
    left: tuple[str | None, ...] = ()
    variables: dict[str, tuple[str, ...]] = field(default_factory=dict)
    stops: bool = False
    pipefail: bool = False

    def copy(self) -> _Shell:
        return replace(self, variables=dict(self.variables))


@dataclass
class Walk:
    """One script on its way to being commands."""

    dialect: Dialect
    parse: Callable[[str, Dialect], Sequence]
    own: Mapping[str, Class]
    commands: list[Command] = field(default_factory=list)
    parsed: bool = True
    depth: int = 0
    filling: int = 0
    """How many words deep we are in what only fills in a word."""

    def script(self, sequence: Sequence) -> None:
        self._run(sequence, _Shell(), counts=True)

    # --- statuses ---

    def _run(self, sequence: Sequence, shell: _Shell, *, counts: bool) -> None:
        statements = list(_statements(sequence))
        final, first_stage = _final(statements)
        for number, statement in enumerate(statements):
            for at, item in enumerate(statement):
                later = statement[at + 1 :]
                rescued = next((it for it in later if it.before == "||"), None)
                if rescued is not None:
                    failure = _gives_up(rescued)
                elif number == final:
                    failure = True
                else:
                    failure = shell.stops and not later
                failure = failure and counts and not item.negated and not item.background
                self._pipeline(item, shell, _Counts(failure, first_stage and number == final))

    def _pipeline(self, item: Item, shell: _Shell, counts: _Counts) -> None:
        alone = len(item.steps) == 1 and not item.background
        starts = []
        for stage, step in enumerate(item.steps):
            last = stage == len(item.steps) - 1
            heard = last != counts.first_stage or shell.pipefail or alone
            heard = heard or (counts.first_stage and stage == 0)
            starts.append(len(self.commands))
            inner = shell if alone else shell.copy()
            self._step(step, inner, counts.failure and heard, stage)
        for stage, step in enumerate(item.steps[1:], 1):
            self._narrow(starts[0], starts[stage], step)
        kept = item.steps[-1]
        if isinstance(kept, Simple) and [it.text for it in kept.words[:1]] == ["Set-Variable"]:
            shell.variables[kept.words[-1].text] = ()

    def _narrow(self, start: int, end: int, later: Step) -> None:
        """What a later step of the pipe leaves of what the earlier ones read."""
        filtering = None
        if isinstance(later, Simple) and later.words and end < len(self.commands):
            wrapped = unwrap(later.words)
            filtering = None if wrapped.fed or wrapped.script else self.commands[-1].arguments
            filtering = words_of.read(wrapped.words, self.dialect) if filtering else None
        away = writes.sends_away(later.redirects)
        for at in range(start, end):
            found = self.commands[at].reads
            if found:
                left = reads.hidden(found) if away else reads.narrowed(found, filtering)
                self.commands[at] = self.commands[at]._replace(reads=left)

    # --- steps ---

    def _step(self, step: Step, shell: _Shell, counts: bool, stage: int) -> None:
        if isinstance(step, Simple):
            self._simple(step, shell, counts, stage)
            return
        start = len(self.commands)
        self._block(step, shell, counts)
        changes = tuple(_located(writes.redirected(step.redirects), shell))
        for at in range(start, len(self.commands)):
            command = self.commands[at]
            if writes.sends_away(step.redirects):
                command = command._replace(reads=reads.hidden(command.reads))
            if at == len(self.commands) - 1 and changes:
                command = command._replace(writes=(*command.writes, *changes))
            self.commands[at] = command._replace(stage=max(command.stage, stage))

    def _block(self, block: Block, shell: _Shell, counts: bool) -> None:
        inner = shell.copy() if block.kind is BlockKind.SUBSHELL else shell
        for asked in block.conditions:
            self._run(asked, inner, counts=False)
        if block.variable:
            values = [_expanded(word, inner.variables) for word in block.values]
            known = tuple(text for value in values if value for text in value)
            complete = all(values) and len(known) <= _MOST_VALUES
            inner.variables[block.variable] = known if complete else ()
        # Of a loop only the last round's status is seen, of a function none where it is written.
        heard = block.kind not in (BlockKind.LOOP, BlockKind.FUNCTION)
        for body in block.bodies:
            self._run(body, inner, counts=counts and (heard or shell.stops))

    def _simple(self, step: Simple, shell: _Shell, counts: bool, stage: int) -> None:
        name = program_name(step.words[0].text) if step.words else ""
        for nested in step.nested:
            start = len(self.commands)
            self.filling += 1
            self._run(nested, shell.copy(), counts=counts and not step.words)
            self.filling -= 1
            if name not in ("echo", "printf", "Write-Output"):
                self._hide(start)
        if name in ("", "export", "declare", "local", "readonly", "typeset"):
            for variable, value in step.assignments:
                shell.variables[variable] = _expanded(value, shell.variables) or ()
        if not step.words:
            self._bare(step, shell, counts, stage)
            return
        wrapped = unwrap(_named(step.words, shell.variables))
        if wrapped.script is not None and self.depth < _DEEPEST:
            self._inner_script(step, wrapped, shell, counts, stage)
            return
        self.commands.append(self._command(step, wrapped, shell, counts, stage))
        _builtin(self.commands[-1].arguments, shell)

    def _bare(self, step: Simple, shell: _Shell, counts: bool, stage: int) -> None:
        """`> file` alone empties it."""
        if any(_located(writes.redirected(step.redirects), shell)):
            nothing = step._replace(words=(Word(":"),), assignments=())
            wrapped = Unwrapped(nothing.words)
            self.commands.append(self._command(nothing, wrapped, shell, counts, stage))

    def _inner_script(
        self, step: Simple, wrapped: Unwrapped, shell: _Shell, counts: bool, stage: int
    ) -> None:
        """`bash -lc '…'`: the commands of the text it is told."""
        script = wrapped.script
        assert script is not None
        try:
            sequence = self.parse(script.text, script.dialect)
        except Unparsable:
            self.parsed = False
            self.commands.append(self._command(step, wrapped, shell, counts, stage))
            return
        inner = shell.copy()
        inner.stops = "e" in script.options.replace("pipefail", "")
        inner.pipefail = "pipefail" in script.options
        start, dialect = len(self.commands), self.dialect
        self.dialect, self.depth = script.dialect, self.depth + 1
        self._run(sequence, inner, counts=counts)
        self.dialect, self.depth = dialect, self.depth - 1
        shell_name = program_name(wrapped.words[0].text)
        taken_off = (*wrapped.wrappers, shell_name)
        for at in range(start, len(self.commands)):
            command = self.commands[at]
            self.commands[at] = command._replace(
                wrappers=(*taken_off, *command.wrappers), stage=max(command.stage, stage)
            )
        if writes.sends_away(step.redirects):
            self._hide(start)

    def _hide(self, start: int) -> None:
        for at in range(start, len(self.commands)):
            command = self.commands[at]
            self.commands[at] = command._replace(reads=reads.hidden(command.reads))

    # --- one command ---

    def _command(
        self, step: Simple, wrapped: Unwrapped, shell: _Shell, counts: bool, stage: int
    ) -> Command:
        given = words_of.read(wrapped.words, self.dialect)
        known = given
        if shell.variables and not all(word.literal for word in wrapped.words):
            told = tuple(_told(word, shell.variables) for word in wrapped.words)
            known = words_of.read(told, self.dialect)
        targets = given.targets
        if given.program in writes.PATCHES:
            targets = tuple(word for word, _ in writes.patched(given, step.redirects)) or targets
            known = words_of.read((given.words[0], *targets), self.dialect)
        directory = _directory(given, wrapped, shell)
        place = shell if directory == shell.directory else replace(shell, directory=directory)
        read, changes = list[Read](), list[Write]()
        for words in _variants(wrapped.words, shell.variables):
            now = given if words is wrapped.words else words_of.read(words, self.dialect)
            read += _reads(now, step, place, stage)
            changes += _located(writes.changed(now, step.redirects), place)
        changes += _located(writes.redirected(step.redirects), shell)
        kind = classify(given, self.own)
        if changes and not read and kind is Class.READ:
            kind = Class.OTHER
        if kind is Class.OTHER and wrapped.wrappers[-1:] == ("python -m",):
            kind = Class.RUN
        return Command(
            given.program,
            given.subcommand,
            tuple(option.name for option in given.options),
            tuple(word.text for word in targets),
            kind,
            place.directory,
            stage,
            self.filling > 0,
            not counts,
            wrapped.wrappers,
            (*(name for name, _ in step.assignments), *wrapped.variables),
            tuple(dict.fromkeys(read)),
            tuple(dict.fromkeys(changes)),
            known,
        )


def main_command(commands: list[Command]) -> int | None:
    """The last command that does something; else the last that shows something; else the last."""
    filtering = [
        command.inside
        or command.program in programs.FILLERS
        or (command.stage > 0 and command.program in programs.FILTERS)
        for command in commands
    ]
    telling = [at for at in range(len(commands)) if not filtering[at]]
    doing = [at for at in telling if not only_shows(commands[at])]
    found = doing or telling or range(len(commands))
    return found[-1] if found else None


def deciding_command(commands: list[Command]) -> int | None:
    """The last command whose failure is the call's failure."""
    return next((at for at in reversed(range(len(commands))) if not commands[at].masked), None)


# --- which status a script ends with ---


def _statements(sequence: Sequence) -> Iterator[list[Item]]:
    """Pipelines joined by `&&` and `||` belong together."""
    statement: list[Item] = []
    for item in sequence:
        if item.before == ";" and statement:
            yield statement
            statement = []
        statement.append(item)
    if statement:
        yield statement


def _final(statements: list[list[Item]]) -> tuple[int, bool]:
    """The statement whose status the script ends with, and whether its first stage tells it."""
    last = len(statements) - 1
    asked = _only_words(statements[last]) if statements else []
    if last > 0 and asked[:1] == ["exit"]:
        told = asked[1] if len(asked) > 1 else "$?"
        if told in (*_STATUS, _FIRST_STATUS):
            return last - 1, told == _FIRST_STATUS
        for number in range(1, last):
            kept = _kept_status(statements[number])
            if kept and told in (f"${kept[0]}", f"${{{kept[0]}}}"):
                return number - 1, kept[1] == _FIRST_STATUS
    return last, False


def _only_words(statement: list[Item]) -> list[str]:
    step = statement[0].steps[0]
    alone = len(statement) == 1 and len(statement[0].steps) == 1 and isinstance(step, Simple)
    return [word.text for word in step.words] if alone and isinstance(step, Simple) else []


def _kept_status(statement: list[Item]) -> tuple[str, str] | None:
    """`rc=$?`: the variable, and what it keeps."""
    step = statement[0].steps[0]
    if isinstance(step, Simple) and not step.words and len(step.assignments) == 1:
        name, value = step.assignments[0]
        if value.text in ("$?", _FIRST_STATUS):
            return name, value.text
    return None


def _gives_up(item: Item) -> bool:
    """`|| exit 1`: the script ends as failed."""
    step = item.steps[-1]
    if isinstance(step, Block):
        return bool(step.bodies and step.bodies[-1]) and _gives_up(step.bodies[-1][-1])
    words = [word.text for word in step.words]
    if words[:1] == ["false"]:
        return True
    return words[:1] in (["exit"], ["return"]) and words[1:2] not in (["0"], [])


# --- folders, variables, files ---


def _builtin(given: Arguments, shell: _Shell) -> None:
    """What a command changes in the shell itself."""
    targets = given.targets
    if given.program in ("cd", "pushd", "Set-Location", "Push-Location", "chdir"):
        folder = targets[0] if targets else None
        value = given.value("-path", "-literalpath")
        folder = Word(value) if value is not None else folder
        if given.program in ("pushd", "Push-Location"):
            shell.left = (*shell.left, shell.directory)
        shell.directory = _moved(folder, shell)
    elif given.program in ("popd", "Pop-Location"):
        shell.directory = shell.left[-1] if shell.left else None
        shell.left = shell.left[:-1]
    elif given.program == "read":
        shell.variables.update({word.text: () for word in targets})
    elif given.program == "set":
        told = "".join(option.name for option in given.options)
        shell.stops = shell.stops or "e" in told
        shell.pipefail = shell.pipefail or any(word.text == "pipefail" for word in targets)


def _moved(folder: Word | None, shell: _Shell) -> str | None:
    if folder is None:
        return "~"
    values = _expanded(folder, shell.variables)
    if folder.text == "-" or not values or len(values) != 1:
        return None
    place = paths.join(shell.directory, values[0])
    return "" if place == "." else place


def _directory(given: Arguments, wrapped: Unwrapped, shell: _Shell) -> str | None:
    """Where a program works, which an option of it may change."""
    family = programs.SAME.get(given.program, given.program)
    directory = shell.directory
    options = programs.FOLDER_OPTIONS.get(family, ())
    named = [option.value for option in given.options if option.name in options]
    for folder in (wrapped.directory, *named):
        if folder is not None:
            directory = _moved(folder, replace(shell, directory=directory))
    return directory


def _expanded(word: Word, variables: Mapping[str, tuple[str, ...]]) -> tuple[str, ...] | None:
    """The texts a word stands for; None where that is not told."""
    if word.literal:
        return (word.text,)
    texts: tuple[str, ...] = (word.text,)
    for name in sorted({found[1] or found[2] for found in _VARIABLE.finditer(word.text)}):
        values = variables.get(name)
        if not values:
            return None
        spelling = re.compile(rf"\$(?:\{{{name}\}}|{name}\b)")
        texts = tuple(value.join(spelling.split(text)) for text in texts for value in values)[
            :_MOST_VALUES
        ]
    return None if any("$" in text or "`" in text for text in texts) else texts


def _told(word: Word, variables: Mapping[str, tuple[str, ...]]) -> Word:
    """A word with what the text itself says its variables are; `{value}` where that is several."""
    if word.literal or not variables:
        return word

    def value(found: re.Match[str]) -> str:
        values = variables.get(found[1] or found[2])
        return found[0] if values is None else values[0] if len(values) == 1 else "{value}"

    text = _VARIABLE.sub(value, word.text)
    return Word(text, word.quoted, literal="$" not in text and "`" not in text)


def _named(words: tuple[Word, ...], variables: Mapping[str, tuple[str, ...]]) -> tuple[Word, ...]:
    """The words with their program called by its name where the text keeps that in a variable."""
    if words[0].literal:
        return words
    program = _told(words[0], variables)
    if not program.literal or "{value}" in program.text:
        return words
    parts = [program.text] if program.quoted else program.text.split()
    return (*(Word(part) for part in parts), *words[1:]) if parts else words


def _variants(
    words: tuple[Word, ...], variables: Mapping[str, tuple[str, ...]]
) -> Iterator[tuple[Word, ...]]:
    """The words once for each value of the variables in them."""
    if not variables or all(word.literal for word in words):
        yield words
        return
    each = [_expanded(word, variables) for word in words]
    rounds = max((len(texts) for texts in each if texts), default=1)
    for number in range(rounds):
        yield tuple(
            word if texts is None or word.literal else Word(texts[number % len(texts)], word.quoted)
            for word, texts in zip(words, each, strict=True)
        )


def _reads(given: Arguments, step: Simple, shell: _Shell, stage: int) -> Iterator[Read]:
    found = reads.shown(given)
    if found is None or (found.assumed and stage > 0):
        return
    named = found.paths or tuple(
        redirect.target for redirect in step.redirects if redirect.operator == "<"
    )
    how = How.HIDDEN if writes.sends_away(step.redirects) else found.how
    for word in named:
        path = _path(word, shell)
        if path is not None:
            for part in found.ranges:
                yield Read(path, part.first, part.last, how, found.revision)


def _located(changes: Iterator[writes.Change], shell: _Shell) -> Iterator[Write]:
    for word, how in changes:
        values = (word.text,) if word.literal else _expanded(word, shell.variables) or ()
        for text in values:
            path = _path(Word(text, word.quoted), shell)
            if path is not None:
                yield Write(path, how)


def _path(word: Word, shell: _Shell) -> str | None:
    """A word as a path, where it can be one."""
    text = word.text
    if not word.literal or not text or text == "-" or "\n" in text:
        return None
    return None if text.startswith("/dev/") else paths.join(shell.directory, text)
