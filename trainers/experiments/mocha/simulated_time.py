"""The time that a round takes by the paper's model (section 5.3, and the reference implementation's driver).

In units of one floating-point operation a feature: `FLOPS` for each sample visited, summed over nodes, plus the
network's latency once a round. Under CoCoA every node waits for the slowest, so all are charged for its steps.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ....mechanisms.arrays import Floats

FLOPS = {"mocha": 8, "cocoa": 8, "mb-sdca": 6, "mb-sgd": 4}
NETWORKS = {"WiFi": 10, "LTE": 100, "3G": 1000}


def round_work(method: str, steps: NDArray[np.int64]) -> int:
    """Operations of one round in which node t visited steps[t] samples, without communication."""
    charged = len(steps) * int(steps.max()) if method == "cocoa" else int(steps.sum())
    return FLOPS[method] * charged


def elapsed(work: Floats, rounds: Floats, network: str) -> Floats:
    """Simulated time after `rounds` rounds with this much cumulated work."""
    return work + NETWORKS[network] * rounds
