"""Randomized response over k categories."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from .base import Mechanism
from .quantity import Quantity
from .validate import InputError, open_probability, several


@dataclass(frozen=True, slots=True)
class RandomizedResponse(Mechanism):
    """One unit's category is reported truly with probability 1 - flip_probability.

    Otherwise one of the other `categories` - 1 is reported, uniformly (Warner 1965; Kairouz, Oh, Viswanath 2014; its
    pair: docs/theory/dominating_pairs.md, "No sampling"). flip_probability must stay below 1 - 1/categories, where the
    report says nothing. The unit always reports, so that add-remove neighbours make no sense; under zero-out a unit
    that is left out reports a uniformly random category (REPLACE_SPECIAL of dp_accounting).

    >>> from dpcert import epsilon
    >>> round(epsilon(RandomizedResponse(flip_probability=0.25), 0, "replace-one").upper, 6)  # log 3
    1.098612
    """

    flip_probability: Annotated[
        float, Quantity(open_probability, "how often another category than the true one is reported")
    ]
    categories: Annotated[int, Quantity(several, "number of categories")] = 2

    def __post_init__(self) -> None:
        Mechanism.__post_init__(self)
        if self.flip_probability > 1 - 1 / self.categories:
            raise InputError(
                "flip_probability",
                self.flip_probability,
                f"at most 1 - 1/categories = {1 - 1 / self.categories}",
            )
