"""Draw the growth of a first run and of a summary: JSON from standard input to an SVG file.

Runs in an environment of its own: the library brings NumPy, and wherever NumPy is installed Arrow
loads it, which would add to the very times that are measured.
"""

import json
import sys

import matplotlib as mpl

mpl.use("svg")
mpl.rcParams["svg.hashsalt"] = "hansei"  # the same data gives the same bytes

from matplotlib import pyplot as plt  # noqa: E402 - the drawing library must be told first


def draw(growth: list[tuple[float, float, float]], target: str) -> None:
    """Each point is megabytes, seconds of a first run, seconds of a summary."""
    sizes, first, summary = zip(*growth, strict=True)
    figure, axes = plt.subplots(figsize=(6, 3.2))
    axes.plot(sizes, first, marker="o", label="first run")
    axes.plot(sizes, summary, marker="s", label="summary, nothing new")
    axes.set_xlabel("MB of transcripts")
    axes.set_ylabel("seconds")
    axes.set_xlim(left=0)
    axes.set_ylim(bottom=0)
    axes.legend(frameon=False)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    figure.tight_layout()
    figure.savefig(target, metadata={"Date": None})


if __name__ == "__main__":
    draw(json.load(sys.stdin), sys.argv[1])
