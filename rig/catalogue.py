"""Which agents and which scenarios there are, in the order they are shown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rig.agents import claude_code, codex, copilot_cli, gemini_cli, openclaw, opencode
from rig.scenarios import (
    asked_server,
    compaction,
    declined_tool,
    failing_command,
    fork,
    guarded_call,
    hook_crash,
    instruction_file,
    interruption,
    nudge,
    own_hook_broken,
    own_hooks,
    randomised_exposure,
    resume,
    sandboxed_run,
    saved_skill,
    session_start,
    skill,
    status_line,
    subagent,
    wrapped_run,
)

if TYPE_CHECKING:
    from rig.agent import Agent
    from rig.scenario import Scenario

AGENTS: tuple[Agent, ...] = (
    claude_code.AGENT,
    codex.AGENT,
    opencode.AGENT,
    gemini_cli.AGENT,
    copilot_cli.AGENT,
    openclaw.AGENT,
)

SCENARIOS: dict[str, Scenario] = {
    "failing_command": failing_command.SCENARIO,
    "declined_tool": declined_tool.SCENARIO,
    "interruption": interruption.SCENARIO,
    "subagent": subagent.SCENARIO,
    "resume": resume.SCENARIO,
    "fork": fork.SCENARIO,
    "compaction": compaction.SCENARIO,
    "instruction_file": instruction_file.SCENARIO,
    "skill": skill.SCENARIO,
    "own_hooks": own_hooks.SCENARIO,
    "session_start": session_start.SCENARIO,
    "randomised_exposure": randomised_exposure.SCENARIO,
    "nudge": nudge.SCENARIO,
    "asked_server": asked_server.SCENARIO,
    "status_line": status_line.SCENARIO,
    "hook_crash": hook_crash.SCENARIO,
    "own_hook_broken": own_hook_broken.SCENARIO,
    "guarded_call": guarded_call.SCENARIO,
    "saved_skill": saved_skill.SCENARIO,
    "wrapped_run": wrapped_run.SCENARIO,
    "sandboxed_run": sandboxed_run.SCENARIO,
}
