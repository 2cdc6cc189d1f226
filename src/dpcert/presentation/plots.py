"""--plot FILE: whether something can be drawn there, and what is: noise, the strongest attack, a run of training."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..mechanisms import InputError
from ..mechanisms.digits import as_given
from ..mechanisms.paths import place_for
from ..mechanisms.validate import lacks

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ..accounting.calibration.plan import NoisePlan
    from ..accounting.calibration.plan_schemes import SchemeOption, SchemePlan
    from ..accounting.currencies.risk import Risk

SMALLEST = 1e-8
"""The least false-positive rate that is drawn."""

PANELS = {
    "loss": {"train_loss": "training loss", "test_loss": "test loss"},
    "accuracy (share)": {"train_accuracy": "training accuracy", "test_accuracy": "test accuracy"},
    "epsilon (upper bound)": {"epsilon_upper": "certified upper bound"},
}
"""What is drawn of a run: the axis' label, and what its lines are called, by their keys in the records."""


def drawable(path: Path | None) -> None:
    """InputError, before any work, where nothing could be drawn into that file."""
    if path is None:
        return
    try:
        from matplotlib.backend_bases import FigureCanvasBase
    except ImportError:
        raise lacks("`--plot`", "matplotlib", "dpcert[report]") from None
    known = sorted(FigureCanvasBase.get_supported_filetypes())
    if path.suffix.lstrip(".").lower() not in known:
        raise InputError("--plot", str(path), "an image file: " + ", ".join("." + name for name in known))
    place_for("--plot", path)


@contextmanager
def _drawing(path: Path, width: float, height: float) -> Iterator[Figure]:
    """A figure of this size in inches, which is in its file afterwards."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    yield figure
    try:
        figure.savefig(path, dpi=150)
    except (OSError, ValueError) as problem:
        raise InputError("--plot", str(path), f"an image file that can be written ({problem})") from None


@contextmanager
def _noises(path: Path, **labels: str) -> Iterator[Axes]:
    """One panel with lines of noise that are to be compared."""
    with _drawing(path, 7, 4.5) as figure:
        axes = figure.add_subplot()
        yield axes
        axes.set(**labels)
        axes.grid(which="both", alpha=0.3)
        axes.legend()


def draw_plan(plan: NoisePlan, path: Path) -> None:
    """Noise on the mean against the cohort, one line per target; both axes logarithmic."""
    noise = f"noise on the mean (standard deviation, clip norm {as_given(plan.clip_norm)})"
    with _noises(path, xlabel="cohort (units per round)", ylabel=noise) as axes:
        for target in dict.fromkeys(entry.target_epsilon for entry in plan.options):
            line = [entry for entry in plan.options if entry.target_epsilon == target]
            noises = [entry.noise_on_mean * plan.clip_norm for entry in line]
            axes.loglog([entry.cohort for entry in line], noises, marker="o", label=f"epsilon {as_given(target)}")


def draw_schemes(plan: SchemePlan, path: Path) -> None:
    """Noise against the target, a line per scheme; dashed: what is needed at least, where that is less."""
    noise = "noise multiplier (dashed: with less, the target is missed)"
    with _noises(path, xlabel="target epsilon", ylabel=noise) as axes:
        for name in dict.fromkeys(entry.scheme for entry in plan.options):
            line = _line(plan, name)
            across, noises = [entry.target_epsilon for entry in line], [entry.noise for entry in line]
            (drawn,) = axes.loglog(across, noises, marker="o", label=name)
            less = [entry for entry in line if entry.needed and 1.01 * entry.needed < entry.noise]
            targets, needed = [entry.target_epsilon for entry in less], [entry.needed or 0.0 for entry in less]
            axes.plot(targets, needed, color=drawn.get_color(), linestyle="--", alpha=0.7)


def _line(plan: SchemePlan, scheme: str) -> Sequence[SchemeOption]:
    """A scheme's options that meet their target, by it."""
    found = (entry for entry in plan.options if entry.scheme == scheme and entry.calibration)
    return sorted(found, key=lambda entry: entry.target_epsilon)


def draw_risk(found: Risk, path: Path, tangent: tuple[float, float] | None) -> None:
    """Draw the band, Gaussian curves and, of a claim, the two lines that it promises."""
    import numpy as np
    from scipy.special import ndtr, ndtri

    from ..accounting.currencies.risk_picture import allowed
    from ..proofs_checks.verification.exposure import GAUSSIANS

    rates = np.geomspace(SMALLEST, 0.5, 81)
    powers = [found.curve.power(float(rate)) for rate in rates]
    with _drawing(path, 7, 5) as figure:
        axes = figure.add_subplot()
        for mu in GAUSSIANS:
            curve = ndtr(ndtri(rates) + mu)
            axes.plot(rates, curve, color="0.8", linewidth=1)
            axes.annotate(f"mu = {mu:g}", (rates[2], curve[2]), color="0.5", fontsize=8, va="bottom")
        axes.plot(rates, rates, color="0.6", linestyle=":", label="guessing")
        low, high = [power.lower for power in powers], [power.upper for power in powers]
        axes.fill_between(rates, low, high, alpha=0.35, color="tab:blue", label="certified band")
        axes.plot(rates, high, color="tab:blue", linewidth=1)
        if tangent is not None:
            epsilon, delta = tangent
            line = [allowed(float(rate), epsilon, delta) for rate in rates]
            axes.plot(rates, line, color="tab:red", linestyle="--", label=f"claimed ({epsilon:g}, {delta:g})")
        axes.set(xscale="log", yscale="log", ylim=(SMALLEST, 1.2), xlim=(SMALLEST, 0.5))
        axes.set(xlabel="false-positive rate of the attack", ylabel="true-positive rate of the attack")
        axes.set_title(f"The strongest attack; advantage at most {math.ceil(found.advantage.upper * 1e4) / 1e4:g}")
        axes.legend(loc="lower right", fontsize=8)


def draw_run(history: Sequence[dict[str, Any]], path: Path, title: str) -> None:
    """Losses, accuracies and the certified epsilon by round, as far as the records have them."""
    known = {label: [key for key in lines if history[-1].get(key) is not None] for label, lines in PANELS.items()}
    panels = {label: keys for label, keys in known.items() if keys}
    if not panels:
        raise InputError("--plot", str(path), "something to draw: nobody was evaluated, and there is no noise")
    with _drawing(path, 7, 2.2 * len(panels) + 0.6) as figure:
        rows = figure.subplots(len(panels), squeeze=False)[:, 0]
        for axes, (label, keys) in zip(rows, panels.items(), strict=True):
            for key in keys:
                values = [entry[key] for entry in history]
                axes.plot([entry["round"] for entry in history], values, marker=".", label=PANELS[label][key])
            axes.set(ylabel=label, xlabel="round")
            axes.legend(fontsize="small")
        figure.suptitle(title, fontsize="medium")


def draw_gap(history: Sequence[dict[str, Any]], path: Path, title: str) -> None:
    """MOCHA: the duality gap and the bounds on the optimum by round."""
    rounds = [entry["round"] for entry in history]
    with _drawing(path, 7, 5) as figure:
        above, below = figure.subplots(2, sharex=True)
        for key in ("primal", "dual"):
            above.plot(rounds, [entry[key] for entry in history], marker=".", label=key)
        above.set_ylabel("bounds on the optimum")
        above.legend(fontsize="small")
        below.plot(rounds, [entry["gap"] for entry in history], marker=".")
        below.set(yscale="log", ylabel="duality gap", xlabel="round")
        figure.suptitle(title, fontsize="medium")
