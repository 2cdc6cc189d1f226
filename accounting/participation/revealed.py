"""An upper bound for sampled Gaussian rounds of any size: the adversary is told who took part.

The hidden coins are a postprocessing of the public ones, so the profile is at most that of visible participation, which
participation.py has exactly (docs/theory/dominating_pairs.md, section "Revealing the coin"). Next to nothing is lost
where the noise is so small that the output reveals the coin anyway, which is where every other accountant ends.
"""

from __future__ import annotations

from dataclasses import replace

from ..bracket import Bracket
from ..pairs import Composition, GaussianPair, Pair, SubsampledPair
from . import participation

METHOD = "revealed-coins"


def supports(composition: Composition) -> bool:
    """Gaussian rounds, at least one phase of them sampled in secret."""
    return _hidden(composition) and participation.supports(_revealed(composition))


def epsilon(composition: Composition, delta: float) -> Bracket:
    """[0, certified upper bound] for the composed pair's epsilon at delta."""
    return Bracket(0.0, participation.epsilon(_revealed(composition), delta).upper, True, METHOD)


def delta(composition: Composition, epsilon: float) -> Bracket:
    """[0, certified upper bound] for the composed pair's delta at epsilon."""
    return Bracket(0.0, participation.delta(_revealed(composition), epsilon).upper, True, METHOD)


def _hidden(composition: Composition) -> bool:
    return any(isinstance(pair, SubsampledPair) and pair.order != "visible" for pair, _ in composition)


def _revealed(composition: Composition) -> Composition:
    """The same rounds with visible coins; equal pairs are merged."""
    counts: dict[Pair, int] = {}
    for pair, rounds in composition:
        seen = _visible(pair) if isinstance(pair, SubsampledPair) else pair
        counts[seen] = counts.get(seen, 0) + rounds
    return tuple(counts.items())


def _visible(pair: SubsampledPair) -> SubsampledPair:
    """Of the replace order both distributions move, by the base's shift each, in opposite directions."""
    base = pair.base
    if pair.order == "replace" and isinstance(base, GaussianPair):
        base = GaussianPair(2.0 * base.shift)
    return replace(pair, base=base, order="visible")
