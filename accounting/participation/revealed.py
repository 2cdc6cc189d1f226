"""An upper bound for sampled Gaussian rounds of any size: the adversary is told who took part.

The hidden coins are a postprocessing of the public ones, so the profile is at most that of visible participation, which
coalition.py has exactly (docs/theory/dominating_pairs.md, section "Revealing the coin"). Next to nothing is lost
where the noise is so small that the output reveals the coin anyway, where every other accountant ends: of 100 Poisson
rounds at rate .01 and a noise multiplier of .002 epsilon is at most 877,521 at delta 1e-5, and 1,097,820 without
this file.
"""

from __future__ import annotations

from types import ModuleType

from ..bracket import Bracket
from ..losses import gaussian_rounds as gaussian
from ..pairs import Composition, Pair
from . import coalition as participation

METHOD = "revealed-coins"


def supports(composition: Composition) -> bool:
    """Gaussian rounds, at least one phase of them sampled or allocated in secret."""
    shown = _revealed(composition)
    return any(pair.revealed() is not None for pair, _ in composition) and _accountant(shown).supports(shown)


def epsilon(composition: Composition, delta: float) -> Bracket:
    """[0, certified upper bound] for the composed pair's epsilon at delta."""
    shown = _revealed(composition)
    return Bracket(0.0, _accountant(shown).epsilon(shown, delta).upper, True, METHOD)


def delta(composition: Composition, epsilon: float) -> Bracket:
    """[0, certified upper bound] for the composed pair's delta at epsilon."""
    shown = _revealed(composition)
    return Bracket(0.0, _accountant(shown).delta(shown, epsilon).upper, True, METHOD)


def _accountant(revealed: Composition) -> ModuleType:
    """Where all rounds are allocated ones, what is revealed are plain Gaussian rounds."""
    return gaussian if gaussian.supports(revealed) else participation


def _revealed(composition: Composition) -> Composition:
    """The same rounds with visible coins; equal pairs are merged."""
    counts: dict[Pair, int] = {}
    for pair, rounds in composition:
        seen = pair.revealed() or pair
        counts[seen] = counts.get(seen, 0) + rounds
    return tuple(counts.items())
