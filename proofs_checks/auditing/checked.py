"""Whether an audit could have found anything: what it compared, what it could not read, what so many calls can show.

An audit that compared nothing refutes nothing, and must not look like one that did.
"""

from __future__ import annotations

import math

import numpy as np

from .curve import ClaimedCurve
from .outputs import join
from .structure import same_contents
from .trials import Samples

STRONGEST = ((0.85, 0.225), (1.0, 0.08))
"""Of the curve's test and of repeated outputs: the part of the calls that is counted, and of the error probability."""


def too_few(calls: int, claim: ClaimedCurve | None, alpha: float) -> str:
    """That so many calls could not refute the claim, whatever they returned; empty where they could."""
    least = 0 if claim is None else least_calls(claim, alpha)
    if calls >= least:
        return ""
    return (
        f"{calls} calls cannot refute {claim.text if claim is not None else 'this'} at error probability {alpha:.1g}, "
        f"whatever they return: at least {least} are needed, both data sets together."
    )


def least_calls(claim: ClaimedCurve, alpha: float) -> int:
    """Calls, both sides together, below which no test here refutes the claim even if all guesses are right.

    All of n guesses are right with probability r^n where the claim just holds, r = (e^epsilon + delta)/(1 + e^epsilon).
    """
    rate = min((1 + delta * math.exp(-eps)) / (1 + math.exp(-eps)) for eps, delta in claim.lines)
    if rate >= 1.0:
        return 2**62
    return math.ceil(min(math.log(share * alpha) / math.log(rate) / counted for counted, share in STRONGEST))


def most_shown(calls: int, delta: float, alpha: float) -> float:
    """The largest lower bound on epsilon at delta that so many calls can give."""
    if calls <= 0:
        return 0.0
    rate = min(math.exp(math.log(share * alpha) / (counted * calls)) for counted, share in STRONGEST)
    return max(0.0, math.log(max(rate - delta, 1e-300)) - math.log1p(-rate)) if rate < 1 else math.inf


def unread(samples: Samples) -> tuple[str, ...]:
    """The parts of the outputs in which no value came twice, and no number is known to be in them."""
    return tuple(
        f"{name}: a text that differed in every run, so that nothing could be learned from it"
        for name in samples.layout.unread()
    )


def unchecked(samples: Samples, pair: tuple[object, object], claim: ClaimedCurve | None, alpha: float) -> str:
    """Why nothing was checked, in a sentence; empty where something was."""
    if same_contents(*pair):
        return "The two data sets are equal, so there is nothing to tell apart. Give two neighbouring data sets."
    if samples.trials == 0:
        return "No call was finished within the budget, so nothing was compared."
    rows = join((samples.dataset, samples.neighbour)).rows
    bits = np.ascontiguousarray(rows).view(np.uint64)
    varying = np.flatnonzero((bits != bits[0]).any(axis=0)).tolist()
    if not varying:
        told = samples.layout.row(rows[0].tolist()).removeprefix("NoneType:")
        return f"Every call returned {told}, whatever the data. Does the function return its result?"
    unread = samples.layout.unread()
    if unread and set().union(*unread.values()) >= set(varying):
        names = ", ".join(unread)
        return f"The outputs could not be read: {names} was another text in every run. Return its numbers as such."
    return too_few(samples.trials, claim, alpha)
