"""What is told before work begins, over a generated history."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from hansei.config import Config, Environment, load
from hansei.errors import UsageError
from hansei.ops.brief import Brief, brief
from hansei.ops.ingest import ingest
from hansei.ops.projecting import refresh
from hansei.ops.scope import Scope, current_workspace
from hansei.store.database import Store, open_store
from hansei.synth import World, build
from synthetic_world import NOW, even_place


@pytest.fixture(scope="module")
def world() -> Iterator[World]:
    with even_place() as folder:
        yield build(folder, seed=11, now_ms=NOW, sessions=30, weeks=4, agents=("claude_code",))


@pytest.fixture(scope="module")
def config(world: World, tmp_path_factory: pytest.TempPathFactory) -> Config:
    folder = tmp_path_factory.mktemp("store")
    return load(Environment(world.home, {"HANSEI_HOME": str(folder)}), world.repo)


@pytest.fixture(scope="module")
def known(world: World, config: Config) -> Iterator[Store]:
    store = open_store(config.store, now=NOW)
    ingest(store, config, now=NOW)
    refresh(store, config, workspace=None, now=NOW)
    yield store
    store.close()


class Ask:
    def __init__(self, store: Store, config: Config, here: Path) -> None:
        self.store, self.config, self.here = store, config, here

    def __call__(
        self, *, task: str = "", files: tuple[str, ...] = (), budget: int = 1_200
    ) -> Brief:
        number, name = current_workspace(self.store, self.here)
        scope = Scope(workspace=number, workspace_name=name)
        return brief(
            self.store,
            self.config,
            self.here,
            scope,
            now=NOW,
            task=task,
            files=files,
            budget=budget,
        )


@pytest.fixture
def ask(known: Store, config: Config, world: World) -> Ask:
    return Ask(known, config, Path(world.repo))


def test_what_comes_back_most_is_told_with_what_gets_past_it(ask: Ask) -> None:
    told = ask().failures
    assert all(it.sessions >= 2 for it in told)
    order = [(it.recovered > 0, it.sessions) for it in told]
    assert order == sorted(order, reverse=True)
    assert all(len(it.fixes) == (it.recovered > 0) for it in told)
    assert any(fix.added == ["uv", "run"] for it in told for fix in it.fixes)


def test_a_failure_that_the_task_names_comes_first(ask: Ask) -> None:
    least = ask().failures[-1].signature
    assert ask(task=least).failures[0].signature == least


def test_a_failure_that_was_mended_in_a_file_comes_first_where_the_file_is_named(
    ask: Ask,
) -> None:
    mended = next(
        (it, path) for it in ask().failures[1:] for fix in it.fixes for path in fix.edited
    )
    failure, path = mended
    assert not path.startswith("/")
    assert ask(files=(path,)).failures[0].signature == failure.signature
    assert [it.path for it in ask(files=(path,)).hot] == [path]


def test_a_file_that_one_session_changed_is_told_only_where_it_is_named(ask: Ask) -> None:
    assert ask().hot
    assert all(it.sessions >= 2 for it in ask().hot)
    assert ask().known > 2


def test_no_answer_is_larger_than_its_budget(ask: Ask) -> None:
    whole = ask(budget=8_000)
    for budget in (1, 50, 200, 800):
        told = ask(budget=budget)
        assert told.tokens <= budget
        assert len(told.failures) <= len(whole.failures)
    assert ask(budget=1).left_out > 0


def test_a_file_outside_of_the_repository_is_refused(ask: Ask) -> None:
    with pytest.raises(UsageError, match="outside"):
        ask(files=("../../etc/passwd",))
