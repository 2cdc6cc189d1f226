"""Times and widths of `epsilon` on random settings of every regime, with one phase and with three.

    python benchmarks/regimes.py [--number N] [--seed S] [--rtol R] [--only REGIME] [--phases 1 3] [--list MS]

A table, one row a regime and number of phases: CPU times, and the brackets' relative widths (docs/benchmarks.md).
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from dpcert.accounting import Bracket, epsilon
from dpcert.mechanisms import Gaussian, Mechanism, Neighbouring, Poisson, Repeat, Sequence


@dataclass(frozen=True)
class Regime:
    """Log-uniform ranges; rounds: at most 1e7, and such that rate * rounds is in `jumps` where that is possible."""

    name: str
    rate: tuple[float, float]
    jumps: tuple[float, float]
    relation: Neighbouring


REGIMES = [
    Regime(f"{name}, {relation}", rate, jumps, relation)
    for relation in ("add-remove", "replace-one", "zero-out")
    for name, rate, jumps in (
        ("tiny rates", (1e-8, 1e-6), (1e-8, 10.0)),
        ("small rates, rare", (1e-6, 1e-3), (1e-6, 1.0)),
        ("small rates, many rounds", (1e-6, 1e-3), (1.0, 1e4)),
        ("rates, rare", (1e-3, 1e-1), (1e-3, 1.0)),
        ("DP-SGD", (1e-3, 1.0), (1.0, 1e7)),
    )
]


@dataclass(frozen=True)
class Setting:
    """Phases of (noise multiplier, rate, rounds), a delta and a relation."""

    phases: tuple[tuple[float, float, int], ...]
    delta: float
    relation: Neighbouring

    @property
    def run(self) -> Mechanism:
        """The run as a user would describe it."""
        parts = [Repeat(_round(noise, rate), rounds) for noise, rate, rounds in self.phases]
        return parts[0] if len(parts) == 1 else Sequence(tuple(parts))


def _round(noise: float, rate: float) -> Mechanism:
    return Gaussian(noise) if rate >= 1.0 else Poisson(Gaussian(noise), rate)


def _log_uniform(generator: random.Random, low: float, high: float) -> float:
    return float(f"{low * (high / low) ** generator.random():.3g}")


def settings(regime: Regime, phases: int, number: int, seed: int) -> list[Setting]:
    """Random settings of a regime: noise multipliers .3 to 50, rounds 1 to 1e7, delta 1e-3 to 1e-20."""
    generator, found = random.Random(f"{seed} {regime.name} {phases}"), []
    for _ in range(number):
        parts = []
        for _ in range(phases):
            rate = _log_uniform(generator, *regime.rate)
            low, high = (min(1e7, max(1.0, jumps / rate)) for jumps in regime.jumps)
            parts.append((_log_uniform(generator, 0.3, 50.0), rate, int(_log_uniform(generator, low, high))))
        found.append(Setting(tuple(parts), _log_uniform(generator, 1e-20, 1e-3), regime.relation))
    return found


def timed(setting: Setting, **options: Any) -> tuple[float, Bracket | Exception]:
    """CPU seconds and the bracket, or why there is none."""
    run = setting.run
    start = time.process_time()
    try:
        found: Bracket | Exception = epsilon(run, setting.delta, setting.relation, **options)
    except Exception as failure:
        found = failure
    return time.process_time() - start, found


HEAD = """| regime | phases | median / 90% / 99% / most, ms | above 1 s | width: median | most | above rtol |
|---|---|---|---|---|---|---|"""


def row(regime: Regime, phases: int, found: list[tuple[float, Bracket | Exception]], rtol: float) -> str:
    """One row of the table. A run without a bracket counts as infinitely wide."""
    times = sorted(1e3 * seconds for seconds, _ in found)
    widths = sorted(_width(bracket) for _, bracket in found)
    at = [times[min(len(times) - 1, int(share * len(times)))] for share in (0.5, 0.9, 0.99)]
    slow, wide = sum(each > 1e3 for each in times), sum(width > 1.01 * rtol for width in widths)
    return (
        f"| {regime.name} | {phases} | {at[0]:.1f} / {at[1]:.0f} / {at[2]:.0f} / {times[-1]:.0f} | {slow}"
        f" | {widths[len(widths) // 2]:.0e} | {widths[-1]:.0e} | {wide} of {len(found)} |"
    )


def _width(found: Bracket | Exception) -> float:
    """Relative to the upper end."""
    if isinstance(found, Exception) or found.upper == float("inf"):
        return float("inf")
    return found.width / found.upper if found.upper else 0.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--number", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rtol", type=float, default=1e-6)
    parser.add_argument("--only", default="", metavar="TEXT", help="regimes with this text in their name")
    parser.add_argument("--phases", type=int, nargs="*", default=[1, 3])
    parser.add_argument("--list", type=float, default=float("inf"), metavar="MS", help="show what takes longer")
    options = parser.parse_args()
    import_module("scipy.optimize")  # accountants import it where they first need it
    timed(Setting(((1.0, 0.01, 10),), 1e-5, "add-remove"))
    print(HEAD, flush=True)
    for regime in REGIMES:
        for phases in options.phases if options.only in regime.name else ():
            found = []
            for setting in settings(regime, phases, options.number, options.seed):
                found.append(timed(setting, rtol=options.rtol))
                if 1e3 * found[-1][0] > options.list:
                    print(f"{1e3 * found[-1][0]:.0f} ms", setting, found[-1][1], file=sys.stderr, flush=True)
            print(row(regime, phases, found, options.rtol), flush=True)


if __name__ == "__main__":
    main()
