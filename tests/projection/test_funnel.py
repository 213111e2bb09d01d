"""How far instruction files, rules, skills and MCP servers got in a session."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from hansei.events.model import (
    AnyEvent,
    Basis,
    Compaction,
    Notice,
    Origin,
    Prompt,
    Reply,
    RequestUsage,
    SlashCommand,
    Status,
    Thought,
    Tool,
    ToolCall,
    ToolResult,
)
from hansei.projection.calls import calls
from hansei.projection.exposure import Row
from hansei.projection.funnel import Use, funnel, summed
from hansei.store.reading import Numbered

SKILL_TEXT = (
    "Base directory for this skill: /home/me/.claude/skills/ship-it\n\n# Ship it\n\n"
    "```bash\nmake release VERSION=<version>\n./bin/announce --channel releases\n```\n"
)
LISTING = (
    "- ship-it: Publish a release and announce it to the channel.\n- review: Review a pull request"
)


def session(*events: AnyEvent) -> list[Numbered]:
    return [Numbered(seq, event) for seq, event in enumerate(events, 1)]


def prompt(text: str, origin: Origin = Origin.HUMAN) -> Prompt:
    return Prompt(key=0, session="s", text=text, origin=origin)


def reply(text: str) -> Reply:
    return Reply(key=0, session="s", text=text)


def thought(text: str) -> Thought:
    return Thought(key=0, session="s", text=text)


def notice(name: str, text: str, **data: Any) -> Notice:
    return Notice(key=0, session="s", name=name, text=text, data=data)


def request() -> RequestUsage:
    return RequestUsage(key=0, session="s", input=10)


def call(
    name: str, tool: Tool, text: str = "", server: str | None = None, **arguments: Any
) -> ToolCall:
    return ToolCall(
        key=0, session="s", call=f"{name} {text}", tool=tool, name=name, text=text,
        arguments=arguments, server=server,
    )  # fmt: skip


def result(of: ToolCall, text: str = "done", status: Status = Status.OK) -> ToolResult:
    return ToolResult(key=0, session="s", call=of.call, text=text, status=status, basis=Basis.FLAG)


def shell(command: str) -> ToolCall:
    return call("Bash", Tool.SHELL, command)


def row(kind: str, path: str, size: int = 100, basis: str = "hook", reach: str = "start") -> Row:
    return (kind, path, "0" * 16, size, basis, reach)


def uses(events: list[Numbered], *texts: Row, rate: float | None = None) -> dict[str, Use]:
    return {use.name: use for use in funnel(events, calls(events), texts, rate)}


# --- listed ---------------------------------------------------------------------------------------


def test_what_a_hook_saw_is_listed_without_an_event() -> None:
    found = uses(session(prompt("hello")), row("instructions", "CLAUDE.md", 400), rate=0.25)
    use = found["CLAUDE.md"]
    assert (use.listed_seq, use.basis, use.bytes, use.tokens) == (None, "hook", 400, 100)


def test_a_list_of_skills_gives_a_row_for_each_with_the_size_of_its_line() -> None:
    found = uses(session(prompt("hi"), notice("skill_listing", LISTING)))
    assert sorted(found) == ["review", "ship-it"]
    assert {use.listed_seq for use in found.values()} == {2}
    assert found["review"].bytes == len("- review: Review a pull request")


def test_a_list_that_comes_twice_is_one_row() -> None:
    listing = notice("skill_listing", LISTING)
    assert len(funnel(session(listing, prompt("hi"), listing), [])) == 2


def test_an_instruction_file_in_the_transcript_is_listed_apart_from_the_skills_behind_it() -> None:
    text = (
        "# AGENTS.md instructions for /work/app\n\n<INSTRUCTIONS>\nUse tabs.\n\n"
        "## Skills\nThese skills are discovered at startup.\n"
        "- ship it: Publish. (file: /s/ship-it/SKILL.md)\n- Discovery: as above\n</INSTRUCTIONS>"
    )
    found = uses(session(prompt(text, Origin.HARNESS)))
    assert (found["AGENTS.md"].path, found["AGENTS.md"].bytes) == ("/work/app/AGENTS.md", 9)
    assert found["ship it"].path == "/s/ship-it/SKILL.md"
    assert len(found) == 2


def test_files_with_a_text_of_ours_in_them_are_listed_and_loaded_all_the_same() -> None:
    ours = "Use tabs.\n\n<!-- hansei -->\n<!-- kfmt -->\n- ours\n<!-- /hansei -->"
    text = f"# AGENTS.md instructions for /w\n\n<INSTRUCTIONS>\n{ours}\n</INSTRUCTIONS>"
    skill = f"{SKILL_TEXT}\n<!-- hansei -->\n"
    listing = notice("skill_listing", LISTING)
    events = session(listing, prompt(text, Origin.HANSEI), prompt(skill, Origin.HANSEI))
    found = uses(events)
    assert found["AGENTS.md"].bytes == len(ours)
    assert found["ship-it"].fired


def test_an_instruction_block_of_nothing_but_skills_is_no_instruction_file() -> None:
    text = (
        "<user_instructions>\n## Skills\nA skill is a set of instructions.\n"
        "- a: One. (file: /s/a/SKILL.md)\n</user_instructions>"
    )
    assert sorted(uses(session(prompt(text, Origin.HARNESS)))) == ["a"]


def test_folders_of_skills_may_have_short_names() -> None:
    text = (
        "<skills_instructions>\n### Skill roots\n- `r0` = `/home/me/.agents/skills`\n"
        "### Available skills\n- ship-it: Publish. (file: r0/ship-it/SKILL.md)\n"
        "### How to use skills\n- other: not a skill (file: x)\n</skills_instructions>"
    )
    found = uses(session(prompt(text, Origin.HARNESS)))
    assert [use.path for use in found.values()] == ["/home/me/.agents/skills/ship-it/SKILL.md"]


def test_tagged_rules_skills_and_servers_are_listed() -> None:
    text = (
        '<rules><always_applied_workspace_rule name="/w/AGENTS.md">Use tabs.'
        "</always_applied_workspace_rule>\n"
        '<agent_requestable_workspace_rule fullPath="/w/rules/sql.mdc">How to write migrations'
        "</agent_requestable_workspace_rule></rules>\n"
        '<agent_skill fullPath="/s/ship-it/SKILL.md">Publish.</agent_skill>'
        "<mcp_instructions>\nServer: tracker\nLook up tickets.\n</mcp_instructions>"
    )
    found = uses(session(prompt(text, Origin.HARNESS)))
    assert {name: use.kind for name, use in found.items()} == {
        "AGENTS.md": "instructions",
        "sql.mdc": "rule",
        "ship-it": "skill",
        "tracker": "mcp",
    }


def test_the_ledger_and_the_transcript_tell_of_the_same_file_once() -> None:
    shown = {"kind": "instructions", "path": "/work/app/web/CLAUDE.md"}
    events = session(prompt("hi"), notice("nested_memory", "Use tabs.", shown=shown))
    texts = [row("instructions", "CLAUDE.md"), row("instructions", "web/CLAUDE.md", reach="below")]
    rows = funnel(events, [], texts)
    assert [(use.path, use.listed_seq) for use in rows] == [
        ("CLAUDE.md", None),
        ("web/CLAUDE.md", 2),
    ]


def test_what_waits_in_a_folder_is_listed_once_a_call_has_been_there() -> None:
    texts = [row("instructions", "web/CLAUDE.md", reach="below")]
    before = session(prompt("hi"), call("Read", Tool.READ, "/work/app/api/main.py"))
    after = [*before, Numbered(3, call("Read", Tool.READ, "/work/app/web/page.ts"))]
    assert funnel(before, calls(before), texts) == []
    assert [use.listed_seq for use in funnel(after, calls(after), texts)] == [3]


def test_servers_whose_tools_are_named_are_listed_and_their_size_is_that_of_the_names() -> None:
    names = "Bash\nmcp__tracker__get\nmcp__tracker__put\nmcp__mail__send"
    found = uses(session(notice("deferred_tools_delta", names)))
    assert {name: use.bytes for name, use in found.items()} == {"tracker": 36, "mail": 16}


# --- matched --------------------------------------------------------------------------------------


def matched(text: str, listing: str = LISTING) -> dict[str, bool | None]:
    events = session(notice("skill_listing", listing), prompt(text))
    return {use.name: use.matched for use in funnel(events, calls(events))}


def test_a_prompt_that_names_a_skill_matches_it() -> None:
    for text in ("use ship-it now", "please SHIP IT", "run /ship-it", "the $ship-it skill"):
        assert matched(text)["ship-it"], text


def test_a_name_that_is_a_plain_word_must_be_marked_as_a_name() -> None:
    assert matched("I need a review of my essay")["review"] is False
    assert matched("use the review skill")["review"]
    assert matched("try `/review`")["review"]


def test_two_distinctive_words_in_one_sentence_match_and_in_two_sentences_do_not() -> None:
    assert matched("Can you announce the releases?")["ship-it"]
    assert matched("I saw a release.\nNow announce dinner.")["ship-it"] is False


def test_words_in_quoted_code_and_paths_do_not_match() -> None:
    assert matched("```\nannounce release channel\n```")["ship-it"] is False
    assert matched("see docs/announce/release/channel.md")["ship-it"] is False


def test_what_a_template_fences_as_text_was_typed() -> None:
    assert matched("## User Input\n```text\nAnnounce the release.\n```")["ship-it"]


def test_words_in_the_names_of_other_texts_do_not_match() -> None:
    listing = f"{LISTING}\n- release-guard: Watch.\n- announce-bot: Talk."
    found = matched("choose between release-guard and announce-bot", listing)
    assert found == {
        "ship-it": False, "review": False, "release-guard": True, "announce-bot": True
    }  # fmt: skip


def test_words_that_many_descriptions_share_are_not_distinctive() -> None:
    listing = "\n".join(f"- skill-{n}x: Deploy clusters of kind {n}x." for n in range(30))
    assert not any(matched("deploy the clusters", listing).values())


def test_without_a_description_or_in_another_script_it_is_unknown() -> None:
    assert matched("hello", "- ship-it")["ship-it"] is None
    assert matched("выпусти новую версию")["ship-it"] is None
    assert matched("выпусти новую версию через ship-it")["ship-it"] is True


def test_only_prompts_that_begin_a_turn_are_matched() -> None:
    events = session(
        notice("skill_listing", LISTING), prompt("use ship-it", Origin.HARNESS), prompt("hello")
    )
    assert uses(events)["ship-it"].matched is False


# --- fired ----------------------------------------------------------------------------------------


def loaded_by_tool() -> list[AnyEvent]:
    asked = call("Skill", Tool.OTHER, "ship-it", skill="ship-it")
    return [
        notice("skill_listing", LISTING),
        asked,
        result(asked, "Launching skill: ship-it"),
        prompt(SKILL_TEXT, Origin.HARNESS),
    ]


def test_a_skill_fires_by_its_tool_and_the_injected_text_is_the_same_load() -> None:
    use = uses(session(*loaded_by_tool()))["ship-it"]
    assert (use.fired, use.fired_seq, use.calls, use.failed) == (True, 2, 1, 0)
    assert use.path == "/home/me/.claude/skills/ship-it/SKILL.md"
    assert use.bytes == len(LISTING.splitlines()[0]) + len(SKILL_TEXT)


def test_a_skill_fires_by_a_command_of_its_name() -> None:
    typed = SlashCommand(key=0, session="s", name="ship-it")
    use = uses(session(notice("skill_listing", LISTING), typed))["ship-it"]
    assert (use.matched_seq, use.fired_seq, use.calls, use.bytes) == (2, 2, 1, None)


def test_a_skill_fires_when_its_file_is_read_by_a_tool_or_in_the_shell() -> None:
    for reading in (
        call("Read", Tool.READ, "C:\\me\\.claude\\skills\\ship-it\\SKILL.md"),
        shell("sed -n '1,200p' /home/me/.agents/skills/ship-it/SKILL.md"),
    ):
        events = session(notice("skill_listing", LISTING), reading, result(reading, "a\nb"))
        use = uses(events)["ship-it"]
        assert (use.fired, use.fired_seq, use.calls) == (True, 2, 1)


def test_looking_for_a_skill_does_not_load_it() -> None:
    for command in (
        "find . -name SKILL.md",
        "ls skills/ship-it",
        "grep -l x skills/ship-it/SKILL.md",
    ):
        asked = shell(command)
        events = session(notice("skill_listing", LISTING), asked, result(asked))
        assert uses(events)["ship-it"].fired is False, command


def test_a_load_that_failed_does_not_fire_and_one_without_a_result_is_unknown() -> None:
    asked = call("Skill", Tool.OTHER, "ship-it", skill="ship-it")
    listing = notice("skill_listing", LISTING)
    failed = uses(session(listing, asked, result(asked, "Unknown", Status.FAILED)))["ship-it"]
    assert (failed.fired, failed.calls, failed.failed) == (False, 1, 1)
    assert uses(session(listing, asked))["ship-it"].fired is None


def test_a_skill_in_no_list_that_was_loaded_is_listed_by_the_transcript() -> None:
    asked = call("Read", Tool.READ, "/s/other/SKILL.md")
    use = uses(session(asked, result(asked, "a\nb")))["other"]
    assert (use.basis, use.listed_seq, use.fired_seq) == ("transcript", 1, 1)
    assert uses(session(asked, result(asked, "no such file", Status.FAILED))) == {}


def test_a_skill_of_a_plug_in_is_known_by_the_last_part_of_its_name() -> None:
    listing = notice("skill_listing", "- tools:ship-it: Publish.")
    found = uses(session(listing, prompt(SKILL_TEXT, Origin.HARNESS)))
    assert [(name, use.fired) for name, use in found.items()] == [("tools:ship-it", True)]


AGENTS_FILE = (
    "# AGENTS.md instructions for /w\n\n<INSTRUCTIONS>\n"
    "Every change to the ledger needs a test that fails without it.\n</INSTRUCTIONS>"
)


def test_a_reply_or_thought_that_names_or_quotes_an_instruction_file_cites_it() -> None:
    for said in (
        reply("As AGENTS.md asks, there is a test."),
        thought("every change to the ledger needs a test that"),
    ):
        use = uses(session(prompt(AGENTS_FILE, Origin.HARNESS), prompt("go"), said))["AGENTS.md"]
        assert (use.fired, use.fired_seq, use.calls) == (True, 3, 1)


def test_seven_words_in_a_row_are_no_quotation() -> None:
    said = reply("every change to the ledger needs a new test")
    use = uses(session(prompt(AGENTS_FILE, Origin.HARNESS), prompt("go"), said))["AGENTS.md"]
    assert use.fired is False


def test_naming_the_file_that_the_turn_is_about_may_or_may_not_cite_it() -> None:
    start = prompt(AGENTS_FILE, Origin.HARNESS)
    told = reply("AGENTS.md is up to date.")
    edit = call("Edit", Tool.EDIT, "/w/AGENTS.md")
    assert uses(session(start, prompt("update agents.md"), told))["AGENTS.md"].fired is None
    assert uses(session(start, prompt("go"), edit, told))["AGENTS.md"].fired is None


def test_that_a_file_was_not_cited_is_unknown_where_thoughts_or_its_text_are_not_recorded() -> None:
    start = prompt(AGENTS_FILE, Origin.HARNESS)
    thinking = RequestUsage(key=0, session="s", reasoning=40)
    assert uses(session(start, reply("ok")))["AGENTS.md"].fired is False
    assert uses(session(start, thought(""), reply("ok")))["AGENTS.md"].fired is None
    assert uses(session(start, thinking, reply("ok")))["AGENTS.md"].fired is None
    assert uses(session(reply("ok")), row("instructions", "AGENTS.md"))["AGENTS.md"].fired is None


def test_a_bare_name_that_several_files_have_cites_none_of_them() -> None:
    texts = [row("instructions", "CLAUDE.md"), row("instructions", "web/CLAUDE.md")]
    events = session(prompt("go"), reply("CLAUDE.md says so"), reply("see web/CLAUDE.md"))
    rows = funnel(events, [], texts)
    assert [(use.path, use.fired_seq) for use in rows] == [
        ("CLAUDE.md", None),
        ("web/CLAUDE.md", 3),
    ]


def test_a_rule_listed_by_what_it_is_for_fires_when_it_is_read() -> None:
    listing = (
        '<rules><agent_requestable_workspace_rule fullPath="/w/rules/sql.mdc">How to migrate'
        "</agent_requestable_workspace_rule></rules>"
    )
    reading = call("Read", Tool.READ, "/w/rules/sql.mdc")
    events = session(prompt(listing, Origin.HARNESS), reading, result(reading, "a\nb"))
    assert uses(events)["sql.mdc"].fired_seq == 2


def test_a_server_fires_when_a_tool_of_it_is_called() -> None:
    asked = call("mcp__tracker__get", Tool.MCP, server="tracker")
    events = session(
        notice("deferred_tools_delta", "mcp__tracker__get\nmcp__mail__send"), asked, result(asked)
    )
    found = uses(events)
    assert (found["tracker"].fired_seq, found["tracker"].followed_seq) == (2, 3)
    assert (found["mail"].fired, found["mail"].followed) == (False, False)


def test_a_tool_that_does_not_tell_its_server_belongs_to_the_listed_one_it_begins_with() -> None:
    asked = call("tracker_get_issue", Tool.OTHER)
    found = uses(session(asked, result(asked)), row("mcp", "opencode.json#tracker"))
    assert (found["tracker"].calls, found["tracker"].path) == (1, "opencode.json#tracker")


def test_a_call_to_nobody_knows_which_server_leaves_all_of_them_unknown() -> None:
    asked = call("call_mcp_tool", Tool.MCP)
    found = uses(session(asked, result(asked)), row("mcp", ".mcp.json#tracker"))
    assert (found["tracker"].fired, found["tracker"].followed) == (None, None)


# --- followed -------------------------------------------------------------------------------------


def followed(*commands: str) -> tuple[bool | None, int | None]:
    use = uses(session(*loaded_by_tool(), *map(shell, commands)))["ship-it"]
    return use.followed, use.followed_seq


def test_a_skill_is_followed_when_a_command_of_its_code_blocks_is_run_afterwards() -> None:
    assert followed("git status", "./bin/announce --channel releases") == (True, 6)
    assert followed("make release VERSION=1.2") == (True, 5)
    assert followed("git status", "make test") == (False, None)


def test_a_command_run_before_the_skill_was_loaded_follows_nothing() -> None:
    early = shell("./bin/announce --channel releases")
    use = uses(session(early, result(early), *loaded_by_tool()))["ship-it"]
    assert (use.fired_seq, use.followed) == (4, False)


def test_a_skill_without_commands_or_whose_text_is_not_recorded_is_unknown() -> None:
    asked = call("Skill", Tool.OTHER, "ship-it", skill="ship-it")
    events = session(notice("skill_listing", LISTING), asked, result(asked), shell("make release"))
    assert uses(events)["ship-it"].followed is None
    reading = call("Read", Tool.READ, "/s/other/SKILL.md")
    found = uses(session(reading, result(reading, "# Other\nThink first."), shell("ls")))
    assert found["other"].followed is None


def test_paths_in_a_skill_are_told_from_its_folder() -> None:
    reading = call("Read", Tool.READ, "/s/other/SKILL.md")
    text = "```bash\npython scripts/check.py <file>\n```\n"
    ran = shell("python /s/other/scripts/check.py a.md")
    assert uses(session(reading, result(reading, text), ran))["other"].followed_seq == 3


def test_a_server_whose_calls_all_failed_was_not_followed() -> None:
    asked = call("mcp__tracker__get", Tool.MCP, server="tracker")
    for status, expected in ((Status.FAILED, False), (Status.UNKNOWN, None), (Status.OK, True)):
        use = uses(session(asked, result(asked, "x", status)))["tracker"]
        assert (use.followed, use.failed) == (expected, int(status is Status.FAILED))


# --- what it took ---------------------------------------------------------------------------------


def test_rent_counts_the_requests_that_carried_each_part() -> None:
    compacted = Compaction(key=0, session="s")
    events = session(
        request(), *loaded_by_tool(), request(), request(), compacted, request(), request()
    )
    use = uses(events, rate=1.0)["ship-it"]
    line, text = len(LISTING.splitlines()[0]), len(SKILL_TEXT)
    assert use.tokens == line + text
    assert use.rent == line * 4 + text * 2  # the list is given again, the loaded text is not


def test_tokens_are_unknown_without_a_rate_and_rent_without_requests() -> None:
    listed = session(notice("skill_listing", LISTING))
    assert uses(listed)["review"].tokens is None
    assert uses(listed, rate=0.3)["review"].rent is None


# --- over many sessions ---------------------------------------------------------------------------


def test_sums_keep_what_is_unknown_apart() -> None:
    asked = call("Skill", Tool.OTHER, "ship-it", skill="ship-it")
    listing = notice("skill_listing", LISTING)
    sessions = [
        session(
            request(),
            *loaded_by_tool(),
            request(),
            prompt("ship it!"),
            shell("make release VERSION=3"),
        ),
        session(listing, prompt("hello")),
        session(listing, asked),
        session(prompt("no list here")),
    ]
    rows = [use for it in sessions for use in funnel(it, calls(it), (), 0.5)]
    found = {it.name: it for it in summed(rows)}["ship-it"]
    assert (found.sessions, found.calls, found.failed) == (3, 2, 0)
    assert (found.matched, found.matched_known) == (1, 2)
    assert (found.fired, found.fired_known) == (1, 2)
    assert (found.followed, found.followed_known) == (1, 2)
    assert found.rent is not None
    assert found.tokens is not None


def test_the_dearest_text_comes_first() -> None:
    events = session(notice("skill_listing", LISTING), request())
    assert [it.name for it in summed(funnel(events, [], (), 1.0))] == ["ship-it", "review"]


# --- laws -----------------------------------------------------------------------------------------

EVENTS = st.sampled_from(
    [
        *loaded_by_tool(),
        SlashCommand(key=0, session="s", name="ship-it"),
        notice("deferred_tools_delta", "mcp__tracker__get"),
        call("mcp__tracker__get", Tool.MCP, server="tracker"),
        result(call("mcp__tracker__get", Tool.MCP), "x"),
        result(call("mcp__tracker__get", Tool.MCP), "x", Status.FAILED),
        call("Read", Tool.READ, "/s/other/SKILL.md"),
        result(call("Read", Tool.READ, "/s/other/SKILL.md"), "```bash\nmake release\n```\nx"),
        result(call("Read", Tool.READ, "/s/other/SKILL.md"), "none", Status.FAILED),
        shell("make release VERSION=2"),
        shell("cat /s/other/SKILL.md"),
        prompt(AGENTS_FILE, Origin.HARNESS),
        prompt("announce the release, see AGENTS.md"),
        prompt("hello"),
        reply("AGENTS.md says: every change to the ledger needs a test that fails"),
        thought(""),
        request(),
        Compaction(key=0, session="s"),
    ]
)
TEXTS = st.lists(
    st.sampled_from(
        [
            row("instructions", "AGENTS.md"),
            row("instructions", "web/AGENTS.md", reach="below"),
            row("skill", ".claude/skills/ship-it/SKILL.md"),
            row("mcp", ".mcp.json#tracker", basis="commit"),
            row("skill", "skill_listing", basis="transcript"),
        ]
    ),
    unique=True,
)


@settings(max_examples=300, deadline=None)
@given(st.lists(EVENTS, max_size=14), TEXTS)
def test_each_step_implies_the_one_before_and_comes_after_it(
    events: list[AnyEvent], texts: list[Row]
) -> None:
    told = session(*events)
    rows = funnel(told, calls(told), texts, 0.3)
    assert len({(use.kind, use.path or use.name) for use in rows}) == len(rows)
    numbers = {it.seq for it in told}
    for use in rows:
        for step, seq in (
            (use.matched, use.matched_seq),
            (use.fired, use.fired_seq),
            (use.followed, use.followed_seq),
        ):
            assert (step is True) == (seq is not None)
            assert seq is None or seq in numbers
        assert use.fired or not use.followed
        assert use.fired is not False or use.followed in (False, None)
        if use.fired_seq is not None:
            assert use.listed_seq is None or use.listed_seq <= use.fired_seq
            assert use.calls > use.failed or use.kind == "mcp"
        if use.followed_seq is not None and use.fired_seq is not None:
            assert use.fired_seq < use.followed_seq
        assert use.failed <= use.calls
        assert use.basis != "transcript" or use.listed_seq is not None
        assert (use.tokens is None) == (use.bytes is None)


@settings(max_examples=100, deadline=None)
@given(st.lists(EVENTS, max_size=10), TEXTS, st.integers(0, 9))
def test_what_has_fired_stays_fired_as_the_session_goes_on(
    events: list[AnyEvent], texts: list[Row], cut: int
) -> None:
    whole, part = session(*events), session(*events)[:cut]
    later = {(it.kind, it.name): it.fired for it in funnel(whole, calls(whole), texts)}
    for use in funnel(part, calls(part), texts):
        assert not use.fired or later[use.kind, use.name] is not False
