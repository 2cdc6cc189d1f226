"""Calibration meets its target for certain, and by no more than it must."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable

import mpmath
import pytest

from dpcert.accounting import Calibration, calibrate, calibrations, epsilon
from dpcert.accounting.answer import answer
from dpcert.accounting.bracket import Bracket
from dpcert.accounting.calibration.search import Search
from dpcert.accounting.question import Question
from dpcert.mechanisms import FixedSize, Gaussian, InputError, Laplace, Poisson, Repeat, Sequence
from dpcert.mechanisms.base import Mechanism

module = sys.modules["dpcert.accounting.calibration.calibrate"]  # the package's attribute of that name is the function


def subsampled(noise_multiplier: float, rate: float, rounds: int) -> Mechanism:
    return Repeat(Poisson(Gaussian(noise_multiplier), rate), rounds)


def is_met_and_tight(found: Calibration, target: float) -> bool:
    """At the value the target is met; just beyond, the true epsilon is at least the target, but for rounding."""
    return found.epsilon.certified and found.epsilon.upper <= target and found.beyond is not None


@pytest.mark.parametrize(("target", "delta"), [(0.1, 1e-6), (2.0, 1e-5), (30.0, 1e-12)])
def test_gaussian_noise_against_the_exact_profile(target: float, delta: float) -> None:
    """The exact noise solves delta(target; sqrt(T) / z) = delta, by bisection at 60 digits."""
    found = calibrate(
        lambda z: Repeat(Gaussian(z), 50), solve_for="noise_multiplier", epsilon=target, delta=delta, rtol=1e-9
    )
    with mpmath.workdps(60):

        def excess(z: mpmath.mpf) -> mpmath.mpf:
            mu = mpmath.sqrt(50) / z
            return mpmath.ncdf(mu / 2 - target / mu) - mpmath.exp(target) * mpmath.ncdf(-mu / 2 - target / mu) - delta

        low, high = mpmath.mpf(found.value) / 2, mpmath.mpf(found.value) * 2
        for _ in range(80):
            middle = (low + high) / 2
            low, high = (middle, high) if excess(middle) > 0 else (low, middle)
        exact = float(high)
    assert exact <= found.value <= exact * (1.0 + 3e-9)
    assert is_met_and_tight(found, target)


@pytest.mark.parametrize(("rounds", "target", "scale"), [(3, 0.3, 10.0), (24, 2.64, 9.090909090909092), (7, 2.8, 2.5)])
def test_pure_dp_finds_the_decimal(rounds: int, target: float, scale: float) -> None:
    """rounds / target, which a search in doubles stops next to."""
    found = calibrate(
        lambda b: Repeat(Laplace(b), rounds), solve_for="noise_multiplier", epsilon=target, delta=0.0, rtol=1e-6
    )
    assert found.epsilon.upper <= target
    assert scale <= found.value <= scale * (1 + (0 if scale == round(scale, 2) else 1e-6))


@pytest.mark.parametrize("target", [0.5, 3.0])
@pytest.mark.parametrize("solve_for", ["noise_multiplier", "sampling_rate"])
@pytest.mark.parametrize("rtol", [1e-6, 1e-9])
def test_subsampled_runs_meet_the_target_and_barely(solve_for: str, target: float, rtol: float) -> None:
    def build(value: float) -> Mechanism:
        return subsampled(value, 0.02, 900) if solve_for == "noise_multiplier" else subsampled(1.1, value, 900)

    found = calibrate(build, solve_for=solve_for, epsilon=target, delta=1e-6, rtol=rtol)  # type: ignore[arg-type]
    assert is_met_and_tight(found, target)
    assert epsilon(build(found.value), 1e-6, rtol=rtol) == found.epsilon
    assert found.beyond is not None
    assert epsilon(build(found.beyond), 1e-6, rtol=rtol).upper > target
    assert abs(found.beyond / found.value - 1.0) <= 1.1 * rtol
    assert found.epsilon.lower >= target * (1.0 - 10 * rtol)


def test_asked_again_by_default_the_target_is_met() -> None:
    """One default tolerance: what calibrate found is not refused by the question that a user asks next."""
    found = calibrate(lambda z: subsampled(z, 0.02, 900), solve_for="noise_multiplier", epsilon=3.0, delta=1e-6)
    assert epsilon(subsampled(found.value, 0.02, 900), 1e-6) == found.epsilon


def test_rounds_are_the_largest_whole_number() -> None:
    found = calibrate(lambda rounds: subsampled(1.1, 0.01, int(rounds)), solve_for="rounds", epsilon=2.0, delta=1e-5)
    assert isinstance(found.value, int)
    assert found.beyond == found.value + 1
    assert epsilon(subsampled(1.1, 0.01, found.value), 1e-5).upper <= 2.0
    assert epsilon(subsampled(1.1, 0.01, found.value + 1), 1e-5).lower > 2.0


def test_a_step_function_of_the_rate_is_served() -> None:
    """Fixed-size cohorts are whole: the largest cohort that meets the target."""

    def build(rate: float) -> Mechanism:
        return Repeat(FixedSize(Gaussian(20.0), 200, max(1, math.floor(200 * rate))), 100)

    found = calibrate(build, solve_for="sampling_rate", epsilon=1.0, delta=1e-6, neighbouring="replace-one")
    cohort = math.floor(200 * found.value)
    assert epsilon(Repeat(FixedSize(Gaussian(20.0), 200, cohort), 100), 1e-6, "replace-one").upper <= 1.0
    assert epsilon(Repeat(FixedSize(Gaussian(20.0), 200, cohort + 1), 100), 1e-6, "replace-one").upper > 1.0


def test_a_rate_that_may_be_one() -> None:
    found = calibrate(lambda q: subsampled(100.0, q, 100), solve_for="sampling_rate", epsilon=2.0, delta=1e-5)
    assert (found.value, found.beyond) == (1.0, None)


def test_epsilon_zero_is_a_target() -> None:
    """delta covers the total variation: Phi(mu/2) - Phi(-mu/2) <= delta."""
    found = calibrate(lambda z: Gaussian(z), solve_for="noise_multiplier", epsilon=0.0, delta=1e-3, rtol=1e-9)
    assert found.epsilon.upper == 0.0
    exact = 1.0 / float(2.0 * mpmath.sqrt(2) * mpmath.erfinv(1e-3))
    assert exact <= found.value <= exact * (1.0 + 3e-9)


def test_neighbouring_and_notion_are_passed_on() -> None:
    def of(neighbouring: str) -> float:
        return calibrate(
            lambda z: Repeat(Gaussian(z), 5),
            solve_for="noise_multiplier",
            epsilon=1.0,
            delta=1e-5,
            neighbouring=neighbouring,  # type: ignore[arg-type]
            rtol=1e-9,
        ).value

    assert of("replace-one") == pytest.approx(2.0 * of("add-remove"), rel=1e-8)


@pytest.mark.parametrize(
    ("field", "changes"),
    [
        ("solve_for", {"solve_for": "delta"}),
        ("epsilon", {"epsilon": -1.0}),
        ("epsilon", {"epsilon": math.nan}),
        ("delta", {"delta": 1.0}),
        ("accountant", {"accountant": "none"}),
        ("most", {"most": 0.0}),
    ],
)
def test_bad_input_is_named(field: str, changes: dict[str, object]) -> None:
    given: dict[str, object] = {"solve_for": "noise_multiplier", "epsilon": 1.0, "delta": 1e-5} | changes
    with pytest.raises(InputError) as problem:
        calibrate(lambda z: Gaussian(z), **given)  # type: ignore[arg-type]
    assert problem.value.field == field


def test_a_target_that_one_round_misses_is_said_so() -> None:
    with pytest.raises(InputError, match="no value of rounds meets"):
        calibrate(lambda rounds: Repeat(Gaussian(0.1), int(rounds)), solve_for="rounds", epsilon=0.1, delta=1e-5)


def test_the_largest_cohort_is_whole_and_at_most_the_population() -> None:
    def run(cohort: float) -> Repeat:
        return Repeat(FixedSize(Gaussian(4.0), 1000, int(cohort)), 500)

    found = calibrate(run, solve_for="cohort", epsilon=3.0, delta=1e-6, most=1000, neighbouring="replace-one")
    assert isinstance(found.value, int)
    assert epsilon(run(found.value), 1e-6, "replace-one").upper <= 3.0
    next_one = Question.about(run(found.value + 1), "epsilon", "replace-one")
    assert answer(next_one, 1e-6).upper > 3.0  # by product pairs, as the search: hidden cohorts are not narrowed there
    everybody = calibrate(run, solve_for="cohort", epsilon=1e3, delta=1e-6, most=1000, neighbouring="replace-one")
    assert (everybody.value, everybody.beyond) == (1000, None)


def test_the_largest_clip_norm_of_a_schedule() -> None:
    def run(clip_norm: float) -> Sequence:
        first, second = (Repeat(Poisson(Gaussian(std * 100 / clip_norm), 0.01), 300) for std in (0.02, 0.01))
        return Sequence((first, second))

    found = calibrate(run, solve_for="clip_norm", epsilon=2.0, delta=1e-6)
    assert epsilon(run(found.value), 1e-6).upper <= 2.0
    assert epsilon(run(found.value * (1 + 1e-6)), 1e-6).upper > 2.0


TARGETS = [3.0, 0.5, 8.0]


def all_met_and_tight(runs: list[Callable[[float], Mechanism]], found: list[list[Calibration]]) -> bool:
    """Asked anew: each value meets its target, and what is said to miss it does."""

    def upper(run: Mechanism) -> float:
        return epsilon(run, 1e-5, accountant="rdp").upper

    return all(
        upper(build(calibration.value)) <= target * (1 + 1e-12) < upper(build(calibration.beyond or 0.0))
        for build, each in zip(runs, found, strict=True)
        for target, calibration in zip(TARGETS, each, strict=True)
    )


def many(build: Callable[[float], Mechanism]) -> list[Calibration]:
    asked = {"solve_for": "noise_multiplier", "epsilons": TARGETS, "delta": 1e-5, "accountant": "rdp", "rtol": 1e-4}
    return list(calibrations(build, **asked))  # type: ignore[arg-type]


def test_many_targets_share_what_was_seen_and_each_is_met(monkeypatch: pytest.MonkeyPatch) -> None:
    """Planted: two runs share it too, and values of the first are taken for the second's."""
    calls = 0

    def few(z: float) -> Mechanism:
        nonlocal calls
        calls += 1
        return Repeat(Gaussian(z), 10)

    runs = [few, lambda z: Repeat(Gaussian(z), 20)]
    found = [many(build) for build in runs]
    together, calls = calls, 0
    assert all_met_and_tight(runs, found)
    calls = 0
    for target in TARGETS:
        calibrate(few, solve_for="noise_multiplier", epsilon=target, delta=1e-5, accountant="rdp", rtol=1e-4)
    assert together < 0.8 * calls
    shared: dict[float, Bracket] = {}
    monkeypatch.setattr(module, "Search", lambda *given, **_: Search(*given, seen=shared))
    assert not all_met_and_tight(runs, [many(build) for build in runs])


def test_many_targets_of_whole_numbers_and_of_one_limit() -> None:
    found = list(
        calibrations(
            lambda rounds: Repeat(Gaussian(10.0), int(rounds)),
            solve_for="rounds",
            epsilons=[1.0, 2.0, 1.0],
            delta=1e-5,
            most=20,
        )
    )
    assert [each.value for each in found] == [7, 20, 7]
    assert [each.beyond for each in found] == [8, None, 8]
