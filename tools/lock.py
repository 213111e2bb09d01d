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


def compile_list(name: str, wanted: list[str], *, constraint: Path | None = None) -> Path:
    """Resolve `wanted` into requirements/<name>.txt and return its path."""
    target = REQUIREMENTS / f"{name}.txt"
    command = [
        *(sys.executable, "-m", "uv", "pip", "compile", "-", "--output-file", str(target)),
        *("--universal", "--python-version", "3.11", "--generate-hashes", "--upgrade"),
        *("--no-emit-index-url", "--no-emit-find-links", "--no-header", "--no-annotate", "--quiet"),
    ]
    if constraint is not None:
        command += ["--constraint", str(constraint)]
    subprocess.run(command, input="\n".join(wanted), text=True, check=True, cwd=ROOT)
    return target


def main() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    run = compile_list("run", [*project["project"]["dependencies"], *BUILD_TOOLS])
    for group, wanted in project["dependency-groups"].items():
        compile_list(group, wanted, constraint=run)


if __name__ == "__main__":
    main()
