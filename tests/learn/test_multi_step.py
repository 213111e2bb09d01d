"""Commands that belong together, in one session and in many."""

from __future__ import annotations

import pytest

from hansei.learn.detectors.multi_step import MultiStep
from learn_window import found
from retro_window import ROOT, Telling

RELEASE = (
    "npm run db:migrate -- --env staging",
    "docker compose -f deploy/app.yml build web",
    "docker compose -f deploy/app.yml up -d web",
    "./scripts/smoke.sh --wait 30",
)


def ran(*commands: str, asked: str = "deploy it to staging now") -> Telling:
    telling = Telling().say(asked)
    for command in commands:
        telling.run(command)
    return telling


def test_four_commands_that_went_well_are_a_procedure() -> None:
    (offer,) = found(MultiStep(), ran(*RELEASE))
    assert offer.name == "procedure-npm"
    assert offer.commands == RELEASE
    assert "1. `npm run db:migrate -- --env staging`" in offer.body
    assert "deploy it to staging now" in offer.body
    assert offer.sessions == 1


def test_evidence_is_the_calls() -> None:
    telling = ran(*RELEASE)
    (offer,) = found(MultiStep(), telling)
    calls = [seq for seq, event in enumerate(telling.events, 1) if hasattr(event, "tool")]
    assert [it.event for it in offer.evidence] == calls
    assert {it.session for it in offer.evidence} == {"s1"}


@pytest.mark.parametrize(
    "commands",
    [
        RELEASE[:3],
        ("ls -la", "cat README.md", "git status", "pwd", "cd src", "echo done", "git log -3"),
        ("git add -A", 'git commit -m "x y"', "git push", "git tag v2", "git fetch"),
        ("npm install", "npm test", "npm run build", "npm start"),
        (*RELEASE[:3], "./scripts/smoke.sh --out /tmp/smoke.txt"),
        (*RELEASE[:3], "rm -rf node_modules"),
        (*RELEASE[:2], "git push --force origin main", RELEASE[2]),
        (*RELEASE[:2], 'psql -c "drop table berths"', RELEASE[2]),
        (*RELEASE[:3], "python - <<'EOF'\nprint(1)\nEOF"),
        (*RELEASE[:3], "./scripts/ticket.sh close ops-wisp-x9f2"),
    ],
    ids=["short", "looking", "git", "known", "passing", "rm", "force", "drop", "inline", "ticket"],
)
def test_what_everybody_knows_or_nobody_should_do_again_is_none(commands: tuple[str, ...]) -> None:
    assert found(MultiStep(), ran(*commands)) == []


def test_a_failure_a_request_and_an_edit_end_a_procedure() -> None:
    failed = ran(*RELEASE[:2]).run("docker compose -f deploy/app.yml push", "denied", 1)
    asked = ran(*RELEASE[:2]).say("and the rest")
    edited = ran(*RELEASE[:2]).edit(f"{ROOT}/deploy/app.yml")
    for telling in (failed, asked, edited):
        for command in RELEASE[2:]:
            telling.run(command)
        assert found(MultiStep(), telling) == []


def test_a_new_procedure_may_begin_after_a_failure() -> None:
    telling = ran("./scripts/smoke.sh")
    telling.run("make quay", "no rule", 2)
    for command in RELEASE:
        telling.run(command)
    (offer,) = found(MultiStep(), telling)
    assert offer.commands == RELEASE


def test_a_script_that_the_session_wrote_itself_is_not_kept() -> None:
    telling = Telling().say("deploy it to staging now")
    telling.run("cat > scripts/smoke.sh <<'EOF'\ncurl localhost\nEOF")
    for command in RELEASE:
        telling.run(command)
    assert found(MultiStep(), telling) == []


def of_package(package: str) -> Telling:
    return (
        Telling()
        .say(f"release {package}")
        .run("git status")
        .run(f"pnpm --filter {package} test")
        .run("ls dist")
        .run(f"pnpm --filter {package} run bundle:web")
        .run(f"./scripts/publish.sh {package} --dry-run")
    )


def test_the_same_order_in_three_sessions_is_a_procedure_with_slots() -> None:
    (offer,) = found(MultiStep(), *map(of_package, ("web", "api", "worker")))
    assert offer.sessions == 3
    assert offer.commands == (
        "pnpm --filter <filter> test",
        "pnpm --filter <filter> run bundle:web",
        "scripts/publish.sh <name> --dry-run",
    )
    assert "`<filter>`: for example `api`, `web`, `worker`" in offer.body
    assert {it.session for it in offer.evidence} == {"s1", "s2", "s3"}
    assert offer.predicates.check == "publish.sh --dry-run"


def test_a_session_and_its_subagents_are_one() -> None:
    parent, child = of_package("web"), of_package("api")
    child.parent = 1
    assert found(MultiStep(), parent, child, of_package("worker")) == []


def test_an_order_that_changes_is_none() -> None:
    def shuffled(*commands: str) -> Telling:
        return ran(*commands, asked="check everything again please")

    check, lint = "npx tsc --noEmit -p web", "npx eslint --max-warnings 0 web"
    tellings = [shuffled(check, lint), shuffled(lint, check)] * 3
    assert [it for it in found(MultiStep(), *tellings) if it.sessions > 1] == []


def test_checks_that_any_agent_runs_are_no_procedure() -> None:
    tellings = [ran("cd web && npx tsc --noEmit", "cd web && npm run build") for _ in range(6)]
    assert found(MultiStep(), *tellings) == []


def test_what_goes_round_begins_where_sessions_begin() -> None:
    bundle, check = "pnpm run bundle:web", "./scripts/check.sh --strict"
    tellings = [ran(*[bundle, check] * 3, asked="bundle them all again") for _ in range(3)]
    (offer,) = [it for it in found(MultiStep(), *tellings) if it.sessions > 1]
    assert offer.commands == (bundle, "scripts/check.sh --strict")
