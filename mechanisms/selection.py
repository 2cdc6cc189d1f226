"""Choosing the best of several candidates by noisy scores.

Scores move by at most their sensitivity between the neighbours that are asked about, whatever the relation: these
descriptions state the epsilon that the noise was scaled for, and `Group` multiplies it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from .base import Mechanism
from .quantity import Quantity, optional
from .validate import count, positive, yes_or_no
from .word import Word


class SelectionNoise(Word):
    """What is added to the scores of candidates."""

    GUMBEL = "gumbel"
    EXPONENTIAL = "exponential"
    LAPLACE = "laplace"


@dataclass(frozen=True, slots=True)
class ReportNoisyMax(Mechanism):
    """The index of the largest noisy score.

    epsilon: 2 sensitivity / scale of the noise; sensitivity / scale where scores are monotone, that is where they all
    move the same way (as counts do when a unit comes or leaves). noise: "gumbel", which is the exponential mechanism;
    "exponential", which is permute-and-flip (Ding, Kifer et al. 2021, arXiv 2105.07260, by their title); "laplace".
    What each costs: docs/theory/selection.md, "Gumbel noise", "Moved gradually", "Exponential and Laplace noise".

    >>> from dpcert import epsilon
    >>> epsilon(ReportNoisyMax(epsilon=1.0, noise="exponential"), 0).upper
    1.0
    """

    epsilon: Annotated[
        float,
        Quantity(
            positive,
            "weights are exp(epsilon score / (2 sensitivity)), noise has scale 2 sensitivity / epsilon; without the "
            "2 for monotone scores",
        ),
    ]
    noise: Annotated[
        SelectionNoise | Literal["gumbel", "exponential", "laplace"],
        Quantity(SelectionNoise.named, "kind of noise on the scores: gumbel, exponential or laplace"),
    ]


def exponential_mechanism(epsilon: float) -> ReportNoisyMax:
    """A candidate with probability proportional to exp(epsilon score / (2 sensitivity)), or exp(epsilon score /
    sensitivity) for monotone scores (McSherry, Talwar 2007, Theorem 6): the largest score with Gumbel noise.

    >>> exponential_mechanism(1.0)
    ReportNoisyMax(epsilon=1.0, noise='gumbel')
    """
    return ReportNoisyMax(epsilon, SelectionNoise.GUMBEL)


def permute_and_flip(epsilon: float) -> ReportNoisyMax:
    """Candidates in random order, each accepted with probability exp(epsilon (score - best) / (2 sensitivity))
    (McKenna, Sheldon 2020, arXiv 2010.12603; docs/theory/selection.md, "Exponential and Laplace noise"): the largest
    score with exponential noise.

    >>> permute_and_flip(1.0).noise
    'exponential'
    """
    return ReportNoisyMax(epsilon, SelectionNoise.EXPONENTIAL)


@dataclass(frozen=True, slots=True)
class SparseVector(Mechanism):
    """Which of many adaptive queries are above a threshold, until `hits` of them were (Lyu, Su, Li 2017, arXiv
    1603.01699, Algorithm 7).

    Scales are those of Laplace noise, over the queries' sensitivity. threshold_scale: of the threshold, drawn once;
    query_scale: of each query, fresh each time; value_scale: of a further release of the query's value at each hit,
    None where only the answers are released. monotone: whether all queries move the same way between neighbours.

    >>> SparseVector(threshold_scale=2.0, query_scale=4.0).hits
    1
    """

    threshold_scale: Annotated[
        float, Quantity(positive, "scale of the Laplace noise on the threshold, divided by the queries' sensitivity")
    ]
    query_scale: Annotated[
        float, Quantity(positive, "scale of the Laplace noise on the queries, divided by their sensitivity")
    ]
    hits: Annotated[int, Quantity(count, "after how many queries above the threshold it stops")] = 1
    monotone: Annotated[bool, Quantity(yes_or_no, "whether one unit moves all queries in one direction")] = False
    value_scale: Annotated[
        float | None,
        Quantity(
            optional(positive),
            "scale of the Laplace noise on values told beside the hits, divided by the queries' sensitivity",
        ),
    ] = None
