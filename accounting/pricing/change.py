"""Whether a unit is in a round under both neighbours, or under one of them; and what a run's rounds are to it."""

from __future__ import annotations

from ...mechanisms import Mechanism
from ...mechanisms.word import Word


class Change(Word):
    """STAYS: it is in the round under both. LEAVES: under the first of them only. ENTERS: under the second."""

    STAYS = "stays"
    LEAVES = "leaves"
    ENTERS = "enters"


NeighbourCase = dict[tuple[Mechanism, Change], int]
"""How many rounds there are of each step, and what changes in them."""
