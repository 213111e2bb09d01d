"""A real browser, driven over its own protocol through two pipes: nothing to install beside it.

Messages are JSON, each ended by a zero byte. Every page gets a tab of its own.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from base64 import b64decode
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome")
QUIET = (
    "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-dev-shm-usage",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--remote-debugging-pipe",
)  # fmt: skip


def installed() -> str | None:
    """A browser of this machine that speaks the protocol."""
    return next((path for name in NAMES if (path := shutil.which(name))), None)


@dataclass
class Tab:
    """One open page."""

    browser: Browser
    session: str
    requests: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)

    def ask(self, method: str, **given: Any) -> dict[str, Any]:
        return self.browser.ask(method, given, self.session)

    def run(self, script: str) -> Any:
        """What a line of JavaScript says."""
        answer = self.ask("Runtime.evaluate", expression=script, returnByValue=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def look(self, *, width: int = 900, height: int = 900, scheme: str = "light") -> None:
        """Make the window so wide, and the reader like light or dark."""
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.ask("Emulation.setDeviceMetricsOverride", **size)
        liked = [{"name": "prefers-color-scheme", "value": scheme}]
        self.ask("Emulation.setEmulatedMedia", features=liked)

    def photograph(self) -> bytes:
        return b64decode(self.ask("Page.captureScreenshot", captureBeyondViewport=True)["data"])

    def printed(self) -> bytes:
        """The page on paper, as PDF."""
        return b64decode(self.ask("Page.printToPDF", printBackground=False)["data"])

    def note(self, method: str, told: Mapping[str, Any]) -> None:
        """Keep what the page asked for and what it complains about."""
        if method == "Network.requestWillBeSent":
            self.requests.append(told["request"]["url"])
        elif method == "Runtime.exceptionThrown":
            self.complaints.append(str(told["exceptionDetails"]))
        elif method == "Runtime.consoleAPICalled":
            self.complaints.append(str(told["args"]))
        elif method == "Log.entryAdded":
            self.complaints.append(told["entry"]["text"])


@dataclass
class Browser:
    """A running browser."""

    to: int
    back: int
    tabs: dict[str, Tab] = field(default_factory=dict)
    events: list[str] = field(default_factory=list)
    _asked: int = 0
    _left: bytes = b""

    def ask(self, method: str, given: Mapping[str, Any], session: str = "") -> dict[str, Any]:
        self._asked += 1
        message = {"id": self._asked, "method": method, "params": given}
        body = json.dumps(message | ({"sessionId": session} if session else {}))
        os.write(self.to, body.encode() + b"\0")
        while True:
            answer = self._message()
            if answer.get("id") == self._asked:
                assert "error" not in answer, answer
                found: dict[str, Any] = answer["result"]
                return found
            self._keep(answer)

    def wait_for(self, event: str) -> None:
        while event not in self.events:
            self._keep(self._message())

    def _keep(self, message: Mapping[str, Any]) -> None:
        self.events.append(message.get("method", ""))
        tab = self.tabs.get(message.get("sessionId", ""))
        if tab is not None:
            tab.note(message["method"], message["params"])

    def _message(self) -> dict[str, Any]:
        while b"\0" not in self._left:
            more = os.read(self.back, 1 << 16)
            assert more, "the browser is gone"
            self._left += more
        body, _, self._left = self._left.partition(b"\0")
        found: dict[str, Any] = json.loads(body)
        return found

    def open(self, page: Path) -> Tab:
        """A page in a tab of its own, loaded."""
        target = self.ask("Target.createTarget", {"url": "about:blank"})["targetId"]
        wanted = {"targetId": target, "flatten": True}
        tab = Tab(self, self.ask("Target.attachToTarget", wanted)["sessionId"])
        self.tabs[tab.session] = tab
        for part in ("Page", "Runtime", "Log", "Network"):
            tab.ask(f"{part}.enable")
        self.events.clear()
        tab.ask("Page.navigate", url=page.as_uri())
        self.wait_for("Page.loadEventFired")
        return tab


@contextmanager
def browser(program: str, home: Path) -> Iterator[Browser]:
    """A browser with a profile of its own; it ends with the block."""
    theirs_in, to = os.pipe()
    back, theirs_out = os.pipe()
    command = [program, *QUIET, f"--user-data-dir={home}"]
    # The protocol wants the pipes to be numbers 3 and 4.
    line = f'exec "$@" 3<&{theirs_in} 4>&{theirs_out}'
    process = subprocess.Popen(
        ["bash", "-c", line, "bash", *command],
        pass_fds=(theirs_in, theirs_out),
        stderr=subprocess.DEVNULL,
    )
    os.close(theirs_in)
    os.close(theirs_out)
    try:
        yield Browser(to, back)
    finally:
        os.close(to)  # which ends it
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        os.close(back)
