"""Bugs planted on the way from a claim to its verdict: the oracle check here must catch every one of them."""

from __future__ import annotations

import importlib
import math
from typing import Any

import mpmath
import pytest
from cases import few

from dpcert.accounting import Bracket
from dpcert.accounting.pricing import schemes
from dpcert.mechanisms import Gaussian, InputError, Poisson
from dpcert.proofs_checks.claims.claim import parse_claim

facade = importlib.import_module("dpcert.accounting.question")
pairs_of = importlib.import_module("dpcert.accounting.pricing.dominating")
aggregation = importlib.import_module("dpcert.mechanisms.aggregation")
observers = importlib.import_module("dpcert.accounting.billboard.observers")
visible = importlib.import_module("dpcert.accounting.participation.visible")
tables = importlib.import_module("dpcert.mechanisms.tables.noise")
sampling = importlib.import_module("dpcert.mechanisms.tables.cohort")
verifier = importlib.import_module("dpcert.proofs_checks.verification.verify")

ROUNDS, COHORT, POPULATION, CLIP, STD, DELTA = 20, 4, 10, 0.5, 0.4, 1e-3


def gaussian_delta(epsilon: Any, mu: Any) -> Any:
    """Balle, Wang 2018, Theorem 8."""
    if mu == 0:
        return mpmath.mpf(0)
    return mpmath.ncdf(-epsilon / mu + mu / 2) - mpmath.exp(epsilon) * mpmath.ncdf(-epsilon / mu - mu / 2)


def coalition_delta(epsilon: Any, move: Any) -> Any:
    """E over K ~ Bin(rounds, cohort / population), each term at 50 digits."""
    rate = mpmath.mpf(COHORT) / POPULATION
    return mpmath.fsum(
        mpmath.binomial(ROUNDS, k)
        * rate**k
        * (1 - rate) ** (ROUNDS - k)
        * gaussian_delta(epsilon, move * mpmath.sqrt(k))
        for k in range(ROUNDS + 1)
    )


def true_epsilon(move: Any) -> float:
    low, high = mpmath.mpf(0), mpmath.mpf(200)
    with mpmath.workdps(50):
        for _ in range(100):
            middle = (low + high) / 2
            low, high = (middle, high) if coalition_delta(middle, move) > DELTA else (low, middle)
    return float(low)


def claim(epsilon: float, mechanism: dict[str, Any]) -> Any:
    statement = {"title": "t", "notion": "billboard", "neighbouring": "replace-one", "epsilon": epsilon, "delta": DELTA}
    scheme = {"scheme": "fixed-size", "population": POPULATION, "cohort": COHORT}
    return parse_claim(
        {"claim": statement, "mechanism": mechanism, "sampling": scheme, "composition": {"rounds": ROUNDS}}
    )


MEAN = {"kind": "gaussian-mean", "noise_std": STD, "clip_norm": CLIP}
EACH = {"kind": "per-client-gaussian", "noise_std": STD, "clip_norm": CLIP}


def check() -> None:
    """Verdicts just above and just below the true epsilon, for noise on the mean and noise before averaging.

    Of noise that the clients add themselves the coalition of all others knows all but one client's.
    """
    for mechanism, z in ((MEAN, STD * COHORT / CLIP), (EACH, STD / CLIP)):
        truth = true_epsilon(2 / mpmath.mpf(z))
        assert verifier.verify(claim(truth * (1 + 1e-6), mechanism)).verdict == "holds"
        assert verifier.verify(claim(truth * (1 - 1e-6), mechanism)).verdict == "refuted"


def test_the_check_passes_without_a_bug() -> None:
    check()


def halved_sensitivity(patch: pytest.MonkeyPatch) -> None:
    for module in (pairs_of, schemes, visible):
        patch.setattr(module, "sensitivity", lambda relation: 1.0)


def cohorts_taken_as_secret(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(facade, "seen_by", lambda notion, participation: "hidden")
    patch.setattr(observers, "participation_known", lambda step, observer, clients: ("nothing", ""))


def fixed_size_taken_as_poisson(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(sampling, "FixedSize", lambda base, population, cohort: Poisson(base, cohort / population))


def noise_on_the_mean_taken_as_noise_on_the_sum(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(tables.GaussianMeanTable, "_noise", lambda table, weight: Gaussian(table.noise_std / table.clip_norm))


def every_client_s_noise_taken_as_noise_on_the_average(patch: pytest.MonkeyPatch) -> None:
    def described(table: Any, scheme: Any) -> Any:
        noise = Gaussian(table.noise_std * scheme.divisor() / table.clip_norm)
        return tables.Described(noise, noise)

    patch.setattr(tables.PerClientGaussianTable, "described", described)


def colluders_forget_their_own_noise(patch: pytest.MonkeyPatch) -> None:
    def averaged(noise: Any, colluders: int = 0) -> float:
        return float(noise.noise_std * math.sqrt(noise.cohort) / noise.clip_norm)

    patch.setattr(aggregation.PerClientNoise, "clients_noise_multiplier", averaged)


def lower_end_makes_it_hold(patch: pytest.MonkeyPatch) -> None:
    def judge(bracket: Bracket, threshold: float) -> str:
        return "holds" if bracket.lower <= threshold * 1.01 else "refuted"

    patch.setattr(verifier, "judge", judge)


def estimates_decide(patch: pytest.MonkeyPatch) -> None:
    """A central-limit estimate passed off as certified: mu = move sqrt(q T), no expectation over participation."""

    def estimate(claim: Any, run: Any, rtol: float) -> Bracket:
        step = run.mechanism
        mu = 2 / step.mechanism.noise_multiplier * math.sqrt(run.rounds * step.sampling_rate)
        low, high = 0.0, 200.0
        for _ in range(60):
            middle = (low + high) / 2
            low, high = (middle, high) if gaussian_delta(middle, mpmath.mpf(mu)) > DELTA else (low, middle)
        return Bracket(low, high, True, "clt")

    patch.setattr(verifier, "interval", estimate)


PLANTED = [
    halved_sensitivity,
    cohorts_taken_as_secret,
    fixed_size_taken_as_poisson,
    noise_on_the_mean_taken_as_noise_on_the_sum,
    every_client_s_noise_taken_as_noise_on_the_average,
    colluders_forget_their_own_noise,
    lower_end_makes_it_hold,
    estimates_decide,
]


@pytest.mark.parametrize("plant", few(PLANTED, 4))
def test_planted_bugs_are_caught(plant: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """By a wrong verdict; one by the sentence that two descriptions of the noise contradict each other."""
    plant(monkeypatch)
    contradictory = plant is every_client_s_noise_taken_as_noise_on_the_average
    with pytest.raises(InputError, match="gives the run's noise multiplier") if contradictory else wrong_verdict():
        check()


def wrong_verdict() -> Any:
    return pytest.raises(AssertionError, match=r"'(holds|refuted|undecided)' == '(holds|refuted)'")
