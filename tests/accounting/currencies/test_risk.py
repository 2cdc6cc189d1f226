"""Risk tables and conversions against closed forms."""

from __future__ import annotations

import math

import mpmath
import pytest

from dpcert.accounting import convert, risk
from dpcert.mechanisms import Gaussian, InputError, Laplace, Poisson, Repeat


def gaussian_power(mu: float, rate: float) -> float:
    """Phi(Phi^-1(rate) + mu), 40 digits."""
    with mpmath.workdps(40):
        at = mpmath.sqrt(2) * mpmath.erfinv(2 * mpmath.mpf(rate) - 1)
        return float(mpmath.ncdf(at + mu))


@pytest.mark.parametrize("rate", [0.1, 1e-3, 1e-8])
def test_a_gaussian_s_true_positive_rates(rate: float) -> None:
    table = risk(Repeat(Gaussian(1.0), 9), false_positive_rates=[rate])
    found = table.rates[0].true_positive_rate
    assert found.lower <= gaussian_power(3.0, rate) <= found.upper
    assert found.width <= 1e-9 * found.upper
    posterior = table.rates[0].posterior
    assert posterior.lower <= found.upper / (found.upper + rate) <= posterior.upper * (1 + 1e-9)


@pytest.mark.parametrize("rate", [0.1, 1e-2, 1e-4, 1e-6])
def test_one_sampled_round(rate: float) -> None:
    """The likelihood ratio rises with the output, so thresholds are optimal; the unit's coming is the weaker order."""
    table = risk(Poisson(Gaussian(0.5), 0.1), false_positive_rates=[rate])
    with mpmath.workdps(40):
        threshold = -mpmath.sqrt(2) * mpmath.erfinv(2 * mpmath.mpf(rate) - 1)
        true = float(0.9 * mpmath.mpf(rate) + 0.1 * mpmath.ncdf(2 - threshold))
    found = table.rates[0].true_positive_rate
    assert found.lower <= true * (1 + 1e-9)
    assert found.lower >= true * (1 - (1e-3 if rate < 0.1 else 0.05))  # 0.1 is on the other side of eps = 0
    assert true * (1 - 1e-9) <= found.upper <= true * (1 + 1e-2)  # of the curve made convex over both orders


def test_a_known_dp_sgd_run_at_a_small_rate() -> None:
    """Noise multiplier 1, rate .01, 10,000 rounds, false-positive rate 1e-5: [.0016717, .0016727] by a fine grid of
    certified profiles; a popular library says .00037."""
    table = risk(Repeat(Poisson(Gaussian(1.0), 0.01), 10_000), false_positive_rates=[1e-5])
    found = table.rates[0].true_positive_rate
    assert 0.0016717 < found.lower <= found.upper < 0.0016727
    assert found.width < 2e-5 * found.upper


def test_advantage_and_bayes_success() -> None:
    table = risk(Laplace(1.0), false_positive_rates=[0.1], prior=0.2)
    advantage = -math.expm1(-0.5)
    assert table.advantage.lower <= advantage <= table.advantage.upper
    # p = 0.2: guess "in" where the odds of 4 are outweighed, which a loss of at most 1 never does
    assert table.bayes_success.lower <= 0.8 <= table.bayes_success.upper < 0.8 + 1e-12
    even = risk(Laplace(1.0), false_positive_rates=[0.1]).bayes_success
    assert even.lower <= 0.5 + 0.5 * advantage <= even.upper


@pytest.mark.parametrize(("field", "options"), [("prior", {"prior": 1.0}), ("false_positive_rates", {})])
def test_bad_input(field: str, options: dict[str, float]) -> None:
    with pytest.raises(InputError, match=field):
        risk(Gaussian(1.0), false_positive_rates=[0.6] if not options else [0.1], **options)  # type: ignore[arg-type]


CONVERSIONS = [
    ("epsilon", 1.0, "advantage", {}, math.tanh(0.5)),
    ("epsilon", 1.0, "tpr", {"fpr": 1e-3}, math.e * 1e-3),
    ("epsilon", 3.0, "tpr", {"fpr": 1e-2, "known_delta": 1e-4}, math.exp(3) * 1e-2 + 1e-4),
    ("epsilon", 60.0, "tpr", {"fpr": 1e-2, "known_delta": 1e-4}, 1 - 0.9899 * math.exp(-60)),
    ("epsilon", 1.0, "mu", {}, 1.23203541),  # 2 Phi^-1(e / (1 + e))
    ("mu", 0.5, "rho", {}, 0.125),
    ("mu", 0.376, "epsilon", {"delta": 1e-5}, 1.45199535),  # Facebook URLs' entry in the registry of deployments
    ("rho", 2.56, "epsilon", {"delta": 1e-10}, 17.1583),  # US Census 2020, PL 94-171, persons
]


@pytest.mark.parametrize(("known", "amount", "asked", "at", "expected"), CONVERSIONS)
def test_conversions(known, amount, asked, at, expected) -> None:  # type: ignore[no-untyped-def]
    found = convert(known, amount, asked, **at)
    assert found.at_most == pytest.approx(expected, rel=1e-5)
    assert found.at_most >= expected * (1 - 1e-6)
    assert found.direction == ("upper bound" if known == "rho" else "tight")


def test_what_does_not_follow_is_infinite_in_words() -> None:
    found = convert("rho", 0.1, "mu")
    assert found.at_most == math.inf
    assert "no bound" in found.words
    assert convert("mu", 1.0, "epsilon", delta=0.0).at_most == math.inf


@pytest.mark.parametrize(
    ("field", "arguments"),
    [
        ("delta", ("rho", 1.0, "epsilon")),
        ("asked", ("rho", 1.0, "privacy")),
        ("known", ("gdp", 1.0, "rho")),
        ("mu", ("mu", -1.0, "rho")),
    ],
)
def test_conversions_with_bad_input(field: str, arguments: tuple[str, float, str]) -> None:
    with pytest.raises(InputError, match=field):
        convert(*arguments)  # type: ignore[arg-type]
