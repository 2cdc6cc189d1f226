"""What dpcert says beside epsilon, and the peers that say it too, in one run: values, CPU times, and ratios.

Renyi divergences of one order and epsilon by Renyi divergences against dp-accounting; the Gaussian curve that fits
best against gdpnum; trade-off curves at 100 error rates, and the noise for two error rates, against riskcal. Each call
is a user's, of a run that was not asked about before; ours and the peer's by turns, so that both see the same load. A
number is a median of process CPU time: compare the ratios.

    .venv-bench/bin/python -m pip install -r benchmarks/requirements.txt
    .venv-bench/bin/python benchmarks/currencies.py
"""

from __future__ import annotations

import argparse
import itertools
import logging
import statistics
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from dpcert import calibrate_risk, epsilon, gaussian_fit, renyi, tradeoff
from dpcert.mechanisms import Gaussian, Poisson, Repeat

RENYI = [(0.1, 0.01, 128), (0.3, 0.01, 32), (1, 0.01, 8), (1, 0.01, 256), (4, 0.5, 16), (1, 0.01, 2.5)]
"""Noise multiplier, rate and order, of 100 rounds."""

RDP = [(1, 1e-5, 50_000), (0.7, 1e-5, 50_000), (0.8, 0.001, 100), (1, 0.01, 10_000), (4, 0.5, 1000)]
RUNS = [(1, 0.01, 1000), (1, 0.01, 10_000), (2, 0.05, 500), (0.8, 0.002, 2000), (1, 0.01, 100)]
"""Noise multiplier, rate and rounds."""

TARGETS = [(0.002, 2000), (0.01, 100), (0.01, 1000), (0.05, 500)]
"""Rate and rounds, of at most a true-positive rate of .1 at a false-positive rate of .01."""

RATES = np.linspace(0.005, 0.995, 100)
DELTA, TPR, FPR = 1e-5, 0.1, 0.01

_nudges = itertools.count(1)


def noise(multiplier: float) -> Gaussian:
    """Another one each time, by less than any answer shows: nothing is remembered."""
    return Gaussian(multiplier * (1 + next(_nudges) * 1e-10))


def run(multiplier: float, rate: float, rounds: int) -> Repeat:
    return Repeat(Poisson(noise(multiplier), rate), rounds)


@dataclass(frozen=True)
class Row:
    """One comparison: what is asked, and who answers."""

    asked: str
    setting: str
    ours: Callable[[], str]
    peer: Callable[[], str]


def of_one_order() -> Iterator[Row]:
    import dp_accounting
    from dp_accounting.rdp import RdpAccountant

    for z, q, order in RENYI:

        def peer(z: float = z, q: float = q, order: float = order) -> str:
            ledger = RdpAccountant([order])
            event = dp_accounting.PoissonSampledDpEvent(q, dp_accounting.GaussianDpEvent(z))
            ledger.compose(dp_accounting.SelfComposedDpEvent(event, 100))
            return f"{ledger._rdp[0]:.8g}"

        yield Row(
            "Renyi divergence, 100 rounds (dp-accounting)",
            f"{z}, {q}, order {order}",
            lambda z=z, q=q, order=order: f"{renyi(run(z, q, 100), order).upper:.8g}",
            peer,
        )


def by_renyi() -> Iterator[Row]:
    import dp_accounting
    from dp_accounting.rdp import RdpAccountant

    for z, q, rounds in RDP:

        def peer(z: float = z, q: float = q, rounds: int = rounds) -> str:
            ledger = RdpAccountant()
            event = dp_accounting.PoissonSampledDpEvent(q, dp_accounting.GaussianDpEvent(z))
            ledger.compose(dp_accounting.SelfComposedDpEvent(event, rounds))
            return f"{ledger.get_epsilon(DELTA):.5g}"

        for name in ("rdp", "best"):
            yield Row(
                f"epsilon at {DELTA:g}, accountant {name} (dp-accounting's RDP)",
                f"{z}, {q}, {rounds}",
                lambda z=z, q=q, n=rounds, name=name: f"{epsilon(run(z, q, n), DELTA, accountant=name).upper:.5g}",
                peer,
            )


def fits() -> Iterator[Row]:
    from gdpnum.dpsgd import get_mu_and_regret_for_dpsgd

    for z, q, rounds in RUNS:

        def ours(z: float = z, q: float = q, rounds: int = rounds) -> str:
            found = gaussian_fit(run(z, q, rounds))
            return f"{found.mu.upper:.5g}, {found.off.upper:.2g}"

        yield Row(
            "mu, and how far off it is (gdpnum)",
            f"{z}, {q}, {rounds}",
            ours,
            lambda z=z, q=q, n=rounds: "{:.5g}, {:.2g}".format(*get_mu_and_regret_for_dpsgd(z, q, n)),
        )


def curves() -> Iterator[Row]:
    from riskcal.calibration.dpsgd import get_beta_for_dpsgd

    for z, q, rounds in RUNS:
        yield Row(
            "true-positive rates at 100 false-positive rates, the tenth one's (riskcal)",
            f"{z}, {q}, {rounds}",
            lambda z=z, q=q, n=rounds: f"{1 - tradeoff(run(z, q, n)).betas(RATES)[9].lower:.6g}",
            lambda z=z, q=q, n=rounds: f"{1 - get_beta_for_dpsgd(z, q, n, RATES)[9]:.6g}",
        )


def noises() -> Iterator[Row]:
    from riskcal.calibration.dpsgd import find_noise_multiplier_for_err_rates

    for q, rounds in TARGETS:

        def ours(q: float = q, rounds: int = rounds) -> str:
            def build(z: float) -> Repeat:
                return Repeat(Poisson(Gaussian(z), q), rounds)

            target = TPR * (1 + next(_nudges) * 1e-9)
            return f"{calibrate_risk(build, solve_for='noise_multiplier', tpr=target, fpr=FPR).value:.5g}"

        yield Row(
            f"noise for a true-positive rate of {TPR} at {FPR} (riskcal)",
            f"{q}, {rounds}",
            ours,
            lambda q=q, n=rounds: f"{find_noise_multiplier_for_err_rates(FPR, 1 - TPR, q, n):.5g}",
        )


PARTS = {"renyi": of_one_order, "rdp": by_renyi, "fit": fits, "curve": curves, "calibrate": noises}


def timed(call: Callable[[], str]) -> tuple[str, float]:
    start = time.process_time()
    value = call()
    return value, time.process_time() - start


def measured(row: Row, repeats: int) -> tuple[str, float, str, float]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        both = [(timed(row.ours), timed(row.peer)) for _ in range(repeats + 1)][1:]  # the first one imports
    ours, peers = zip(*both, strict=True)
    times = [statistics.median(seconds for _, seconds in found) for found in (ours, peers)]
    return ours[0][0], times[0], peers[0][0], times[1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", choices=[[], *PARTS], default=[], help="which comparisons; all of them")
    parser.add_argument("--repeats", type=int, default=5, help="timed calls of each")
    arguments = parser.parse_args()
    logging.disable(logging.WARNING)
    for part in arguments.parts or PARTS:
        print(
            "\n| asked (of whom) | noise, rate, rounds | ours | ms | theirs | ms | ours / theirs |\n" + "|---" * 7 + "|"
        )
        for row in PARTS[part]():
            value, own, theirs, peer = measured(row, arguments.repeats)
            cells = (
                row.asked,
                row.setting,
                value,
                f"{1e3 * own:.2f}",
                theirs,
                f"{1e3 * peer:.2f}",
                f"{own / peer:.2f}",
            )
            print(f"| {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
