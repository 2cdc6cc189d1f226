"""What `prove` answers."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from ...mechanisms.notebook import InNotebook

PROVED, PROVED_UP_TO = "proved", "proved up to N"
"""The two verdicts that something is proved: for every number of entries, or for the numbers in `sizes` only."""

ASSUMED = "real numbers, without rounding or overflow: floating-point numbers may reveal more"

NAMES = {"dp": "epsilon", "zcdp": "rho", "gdp": "mu"}
"""What is claimed, by the notion of privacy."""


@dataclass(frozen=True, slots=True)
class Counterexample:
    """A pair of neighbours, the noise, and the output for which no alignment was found. why: what fails there."""

    dataset: tuple[float | tuple[float, ...], ...]
    neighbour: tuple[float | tuple[float, ...], ...]
    noise: tuple[float, ...]
    output: str
    why: str

    def to_json(self) -> dict[str, Any]:
        return {
            "dataset": list(self.dataset),
            "neighbour": list(self.neighbour),
            "noise": list(self.noise),
            "output": self.output,
            "why": self.why,
        }


@dataclass(frozen=True, slots=True)
class Proof(InNotebook):
    """verdict: "proved" (for every number of entries), "proved up to N" (for the numbers in `sizes` only), "not proved"
    or "unsupported" (`reason` names the line).

    notion: "dp", or "zcdp" and "gdp", where all epsilons here are rhos and mus. epsilon: proved, or the least that the
    search can prove where that is above the claim (rounded up); None where nothing can be proved. dearest: where it
    costs most. rounds, sampling_rate: how often the function runs, each time on a Poisson sample of the data; the
    certificate is of one run on all data.
    sizes: numbers of entries that were proved one by one; where the verdict is not about every number, `bounded` says
    why not. asked: the number of entries up to which the caller asked for a proof; None: every number.
    certificate: what `dpcert check` proves again. counterexamples: where the search fails. stopped: by the time or
    work budget or Ctrl-C, after the stated sizes.
    """

    name: str
    verdict: str
    claim: float | None
    epsilon: float | None
    relation: str
    domain: str
    sizes: tuple[int, ...]
    reason: str
    seconds: float
    notion: str = "dp"
    container: str = "array"
    delta: float = 0.0
    certificate: dict[str, Any] | None = None
    counterexamples: tuple[Counterexample, ...] = ()
    dearest: Counterexample | None = None
    stopped: bool = False
    bounded: str = ""
    asked: int | None = None
    rounds: int = 1
    sampling_rate: float = 1.0

    @property
    def quantity(self) -> str:
        """What is bounded: "epsilon", "rho" or "mu"."""
        return NAMES[self.notion]

    @property
    def assumes(self) -> str:
        """What every proof takes for granted; empty where nothing is proved."""
        return ASSUMED if self.verdict in (PROVED, PROVED_UP_TO) else ""

    @property
    def every_size(self) -> bool:
        """Whether it is proved for every number of entries."""
        return self.verdict == PROVED

    @property
    def up_to(self) -> int | None:
        """The largest number of entries for which it is proved; None where that is none, or every number."""
        return max(self.sizes) if self.verdict == PROVED_UP_TO else None

    @property
    def proved(self) -> bool:
        """Whether what was asked is proved: for every number of entries, or up to the number that was asked for."""
        return self.every_size or (self.asked is not None and self.up_to is not None and self.up_to >= self.asked)

    def __str__(self) -> str:
        where = f"{self.relation}, {self.domain}"
        if self.every_size or self.up_to is not None:
            only = "" if self.proved else " only"
            verdict = "proved" if self.every_size else f"proved up to N = {self.up_to}{only}"
            first = f"{verdict}: {self.name}{self._repeated()} is {self._cost()} {self._range()} ({where})"
        elif self.verdict == "unsupported":
            first = f"unsupported: {self.name}: {self.reason}"
        else:
            first = f"not proved: {self.name} ({where}): {self.reason}"
        stop = ["stopped before the requested number of entries"] if self.stopped and not self.every_size else []
        if self.up_to is not None:
            stop.append(f"not proved for more entries{': ' if self.bounded else ''}{self.bounded}")
        if self.up_to is not None and not self.proved:
            stop.append(
                f"If datasets have at most so many entries, ask for that: --up-to {self.up_to} (up_to={self.up_to})"
            )
        stop += [f"It assumes {self.assumes}."] if self.assumes else []
        return "\n  ".join([first, *stop, *[_shown(example) for example in self.counterexamples[:3]]])

    def _cost(self) -> str:
        if self.notion in ("zcdp", "gdp"):
            return f"{self.epsilon!r}-{'zCDP' if self.notion == 'zcdp' else 'GDP'}"
        return f"({self.epsilon!r}, {self.delta!r})-DP" if self.delta else f"{self.epsilon!r}-DP"

    def _repeated(self) -> str:
        """', 1,000 times, each on a Poisson sample at rate 0.01,'."""
        times = f", {self.rounds:,} times" if self.rounds > 1 else ""
        sample = f", {'each ' if times else ''}on a Poisson sample at rate {self.sampling_rate:g}"
        said = times + (sample if self.sampling_rate < 1 else "")
        return f"{said}," if said else ""

    def _range(self) -> str:
        if self.every_size:
            return "for any number of entries"
        if self.sizes[0] > 1:
            return f"for {self.sizes[0]} to {self.sizes[-1]} entries"
        return f"for up to N = {self.sizes[-1]} {'entry' if self.sizes[-1] == 1 else 'entries'}"

    def to_json(self) -> dict[str, Any]:
        name = self.quantity
        return {
            "mechanism": self.name,
            "verdict": self.verdict,
            "notion": self.notion,
            "claimed": {name: self.claim, "delta": self.delta},
            f"{name}_upper": self.epsilon,
            "relation": self.relation,
            "domain": self.domain,
            "entries": list(self.sizes),
            "every_size": self.every_size,
            "up_to": self.up_to,
            "asked_up_to": self.asked,
            "bounded": self.bounded,
            "rounds": self.rounds,
            "sampling_rate": self.sampling_rate,
            "reason": self.reason,
            "assumes": self.assumes,
            "stopped": self.stopped,
            "counterexamples": [example.to_json() for example in self.counterexamples],
            "seconds": self.seconds,
        }


def _shown(example: Counterexample) -> str:
    pair = f"{list(example.dataset)} and {list(example.neighbour)}"
    return f"no proof at the neighbours {pair}, noise {list(example.noise)}, output {example.output}: {example.why}"


def rounded_up(value: Fraction) -> float:
    """The least float that is at least the fraction."""
    nearest = float(value)
    return nearest if Fraction(nearest) >= value else math.nextafter(nearest, math.inf)
