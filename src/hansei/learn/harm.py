"""Commands that no skill may tell an agent to run.

They destroy what cannot be brought back, run what a stranger sends, hand out what is secret, or
switch off what protects people. A command is judged as it is parsed, so that quoting, options in
another order and wrappers make no difference; where a text follows no grammar, its words decide.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from hansei.learn import network
from hansei.projection.commands.parsing import parse

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from hansei.projection.commands.model import Command, Script

LONGEST = 20_000
"""Characters of a command beyond which nobody reads it, and so nobody can agree to it."""

_SHELLS = frozenset(("sh", "bash", "zsh", "dash", "ksh", "fish", "iex", "Invoke-Expression"))
_LANGUAGES = frozenset(("python", "python3", "node", "perl", "ruby", "php", "pwsh", "powershell"))
"""These run what they are piped only where they are given no program of their own."""
_DECODERS = frozenset(("base64", "openssl", "xxd", "uudecode", "gunzip", "zcat"))
_SENDERS = frozenset(("curl", "wget", "nc", "ncat", "scp", "rsync", "sftp", "ftp", "http", "xh"))
_SQL_CLIENTS = frozenset(
    ("psql", "mysql", "mariadb", "sqlite3", "sqlcmd", "duckdb", "mongosh", "mongo", "redis-cli")
)

_SQL = re.compile(
    r"\bdrop\s+(?:table|database|schema|view|index|user|role|collection)\b"
    r"|\btruncate\s+(?:table\s+)?[\w\"`.\[]+|\bdelete\s+from\s+[\w\"`.\[\]]+\s*(?:;|$|['\"])"
    r"|\bflush(?:all|db)\b|\bdropDatabase\s*\(|\.drop\(\)",
    re.IGNORECASE,
)
_FETCH_AND_RUN = re.compile(
    r"(?:\b(?:ba|z|da|k)?sh\b|\beval\b|\bsource\b|(?<!\S)\.\s|\biex\b)[^\n|;&]{0,40}"
    r"(?:<\(\s*|\$\(\s*|`\s*|\(\s*)(?:curl|wget|irm|iwr|Invoke-\w+)\b"
    r"|\b(?:curl|wget|irm|iwr)\b[^\n;&]*\|\s*(?:sudo\s+)?(?:env\s+)?(?:(?:ba|z|da|k|fi)?sh|iex)\b"
    r"|\biex\b.{0,80}\.DownloadString\(",
    re.IGNORECASE,
)
_DEVICE = re.compile(r">\s*/dev/(?:sd|nvme|hd|vd|disk|mapper)|\bof=/dev/")
_BOMB = re.compile(r":\s*\(\s*\)\s*\{\s*:\s*\|\s*:")
_DESTROYS = re.compile(
    r"(?:^|[\s;&|(`'\"])(?:rm\s+(?:-\S+\s+)*-(?:\w*[rR]|-recursive)|mkfs|shred\b|wipefs"
    r"|git\s+reset\s+--hard|git\s+push\s+\S*.*(?:--force|\s-f\b)|terraform\s+destroy"
    r"|kubectl\s+delete|git\s+clean\s+-\w*f)"
)
"""For texts that follow no grammar."""

_DESTROYING_CODE = re.compile(
    r"\bshutil\.rmtree\(|\brm(?:dir)?Sync\(|\bFileUtils\.rm_rf?\b|\brm\s+-\w*[rR]\w*\s"
    r"|\bfs\.rm\(|\brimraf\b"
)
"""In a program that stands in a command."""

SECRETS = re.compile(
    r"(?:^|[\s=@'\"(:,])(?:"
    r"(?:~|\$HOME|\$\{HOME\}|/root|/home/[^/\s]+|/Users/[^/\s]+|%USERPROFILE%)[/\\]"
    r"(?:\.ssh\b|\.aws\b|\.gnupg\b|\.kube\b|\.netrc\b|\.npmrc\b|\.pypirc\b|\.git-credentials\b"
    r"|\.docker/config|\.config/(?:gcloud|gh|hub)\b|\.[\w-]+/(?:auth\.json|\.?credentials)"
    r"|\.config/(?:google-chrome|chromium)|Library/Keychains|\.bash_history|\.zsh_history)"
    r"|/etc/(?:shadow|sudoers)\b|(?:[\w./~-]*/)?id_(?:rsa|ed25519|ecdsa|dsa)\b(?!\.pub)"
    r"|[\w./~-]*(?:key[\w-]*\.pem|\.(?:p12|pfx|keystore))\b)"
)
"""Where keys and passwords lie."""
_TELLS_SECRETS = re.compile(
    r"\bgh\s+auth\s+token\b|\bsecurity\s+find-(?:generic|internet)-password\b"
    r"|\bsecret-tool\s+lookup\b|\bgcloud\s+auth\s+print-(?:access|identity)-token\b"
    r"|\baws\s+configure\s+(?:get|export-credentials)\b|\bcmdkey\s+/list\b|\bpass\s+show\b"
)
_KEEPS_SECRETS = frozenset(("ssh", "ssh-keygen", "ssh-add", "ssh-copy-id", "scp", "chmod", "git"))
"""Programs for which a key is what they are given to work with."""

_GIT: dict[str, tuple[frozenset[str], str]] = {
    "reset": (frozenset(("--hard", "--merge")), "throws away work that is not committed"),
    "clean": (frozenset(("-f", "--force", "-d", "-x", "-X")), "deletes files git does not know"),
    "push": (
        frozenset(("-f", "--force", "--force-with-lease", "--delete", "-d", "--mirror", "--prune")),
        "overwrites or deletes what others have",
    ),
    "branch": (frozenset(("-D",)), "deletes work that is not merged"),
    "gc": (frozenset(("--prune",)), "removes what could still be recovered"),
    "update-ref": (frozenset(("-d",)), "removes a reference"),
    "worktree remove": (frozenset(("-f", "--force")), "deletes work that is not committed"),
}
_GIT_ALWAYS = {
    "filter-branch": "rewrites the history",
    "filter-repo": "rewrites the history",
    "stash drop": "throws away stashed work",
    "stash clear": "throws away stashed work",
    "reflog expire": "removes what could still be recovered",
    "reflog delete": "removes what could still be recovered",
}
_UNCHECKED = frozenset(("--no-verify", "--dangerously-skip-permissions", "--yolo"))
_DELETES: dict[str, frozenset[str]] = {
    "kubectl": frozenset(("delete", "drain")),
    "oc": frozenset(("delete",)),
    "helm": frozenset(("uninstall", "delete")),
    "terraform": frozenset(("destroy",)),
    "tofu": frozenset(("destroy",)),
    "terragrunt": frozenset(("destroy", "run-all destroy")),
    "pulumi": frozenset(("destroy",)),
    "cdk": frozenset(("destroy",)),
    "vagrant": frozenset(("destroy",)),
    "fly": frozenset(("destroy", "apps destroy")),
    "heroku": frozenset(("apps:destroy", "pg:reset")),
    "supabase": frozenset(("db reset",)),
    "prisma": frozenset(("migrate reset",)),
    "npm": frozenset(("unpublish",)),
    "docker": frozenset(("system prune", "volume rm", "volume prune", "image prune")),
    "podman": frozenset(("system prune", "volume rm", "volume prune")),
    "gh": frozenset(("repo delete", "release delete", "secret delete")),
    "dropdb": frozenset(("",)),
}
_CLOUDS = frozenset(("aws", "gcloud", "az", "doctl", "gsutil", "s3cmd"))
_CLOUD_VERB = re.compile(
    r"^(?:delete|destroy|terminate|remove|purge)(?:-|$)|^(?:rb|rm|del)$", re.IGNORECASE
)
_ALWAYS = {
    "mkfs": "formats a disk",
    "fdisk": "changes a disk's partitions",
    "parted": "changes a disk's partitions",
    "wipefs": "wipes a disk",
    "shred": "destroys files",
    "srm": "destroys files",
    "shutdown": "switches the machine off",
    "reboot": "restarts the machine",
    "halt": "switches the machine off",
    "poweroff": "switches the machine off",
    "userdel": "removes a user",
    "diskpart": "changes a disk's partitions",
}
_DISKS = frozenset(("mkfs", "fdisk", "parted", "wipefs", "diskpart"))
_WHOLE = re.compile(
    r"(?:~|\$HOME|\$\{HOME\})(?:/\*?)?$|[A-Za-z]:[\\/]?\*?$"
    r"|/(?!tmp\b|var/(?:tmp|cache)\b|private/tmp\b|path\b|Applications/\w)[^/\s]*(?:/[^/\s]*)?/?$"
)
"""A home, a drive, and what lies one or two folders from the top, where it is not passing."""
_ROOTS = re.compile(r"^(?:/|~|\$HOME|\$\{HOME\}|\*|\.|\.\.|/\*|~/\*|[A-Za-z]:[\\/]?\*?)/?$")


_RASH = re.compile(
    r"--(?:force|hard)\b|\bgit\b.*\b(?:rm|restore)\b|\bgit\b.*\bcheckout\b.*--(?:theirs|ours|orphan)"
    r"|\bkill(?:all)?\s+-(?:9|KILL)|\bpkill\b|\b(?:db|database)[\s:-]+(?:drop|reset|purge|wipe)\b",
    re.IGNORECASE,
)
"""What a person may well tell an agent to do, but nobody should learn from having seen it."""


class Harm(NamedTuple):
    """Why a command may not stand in a skill."""

    rule: str
    message: str
    grave: bool = False
    """Whether nothing brings back what it destroys."""


class Caution(NamedTuple):
    """What to mind where a person wants a command that may overwrite work."""

    message: str
    here: bool
    """Whether it is work on this machine."""


def cautions(text: str) -> list[Caution]:
    """What a command may overwrite or delete as it does what it is for: it is never just learned.

    Only a person's own words let it into a skill, and the skill then says what to mind.
    """
    if len(text) > LONGEST:
        return []
    found = [Caution(said, _is_here(it)) for it in parse(text).commands if (said := _mirrors(it))]
    return list(dict.fromkeys(found))


def _mirrors(command: Command) -> str:
    """What a command overwrites, in words; empty if nothing."""
    program, subcommand = command.program, command.subcommand or ""
    flags = frozenset(command.flags)
    told = (*subcommand.split(), *command.targets)
    if program == "rclone" and told[:1] in (("sync",), ("move",), ("bisync",)):
        return f"`rclone {told[0]}` makes its target like its source: the rest there is deleted"
    deletes = any(it.startswith(("--delete", "--remove-source")) for it in flags)
    if program == "rsync" and deletes:
        return "`rsync --delete` deletes in its target what its source does not have"
    if program in _CLOUDS and "sync" in told and deletes:
        return f"`{program} … sync --delete` deletes in its target what its source does not have"
    if program == "gsutil" and "rsync" in told and "-d" in flags:
        return "`gsutil rsync -d` deletes in its target what its source does not have"
    if program == "lftp" and "mirror" in told:
        return "`lftp mirror` overwrites its target"
    if program == "robocopy" and any(it.upper() in ("/MIR", "/PURGE") for it in (*told, *flags)):
        return "`robocopy /MIR` deletes in its target what its source does not have"
    forced = _any(flags, "-f", "--force", "--discard-changes")
    if program == "git" and subcommand in ("pull", "checkout", "switch") and forced:
        return f"`git {subcommand} --force` overwrites work that is not committed"
    return ""


def _is_here(command: Command) -> bool:
    """Whether its target is on this machine: the last one, and it names no other."""
    return not command.targets or re.match(r"[\w.@-]{2,}:", command.targets[-1]) is None


def is_rash(text: str) -> bool:
    """Whether a command takes something away that its owner may well want gone."""
    return _RASH.search(text) is not None


def harms(text: str) -> list[Harm]:
    """Everything that speaks against telling an agent to run a command."""
    if len(text) > LONGEST:
        return [Harm("too-long", f"a command of {len(text):,} characters is for nobody to read")]
    script = parse(text)
    found = [*_in_text(text), *_in_pipes(script, text)]
    for command in script.commands:
        found += _in_command(command)
    if any(it.program in _LANGUAGES for it in script.commands) and _DESTROYING_CODE.search(text):
        found.append(Harm("destructive", "its code deletes whole folders"))
    if not script.parsed and _DESTROYS.search(text):
        found.append(Harm("destructive", "it destroys what may not come back"))
    return list(dict.fromkeys(found))


def _in_text(text: str) -> Iterator[Harm]:
    if _FETCH_AND_RUN.search(text):
        yield Harm("fetch-and-run", "it runs what another machine sends")
    if _DEVICE.search(text):
        yield Harm("destructive", "it writes over a disk", grave=True)
    if _BOMB.search(text):
        yield Harm("destructive", "it starts itself without end", grave=True)
    if _TELLS_SECRETS.search(text):
        yield Harm("credentials", "it prints a password or token")


def _in_pipes(script: Script, text: str) -> Iterator[Harm]:
    commands = script.commands
    for number, command in enumerate(commands):
        if command.stage == 0 or not _runs_input(command):
            continue
        before = _same_pipe(commands, number)
        if any(map(network.fetches, before)):
            yield Harm("fetch-and-run", "it runs what another machine sends")
        elif any(it.program in _DECODERS for it in before):
            yield Harm("hidden-code", "it runs code that is written so that nobody can read it")
    sends = any(it.program in _SENDERS and network.fetches(it) for it in commands)
    if sends and (SECRETS.search(text) or re.search(r"\b(?:printenv|env)\s*\||\.env\b", text)):
        yield Harm("exfiltration", "it sends secrets to another machine")
    if any(it.program in _SQL_CLIENTS for it in commands) and _SQL.search(text):
        yield Harm("destructive", "it deletes data of a database")
    if re.match(r"\s*(?:drop|truncate)\b", text, re.IGNORECASE) and _SQL.search(text):
        yield Harm("destructive", "it deletes data of a database")


def _runs_input(command: Command) -> bool:
    """Whether a command of a pipe runs what it is given, instead of reading it."""
    if command.program in _LANGUAGES:
        return not command.flags and not [it for it in command.targets if it != "-"]
    return command.program in _SHELLS


def _same_pipe(commands: Sequence[Command], number: int) -> list[Command]:
    first = number
    while first > 0 and commands[first].stage > 0:
        first -= 1
    return list(commands[first:number])


def _in_command(command: Command) -> Iterator[Harm]:
    said = _destroys(command)
    if said:
        yield Harm("destructive", f"`{_title(command)}` {said}", grave=_is_grave(command))
    unchecked = sorted(_UNCHECKED & set(command.flags))
    if unchecked or (command.program == "git" and _skips_hooks(command)):
        yield Harm(
            "unchecked", f"{unchecked[0] if unchecked else '-n'} switches off what checks it"
        )
    words = " ".join(word.text for word in command.arguments.words)
    if command.program not in _KEEPS_SECRETS and SECRETS.search(f" {words}"):
        yield Harm("credentials", "it touches a file that holds keys or passwords")


def _is_grave(command: Command) -> bool:
    """Whether it takes a disk, a home or a whole machine."""
    if command.program.partition(".")[0] in _DISKS:
        return True
    deletes = command.program in ("rm", "Remove-Item", "chmod", "chown", "find", "shred")
    return deletes and any(map(_WHOLE.match, command.targets))


def _title(command: Command) -> str:
    return f"{command.program} {command.subcommand}" if command.subcommand else command.program


def _skips_hooks(command: Command) -> bool:
    return command.subcommand == "commit" and "-n" in command.flags


def _destroys(command: Command) -> str:
    """What a command destroys, in words; empty if nothing."""
    program, subcommand = command.program, command.subcommand or ""
    flags = frozenset(command.flags)
    stem = program.partition(".")[0]
    if stem in _ALWAYS:
        return _ALWAYS[stem]
    if program == "git":
        return _git_destroys(command, subcommand, flags)
    if any(subcommand == it or subcommand.startswith(f"{it} ") for it in _DELETES.get(program, ())):
        return "deletes what is in use, or may not come back"
    if program in _CLOUDS and any(map(_CLOUD_VERB.match, (*subcommand.split(), *command.targets))):
        return "deletes what is in use, or may not come back"
    if program == "docker" and subcommand.startswith("compose down") and _any(flags, "-v", "v"):
        return "deletes volumes with their data"
    return _files_destroyed(command, flags)


def _git_destroys(command: Command, subcommand: str, flags: frozenset[str]) -> str:
    for name, said in _GIT_ALWAYS.items():
        if subcommand == name or f"{subcommand} {' '.join(command.targets[:1])}" == name:
            return said
    told = _GIT.get(subcommand)
    if told is not None and any(_short(flags, it) for it in told[0]):
        return told[1]
    if subcommand == "push" and any(it.startswith(("+", ":")) for it in command.targets):
        return "overwrites or deletes what others have"
    discards = subcommand in ("checkout", "restore") and not _any(flags, "--staged", "-b", "-B")
    if discards and any(it in (".", "*", ":/") for it in command.targets):
        return "throws away work that is not committed"
    return ""


def _files_destroyed(command: Command, flags: frozenset[str]) -> str:
    program = command.program
    recursive = _any(flags, "-r", "-R", "--recursive", "-Recurse", "-recurse", "/s", "/S")
    if program in ("rm", "Remove-Item", "ri", "rmdir", "rd", "del", "trash", "rimraf") and (
        recursive or program == "rimraf"
    ):
        return "deletes whole folders"
    if program in ("rm", "Remove-Item") and any(map(_ROOTS.match, command.targets)):
        return "deletes everything in a folder"
    if program == "find" and "-delete" in (words := [it.text for it in command.arguments.words]):
        return "deletes whatever it finds" if words else ""
    if program == "find" and "rm" in (it.text for it in command.arguments.words):
        return "deletes whatever it finds"
    if program == "dd" and any(it.startswith("of=") for it in command.targets):
        return "writes over what is there"
    if program == "chmod" and any(
        re.fullmatch(r"0?777|a\+rwx|ugo\+rwx", it) for it in command.targets
    ):
        return "opens files to everybody"
    if program in ("chmod", "chown") and recursive and any(map(_ROOTS.match, command.targets[1:])):
        return "changes the rights of everything"
    if program == "kill" and "-1" in command.targets:
        return "ends every process"
    if program == "crontab" and "-r" in flags:
        return "removes every scheduled job"
    if program == "iptables" and _any(flags, "-F", "--flush"):
        return "switches off the firewall"
    return ""


def _any(flags: frozenset[str], *names: str) -> bool:
    return any(_short(flags, name) for name in names)


def _short(flags: frozenset[str], name: str) -> bool:
    """Whether an option was given, alone or among letters that stand together."""
    if name in flags or any(it.startswith(f"{name}=") for it in flags):
        return True
    letters = len(name) == 2 and name[0] == "-" and name[1].isalpha()
    return letters and any(re.fullmatch(r"-[A-Za-z]{2,5}", it) and name[1] in it for it in flags)
