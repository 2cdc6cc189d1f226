"""The caller's tolerance, batches, and what the accountants have in common."""

from __future__ import annotations

from dataclasses import FrozenInstanceError

import pytest

from dpcert.accounting import Bracket, calibrate, delta, deltas, epsilon, epsilons, rho, risk, tradeoff
from dpcert.accounting.accountants import CERTIFIED, ESTIMATES
from dpcert.accounting.pricing.dominating import dominating
from dpcert.accounting.question import Question
from dpcert.mechanisms import (
    Gaussian,
    InputError,
    Laplace,
    MatrixFactorisation,
    Mechanism,
    MixtureOfGaussians,
    Poisson,
    Repeat,
    Zcdp,
)

RUNS: list[Mechanism] = [
    Gaussian(1.0),
    Repeat(Poisson(Gaussian(1.1), 0.01), 1_000),
    Repeat(Laplace(5.0), 20),
    Repeat(Zcdp(0.01), 3),
]


def test_a_bracket_says_whether_it_is_as_narrow_as_was_asked() -> None:
    for run in RUNS[:2]:
        found = epsilon(run, 1e-5, rtol=1e-6)
        assert found.reached
        assert found.width <= 1e-6 * found.upper
    assert not epsilon(Repeat(Zcdp(0.01), 3), 1e-5).reached  # only an upper bound is known
    assert epsilon(RUNS[1], 1e-5).reached
    assert not epsilon(RUNS[2], 1e-5, rtol=1e-15).reached  # more than doubles can give


def test_whether_it_was_reached_is_no_part_of_the_bracket() -> None:
    assert Bracket(1.0, 2.0, True, "pld", reached=False) == Bracket(1.0, 2.0, True, "pld")


@pytest.mark.parametrize("rtol", [0.0, 1.0, -1e-6, float("nan"), float("inf"), "tight", None])
def test_a_tolerance_out_of_range_is_refused_before_any_work(rtol: float) -> None:
    for ask in (lambda: epsilon(RUNS[0], 1e-5, rtol=rtol), lambda: delta(RUNS[0], 1.0, rtol=rtol)):
        with pytest.raises(InputError, match="rtol"):
            ask()


def test_an_unknown_accountant_is_refused_before_any_work() -> None:
    """Planted before: at delta = 0, where no accountant is asked, any name would do."""
    for at in (0.0, 1e-5):
        with pytest.raises(InputError, match=r"expected one of .*contour.* \(did you mean contour\?\)"):
            epsilon(RUNS[0], at, accountant="countour")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="best, gaussian, closed-form"):
        Question.about(RUNS[0], "delta", None, accountant="moments")  # type: ignore[arg-type]


@pytest.mark.parametrize("run", RUNS)
def test_a_batch_is_the_single_answers(run: Mechanism) -> None:
    targets, points = [1e-3, 1e-6, 1e-9], [0.0, 0.5, 2.0]
    assert epsilons(run, targets) == tuple(epsilon(run, target) for target in targets)
    assert deltas(run, points) == tuple(delta(run, point) for point in points)
    assert epsilons(run, []) == ()
    with pytest.raises(InputError, match="deltas"):
        epsilons(run, [1e-5, 1.0])


def test_the_search_of_calibrate_ends_where_the_caller_says() -> None:
    def searched(rtol: float) -> tuple[float, float]:
        found = calibrate(Gaussian, solve_for="noise_multiplier", epsilon=1.0, delta=1e-5, rtol=rtol)
        assert found.beyond is not None
        return found.value, found.beyond

    loose, tight = searched(1e-3), searched(1e-9)
    assert 0 < tight[0] - tight[1] <= 1e-9 * tight[0]
    assert tight[0] - tight[1] < loose[0] - loose[1] <= 1e-3 * loose[0]


def test_a_question_is_frozen_and_hashable() -> None:
    asked = Question.about(RUNS[0], "epsilon", None)
    assert {asked: 1}[Question.about([RUNS[0]][0], "epsilon", "add-remove")] == 1
    with pytest.raises(FrozenInstanceError):
        asked.rtol = 0.5  # type: ignore[misc]


@pytest.mark.parametrize("accountant", [*CERTIFIED, *ESTIMATES], ids=lambda accountant: accountant.name)
def test_every_accountant_keeps_to_the_protocol(accountant) -> None:
    served = 0
    for run in RUNS:
        (product,) = dominating(run, "replace-one").upper[:1]
        if accountant.serves(product):
            served += 1
            for found in (accountant.epsilon(product, 1e-5, 1e-6), accountant.delta(product, 1.0, 1e-6)):
                assert isinstance(found, Bracket)
                assert found.certified or accountant in ESTIMATES
    assert served or accountant.name in (
        *("participation", "revealed-coins", "allocation", "replaced-block", "replaced-blocks", "cohorts"),
    )


@pytest.mark.parametrize("one", [None, 0.1, 10**400, object()])
def test_one_number_where_several_are_asked_for_is_a_sentence(one):
    run = Poisson(Gaussian(1.0), 0.1)
    for field, ask in {
        "deltas": lambda: epsilons(run, one),
        "epsilons": lambda: deltas(run, one),
        "false_positive_rates": lambda: risk(run, false_positive_rates=one),
        "narrow_at": lambda: tradeoff(run, narrow_at=one),
        "sensitivities": lambda: MixtureOfGaussians(1.0, one, (1.0,)),
        "encoder": lambda: MatrixFactorisation(1.0, one),
    }.items():
        with pytest.raises(InputError, match=f"^{field} = .*: expected a list"):
            ask()


@pytest.mark.parametrize("rtol", [None, 0, 2, 10**400])
def test_the_width_of_rho_is_checked(rtol):
    with pytest.raises(InputError, match=r"^rtol = "):
        rho(Poisson(Gaussian(1.0), 0.1), rtol=rtol)
