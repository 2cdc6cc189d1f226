"""The curve of the strongest attack: true-positive against false-positive rates, with the band that is certified."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np

from ..accounting.currencies.risk import Risk
from ..accounting.currencies.risk_picture import allowed
from ..proofs_checks.verification.band import GAUSSIANS
from .drawing import saved

SMALLEST = 1e-8


def draw(found: Risk, path: Path, tangent: tuple[float, float] | None) -> None:
    """Draw the band, Gaussian curves and, of a claim, the two lines that it promises."""
    from matplotlib.figure import Figure
    from scipy.special import ndtr, ndtri

    rates = np.geomspace(SMALLEST, 0.5, 81)
    powers = [found.curve.power(float(rate)) for rate in rates]
    figure = Figure(figsize=(7, 5), layout="constrained")
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
    axes.set_xlabel("false-positive rate of the attack")
    axes.set_ylabel("true-positive rate of the attack")
    axes.set_title(f"The strongest attack; advantage at most {math.ceil(found.advantage.upper * 1e4) / 1e4:g}")
    axes.legend(loc="lower right", fontsize=8)
    saved(figure, path)
