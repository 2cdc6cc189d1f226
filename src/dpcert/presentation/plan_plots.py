"""What privacy costs in noise, drawn: against the cohort, and against the target for several sampling schemes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ..accounting.calibration.plan import NoisePlan
from ..accounting.calibration.plan_schemes import SchemeOption, SchemePlan
from ..mechanisms.digits import as_given
from .drawing import saved


def draw_plan(plan: NoisePlan, path: Path) -> None:
    """Noise on the mean against the cohort, one line a target; both axes logarithmic."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4.5), layout="constrained")
    axes = figure.add_subplot()
    for target in dict.fromkeys(entry.target_epsilon for entry in plan.options):
        line = [entry for entry in plan.options if entry.target_epsilon == target]
        noises = [entry.noise_on_mean * plan.clip_norm for entry in line]
        axes.loglog([entry.cohort for entry in line], noises, marker="o", label=f"epsilon {as_given(target)}")
    axes.set_xlabel("cohort")
    axes.set_ylabel("noise on the mean, standard deviation")
    axes.grid(which="both", alpha=0.3)
    axes.legend()
    saved(figure, path)


def draw_schemes(plan: SchemePlan, path: Path) -> None:
    """Noise against the target, a line a scheme; shaded down to what is needed at least."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4.5), layout="constrained")
    axes = figure.add_subplot()
    for name in dict.fromkeys(entry.scheme for entry in plan.options):
        line = _line(plan, name)
        across, noises = [entry.target_epsilon for entry in line], [entry.noise for entry in line]
        (drawn,) = axes.loglog(across, noises, marker="o", label=name)
        axes.fill_between(across, [entry.needed or 0.0 for entry in line], noises, color=drawn.get_color(), alpha=0.2)
    axes.set_xlabel("target epsilon")
    axes.set_ylabel("noise multiplier; shaded: where nobody knows")
    axes.grid(which="both", alpha=0.3)
    axes.legend()
    saved(figure, path)


def _line(plan: SchemePlan, scheme: str) -> Sequence[SchemeOption]:
    """A scheme's options that meet their target, by it."""
    found = (entry for entry in plan.options if entry.scheme == scheme and entry.calibration)
    return sorted(found, key=lambda entry: entry.target_epsilon)
