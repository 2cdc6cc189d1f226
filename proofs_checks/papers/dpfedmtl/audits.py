"""Section 4 attacked: one round, one sampled round, whole runs, and the limit of many rounds, simulated.

One round (Lemma 4.2). As printed: K of M clients each add N(0, sigma^2 S^2) to their gradient, S = 2 C K / M, and the
server averages; Lemma 4.2 claims (1/sigma)-GDP for a participating client. Replacing one client moves the average by
2C/K, the noise on it is sigma S / sqrt K: mu = M / (sigma K^1.5), which exceeds 1/sigma whenever M > K^1.5. Besides,
the algorithm contains no clipping. Corrected: clipped, and S = 2C.
One sampled round (Lemma 4.3) and whole runs (Theorem 4.1) for both observers of section 3.3. The attacked client's
gradient is +C or -C, everybody else's 0. What an audit gets of a run is the log likelihood ratio of all that the
observer saw, the best test there is.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from numpy.random import Generator

from ....accounting.currencies.gdp import bu_mu, gdp_delta
from ....mechanisms.arrays import Floats
from ...auditing import approximate_dp, audit, gdp
from ..measured import by_audit
from ..row import Finding, Statement, on_instances, resting_on
from .composition import actual_epsilon, claimed_epsilon, multiplier
from .settings import DELTA, FEMNIST
from .subsampling import sampled_profile

POPULATION, COHORT, CLIP, SIGMA = 174, 3, 1.0, 9.69
"""The FEMNIST setting of the paper at its largest noise."""


def _round(gradients: Sequence[float], rng: Generator, size: int, sensitivity: float) -> Floats:
    noise = rng.normal(0.0, SIGMA * sensitivity, (size, COHORT))
    return np.asarray((np.asarray(gradients, float)[None, :COHORT] + noise).mean(axis=1), float)


def as_printed(gradients: Sequence[float], rng: Generator, size: int) -> Floats:
    """Algorithm 1, with S = 2 C K / M (Lemma 4.1) and without clipping."""
    return _round(gradients, rng, size, 2 * CLIP * COHORT / POPULATION)


def corrected(gradients: Sequence[float], rng: Generator, size: int) -> Floats:
    """Clipped, and with S = 2C."""
    return _round(np.clip(gradients, -CLIP, CLIP).tolist(), rng, size, 2 * CLIP)


ALPHA, WHOLE_RUNS = 1e-4, 4000
"""The probability that an audit accuses wrongly."""


def audited_round(statement: Statement) -> Finding:
    """An audit of one simulated round on FEMNIST at sigma = 9.69, against the claimed (1/sigma)-GDP."""
    norm, trials = (20, 500) if statement.domain["gradient norm over C"] > 1 else (1, 2_000)
    pair = ([0.0, 0.0, norm * CLIP], [0.0, 0.0, -norm * CLIP])
    mechanism = corrected if statement.claim["S"] == "2C" else as_printed
    claimed = 1 / SIGMA
    result = audit(mechanism, pair, claim=gdp(claimed), trials=trials, seed=0, alpha=ALPHA)
    bound = audit(mechanism, pair, trials=trials, method="mu", seed=0, alpha=ALPHA).mu_lower
    numbers = {"audited mu, at least": bound, "claimed mu": claimed}
    against = f"mu = {claimed:.3g}, where it is at least {bound:.3g},"
    return by_audit(result, against, numbers, ALPHA)


def averages(sensitivity: str) -> Callable[..., Floats]:
    """T averages with the sample in secret: mechanism(sign of the gradient, rng, size) -> log likelihood ratios."""
    shift, rate = 1 / multiplier(FEMNIST, SIGMA, sensitivity, "averages"), FEMNIST.rate

    def mechanism(sign: float, rng: np.random.Generator, size: int) -> Floats:
        total = np.zeros(size)
        for _ in range(FEMNIST.rounds):
            x = rng.standard_normal(size) + sign * shift * (rng.random(size) < rate)
            up, down = (np.log1p(rate * np.expm1(side * shift * x - shift**2 / 2)) for side in (1, -1))
            total += up - down
        return total

    return mechanism


def uploads(sensitivity: str) -> Callable[..., Floats]:
    """T rounds of which the server sees the client's own uploads: the same, of their sum."""
    shift, rate = 1 / multiplier(FEMNIST, SIGMA, sensitivity, "uploads"), FEMNIST.rate

    def mechanism(sign: float, rng: np.random.Generator, size: int) -> Floats:
        taken = rng.binomial(FEMNIST.rounds, rate, size)
        return 2 * shift * (sign * shift * taken + np.sqrt(taken) * rng.standard_normal(size))

    return mechanism


def audited_run(statement: Statement) -> Finding:
    """An audit of whole runs against the guarantee's epsilon at 1e-5: refuted, or not in WHOLE_RUNS runs a side."""
    sensitivity, sees = statement.claim["S"], statement.claim["observer sees"]
    if statement.claim["guarantee"] == "C_p(G_(1/sigma)), T times":
        said = claimed_epsilon(FEMNIST, SIGMA).upper
    else:
        said = actual_epsilon(FEMNIST, SIGMA, sensitivity, sees, "upper")
    mechanism = (averages if sees == "averages" else uploads)(sensitivity)
    result = audit(mechanism, (1.0, -1.0), claim=approximate_dp(said, DELTA), trials=WHOLE_RUNS, seed=0, alpha=ALPHA)
    numbers = {"stated epsilon": said, "audited epsilon": result.epsilon_lower(DELTA)}
    return by_audit(result, f"epsilon = {said:.4g}", numbers, ALPHA)


SAMPLED_SIGMA, EPSILON, SAMPLES = 0.65, 0.5, 60_000
ROUNDS, RUNS = 2500, 4000


def upload_seen(present: bool, rng: np.random.Generator, size: int) -> Floats:
    """The server's log likelihood ratio: of the upload where the client took part, 0 where it did not."""
    mu, taken = 1 / SAMPLED_SIGMA, rng.random(size) < FEMNIST.rate
    x = rng.standard_normal(size) + mu * present
    return np.where(taken, mu * x - mu**2 / 2, 0.0)


def average_seen(present: bool, rng: np.random.Generator, size: int) -> Floats:
    """The log likelihood ratio of an average whose cohort is secret."""
    mu, rate = 1 / SAMPLED_SIGMA, FEMNIST.rate
    x = rng.standard_normal(size) + mu * ((rng.random(size) < rate) & present)
    result: Floats = np.log1p(rate * np.expm1(mu * x - mu**2 / 2))
    return result


def audited_sample(statement: Statement) -> Finding:
    """An audit of one sampled round on FEMNIST, sigma = 0.65, against C_p(G_(1/sigma)) at epsilon = 0.5."""
    observers: dict[str, Callable[..., Floats]] = {"one upload": upload_seen, "the average": average_seen}
    mechanism = observers[statement.domain["observer sees"]]
    said = float(sampled_profile(1 / SAMPLED_SIGMA, FEMNIST.rate, EPSILON).upper())
    claim = approximate_dp(EPSILON, said)
    result = audit(mechanism, (True, False), claim=claim, trials=SAMPLES, seed=0, alpha=ALPHA)
    return by_audit(result, f"delta(0.5) = {said:.3g}", {"stated delta": said}, ALPHA)


@resting_on(on_instances(RUNS, "simulation"))
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
    return Finding(holds, text, {"delta(1)": found, "half width": reach, "stated": said}, error_probability=ALPHA)
