"""What the paper claims for a sigma: Theorem 4.1 by the central limit theorem: an estimate, and of something else."""

from __future__ import annotations

from typing import Protocol

from ...accounting.currencies.gdp import bu_mu, gdp_epsilon


class Claim(Protocol):
    """What a claim is about; experiments.cell.Cell is one."""

    @property
    def sigma(self) -> float: ...
    @property
    def cohort(self) -> int: ...
    @property
    def rounds(self) -> int: ...
    @property
    def delta(self) -> float: ...


def claimed_mu(sigma: float, sampling_rate: float, rounds: int) -> float:
    """mu = p sqrt(T (e^(1/sigma^2) - 1)), the limit of C_p(G_{1/sigma})^{(x) T}.

    Theorem 4.2 prints another factor sqrt(T) (claims register, DPFEDMTL-T4.2), which its Figure 3 does not have.
    """
    return bu_mu(sigma, sampling_rate, rounds)


def claimed_epsilon(claim: Claim, population: int) -> float | None:
    """The epsilon of that limit; None without noise, infinite where e^(1/sigma^2) has no double."""
    if not claim.sigma:
        return None
    try:
        mu = claimed_mu(claim.sigma, min(1.0, claim.cohort / population), claim.rounds)
    except OverflowError:
        return float("inf")
    return gdp_epsilon(mu, claim.delta).upper
