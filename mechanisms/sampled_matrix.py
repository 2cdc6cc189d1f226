"""Correlated noise in whose rounds the units are sampled: balls in bins, and b-min-sep sampling.

(Choquette-Choo, Ganesh, Thakurta 2024, arXiv 2410.06266; arXiv 2601.21636; 2602.09338.) No tight accounting is known.
Given a unit's rounds, which no data change, all rounds are one Gaussian release: the worst rounds that can be drawn
bound from above (docs/theory/correlated_noise.md, "Sampled rounds"); simulation/losses.py simulates.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from .correlated import CorrelatedGaussian
from .matrix_factorisation import MatrixFactorisation, ToeplitzFactorisation
from .validate import InputError, count, rate

Noise = ToeplitzFactorisation | MatrixFactorisation


class SampledRounds(CorrelatedGaussian):
    """What both have: the noise as if nobody were sampled, and when a unit can be drawn again.

    >>> noise = ToeplitzFactorisation(1.0, coefficients=(1.0, 0.5), rounds=6)
    >>> isinstance(BallsInBins(noise, bins=3), SampledRounds)
    True
    """

    __slots__ = ()

    noise: Noise

    @property
    def noise_multiplier(self) -> float:  # type: ignore[override]  # nobody sets it: descriptions are frozen
        """That of the noise."""
        return self.noise.noise_multiplier


@dataclass(frozen=True, slots=True)
class BallsInBins(SampledRounds):
    """Every unit draws one of `bins` rounds, once for the whole run, and takes part in that round of each pass.

    noise: its own limits of participation are not looked at.

    >>> noise = ToeplitzFactorisation(1.0, coefficients=(1.0, 0.5), rounds=6)
    >>> BallsInBins(noise, bins=3).passes
    2
    """

    noise: Noise
    bins: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "bins", _bins(self.noise, self.bins))
        replace(self.noise, min_separation=self.bins, max_participations=self.passes)  # which may be refused

    @property
    def passes(self) -> int:
        """In how many rounds a unit takes part, at most: fewer in bins that the last pass does not reach."""
        return -(-self.noise.rounds // self.bins)

    def squared_sensitivity(self) -> tuple[float, float]:
        """(attained, bound): the bound of the worst bin; from below, the square of what every bin moves some score.

        A score that each bin moves by s or more exceeds any threshold at least as often as one that is moved by s.
        """
        from .matrix_sensitivity import least_common_move

        limited = replace(self.noise, min_separation=self.bins, max_participations=self.passes)
        return least_common_move(encoder_columns(self.noise), self.bins), limited.squared_sensitivity()[1]


@dataclass(frozen=True, slots=True)
class MinSeparated(SampledRounds):
    """In each round every unit that took part in none of the last min_separation - 1 flips a coin.

    noise: min_separation is its own, and at least its number of bands. The run starts in the middle of such rounds (a
    "warm start"), so that all cohorts are of one expected size: population / (min_separation - 1 + 1/sampling_rate).

    >>> noise = ToeplitzFactorisation(1.0, coefficients=(1.0, 0.5), rounds=6, min_separation=2)
    >>> MinSeparated(noise, sampling_rate=0.5).sampling_rate
    0.5
    """

    noise: Noise
    sampling_rate: float

    def __post_init__(self) -> None:
        _encoded(self.noise)
        object.__setattr__(self, "sampling_rate", rate("sampling_rate", self.sampling_rate))
        bands = _bands(self.noise)
        if bands > self.noise.min_separation:
            raise InputError("min_separation", self.noise.min_separation, f"at least the {bands} bands of the noise")

    def squared_sensitivity(self) -> tuple[float, float]:
        """(0, bound): the bound of as many rounds as can be; a unit may be drawn in none, which moves no score."""
        passes = -(-self.noise.rounds // self.noise.min_separation)
        return 0.0, replace(self.noise, max_participations=passes).squared_sensitivity()[1]


def encoder_columns(noise: Noise) -> list[tuple[float, ...]]:
    """The encoder's columns from the diagonal down: entry k of column i is C[i + k, i]."""
    if isinstance(noise, ToeplitzFactorisation):
        return [noise.coefficients[: noise.rounds - at] for at in range(noise.rounds)]
    return [tuple(row[at] for row in noise.encoder[at:]) for at in range(noise.rounds)]


def _encoded(noise: object) -> None:
    if not isinstance(noise, ToeplitzFactorisation | MatrixFactorisation):
        raise InputError("noise", noise, "a ToeplitzFactorisation or a MatrixFactorisation: the encoder itself matters")


def _bins(noise: Noise, bins: object) -> int:
    _encoded(noise)
    asked = count("bins", bins)
    if asked > noise.rounds:
        raise InputError("bins", asked, f"at most the {noise.rounds} rounds")
    return asked


def _bands(noise: Noise) -> int:
    """From the diagonal to the last entry of a column that is not zero."""
    return max(
        (place + 1 for column in encoder_columns(noise) for place, entry in enumerate(column) if entry), default=1
    )
