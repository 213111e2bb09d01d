"""Programs of no one language: git, containers, infrastructure; tests in Ruby and PHP."""

from __future__ import annotations

import re

from hansei.projection.failures.runner import Runner, words

_GIT_SHOWS = tuple(
    f"git {subcommand}"
    for subcommand in ("blame", "cat-file", "diff", "grep", "log", "ls-files", "shortlog", "show")
)

RUNNERS = (
    Runner(
        "git_shows",
        _GIT_SHOWS,
        failed=re.compile(r"\A(?:fatal|error): "),
        decisive=(words(r"((?:fatal|error): .+)$"),),
    ),
    Runner(
        "git",
        ("git",),
        failed=words(
            r"fatal: ",
            r"error: ",
            r"CONFLICT \(",
            r" ! \[(?:remote )?rejected\]",
            r"Automatic merge failed",
            r"git: '.+' is not a git command",
        ),
        passed=words(
            r"\[[^\]\n]+ [0-9a-f]{7,40}\] ",
            r"(?:Already up to date|Everything up-to-date)",
            r"Switched to (?:a new )?branch ",
            r" \* \[new (?:branch|tag)\]",
            r" +[0-9a-f]{7,40}\.\.[0-9a-f]{7,40} ",
            r"Fast-forward$",
            r"Successfully rebased",
            r"HEAD is now at ",
        ),
        decisive=(
            words(r"remote: (error: .+)$", r"ssh: (.+)$"),
            words(
                r"(fatal: (?!Could not read from remote).+)$",
                r"(CONFLICT \(\w[\w/ ]*\)): .+$",
                r" ! \[(?:remote )?rejected\].*(\(.+\))$",
                r"(git: '.+' is not a git command).*$",
                r"(error: (?!failed to push).+)$",
            ),
            words(
                r"(The following paths are ignored .+)$",
                r"(nothing added to commit .+)$",
                r"(no changes added to commit).*$",
                r"(nothing to commit.*)$",
            ),
            words(r"(fatal: .+)$", r"(error: .+)$", r"(Cannot .+)$"),
        ),
    ),
    Runner(
        "docker",
        ("docker", "docker-compose", "podman", "docker compose"),
        failed=words(
            r"ERROR: ",
            r"[Ee]rror(?: response from daemon)?: ",
            r"Cannot connect to the Docker daemon",
            r"failed to solve: ",
            r"docker: ",
        ),
        passed=words(
            r"Successfully (?:built|tagged) ",
            r"#\d+ naming to .* done$",
            r" ?(?:✔ )?Container \S+ +(?:Started|Running|Healthy)",
        ),
        decisive=(
            words(
                r"ERROR: (failed to solve: .+|.+)$",
                r"(?:docker: )?(Error response from daemon: .+)$",
            ),
            words(
                r"(Cannot connect to the Docker daemon).*$", r"([Ee]rror: .+)$", r"docker: (.+)$"
            ),
        ),
    ),
    Runner(
        "terraform",
        ("terraform", "tofu"),
        failed=words(r"[│╷]? *Error: "),
        passed=words(
            r"Success! The configuration is valid",
            r"(?:Apply|Destroy) complete!",
            r"No changes\. ",
            r"Terraform has been successfully initialized",
            r"Plan: \d+ to add",
        ),
        decisive=(words(r"[│╷]? *(Error: .+)$"),),
    ),
    Runner(
        "rspec",
        ("rspec", "rails test", "minitest", "rake"),
        failed=words(
            r"\d+ examples?, [1-9]\d* failures?",
            r"\d+ runs, .*[1-9]\d* (?:failures|errors)",
            r"rake aborted!",
            r"An error occurred while loading",
        ),
        passed=words(
            r"\d+ examples?, 0 failures(?!, [1-9])",
            r"\d+ runs, \d+ assertions, 0 failures, 0 errors",
        ),
        decisive=(
            words(r"[ \t]+(?:Failure/Error: .+\n(?:[ \t]*\n)*)[ \t]+(\S.+)$"),
            words(r"[ \t]*((?:[A-Z]\w*::)*[A-Z]\w*(?:Error|Exception)(?::.*)?)$"),
            words(r"rspec \S+ # (.+)$"),
        ),
    ),
    Runner(
        "phpunit",
        ("phpunit", "pest", "php", "composer"),
        failed=words(
            r"FAILURES!",
            r"ERRORS!",
            r"Tests: \d+, Assertions: \d+, (?:Errors|Failures): [1-9]",
            r"[ \t]*Tests: +[1-9]\d* failed",
            r"(?:PHP )?(?:Fatal|Parse) error: ",
        ),
        passed=words(r"OK \(\d+ tests?, ", r"OK, but ", r"[ \t]*Tests: +\d+ passed"),
        decisive=(
            words(r"(?:PHP )?((?:Fatal|Parse) error: .+?)(?: in \S+(?::\d+| on line \d+))?$"),
            words(r"(Failed asserting .+)$", r"((?:\w+\\)*\w*(?:Error|Exception): .+)$"),
            words(r"\d+\) (.+)$"),
        ),
    ),
    Runner("curl", ("curl",), decisive=(re.compile(r"curl: (\(\d+\) .+)$", re.MULTILINE),)),
    Runner("apt", ("apt", "apt-get"), decisive=(words(r"(E: .+)$"),)),
)
