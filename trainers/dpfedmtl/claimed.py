"""What the paper claims for a sigma: Theorem 4.1 by the central limit theorem: an estimate, and of something else."""

from __future__ import annotations

from ...accounting.currencies.gdp import bu_mu, gdp_epsilon


def claimed_mu(sigma: float, sampling_rate: float, rounds: int) -> float:
    """mu = p sqrt(T (e^(1/sigma^2) - 1)), the limit of C_p(G_{1/sigma})^{(x) T}.

    Theorem 4.2 prints another factor sqrt(T) (claims register, DPFEDMTL-T4.2), which its Figure 3 does not have.
    """
    return bu_mu(sigma, sampling_rate, rounds)


def claimed_epsilon(sigma: float, sampling_rate: float, rounds: int, delta: float) -> float | None:
    """The epsilon of that limit; None without noise, infinite where e^(1/sigma^2) has no double."""
    if not sigma:
        return None
    try:
        mu = claimed_mu(sigma, sampling_rate, rounds)
    except OverflowError:
        return float("inf")
    return gdp_epsilon(mu, delta).upper
