"""How to see a witness again: a `dpcert audit` command where one can say it, else the call in Python."""

from __future__ import annotations

import shlex
import sys

from .curve import ClaimedCurve
from .failures import name_of
from .literals import written


def replay(
    mechanism: object,
    pair: tuple[object, object],
    claim: ClaimedCurve | None,
    delta: float,
    trials: int,
    alpha: float,
    method: str,
    seed: int,
) -> str:
    """A command, to be run where the mechanism's module can be imported; or the call, with the pair as shown."""
    name, literal, stated = _importable(mechanism), written((pair[0], pair[1])), _claimed(claim, delta)
    if name is None or literal is None or stated is None:
        said = "" if claim is None else f", claim={claim.text!r}"
        options = f"delta={delta!r}, trials={trials}, alpha={alpha!r}, method={method!r}, seed={seed}"
        return f"audit({name_of(mechanism)}, pair{said}, {options})"
    options = f"--trials {trials} --alpha {alpha!r} --method {method} --seed {seed}"
    return f"dpcert audit {shlex.quote(name)} {stated} --pair {shlex.quote(literal)} {options}"


def _importable(mechanism: object) -> str | None:
    """module:name, if that is where the mechanism can be found again."""
    name, module = getattr(mechanism, "__qualname__", None), getattr(mechanism, "__module__", None)
    found: object = sys.modules.get(str(module))
    for part in str(name).split("."):
        found = getattr(found, part, None)
    if found is None or found is not mechanism:
        return None
    return f"{getattr(sys.modules['__main__'], '__file__', module) if module == '__main__' else module}:{name}"


def _claimed(claim: ClaimedCurve | None, delta: float) -> str | None:
    """The options that state the claim, if the command line can."""
    if claim is None:
        return None
    if claim.mu is not None:
        return f"--mu {claim.mu!r} --delta {delta!r}"
    if claim.rho is not None:
        return f"--rho {claim.rho!r} --delta {delta!r}"
    if len(claim.epsilons) != 1 or claim.deltas[0] != delta:
        return None
    return f"--epsilon {claim.epsilons[0]!r} --delta {delta!r}"
