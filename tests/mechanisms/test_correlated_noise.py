"""Sensitivities of correlated noise (docs/theory/correlated_noise.md), against every pattern of participations."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import numpy as np
import pytest
from cases import many
from hypothesis import given, settings
from hypothesis import strategies as st

from dpcert.accounting import delta, epsilon
from dpcert.accounting.billboard import observer_epsilon
from dpcert.accounting.billboard.guarantees import EVERYBODY_ELSE
from dpcert.mechanisms import (
    BandedFactorisation,
    Gaussian,
    InputError,
    MatrixFactorisation,
    Poisson,
    Repeat,
    Sequence,
    ToeplitzFactorisation,
    TreeAggregation,
    from_event,
)
from dpcert.mechanisms.serialise import from_json, to_json


def patterns(rounds: int, separation: int, most: int) -> Iterator[list[int]]:
    """Every allowed non-empty set of rounds."""

    def longer(chosen: list[int], start: int) -> Iterator[list[int]]:
        for place in range(start, rounds):
            yield [*chosen, place]
            if len(chosen) + 1 < most:
                yield from longer([*chosen, place], place + separation)

    return longer([], 0)


def tree_by_hand(rounds: int, separation: int, most: int) -> int:
    nodes = [(i * 2**k, (i + 1) * 2**k) for k in range(rounds.bit_length()) for i in range(rounds // 2**k)]
    return max(
        sum(sum(first <= place < end for place in chosen) ** 2 for first, end in nodes)
        for chosen in patterns(rounds, separation, most)
    )


@settings(max_examples=many(150), deadline=None, derandomize=True)
@given(st.integers(1, 16), st.integers(1, 6), st.integers(1, 5))
def test_the_tree_against_every_pattern(rounds, separation, most):
    exact = tree_by_hand(rounds, separation, most)
    assert TreeAggregation(1.0, rounds, separation, most).squared_sensitivity() == (exact, exact)


def test_a_separation_off_by_one_is_caught():
    """The papers count the rounds in between: reading 3 of them as a separation of 3 is another number."""
    exact = tree_by_hand(16, 4, 3)
    assert TreeAggregation(1.0, 16, 4, 3).squared_sensitivity()[0] == exact
    assert TreeAggregation(1.0, 16, 3, 3).squared_sensitivity()[0] != exact


def encoder(matrix: np.ndarray) -> tuple[tuple[float, ...], ...]:
    return tuple(tuple(float(value) for value in row) for row in matrix)


def largest_move(matrix: np.ndarray, separation: int, most: int) -> float:
    """Over every pattern and all signs: one-dimensional contributions, which attain it for matrices this small."""
    return max(
        float(np.sum((matrix[:, chosen] @ np.array(signs)) ** 2))
        for chosen in patterns(len(matrix), separation, most)
        for signs in product((-1.0, 1.0), repeat=len(chosen))
    )


@pytest.mark.parametrize("seed", range(many(60)))
def test_general_encoders_are_bracketed(seed):
    random = np.random.default_rng(seed)
    size, separation, most = (int(random.integers(1, high)) for high in (9, 5, 5))
    draw = random.normal if seed % 2 else random.random
    matrix = np.tril(draw(size=(size, size)))
    attained, bound = MatrixFactorisation(1.0, encoder(matrix), separation, most).squared_sensitivity()
    truth = largest_move(matrix, separation, most)
    assert bound >= truth * (1 - 1e-13)
    assert attained <= truth * (1 + 1e-13)


@pytest.mark.parametrize("seed", range(many(40)))
def test_banded_and_toeplitz_encoders_are_exact(seed):
    random = np.random.default_rng(seed)
    size, separation, most = (int(random.integers(low, high)) for low, high in ((2, 10), (1, 5), (1, 5)))
    column = np.sort(random.random(int(random.integers(1, size + 1))))[::-1]
    toeplitz = np.array(
        [[column[i - j] if 0 <= i - j < len(column) else 0.0 for j in range(size)] for i in range(size)]
    )
    bands = min(size, separation)
    banded = np.triu(np.tril(random.random((size, size))), 1 - size)
    banded[np.subtract.outer(np.arange(size), np.arange(size)) >= bands] = 0.0
    norms = tuple(float(norm) for norm in np.linalg.norm(banded, axis=0))
    for description, matrix in (
        (ToeplitzFactorisation(1.0, tuple(column), size, separation, most), toeplitz),
        (BandedFactorisation(1.0, norms, bands, separation, most), banded),
        (MatrixFactorisation(1.0, encoder(banded), separation, most), banded),
    ):
        attained, bound = description.squared_sensitivity()
        assert largest_move(matrix, separation, most) == pytest.approx(bound, rel=1e-12)
        if not isinstance(description, MatrixFactorisation):
            assert bound - attained <= 1e-12 * bound


def test_the_diagonal_alone_would_be_too_small():
    """A plant: counting norms and forgetting that participations overlap."""
    tree = ToeplitzFactorisation(1.0, (1.0, 0.9, 0.8), 8, 1, 3)
    norms_only = 3 * (1 + 0.81 + 0.64)
    assert tree.squared_sensitivity()[0] > 2 * norms_only


def test_the_tree_as_an_encoder_costs_the_same():
    """Two rounds: leaves 1, 2 and their sum; one participation touches two nodes."""
    tree, columns = TreeAggregation(1.0, 2), BandedFactorisation(1.0, (2**0.5, 2**0.5), 1, 1)
    assert epsilon(tree, 1e-5).upper == pytest.approx(epsilon(columns, 1e-5).upper, rel=1e-12)


def test_the_identity_is_the_plain_gaussian_run():
    identity = BandedFactorisation(3.0, (1.0,) * 50, 1, 1, 50)
    plain = Repeat(Gaussian(3.0), 50)
    for relation in ("add-remove", "zero-out", "replace-one"):
        ours, theirs = epsilon(identity, 1e-6, relation), epsilon(plain, 1e-6, relation)
        assert max(ours.lower, theirs.lower) <= min(ours.upper, theirs.upper)
        assert ours.upper == pytest.approx(theirs.upper, rel=1e-12)


@pytest.mark.parametrize(
    ("description", "zcdp", "printed", "exact_digits"),
    [
        # Published: github.com/google-research/federated, dp_ftrl and mf_dpftrl_matrices notebooks. Theirs counts the
        # rounds between participations, one less than min_separation.
        (TreeAggregation(7.0, 2000, 314, 6), 0.81, 8.90, False),
        (BandedFactorisation(1.411, (0.2**0.5,) * 2000, 400, 485, 3), 0.1506840301548885, 3.4240074094281336, True),
        (BandedFactorisation(8.35, (1.0,) * 2000, 1000, 1429, 2), 0.014342572340349278, 0.9935500950539097, True),
        (BandedFactorisation(8.35, (1.0,) * 2000, 1000, 1133, 2), 0.014342572340349278, 0.9935500950539097, True),
    ],
)
def test_the_published_gboard_numbers(description, zcdp, printed, exact_digits):
    _, squared = description.squared_sensitivity()
    assert squared / (2 * description.noise_multiplier**2) == pytest.approx(zcdp, rel=1e-9 if exact_digits else 0.01)
    certified = epsilon(description, 1e-10, "zero-out")
    if exact_digits:
        assert printed * (1 - 1e-6) < certified.upper < printed
    else:
        assert 8.52 < certified.lower <= certified.upper < 8.53 < printed


def test_they_compose_and_nobody_gains_by_seeing_cohorts():
    run = Sequence((TreeAggregation(10.0, 100, 20, 3), Repeat(Poisson(Gaussian(1.0), 0.01), 100)))
    assert 0 < delta(run, 1.0).lower <= delta(run, 1.0).upper < 1
    tree = TreeAggregation(10.0, 100, 20, 3)
    alone = epsilon(tree, 1e-6, "replace-one")
    seen = observer_epsilon(tree, EVERYBODY_ELSE, 1e-6, "replace-one").epsilon
    assert (seen.lower, seen.upper) == (alone.lower, alone.upper)


@pytest.mark.parametrize(
    "description",
    [
        TreeAggregation(7.0, 2000, 314, 6),
        BandedFactorisation(1.5, (1.0, 0.5, 0.25), 2, 2, 2),
        ToeplitzFactorisation(1.5, (1.0, 0.5), 10, 1, 3),
        MatrixFactorisation(1.5, ((1.0, 0.0), (0.5, 1.0)), 1, 2),
    ],
)
def test_round_trips(description):
    assert from_json(to_json(description)) == description
    event = description.event()
    upper = epsilon(from_event(event), 1e-6, "zero-out").upper
    assert upper == pytest.approx(epsilon(description, 1e-6, "zero-out").upper, rel=1e-9)


@pytest.mark.parametrize(
    ("build", "field"),
    [
        (lambda: TreeAggregation(0.0, 10), "noise_multiplier"),
        (lambda: TreeAggregation(1.0, 0), "rounds"),
        (lambda: TreeAggregation(1.0, 10, 0), "min_separation"),
        (lambda: TreeAggregation(1.0, 10, 1, 1.5), "max_participations"),
        (lambda: TreeAggregation(1.0, 10**6, 1, 10**5).squared_sensitivity(), "max_participations"),
        (lambda: BandedFactorisation(1.0, (1.0, 1.0), 2, 1), "bands"),
        (lambda: BandedFactorisation(1.0, (), 1), "column_norms"),
        (lambda: BandedFactorisation(1.0, (1.0, float("nan")), 1), "column_norms[1]"),
        (lambda: ToeplitzFactorisation(1.0, (0.5, 1.0), 10), "coefficients"),
        (lambda: ToeplitzFactorisation(1.0, (1.0, -0.5), 10), "coefficients[1]"),
        (lambda: ToeplitzFactorisation(1.0, (1.0, 0.5), 1), "coefficients"),
        (lambda: MatrixFactorisation(1.0, ((1.0, 1.0), (0.0, 1.0))), "encoder"),
        (lambda: MatrixFactorisation(1.0, ((1.0,), (0.0, 1.0))), "encoder"),
        (lambda: MatrixFactorisation(1.0, "no matrix"), "encoder"),
    ],
)
def test_bad_input(build, field):
    with pytest.raises(InputError) as problem:
        build()
    assert problem.value.field == field


def test_no_sampling_inside():
    with pytest.raises(InputError):
        epsilon(Poisson(TreeAggregation(1.0, 10), 0.1), 1e-5)
