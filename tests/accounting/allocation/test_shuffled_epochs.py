"""Several shuffled epochs, zero-out: the lower end is below the truth and near it, by quadrature and exact sums."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from scipy.stats import norm

from dpcert.accounting import delta, epsilon
from dpcert.accounting.allocation import scored_block, tilted_sums
from dpcert.accounting.allocation.tilted_sums import Scores, law_of_scores
from dpcert.accounting.pairs import ScoredBlockPair
from dpcert.accounting.rounding import End
from dpcert.mechanisms import Gaussian, Repeat, Shuffled


def losses_of_two_batches(noise: float) -> tuple[np.ndarray, np.ndarray]:
    """One epoch of two batches, all others at -1: N(2, 0) or N(0, 2) against N(1, 0) or N(0, 1), on a grid."""
    axis = np.linspace(-8 * noise, 8 * noise + 2, 601)

    def density(move: float) -> np.ndarray:
        moved, still = norm.pdf(axis, move, noise), norm.pdf(axis, 0, noise)
        return (0.5 * (np.outer(moved, still) + np.outer(still, moved))).ravel()

    p, q = density(2.0), density(1.0)
    return np.log(p / q), p * (axis[1] - axis[0]) ** 2


def delta_of_epochs(noise: float, epochs: int, eps: float) -> float:
    """By convolution of losses rounded to a grid, which moves delta by less than 1e-3 of itself here."""
    step = 2e-3
    loss, mass = losses_of_two_batches(noise)
    index = np.rint(loss / step).astype(int)
    first = int(index.min())
    one = np.bincount(index - first, mass)
    law = np.array([1.0])
    for _ in range(epochs):
        size = law.size + one.size - 1
        law = np.fft.irfft(np.fft.rfft(law, size) * np.fft.rfft(one, size), size)
    total = step * (epochs * first + np.arange(law.size))
    return float(np.sum(law * np.maximum(-np.expm1(np.minimum(eps - total, 0.0)), 0.0)))


@pytest.mark.parametrize(("noise", "epochs", "eps"), [(1.0, 1, 1.0), (1.0, 3, 2.0), (3.0, 4, 0.4)])
def test_the_lower_end_is_what_two_batches_reveal(noise, epochs, eps):
    truth = delta_of_epochs(noise, epochs, eps)
    found = delta(Repeat(Shuffled(Gaussian(noise), 2), epochs), eps, "zero-out")
    assert 0.9 * truth <= found.lower <= truth * (1 + 2e-3)
    assert truth <= found.upper


def revealed(noise: float, eps: float) -> float:
    """Delta of one epoch of two batches, from the law that is composed."""
    scored_block._outcomes.cache_clear()
    atoms = scored_block.losses_of_scores(ScoredBlockPair(1 / noise, 2, 1, 2, 1), End.LOWER)
    return float(atoms.mass @ np.maximum(-np.expm1(np.minimum(eps - atoms.loss, 0.0)), 0.0))


def test_a_unit_replaced_instead_of_left_out_is_caught(monkeypatch):
    """The plant: without the unit nothing stands out, which is what its opposite would make of it."""
    truth, right, laws = delta_of_epochs(1.0, 1, 1.0), scored_block.law_of_scores, []
    assert revealed(1.0, 1.0) <= truth * (1 + 1e-3)

    def law(scores, parts, error):
        laws.append(parts)
        (_, once), (none, others) = parts
        return right(scores, parts if len(laws) == 1 else [(none, once + others)], error)

    monkeypatch.setattr(scored_block, "law_of_scores", law)
    assert revealed(1.0, 1.0) > 1.05 * truth
    scored_block._outcomes.cache_clear()


def test_more_epochs_reveal_more_and_meet_the_upper_end_where_there_is_little_noise():
    ends = [epsilon(Repeat(Shuffled(Gaussian(1.0), 100), times), 1e-6, "zero-out") for times in (1, 3, 10)]
    assert all(less.lower < more.lower for less, more in pairwise(ends))
    assert ends[-1].lower > 10.8  # one epoch alone: 4.68
    little = epsilon(Repeat(Shuffled(Gaussian(0.3), 1000), 5), 1e-6, "zero-out")
    assert little.lower > 0.999 * little.upper


INDEX, PARTS = np.array([-2, 0, 3]), [(np.array([0.125, 0.25, 0.625]), 1), (np.array([0.5, 0.46875, 0.03125]), 19)]


def exact_sum(bins: int) -> np.ndarray:
    """The law of the sum modulo `bins`, in fractions."""
    law = {0: Fraction(1)}
    for masses, times in PARTS:
        for _ in range(times):
            following: dict[int, Fraction] = {}
            for at, weight in law.items():
                for score, mass in zip(INDEX.tolist(), masses.tolist(), strict=True):
                    following[at + score] = following.get(at + score, Fraction(0)) + weight * Fraction(mass)
            law = following
    residues = [Fraction(0)] * bins
    for at, weight in law.items():
        residues[at % bins] += weight
    return np.array([float(weight) for weight in residues])


def sums_are_bounded(bins: int) -> bool:
    mean = sum(times * float(masses @ INDEX) for masses, times in PARTS)
    scores = Scores(INDEX, 0.25, bins, 0.25 * mean)
    found, exact = law_of_scores(scores, PARTS, 1e-15), exact_sum(bins)[np.mod(scores.window(), bins)]
    return bool(np.all(found.low <= exact * (1 + 1e-12)) and np.all(exact * (1 - 1e-12) <= found.high))


@pytest.mark.parametrize("bins", [16, 32, 128, 256])
def test_tilted_sums_are_bounds(bins):
    assert sums_are_bounded(bins)


def test_tilts_know_the_tail():
    """Ten triples in twenty scores have a probability of about 1e-12, of which a plain transform knows two digits."""
    scores, place = Scores(INDEX, 0.25, 128, -2.0), 30
    found, exact, at = law_of_scores(scores, PARTS, 1e-15), exact_sum(128)[place], list(scores.window()).index(place)
    assert 0 < exact < 1e-8
    assert found.high[at] - found.low[at] < 1e-6 * exact


def test_sums_beyond_the_window_forgotten_are_caught(monkeypatch):
    """The plant: residues that sums from outside share are tilted back as if nothing came from there."""
    monkeypatch.setattr(tilted_sums, "_outside", lambda *_: 0.0)
    assert not sums_are_bounded(16)


def test_renyi_bounds_serve_shuffled_epochs_too():
    run = Repeat(Shuffled(Gaussian(2.0), 10), 3)
    assert epsilon(run, 1e-5, "zero-out", accountant="rdp").upper >= epsilon(run, 1e-5, "zero-out").upper


def test_a_look_of_a_tenth_is_within_a_tenth():
    """The quick interval is around the default one, and each of its ends is within a tenth of the other's."""
    run = Repeat(Shuffled(Gaussian(3.0), 30, 30), 4)
    quick, fine = epsilon(run, 1e-5, "zero-out", rtol=0.1), epsilon(run, 1e-5, "zero-out")
    assert 0.9 * fine.lower <= quick.lower <= fine.lower * (1 + 1e-6)
    assert fine.upper * (1 - 1e-3) <= quick.upper <= 1.1 * fine.upper
