"""Banded correlated noise with cyclic Poisson cohorts: Poisson rounds of Gaussian noise, one for each pass.

The units are split beforehand, and publicly, into as many groups as the noise has bands or more; in round i the units
of group i modulo that number each flip a coin. (Choquette-Choo et al. 2023, arXiv 2306.08153, Section 5; "BandMF".)
"""

from __future__ import annotations

from .base import Mechanism
from .composition import Repeat, Sequence
from .gaussian import Gaussian
from .matrix_factorisation import BandedFactorisation
from .sampled import Poisson
from .validate import InputError, rate


def cyclic_poisson(noise: BandedFactorisation, sampling_rate: float) -> Mechanism:
    """What the run costs a unit, as a run of Poisson rounds (docs/theory/correlated_noise.md, "Cyclic Poisson").

    noise: its min_separation is the number of groups. sampling_rate: of a unit within its group, in a round of its own.
    The group whose columns have the largest norms in every pass pays most; it is that group's run. Raises InputError
    where no one group does, or where max_participations is below the passes, which coins do not keep to.

    >>> noise = BandedFactorisation(2.0, (1.0,) * 10, bands=5, min_separation=5, max_participations=2)
    >>> cyclic_poisson(noise, 0.1)
    Repeat(mechanism=Poisson(mechanism=Gaussian(noise_multiplier=2.0), sampling_rate=0.1), rounds=2)
    """
    share = rate("sampling_rate", sampling_rate)
    groups, norms = noise.min_separation, noise.column_norms
    passes = [norms[start : start + groups] for start in range(0, len(norms), groups)]
    if noise.max_participations < len(passes):
        raise InputError(
            "max_participations", noise.max_participations, f"at least the {len(passes)} passes: coins allow it"
        )
    worst = [group for group in range(len(passes[-1])) if all(norm[group] == max(norm) for norm in passes)]
    if not worst:
        raise InputError("column_norms", norms[:8], "norms of which one group has the largest in every pass")
    largest = [norm[worst[0]] for norm in passes if norm[worst[0]]]  # a pass of norms of 0 releases nothing
    parts = [Poisson(Gaussian(noise.noise_multiplier / norm), share) for norm in largest]
    return Repeat(parts[0], len(parts)) if len(set(parts)) == 1 else Sequence(tuple(parts))
