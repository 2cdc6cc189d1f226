"""The paper's Figure 3, its trade-off curves by the central limit theorem, beside certified ones.

    python tests/guides/dpfedmtl_figure3.py docs/figures/dpfedmtl-figure3.png [--quick]

For each sigma of Table 3 and the paper's two settings:
- the limit G_mu, mu = p sqrt(T (e^(1/sigma^2) - 1)), which the paper plots: an estimate;
- the certified curve of the mechanism that it is the limit of: sigma the noise multiplier of the sum, secret Poisson
  coins, add-remove neighbours, the reading kindest to the paper;
- the certified curve of what Algorithm 1, with the clipping that it supposes, shows its server (clipped.py) at the
  largest sigma. With the others it is the same to the eye.
A minute of CPU; --quick, two of the four sigmas at few errors, five seconds.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import ndtr, ndtri

from dpcert.accounting.tradeoff import TradeOff, tradeoff
from dpcert.mechanisms import Gaussian, InputError, Poisson, Repeat
from dpcert.mechanisms.arrays import Floats
from dpcert.trainers.dpfedmtl.claimed import claimed_mu
from dpcert.trainers.dpfedmtl.clipped import DpFedMtlClipped

SIGMAS = (0.11, 0.65, 2.42, 9.69)
COLOURS = ("tab:red", "tab:orange", "tab:green", "tab:purple")
POINTS = 61
QUICK_SIGMAS, QUICK_POINTS = (0.65, 9.69), 13
USAGE = "usage: python tests/guides/dpfedmtl_figure3.py FILE.png [--quick]"


@dataclass(frozen=True, slots=True)
class Setting:
    """One panel: K of M clients a round, T rounds (section 6.1, Table 1)."""

    name: str
    population: int
    cohort: int
    rounds: int

    @property
    def rate(self) -> float:
        """p = K/M."""
        return self.cohort / self.population


SETTINGS = (Setting("CelebA", 9343, 20, 400), Setting("FEMNIST", 174, 3, 1000))


def limit(setting: Setting, sigma: float, alphas: Floats) -> Floats:
    """(n,) type II errors of G_mu at type I errors `alphas`."""
    return np.asarray(ndtr(ndtri(1 - alphas) - claimed_mu(sigma, setting.rate, setting.rounds)))


@functools.cache
def _certified(setting: Setting, sigma: float) -> TradeOff:
    return tradeoff(Repeat(Poisson(Gaussian(sigma), setting.rate), setting.rounds), "add-remove")


def certified(setting: Setting, sigma: float, alphas: Floats) -> Floats:
    """(2, n): lower and upper ends, with sigma as the noise multiplier of the sum."""
    return _ends(_certified(setting, sigma), alphas)


def shown_to_the_server(setting: Setting, sigma: float, alphas: Floats) -> Floats:
    """(2, n): lower and upper ends of what the clipped listing's uploads tell."""
    multiplier = DpFedMtlClipped().noise_multiplier(sigma, setting.cohort, setting.population)
    run = Repeat(Poisson(Gaussian(multiplier), setting.rate), setting.rounds)
    return _ends(tradeoff(run, "replace-one", participation="visible"), alphas)


def _ends(curve: TradeOff, alphas: Floats) -> Floats:
    return np.array([(bracket.lower, bracket.upper) for bracket in curve.betas(alphas.tolist())]).T


def draw(file: str | Path, sigmas: tuple[float, ...], points: int) -> Path:
    """Draw the paper's axes above, and below the small errors that an epsilon at a small delta is about.

    Raises InputError without matplotlib.
    """
    try:
        import matplotlib as mpl
    except ImportError as error:
        raise InputError("figure", "matplotlib is not installed", "pip install 'dpcert[report]'") from error
    mpl.use("Agg")
    from matplotlib import pyplot

    figure, panels = pyplot.subplots(2, len(SETTINGS), figsize=(10, 9))
    for (above, below), setting in zip(panels.T, SETTINGS, strict=True):
        title = f"{setting.name}: {setting.cohort} of {setting.population}, {setting.rounds} rounds"
        above.set_title(title, fontsize="small")
        _panel(above, setting, sigmas, np.linspace(0, 1, points) ** 2, lambda errors: errors)
        above.set(xlabel="type I error", ylabel="type II error", xlim=(-0.01, 1), ylim=(-0.01, 1))
        _panel(below, setting, sigmas, np.logspace(-8, 0, points), lambda errors: 1 - errors)
        below.set(xlabel="type I error", ylabel="power, 1 - type II error", xlim=(1e-8, 1), ylim=(1e-8, 1.5))
        below.set(xscale="log", yscale="log")
    handles, labels = panels[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="lower center", ncols=5, fontsize="x-small", frameon=False)
    figure.tight_layout(rect=(0, 0.05, 1, 1))
    figure.savefig(file, dpi=75)
    pyplot.close(figure)
    return Path(file)


def _panel(
    axes: Any, setting: Setting, sigmas: tuple[float, ...], alphas: Floats, shown: Callable[[Floats], Floats]
) -> None:
    """shown: what is drawn of the type II errors."""
    for sigma in sigmas:
        colour = COLOURS[SIGMAS.index(sigma)]
        lower, upper = (shown(end) for end in certified(setting, sigma, alphas))
        axes.fill_between(alphas, lower, upper, color=colour, alpha=0.3, linewidth=0)
        axes.plot(alphas, lower, color=colour, linewidth=1.2, label=f"certified, sigma = {sigma:g}")
        axes.plot(
            alphas,
            shown(limit(setting, sigma, alphas)),
            "--",
            color=colour,
            linewidth=1.2,
            label=f"limit, sigma = {sigma:g}",
        )
    told = f"Algorithm 1, to its server, {sigmas[-1]:g}"
    server = shown(shown_to_the_server(setting, sigmas[-1], alphas)[1])
    axes.plot(alphas, server, ":", color="black", linewidth=2.4, label=told)
    axes.plot(alphas, shown(1 - alphas), color="tab:blue", linewidth=0.8, label="nothing to tell")


def main(arguments: list[str]) -> int:
    """Draw into the named file."""
    files = [argument for argument in arguments if argument != "--quick"]
    if len(files) != 1 or files[0].startswith("--"):
        print(USAGE, file=sys.stderr)
        return 2
    quick = "--quick" in arguments
    print(draw(files[0], QUICK_SIGMAS if quick else SIGMAS, QUICK_POINTS if quick else POINTS))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
