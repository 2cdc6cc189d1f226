"""Local randomisers: what a unit sends is randomised by itself, once, and every unit reports.

k-ary randomized response is RandomizedResponse. Several values of one unit, or several bits that one value sets, are a
Sequence of reports. Neighbours are replaced units: a unit always reports.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from .base import Mechanism
from .quantity import Quantity
from .validate import InputError, open_probability, positive, several


@dataclass(frozen=True, slots=True)
class UnaryEncoding(Mechanism):
    """One value out of many as a vector with one 1, every bit reported by itself (RAPPOR, SUE, OUE).

    A 1 is reported as 1 with probability keep, a 0 with probability false < keep (Erlingsson, Pihur, Korolova 2014,
    arXiv 1407.6981, Theorem 1, keep = 1 - f/2, false = f/2; Wang, Blocki, Li, Jha 2017, "Locally differentially private
    protocols for frequency estimation", Section 4.2, keep = 1/2, false = 1/(e^epsilon + 1)).
    With h hash functions a value sets h bits: Repeat(UnaryEncoding(...), h).

    >>> from dpcert import epsilon
    >>> round(epsilon(UnaryEncoding(keep=0.75, false=0.25), 0, "replace-one").upper, 6)  # 2 log 3
    2.197225
    """

    keep: Annotated[float, Quantity(open_probability, "with which probability a 1 stays 1")]
    false: Annotated[float, Quantity(open_probability, "with which probability a 0 becomes 1")]

    def __post_init__(self) -> None:
        Mechanism.__post_init__(self)
        if self.false >= self.keep:
            raise InputError("false", self.false, f"a probability below keep = {self.keep}")


@dataclass(frozen=True, slots=True)
class HadamardResponse(Mechanism):
    """One value out of many; each value's half of the codewords is e^epsilon times as likely as the other half.

    Acharya, Sun, Zhang 2019 (arXiv 1802.04705), Section 4; two values' halves share a quarter of the codewords.

    >>> from dpcert import epsilon
    >>> epsilon(HadamardResponse(1.0), 0, "replace-one").upper
    1.0
    """

    epsilon: Annotated[float, Quantity(positive, "the epsilon of one report")]


@dataclass(frozen=True, slots=True)
class LocalHash(Mechanism):
    """One value, hashed into `buckets` by a hash function of the unit's own, which is sent along; the bucket is
    reported by randomized response with ratio e^epsilon (Wang, Blocki, Li, Jha 2017, Section 4.3, OLH).

    >>> from dpcert import epsilon
    >>> epsilon(LocalHash(1.0, buckets=4), 0, "replace-one").upper
    1.0
    """

    epsilon: Annotated[float, Quantity(positive, "the epsilon of one report")]
    buckets: Annotated[int, Quantity(several, "into how many the value is hashed")]


@dataclass(frozen=True, slots=True)
class PiecewiseMechanism(Mechanism):
    """A number in [-1, 1], reported by a density that is e^epsilon times as high on an interval about it (Wang et al.
    2019, arXiv 1907.00782, Algorithm 2).

    >>> from dpcert import epsilon
    >>> epsilon(PiecewiseMechanism(1.0), 0, "replace-one").upper
    1.0
    """

    epsilon: Annotated[float, Quantity(positive, "the epsilon of one report")]


@dataclass(frozen=True, slots=True)
class DuchiMechanism(Mechanism):
    """A number in [-1, 1], reported as one of two values, without bias (Duchi, Jordan, Wainwright 2018, arXiv
    1604.02390; Wang et al. 2019, arXiv 1907.00782, Algorithm 1).

    >>> from dpcert import epsilon
    >>> epsilon(DuchiMechanism(1.0), 0, "replace-one").upper
    1.0
    """

    epsilon: Annotated[float, Quantity(positive, "the epsilon of one report")]
