"""Per-client accounting in federated learning: one array of spent budget, however many clients there are.

Feldman, Zrnic 2021 (arXiv 2008.11193), section 4: each client may be charged what its own participations and
update norms cost, and is left out once its own budget is spent; the composed release keeps the
budget for every client. The amounts must not depend on what a client does after it was left out. Squared moves add
up where each release has one contribution of a client: one that drops out and comes late is not added to a later sum. A
replaced client is charged for a move twice as long as its contribution.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...mechanisms import InputError
from ...mechanisms.arrays import Floats
from ...mechanisms.validate import count, positive

Clients = NDArray[np.int64]


class IndividualBudgets:
    """Spent budget (a Renyi divergence at one order, or squared Gaussian shifts) of each of n clients.

    Memory: 8 bytes a client. Sums are rounded up.

    >>> import numpy as np
    >>> budgets = IndividualBudgets(clients=3, budget=1.0)
    >>> budgets.charge(np.array([0, 2]), 0.7)
    array([ True,  True])
    >>> budgets.affordable(np.array([0, 1, 2]), 0.7)
    array([False,  True, False])
    """

    def __init__(self, clients: int, budget: float) -> None:
        self.budget = positive("budget", budget)
        self.spent: Floats = np.zeros(count("clients", clients))

    def affordable(self, clients: Clients, cost: float | Floats) -> NDArray[np.bool_]:
        """Which of the clients can still be charged `cost` (one number, or one a client)."""
        return np.nextafter(self.spent[self._checked(clients)] + self._costs(clients, cost), np.inf) <= self.budget

    def charge(self, clients: Clients, cost: float | Floats) -> NDArray[np.bool_]:
        """Charge the clients that can afford it; returns which, in the order given: leave the others out.

        A client may be named once a call: InputError otherwise.
        """
        chosen = self._checked(clients)
        if len(np.unique(chosen)) != len(chosen):
            raise InputError("clients", "a repeated client", "each client once a round")
        after = np.nextafter(self.spent[chosen] + self._costs(chosen, cost), np.inf)
        allowed = after <= self.budget
        self.spent[chosen[allowed]] = after[allowed]
        return allowed

    def _checked(self, clients: Clients) -> Clients:
        return _numbers("clients", clients, len(self.spent))

    def _costs(self, clients: Clients, cost: float | Floats) -> Floats:
        given = np.asarray(cost, dtype=float)
        if given.shape not in ((), (1,), (len(clients),)):
            raise InputError("cost", given.shape, f"one number, or one for each of the {len(clients)} clients")
        costs = np.broadcast_to(given, (len(clients),))
        if not (costs >= 0).all():
            raise InputError("cost", float(np.min(costs)), "numbers of at least 0")
        return costs


class Participations:
    """How often, and how far apart, each client took part: what tree and matrix-factorisation noise relies on.

    min_separation: rounds between two participations of one client, at least (1: may take part in every round).
    max_participations: of one client, in all.

    times: how often each client took part, an integer array of shape (clients,).

    >>> import numpy as np
    >>> seen = Participations(clients=3, min_separation=2, max_participations=5)
    >>> seen.record(0, np.array([0]))
    >>> seen.eligible(1), seen.eligible(2)
    (array([1, 2]), array([0, 1, 2]))
    """

    def __init__(self, clients: int, min_separation: int, max_participations: int) -> None:
        self.min_separation = count("min_separation", min_separation)
        self.max_participations = count("max_participations", max_participations)
        self.times: NDArray[np.int32] = np.zeros(count("clients", clients), dtype=np.int32)
        self._last: NDArray[np.int64] = np.full(clients, -(2**62))

    def eligible(self, round_index: int) -> Clients:
        """The clients that may take part in this round."""
        rested = self._last <= round_index - self.min_separation
        return np.flatnonzero(rested & (self.times < self.max_participations))

    def record(self, round_index: int, cohort: Clients) -> None:
        """Record a cohort; InputError, and nothing recorded, when a client takes part too soon or too often."""
        chosen = _numbers("cohort", cohort, len(self.times))
        if len(np.unique(chosen)) != len(chosen):
            raise InputError("cohort", "a repeated client", "each client once a round")
        early = chosen[self._last[chosen] > round_index - self.min_separation]
        if len(early):
            raise InputError("cohort", int(early[0]), f"clients that last took part {self.min_separation} rounds ago")
        over = chosen[self.times[chosen] >= self.max_participations]
        if len(over):
            raise InputError(
                "cohort", int(over[0]), f"clients with fewer than {self.max_participations} participations"
            )
        self._last[chosen] = round_index
        self.times[chosen] += 1


def _numbers(field: str, clients: Clients, total: int) -> Clients:
    """Client numbers from 0 to total - 1; a negative one would be somebody else's, counted from the end."""
    chosen = np.asarray(clients)
    if not chosen.size:
        return np.zeros(0, dtype=np.int64)
    if chosen.ndim != 1 or chosen.dtype.kind not in "iu":
        raise InputError(field, chosen.shape, "a vector of client numbers")
    low, high = int(chosen.min()), int(chosen.max())
    if low < 0 or high >= total:
        raise InputError(field, low if low < 0 else high, f"client numbers from 0 to {total - 1}")
    return chosen.astype(np.int64)
