"""An upper bound for sampled rounds, where the noise may be of any size: the adversary is told who took part.

The hidden coins are a postprocessing of the public ones, so the profile is at most that of visible participation
(docs/theory/dominating_pairs.md, section "Revealing the coin"): coalition.py has that of Gaussian rounds exactly, and
closed_form.py that of one round of any noise. Next to nothing is lost where the noise is so small that the output
reveals the coin anyway, where every other accountant ends: of 100 Poisson rounds at rate .01 and a noise multiplier of
.002 epsilon is at most 877,521 at delta 1e-5, and 1,097,820 without this file.
"""

from __future__ import annotations

from types import ModuleType

from ..bracket import Bracket
from ..losses import closed_form
from ..losses import gaussian_rounds as gaussian
from ..pairs import Composition, Pair
from . import coalition as participation

METHOD = "revealed-coins"

_OF_SHOWN = (gaussian, closed_form, participation)
"""Accountants of what is revealed: where all rounds are allocated ones, plain Gaussian rounds."""


def supports(composition: Composition) -> bool:
    """Gaussian rounds, or one round of any noise, at least one phase of them sampled or allocated in secret."""
    if all(pair.revealed() is None for pair, _ in composition):
        return False
    shown = _revealed(composition)
    return any(each.supports(shown) for each in _OF_SHOWN)


def epsilon(composition: Composition, delta: float) -> Bracket:
    """[0, certified upper bound] for the composed pair's epsilon at delta."""
    shown = _revealed(composition)
    return Bracket(0.0, _accountant(shown).epsilon(shown, delta).upper, True, METHOD)


def delta(composition: Composition, epsilon: float) -> Bracket:
    """[0, certified upper bound] for the composed pair's delta at epsilon."""
    shown = _revealed(composition)
    return Bracket(0.0, _accountant(shown).delta(shown, epsilon).upper, True, METHOD)


def _accountant(revealed: Composition) -> ModuleType:
    return next(each for each in _OF_SHOWN if each.supports(revealed))


def _revealed(composition: Composition) -> Composition:
    """The same rounds with visible coins; equal pairs are merged."""
    counts: dict[Pair, int] = {}
    for pair, rounds in composition:
        seen = pair.revealed() or pair
        counts[seen] = counts.get(seen, 0) + rounds
    return tuple(counts.items())
