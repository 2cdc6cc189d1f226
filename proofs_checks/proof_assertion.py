"""assert_proved: a proof of privacy as an assertion, beside assert_private."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..mechanisms import InputError
from .assertion_context import current
from .proving import Proof, prove

__tracebackhide__ = True  # pytest: as in assertion.py


def assert_proved(mechanism: Callable[..., Any], *, epsilon: float | None = None, **options: Any) -> Proof:
    """Fail unless a proof is found, and confirmed by the checker, that the mechanism is epsilon-DP.

    options: see `prove`. epsilon defaults to that of the test's `dp` mark. Failing does not say that the mechanism is
    broken: the message says what could not be proved, and where. Returns the proof. Raises AssertionError, InputError.

    >>> def noisy_sum(data, rng):
    ...     return sum(data) + rng.laplace(0, 1)
    >>> assert_proved(noisy_sum, epsilon=1, relation="answers", entries=1).proved
    True
    """
    context = current()
    claim = context.epsilon if epsilon is None and "rho" not in options else epsilon
    if claim is None and "rho" not in options:
        raise InputError("epsilon", None, "a number, or a @pytest.mark.dp(epsilon=...) on the test")
    if epsilon is None and context.delta:
        raise InputError("delta", context.delta, "0: proofs are of pure differential privacy")
    context.spend()
    proof = prove(mechanism, epsilon=claim, **options)
    if not proof.proved:
        raise AssertionError(str(proof))
    return proof
