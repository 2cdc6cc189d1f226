"""What privacy costs in noise, drawn: against the cohort, and against the target for several sampling schemes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ..accounting.calibration.plan import NoisePlan
from ..accounting.calibration.plan_schemes import SchemeOption, SchemePlan
from ..mechanisms.digits import as_given
from .drawing import saved


def draw_plan(plan: NoisePlan, path: Path) -> None:
    """Noise on the mean against the cohort, one line per target; both axes logarithmic."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4.5), layout="constrained")
    axes = figure.add_subplot()
    for target in dict.fromkeys(entry.target_epsilon for entry in plan.options):
        line = [entry for entry in plan.options if entry.target_epsilon == target]
        noises = [entry.noise_on_mean * plan.clip_norm for entry in line]
        axes.loglog([entry.cohort for entry in line], noises, marker="o", label=f"epsilon {as_given(target)}")
    axes.set_xlabel("cohort (units per round)")
    axes.set_ylabel(f"noise on the mean (standard deviation, clip norm {as_given(plan.clip_norm)})")
    axes.grid(which="both", alpha=0.3)
    axes.legend()
    saved(figure, path)


def draw_schemes(plan: SchemePlan, path: Path) -> None:
    """Noise against the target, a line per scheme; dashed: what is needed at least, where that is less."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4.5), layout="constrained")
    axes = figure.add_subplot()
    for name in dict.fromkeys(entry.scheme for entry in plan.options):
        line = _line(plan, name)
        across, noises = [entry.target_epsilon for entry in line], [entry.noise for entry in line]
        (drawn,) = axes.loglog(across, noises, marker="o", label=name)
        needed = [
            (entry.target_epsilon, entry.needed) for entry in line if entry.needed and 1.01 * entry.needed < entry.noise
        ]
        if needed:
            axes.plot(*zip(*needed, strict=True), color=drawn.get_color(), linestyle="--", alpha=0.7)
    axes.set_xlabel("target epsilon")
    axes.set_ylabel("noise multiplier (dashed: with less, the target is missed)")
    axes.grid(which="both", alpha=0.3)
    axes.legend()
    saved(figure, path)


def _line(plan: SchemePlan, scheme: str) -> Sequence[SchemeOption]:
    """A scheme's options that meet their target, by it."""
    found = (entry for entry in plan.options if entry.scheme == scheme and entry.calibration)
    return sorted(found, key=lambda entry: entry.target_epsilon)
