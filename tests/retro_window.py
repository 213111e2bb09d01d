"""Sessions told in a few words, as the window that heuristics look through."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Literal, cast

from hansei.events.model import AnyEvent, Basis, Driver, FileEdit, Hunk, Status, Tool
from hansei.prices import PriceBook
from hansei.projection.facts.folds import OUTCOMES, STANDS, TABLES, Stand, work_out
from hansei.projection.facts.subjects import Subject
from hansei.projection.facts.tables import Found
from hansei.projection.told import told
from hansei.projection.window import EARLIER, REVIEWS, Session, Window
from hansei.store.database import Store
from told import call, numbered, prompt, reply, result, usage

DAY = 86_400_000
PRICES = PriceBook()
ROOT = "/work/app"


@dataclass
class Telling:
    """A session that grows request by request; each takes `tokens`."""

    driver: Driver = Driver.HUMAN
    parent: int | None = None
    """The number of the session that started it, from 1."""
    tokens: int = 20_000
    events: list[AnyEvent] = field(default_factory=list)
    clock: int = 0
    """What time it is, in milliseconds."""
    _steps: int = 0

    def say(self, text: str) -> Telling:
        self.events.append(prompt(text))
        return self

    def answer(self, text: str) -> Telling:
        message = self._request()
        self.events.append(reply(text, message=message))
        return self

    def run(self, command: str, output: str = "", code: int = 0, seconds: float = 1) -> Telling:
        """A shell command that ended with a code."""
        status = Status.FAILED if code else Status.OK
        return self._call(
            Tool.SHELL,
            command,
            output,
            seconds,
            status=status,
            basis=Basis.EXIT_CODE,
            exit_code=code,
        )

    def read(self, path: str, output: str = "text", *, failed: bool = False) -> Telling:
        status = Status.FAILED if failed else Status.OK
        return self._call(Tool.READ, path, output, status=status, basis=Basis.FLAG)

    def edit(
        self,
        path: str,
        old: str = "a = 1",
        new: str = "a = 2",
        operation: Literal["create", "update"] = "update",
    ) -> Telling:
        self._call(Tool.EDIT, path, "done", status=Status.OK, basis=Basis.FLAG)
        self.events.append(
            FileEdit(
                key=self._steps,
                session="s",
                call=f"c{self._steps}",
                path=path,
                operation=operation,
                hunks=[Hunk(1, old, new)],
                applied=True,
            )
        )
        return self

    def failed_edit(self, path: str, output: str) -> Telling:
        """An edit that the agent program did not make."""
        return self._call(Tool.EDIT, path, output, status=Status.FAILED, basis=Basis.FLAG)

    def refused(self, command: str, output: str, tool: Tool = Tool.SHELL) -> Telling:
        """A call that somebody or something said no to."""
        return self._call(tool, command, output, status=Status.FAILED, basis=Basis.DECLINED)

    def _call(self, tool: Tool, text: str, output: str, seconds: float = 1, **more: Any) -> Telling:
        message = self._request()
        name = f"c{self._steps}"
        given = {} if tool is Tool.SHELL else {"file_path": text}
        begun, self.clock = self.clock, self.clock + round(1000 * seconds)
        self.events.append(call(name, tool, text=text, arguments=given, message=message, at=begun))
        self.events.append(result(name, output, at=self.clock, **more))
        return self

    def _request(self) -> str:
        self._steps += 1
        message = f"m{self._steps}"
        self.events.append(usage(self.tokens, 0, message=message))
        return message


def window(tellings: Iterable[Telling], root: str = ROOT) -> Window:
    """The facts of sessions, one a day, without a store."""
    rows: dict[str, list[Any]] = {table.name: [] for table in TABLES}
    rows[EARLIER] = []
    rows[REVIEWS] = rows[OUTCOMES.name] = []
    sessions = {}
    said = {}
    for number, telling in enumerate(tellings, start=1):
        subject = Subject(number, "agent", telling.driver, (root,), False, ())
        for table, found in work_out(subject, numbered(telling.events), {}).items():
            rows[table.name] += [Found(number, row) for row in found]
        said[number] = list(told(numbered(telling.events)))
        rows[STANDS.name].append(Found(number, Stand((root,))))
        start = number * DAY
        sessions[number] = Session(
            number, f"s{number}", "agent", telling.driver, telling.parent, 1, start, start, 1, None
        )
    return priced(Window(cast("Store", None), sessions, 0, (len(sessions) + 2) * DAY, rows, said))


def priced(window: Window) -> Window:
    """A window that knows list prices, because there is no store to ask for others."""
    vars(window)["prices"] = PRICES
    return window


def narrowed(whole: Window, kept: set[int]) -> Window:
    """A window on some sessions of another one; the others lie outside of it."""
    rows: dict[str, list[Any]] = {
        table.name: [it for it in whole.rows(table) if it.session in kept] for table in TABLES
    }
    rows[EARLIER] = [it for it in whole.corrections if it.session not in kept]
    rows[REVIEWS] = whole.reviews
    rows[OUTCOMES.name] = [it for it in whole.outcomes if it.session in kept]
    sessions = {number: it for number, it in whole.sessions.items() if number in kept}
    return priced(Window(whole.store, sessions, whole.since, whole.until, rows))
