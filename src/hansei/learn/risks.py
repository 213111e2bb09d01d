"""What in a line of a skill hands out, stays behind or widens: told by its words alone.

Commands have a grammar and are judged by it (`harm`); these stand in any language, in settings and
in prose, so they are recognised by names that mean one thing: files of keys, settings of agents,
places where strangers collect.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from hansei.learn.harm import SECRETS, Harm

if TYPE_CHECKING:
    from collections.abc import Iterator

_HOME: Final = (
    r"(?:~|\$HOME|\$\{HOME\}|/root|/home/[^/\s]+|/Users/[^/\s]+|%USERPROFILE%"
    r"|(?:Path\.home\(\)|os\.homedir\(\)|expanduser\()[^\n]{0,20})"
)
_KEPT: Final = re.compile(
    rf"{_HOME}[\s/\\'\",+]*(?:\.ssh[/\\]?(?:id_\w+(?!\w*\.pub)|\*|['\")\s]|$)|\.aws[/\\]credentials"
    r"|\.gnupg\b|\.netrc\b|\.git-credentials\b|\.docker[/\\]config\.json|\.kube[/\\]config"
    r"|\.npmrc\b|\.pypirc\b|\.config[/\\]gh[/\\]hosts|\.[\w-]+[/\\]\.?(?:auth|credentials)\.json)"
    r"|Library/Keychains|login\.keychain|\bkey[34]\.db\b|\bLogin Data\b|\bcookies\.sqlite\b"
    r"|(?:google-chrome|chromium|BraveSoftware|Firefox)[/\\][\w ./\\-]*(?:Default|Profiles)"
    r"|/etc/shadow\b|\bwallet\.dat\b|/proc/(?:self|\d+)/environ"
)
_READS: Final = re.compile(
    r"\b(?:cat|less|more|head|tail|grep|awk|sed|cp|mv|scp|tar|zip|base64|xxd|strings|type|gc"
    r"|Get-Content|open|read_text|read_bytes|readFile(?:Sync)?|curl|wget|rsync|sqlite3)\b(?!:)"
)
_COLLECTORS: Final = re.compile(
    r"\b(?:webhook\.site|requestbin\.\w+|pipedream\.net|ngrok(?:-free)?\.(?:io|app)|hookbin\.com"
    r"|burpcollaborator\.net|oast\.\w+|oastify\.com|interact\.sh|canarytokens\.\w+|beeceptor\.com"
    r"|transfer\.sh|file\.io|0x0\.st|pastebin\.com|paste\.ee|termbin\.com|ix\.io|anonfiles\.com)\b",
    re.IGNORECASE,
)
_MESSENGERS: Final = re.compile(
    r"\bdiscord(?:app)?\.com/api/webhooks|\bapi\.telegram\.org/bot|\bhooks\.slack\.com/services",
    re.IGNORECASE,
)
_SENDS: Final = re.compile(
    r"\b(?:curl|wget|nc|ncat|scp|rsync|sftp|ftp|xh|Invoke-\w+|iwr|irm|fetch|axios|requests\.\w+"
    r"|httpx\.\w+|urlopen|sendBeacon|socket|nslookup|dig|host|mail|sendmail|mutt)\b"
)
_GIVES: Final = re.compile(
    r"\s(?:-d|-F|-T|--data(?:-\w+)?|--form|--upload-file|--post-(?:data|file)|--body-file|-Body"
    r"|-InFile)\b|\.post\(|\.put\(|method:\s*['\"]POST|\|\s*(?:curl|nc|ncat|mail)\b"
)
_SECRET: Final = re.compile(
    r"(?:^|[\s@=<(/'\"])\.env(?:\.\w+)?(?=$|[\s'\")|;&])|\b(?:printenv|process\.env\s*[,)}\]]"
    r"|os\.environ\s*[,)}\]]|os\.environ\.copy\(\))|(?:^|[\s;&|`(])env\s*(?:\||>|\))"
    r"|\$\((?:printenv|env|cat\s+\S*(?:\.env|id_\w+|credentials))\b"
)
_ASKED_OF_DNS: Final = re.compile(
    r"\b(?:nslookup|dig)\s[^\n|;&]*(?:\$\(|\$\{?\w*(?:KEY|TOKEN|SECRET|DATA)\w*)"
    r"|\bping\s[^\n|;&]*\$\{?\w*(?:KEY|TOKEN|SECRET)\w*"
)
_SCHEDULES: Final = re.compile(
    r"\|\s*crontab\b|\bcrontab\s+(?!-[lehu]\b|--help\b)[\w./~$-]+"
    r"|>>?\s*(?:/etc/cron|/var/spool/cron)|\bschtasks\s+/create\b|\breg\s+add\s+[^\n]*\\Run\b"
    r"|\.config/autostart/|Start Menu/Programs/Startup|(?:^|[|;&]\s*)at\s+now\b",
    re.IGNORECASE,
)
_SERVICES: Final = re.compile(
    r"\blaunchctl\s+(?:load|bootstrap)\b|\bsystemctl\s+(?:--user\s+)?enable\b"
    r"|Library/Launch(?:Agents|Daemons)/|/systemd/(?:system|user)/|\bcore\.hooksPath\b"
    r"|\bcrontab\s+-e\b"
)
_HOOKS: Final = re.compile(
    r"(?:(?:^|\s)\d?>>?\s|\btee\s|\bcp\s|\bmv\s|\bln\s|open\(|write\w*\()[^\n|;]*"
    r"(?:\.git/hooks/[\w-]+|\.mcp\.json|(?:~|\$HOME|\$\{HOME\})/\.(?!cargo|config)\w+/config\.toml"
    r"|\.(?!vscode|idea)\w+/(?:settings(?:\.local)?\.json|(?:hooks|mcp|permissions)\.json|hooks/))"
)
"""Where agents keep what they may do and what they run; editors keep something else so."""
_PROFILES: Final = re.compile(
    r"(?:>>?|\btee\b(?:\s+-a)?)\s*['\"]?(?:~|\$HOME|\$\{HOME\}|/root|/home/\S+?|/Users/\S+?)/"
    r"\.(?:bashrc|bash_profile|profile|zshrc|zshenv|zprofile|config/fish/config\.fish)\b"
    r"|(?:>>?|\btee\b(?:\s+-a)?)\s*/etc/(?:profile|bash\.bashrc|zsh)|\$PROFILE\b"
)
_WIDENS: Final = re.compile(
    r"--dangerously-[\w-]+|--yolo\b|--allow-all-tools\b"
    r"|[Mm]ode['\"]?\s*[:=]\s*['\"]?bypassPermissions\b"
    r"|--permission-mode[= ](?:bypass\w*|acceptEdits)|danger-full-access"
    r"|--ask-for-approval[= ]never|\bapproval_policy\s*=\s*['\"]never"
    r"|disableAllHooks['\"]?\s*:\s*true"
    r"|enableAllProjectMcpServers['\"]?\s*:\s*true|skipDangerousModePermissionPrompt"
    r"|['\"]allow['\"]\s*:\s*\[\s*['\"](?:Bash(?:\(\*?:?\*?\))?|\*)['\"]|\bBash\(\*(?::\*)?\)"
)
_SUDO: Final = re.compile(r"(?:^|[;&|(]\s*|\s)(?:sudo|doas|runas)\s+\S")
_REMOTE: Final = re.compile(
    r"\bgit\s+(?:-\S+\s+)*remote\s+(?:add|set-url)\b|\bgit\s+(?:-\S+\s+)*push\s+(?:-\S+\s+)*"
    r"(?:https?://|git@|ssh://)"
)
_ENCODED: Final = re.compile(
    r"\b(?:eval|exec|Function|iex|Invoke-Expression)\s*\(?[^\n]{0,30}"
    r"(?:b64decode|atob\(|FromBase64String|fromhex|unhexlify|codecs\.decode|decompress\()"
    r"|\bpowershell(?:\.exe)?\s+[^\n]*-e(?:nc|ncodedcommand)?\s+[A-Za-z0-9+/=]{20,}"
    r"|(?:base64\s+(?:-d|-D|--decode)|xxd\s+-r)[^\n|;]*\|\s*(?:sudo\s+)?(?:\w*sh|python3?|node|perl)\b"
    r"|\beval\s+[\"']?\$\([^)]*base64",
    re.IGNORECASE,
)


_INSTALLERS: Final = re.compile(
    r"\b(?:astral\.sh|bun\.sh|mise\.(?:run|jdx\.dev)|sh\.rustup\.rs|deno\.land|get\.docker\.com"
    r"|raw\.githubusercontent\.com/(?:Homebrew|nvm-sh|helm|pyenv|k3d-io)/|get\.pnpm\.io|fnm\.vercel\.app"
    r"|install\.python-poetry\.org|get\.sdkman\.io|dl\.yarnpkg\.com|deb\.nodesource\.com"
    r"|claude\.ai/install|ollama\.com/install|fly\.io/install|moonrepo\.dev/install|get\.chezmoi\.io"
    r"|tailscale\.com/install|cli\.github\.com)",
)
"""Where package managers and well-known tools put the script that installs them."""
_SAID: Final = re.compile(r"\b(?:echo|printf)\s+(?:-\w+\s+)*(\"[^\"]*\"|'[^']*')(?!\s*\|)(?!\s*>)")
"""What is only printed."""


def unsaid(text: str) -> str:
    """A command without the texts that it only prints."""
    return _SAID.sub(lambda it: it[0].replace(it[1], "''"), text)


def is_installer(text: str) -> bool:
    """Whether what a command runs comes from the site of a known tool, and nothing from others."""
    hosts = re.findall(r"(?:https?://)?[\w-]+(?:\.[\w-]+)+/?[\w./-]*", text)
    fetched = [it for it in hosts if it.startswith("http") or _INSTALLERS.search(it)]
    return bool(fetched) and all(map(_INSTALLERS.search, fetched))


def in_code(text: str) -> Iterator[Harm]:
    """What a line of a command, program or settings does."""
    if _KEPT.search(text) and _READS.search(text):
        yield Harm("credentials", "it reads a file that holds keys or passwords")
    elif _KEPT.search(text) or SECRETS.search(text):
        yield Harm("credential-path", "it names a file that holds keys or passwords")
    if _sends_secrets(text):
        yield Harm("exfiltration", "it sends secrets to another machine")
    if _COLLECTORS.search(text) and (_SENDS.search(text) or _GIVES.search(text)):
        yield Harm("exfiltration", "it sends something to where strangers collect")
    if _ASKED_OF_DNS.search(text):
        yield Harm("exfiltration", "it tells a secret as a name that is asked of DNS")
    if _MESSENGERS.search(text):
        yield Harm("messages", "it sends messages to somebody's channel")
    if _SCHEDULES.search(text) or _HOOKS.search(text):
        yield Harm("persistence", "it makes something run again by itself")
    elif _SERVICES.search(text):
        yield Harm("service", "it makes something run again by itself")
    if _PROFILES.search(text):
        yield Harm("shell-profile", "it adds to what a shell runs when it starts")
    if _WIDENS.search(text):
        yield Harm("permissions", "it widens what an agent may do")
    if _SUDO.search(text):
        yield Harm("superuser", "it asks for all rights on the machine")
    if _REMOTE.search(text):
        yield Harm("remote", "it sends the repository elsewhere, or will")
    if _ENCODED.search(text):
        yield Harm("hidden-code", "it runs code that is written so that nobody can read it")


def _sends_secrets(text: str) -> bool:
    gives = _SENDS.search(text) and _GIVES.search(text)
    return bool(gives and (_SECRET.search(text) or _KEPT.search(text)))


_HANDS_OVER: Final = re.compile(r"\b(?:send|post|upload|report)\b", re.IGNORECASE)
_ORDERS_SENDING: Final = re.compile(
    r"\b(?:send|post|upload|forward|transmit|email|append|include|attach)\b[^.\n]{0,60}"
    r"\b(?:api[ _-]?keys?|tokens?|secrets?|passwords?|credentials|private keys?|\.env\b"
    r"|environment variables)[^.\n]{0,60}\b(?:to|at|into|via)\s+(?:https?://|the (?:url|address"
    r"|endpoint|webhook|server) |[\w.-]+@[\w.-]+)",
    re.IGNORECASE,
)


def in_prose(text: str) -> Iterator[Harm]:
    """What a sentence asks for."""
    if _ORDERS_SENDING.search(text):
        yield Harm("exfiltration", "it asks for secrets to be sent away")
    if _COLLECTORS.search(text) and re.search(
        r"\b(?:send|post|upload|report)\b", text, re.IGNORECASE
    ):
        yield Harm("exfiltration", "it sends something to where strangers collect")
    if _WIDENS.search(text):
        yield Harm("permissions", "it widens what an agent may do")
    if _KEPT.search(text) or SECRETS.search(f" {text}"):
        yield Harm("credential-path", "it names a file that holds keys or passwords")
