"""What an audit reports: bounds with their confidence, tests with their p-values, and the witness."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from typing import Literal

from ...mechanisms.digits import rounded_down
from ...mechanisms.notebook import InNotebook
from .band import Band
from .checked import most_shown
from .curve import ClaimedCurve
from .witness import AuditWitness


@dataclass(frozen=True, slots=True)
class LowerBound:
    """The true value is below `value` with probability at most `error`.

    quantity: "epsilon" (at `delta`) or "mu" (the pair is mu-GDP for no smaller mu).
    assumes: None, or what the bound says nothing without ("gaussian", "densities", "alike canaries");
    such a bound is for information and never refutes a claim.
    """

    quantity: Literal["epsilon", "mu"]
    value: float
    delta: float | None
    error: float
    method: str
    assumes: Literal["gaussian", "densities", "alike canaries"] | None = None

    def words(self, claim: ClaimedCurve | None) -> str:
        """The bound in a line; claim: what was audited, which a bound may only repeat."""
        at = f" at delta = {self.delta:g}" if self.delta is not None else ""
        model = f", if the noise is as assumed: {self.assumes}" if self.assumes else ""
        itself = claim is not None and self.value in (*claim.epsilons, claim.mu)
        little = "; the claim itself: these trials tell no more" if itself and self.method == "e-process" else ""
        return f"{self.quantity}{at} is at least {rounded_down(self.value, 5)} ({self.method}{model}{little})"


@dataclass(frozen=True, slots=True)
class Test:
    """One test of the claim: refuted iff p_value <= error, its own part of the audit's error probability."""

    __test__ = False  # pytest is not to collect it

    method: str
    p_value: float
    error: float
    trials: int

    @property
    def refutes(self) -> bool:
        """Whether this test alone refutes the claim."""
        return self.p_value <= self.error


@dataclass(frozen=True, slots=True)
class AuditResult(InNotebook):
    """Everything in `tests`, `band` and the assumption-free `bounds` holds together with probability 1 - alpha.

    refuted: a claim was made, and contradicted by one of them. trials: calls, both sides together.
    stopped: "complete", "early" (evidence sufficed), "time", "interrupt", or "failure" (of the mechanism).
    blind: what the outputs have in them that this audit could not use; without it "not refuted" says too much.
    unchecked: why nothing was checked at all, in a sentence; empty where something was. warnings: sentences on what
    refutes nothing and should be known. generators: what the mechanism drew from beside the generator that it got.
    tried: the pairs, where several were. mechanism: its name, if it has one. generic_pair: nobody named the pairs.
    extended: after an early stop further trials were spent on the bounds.
    """

    refuted: bool
    alpha: float
    claim: ClaimedCurve | None
    tests: tuple[Test, ...]
    bounds: tuple[LowerBound, ...]
    band: Band | None
    witness: AuditWitness | None
    trials: int
    seconds: float
    stopped: str
    seed: int
    blind: tuple[str, ...] = ()
    unchecked: str = ""
    warnings: tuple[str, ...] = ()
    generators: tuple[str, ...] = ()
    tried: tuple[str, ...] = ()
    mechanism: str = ""
    generic_pair: bool = False
    extended: bool = False

    def __str__(self) -> str:
        claimed = self.claim.text if self.claim is not None else "nothing"
        verdict = "REFUTED" if self.refuted else "not refuted"
        p_value = f"; p-value {self.p_value:.3g}" if self.witness is None else ""
        lines = [
            f"{self.trials} calls in {self.seconds:.2f} s, {self.stopped}{p_value}",
            *(bound.words(self.claim) for bound in self.bounds),
            *self._limits(),
            *(f"not read: {told}" for told in self.blind),
            *(f"warning: {told}" for told in self.warnings),
        ]
        if len(self.tried) > 1:
            lines.append("pairs tried:" + "".join(f"\n    {pair}" for pair in self.tried))
        if self.generators:
            lines.append(f"drew from {', '.join(self.generators)}, not from the generator that it was given")
        first = f"{self.mechanism or 'the mechanism'}: {claimed} is {verdict} (error probability {self.alpha:g})"
        last = [f"Nothing was checked: {self.unchecked}"] if self.unchecked else []
        return "\n".join(["\n  ".join([first, *lines]), *last, *([str(self.witness)] if self.witness else [])])

    def _limits(self) -> Iterator[str]:
        """What the noise is at most, what more can be asked for, and what these calls could have shown."""
        if self.effective_noise is not None and self.effective_noise < 1:
            yield f"the noise is at most {self.effective_noise:.4f} times what the claim needs"
        if self.stopped == "early" and not self.extended:
            yield "stopped early: --after-stop N (after_stop=N) spends further calls on a larger lower bound"
        if not self.refuted:
            delta = min(self.claim.deltas) if self.claim is not None else 0.0
            most = most_shown(self.trials, delta, self.alpha / max(1, len(self.tried)))
            yield f"{self.trials} calls can show an epsilon of at most {most:.3g}, whatever they return"

    def with_bounds_of(self, further: AuditResult) -> AuditResult:
        """The same with the bounds that further trials gave, which were drawn for them alone."""
        return replace(
            self,
            bounds=(*self.bounds, *further.bounds),
            band=further.band,
            trials=self.trials + further.trials,
            seconds=further.seconds,
            extended=True,
        )

    @property
    def p_value(self) -> float:
        """The smallest p-value, scaled to the whole audit's error: refuted by tests iff at most alpha."""
        return min([1.0, *(test.p_value * self.alpha / test.error for test in self.tests)])

    def epsilon_lower(self, delta: float | None = None) -> float:
        """The best assumption-free lower bound on epsilon at delta (None: any delta that was asked about)."""
        found = [
            bound.value
            for bound in self.bounds
            if bound.quantity == "epsilon" and bound.assumes is None and (delta is None or bound.delta == delta)
        ]
        if self.band is not None and delta is not None:
            found.append(self.band.epsilon(delta))
        return max([0.0, *found])

    @property
    def mu_lower(self) -> float:
        """The best assumption-free lower bound on mu."""
        return max([0.0, *(b.value for b in self.bounds if b.quantity == "mu" and b.assumes is None)])

    @property
    def effective_noise(self) -> float | None:
        """For a claimed mu: the noise is at most this times the claimed noise (1 when nothing is missing)."""
        if self.claim is None or self.claim.mu is None:
            return None
        return 1.0 if self.mu_lower <= self.claim.mu else self.claim.mu / self.mu_lower

    def to_json(self) -> dict[str, object]:
        """Plain data; an infinite bound is the string "inf"."""
        named = {"mechanism": self.mechanism, "generic_pair": self.generic_pair} if self.mechanism else {}
        return named | {
            "refuted": self.refuted,
            "claim": self.claim.text if self.claim is not None else None,
            "alpha": self.alpha,
            "p_value": self.p_value if self.tests else None,
            "tests": [asdict(test) for test in self.tests],
            "bounds": [{**asdict(bound), "value": _plain(bound.value)} for bound in self.bounds],
            "epsilon_lower": _plain(self.epsilon_lower()),
            "mu_lower": _plain(self.mu_lower),
            "effective_noise": self.effective_noise,
            "witness": self.witness.to_json() if self.witness is not None else None,
            "trials": self.trials,
            "seconds": self.seconds,
            "stopped": self.stopped,
            "seed": self.seed,
            "blind": list(self.blind),
            "unchecked": self.unchecked,
            "warnings": list(self.warnings),
            "generators": list(self.generators),
            "tried": list(self.tried),
        }


def _plain(value: float) -> float | str:
    return value if math.isfinite(value) else "inf"
