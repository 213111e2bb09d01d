"""JavaScript and TypeScript: tests, types, lint, packages."""

from __future__ import annotations

import re

from hansei.projection.failures.runner import Runner, words

_THROWN = words(r"[ \t]*(?:Uncaught |→ |✗ )?((?:[A-Z]\w*)?(?:Error|Exception)(?: \[\w+\])?: .+)$")

RUNNERS = (
    Runner(
        "jest",
        ("jest", "react-scripts test"),
        failed=words(r"(?:Tests|Test Suites):[ \t]+\d+ failed", r"No tests found", r"FAIL \S"),
        passed=words(r"Tests:[ \t]+(?:\d+ (?:skipped|todo), )*\d+ passed"),
        decisive=(_THROWN, words(r"[ \t]+● (.+)$"), words(r"(No tests found.*)$")),
    ),
    Runner(
        "vitest",
        ("vitest", "vitest run"),
        failed=words(
            r"[ \t]*(?:Tests|Test Files)[ \t]+\d+ failed",
            r" *(?:FAIL|❯ FAIL) +\S",
            r"[ \t]*Errors[ \t]+\d+ errors?$",
            r"No test files found",
        ),
        passed=words(r"[ \t]*Tests[ \t]+\d+ passed"),
        decisive=(_THROWN, words(r" *FAIL +\S+ > (.+)$"), words(r"(No test files found.*)$")),
    ),
    Runner(
        "mocha",
        ("mocha", "hardhat test", "cypress", "cypress run"),
        failed=words(
            r"[ \t]+[1-9]\d* failing\b",
            r" {4,}\d+\) \S",
            r"[ \t]+at Context\.<anonymous> \(",
            r"Error HH\d+",
        ),
        passed=words(r"[ \t]+\d+ passing\b"),
        decisive=(
            words(r"(?:Error )?(HH\d+: .+)$"),
            _THROWN,
            words(r"[ \t]+\d+\) (.+)$", r"[ \t]+(\d+ failing)"),
        ),
    ),
    Runner(
        "hardhat",
        ("hardhat", "hardhat compile"),
        failed=words(r"Error HH\d+", r"(?:\w*Error|DeclarationError|ParserError|TypeError): "),
        passed=words(r"(?:Compiled \d+ Solidity files? successfully|Nothing to compile)"),
        decisive=(words(r"(?:Error )?(HH\d+: .+)$"), _THROWN),
    ),
    Runner(
        "node_test",
        ("node --test", "tap", "ava"),
        failed=words(r"(?:ℹ|#) fail [1-9]"),
        passed=words(r"(?:ℹ|#) fail 0\b"),
        decisive=(_THROWN, words(r"[ \t]*(?:not ok \d+ - |✖ )(.+)$")),
    ),
    Runner(
        "playwright",
        ("playwright", "playwright test"),
        failed=words(r"[ \t]+\d+ failed$", r"[ \t]+\d+ did not run$", r"Error: No tests found"),
        passed=words(r"[ \t]+\d+ passed(?: \([\d.]+\w+\))?$"),
        decisive=(_THROWN, words(r"[ \t]+\d+\) (.+)$")),
    ),
    Runner(
        "bun_test",
        ("bun test", "deno test"),
        failed=words(r"[ \t]*[1-9]\d* fail$", r"FAILED \| "),
        passed=words(r"[ \t]*0 fail$", r"ok \| \d+ passed"),
        decisive=(
            words(r"[ \t]*(error: .+)$"),
            _THROWN,
            words(r"\(fail\) (.+?)(?: \[[\d.]+\w+\])?$"),
        ),
    ),
    Runner(
        "tsc",
        ("tsc", "vue-tsc", "bun tsc"),
        failed=re.compile(r"^(?:\S.*?)?\berror TS\d+: ", re.MULTILINE),
        decisive=(re.compile(r"\b(error TS\d+: .+)$", re.MULTILINE),),
        silent=True,
        whole=True,
    ),
    Runner(
        "eslint",
        ("eslint", "next lint", "biome", "biome check", "biome lint", "oxlint", "stylelint"),
        failed=words(
            r"[ \t]*✖ \d+ problems? \([1-9]\d* errors?",
            r"Found [1-9]\d* errors?\.",
            r"Oops! Something went wrong",
            r"[ \t]*\d+:\d+ +[Ee]rror\b",
        ),
        passed=words(
            r"[ \t]*✔ No ESLint warnings or errors",
            r"[ \t]*✖ \d+ problems? \(0 errors",
            r"Checked \d+ files? in .*No fixes applied",
            r"Found \d+ warnings? and 0 errors",
        ),
        decisive=(
            words(r"[ \t]*\d+:\d+ +[Ee]rror:? +(\S.+)$"),
            words(r"((?:[A-Z]\w*)?Error: .+)$", r"(ESLint couldn't find .+)$"),
            words(r"\S+:\d+:\d+ (lint/\S+)"),
        ),
        silent=True,
        whole=True,
    ),
    Runner(
        "prettier",
        ("prettier",),
        failed=words(r"\[error\] ", r"\[warn\] Code style issues", r"Error occurred when checking"),
        passed=words(r"All matched files use Prettier code style!"),
        decisive=(words(r"\[error\] (?:\S+: )?(.+)$"), words(r"\[warn\] (Code style issues).*$")),
    ),
    Runner(
        "bundler",
        (
            "next",
            "next build",
            "vite",
            "vite build",
            "webpack",
            "rollup",
            "esbuild",
            "tsup",
            "astro",
        ),
        failed=words(
            r"(?:Failed to compile|> Build error occurred|Build failed because of)",
            r"error during build",
            r"(?:✗|x) Build failed",
            r"✘ \[ERROR\] ",
            r"ERROR in ",
            r"[ \t]*Build failed with \d+ errors?",
        ),
        passed=words(
            r"[ \t]*✓ (?:built in |Compiled successfully)",
            r"○ +\(Static\) ",
            r"webpack [\d.]+ compiled (?:successfully|with \d+ warnings?)",
            r"[ \t]*⚡ ?(?:Done|Build success)",
        ),
        decisive=(
            words(
                r"(?:✘ )?(\[ERROR\] .+)$",
                r"(Module not found: .+)$",
                r"((?:Type|Syntax)? ?[Ee]rror: .+)$",
            ),
            re.compile(r"\b(error TS\d+: .+)$", re.MULTILINE),
            _THROWN,
            words(r"[ \t]*x (.+)$"),
        ),
    ),
    Runner(
        "npm",
        ("npm", "npx", "pnpm", "yarn", "bun"),
        failed=words(
            r"npm (?:error|ERR!) (?!A complete log)",
            r" ?(?:ERR_PNPM_\w+|ELIFECYCLE)",
            r"error Command failed with exit code",
            r"error (?:Command|Couldn't|An unexpected error|Missing)",
            r"error: (?:[Ss]cript |Missing)",
            r"Usage Error: ",
            r"(?:Failed to compile|error during build)",
        ),
        passed=words(
            r"(?:added|changed|removed) \d+ packages?\b",
            r"up to date(?:,| in)",
            r"(?:Already up to date|Done in [\d.]+)",
        ),
        decisive=(
            words(
                r"npm (?:error|ERR!) (Missing script: .+)$",
                r" ?(ERR_PNPM_\w+ .+)$",
                r"(error Command \".+\" not found.*)$",
                r"error: (Script not found .+|Missing script.*)$",
                r"Usage Error: (.+)$",
            ),
            words(r"npm (?:error|ERR!) ((?:404|ERESOLVE|EACCES|ENOENT|EUSAGE|Error:) .+)$"),
            words(r"npm (?:error|ERR!) (code (?!ELIFECYCLE)\S+)$"),
            words(r"(error (?!Command failed).+)$"),
        ),
    ),
    Runner(
        "node",
        ("node", "tsx", "ts-node", "deno", "deno run"),
        decisive=(
            words(r"((?:[A-Z]\w*)?(?:Error|Exception)(?: \[\w+\])?: .+)$"),
            words(r"error: (?:Uncaught )?(?:\(in promise\) )?(.+)$"),
        ),
    ),
)
