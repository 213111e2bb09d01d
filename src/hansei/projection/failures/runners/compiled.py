"""Languages that are compiled, and what builds them."""

from __future__ import annotations

import re

from hansei.projection.failures.runner import Runner, words

_RUST = words(r"(error(?:\[E\d+\])?: (?!could not compile|test failed|aborting|process did).+)$")

RUNNERS = (
    Runner(
        "cargo_test",
        ("cargo test", "cargo nextest"),
        failed=words(
            r"test result: FAILED", r"error(?:\[E\d+\])?: ", r"[ \t]*Summary .* [1-9]\d* failed"
        ),
        passed=words(r"test result: ok\.", r"[ \t]*Summary \[.*\] \d+ tests? run: \d+ passed"),
        decisive=(
            _RUST,
            words(r"(?:thread '.+' (?:\(\d+\) )?)(panicked) at [^\n]+:$\n^(.+)$"),
            words(r"thread '.+' panicked at '(.+)', \S+$"),
            words(r"test (.+) \.\.\. FAILED$"),
        ),
    ),
    Runner(
        "cargo",
        ("cargo", "cargo build", "cargo check", "cargo clippy", "cargo run", "rustc"),
        failed=words(r"error(?:\[E\d+\])?: ", r"error: could not compile"),
        passed=words(r"[ \t]*Finished (?:`|dev|release|test)"),
        decisive=(_RUST, words(r"(error: .+)$"), words(r"thread '.+' (panicked at .+)$")),
    ),
    Runner(
        "go_test",
        ("go test", "gotestsum"),
        failed=words(
            r"FAIL\b", r"--- FAIL: ", r"\S+\.go:\d+:\d+: ", r"panic: ", r"no required module"
        ),
        passed=words(r"ok[ \t]+\S+[ \t]+(?:[\d.]+s|\(cached\))", r"PASS$"),
        decisive=(
            words(r"\S+\.go:\d+:\d+: (.+)$"),
            words(r"(panic: .+)$"),
            words(r"[ \t]+\S+_test\.go:\d+: (.+)$"),
            words(r"[ \t]*--- FAIL: (\S+)"),
            words(r"(FAIL)\b.*$"),
        ),
    ),
    Runner(
        "go",
        ("go", "go build", "go vet", "go run", "go install", "go get", "go mod"),
        failed=words(r"\S+\.go:\d+:\d+: ", r"go: ", r"package \S+ is not in std", r"panic: "),
        decisive=(
            words(r"(?:vet: )?\S+\.go:\d+:\d+: (.+)$"),
            words(r"go: (.+)$"),
            words(r"(panic: .+)$"),
        ),
    ),
    Runner(
        "gradle",
        ("gradle", "gradlew", "mvn", "mvnw"),
        failed=words(
            r"BUILD FAILED", r"\[INFO\] BUILD FAILURE", r"FAILURE: Build failed", r"\[ERROR\] "
        ),
        passed=words(r"BUILD SUCCESSFUL", r"\[INFO\] BUILD SUCCESS"),
        decisive=(
            words(
                r"\S+\.(?:java|kt|kts|groovy):\d+(?::\d+)?:? ((?:error: )?.+)$",
                r"e: \S+:\d+:\d+:? (.+)$",
            ),
            words(r"\[ERROR\] \S+\.java:\[\d+,\d+\] (.+)$"),
            words(
                r"\[ERROR\] (?:Failures: *$\n)?(?:\[ERROR\] )?"
                r"(?!Tests run|COMPILATION|Failed to execute|-> )(\S.+)$"
            ),
            words(r"> (\S.+)$"),
            words(r"\[ERROR\] (.+)$"),
        ),
    ),
    Runner(
        "dotnet",
        ("dotnet", "dotnet build", "dotnet test", "dotnet run", "msbuild"),
        failed=words(
            r"Build FAILED\.", r"Failed! +- Failed:", r"Test Run Failed\.", r".*: error [A-Z]+\d+: "
        ),
        passed=words(r"Build succeeded\.", r"Passed! +- Failed: +0", r"Test Run Successful\."),
        decisive=(
            re.compile(r": (error [A-Z]+\d+: .+?)(?: \[[^\]]*\])?$", re.MULTILINE),
            words(r"[ \t]*Failed (\S+)"),
        ),
    ),
    Runner(
        "make",
        ("make", "gmake", "just", "task"),
        failed=words(
            r"g?make(?:\[\d+\])?: \*\*\* ", r"error: Recipe `", r"task: Failed to run task"
        ),
        passed=words(r"make: (?:Nothing to be done for|'.+' is up to date)"),
        decisive=(
            words(r"g?make(?:\[\d+\])?: \*\*\* (No rule to make target .+|No targets.+)$"),
            words(r"error: (Justfile does not contain recipe .+)$"),
        ),
    ),
    Runner(
        "cmake",
        ("cmake", "ninja", "ctest", "meson"),
        failed=words(
            r"CMake Error",
            r"ninja: (?:error|build stopped)",
            r"FAILED: ",
            r"\d+% tests passed, [1-9]\d* tests failed",
            r"-- Configuring incomplete",
            r"\S+:\d+:\d+: (?:fatal )?error: ",
        ),
        passed=words(
            r"100% tests passed",
            r"-- Build files have been written",
            r"\[100%\] Built target",
            r"ninja: no work to do",
        ),
        decisive=(
            words(r"\S+:\d+:\d+: (?:fatal )?(error: .+)$"),
            words(r"CMake Error[^\n]*:\n[ \t]*(\S.+)$", r"(CMake Error: .+)$"),
            words(r"(ninja: error: .+)$"),
            re.compile(r"(undefined reference to .+)$", re.MULTILINE),
        ),
    ),
    Runner(
        "gcc",
        ("gcc", "g++", "clang", "clang++", "cc", "c++", "javac", "swiftc"),
        failed=words(
            r"\S+:\d+(?::\d+)?: (?:fatal )?error: ",
            r".*undefined reference to ",
            r"collect2: error",
        ),
        decisive=(
            words(r"\S+?:\d+(?::\d+)?: (?:fatal )?(error: .+)$"),
            re.compile(r"(undefined reference to .+)$", re.MULTILINE),
            words(r"(?:gcc|g\+\+|clang|cc): (?:fatal )?(error: .+)$"),
        ),
        silent=True,
    ),
    Runner(
        "swift",
        ("swift", "swift build", "swift test", "xcodebuild"),
        failed=words(
            r"\S+:\d+:\d+: error: ",
            r"error: ",
            r"\*\* (?:BUILD|TEST) FAILED \*\*",
            r"[ \t]*Executed \d+ tests?, with [1-9]\d* failures?",
        ),
        passed=words(
            r"Build complete!",
            r"\*\* (?:BUILD|TEST) SUCCEEDED \*\*",
            r"[ \t]*Executed \d+ tests?, with 0 failures",
        ),
        decisive=(words(r"\S+?:\d+(?::\d+)?: (error: .+)$"), words(r"(error: .+)$")),
    ),
)
