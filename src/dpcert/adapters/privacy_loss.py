"""dp-accounting's privacy loss distributions as mechanisms that compose with everything else, and are sampled.

    from dp_accounting.pld import privacy_loss_distribution as pld
    ours = from_dp_accounting(pld.from_laplace_mechanism(2.0))
    dpcert.epsilon(Repeat(Poisson(ours, 0.1), 100), delta=1e-6)

Their masses are taken as they are: what dp-accounting rounds or cuts off by its own arithmetic is not checked.
"""

from __future__ import annotations

import math
from typing import Any

from ..mechanisms import InputError, LossDistribution
from ..mechanisms.loss_distribution import Law


def from_dp_accounting(pessimistic: Any, optimistic: Any = None) -> LossDistribution:
    """The mechanism that a PrivacyLossDistribution of dp-accounting (0.5 and later) bounds from above, and another one
    from below (made with pessimistic_estimate=False), if there is one.

    The neighbours are those that the distribution was made for: dp-accounting's default is add-remove. One that is
    symmetric serves replace-one, too.

    Raises InputError for anything else, and for estimates that are in each other's place.
    """
    above, above_added = _laws("pessimistic", pessimistic, True)
    below, below_added = (None, None) if optimistic is None else _laws("optimistic", optimistic, False)
    return LossDistribution(above, above_added, below, below_added)


def _laws(name: str, distribution: Any, pessimistic: bool) -> tuple[Law, Law]:
    """The law of the order in which the unit is removed, and of the other one."""
    expected = f"a PrivacyLossDistribution of dp_accounting made with pessimistic_estimate={pessimistic}"
    removed = getattr(distribution, "_pmf_remove", None)
    added = removed if getattr(distribution, "_symmetric", False) else getattr(distribution, "_pmf_add", None)
    if removed is None or added is None:
        raise InputError(name, distribution, expected)
    if removed._pessimistic_estimate is not pessimistic:
        told = f"{name} is an estimate from {'below' if pessimistic else 'above'}; give {expected}."
        raise InputError(name, distribution, expected, told)
    return _law(removed), _law(added)


def _law(pmf: Any) -> Law:
    """Losses on dp-accounting's grid: whole multiples of the discretization."""
    dense = pmf.to_dense_pmf()
    masses = [float(mass) for mass in dense._probs]
    losses = [(dense._lower_loss + at) * dense._discretization for at in range(len(masses))]
    law = [(loss, mass) for loss, mass in zip(losses, masses, strict=True) if mass > 0.0]
    return (*law, (math.inf, float(dense._infinity_mass))) if dense._infinity_mass > 0.0 else tuple(law)
