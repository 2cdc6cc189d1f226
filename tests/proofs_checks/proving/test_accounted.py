"""Proved steps in the accountants' hands: mu, rounds, samples, sequences."""

from __future__ import annotations

import json
import math

import clipping
import numpy as np
import pytest
from typer.testing import CliRunner

from dpcert.accounting import epsilon
from dpcert.cli import app
from dpcert.mechanisms import Gaussian, InputError, Poisson, PureDp, Repeat, Sequence
from dpcert.proofs_checks.proving import composed, described, prove
from dpcert.proofs_checks.proving.accounted import gaussian
from dpcert.proofs_checks.proving.checker.check import check_proof
from dpcert.proofs_checks.proving.checker.exact_numbers import written

RELATIONS = {"add-remove": ("add-remove", 1.0), "replace-one": ("replace-one", 2.0), "answers": ("zero-out", 1.0)}


def noisy_sum(data, rng):
    return np.clip(data, 0, 1).sum() + rng.normal(0, 2)


def signed_sum(data, rng):
    return np.clip(data, -1, 1).sum() + rng.normal(0, 2)


def pure(data, rng):
    return data.sum() + rng.laplace(0, 10)


def broken(data, rng):
    return data.sum() + rng.normal(0, 2) * 0


def each_answer(answers, rng):
    return [answer + rng.normal(0, 2) for answer in answers]


def step(**options):
    return prove(noisy_sum, notion="zcdp", **({"relation": "add-remove"} | options))


def test_mu_is_proved_and_not_less():
    proof = prove(noisy_sum, notion="gdp")
    assert (proof.epsilon, proof.every_size, proof.notion) == (0.5, True, "gdp")
    assert "0.5-GDP for any number of entries" in str(proof)
    assert check_proof(proof.certificate, noisy_sum).ok
    assert proof.to_json()["mu_upper"] == 0.5
    assert prove(noisy_sum, mu=0.5).proved
    assert not prove(noisy_sum, mu=0.4999, up_to=1).proved


@pytest.mark.parametrize("change", [{"mu": "49/100"}, {"mu": "-1/2"}, {"rho": "1/9"}])
def test_a_mu_that_is_too_small_is_rejected(change):
    certificate = prove(noisy_sum, mu=0.5).certificate
    assert check_proof(certificate, noisy_sum).ok
    assert not check_proof(certificate | change, noisy_sum).ok


def test_mu_of_a_pure_proof_is_no_field():
    certificate = prove(pure, epsilon=0.1, up_to=1).certificate | {"mu": "10"}
    assert not check_proof(certificate, pure).ok


def test_the_multiplier_is_rounded_down():
    for rho in (written(r) for r in np.random.default_rng(1).random(50).tolist()):
        for moves, relation in ((1, "add-remove"), (4, "replace-one")):
            multiplier = gaussian(rho, relation).noise_multiplier
            assert written(multiplier) ** 2 * 2 * rho <= moves * (1 + written(1e-15))
            assert math.isclose(multiplier**2 * 2 * rho, moves, rel_tol=1e-12)


@pytest.mark.parametrize(("relation", "function"), [("add-remove", noisy_sum), ("replace-one", signed_sum)])
def test_described_as_the_gaussian_mechanism_that_it_is(relation, function):
    """Contributions of norm 1 move a sum by 1 if they are removed, and by 2 if they are replaced."""
    proof = prove(function, notion="zcdp", relation=relation, low=-1 if relation == "replace-one" else 0)
    assert described(proof) == (Gaussian(2.0), relation)


def test_answers_move_by_one():
    assert described(prove(each_answer, notion="zcdp", relation="answers", up_to=1)) == (Gaussian(2.0), "zero-out")


def test_rounds_on_samples_are_those_of_the_accountants():
    proof = prove(noisy_sum, delta=1e-5, relation="add-remove", rounds=1000, sampling_rate=0.01)
    truth = epsilon(Repeat(Poisson(Gaussian(2.0), 0.01), 1000), 1e-5, "add-remove").upper
    assert proof.every_size
    assert truth <= proof.epsilon <= truth * 1.000001
    assert "1,000 times, each on a Poisson sample at rate 0.01, is (" in str(proof)
    assert (proof.to_json()["rounds"], proof.to_json()["sampling_rate"]) == (1000, 0.01)
    assert check_proof(proof.certificate, noisy_sum).ok
    claimed = {"relation": "add-remove", "delta": 1e-5, "rounds": 1000, "sampling_rate": 0.01}
    assert prove(noisy_sum, epsilon=truth * 1.001, **claimed).proved
    refused = prove(noisy_sum, epsilon=truth * 0.999, **claimed)
    assert (refused.proved, refused.verdict, refused.certificate) == (False, "not proved", None)


def test_rounds_of_pure_steps():
    proof = prove(pure, delta=1e-6, rounds=100)
    truth = epsilon(Repeat(PureDp(0.1), 100), 1e-6, "replace-one").upper
    assert proof.every_size
    assert truth <= proof.epsilon <= truth * 1.000001


def test_a_broken_step_has_no_rounds():
    proof = prove(broken, delta=1e-5, epsilon=50, rounds=3, up_to=1)
    assert not proof.proved
    assert (proof.rounds, proof.claim) == (3, 50)


def test_sequences():
    run = composed(step(), prove(pure, epsilon=0.1, relation="add-remove"), rounds=5, sampling_rate=0.5)
    assert run.run == Repeat(Poisson(Sequence([Gaussian(2.0), PureDp(0.1)]), 0.5), 5)
    assert run.neighbouring == "add-remove"
    assert composed(step()).run == Gaussian(2.0)
    alone = composed(step(), rounds=4)
    assert alone.epsilon(1e-5).upper == epsilon(Gaussian(1.0), 1e-5, "add-remove").upper
    assert alone.delta(1.0).upper < 1


@pytest.mark.parametrize(
    ("proofs", "options"),
    [
        (lambda: [], {}),
        (lambda: [step(), step(relation="replace-one")], {}),
        (lambda: [step(relation="replace-one")], {"sampling_rate": 0.1}),
        (lambda: [prove(noisy_sum, rho=0.01, relation="add-remove", up_to=1)], {}),
        (lambda: [prove(noisy_sum, epsilon=1, delta=0.4, up_to=1)], {"rounds": 0}),
        (lambda: [step()], {"sampling_rate": 0}),
    ],
)
def test_what_cannot_be_composed(proofs, options):
    with pytest.raises(InputError):
        composed(*proofs(), **options)


def after_two(data, rng):
    first, second = data[0], data[1]
    return first + second + rng.normal(0, 2)


def test_samples_may_be_smaller_than_what_is_proved():
    """Of fewer than two entries nothing is proved: the function raises an exception, which is seen."""
    proof = prove(after_two, notion="zcdp", relation="replace-one", entries=3)
    assert proof.sizes[0] == 2
    with pytest.raises(InputError):
        prove(after_two, delta=1e-5, rounds=2, sampling_rate=0.5)


@pytest.mark.parametrize(
    "options",
    [
        {"rounds": 2},
        {"rounds": 0, "delta": 1e-5},
        {"sampling_rate": 0.5, "delta": 1e-5},
        {"sampling_rate": 2, "delta": 1e-5, "relation": "add-remove"},
        {"mu": 1, "rho": 1},
        {"mu": -1},
        {"notion": "gdp", "epsilon": 1},
        {"mu": 1, "delta": 1e-5},
        {"mu": 1, "values": [0, 1]},
    ],
)
def test_bad_input(options):
    with pytest.raises(InputError):
        prove(noisy_sum, **options)


def command(*arguments):
    return CliRunner().invoke(app, ["prove", "clipping:by_a_loop", "--container", "rows", *arguments])


def test_on_the_command_line():
    done = command("--relation", "add-remove", "--delta", "1e-5", "--rounds", "100", "--sampling-rate", "0.1", "--json")
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    truth = epsilon(Repeat(Poisson(Gaussian(4.0), 0.1), 100), 1e-5, "add-remove").upper
    assert truth <= found["epsilon_upper"] <= truth * 1.000001
    assert "0.5-GDP" in command("--mu", "0.5").output
    assert isinstance(command("--rounds", "10").exception, InputError)


def test_a_claim_about_rounds_is_not_refuted_by_one_step_on_all_data():
    """One step on all data has a larger epsilon than a hundred on small samples."""
    assert clipping.PRIVATE["loop"]
    done = command(
        "--relation", "add-remove", "--epsilon", "0.01", "--delta", "1e-9", "--rounds", "2", "--sampling-rate", "0.01"
    )
    assert done.exit_code == 3
    assert "REFUTED" not in done.output
