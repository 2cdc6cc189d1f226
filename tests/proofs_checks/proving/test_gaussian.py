"""Gaussian noise: rho for every number of entries, and (epsilon, delta) by its profile."""

from __future__ import annotations

import copy

import mpmath
import numpy as np
import pytest

from dpcert.mechanisms import InputError
from dpcert.proofs_checks.proving import prove
from dpcert.proofs_checks.proving.checker import check
from dpcert.proofs_checks.proving.checker.check import check_proof
from dpcert.proofs_checks.proving.checker.inductions import comparing


def noisy_sum(data, rng):
    return np.clip(data, 0, 1).sum() + rng.normal(0, 2)


def each(data, rng):
    return [x + rng.normal(0, 2) for x in data]


def a_step(grads, rng, clip=1.0, noise_multiplier=4.0):
    """Of stochastic gradient descent over all examples."""
    total = np.clip(grads, -clip, clip).sum()
    return (total + rng.normal(0, noise_multiplier * clip)) / len(grads)


def two_sums(data, rng):
    return data.sum() + rng.normal(0, 2), (data > 0.5).sum() + rng.normal(0, 2)


def pure(data, rng):
    return data.sum() + rng.laplace(0, 1)


def flipped_by_the_noise(data, rng):
    """Which noise is seen hangs on the noise itself."""
    out = []
    for x in data:
        noisy = x + rng.normal(0, 2)
        out.append(bool(noisy > 0))
    return out


def mean_by_sum_and_count(data, rng):
    """Divided by what is noisy, or by 1: two outputs of the same noise."""
    total = np.clip(data, 0, 1).sum() + rng.normal(0, 4)
    return total / max(len(data) + rng.normal(0, 4), 1.0)


def truth(rho, epsilon):
    """delta at 50 digits."""
    with mpmath.workdps(50):
        mu = mpmath.sqrt(2 * mpmath.mpf(rho))
        return mpmath.ncdf(mu / 2 - epsilon / mu) - mpmath.exp(epsilon) * mpmath.ncdf(-mu / 2 - epsilon / mu)


@pytest.mark.parametrize(
    ("function", "rho", "options"),
    [(noisy_sum, 0.125, {}), (each, 0.125, {}), (two_sums, 0.25, {}), (a_step, 0.125, {"low": -10, "high": 10})],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_rho_and_its_delta_for_every_number_of_entries(function, rho, options):
    proof = prove(function, notion="zcdp", **options)
    assert (proof.epsilon, proof.every_size) == (rho, True)
    least = truth(rho, 1)
    proof = prove(function, epsilon=1, delta=float(least * 1.000001), **options)
    assert (proof.every_size, proof.epsilon) == (True, 1.0)
    assert "-DP for any number of entries" in str(proof)
    assert check_proof(proof.certificate, function).ok
    assert not prove(function, epsilon=1, delta=float(least * 0.999999), **options).proved


def test_outputs_that_compute_otherwise_with_the_same_noise():
    proof = prove(mean_by_sum_and_count, rho=1 / 16, relation="add-remove")
    assert proof.every_size
    document = copy.deepcopy(proof.certificate)
    pieces = [piece for case in document["cases"] for piece in case["pieces"] if len(piece["draws"]) == 2]
    assert pieces
    pieces[0]["shifts"][0] = {}
    assert not check_proof(document, mean_by_sum_and_count).ok


def test_the_least_epsilon_is_the_accountants():
    proof = prove(noisy_sum, delta=1e-5)
    assert proof.proved
    assert truth(0.125, proof.epsilon) <= 1e-5
    assert truth(0.125, proof.epsilon * 0.99999) > 1e-5


def test_a_pure_proof_needs_no_delta():
    assert prove(pure, epsilon=1, delta=1e-9).every_size


@pytest.mark.parametrize("change", [{"delta": "1/1000"}, {"epsilon": "1/2"}, {"rho": "1/9"}, {"delta": "-1"}])
def test_what_is_claimed_beyond_the_noise_is_rejected(change):
    certificate = prove(noisy_sum, epsilon=1, delta=0.01).certificate
    assert check_proof(certificate, noisy_sum).ok
    assert not check_proof(certificate | change, noisy_sum).ok


def test_without_the_profile_any_delta_is_believed(monkeypatch):
    certificate = prove(noisy_sum, epsilon=1, delta=0.01).certificate | {"delta": "0"}
    assert not check_proof(certificate, noisy_sum).ok
    monkeypatch.setattr(check, "delta_is_enough", lambda *_: True)
    assert check_proof(certificate, noisy_sum).ok


def test_shifts_that_hang_on_what_comes_of_them_are_rejected(monkeypatch):
    """In every step the noise would be moved only where that helps."""
    proof = prove(each, notion="zcdp", up_to=2)
    document = copy.deepcopy(proof.certificate)
    moves = document["induction"]["moves"]
    assert prove(flipped_by_the_noise, notion="zcdp", up_to=1).certificate is None
    told = [move for move in moves if move["how"] == "differs"]
    assert told
    monkeypatch.setattr(comparing.Comparing, "_as_before", lambda *_: False)
    assert "by what comes of it" in check_proof(proof.certificate, each).reason


@pytest.mark.parametrize(
    "options", [{"rho": 1, "delta": 0.1}, {"delta": 1}, {"delta": -0.1}, {"epsilon": 1, "delta": 2}]
)
def test_bad_input(options):
    with pytest.raises(InputError):
        prove(noisy_sum, **options)
