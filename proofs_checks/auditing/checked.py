"""Whether an audit could have found anything: what it compared, and what it could not read.

An audit that compared nothing refutes nothing, and must not look like one that did.
"""

from __future__ import annotations

import numpy as np

from .curve import ClaimedCurve
from .enough_calls import too_few
from .outputs import join
from .structure import same_contents
from .trials import Samples


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
