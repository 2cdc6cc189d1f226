"""Which accountants a bracket of several names, and the epsilon of one that says its delta alone."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from dpcert.accounting import accountants, source
from dpcert.accounting.accountants import Accountant, Made, untuned
from dpcert.accounting.bracket import Bracket
from dpcert.accounting.losses import closed_form
from dpcert.accounting.pairs import ApproximateDpPair, Composition, GaussianPair, LaplacePair

RUN: Composition = ((GaussianPair(1.0), 1),)


@pytest.mark.parametrize(
    ("ends", "named"),
    [
        ({"a": (0.0, 2.0), "b": (1.0, 3.0), "c": (0.5, 1.8)}, "b+c"),
        ({"a": (1.0, 2.0), "b": (0.0, 2.0), "c": (0.0, 9.0)}, "a"),
        ({"a": (0.0, 9.0), "b": (1.0, 2.0), "c": (1.0, 2.0)}, "b"),
        ({"a": (0.0, 2.0), "b": (0.5, 4.0), "c": (1.0, 2.0)}, "a+c"),
    ],
)
def test_only_those_that_gave_an_end(
    ends: dict[str, tuple[float, float]], named: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def asked(name: str) -> Made:
        bracket = Bracket(*ends[name], True, name)
        of_all = {"supports": lambda run: True, "epsilon": lambda run, at: bracket, "delta": lambda run, at: bracket}
        return untuned(name, SimpleNamespace(**of_all))

    monkeypatch.setattr(accountants, "CERTIFIED", tuple(map(asked, ends)))
    assert accountants.composed(RUN, "best", "epsilon", 1e-5, 1e-6).method == named


def test_of_a_maximum_only_the_larger() -> None:
    first, second = Bracket(1.0, 2.0, True, "a"), Bracket(0.5, 1.0, True, "b")
    assert first.maximum(second).method == second.maximum(first).method == "a"
    assert first.maximum(Bracket(0.5, 3.0, True, "b")).method == "a+b"


class OnlyDelta(Accountant):
    name = "only-delta"

    def delta(self, product: Composition, epsilon: float, rtol: float) -> Bracket:
        return closed_form.delta(product, epsilon)


@pytest.mark.parametrize("pair", [GaussianPair(1.5), LaplacePair(0.5), ApproximateDpPair(1.0, 1e-6)])
@pytest.mark.parametrize("target", [1e-9, 1e-5, 0.01, 0.999])
def test_epsilon_by_the_deltas_alone(pair: GaussianPair, target: float, monkeypatch: pytest.MonkeyPatch) -> None:
    product: Composition = ((pair, 1),)

    def is_inverse() -> bool:
        found = OnlyDelta().epsilon(product, target, 1e-6)
        found.intersect(closed_form.epsilon(product, target))
        highest, lowest = (closed_form.delta(product, at) for at in (found.upper, found.lower))
        ends = (found.upper, highest.upper <= target), (found.lower, lowest.lower >= target)
        return all(met or end in (0.0, float("inf")) for end, met in ends)

    assert is_inverse()
    if target == 1e-5:  # planted: the ends swapped
        right = source.crossing
        monkeypatch.setattr(source, "crossing", lambda *asked: right(*asked)[::-1])
        assert not is_inverse()


class Guess(Accountant):
    name = "guess"

    def delta(self, product: Composition, epsilon: float, rtol: float) -> Bracket:
        known = closed_form.delta(product, epsilon)
        return Bracket(known.lower, known.upper, epsilon > 10.0, self.name)


def test_the_epsilon_of_estimated_deltas_is_an_estimate() -> None:
    assert OnlyDelta().epsilon(RUN, 1e-5, 1e-6).certified
    assert not Guess().epsilon(RUN, 1e-5, 1e-6).certified
