"""dp-accounting's privacy loss distributions, read as mechanisms."""

from __future__ import annotations

import pytest

from dpcert.accounting import epsilon
from dpcert.mechanisms import FixedSize, Gaussian, InputError, Laplace, Mechanism, Poisson, Repeat

pld = pytest.importorskip("dp_accounting.pld.privacy_loss_distribution")

from dpcert.adapters.privacy_loss import from_dp_accounting  # noqa: E402  # needs dp-accounting only to be of use


def _made(make: object, **options: object) -> tuple[object, object]:
    both = {"use_connect_dots": False, "value_discretization_interval": 1e-3} | options
    return tuple(make(pessimistic_estimate=way, **both) for way in (True, False))  # type: ignore[operator,return-value]


def _laplace(**options: object) -> object:
    return pld.from_laplace_mechanism(2.0, **options)


def _sampled(**options: object) -> object:
    return pld.from_gaussian_mechanism(1.5, sampling_prob=0.1, **options)


@pytest.mark.parametrize(
    ("make", "known"), [(_laplace, Laplace(2.0)), (_sampled, Poisson(Gaussian(1.5), 0.1))], ids=["laplace", "sampled"]
)
@pytest.mark.parametrize("rounds", [1, 5])
def test_both_estimates_hold_the_truth_between_them(make: object, known: Mechanism, rounds: int) -> None:
    found = epsilon(Repeat(from_dp_accounting(*_made(make)), rounds), 1e-3)
    truth = epsilon(Repeat(known, rounds), 1e-3)
    assert found.lower <= truth.lower <= truth.upper <= found.upper
    assert found.upper - found.lower < 0.01 * rounds


def test_composed_ones_go_on_and_are_sampled() -> None:
    one = from_dp_accounting(_made(_laplace)[0])
    assert (
        epsilon(Repeat(Poisson(one, 0.1), 20), 1e-6).upper
        >= epsilon(Repeat(Poisson(Laplace(2.0), 0.1), 20), 1e-6).upper
    )
    several = from_dp_accounting(_made(_laplace)[0].self_compose(3))  # type: ignore[attr-defined]
    assert epsilon(several, 1e-6).upper == pytest.approx(epsilon(Repeat(one, 3), 1e-6).upper, rel=1e-3)
    assert epsilon(several, 1e-6).lower == 0.0
    symmetric = epsilon(Repeat(FixedSize(one, 100, 10), 3), 1e-6, "replace-one")
    assert epsilon(Repeat(FixedSize(Laplace(4.0), 100, 10), 3), 1e-6, "replace-one").lower <= symmetric.upper


def test_connecting_the_dots_gives_no_pair_and_is_bounded_by_one() -> None:
    """Its tails have more mass under Q than there is."""
    found = epsilon(from_dp_accounting(pld.from_gaussian_mechanism(1.5, value_discretization_interval=1e-2)), 1e-5)
    truth = epsilon(Gaussian(1.5), 1e-5)
    assert truth.upper <= found.upper < truth.upper + 0.01


def test_refused() -> None:
    below = _made(_laplace)[1]
    with pytest.raises(InputError, match="estimate from below"):
        from_dp_accounting(below)
    with pytest.raises(InputError, match="PrivacyLossDistribution"):
        from_dp_accounting(3)
