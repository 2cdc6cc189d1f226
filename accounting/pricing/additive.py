"""The pair of each mechanism whose neighbours differ by a move: the one place where a mechanism is registered.

`additive.register(Mechanism, pair)` with pair(mechanism, move): how far, in units of the clip bound, the sum moves. For
noise around a sum a larger move must dominate a smaller one, as it does for log-concave noise.
"""

from __future__ import annotations

from functools import singledispatch

from ...mechanisms import (
    DiscreteGaussian,
    DiscreteLaplace,
    Gaussian,
    InputError,
    Laplace,
    Mechanism,
    NoNoise,
    Repeat,
    Sequence,
    TruncatedLaplace,
    WithReplacement,
    rounds_by_step,
)
from ..pairs import (
    DiscreteGaussianPair,
    DiscreteLaplacePair,
    GaussianPair,
    LaplacePair,
    LossesPair,
    Pair,
    TruncatedLaplacePair,
    product_of,
)

_DRAWS = "a run for dpcert.accounting.billboard.observer_epsilon, which takes draws"
_KNOWN = "additive noise (Gaussian, Laplace, TruncatedLaplace, DiscreteGaussian, DiscreteLaplace) here"


@singledispatch
def additive(mechanism: Mechanism, move: float) -> Pair:
    """The pair of one round whose sum moves this far. Raises InputError for mechanisms that are not registered."""
    raise InputError("mechanism", mechanism, _DRAWS if isinstance(mechanism, WithReplacement) else _KNOWN)


additive.register(Gaussian, lambda noise, move: GaussianPair(move / noise.noise_multiplier))
additive.register(Laplace, lambda noise, move: LaplacePair(move / noise.noise_multiplier))
additive.register(DiscreteGaussian, lambda noise, move: DiscreteGaussianPair(noise.sigma, int(move) * noise.clip))
additive.register(DiscreteLaplace, lambda noise, move: DiscreteLaplacePair(noise.scale, int(move) * noise.clip))
additive.register(
    TruncatedLaplace,
    lambda noise, move: TruncatedLaplacePair(move / noise.noise_multiplier, noise.bound / noise.noise_multiplier),
)


_APART = LossesPair((0.0,), (2.0**-60,), 1.0, 1.0)
"""Two outputs that no data set shares with its neighbour; a mass that no bound notices, for laws need a finite loss."""

additive.register(NoNoise, lambda noise, move: _APART)


@additive.register
def _on_one_sample(several: Repeat | Sequence, move: float) -> Pair:
    """Several releases, one after the other, about the same units: the product pair."""
    return product_of(tuple((additive(part, move), rounds) for part, rounds in rounds_by_step(several).items()))
