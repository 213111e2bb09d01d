"""Pin every dependency with its hashes: pyproject.toml in, requirements/*.txt out.

Several files, so that running the program needs nothing that only its makers need. The lists are
universal (every platform and Python we support) and name no index.
"""

import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
REQUIREMENTS = ROOT / "requirements"
BUILD_TOOLS = ["hatchling", "editables"]
APART = "frameworks"
"""The group that cannot share an environment with us: it has its own of everything we need."""
NOT_APART = ("mcp",)
"""What those frameworks want in another version, and what their tests do without."""
TESTING = ("hypothesis", "pytest", "pytest-timeout")


def compile_list(
    name: str, wanted: list[str], *, constraint: Path | None = None, universal: bool = True
) -> Path:
    """Resolve `wanted` into requirements/<name>.txt and return its path."""
    target = REQUIREMENTS / f"{name}.txt"
    command = [
        *(sys.executable, "-m", "uv", "pip", "compile", "-", "--output-file", str(target)),
        *(["--universal"] if universal else ["--python-platform", "linux"]),
        *("--python-version", "3.11", "--generate-hashes", "--upgrade"),
        *("--no-emit-index-url", "--no-emit-find-links", "--no-header", "--no-annotate", "--quiet"),
    ]
    if constraint is not None:
        command += ["--constraint", str(constraint)]
    subprocess.run(command, input="\n".join(wanted), text=True, check=True, cwd=ROOT)
    return target


def main() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    run = compile_list("run", [*project["project"]["dependencies"], *BUILD_TOOLS])
    groups = project["dependency-groups"]
    for group, wanted in groups.items():
        if group != APART:
            compile_list(group, wanted, constraint=run)
    ours = [it for it in project["project"]["dependencies"] if not it.startswith(NOT_APART)]
    tests = [it for it in groups["dev"] if it.startswith(TESTING)]
    wanted = [*groups[APART], *ours, *tests, *BUILD_TOOLS]
    # CrewAI and genai-prices agree on no pydantic for Python 3.15, so this list is for Linux and
    # the Python that CI has.
    compile_list(APART, wanted, universal=False)


if __name__ == "__main__":
    main()
