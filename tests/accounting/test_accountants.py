"""Which accountants a bracket of several names."""

from __future__ import annotations

import pytest

from dpcert.accounting import accountants
from dpcert.accounting.accountants import Untuned
from dpcert.accounting.bracket import Bracket
from dpcert.accounting.pairs import Composition, GaussianPair

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
    def asked(name: str) -> Untuned:
        bracket = Bracket(*ends[name], True, name)
        return Untuned(name, lambda run: True, lambda run, at: bracket, lambda run, at: bracket)

    monkeypatch.setattr(accountants, "CERTIFIED", tuple(map(asked, ends)))
    assert accountants.composed(RUN, "best", "epsilon", 1e-5, 1e-6).method == named


def test_of_a_maximum_only_the_larger() -> None:
    first, second = Bracket(1.0, 2.0, True, "a"), Bracket(0.5, 1.0, True, "b")
    assert first.maximum(second).method == second.maximum(first).method == "a"
    assert first.maximum(Bracket(0.5, 3.0, True, "b")).method == "a+b"
