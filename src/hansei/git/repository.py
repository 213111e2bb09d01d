"""Which repository a folder belongs to, the same answer from every worktree and clone."""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import dataclass, replace
from hashlib import blake2b
from pathlib import Path
from typing import Literal

from hansei.config import Environment
from hansei.errors import GitError

ROOT_COMMIT_SECONDS = 5.0
"""Finding root commits walks all history; a repository too big for this is known by its folder."""

_DRIVE = re.compile(r"^((?:folder:|git:)?)([a-z]):(?=[\\/]|$)")
"""The drive that a folder of Windows, or the identity made from it, begins with."""

IdentityBasis = Literal["root_commit", "git_folder", "folder", "none"]


@dataclass(frozen=True)
class Identity:
    """One workspace: what it is called and how we know that two folders are the same one."""

    id: str
    name: str
    basis: IdentityBasis
    folder: str | None
    remote: str | None = None


NO_FOLDER = Identity(id="none", name="(no folder recorded)", basis="none", folder=None)


def identify(folder: str) -> Identity:
    """The workspace of a recorded folder, which need not exist any more.

    A repository is known by its root commit and remote, else by its git folder; anything else by
    the folder as the agent recorded it.
    """
    try:
        exists = Path(folder).is_dir()
    except (OSError, ValueError):
        exists = False
    common = None
    if exists:
        common = git(folder, "rev-parse", "--path-format=absolute", "--git-common-dir")
    if common:
        return one_spelling(_repository(folder, common))
    return one_spelling(Identity(f"folder:{folder}", folder_name(folder), "folder", folder))


def one_spelling(identity: Identity) -> Identity:
    """The same workspace with its drive in capitals: `c:` and `C:` are one, as editors say both."""
    known, name = (_DRIVE.sub(_capital, it) for it in (identity.id, identity.name))
    folder = None if identity.folder is None else _DRIVE.sub(_capital, identity.folder)
    return replace(identity, id=known, name=name, folder=folder)


def _capital(drive: re.Match[str]) -> str:
    return f"{drive[1]}{drive[2].upper()}:"


def _repository(folder: str, common: str) -> Identity:
    home = Path(common).parent if Path(common).name == ".git" else Path(common)
    remote = clean_remote(git(folder, "config", "--get", "remote.origin.url"))
    roots = git(folder, "rev-list", "--max-parents=0", "HEAD", seconds=ROOT_COMMIT_SECONDS)
    name = (remote or str(home)).rstrip("/").rpartition("/")[2].removesuffix(".git") or str(home)
    if roots:
        first = min(roots.split())
        identity = blake2b(f"{first} {remote or ''}".encode(), digest_size=10).hexdigest()
        return Identity(f"root:{identity}", name, "root_commit", str(home), remote)
    return Identity(f"git:{common}", name, "git_folder", str(home), remote)


def folder_name(folder: str) -> str:
    """The last part of a path in either spelling, Unix or Windows."""
    return re.split(r"[\\/]", folder.rstrip("\\/"))[-1] or folder


def clean_remote(url: str | None) -> str | None:
    """A remote as `host/owner/name`, without protocol, user or password."""
    if not url:
        return None
    plain = re.sub(r"^[a-z+]+://", "", url.strip(), flags=re.IGNORECASE)
    plain = plain.rpartition("@")[2]
    plain = re.sub(r"^([^/:]+):(?!\d+/)", r"\1/", plain)
    return plain.rstrip("/").removesuffix(".git")


NO_GIT = "The program git is not on the PATH"


def git_is_there() -> bool:
    return shutil.which("git") is not None


def need_git() -> None:
    """Where git is missing, say so, before a folder is blamed for being no repository."""
    if not git_is_there():
        raise GitError(NO_GIT.replace("The", "the", 1), hint="Install git, then try again.")


def git(folder: str, *arguments: str, seconds: float = 10.0) -> str | None:
    """What git prints, stripped; None if it fails, is missing or takes too long."""
    try:
        done = subprocess.run(
            ["git", "-C", folder, *arguments],
            capture_output=True,
            timeout=seconds,
            check=False,
            stdin=subprocess.DEVNULL,
            env=own_environment(),
        )
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return None
    text = done.stdout.decode("utf-8", "replace").strip()
    return text if done.returncode == 0 and text else None


def own_environment() -> dict[str, str]:
    """Without what a hook or a wrapper says about another repository; git stays off the network.

    In a partial clone git would fetch the objects it lacks: for us they are just not here.
    """
    variables = Environment.current().variables
    kept = {name: value for name, value in variables.items() if not name.startswith("GIT_")}
    return kept | {"GIT_NO_LAZY_FETCH": "1", "GIT_OPTIONAL_LOCKS": "0"}
