"""What is known about programs: who has subcommands, and which options take a word along.

Data, so that a program is taught by adding a line. An option that is not listed takes nothing.
"""

from __future__ import annotations

import re

_BY_WORD = (
    "apt apt-get aws az bazel brew bun bundle cargo cmake composer conda crane dart deno dnf"
    " docker docker-compose dotnet drizzle-kit flutter fly gcloud gh git glab go gradle gradlew"
    " helm heroku just kubectl lerna make mix mvn mvnw netlify next ng npm nx openssl pip pip3"
    " pipenv pipx pnpm podman poetry prisma pulumi rails rake ruff rustup sam sbt scoop supabase"
    " swift systemctl task terraform tofu turbo uv vercel vite winget wrangler yarn yum"
)
SUBCOMMANDS = frozenset(_BY_WORD.split())
"""Programs whose first plain word says what they are to do."""

_NO_SUBCOMMANDS = (
    "alias apply_patch attrib awk base64 basename bash bat bc black bunzip2 bzip2 call cat cc cd"
    " chgrp chmod"
    " chown cksum clang clear cmp column comm copy cp curl cut dd declare del df diff dig dir"
    " dirname du echo egrep env eslint eval exit export expr false fd fgrep file find findstr fold"
    " fuser gcc getent gofmt grep gunzip gzip hash head history host hostname icacls id install"
    " isort java javac jest jq kill killall less ln local locate ls lsof man md5sum mkdir mktemp"
    " mocha more mount move mv mypy nano nc nl node nodemon nohup nproc od open osascript paste"
    " perl pgrep php ping pkill playwright popd prettier printenv printf ps psql pushd pwd pylint"
    " pyright pytest python read readlink realpath ren return rev rg rm rmdir rsync ruby say scp"
    " script sed seq set sh sha256sum shasum sleep sort source split sqlite3 ssh start stat"
    " strings su sum sync tac tail tar taskkill tasklist tee test time top touch tr trap tree true"
    " ts-node tsc tsx type uname uniq unlink unset unzip uptime vi vim vitest vue-tsc wc wget"
    " where whereis which who whoami xargs xxd yes zip zsh"
)
PLAIN = frozenset(_NO_SUBCOMMANDS.split())
"""Programs whose first plain word is a file, a pattern or a text."""

NESTED: dict[str, frozenset[str]] = {
    "aws": frozenset(("s3", "s3api", "ec2", "iam", "lambda", "logs", "sts", "ecr", "ecs", "ssm")),
    "az": frozenset(("account", "group", "webapp", "acr", "aks", "vm")),
    "bun": frozenset(("run", "pm")),
    "deno": frozenset(("task",)),
    "docker": frozenset(
        ("compose", "container", "image", "volume", "network", "system", "buildx", "builder")
    ),
    "dotnet": frozenset(("ef", "tool", "nuget")),
    "gcloud": frozenset(("run", "app", "compute", "auth", "config", "builds", "projects")),
    "gh": frozenset(
        ("pr", "issue", "repo", "run", "workflow", "release", "auth", "secret", "gist", "label")
    ),
    "git": frozenset(("stash", "remote", "worktree", "submodule", "bisect", "lfs", "notes")),
    "glab": frozenset(("mr", "issue", "ci", "repo")),
    "kubectl": frozenset(("rollout", "config", "create", "auth", "top")),
    "npm": frozenset(("run", "run-script", "config", "cache")),
    "pnpm": frozenset(("run",)),
    "poetry": frozenset(("env", "self", "cache")),
    "prisma": frozenset(("db", "migrate")),
    "rustup": frozenset(("target", "component", "toolchain")),
    "supabase": frozenset(("db", "functions", "migration", "gen")),
    "uv": frozenset(("pip", "tool", "python", "cache")),
    "yarn": frozenset(("run", "workspaces")),
}
"""Subcommands that have subcommands of their own."""


def _options(line: str) -> frozenset[str]:
    return frozenset(line.split())


VALUED: dict[str, frozenset[str]] = {
    "apt": _options("-t -o -c --target-release --option"),
    "awk": _options("-F -v -f"),
    "base64": _options("-w --wrap -b --break"),
    "aws": _options("--profile --region --output --query --endpoint-url"),
    "bat": _options("-r --line-range -l --language -H --highlight-line --style --theme --paging"),
    "black": _options("-l --line-length -t --target-version --config --include --exclude"),
    "brew": _options("--appdir --fontdir"),
    "bun": _options("--cwd --filter"),
    "cargo": _options(
        "-p --package --test --bin --example --features --target --manifest-path --profile -j"
        " --color --bench --target-dir --message-format -Z --config"
    ),
    "curl": _options(
        "-H --header -d --data --data-raw --data-binary --data-urlencode -X --request -o --output"
        " -u --user -F --form -w --write-out -m --max-time --connect-timeout -b --cookie -c"
        " --cookie-jar -A --user-agent -e --referer --retry -T --upload-file -x --proxy --cacert"
        " --url --json -K --resolve -E --cert --key"
    ),
    "cut": _options("-d -f -c -b"),
    "docker": _options(
        "-t --tag -f --file -e --env -v --volume -p --publish --name --network --platform"
        " --build-arg -w --workdir -u --user --target --progress -n --tail --since --format"
        " --entrypoint --env-file --mount --filter --context --project-name --profile -H --host"
        " --label -l --restart"
    ),
    "dotnet": _options(
        "-c --configuration -f --framework -o --output -r --runtime -p --project --filter -v"
        " --verbosity -l --logger -s --source --version"
    ),
    "eslint": _options(
        "--ext -c --config --rule --parser --plugin --ignore-path --ignore-pattern -o"
        " --output-file -f --format --max-warnings --cache-location --resolve-plugins-relative-to"
    ),
    "find": _options(
        "-name -iname -path -ipath -type -maxdepth -mindepth -mtime -mmin -size -newer -perm -user"
        " -regex -iregex"
    ),
    "gh": _options(
        "-R --repo -t --title -b --body -F --body-file -B --base -H --head -L --limit --json -q"
        " --jq -s --state -l --label -a --assignee -f --field --raw-field -X --method --search"
        " --template -m --milestone -r --reviewer --author"
    ),
    "git": _options(
        "-C -c --git-dir --work-tree -m --message -F --file -n --max-count -b -B --author --since"
        " --until --after --before --format --pretty -S -G -L --grep --date"
        " --depth -X --strategy --source --diff-filter --pathspec-from-file -U --unified -o"
    ),
    "go": _options(
        "-run -bench -timeout -count -o -tags -ldflags -coverprofile -cover -p -parallel -C -mod"
        " -benchtime -covermode -coverpkg -cpu -fuzz -fuzztime -skip -vet -exec -gcflags"
    ),
    "gradle": _options("--tests -p --project-dir -x -b -c"),
    "grep": _options(
        "-e --regexp -f --file -m --max-count -A --after-context -B --before-context -C --context"
        " --include --exclude --exclude-dir --color --colour -d -D --label"
    ),
    "head": _options("-n --lines -c --bytes"),
    "iconv": _options("-f --from-code -t --to-code -o --output"),
    "jest": _options(
        "-t --testNamePattern -c --config --testPathPattern -w --maxWorkers --selectProjects"
        " --reporters --rootDir --testTimeout"
    ),
    "jq": _options("--arg --argjson --indent --slurpfile --rawfile -f --from-file -L"),
    "kubectl": _options("-n --namespace -f --filename -o --output -l --selector -c --container"),
    "less": _options("-p -x -j"),
    "ls": _options("-I --ignore -w --width --color --sort --time"),
    "make": _options("-C --directory -f --file -j --jobs -I -o -W -l"),
    "mvn": _options("-pl -f -s -P -rf -T"),
    "mypy": _options("--config-file -p -m --python-version --exclude"),
    "nl": _options("-b -w -s -v -i -l -n -f -h -d"),
    "node": _options("-r --require --import -e --eval -p --print --loader --env-file"),
    "npm": _options("--prefix -w --workspace --loglevel --registry -C --tag"),
    "pip": _options(
        "-r --requirement -c --constraint -e --editable -i --index-url --extra-index-url -t"
        " --target --python --prefix --root -f --find-links --platform"
    ),
    "pnpm": _options("-C --dir --filter -F --reporter --loglevel"),
    "prettier": _options("--config --parser --ignore-path --plugin --log-level"),
    "psql": _options("-c -d -h -p -U -f -v -F -o -P"),
    "pytest": _options(
        "-k -m -n -p -c --maxfail --tb --cov --cov-report -o -W --rootdir --timeout --durations"
        " --ignore --deselect --junitxml --confcutdir --log-level --dist --basetemp -r --color"
        " --override-ini --import-mode --html --randomly-seed --junit-xml --capture"
    ),
    "python": _options("-c -W -X"),
    "rg": _options(
        "-e --regexp -f --file -g --glob --iglob -t --type -T --type-not -m --max-count -A"
        " --after-context -B --before-context -C --context -j --threads -M --max-columns -r"
        " --replace --sort --sortr -d --max-depth --colors --color -E --encoding --max-filesize"
        " --context-separator --type-add --engine --ignore-file"
    ),
    "ruff": _options("--select --ignore --config --line-length --output-format --target-version"),
    "sed": _options("-e --expression -f --file -l"),
    "sort": _options("-k -t -o -S -T --parallel"),
    "ssh": _options("-i -p -o -l -F -L -R -D -J"),
    "tail": _options("-n --lines -c --bytes -s --pid"),
    "taskkill": _options("/pid /im /fi /s /u /p"),
    "tasklist": _options("/fi /fo /s /u /p"),
    "tree": _options("-L -I -P --charset --filelimit -H -T -o"),
    "tsc": _options("-p --project --outDir --target --module --jsx --lib --moduleResolution"),
    "tar": _options("-f -C --file --directory --exclude -T"),
    "touch": _options("-t -d -r --date --reference"),
    "truncate": _options("-s --size -r"),
    "uv": _options("--directory --project --python -p --extra --group --with -r --index-url"),
    "vitest": _options(
        "-t --testNamePattern --config -c --reporter --project --root --dir --testTimeout --pool"
    ),
    "wget": _options("-O -o -P --header --timeout -t --tries -U --user-agent --post-data -q0"),
    "yarn": _options("--cwd"),
}
SAME = {
    "apt-get": "apt", "docker-compose": "docker", "egrep": "grep", "fgrep": "grep",
    "gawk": "awk", "ggrep": "grep", "gradlew": "gradle", "gsed": "sed", "batcat": "bat",
    "mawk": "awk", "mvnw": "mvn",
    "more": "less", "nawk": "awk", "pip3": "pip", "podman": "docker", "ripgrep": "rg",
    "zgrep": "grep", "zcat": "cat", "py.test": "pytest",
}  # fmt: skip
"""Programs that take the options of another."""

_LETTERS = "attrib comp copy del erase fc md mkdir move rd ren rename rmdir tree type where xcopy"
_SPELLED_OUT = (
    "cmdkey findstr icacls ipconfig net netstat reg robocopy schtasks setx shutdown systeminfo"
    " taskkill tasklist timeout wmic"
)
WINDOWS_SWITCHES = {
    **dict.fromkeys(_LETTERS.split(), re.compile(r"//?[A-Za-z?](?::.*)?|/-[A-Za-z]")),
    "dir": re.compile(r"//?[A-Za-z?](?::?-?[A-Za-z]{1,2})?"),
    **dict.fromkeys(_SPELLED_OUT.split(), re.compile(r"//?[A-Za-z?][A-Za-z]*(?::.*)?")),
}
"""How programs of Windows are told what to do: `/s`, `/c:text`; `//s` in Git Bash.

Those of the first kind also take folders, whose names are seldom one letter.
"""

SWITCHED = frozenset(
    (
        "--all", "--amend", "--cached", "--check", "--color", "--coverage", "--dev", "--dry-run",
        "--force", "--global", "--hard", "--help", "--ignore-case", "--json", "--name-only",
        "--oneline", "--quiet", "--recursive", "--release", "--save-dev", "--short", "--silent",
        "--set-upstream", "--staged", "--stat", "--verbose", "--version", "--watch", "--yes",
    )
)  # fmt: skip
"""Long options that take nothing along wherever they are met."""

CLUSTERED = frozenset(
    (
        "awk", "base64", "bat", "cat", "cp", "curl", "cut", "df", "du", "grep", "head", "less",
        "ls", "mkdir", "mv", "nl", "psql", "rg", "rm", "sed", "sort", "tail", "tar", "tee", "touch",
        "uniq", "wc", "xxd",
    )
)  # fmt: skip
"""Programs where `-rn` is `-r -n` and `-A3` is `-A 3`."""

ORDERED = frozenset(
    (
        "[", "[[", "awk", "bash", "convert", "echo", "ffmpeg", "find", "jq", "magick", "node",
        "perl", "php", "printf", "python", "rsync", "ruby", "sed", "sh", "ssh", "test", "ts-node",
        "tsx", "xcodebuild", "zsh",
    )
)  # fmt: skip
"""Programs whose words mean something else in another order."""
ORDERED_SUBCOMMANDS = frozenset(
    (("docker", "run"), ("docker", "exec"), ("docker", "compose exec"), ("docker", "compose run"),
     ("kubectl", "exec"), ("cargo", "run"))
)  # fmt: skip

NAMES_FILES = frozenset(
    (
        "bat", "cat", "cd", "chdir", "chmod", "chown", "cmp", "code", "copy", "cp", "del", "diff",
        "dir", "du", "erase", "file", "find", "head", "less", "ln", "ls", "md", "md5sum", "mkdir",
        "move", "mv", "nl", "open", "pushd", "rd", "readlink", "realpath", "ren", "rm", "rmdir",
        "rsync", "sha256sum", "shasum", "source", ".", "stat", "tac", "tail", "tee",
        "touch", "tree", "type", "unlink", "unzip", "wc", "xcopy", "xxd", "zip", "apply_patch",
        "Add-Content", "Clear-Content", "Copy-Item", "Get-ChildItem", "Get-Content", "Get-Item",
        "Move-Item", "New-Item", "Out-File", "Push-Location", "Remove-Item", "Rename-Item",
        "Resolve-Path", "Set-Content", "Set-Location", "Test-Path", "Tee-Object", "Expand-Archive",
        "git add", "git checkout", "git diff", "git mv", "git restore", "git rm",
    )
)  # fmt: skip
"""Programs whose plain words are files, also those with spaces in them."""
FILE_OPTIONS = frozenset(("-path", "-literalpath", "-filepath", "-destination", "-outfile"))
"""Options of PowerShell's commands that name files."""

SEARCHES = frozenset(
    (
        "ack", "ag", "awk", "fd", "fdfind", "findstr", "git grep", "grep", "jq", "pgrep", "pkill",
        "rg", "sed", "Select-String", "yq",
    )
)  # fmt: skip
"""Programs whose first plain word is a pattern or a script, and the others files."""
PATTERN_OPTIONS = frozenset(("-e", "--regexp", "--expression", "-pattern", "/c"))
"""Options of these that give the pattern instead."""
PATTERN_FILES = frozenset(("-f", "--file", "--from-file", "--files", "/g"))
"""Options of these with which no pattern stands among the words."""
MINDS_SLASHES = frozenset(("echo", "printf", "Write-Output", "Write-Host", "rsync"))
"""Programs to which a slash at the end of a word means something."""

FOLDER_OPTIONS: dict[str, frozenset[str]] = {
    "bun": frozenset(("--cwd",)),
    "git": frozenset(("-C",)),
    "go": frozenset(("-C",)),
    "make": frozenset(("-C", "--directory")),
    "npm": frozenset(("--prefix", "-C")),
    "pnpm": frozenset(("-C", "--dir")),
    "uv": frozenset(("--directory",)),
    "yarn": frozenset(("--cwd",)),
    "gradle": frozenset(("-p", "--project-dir")),
}
"""Options by which a program works in another folder."""

FILLERS = frozenset(
    (
        "", ":", "[", "[[", "alias", "basename", "cd", "clear", "date", "declare", "dirname",
        "echo", "exit", "export", "false", "local", "popd", "printf", "pushd", "pwd", "read",
        "readonly", "return", "set", "shift", "shopt", "sleep", "source", ".", "test", "trap",
        "true", "ulimit", "umask", "unset", "wait", "whoami", "hostname", "let", "break",
        "continue", "which", "type", "hash",
        "Set-Location", "Push-Location", "Pop-Location", "Write-Output", "Write-Host", "Test-Path",
        "Start-Sleep", "Set-Variable", "Join-Path", "Get-Date", "Get-Location", "Out-Null",
    )
)  # fmt: skip
"""Programs that a call is about only where nothing else stands in it."""
FILTERS = frozenset(
    (
        "awk", "base64", "bat", "cat", "column", "cut", "fmt", "fold", "grep", "head", "iconv",
        "jq", "json.tool", "less", "nl", "rev", "rg", "sed", "sort", "strings", "tac", "tail",
        "tee", "tr", "uniq", "wc", "xxd", "yq",
        "ConvertFrom-Json", "ConvertTo-Json", "ForEach-Object", "Format-List", "Format-Table",
        "Group-Object", "Measure-Object", "Out-File", "Out-Host", "Out-Null", "Out-String",
        "Select-Object", "Select-String", "Set-Variable", "Sort-Object", "Tee-Object",
        "Where-Object", "findstr",
    )
)  # fmt: skip
"""Programs that, later in a pipe, only shorten or lay out what another one says."""

_OWN_NAMES = (
    "Add-Content Clear-Content ConvertFrom-Json ConvertTo-Json Copy-Item Expand-Archive"
    " ForEach-Object Format-List Format-Table Get-ChildItem Get-Command Get-Content Get-Date"
    " Get-Item Get-Location Get-Process Group-Object Invoke-RestMethod Invoke-WebRequest"
    " Join-Path Measure-Object Move-Item New-Item Out-File Out-Host Out-Null Out-String"
    " Pop-Location Push-Location Remove-Item Rename-Item Resolve-Path Select-Object"
    " Select-String Set-Content Set-Location Set-Variable Sort-Object Start-Process"
    " Start-Sleep Stop-Process Tee-Object Test-Path Where-Object Write-Host Write-Output"
)
CMDLETS: dict[str, str] = {name.lower(): name for name in _OWN_NAMES.split()} | {
    "%": "ForEach-Object", "?": "Where-Object", "ac": "Add-Content", "cat": "Get-Content",
    "cd": "Set-Location", "chdir": "Set-Location", "copy": "Copy-Item", "cp": "Copy-Item",
    "cpi": "Copy-Item", "del": "Remove-Item", "dir": "Get-ChildItem", "echo": "Write-Output",
    "erase": "Remove-Item", "foreach": "ForEach-Object", "ft": "Format-Table",
    "fl": "Format-List", "gc": "Get-Content", "gci": "Get-ChildItem", "gi": "Get-Item",
    "iwr": "Invoke-WebRequest", "irm": "Invoke-RestMethod", "ls": "Get-ChildItem",
    "md": "New-Item", "measure": "Measure-Object", "mi": "Move-Item", "move": "Move-Item",
    "mv": "Move-Item", "ni": "New-Item", "popd": "Pop-Location", "pushd": "Push-Location",
    "rd": "Remove-Item", "ren": "Rename-Item", "ri": "Remove-Item", "rm": "Remove-Item",
    "rmdir": "Remove-Item", "sc": "Set-Content", "select": "Select-Object",
    "sl": "Set-Location", "sls": "Select-String", "sort": "Sort-Object", "tee": "Tee-Object",
    "type": "Get-Content", "where": "Where-Object", "write": "Write-Output",
}  # fmt: skip
"""PowerShell's own commands and their short names, in any letter case."""

SWITCHES = frozenset(
    (
        "-raw", "-wait", "-recurse", "-force", "-append", "-nonewline", "-passthru", "-whatif",
        "-verbose", "-quiet", "-simplematch", "-casesensitive", "-list", "-allmatches", "-notmatch",
        "-noclobber", "-file", "-directory", "-name", "-unique", "-line", "-word", "-character",
        "-descending", "-autosize", "-usebasicparsing", "-compress", "-confirm:$false", "-hidden",
    )
)  # fmt: skip
"""Options of PowerShell's commands that take nothing along; all others do."""
