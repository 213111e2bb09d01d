"""Sessions told in full: which scenes come in which order."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from hansei.synth import remarks, scenes
from hansei.synth.codebase import ENTITIES, INSTRUCTIONS, service_path
from hansei.synth.dice import dice
from hansei.synth.draft import Doing, Draft
from hansei.synth.guides import guide
from hansei.synth.output import found
from hansei.synth.scenes import Tale
from hansei.synth.story import CHILD_DELAY, Prompt, Read, Search, Session, calls
from hansei.synth.troubles import ENVIRONMENT
from hansei.synth.voices import pick
from hansei.synth.work import deed

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from random import Random

    from hansei.synth.contract import Traits
    from hansei.synth.history import Sitting
    from hansei.synth.plan import WorldPlan
    from hansei.synth.scenes import Errand
    from hansei.synth.story import Plant, Step

RATES = (0.35, 0.42)
"""Tokens per byte of English and code, as real transcripts show them."""


def compose(
    plan: WorldPlan, sitting: Sitting, commits: Mapping[str, str], traits: Traits, padding: float
) -> tuple[Session, list[Session]]:
    """A session and those of its subagents."""
    seed, outline = plan.seed, sitting.outline
    rng = dice(seed, "compose", outline.index)
    tale = _tale(seed, sitting, commits, traits, padding, rng)
    _tell(tale)
    span = outline.sittings[0]
    steps = tale.draft.finish(span.start, span.end)
    plants = list(tale.draft.plants)
    for number, later in enumerate(outline.sittings[1:], 1):
        again = _tale(seed, sitting, commits, traits, padding, rng, f"{outline.key}+{number}")
        scenes.second_sitting(again)
        steps += again.draft.finish(later.start, later.end)
        plants += again.draft.plants
    session = _session(sitting, commits, steps, tuple(plants), rng)
    if outline.fork_of is not None:
        parent = plan.outlines[outline.fork_of].key
        session = replace(session, parent=parent, relation="fork", inherits=True)
    children = [_child(session, errand, sitting.tree, tale, rng) for errand in tale.errands]
    return session, children


def _tale(
    seed: int,
    sitting: Sitting,
    commits: Mapping[str, str],
    traits: Traits,
    padding: float,
    rng: Random,
    name: str = "",
) -> Tale:
    outline, assignment = sitting.outline, sitting.assignment
    wanted = deed(seed, outline.index)
    entity = assignment.work.entity if assignment else ENTITIES[outline.index % len(ENTITIES)]
    summary = pick(rng, "summary", entity=entity, name=wanted.name, phrase=wanted.phrase)
    draft = Draft(rng, name or outline.key, sitting.tree, padding, summary)
    branch = branch_of(sitting)
    return Tale(draft, outline, traits, wanted, entity, branch, assignment, dict(commits))


def branch_of(sitting: Sitting) -> str:
    """The branch a session works on."""
    if sitting.assignment is None or sitting.assignment.fate != "squashed":
        return "main"
    return f"feat/{sitting.assignment.work.deed.slug.replace(' ', '-')}"


def _tell(tale: Tale) -> None:
    outline, draft = tale.outline, tale.draft
    if tale.plants("slash"):
        scenes.slash(tale)
    draft.say(_opening(tale))
    if outline.kind == "chore":
        scenes.chores(tale)
        if tale.plants("unanswered"):
            scenes.unanswered(tale)
        else:
            scenes.close(tale, "say_report")
        return
    if outline.fork_of is None:
        scenes.explore(tale)
    for scene in _preparation(tale):
        scene(tale)
    if outline.works:
        scenes.edit(tale)
    for scene in (*_happenings(tale), *_talk(tale)):
        scene(tale)
    scenes.commit(tale)
    scenes.close(tale, "say_done" if outline.works else "say_explained")


def _opening(tale: Tale) -> str:
    about = "fork" if tale.outline.fork_of is not None else tale.outline.kind
    text = tale.pick(f"ask_{about}")
    return text + scenes.leaked_in_prompt(tale) if tale.plants("leak_prompt") else text


def _preparation(tale: Tale) -> list[Callable[[Tale], None]]:
    """What comes before the first edit."""
    chosen: list[Callable[[Tale], None]] = [scenes.look_at_logs]
    if tale.rng.random() < 0.5:
        chosen.append(scenes.plan)
    named = {"haul": scenes.haul, "delegate": scenes.delegate, "fetch": scenes.fetch}
    if not tale.traits.delegates:
        del named["delegate"]
    chosen += [scene for name, scene in named.items() if tale.plants(name)]
    if tale.plants("consult"):
        chosen.append(scenes.consult)
    return chosen


def _happenings(tale: Tale) -> list[Callable[[Tale], None]]:
    """What comes after the edits, in any order."""
    named = {
        "reread": scenes.reread,
        "decoy": scenes.decoy,
        "interrupt": scenes.interrupt,
        "decline": scenes.decline,
        "compact": scenes.compact,
        "spill": scenes.spill,
        "queue": scenes.queue,
        "skill": scenes.skill,
        "leak_output": scenes.leak_output,
        "leak_file": scenes.leak_file,
    }
    chosen: list[Callable[[Tale], None]] = [
        scene for name, scene in named.items() if tale.plants(name)
    ]
    for pattern in sorted(tale.outline.patterns):
        kind, _, name = pattern.partition(":")
        if kind == "trouble" or (kind == "masked" and name != ENVIRONMENT.name):
            chosen.append(partial(scenes.trouble, name=name, masked=kind == "masked"))
    if tale.outline.works:
        chosen.append(scenes.check)
    if tale.outline.topic == "scope":
        chosen.append(scenes.scope)
    tale.rng.shuffle(chosen)
    return chosen


def _talk(tale: Tale) -> list[Callable[[Tale], None]]:
    """What is said at the end; there it moves no draw of what happened before."""
    named = {
        "misread": remarks.misread,
        "ask_again": remarks.ask_again,
        "aside": remarks.aside,
        "struggle": scenes.struggle,
        "routine": scenes.routine,
        "guide": guide,
    }
    return [scene for name, scene in named.items() if tale.plants(name)]


def _session(
    sitting: Sitting,
    commits: Mapping[str, str],
    steps: tuple[Step, ...],
    plants: tuple[Plant, ...],
    rng: Random,
) -> Session:
    outline = sitting.outline
    first = next(step for step in steps if isinstance(step, Prompt))
    return Session(
        key=outline.key,
        agent=outline.agent,
        driver=outline.driver,
        developer=outline.developer.name,
        era=outline.era,
        branch=branch_of(sitting),
        commit=commits[sitting.head],
        instructions=sitting.tree[INSTRUCTIONS],
        title=first.text.split("\n")[0][:60],
        rate=round(rng.uniform(*RATES), 4),
        started=steps[0].at,
        steps=steps,
        plants=plants,
        guided="guide:listed" in outline.patterns,
    )


def _child(
    parent: Session, errand: Errand, tree: Mapping[str, str], tale: Tale, rng: Random
) -> Session:
    """A subagent's session, within the time of the call that started it."""
    draft = Draft(rng, errand.child, tree, tale.draft.padding, errand.prompt)
    draft.say(errand.prompt, "parent_agent")
    pattern = f"{tale.entity}."
    draft.act(
        Doing(Search(pattern, "src"), found(tree, pattern, "src")),
        thought=pick(rng, "think_start", entity=tale.entity),
    )
    for path in (service_path(tale.entity), f"src/berthline/api/{tale.entity}.py"):
        draft.act(Doing(Read(path), tree[path]))
    draft.act(reply=errand.report)
    call = next(call for call in calls(parent) if call.key == errand.call)
    assert call.outcome is not None
    return Session(
        key=errand.child,
        agent=parent.agent,
        driver="subagent",
        developer=parent.developer,
        era=parent.era,
        branch=parent.branch,
        commit=parent.commit,
        instructions=parent.instructions,
        title=errand.title,
        rate=round(rng.uniform(*RATES), 4),
        started=call.at + CHILD_DELAY,
        steps=draft.finish(call.at + CHILD_DELAY, call.outcome.at - 100),
        parent=parent.key,
        relation="subagent",
        spawned_by=errand.call,
        inherits=tale.traits.subagents_inherit and rng.random() < 0.6,
    )
