"""sigma' of the subproblems (4), by name: any value for which their sum bounds the dual from above.

With u_t = X_t alpha_t, M = Sigma (x) I / lambda and gamma = 1 (Remark 3) the condition is, for all alpha,

    ||X alpha||_M^2 <= sigma' sum_t ||X_t alpha_t||_{M_t}^2.                                                  (C)

Lemma 9 sets sigma' and is in an appendix that was not at hand; what the main text says is that sigma' "measures the
difficulty of the data partitioning" and "can be easily selected based on M". Two values fit:

- `lemma`: the least that satisfies (C) for these data, max over alpha of the quotient, as CoCoA+ defines its own sigma'
  (Ma et al. 2015, the paper's [31], whose analysis MOCHA extends). It needs everybody's data: fit for a simulation;
- `reference`: max_t sum_t' |Sigma_tt'| / Sigma_tt, "based on M" alone, as the authors' code has it (rho in
  opt/run_mocha.m and opt/run_cocoa.m).

`tight` is ours: the least that serves all data. lemma <= tight <= reference; all are safe, and at most m.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np

from ...mechanisms import InputError
from ...mechanisms.arrays import Floats
from .tasks import Tasks

SigmaPrime = Callable[[Tasks, Floats], float]
"""(tasks, covariance (m, m) = Sigma) -> sigma'."""

LARGEST = 4000
"""Directions of all tasks together up to which the quotient of (C) is maximised."""


def safe_sigma(covariance: Floats) -> float:
    """sigma' of Lemma 9 as the reference code computes it: max_t sum_t' |Sigma_tt'| / Sigma_tt.

    It suffices for the sum of the local subproblems to bound the dual, since |<u_s, u_t>| is at most
    (|u_s|^2 + |u_t|^2)/2; m always suffices as well.
    """
    return float(np.max(np.abs(covariance).sum(axis=1) / np.diag(covariance)))


def tight_sigma(covariance: Floats) -> float:
    """The least sigma' that serves all data: the largest eigenvalue of the correlations D^{-1/2} Sigma D^{-1/2}.

    It is at most Lemma 9's value, a norm of the similar matrix D^{-1} Sigma, and at most m.
    """
    spread = np.sqrt(np.diag(covariance))
    return min(safe_sigma(covariance), _largest(covariance / np.outer(spread, spread)))


def _largest(matrix: Floats) -> float:
    """The largest eigenvalue, at least 1, rounded up: a sigma' too small may lose the ascent."""
    return max(1.0, float(np.linalg.eigvalsh(matrix)[-1])) * (1 + 1e-10)


def reference_sigma(tasks: Tasks, covariance: Floats) -> float:
    """safe_sigma, whatever the data."""
    return safe_sigma(covariance)


def data_free_sigma(tasks: Tasks, covariance: Floats) -> float:
    """tight_sigma, whatever the data."""
    return tight_sigma(covariance)


def lemma_sigma(tasks: Tasks, covariance: Floats) -> float:
    """The maximum of the quotient of (C), rounded up.

    X_t alpha_t runs through the span of task t's samples. In orthonormal bases Q_t of the spans, scaled by
    Sigma_tt^(1/2), the quotient is that of the matrix with blocks Sigma_st / (Sigma_ss Sigma_tt)^(1/2) Q_s^T Q_t.
    Raises InputError for more than LARGEST directions, whose eigenvalues would take minutes.
    """
    return _lemma_sigma(tasks, covariance.tobytes())


@lru_cache(maxsize=4)
def _lemma_sigma(tasks: Tasks, covariance: bytes) -> float:
    sigma = np.frombuffer(covariance).reshape(tasks.count, tasks.count)
    bases = [_span(x) for x in tasks.features]
    directions = sum(basis.shape[1] for basis in bases)
    if directions > LARGEST:
        raise InputError(
            "sigma_prime", "lemma", f"at most {LARGEST} directions of all tasks' samples, not {directions}"
        )
    if directions == 0:
        return 1.0
    spread = np.sqrt(np.diag(sigma))
    owners = np.repeat(np.arange(tasks.count), [basis.shape[1] for basis in bases])
    joined = np.hstack(bases)
    quotient = joined.T @ joined * (sigma / np.outer(spread, spread))[np.ix_(owners, owners)]
    return min(tight_sigma(sigma), _largest(quotient))


def _span(x: Floats) -> Floats:
    """(d, r): an orthonormal basis of the span of the rows of x (n, d)."""
    _, values, rows = np.linalg.svd(x, full_matrices=False)
    rank = int((values > values[0] * max(x.shape) * np.finfo(float).eps).sum()) if values[0] > 0 else 0
    basis: Floats = rows[:rank].T
    return basis


SIGMA_PRIMES: dict[str, SigmaPrime] = {
    "reference": reference_sigma,
    "lemma": lemma_sigma,
    "tight": data_free_sigma,
}
