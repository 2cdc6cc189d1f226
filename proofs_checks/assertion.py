"""assert_private: a privacy claim as an assertion, for any test, inside Hypothesis's @given or outside.

The seed derives from the mechanism's name and the pair, so that an example that fails fails again. The error
probability of one call is the session's share for it (the pytest plugin sets it), or what assertion_context.py says.
"""

from __future__ import annotations

import hashlib
import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import replace
from typing import Any

import numpy as np

from ..mechanisms import InputError, Mechanism
from .assertion_context import current
from .auditing import AuditResult, ClaimedCurve
from .auditing.attack import attack
from .auditing.calling import called
from .auditing.checked import too_few
from .auditing.curve import as_claim, stated_claim
from .auditing.target import Target
from .worst_pairs import worst_pairs

__tracebackhide__ = True  # pytest: a failure is about the caller's mechanism, not about these frames


class AuditWarning(UserWarning):
    """What refutes nothing, and should be known: low-order bits that tell, texts that could not be read."""


def assert_private(
    mechanism: Callable[..., Any],
    pair: tuple[Any, Any] | None = None,
    *,
    relation: str | None = None,
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
    allow_blind: bool = False,
) -> AuditResult:
    """Fail when running the mechanism on the pair contradicts the claim, or when nothing could be checked.

    mechanism, pair, claim, trials, method: see `audit`. relation ("add-remove", "replace-one", "zero-out"), in place of
    a pair: tries the pairs of `worst_pairs`, each at an equal part of the error; the result's `tried` says which.
    rho, mu, curve, renyi: the claim in another currency: zCDP, Gaussian DP, several (epsilon, delta), all of which
    hold, or (order, divergence). The claim defaults to that of the test's `dp` mark.
    Passing proves nothing; failing is wrong with at most the call's share of the session's error probability.
    Nothing is checked where the data sets are equal, the output is constant, or it cannot be read: a test fails where
    that is so of all its pairs, unless allow_blind is set. Returns the audit's result. Raises AssertionError with the
    witness; InputError for unusable values, and for fewer trials than could ever refute the claim.

    >>> def noisy_sum(dataset, rng, size):
    ...     return sum(dataset) + rng.laplace(0.0, 1.0, size)
    >>> assert_private(noisy_sum, ([0], [1]), epsilon=1.0, delta=0.0, method="curve").refuted
    False
    """
    context = current()
    named: dict[str, Any] = {"claim": claim, "epsilon": epsilon, "rho": rho, "mu": mu, "curve": curve, "renyi": renyi}
    claimed, at = _claimed(named | {"delta": delta}, context.claim)
    target, calls = _target(mechanism, pair, relation), context.trials if trials is None else trials
    alpha = context.spend()
    if isinstance(calls, int) and not allow_blind:
        few = too_few(2 * calls, claimed, alpha / len(target.pairs))
        if few:
            raise InputError("trials", calls, f"more calls per data set, or allow_blind=True ({few})")
    how: dict[str, Any] = {"trials": calls, "alpha": alpha, "method": method, "executor": executor}
    result = attack(target, claimed, delta=at, seed=seed_of(mechanism, target.pairs[0]), **how)
    result = _replayed(result, context.replay)
    context.record(result)
    if result.refuted:
        error = AssertionError(_refutation(result, claimed, alpha))
        context.refuted(error)
        raise error
    if not allow_blind:
        context.looked("" if result.unchecked == "" else f"{called(mechanism)}: {result.unchecked}")
        _warn(mechanism, result)
    return result


def _claimed(named: Mapping[str, Any], marked: Mapping[str, Any]) -> tuple[ClaimedCurve, float]:
    """The claim that is stated in one of several ways, or else the mark's, and its delta."""
    stated = {name: value for name, value in named.items() if value is not None}
    if stated.keys() <= {"delta"}:
        stated = {**marked, **stated}
    at = stated.pop("delta", 0.0)
    if not stated:
        raise InputError("epsilon", None, "a number, a claim, or a @pytest.mark.dp(epsilon=...) on the test")
    claimed = as_claim(stated["claim"], None, at) if stated.keys() == {"claim"} else stated_claim(stated, at)
    assert claimed is not None
    return claimed, at


def _replayed(result: AuditResult, test: str | None) -> AuditResult:
    """The witness is to be seen again by the test, unless a dpcert command shows it alone."""
    witness = result.witness
    if witness is None or test is None or witness.replay.startswith("dpcert "):
        return result
    return replace(result, witness=replace(witness, replay=test))


def _refutation(result: AuditResult, claimed: ClaimedCurve, alpha: float) -> str:
    told, shown = f"not {claimed.text}: refuted with error probability {alpha:.1g}", result.witness
    return told if shown is None else f"{shown.sentence}\n{told}\n{shown.details}"


def _target(mechanism: Callable[..., Any], pair: tuple[Any, Any] | None, relation: str | None) -> Target:
    """The given pair, or the usual ones."""
    if pair is None:
        if relation is None:
            raise InputError("pair", None, "two neighbouring data sets, or relation='add-remove' for the usual pairs")
        return Target(called(mechanism), mechanism, worst_pairs(mechanism, relation), True)
    if relation is not None:
        raise InputError("relation", relation, "nothing beside a pair, which says what its neighbours are")
    if not isinstance(pair, tuple | list) or len(pair) != 2:
        raise InputError("pair", pair, "two neighbouring datasets: (dataset, neighbour)")
    return Target(called(mechanism), mechanism, ((pair[0], pair[1]),), False)


def _warn(mechanism: Callable[..., Any], result: AuditResult) -> None:
    """What a test that passes should still say."""
    for told in result.warnings:
        warnings.warn(told, AuditWarning, stacklevel=3)
    if result.blind and not result.unchecked:
        told = f"{called(mechanism)}: the audit could not read {'; '.join(result.blind)} (allow_blind=True: as meant)"
        warnings.warn(told, AuditWarning, stacklevel=3)


def seed_of(mechanism: Callable[..., Any], pair: tuple[Any, Any]) -> int:
    """The same seed for the same mechanism and pair, in every process and on every machine; addresses do not count."""
    name = getattr(mechanism, "__qualname__", type(mechanism).__qualname__)
    with np.printoptions(threshold=1_000_000, precision=17):
        text = re.sub(r" at 0x[0-9a-fA-F]+", "", f"{name}|{pair!r}")
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big") >> 1
