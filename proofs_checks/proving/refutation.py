"""Where no proof exists, the auditor tries to refute: on the search's own pairs, and on tidier ones beside them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...mechanisms.digits import rounded_down
from ...mechanisms.digits import rounded_up as as_digits
from ...mechanisms.notebook import InNotebook
from ..auditing import AuditResult, audit
from .proof import Proof

EXACT_NOISE = (
    "dpcert.mechanisms.samplers.discrete_laplace(scale): whole numbers, drawn exactly; of values that are whole too "
    "(round them to a grid first) it is proved as it runs, with --whole",
    "dpcert.mechanisms.samplers.discrete_gaussian(sigma), or GridGaussian(sigma).release(value), for rng.normal",
    "rng.geometric and rng.choice are discrete, but drawn from floating-point numbers",
)
"""What to draw in place of noise that leaks through the low-order bits of its floating-point numbers."""

ALPHA = 0.01
MOST = 4


def refute(mechanism: Callable[..., Any], proof: Proof, trials: int, seed: int = 0) -> AuditResult | None:
    """The strongest audit over the pairs; the error probability of all together is ALPHA.

    Audits the claim; where nothing was claimed, what is proved, which gives a lower bound.
    None where no pair lacks a proof, of what is no epsilon of one run, and without trials.
    """
    wanted = proof.counterexamples or (proof.claim is None and proof.dearest)
    of_one_run = proof.notion == "dp" and (proof.rounds, proof.sampling_rate) == (1, 1.0)
    if trials == 0 or not wanted or not of_one_run:
        return None
    pairs: dict[str, tuple[Any, Any]] = {}
    shown = [*proof.counterexamples] or [each for each in [proof.dearest] if each is not None]
    columns = max((np.size(each.dataset) // len(each.dataset) for each in shown if each.dataset), default=1)
    containers: dict[str, Callable[[Any], Any]] = {"list": list, "rows": lambda x: np.reshape(x, (len(x), columns))}
    made = containers.get(proof.container, np.array)
    for example in shown:
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


@dataclass(frozen=True, slots=True)
class Examined(InNotebook):
    """A search for a proof, and the audit of the neighbours at which it found none. certificate: the file written.

    mechanism: its name, where it is not the function's own. exact_noise: what to draw in place of noise that leaks
    through floating-point digits, where that was asked for.
    """

    proof: Proof
    audit: AuditResult | None
    certificate: str | None = None
    mechanism: str | None = None
    exact_noise: tuple[str, ...] = ()

    @property
    def refuted(self) -> bool:
        """Whether a claim was refuted; without one the audit only looks for a lower bound."""
        return self.proof.claim is not None and self.audit is not None and self.audit.refuted

    @property
    def _lower(self) -> float:
        return 0.0 if self.audit is None else self.audit.epsilon_lower(0.0)

    def __str__(self) -> str:
        proof, audit = self.proof, self.audit
        lines = ["REFUTED" + str(proof).removeprefix("not proved") if self.refuted else str(proof)]
        if proof.epsilon is not None and proof.claim is None:
            ends = f"[{rounded_down(self._lower, 5)}, {as_digits(proof.epsilon)}]"
            lines.append(f"  {proof.quantity} is in {ends}")
        if audit is not None and self.refuted:
            lines.append(f"  refuted by running it (error probability {audit.alpha:g})\n{audit.witness}")
        elif audit is not None and proof.claim is not None:
            lines.append("  not refuted by running it on these neighbours either")
        if proof.certificate is not None:
            lines.append(f"  checked: {proof.reason}")
        if self.certificate is not None:
            lines.append(f"  certificate: {self.certificate}")
        if self.exact_noise:
            lines += ["  exact noise, so that it holds as it runs:", *(f"    {line}" for line in self.exact_noise)]
        return "\n".join(lines)

    def to_json(self) -> dict[str, Any]:
        """Plain data: the proof's, with what the audit found."""
        verdict = {"verdict": "refuted"} if self.refuted else {}
        lower = {f"{self.proof.quantity}_lower": self._lower, "certificate": self.certificate}
        named = {} if self.mechanism is None else {"mechanism": self.mechanism}
        beside = {"exact_noise": list(self.exact_noise)} if self.exact_noise else {}
        return self.proof.to_json() | verdict | lower | {"audit": self.audit and self.audit.to_json()} | named | beside
