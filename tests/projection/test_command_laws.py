"""What holds for every text."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from hansei.projection.commands.model import Dialect, Script
from hansei.projection.commands.normal import normal_call, shown_call
from hansei.projection.commands.parsing import parse

SPELLED = (
    "cat git npm run test pytest python -m -c bash -lc sudo env X=1 timeout 60 head -n 5 -20"
    " tail sed 10,20p 's/a b/c/' \"$X/a.py\" $X ${Y} $(ls) `pwd` a.py ./src/b.ts /tmp/x"
    " /home/me/r/a.py 'my file.txt' '/a b/c d.txt' *.py {a,b} -- - --flag=1 --tb=short -rn -A3"
    " docker exec find -name https://x.org/a 3f2a9bc x@1.2.3 'it'\"'\"'s' \\\\ é if { } ! [ ]"
    " commit checkout xargs uv npx"
)
WORDS = st.sampled_from(SPELLED.split(" "))
OPERATORS = st.sampled_from(
    (" ", " ", " ", " && ", " | ", "; ", " || ", "\n", " > ", " 2>&1 ", " & ")
)
COMMANDS = st.lists(st.tuples(WORDS, OPERATORS), max_size=14).map(
    lambda pairs: "".join(word + operator for word, operator in pairs)
)
TEXTS = COMMANDS | st.text(max_size=60) | st.text("ab $'\"(){}[]|&;<>\\`\n-=#!*~", max_size=40)


def indexes_lie_within(script: Script) -> bool:
    found = [at for at in (script.main, script.decides) if at is not None]
    return all(0 <= at < len(script.commands) for at in found)


@given(TEXTS, st.sampled_from((None, Dialect.BASH, Dialect.POWERSHELL)))
def test_no_text_is_too_strange(text: str, dialect: Dialect | None) -> None:
    script = parse(text, dialect)
    assert indexes_lie_within(script)
    assert (script.main is None) == (not script.commands)
    assert script.parsed or script.decides is None
    assert "\n" not in shown_call(script) + normal_call(script)


@given(TEXTS)
def test_the_normal_form_of_a_normal_form_is_itself(text: str) -> None:
    script = parse(text, Dialect.BASH)
    once = normal_call(script)
    again = parse(once, Dialect.BASH)
    assert again.parsed
    assert normal_call(again) == once


@given(TEXTS)
def test_the_status_of_a_call_is_that_of_a_command_which_is_not_masked(text: str) -> None:
    script = parse(text, Dialect.BASH)
    if script.decides is not None:
        assert not script.commands[script.decides].masked
        assert all(command.masked for command in script.commands[script.decides + 1 :])


@given(TEXTS)
def test_a_failure_behind_or_true_never_counts(text: str) -> None:
    script = parse(f"{{ {text}\n}} || true", Dialect.BASH)
    if script.parsed and script.commands and script.commands[-1].program == "true":
        counted = [it.program for it in script.commands[:-1] if not it.masked]
        assert counted == []
