"""Skills that were promoted to a hook: the file that tells the hook program what to stop.

`guards.json` lies in hansei's home, beside what hooks write, and follows from the books: a person's
step on this machine puts a rule there, a rule that came with a clone does not. The hook program
itself is the one that `hansei init` has agents run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from hansei.config import home_folder
from hansei.errors import HanseiError, StoreUnwritable
from hansei.hook.guard import VERSION
from hansei.hook.record import GUARDS
from hansei.hook.words import BEFORE_CALLS
from hansei.installation import catalogue, files
from hansei.installation.jsonc import Malformed
from hansei.installation.launcher import launcher
from hansei.learn import guards
from hansei.learn.model import LIVE, Predicates, Rung, Scope

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from hansei.config import Config
    from hansei.installation.contract import Target
    from hansei.learn.model import Skill
    from hansei.ops.skills import Desk


class Guard(msgspec.Struct, frozen=True):
    """A rule, as the hook program reads it."""

    root: str
    name: str
    needles: tuple[str, ...]
    reason: str
    predicates: Predicates


class _File(msgspec.Struct):
    v: int
    guards: list[Guard]


def standing(config: Config) -> list[Guard]:
    """What is stopped on this machine, by folder and name."""
    try:
        content = _place(config).read_bytes()
        return msgspec.json.decode(content, type=_File).guards
    except (OSError, msgspec.MsgspecError):
        return []


def is_guarded(desk: Desk, skill: Skill) -> bool:
    """Whether calls that a skill warns of are stopped here."""
    here = _root(desk, skill)
    return any((it.root, it.name) == (here, skill.name) for it in standing(desk.config))


def settle(desk: Desk, were: Mapping[str, Skill | None], are: Mapping[str, Skill | None]) -> None:
    """Have what is stopped agree with skills that changed; None is a skill that is not there."""
    before = standing(desk.config)
    known = {(it.root, it.name): it for it in before}
    for name, new in are.items():
        old = were[name]
        named = new or old
        if named is None:
            continue
        place = _root(desk, named), named.name
        if new is not None and is_hook(new) and (place in known or not (old and is_hook(old))):
            known[place] = _guard(place[0], new)
        else:
            known.pop(place, None)
    after = [known[it] for it in sorted(known)]
    if after != before:
        _write(desk.config, after)


def is_hook(skill: Skill) -> bool:
    """Whether a skill is one whose warnings are to be obeyed."""
    live = skill.rung is Rung.HOOK and skill.state in LIVE
    return live and skill.scope is Scope.WORKSPACE and not guards.why_not(skill.predicates)


def _guard(root: str, skill: Skill) -> Guard:
    told = skill.predicates
    return Guard(root, skill.name, guards.needles(told), guards.reason(skill), told)


def _root(desk: Desk, skill: Skill) -> str:
    return str(desk.root(skill).resolve())


def _place(config: Config) -> Path:
    return home_folder(config.environment).absolute() / GUARDS


def _write(config: Config, told: list[Guard]) -> None:
    place = _place(config)
    try:
        if not told:
            files.remove(place, [])
            return
        files.make_folders(place.parent)
        content = msgspec.json.format(msgspec.json.encode(_File(VERSION, told)), indent=1)
        files.replace(place, content + b"\n", expected=files.read(place), mode=files.PRIVATE_FILE)
    except (OSError, files.ChangedMeanwhile) as problem:
        raise StoreUnwritable(
            f"{place} cannot be written: {problem}", hint="Allow writing there, then try again."
        ) from problem


# --- who obeys ------------------------------------------------------------------------------------


def obeying(config: Config) -> list[str]:
    """The agents whose settings have our hook run before a call, and that heed what it says."""
    tool = launcher(home_folder(config.environment).absolute())
    return [
        name
        for name, event in sorted(BEFORE_CALLS.items())
        for target in catalogue.load(name).targets(config.environment, (), tool)
        if event in _events(target)
    ]


def _events(target: Target) -> Iterator[str]:
    try:
        content = files.read(target.path)
        if content is not None:
            yield from target.edit.events(files.decoded(target.path, content))
    except (HanseiError, Malformed):  # `hansei doctor` says what is wrong with it
        return
