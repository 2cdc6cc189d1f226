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
from .relationships import safe_sigma, tight_sigma
from .tasks import Tasks

SigmaPrime = Callable[[Tasks, Floats], float]
"""(tasks, covariance (m, m) = Sigma) -> sigma'."""

LARGEST = 4000
"""Directions of all tasks together up to which the quotient of (C) is maximised."""


def reference_sigma(tasks: Tasks, covariance: Floats) -> float:
    """The authors' code's: relationships.safe_sigma."""
    return safe_sigma(covariance)


def data_free_sigma(tasks: Tasks, covariance: Floats) -> float:
    """The least value for which (C) holds whatever the data: relationships.tight_sigma."""
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
    largest = float(np.linalg.eigvalsh(quotient)[-1])
    return min(tight_sigma(sigma), max(1.0, largest) * (1 + 1e-10))


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
