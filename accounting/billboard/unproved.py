"""Runs about which no observer's view is proved, and which observer_epsilon therefore refuses."""

from __future__ import annotations

from ...mechanisms import (
    FixedSize,
    InputError,
    Mechanism,
    RandomAllocation,
    Relation,
    ShuffledReports,
    TruncatedPoisson,
    VisibleParticipation,
    WithReplacement,
    rounds_by_step,
)
from .known_reports import inside

_COHORTS = FixedSize | WithReplacement | TruncatedPoisson | RandomAllocation
_INSIDE = "cohorts in rounds of their own: what observers know of cohorts inside of this scheme is not proved"
_REPORTS = "replace-one for shuffled reports: the unit always reports"


def refuse_unproved(run: Mechanism, relation: Relation) -> None:
    """InputError for shuffled reports where the unit may be absent, and for cohorts drawn inside of another scheme.

    Colluders know their own reports, and so count the others'. They know cohorts of a fixed size that are drawn inside
    of Disjoint just as they know them outside, and the price of hidden ones is not theirs.
    """
    for step in rounds_by_step(run):
        if relation != Relation.REPLACE_ONE and inside(step, ShuffledReports):
            raise InputError("neighbouring", relation, _REPORTS)
        if not isinstance(step, _COHORTS | VisibleParticipation) and inside(step, _COHORTS):
            raise InputError("mechanism", step, _INSIDE)
