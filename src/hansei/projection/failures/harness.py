"""What agent programs say in place of a tool's own answer.

Known by the first words of a result, so that the same words inside a file mean nothing.
"""

from __future__ import annotations

import re

from hansei.projection.failures.model import Kind, Refuser

_BEFORE = r"\A\s*(?:<tool_use_error>)?(?:Error: )?"

_REFUSED = re.compile(
    _BEFORE + r"(?:BLOCKED\b|This command requires approval|.{1,300}? was blocked\. For security"
    r"|(?:PreToolUse|PermissionRequest)(?::\S+)? hook|Permission (?:to use|denied by)"
    r"|The user (?:rejected|denied))"
)
_BY_PERSON = re.compile(_BEFORE + r"(?:The user |This command requires approval|Permission to use)")
_BY_ITSELF = re.compile(r"\s*(?:Warmup|No tools needed for suggestion)\s*\Z")
_STOPPED = re.compile(
    _BEFORE + r"(?:This operation was aborted|Request was aborted|\^C\s*\Z|Tool execution aborted"
    r"|The user (?:cancelled|aborted|interrupted))"
)
_NOISE = re.compile(
    _BEFORE + r"(?:"
    r"File has (?:not been read yet|been (?:unexpectedly )?modified)"
    r"|(?:You must|Must) read (?:the )?file"
    r"|String to replace not found|(?:old_?[sS]tring|The string to replace) .{0,40}not found"
    r"|Could not find old_?[sS]tring|Found (?:\d+|multiple) matches"
    r"|No changes to make: |No changes to apply"
    r"|InputValidationError|The \w+ tool was called with invalid arguments|Invalid arguments"
    r"|failed to parse function arguments|unsupported (?:custom tool )?call|missing field `"
    r"|No such tool available|Unknown (?:skill|tool|agent)|Model tried to call unavailable tool"
    r"|File content \(.{1,40}\) exceeds|MCP tool .{1,200} response .{1,60} exceeds"
    r"|(?:Ripgrep|Glob) search timed out|[Cc]ommand timed out after"
    r"|apply_patch verification failed|Failed to find (?:expected lines|context)"
    r"|[Ii]nvalid (?:patch )?hunk|Invalid patch"
    r"|(?:failed in sandbox: )?sandbox error: |execution error: (?:Io|Sandbox)"
    r"|write_stdin failed|exec_command failed|Shell \S{1,40} is not running|No shell found"
    r"|agent with id |invalid agent id|unable to (?:locate|process|read) image"
    r")"
)


_BY_RULE = re.compile(_BEFORE + r"(?:Permission to use|This command requires approval)")
_BY_HOOK = re.compile(_BEFORE + r"(?:BLOCKED\b|.{1,300}? was blocked\.|\w+(?::\S+)? hook)")
_TIME_LIMIT = re.compile(_BEFORE + r"[Cc]ommand timed out after[^\n]*\n?")
_SIBLING = re.compile(_BEFORE + r"(?:Sibling tool call errored|Cancelled: parallel tool call)")
_REASON = re.compile(
    _BEFORE
    + r"(?:(?:PreToolUse|PermissionRequest)(?::\S+)? hook[^\n]*?(?:error|returned[^:\n]*): *)?"
    r"(?:\[[^\]\n]*\]: *)?(?=BLOCKED\b|\S)"
)


def after_time_limit(text: str) -> str:
    """What a command had printed when its time was over; empty where it ended by itself."""
    found = _TIME_LIMIT.match(text)
    return text[found.end() :] if found else ""


def with_sibling(text: str) -> bool:
    """Whether a call was only dropped because one beside it failed."""
    return _SIBLING.match(text[:200]) is not None


def reason(text: str) -> str:
    """Why a hook or a rule said no, in its own words; empty where a person did."""
    if not _REFUSED.match(text[:600]) or _BY_PERSON.match(text[:600]):
        return ""
    found = _REASON.match(text)
    return text[found.end() if found else 0 :].strip()


def refused_by(text: str) -> Refuser:
    """Who said no to a call that was declined."""
    head = text[:600]
    if _BY_HOOK.match(head):
        return Refuser.HOOK
    return Refuser.RULE if _BY_RULE.match(head) else Refuser.PERSON


def refuses_itself(text: str) -> bool:
    """Whether a call was refused by the program for its own ends, and by nobody else."""
    return _BY_ITSELF.match(text[:100]) is not None


def said(text: str) -> Kind | None:
    """The kind of an answer that the agent program itself gave; None for a tool's own."""
    head = text[:600]
    if _NOISE.match(head):
        return Kind.HARNESS
    if _REFUSED.match(head):
        return Kind.DECLINED
    return Kind.INTERRUPTED if _STOPPED.match(head) else None
