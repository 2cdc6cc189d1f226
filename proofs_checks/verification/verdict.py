"""A verdict, and all that a reader needs to judge it: holds, refuted or undecided."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from typing import Literal

from ...accounting import Bracket
from ...accounting.currencies.pure_dp import UNBOUNDED
from ...accounting.currencies.risk_picture import area, claimed, drawn
from ...mechanisms.digits import interval, rounded_down
from ..auditing import AuditResult, AuditWitness
from ..claims.claim import Claim
from ..claims.findings import Finding
from ..claims.judged import Judged
from ..claims.observers import ObservedInterval
from ..reproduction.printed import said_of_digits
from .exposure import exposure
from .verdict_table import serious, verdict_table
from .witness import PairWitness, SimulatedWitness

Verdict = Literal["holds", "refuted", "undecided"]
COLOURS: dict[Verdict, str] = {"holds": "#1f8a5b", "refuted": "#c8372d", "undecided": "#8a6414"}


@dataclass(frozen=True, slots=True)
class Verification:
    """A claim with its verdict, and all that a reader needs to judge both.

    certified: the interval that holds the true epsilon. reproduced_by: the conventions that give the printed digits
    (this says nothing about the verdict). witness: what refutes it. certificate: the file written, if one was.
    judged: what ran, against whom, by whose word.
    audit: the attack on the implementation, if one was named and asked for.
    observers: for billboard and joint claims, the interval if cohorts stay hidden and against all others.
    """

    claim: Claim
    verdict: Verdict
    certified: Bracket
    reproduced_by: tuple[str, ...]
    assumptions: tuple[str, ...]
    not_checked: tuple[str, ...]
    findings: tuple[Finding, ...]
    witness: PairWitness | AuditWitness | None
    certificate: str | None
    seconds: float
    judged: Judged
    audit: AuditResult | None = None
    observers: tuple[ObservedInterval, ...] = ()

    def __str__(self) -> str:
        return verdict_table((self,), problems=0, unjudged=0, everything=True)

    def _reasons(self) -> Iterator[str]:
        """Why, what else is wrong with the claim, and the witness."""
        yield self.why
        yield from (f"{each.severity}: {each.text}" for each in serious(self))
        if self.witness is not None:
            yield f"witness: {self.witness}"

    def _repr_html_(self) -> str:
        """The same in a notebook, with the curve of the strongest attack on what ran, and of what is claimed."""
        statement, found = self.claim.statement, exposure(self.claim)
        promised = statement.delta is not None and statement.epsilon is not None
        line = claimed(statement.threshold, statement.delta or 0.0) if promised else ""
        picture = drawn(area(found.found_out), line) if found is not None else ""
        numbers = f"printed {self.printed}, certified {interval(self.certified, 6)}"
        mark = f'<b style="color:{COLOURS[self.verdict]}">{self.verdict}</b>'
        told = "".join(f"<li>{escape(reason)}</li>" for reason in self._reasons())
        return f"<p>{mark}: {escape(statement.title)}<br>{escape(numbers)}</p><ul>{told}</ul>{picture}"

    @property
    def verdict_is_proved(self) -> bool:
        """Whether a certificate was written, and proves no less than the verdict."""
        weaker = any(finding.id == "certificate-proves-less" for finding in self.findings)
        return self.certificate is not None and not weaker

    @property
    def stated(self) -> float:
        """The claimed number as it is printed."""
        statement = self.claim.statement
        return statement.threshold if statement.epsilon is None else statement.epsilon

    @property
    def printed(self) -> str:
        """The claimed number as it is written, with its currency where that is not epsilon, and its day."""
        name, day = self.claim.statement.currency.name, " a day" if self.claim.statement.per else ""
        return self.claim.printed + day if name == "epsilon" else f"{name} {self.claim.printed}{day}"

    @property
    def _unbounded(self) -> str:
        """Why no epsilon serves."""
        if self.claim.statement.delta == 0:
            return f"{UNBOUNDED[:1].upper()}{UNBOUNDED[1:]}."
        if self.claim.statement.observer == "server":
            return "No epsilon protects against the server: it reads what each unit uploads before noise is added."
        return "No epsilon is true: with more probability than delta, the release shows a unit's data without noise."

    @property
    def why(self) -> str:
        """The verdict's reason in one or two sentences, and which convention gives the printed number."""
        claimed, lower, upper = self.claim.statement.threshold, self.certified.lower, self.certified.upper
        number = self.claim.statement.currency.words.removeprefix("the ")
        if isinstance(self.witness, SimulatedWitness):
            needed = f"a delta of at least {rounded_down(self.witness.delta_at_claimed_epsilon, 3)}"
            reason = (
                "At the claimed epsilon the true delta is higher than claimed: simulations show that it needs "
                f"{needed} (probability of error {self.witness.error:g})."
            )
        elif self.verdict == "refuted" and lower <= claimed:
            reason = "An audit of the implementation found more than the claim allows."
        elif self.verdict == "refuted" and math.isinf(lower):
            reason = self._unbounded
        elif self.verdict == "refuted":
            reason = f"The true {number} is {_beside(lower, claimed)}; two neighbouring data sets show it."
        elif self.verdict == "holds":
            reason = f"The true {number} is at most the claimed one."
        elif math.isinf(upper):
            reason = f"No upper bound is known: {self.not_checked[0].rstrip('.')}."
        elif lower == 0:
            reason = "The claim may be true or false: it lies below the certified upper bound; no lower bound is known."
        else:
            reason = "The claim may be true or false: it lies inside the certified interval."
        return " ".join(filter(None, (reason, said_of_digits(self.reproduced_by))))

    def to_json(self) -> dict[str, object]:
        """Plain data for the claims list of `dpcert verify --json`; infinities stay floats here."""
        statement = self.claim.statement
        currency = statement.currency
        claimed = currency.claimed()
        if statement.epsilon_interval:
            claimed["epsilon_interval"] = list(statement.epsilon_interval)
        return {
            "file": self.claim.file,
            "title": statement.title,
            "verdict": self.verdict,
            "claimed": claimed,
            "certified": {
                f"{currency.name}_lower": self.certified.lower,
                f"{currency.name}_upper": self.certified.upper,
            },
            "method": self.certified.method,
            "reached": self.certified.reached,
            "judged": self.judged.to_json(),
            "why": self.why,
            "reproduced_by": list(self.reproduced_by),
            "assumptions": list(self.assumptions),
            "not_checked": list(self.not_checked),
            "findings": [finding.to_json() for finding in self.findings],
            "witness": self.witness.to_json() if self.witness else None,
            "audit": self.audit.to_json() if self.audit else None,
            "certificate": self.certificate,
            "observers": [entry.to_json() for entry in self.observers],
            "seconds": self.seconds,
        }


def _beside(needed: float, claimed: float) -> str:
    """At least how many times the claimed number, or both numbers where that is less than one in two hundred."""
    if claimed == 0.0:
        return "above the claimed one"
    ratio = rounded_down(needed / claimed, 3)
    if float(ratio) > 1.0:
        return f"at least {ratio} times the claimed one"
    return f"at least {rounded_down(needed, 10)}, and not {claimed:.10g}"


def judge(bracket: Bracket, threshold: float) -> Verdict:
    """What an interval around the true epsilon says of the claim that it is at most `threshold`."""
    if bracket.certified and bracket.upper <= threshold:
        return "holds"
    return "refuted" if bracket.certified and bracket.lower > threshold else "undecided"
