"""Every kind of pair that has an order takes those that it knows, as members or as text, and no other."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass, replace

import pytest

from dpcert.accounting.losses.smooth.shortened import ShortenedPair
from dpcert.accounting.pairs import AllocationPair, GaussianPair, Order, Pair, Sampling, ShuffledPair, SubsampledPair
from dpcert.accounting.pairs.mixed_gaussian import MixedGaussianPair, StatedMixturePair
from dpcert.accounting.pairs.uniform_report import UniformReportPair
from dpcert.accounting.pairs.zero_out import OpposedPair, ZeroedPair, ZeroOutPair
from dpcert.mechanisms import InputError

BASE = GaussianPair(0.5)
KNOWN: list[tuple[Pair, type[Order] | type[Sampling]]] = [
    (SubsampledPair(BASE, 0.1, Sampling.REMOVE), Sampling),
    (ShortenedPair(BASE, 0.1, Sampling.REMOVE), Sampling),
    (AllocationPair(BASE, 5, 1, Order.REMOVE), Order),
    (ShuffledPair(BASE, 5, Order.REMOVE), Order),
    (MixedGaussianPair(0.5, 0.1, 2, Order.REMOVE), Order),
    (StatedMixturePair((0.5,), (0.1,), 0.9, Order.REMOVE), Order),
    (UniformReportPair(0.1, 4, Order.REMOVE), Order),
    (ZeroedPair(0.5, 0.1, Order.REMOVE), Order),
    (ZeroOutPair(0.5, 0.1, Order.REMOVE), Order),
    (OpposedPair(0.5, 0.1, Order.REMOVE), Order),
]


def kinds(of: type[Pair] = Pair) -> Iterator[str]:
    """The names of all kinds with an order."""
    for kind in of.__subclasses__():
        if is_dataclass(kind) and "order" in {field.name for field in fields(kind)}:
            yield kind.__name__
        yield from kinds(kind)


def test_no_kind_is_left_out() -> None:
    assert {type(pair).__name__ for pair, _ in KNOWN} == set(kinds())


@pytest.mark.parametrize(("pair", "known"), KNOWN, ids=lambda each: type(each).__name__)
def test_an_order_that_it_does_not_know_is_an_error_at_construction(
    pair: Pair, known: type[Order] | type[Sampling]
) -> None:
    """Planted before: text went through, and whatever was not "remove" was taken for the other order."""
    for order in known:
        assert replace(pair, order=str.__str__(order.value)).order is order  # type: ignore[attr-defined,call-arg,type-var]
    unknown = {*Sampling, "Remove", "both", "", None, 1} - {str(order) for order in known}
    for order in unknown:
        with pytest.raises(InputError, match=f"one of {', '.join(known)} for {type(pair).__name__}"):
            replace(pair, order=order)  # type: ignore[type-var]
