"""The figure of docs/how-to/shuffled.md: epsilon against noise, of shuffled batches and of what they are taken for.

python tests/guides/shuffled_figure.py docs/figures/shuffled-epsilon.png     # a minute of CPU; needs dpcert[report]
"""

from __future__ import annotations

import sys

import matplotlib
import numpy as np

from dpcert import Gaussian, Poisson, Repeat, Shuffled, epsilon

BATCHES, EPOCHS, DELTA = 100, 20, 1e-5
NOISE = np.geomspace(0.7, 8.0, 15).tolist()


def main(path: str) -> None:
    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(7.2, 4.4))
    shuffled = [
        epsilon(Repeat(Shuffled(Gaussian(z), BATCHES, BATCHES), EPOCHS), DELTA, "zero-out", rtol=1e-3) for z in NOISE
    ]
    alone = [epsilon(Repeat(Gaussian(z), EPOCHS), DELTA, "zero-out").upper for z in NOISE]
    coins = [
        epsilon(Repeat(Poisson(Gaussian(z), 1 / BATCHES), BATCHES * EPOCHS), DELTA, "zero-out").upper for z in NOISE
    ]
    lower, upper = [found.lower for found in shuffled], [found.upper for found in shuffled]
    axes.plot(NOISE, alone, "--", color="0.4", label="order known: no amplification (earlier upper end)")
    axes.plot(NOISE, upper, color="C0", label="shuffled batches: certified upper end")
    axes.plot(NOISE, lower, color="C3", label="shuffled batches: attained by an attacker")
    axes.fill_between(NOISE, lower, upper, color="C0", alpha=0.15, label="the truth is in here")
    axes.plot(NOISE, coins, ":", color="k", label="Poisson cohorts: what most accountants print")
    axes.set(xscale="log", yscale="log", xlabel="noise multiplier", ylabel=f"epsilon at delta = {DELTA:g}")
    axes.set_xticks([0.7, 1, 2, 4, 8], ["0.7", "1", "2", "4", "8"])
    axes.set_yticks([0.1, 0.3, 1, 3, 10, 30], ["0.1", "0.3", "1", "3", "10", "30"])
    axes.minorticks_off()
    axes.set_title(f"{BATCHES} batches per epoch, {EPOCHS} epochs, zero-out", fontsize=11)
    axes.legend(fontsize=8, frameon=False)
    axes.grid(alpha=0.2)
    figure.tight_layout()
    figure.savefig(path, dpi=130)


if __name__ == "__main__":
    main(sys.argv[1])
