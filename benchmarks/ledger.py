"""What accounting costs inside a training loop: `python benchmarks/ledger.py [--rounds N]`, CPU time of this process.

compose: recording a round in memory. running epsilon: after every round, noise multipliers and cohorts changing among
100 combinations, or both new in every round, without or with noise that only decreases. SQLite: a durable record.
Individual budgets: charging cohorts out of ten million clients.
"""

from __future__ import annotations

import argparse
import random
import statistics
import tempfile
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import numpy as np

from dpcert.accounting.ledger import IndividualBudgets, Ledger, RunningEpsilon
from dpcert.mechanisms import Gaussian, Mechanism, Poisson

DELTA = 1e-5
CLIENTS = 10_000_000
COHORT = 100_000


def seconds(work: Callable[[], object]) -> float:
    """CPU seconds of one call."""
    started = time.process_time()
    work()
    return time.process_time() - started


def changing(k: int) -> Mechanism:
    """One of 100 combinations of noise multiplier and cohort."""
    return Poisson(Gaussian(1.0 + 0.05 * (k % 10)), 0.005 + 0.001 * (k // 10 % 10))


def new_each_round(k: int) -> Mechanism:
    """Noise and cohort drawn at random: never the same twice."""
    draws = random.Random(k)
    return Poisson(Gaussian(1.0 + draws.random()), 0.005 + 0.005 * draws.random())


def decaying(k: int) -> Mechanism:
    """Less noise in every round than in any before, the hardest case, and a cohort that varies at random."""
    return Poisson(Gaussian(2.0 - 1e-4 * k), 0.005 + 0.005 * random.Random(k).random())


def running(step: Callable[[int], Mechanism], rounds: int) -> tuple[float, float]:
    """(seconds a round on average, median over the last hundred rounds) of recording and reading every round."""
    cost, times = RunningEpsilon(DELTA), []
    for k in range(rounds):
        mechanism = step(k)
        times.append(seconds(lambda mechanism=mechanism: (cost.record(mechanism), cost.epsilon())))
    return statistics.fmean(times), statistics.median(times[-100:])


def compose(ledger: Ledger, rounds: int) -> float:
    """Seconds a recorded round."""
    steps = [changing(k) for k in range(100)]
    return seconds(lambda: [ledger.record(steps[k % 100]) for k in range(rounds)]) / rounds


def individual() -> tuple[float, float]:
    """(client updates a second, peak MiB) of charging ten cohorts of 100,000 out of 10,000,000 clients."""
    random_state = np.random.default_rng(0)
    cohorts = [random_state.choice(CLIENTS, COHORT, replace=False) for _ in range(10)]
    tracemalloc.start()
    budgets = IndividualBudgets(CLIENTS, 1.0)
    budgets.charge(cohorts[0], 0.01)
    peak = tracemalloc.get_traced_memory()[1] / 2**20
    tracemalloc.stop()
    spent = seconds(lambda: [budgets.charge(cohort, 0.01) for cohort in cohorts])
    return len(cohorts) * COHORT / spent, peak


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=10_000, help="Rounds of the loops with running epsilon.")
    rounds = parser.parse_args().rounds
    print(f"compose, in memory            {1e6 * compose(Ledger(), 100_000):10.1f} us a round")
    with tempfile.TemporaryDirectory() as folder:
        print(f"compose, SQLite, synced       {1e6 * compose(Ledger(Path(folder) / 'ledger'), 500):10.1f} us a round")
    for name, step in (("100 combinations", changing), ("new each round", new_each_round), ("decaying", decaying)):
        average, last = running(step, rounds)
        print(f"running epsilon, {name:16} {1e3 * last:7.2f} ms after {rounds} rounds, {1e3 * average:.2f} on average")
    rate, peak = individual()
    print(f"individual budgets            {rate:10.3g} updates a second, {peak:.0f} MiB for {CLIENTS:,} clients")


if __name__ == "__main__":
    main()
