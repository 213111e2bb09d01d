"""What a transcript lists of its own accord: skills, rules, instruction files, MCP servers.

Every agent has its own notation. A notation is known by the name of the notice or by the words a
text begins with, never by who wrote it, so a list is read wherever it turns up.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from hansei.events.model import MARKER, Notice, Origin, Prompt
from hansei.events.tools import mcp_server
from hansei.hook.places import INSTRUCTIONS, RULE, SERVER, SKILL
from hansei.projection.funnel.model import Entry
from hansei.store.evidence import SHOWN

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

_BEGINNING = re.compile(
    r"\s*(?:# AGENTS\.md instructions"
    r"|<(?:user_instructions|skills_instructions|agent_skills|available_skills|rules"
    r"|always_applied_workspace_rules|user_info|mcp_instructions|system_reminder)\b)"
)
"""How texts begin that may hold a list."""
_ITEM = re.compile(r"^- ([\w][\w:.@/-]*)(?:: |:?$)", re.MULTILINE)
_ITEM_WITH_FILE = re.compile(r"^- ([^\n]+?): ([^\n]*)\(file: ([^()\n]+)\)\s*$", re.MULTILINE)
_ROOT = re.compile(r"^- `(\w+)` = `([^`\n]+)`", re.MULTILINE)
_FOLDER = re.compile(r"# AGENTS\.md instructions for (.+)")
_SKILLS = re.compile(r"^## Skills\n(?=(?:These|A) skills? )", re.MULTILINE)
"""Where a list of skills begins behind an instruction file's own text."""
_LISTED = re.compile(r"^### Available skills\n", re.MULTILINE)
_TAIL = re.compile(r"^(?:### How to use skills|- (?:Discovery|Trigger rules): )", re.MULTILINE)
"""Where such a list is over."""
_OURS = re.compile(rf"{re.escape(MARKER)}\n(.*?)<!-- /hansei -->", re.DOTALL)
_COMPILED = re.compile(r"^- \*\*([a-z0-9][a-z0-9-]*)\*\*: ([^\n]*)", re.MULTILINE)
"""A skill as `hansei.prompt()` words it."""
_TAGGED_SKILL = re.compile(
    r"<agent_skill fullPath=\"([^\"]+)\"\s*(?:/>|>(.*?)</agent_skill>)", re.DOTALL
)
_TAGGED_RULE = re.compile(
    r"<(always_applied|agent_requestable)_workspace_rule (?:name|fullPath)=\"([^\"]+)\"\s*"
    r"(?:/>|>(.*?)</\1_workspace_rule>)",
    re.DOTALL,
)
_TAGGED_SERVERS = re.compile(r"<mcp_instructions[^>]*>(.*?)</mcp_instructions>", re.DOTALL)
_SERVER_LINE = re.compile(r"^Server: (\S.*?)\s*$", re.MULTILINE)
_SERVER_HEADING = re.compile(r"^## (?=\S*[-_:]|[a-z\d.]+$)([\w.:-]+)$", re.MULTILINE)
"""Servers' names are in small letters or joined by signs; headings in what they say are not."""
INSTRUCTION_FILES = re.compile(r"(?:AGENTS|CLAUDE|GEMINI)(?:\.\w+)?\.md", re.IGNORECASE)


INJECTING = (Origin.HARNESS, Origin.HANSEI)
"""Who puts instruction files and skills before the model. With a text of ours in them they carry
our marker, and they are listed and loaded all the same."""
LISTS_KEPT = 64
"""Lists kept at hand: sessions of one person begin with the same ones."""


def entries(event: Notice | Prompt) -> Iterable[Entry]:
    """What an event lists; mostly nothing."""
    if isinstance(event, Notice):
        return _noticed(event.name, event.text) if event.name in _NOTICES else _shown(event)
    if event.origin in INJECTING and _BEGINNING.match(event.text):
        return _told(event.text)
    if event.origin is Origin.HANSEI:
        return _compiled(event.text)
    return ()


@lru_cache(maxsize=LISTS_KEPT)
def _noticed(name: str, text: str) -> tuple[Entry, ...]:
    return tuple(_NOTICES[name](text))


@lru_cache(maxsize=LISTS_KEPT)
def _told(text: str) -> tuple[Entry, ...]:
    head = text.lstrip()[:40]
    if head.startswith(("# AGENTS.md instructions", "<user_instructions>")):
        return tuple(_instructions(text))
    if head.startswith("<skills_instructions>"):
        return tuple(_skills(text))
    found: list[Entry] = []
    if "<agent_skill " in text:
        found += _tagged_skills(text)
    if "_workspace_rule " in text:
        found += _tagged_rules(text)
    if "<mcp_instructions" in text:
        found += _tagged_servers(text)
    return tuple(found)


@lru_cache(maxsize=LISTS_KEPT)
def _compiled(text: str) -> tuple[Entry, ...]:
    """Skills that we compiled into the instructions of somebody's own agent."""
    found = []
    for block in _OURS.findall(text):
        items = list(_COMPILED.finditer(block))
        ends = [*(it.start() for it in items[1:]), len(block)]
        for item, end in zip(items, ends, strict=False):  # without an item there is only an end
            whole = block[item.start() : end].strip()
            found.append(Entry(SKILL, item[1], None, item[2].strip() or None, None, size(whole)))
    return tuple(found)


def size(text: str) -> int:
    """The bytes of a text."""
    return len(text.encode("utf-8", "surrogatepass"))


def last_name(path: str) -> str:
    """The last part of a path, however it is spelled."""
    return path.replace("\\", "/").rstrip("/").rsplit("/", 1)[-1]


def skill_name(path: str) -> str:
    """The name of a skill by where its file lies."""
    return last_name(path.replace("\\", "/").rpartition("/")[0]) or path


# --- instruction files and rules ------------------------------------------------------------------


def _instructions(text: str) -> Iterator[Entry]:
    """An instruction file with the folder it speaks for, and the skills told behind it."""
    folder = _FOLDER.match(text.lstrip())
    body = re.sub(r"</?(?:user_instructions|INSTRUCTIONS)>", "", text)
    body = body.partition("\n")[2] if folder else body
    skills = _SKILLS.search(body)
    own = body[: skills.start()].strip() if skills else body.strip()
    if own:
        path = f"{folder[1].strip().rstrip('/')}/AGENTS.md" if folder else "AGENTS.md"
        yield Entry(INSTRUCTIONS, "AGENTS.md", path, None, own, size(own))
    if skills:
        yield from _skills(body[skills.start() :])


def _shown(event: Notice) -> Iterator[Entry]:
    shown = event.data.get(SHOWN)
    if isinstance(shown, dict) and shown.get("kind") == INSTRUCTIONS:
        path = str(shown.get("path", ""))
        kind = INSTRUCTIONS if INSTRUCTION_FILES.fullmatch(last_name(path)) else RULE
        yield Entry(kind, last_name(path), path, None, event.text, size(event.text))


def _tagged_rules(text: str) -> Iterator[Entry]:
    for whole, path, inside in _TAGGED_RULE.findall(text):
        name, body = last_name(path), inside.strip()
        kind = INSTRUCTIONS if INSTRUCTION_FILES.fullmatch(name) else RULE
        if whole == "always_applied":
            yield Entry(kind, name, path, None, body, size(body))
        else:
            yield Entry(kind, name, path, body or None, None, size(body) + size(path))


# --- skills ---------------------------------------------------------------------------------------


def _skills(text: str) -> Iterator[Entry]:
    """`- name: what it is for (file: where it lies)`, with short names for folders."""
    roots = dict(_ROOT.findall(text))
    listed = _LISTED.search(text)
    start = listed.end() if listed else 0
    end = _TAIL.search(text, start)
    for item in _ITEM_WITH_FILE.finditer(text, start, end.start() if end else len(text)):
        head, slash, rest = item[3].partition("/")
        path = f"{roots[head]}/{rest}" if slash and head in roots else item[3]
        yield Entry(SKILL, item[1], path, item[2].strip() or None, None, size(item[0]))


def _skill_list(text: str) -> Iterator[Entry]:
    """`- name: what it is for`, which may run on over lines."""
    found = list(_ITEM.finditer(text))
    for item, after in zip(found, [*found[1:], None], strict=True):
        whole = text[item.start() : after.start() if after else len(text)].strip()
        said = whole[item.end() - item.start() :].strip()
        yield Entry(SKILL, item[1], None, said or None, None, size(whole))


def _tagged_skills(text: str) -> Iterator[Entry]:
    for path, said in _TAGGED_SKILL.findall(text):
        taken = size(path) + size(said)
        yield Entry(SKILL, skill_name(path), path, said.strip() or None, None, taken)


# --- MCP servers ----------------------------------------------------------------------------------


def _tool_names(text: str) -> Iterator[Entry]:
    """Tools that are listed by name alone: that is all of them that is in the context."""
    taken: dict[str, int] = {}
    for line in text.splitlines():
        server = mcp_server(line.strip())
        if server:
            taken[server] = taken.get(server, 0) + size(line) + 1
    for server, total in taken.items():
        yield Entry(SERVER, server, None, None, None, total)


def _tagged_servers(text: str) -> Iterator[Entry]:
    for inside in _TAGGED_SERVERS.findall(text):
        yield from _servers(inside, _SERVER_LINE)


def _server_blocks(text: str) -> Iterator[Entry]:
    yield from _servers(text, _SERVER_HEADING)


def _servers(text: str, heading: re.Pattern[str]) -> Iterator[Entry]:
    found = list(heading.finditer(text))
    ends = [*(it.start() for it in found[1:]), len(text)]
    for head, end in zip(found, ends, strict=False):  # without a heading there is only an end
        told = text[head.end() : end].strip()
        # What the server's tools take is not recorded, and it is more than this.
        yield Entry(SERVER, head[1], None, told.partition("\n\n")[0] or None, None, None)


_NOTICES: dict[str, Callable[[str], Iterator[Entry]]] = {
    "skill_listing": _skill_list,
    "deferred_tools_delta": _tool_names,
    "mcp_instructions_delta": _server_blocks,
}
