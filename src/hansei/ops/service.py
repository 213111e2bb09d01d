"""Having the system run the watcher: what to give systemd or launchd."""

from __future__ import annotations

import shlex
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape

if TYPE_CHECKING:
    from hansei.config import Environment

LABEL = "dev.hansei.watch"


@dataclass(frozen=True)
class Unit:
    """A file for a service manager: where it goes, what it says, and how it is started."""

    path: str
    text: str
    start: str


@dataclass(frozen=True)
class Services:
    systemd: Unit
    launchd: Unit


def services(environment: Environment) -> Services:
    """A systemd user unit and a launchd agent for `hansei ingest --watch`."""
    command = [sys.executable, "-m", "hansei", "ingest", "--watch"]
    home = environment.variables.get("HANSEI_HOME", "").strip()
    return Services(systemd=_systemd(command, home), launchd=_launchd(command, home))


def _systemd(command: list[str], home: str) -> Unit:
    # systemd reads % and $ in its own way.
    line = shlex.join(command).replace("%", "%%").replace("$", "$$")
    setting = f'Environment="HANSEI_HOME={home.replace("%", "%%")}"\n' if home else ""
    text = (
        "[Unit]\n"
        "Description=hansei takes in what coding agents write\n"
        "\n"
        "[Service]\n"
        f"ExecStart={line}\n"
        f"{setting}"
        "Restart=on-failure\n"
        "RestartSec=30\n"
        "Nice=10\n"
        "\n"
        "[Install]\n"
        "WantedBy=default.target\n"
    )
    return Unit(
        "~/.config/systemd/user/hansei.service", text, "systemctl --user enable --now hansei"
    )


def _launchd(command: list[str], home: str) -> Unit:
    words = "".join(f"    <string>{escape(word)}</string>\n" for word in command)
    setting = (
        "  <key>EnvironmentVariables</key>\n"
        f"  <dict><key>HANSEI_HOME</key><string>{escape(home)}</string></dict>\n"
        if home
        else ""
    )
    text = (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        '<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN"'
        ' "http://www.apple.com/DTDs/PropertyList-1.0.dtd">\n'
        '<plist version="1.0">\n'
        "<dict>\n"
        f"  <key>Label</key><string>{LABEL}</string>\n"
        "  <key>ProgramArguments</key>\n"
        f"  <array>\n{words}  </array>\n"
        f"{setting}"
        "  <key>RunAtLoad</key><true/>\n"
        "  <key>KeepAlive</key><dict><key>SuccessfulExit</key><false/></dict>\n"
        "  <key>ProcessType</key><string>Background</string>\n"
        "</dict>\n"
        "</plist>\n"
    )
    path = f"~/Library/LaunchAgents/{LABEL}.plist"
    return Unit(path, text, f"launchctl load {path}")
