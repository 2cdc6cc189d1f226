"""Lemma 4.3 and Theorem 4.2 attacked: one sampled round for both observers, and the limit against simulated runs."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from ....accounting.currencies.gdp import bu_mu, gdp_delta
from ....mechanisms.arrays import Floats
from ...auditing import approximate_dp, audit
from ..audited import judged
from ..row import Finding, Statement, on_instances
from .settings import FEMNIST
from .subsampling import sampled_profile

SIGMA, EPSILON, TRIALS, ALPHA = 0.65, 0.5, 60_000, 1e-4
ROUNDS, RUNS = 2500, 4000


def upload_seen(present: bool, rng: np.random.Generator, size: int) -> Floats:
    """The server's log likelihood ratio: of the upload where the client took part, 0 where it did not."""
    mu, taken = 1 / SIGMA, rng.random(size) < FEMNIST.rate
    x = rng.standard_normal(size) + mu * present
    return np.where(taken, mu * x - mu**2 / 2, 0.0)


def average_seen(present: bool, rng: np.random.Generator, size: int) -> Floats:
    """The log likelihood ratio of an average whose cohort is secret."""
    mu, rate = 1 / SIGMA, FEMNIST.rate
    x = rng.standard_normal(size) + mu * ((rng.random(size) < rate) & present)
    result: Floats = np.log1p(rate * np.expm1(mu * x - mu**2 / 2))
    return result


def audited_sample(statement: Statement) -> Finding:
    """An audit of one sampled round on FEMNIST, sigma = 0.65, against C_p(G_(1/sigma)) at epsilon = 0.5."""
    observers: dict[str, Callable[..., Floats]] = {"one upload": upload_seen, "the average": average_seen}
    mechanism = observers[statement.domain["observer sees"]]
    said = float(sampled_profile(1 / SIGMA, FEMNIST.rate, EPSILON).upper())
    claim = approximate_dp(EPSILON, said)
    result = audit(mechanism, (True, False), claim=claim, trials=TRIALS, seed=0, alpha=ALPHA)
    return judged(result, f"delta(0.5) = {said:.3g}", {"stated delta": said}, ALPHA)


def simulated_limit(statement: Statement) -> Finding:
    """delta(1) of 2500 simulated rounds at sigma = 1, p = 1/sqrt T, against that of the stated G_mu.

    Of the order Q against (1-p) Q + p P: delta is the mean of (1 - e^(1 - L))+ over runs of the second, L the log
    likelihood ratio of all rounds, with Hoeffding's interval at ALPHA. The tolerance covers the finite T.
    """
    rng, rate, total = np.random.default_rng(0), 1 / math.sqrt(ROUNDS), np.zeros(RUNS)
    for _ in range(ROUNDS):
        x = rng.standard_normal(RUNS) + (rng.random(RUNS) < rate)
        total += np.log1p(rate * np.expm1(x - 0.5))
    found = float(np.maximum(0.0, -np.expm1(np.minimum(0.0, 1 - total))).mean())
    reach = math.sqrt(math.log(2 / ALPHA) / (2 * RUNS))
    mu = bu_mu(1.0, rate, ROUNDS) * (math.sqrt(ROUNDS) if statement.claim["extra factor"] == "sqrt T" else 1.0)
    said = gdp_delta(mu, 1.0).upper
    holds = abs(found - said) <= reach + statement.domain["for the finite T"]
    text = f"delta(1) of the runs is {found:.3f}, within {reach:.3f}; that of G_mu is {said:.3f}"
    return Finding(
        holds,
        text,
        {"delta(1)": found, "half width": reach, "stated": said},
        error_probability=ALPHA,
        basis=on_instances(RUNS, "simulation"),
    )
