"""Planted: neighbours in one order beside neighbours in the other."""

from importlib import import_module

import pytest
from ordered_runs import the_best_of_several_sampled_runs_beside_a_sampled_round as beside
from ordered_runs import the_best_of_several_sampled_runs_in_disjoint_parts as in_parts
from two_deep import compared

dominating = import_module("dpcert.accounting.pricing.dominating")


def one_order_for_both(monkeypatch):
    """The best of several runs: what its runs attain in one order serves either, as when products had no order."""
    honest = dominating._best_of_several

    def wrong(*arguments):
        found = honest(*arguments)
        known = dict(enumerate(product for each in found.lower.values() for product in each.values()))
        return dominating.Round(found.upper, dict.fromkeys(dominating.Order, known))

    monkeypatch.setattr(dominating, "_best_of_several", wrong)


def not_exchanged(monkeypatch):
    """A unit that enters a part: as one that leaves it."""
    monkeypatch.setattr(dominating.Round, "exchanged", lambda self: self)


@pytest.mark.parametrize(
    ("fault", "caught_by"),
    [
        (one_order_for_both, beside),
        (one_order_for_both, in_parts),
        (not_exchanged, in_parts),
        (one_order_for_both, lambda: compared(("poisson", "Sequence", "BestOfSeveral"))),
        (not_exchanged, lambda: compared(("poisson", "Disjoint", "Repeat"))),
    ],
)
def test_caught(fault, caught_by, monkeypatch):
    fault(monkeypatch)
    monkeypatch.setattr(import_module("dpcert.accounting.question"), "_pairs", dominating.dominating)
    with pytest.raises(AssertionError):
        caught_by()
