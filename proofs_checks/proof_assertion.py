"""assert_proved: a proof of privacy as an assertion, beside assert_private."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ..mechanisms import InputError
from .assertion_context import current
from .proving import Proof, prove

__tracebackhide__ = True  # pytest: as in assertion.py


def assert_proved(mechanism: Callable[..., Any], *, epsilon: float | None = None, **options: Any) -> Proof:
    """Fail unless a proof is found, and confirmed by the checker, that the mechanism is epsilon-DP.

    For every number of entries; or, where datasets have at most N, for up_to=N. options: see `prove`. The claim
    defaults to that of the test's `dp` mark, in epsilon or rho. Failing does not say that the mechanism is broken: the
    message says what could not be proved, and where. Returns the proof. Raises AssertionError, InputError.

    >>> def noisy_sum(data, rng):
    ...     return sum(data) + rng.laplace(0, 1)
    >>> assert_proved(noisy_sum, epsilon=1, relation="answers", up_to=1).proved
    True
    """
    context = current()
    if epsilon is not None:
        options["epsilon"] = epsilon
    elif "rho" not in options:
        options |= _marked(context.claim)
    context.spend()
    proof = prove(mechanism, **options)
    if not proof.proved:
        raise AssertionError(str(proof))
    return proof


def _marked(claim: Mapping[str, Any]) -> dict[str, Any]:
    """The mark's claim, where it is one that proofs are about."""
    if not claim:
        raise InputError("epsilon", None, "a number, or a @pytest.mark.dp(epsilon=...) on the test")
    if claim.get("delta"):
        raise InputError("delta", claim["delta"], "0: proofs are of pure differential privacy")
    for name in ("mu", "curve", "renyi"):
        if name in claim:
            raise InputError(name, claim[name], "a claim in epsilon or rho: proofs are about these")
    return {name: value for name, value in claim.items() if name != "delta"}
