"""Bugs planted in the numerics: the checks here pass on the right code and must catch every one of them.

Reference: 160-bit ball arithmetic (tests/oracles/ball_profile.py). Each plant is a one-line change of the kind that
slips in: a wrong direction of rounding, an ignored error, a forgotten direction, a wrong sensitivity.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from ball_profile import Phase, profile
from flint import arb, ctx

from dpcert.accounting import dominating, epsilon, rounding
from dpcert.accounting.bracket import EmptyBracket
from dpcert.accounting.losses import crossing as crossings
from dpcert.accounting.losses import gaussian_rounds as gaussian
from dpcert.accounting.losses import line
from dpcert.accounting.losses.line import Inversion, Plan
from dpcert.accounting.losses.smooth import contour
from dpcert.accounting.losses.smooth import one_line as whole
from dpcert.accounting.losses.smooth import quadrature as moments
from dpcert.accounting.pairs import GaussianPair, Order, Sampling, SubsampledPair
from dpcert.accounting.pricing import schemes
from dpcert.accounting.rounding import End
from dpcert.mechanisms import FixedSize, Gaussian, Neighbouring, Poisson, Repeat
from dpcert.mechanisms.base import Mechanism

Run = tuple[Mechanism, Neighbouring, list[list[Phase]], float]

RUNS: list[Run] = [
    (Repeat(Gaussian(1.7), 40), "add-remove", [[Phase("gaussian", 1 / 1.7, 1.0, 40)]], 1e-7),
    (Repeat(Gaussian(3.0), 40), "replace-one", [[Phase("gaussian", 2 / 3.0, 1.0, 40)]], 1e-7),
    (
        Repeat(Poisson(Gaussian(0.9), 0.02), 700),
        "add-remove",
        [[Phase("remove", 1 / 0.9, 0.02, 700)], [Phase("add", 1 / 0.9, 0.02, 700)]],
        1e-6,
    ),
    (Repeat(Poisson(Gaussian(2.0), 0.2), 100), "replace-one", [[Phase("replace", 0.5, 0.2, 100)]], 1e-8),
    (
        Repeat(FixedSize(Gaussian(4.0), 50, 10), 300),
        "add-remove",
        [[Phase("remove", 0.5, 0.2, 300)], [Phase("add", 0.5, 0.2, 300)]],
        1e-8,
    ),
]


QUICK: list[tuple[Sampling, float, float, int, float]] = [
    ("add", 1.0, 0.01, 3000, 1e-6),
    ("remove", 0.05, 0.5, 10_000, 1e-12),
    ("replace", 2.5, 0.02, 300, 1e-9),
    ("hybrid", 0.3, 0.9, 5, 1e-3),
    ("add", 4.0, 0.05, 100, 1e-3),
]


def holds_the_truth(run: Mechanism, relation: Neighbouring, orders: list[list[Phase]], delta: float) -> bool:
    """The certified interval holds the largest epsilon over the orders. A crash is no wrong number: it surfaces."""
    try:
        bracket = epsilon(run, delta, relation, rtol=1e-10)
    except EmptyBracket:  # its ends contradict each other
        return False
    at_ends = [profile(phases, [bracket.upper, bracket.lower]) for phases in orders]
    return all(upper <= delta for upper, _ in at_ends) and any(lower > delta for _, lower in at_ends)


def every_order_is_accounted_for() -> bool:
    """Neither order is known to dominate the other for all settings, so both must be asked."""
    run: Mechanism = Repeat(Poisson(Gaussian(0.9), 0.02), 700)
    pairs = dominating(run, "add-remove").upper
    return {pair.order for product in pairs for pair, _ in product if isinstance(pair, SubsampledPair)} == {
        "remove",
        "add",
    }


def quick_bounds_hold() -> bool:
    """What settles the smaller order never accepts an epsilon that is certainly too small."""
    for order, shift, rate, rounds, delta in QUICK:
        composition = ((SubsampledPair(GaussianPair(shift), rate, order), rounds),)
        try:
            bracket = contour.epsilon(composition, delta, 1e-10)
        except EmptyBracket:
            return False
        if contour.at_most(composition, bracket.lower * (1.0 - 1e-9), delta):
            return False
    return True


def rounded_outwards() -> bool:
    """The ends of a Gaussian profile enclose its value in balls; Phi by erfc, as nothing else is needed."""
    for at, mu in ((1.0, 0.7), (20.0, 3.3), (0.1, 1e-3)):
        with ctx.workprec(300):
            near, far = (arb(at) / mu - arb(mu) / 2) / arb(2).sqrt(), (arb(at) / mu + arb(mu) / 2) / arb(2).sqrt()
            truth = (near.erfc() - arb(at).exp() * far.erfc()) / 2
            if not gaussian.profile_below(at, mu) <= truth <= gaussian.profile_above(at, mu):
                return False
    return True


def all_checks_pass() -> bool:
    return (
        rounded_outwards()
        and every_order_is_accounted_for()
        and quick_bounds_hold()
        and all(holds_the_truth(*run) for run in RUNS)
    )


def rounded_to_nearest_below(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(gaussian, "float_above", rounding.float_below)


def lower_end_rounded_up(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(gaussian, "float_below", rounding.float_above)


def searched_from_the_wrong_side(patch: pytest.MonkeyPatch) -> None:
    right = crossings._excess
    other = {End.LOWER: End.UPPER, End.UPPER: End.LOWER}
    patch.setattr(crossings, "_excess", lambda found, end, log_delta: right(found, other[end], log_delta))


def errors_subtracted_from_the_upper_end(patch: pytest.MonkeyPatch) -> None:
    right = Inversion.log_delta

    def wrong(self: Inversion, at: float) -> tuple[float, float, float]:
        low, high, slope = right(self, at)
        return low - (high - low), low, slope

    patch.setattr(Inversion, "log_delta", wrong)


def periodic_copies_ignored(patch: pytest.MonkeyPatch) -> None:
    right = whole.plan

    def wrong(*given: Any) -> Plan:
        chosen = right(*given)
        return replace(chosen, period=chosen.period / 4.0)

    patch.setattr(whole, "plan", wrong)
    patch.setattr(Inversion, "_log_aliases", lambda self, at: -1000.0)


def truncation_ignored(patch: pytest.MonkeyPatch) -> None:
    right = line.truncation
    patch.setattr(line, "truncation", lambda *given: right(*given) / 4.0)
    patch.setattr(line, "log_tail", lambda *given: -1000.0)


def smoothing_without_its_density(patch: pytest.MonkeyPatch) -> None:
    """Lower ends of the smoothed profile as if it were not above the profile."""
    right = line.summed
    patch.setattr(line, "NATURAL", 0)
    patch.setattr(line, "summed", lambda at, c, found, square, upper: right(at, c, found, square, True))


def coarse_nodes(patch: pytest.MonkeyPatch) -> None:
    right = moments.short
    patch.setattr(moments, "short", lambda value: 4.0 * right(value))


def few_digits_without_their_error(patch: pytest.MonkeyPatch) -> None:
    right = whole.invert

    def wrong(above: Any, below: Any, plan: Plan, *rest: Any) -> Inversion:
        found = right(above, below, plan, *rest)
        half = found.s.size // 2
        short = replace(found.above, terms=found.above.terms[:half], error=0.0)
        return found if plan.sides else replace(found, s=found.s[:half], above=short, below=short)

    patch.setattr(whole, "invert", wrong)


def largest_loss_of_half_the_rounds(patch: pytest.MonkeyPatch) -> None:
    right = contour.largest_total
    patch.setattr(contour, "largest_total", lambda composition: 0.5 * right(composition))


def range_too_short(patch: pytest.MonkeyPatch) -> None:
    right = moments.kept_range
    patch.setattr(moments, "kept_range", lambda *given: tuple(0.55 * end for end in right(*given)))


def add_direction_dropped(patch: pytest.MonkeyPatch) -> None:
    right = schemes._sampled
    patch.setattr(schemes, "_sampled", lambda pair, rate: dict.fromkeys(Order, right(pair, rate)[Order.REMOVE]))


def sensitivity_halved(patch: pytest.MonkeyPatch) -> None:
    for module in (_module(), schemes):
        patch.setattr(module, "sensitivity", lambda relation: 1.0)


def poisson_formula_for_fixed_size(patch: pytest.MonkeyPatch) -> None:
    right = schemes._sampled
    patch.setattr(
        _module(),
        "fixed_size",
        lambda part, relation: schemes.tight(right(schemes.additive(part.mechanism, 1), part.sampling_rate)),
    )


def _module() -> Any:
    import importlib

    return importlib.import_module("dpcert.accounting.pricing.dominating")


PLANTS: list[Callable[[pytest.MonkeyPatch], None]] = [
    rounded_to_nearest_below,
    lower_end_rounded_up,
    searched_from_the_wrong_side,
    errors_subtracted_from_the_upper_end,
    periodic_copies_ignored,
    truncation_ignored,
    smoothing_without_its_density,
    coarse_nodes,
    few_digits_without_their_error,
    largest_loss_of_half_the_rounds,
    range_too_short,
    add_direction_dropped,
    sensitivity_halved,
    poisson_formula_for_fixed_size,
]


def test_the_checks_pass_on_the_right_code() -> None:
    assert all_checks_pass()
    for run, relation, _, delta in RUNS:
        assert epsilon(run, delta, relation, rtol=1e-10).narrower_than(1e-9)


@pytest.mark.parametrize("plant", PLANTS, ids=lambda plant: plant.__name__)
def test_a_planted_bug_is_caught(plant: Callable[[pytest.MonkeyPatch], None], monkeypatch: pytest.MonkeyPatch) -> None:
    plant(monkeypatch)
    with np.errstate(all="ignore"):
        assert not all_checks_pass()
