"""Joint outputs: the effective shift by floating-point linear algebra, and what marginal accounting would say."""

from __future__ import annotations

import numpy as np
import pytest

from dpcert.accounting import epsilon
from dpcert.mechanisms import Gaussian, InputError, joint_gaussian


@pytest.mark.parametrize("size", [1, 2, 5])
def test_it_is_the_norm_in_the_metric_of_the_noise(size):
    rng = np.random.default_rng(size)
    root, moves = rng.standard_normal((size, size)), rng.standard_normal(size)
    covariance = np.round(root @ root.T + np.eye(size), 6)
    shift = float(np.sqrt(moves @ np.linalg.solve(covariance, moves)))
    found = joint_gaussian(moves.tolist(), covariance.tolist())
    assert found.noise_multiplier == pytest.approx(1 / shift, rel=1e-12)


def test_output_by_output_is_too_little():
    """The plant: the larger of the two outputs' own costs, as in the issue cited."""
    moves, noise = [1.0, 0.5], [[1.0, 0.0], [0.0, 1.0]]
    joint = epsilon(joint_gaussian(moves, noise), 1e-5)
    assert joint.lower > epsilon(Gaussian(1.0), 1e-5).upper
    opposite = epsilon(joint_gaussian([1.0, -1.0], [[1.0, 0.5], [0.5, 1.0]]), 1e-5)
    assert opposite.lower > epsilon(joint_gaussian([1.0, 1.0], [[1.0, 0.5], [0.5, 1.0]]), 1e-5).upper


@pytest.mark.parametrize(
    ("moves", "covariance", "field"),
    [
        ([], [], "covariance"),
        ([1.0], [[1.0, 0.0]], "covariance"),
        ([1.0, 1.0], [[1.0, 0.5], [0.25, 1.0]], "covariance"),
        ([1.0, 1.0], [[1.0, 1.0], [1.0, 1.0]], "covariance"),
        ([0.0], [[1.0]], "moves"),
    ],
)
def test_bad_input(moves, covariance, field):
    with pytest.raises(InputError) as problem:
        joint_gaussian(moves, covariance)
    assert problem.value.field == field
