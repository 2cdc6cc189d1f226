"""One run of training by round."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..mechanisms import InputError
from .drawing import drawable, saved

LOSSES = {"train_loss": "training loss", "test_loss": "test loss"}
LABELS = {"loss": "loss", "accuracy": "accuracy (share)", "epsilon": "epsilon (upper bound)"}
ACCURACIES = {"train_accuracy": "training accuracy", "test_accuracy": "test accuracy"}


def check_plot(path: Path | None) -> None:
    """InputError, before any training, where matplotlib is missing or the file's folder or kind is."""
    if path is not None:
        drawable(path)


def draw_run(history: Sequence[dict[str, Any]], path: Path, title: str) -> None:
    """Losses, accuracies and the certified epsilon by round, as far as the records have them."""
    from matplotlib.figure import Figure

    panels = [
        (name, kept)
        for name, lines in (
            ("loss", LOSSES),
            ("accuracy", ACCURACIES),
            ("epsilon", {"epsilon_upper": "certified upper bound"}),
        )
        if (kept := {key: label for key, label in lines.items() if history[-1].get(key) is not None})
    ]
    if not panels:
        raise InputError("--plot", str(path), "something to draw: nobody was evaluated, and there is no noise")
    figure = Figure(figsize=(7, 2.2 * len(panels) + 0.6), layout="constrained")
    for axes, (name, lines) in zip(figure.subplots(len(panels), squeeze=False)[:, 0], panels, strict=True):
        for key, label in lines.items():
            axes.plot([entry["round"] for entry in history], [entry[key] for entry in history], marker=".", label=label)
        axes.set_ylabel(LABELS[name])
        axes.legend(fontsize="small")
        axes.set_xlabel("round")
    figure.suptitle(title, fontsize="medium")
    saved(figure, path)


def draw_gap(history: Sequence[dict[str, Any]], path: Path, title: str) -> None:
    """MOCHA: the duality gap and the bounds on the optimum by round."""
    from matplotlib.figure import Figure

    rounds = [entry["round"] for entry in history]
    figure = Figure(figsize=(7, 5), layout="constrained")
    above, below = figure.subplots(2, sharex=True)
    for key in ("primal", "dual"):
        above.plot(rounds, [entry[key] for entry in history], marker=".", label=key)
    above.set_ylabel("bounds on the optimum")
    above.legend(fontsize="small")
    below.plot(rounds, [entry["gap"] for entry in history], marker=".")
    below.set(yscale="log", ylabel="duality gap", xlabel="round")
    figure.suptitle(title, fontsize="medium")
    saved(figure, path)
