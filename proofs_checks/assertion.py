"""assert_private: a privacy claim as an assertion, for any test, inside Hypothesis's @given or outside.

The seed derives from the mechanism's name and the pair, so that an example that fails fails again. The error
probability of one call is the session's share for it (the pytest plugin sets it), or what assertion_context.py says.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import replace
from typing import Any

import numpy as np

from ..mechanisms import InputError, Mechanism
from .assertion_context import current
from .auditing import AuditResult, ClaimedCurve, audit
from .auditing.curve import approximate_dp, gdp, points, renyi_at, zcdp

__tracebackhide__ = True  # pytest: a failure is about the caller's mechanism, not about these frames


def assert_private(
    mechanism: Callable[..., Any],
    pair: tuple[Any, Any],
    *,
    epsilon: float | None = None,
    delta: float | None = None,
    claim: ClaimedCurve | Mechanism | None = None,
    rho: float | None = None,
    mu: float | None = None,
    curve: Sequence[tuple[float, float]] | None = None,
    renyi: tuple[float, float] | None = None,
    trials: int | None = None,
    method: str = "best",
    executor: Executor | None = None,
) -> AuditResult:
    """Fail when running the mechanism on the pair contradicts the claim.

    mechanism, pair, claim, trials, method: see `audit`. rho, mu, curve, renyi: the claim in another currency: zCDP,
    Gaussian DP, several (epsilon, delta), all of which hold, or (order, divergence). The claim defaults to that of the
    test's `dp` mark.
    Passing proves nothing; failing is wrong with at most the call's share of the session's error probability.
    Returns the audit's result. Raises AssertionError with the witness; InputError for unusable values.

    >>> def noisy_sum(dataset, rng, size):
    ...     return sum(dataset) + rng.laplace(0.0, 1.0, size)
    >>> assert_private(noisy_sum, ([0.0], [1.0]), epsilon=1.0, delta=0.0).refuted
    False
    """
    context = current()
    named: dict[str, Any] = {
        "claim": claim,
        "epsilon": epsilon,
        "rho": rho,
        "mu": mu,
        "curve": curve,
        "renyi": renyi,
        "delta": delta,
    }
    stated = {name: value for name, value in named.items() if value is not None}
    if stated.keys() <= {"delta"}:
        stated = {**context.claim, **stated}
    claimed = _in_currency(stated)
    alpha = context.spend()
    result = audit(
        mechanism,
        pair,
        claim=claimed,
        delta=stated.get("delta", 0.0),
        trials=context.trials if trials is None else trials,
        alpha=alpha,
        method=method,
        seed=seed_of(mechanism, pair),
        executor=executor,
    )
    witness = result.witness
    if witness is not None and context.replay is not None and not witness.replay.startswith("dpcert "):
        result = replace(result, witness=replace(witness, replay=context.replay))
    context.record(result)
    if result.refuted:
        context.refuted()
        told = f"not {result.claim.text if result.claim else claimed}: refuted with error probability {alpha:.1g}"
        shown = result.witness
        raise AssertionError(f"{shown.sentence}\n{told}\n{shown.details}" if shown is not None else told)
    return result


def _in_currency(stated: dict[str, Any]) -> ClaimedCurve | Mechanism:
    """The claim as lines, whatever it is stated in; what refutes the lines refutes it. InputError for none or two."""
    given = [name for name in stated if name != "delta"]
    if not given:
        raise InputError("epsilon", None, "a number, a claim, or a @pytest.mark.dp(epsilon=...) on the test")
    name, value = given[0], stated[given[0]]
    if len(given) > 1:
        raise InputError(given[1], stated[given[1]], f"nothing beside {name}: one claim")
    if name == "epsilon":
        return approximate_dp(value, stated.get("delta", 0.0))
    return value if name == "claim" else _OTHERS[name](value)


_OTHERS: Mapping[str, Callable[[Any], ClaimedCurve]] = {"rho": zcdp, "mu": gdp, "curve": points, "renyi": renyi_at}


def seed_of(mechanism: Callable[..., Any], pair: tuple[Any, Any]) -> int:
    """The same seed for the same mechanism and pair, in every process and on every machine; addresses do not count."""
    name = getattr(mechanism, "__qualname__", type(mechanism).__qualname__)
    with np.printoptions(threshold=1_000_000, precision=17):
        text = re.sub(r" at 0x[0-9a-fA-F]+", "", f"{name}|{pair!r}")
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big") >> 1
