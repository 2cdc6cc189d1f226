"""Who takes part: the nodes that are there, a cohort by a coin of each, and what happens when nobody answers."""

from __future__ import annotations

import secrets
import warnings
from collections.abc import Iterable
from logging import INFO, WARNING, getLogger
from time import sleep

from flwr.serverapp import Grid

from ...mechanisms.validate import rate

LONGEST_SILENCE = 3
"""So many rounds in a row without an answer stop a run."""

BETWEEN_LOOKS = 1.0
"""Seconds between two looks at which nodes are there."""

_COIN_BITS = 53

logger = getLogger("flwr")


def poisson_cohort(node_ids: Iterable[int], sampling_rate: float) -> list[int]:
    """A cohort for which each node flips its own coin, from the operating system's secure generator.

    The coin's probability is sampling_rate rounded down to 53 bits, so never above it. May be empty.
    """
    heads = int(rate("sampling_rate", sampling_rate) * 2**_COIN_BITS)
    return [node for node in node_ids if secrets.randbits(_COIN_BITS) < heads]


class NobodyAnswers(RuntimeError):
    """Several rounds in a row went to nobody: to go on would spend the budget on noise."""


class Attendance:
    """Waits until `expected` nodes are there, says which are missing later, and counts rounds without an answer."""

    def __init__(self, expected: int) -> None:
        self.expected = expected
        self._begun, self._there, self._unanswered = False, False, 0

    def nodes(self, grid: Grid) -> list[int]:
        """The nodes that are there, at the first round when enough of them are."""
        nodes = list(grid.get_node_ids())
        while not self._begun and len(nodes) < self.expected:
            logger.log(INFO, "waiting for nodes: %d of %d are there", len(nodes), self.expected)
            sleep(BETWEEN_LOOKS)
            nodes = list(grid.get_node_ids())
        self._begun, self._there = True, bool(nodes)
        if len(nodes) < self.expected:
            logger.log(WARNING, "%d of %d nodes are there: the others do not take part", len(nodes), self.expected)
        return nodes

    def answered(self, server_round: int, asked: int, answers: int, released: int) -> None:
        """Warns of a round without an answer, before it is released. Raises NobodyAnswers at the third in a row.

        Where no coin fell on heads nobody was asked, though there were nodes: that is no failure.
        """
        if answers or (asked == 0 and self._there):
            self._unanswered = 0 if answers else self._unanswered
            return
        self._unanswered += 1
        whom = f"none of {asked} clients answered" if asked else "no node is there"
        if self._unanswered == LONGEST_SILENCE:
            raise NobodyAnswers(
                f"round {server_round}: {whom}, for the third time in a row; {released} rounds were released"
            )
        warnings.warn(f"round {server_round}: {whom}; this round releases noise alone, and is paid for", stacklevel=4)
