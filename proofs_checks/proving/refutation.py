"""Where no proof exists, the auditor tries to refute: on the search's own pairs, and on tidier ones beside them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..auditing import AuditResult, audit
from .proof import Proof

ALPHA = 0.01
MOST = 4


def refute(mechanism: Callable[..., Any], proof: Proof, trials: int, seed: int = 0) -> AuditResult | None:
    """The strongest audit over the pairs; the error probability of all together is ALPHA. None without a pair.

    Audits the claim; where nothing was claimed, what is proved, which gives a lower bound.
    """
    pairs: dict[str, tuple[Any, Any]] = {}
    containers: dict[str, Callable[[Any], Any]] = {"list": list, "rows": lambda entries: np.reshape(entries, (-1, 1))}
    made = containers.get(proof.container, np.array)
    for example in proof.counterexamples or filter(None, [proof.dearest]):
        here, there = np.array(example.dataset), np.array(example.neighbour)
        pairs.setdefault(repr((here, there)), (made(here), made(there)))
        if proof.relation == "answers":  # the same move, from answers that are all 0
            moved = np.sign(there - here)
            pairs.setdefault(repr((0 * here, moved)), (made(0 * here), made(moved)))
    claim = proof.claim if proof.claim is not None else proof.epsilon
    tried = list(pairs.values())[:MOST]
    best: AuditResult | None = None
    for pair in tried:
        alpha = ALPHA / len(tried)
        result = audit(mechanism, pair, epsilon=claim, delta=proof.delta, trials=trials, alpha=alpha, seed=seed)
        if result.refuted and proof.claim is not None:
            return result
        if best is None or result.p_value < best.p_value:
            best = result
    return best
