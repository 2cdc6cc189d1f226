"""Draws the pictures of docs/gallery.md and of the README: `python docs/hooks/gallery.py`."""

from __future__ import annotations

import os
import re
import shlex
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

from matplotlib.figure import Figure

from dpcert import FixedSize, Gaussian, Poisson, RandomAllocation, Repeat, Shuffled, epsilon, verify
from dpcert.cli import run
from dpcert.mechanisms import Mechanism
from dpcert.proofs_checks.claims.claim import load_claim

DOCS = Path(__file__).parents[1]
PICTURES = DOCS / "figures" / "gallery"
CLAIMS = ("tf-privacy-mnist-60-epochs", "bu20-mnist-sigma1.06", "chua24-shuffle-as-poisson", "pmtl-figure2-femnist")
COLOURS = {"holds": "tab:green", "refuted": "tab:red", "undecided": "tab:gray"}


def claims() -> None:
    """Printed epsilons beside certified intervals."""
    figure = Figure(figsize=(8, 2.6), layout="constrained")
    axes = figure.add_subplot()
    for row, name in enumerate(reversed(CLAIMS)):
        (path,) = (DOCS.parent / "claims").rglob(f"{name}.toml")
        found = verify(load_claim(path))
        printed, colour = found.claim.statement.threshold, COLOURS[found.verdict]
        axes.plot(
            [found.certified.lower, found.certified.upper],
            [row, row],
            color=colour,
            linewidth=9,
            marker="|",
            markersize=16,
        )
        axes.plot(printed, row, "x", color="black", markersize=9, markeredgewidth=2)
        right = max(printed, found.certified.upper)
        axes.annotate(found.verdict, (right, row), (10, 0), textcoords="offset points", va="center", color=colour)
    axes.set_yticks(range(len(CLAIMS)), [_title(name) for name in reversed(CLAIMS)])
    axes.set_xscale("log")
    axes.set_xlim(1, 300)
    axes.set_ylim(-0.6, len(CLAIMS) - 0.4)
    axes.set_xticks([1, 3, 10, 30, 100], ["1", "3", "10", "30", "100"])
    axes.set_xlabel("epsilon (cross: printed; bar: certified)")
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    figure.savefig(PICTURES / "claims.png", dpi=150)


def _title(name: str) -> str:
    (path,) = (DOCS.parent / "claims").rglob(f"{name}.toml")
    return load_claim(path).statement.title


def schemes() -> None:
    """Epsilon over epochs for four ways to draw a cohort."""
    noise = Gaussian(noise_multiplier=1.0)
    epochs_of: dict[str, tuple[Mechanism, str]] = {
        "Poisson": (Repeat(Poisson(noise, 0.01), 100), "tab:green"),
        "balls in bins": (RandomAllocation(noise, rounds=100), "tab:blue"),
        "fixed size, hidden": (Repeat(FixedSize(noise, population=10_000, cohort=100), 100), "tab:orange"),
        "shuffled batches": (Shuffled(noise, batches=100), "tab:red"),
    }
    figure = Figure(figsize=(7, 4), layout="constrained")
    axes = figure.add_subplot()
    epochs = [1, 2, 3, 5, 7, 10]
    for name, (one, colour) in epochs_of.items():
        found = [epsilon(Repeat(one, number), 1e-5, "zero-out") for number in epochs]
        axes.plot(epochs, [f.upper for f in found], color=colour, label=name, marker=".")
        if found[-1].lower < 0.95 * found[-1].upper:
            axes.plot(epochs, [f.lower for f in found], color=colour, label=f"{name}, lower end", linestyle="--")
    axes.set(xlabel="epochs (100 rounds each)", ylabel="epsilon at delta 1e-5 (zero-out)", yscale="log")
    axes.legend(fontsize="small")
    figure.savefig(PICTURES / "schemes.png", dpi=150)


def commands() -> None:
    """What gallery.md shows on the command line."""
    os.chdir(DOCS)
    page = (DOCS / "gallery.md").read_text(encoding="utf-8")
    for line in re.findall(r"^\$ dpcert ((?:.*\\\n)*.*?) > \S+$", page, re.MULTILINE):
        with redirect_stdout(StringIO()):
            run([word.replace("claims/", "../claims/") for word in shlex.split(line.replace("\\\n", " "))])


if __name__ == "__main__":
    PICTURES.mkdir(parents=True, exist_ok=True)
    claims()
    schemes()
    commands()
