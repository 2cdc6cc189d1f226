"""Gaussian noise around a sum that one unit moves by a random amount."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated

from .base import Mechanism
from .quantity import Quantity
from .validate import InputError, listed, nonnegative, positive


@dataclass(frozen=True, slots=True)
class MixtureOfGaussians(Mechanism):
    """A Gaussian release in which a unit moves the sum by sensitivities[i] with probability probabilities[i].

    A user who has several examples, each of which is drawn or not, is such a unit (Choquette-Choo, Ganesh, Steinke,
    Thakurta 2023, arXiv 2310.15526, "mixture of Gaussians mechanisms"): the attacker does not see how many were drawn.
    standard_deviation and sensitivities have the same unit. Probabilities add up to 1; what they miss it by, at most
    1e-9, is shared out in proportion. Under replace-one neighbours it is not priced.

    >>> from dpcert import epsilon
    >>> user = MixtureOfGaussians(4.0, sensitivities=(0.0, 1.0, 2.0), probabilities=(0.81, 0.18, 0.01))
    >>> round(epsilon(user, delta=1e-6).upper, 4)
    0.3036
    """

    standard_deviation: Annotated[float, Quantity(positive, "of the noise, in the unit of the sensitivities")]
    sensitivities: tuple[float, ...]
    probabilities: tuple[float, ...]

    def __post_init__(self) -> None:
        Mechanism.__post_init__(self)
        moves, shares = listed("sensitivities", self.sensitivities), listed("probabilities", self.probabilities)
        if len(moves) != len(shares):
            raise InputError("probabilities", shares, f"as many as there are sensitivities, {len(moves)}")
        moves = tuple(nonnegative("sensitivities", move) for move in moves)
        shares = tuple(nonnegative("probabilities", share) for share in shares)
        if not math.isclose(math.fsum(shares), 1.0, rel_tol=1e-9):
            raise InputError("probabilities", shares, "numbers that add up to 1")
        if not any(move > 0 and share > 0 for move, share in zip(moves, shares, strict=True)):
            raise InputError("sensitivities", moves, "one above 0 with a probability above 0: this releases nothing")
        object.__setattr__(self, "sensitivities", moves)
        object.__setattr__(self, "probabilities", shares)
