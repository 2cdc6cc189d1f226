"""verify(claim): holds, refuted or undecided, by a certified interval around the true epsilon.

holds iff the interval's upper end is at most the claimed epsilon; refuted iff its lower end, which an attained pair
of neighbours certifies, is above; else undecided. An interval that is only an estimate decides nothing.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from ...accounting import Bracket
from ...accounting.cohorts.cohorts import FINEST, QUICK, narrowed
from ...accounting.currencies.pure_dp import UNBOUNDED
from ...accounting.question import Question
from ...mechanisms import InputError, Mechanism
from ...mechanisms.tables.phase import has_uneven_cohorts
from ..auditing import AuditResult, AuditWitness
from ..certificates.certificate import NoCertificate, restated, write
from ..claims.claim import Claim, load_claim
from ..claims.currency import Against, EpsilonAt
from ..claims.findings import NOT_CHECKED, Finding, assumptions, findings
from ..claims.judged import Judged, judged
from ..claims.observers import (
    ObservedInterval,
    by_observer,
    certifiable,
    interval,
    judged_against,
    observer_findings,
    witnessed_run,
)
from ..reproduction.claimed import commonly_explained
from ..reproduction.matches import Convention, not_reproduced
from ..reproduction.printed import printed
from .witness import CurrencyWitness, Witness, currency_witness, witness
from .worse import covering

Verdict = Literal["holds", "refuted", "undecided"]


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
    witness: Witness | CurrencyWitness | AuditWitness | None
    certificate: str | None
    seconds: float
    judged: Judged
    audit: AuditResult | None = None
    observers: tuple[ObservedInterval, ...] = ()

    @property
    def why(self) -> str:
        """The verdict's reason in one or two sentences."""
        claimed, lower, upper = self.claim.statement.threshold, self.certified.lower, self.certified.upper
        if self.verdict == "refuted" and lower <= claimed:
            reason = "an audit of the implementation contradicts the claim"
        elif self.verdict == "refuted":
            size = f"{lower / claimed:.3g} times the claim" if claimed > 0 else "more than claimed"
            reason = f"two neighbours exist that need {size}" if math.isfinite(lower) else UNBOUNDED
        elif self.verdict == "holds":
            reason = f"the true {self.claim.statement.currency.words} is at most the claimed one"
        elif math.isinf(upper):
            reason = self.not_checked[0]
        elif lower == 0:
            reason = "the upper bound is above the claim, and no lower bound is known"
        else:
            reason = "the claim lies inside the certified interval"
        serious = [finding.id.replace("-", " ") for finding in self.findings if finding.severity == "error"]
        reasons = [reason, *serious]
        if self.reproduced_by:
            others = len(self.reproduced_by) - 1
            more = f" (and {others} more)" if others else ""
            plainest = next((name for name in self.reproduced_by if "orders" not in name), self.reproduced_by[0])
            reasons.append(f"printed digits: {plainest}{more}")
        return "; ".join(reasons)

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


def verify(
    claim: Claim | str | Path, *, certificates: Path | None = None, certificate_name: str | None = None
) -> Verification:
    """The verdict on a claim, or on the claim in a TOML file.

    certificates: the folder to write a certificate into, as certificate_name.json; see certificate.write.
    Raises InputError for a file that cannot be read and for combinations that have no meaning.

    >>> from dpcert.proofs_checks.claims.claim import parse_claim
    >>> claim = {"title": "ten rounds", "neighbouring": "add-remove", "epsilon": 5.0, "delta": 1e-5}
    >>> run = {"mechanism": {"kind": "gaussian", "noise_multiplier": 2.0}, "composition": {"rounds": 10}}
    >>> verify(parse_claim({"claim": claim} | run)).verdict
    'refuted'
    """
    if not isinstance(claim, Claim):
        claim = load_claim(claim)
    started = time.perf_counter()
    bracket, limits = certified_interval(claim)
    if judge(bracket, claim.statement.threshold) == "undecided":
        bracket = _closer(claim, bracket)
    verdict = judge(bracket, claim.statement.threshold)
    conventions = _conventions(claim, bracket)
    reproduced = tuple(convention.name for convention in conventions if convention.reproduces)
    run, observers = witnessed_run(claim), by_observer(claim)
    certificate, notes = _certificate(claim, bracket, certificates, certificate_name)
    return Verification(
        claim=claim,
        verdict=verdict,
        certified=bracket,
        reproduced_by=reproduced,
        assumptions=assumptions(claim),
        not_checked=(*limits, *NOT_CHECKED),
        findings=(
            *findings(claim, bracket, verdict, reproduced),
            *observer_findings(observers, claim),
            *_digits_findings(claim, conventions),
            *_without_range(claim),
            *_all_days(claim),
            *notes,
        ),
        witness=_witness(claim, run, bracket) if verdict == "refuted" and run is not None else None,
        certificate=certificate,
        observers=observers,
        seconds=time.perf_counter() - started,
        judged=judged(claim),
    )


def _closer(claim: Claim, bracket: Bracket) -> Bracket:
    """For hidden cohorts of a fixed size: the recursion's bracket, as narrow as the verdict needs it.

    Not with unequal weights, where who is drawn moves everybody's part: the pairs' common shift is missing.
    """
    statement, run = claim.statement, claim.run
    ordinary = isinstance(statement.currency, EpsilonAt) and judged_against(claim) is None
    if not ordinary or not statement.delta or run != claim.attained_run or any(map(has_uneven_cohorts, claim.phases)):
        return bracket
    for rtol in _WIDTHS:
        against = statement.neighbouring, statement.notion, statement.participation
        bracket = narrowed(Question.about(run, "epsilon", *against, rtol=rtol), bracket, statement.delta)
        if judge(bracket, statement.threshold) != "undecided":
            break
    return bracket


def _witness(claim: Claim, run: Mechanism, bracket: Bracket) -> Witness | CurrencyWitness | None:
    if claim.statement.delta:
        return witness(claim, run)
    return currency_witness(claim, run, bracket.lower)


def _without_range(claim: Claim) -> tuple[Finding, ...]:
    """What a rho or mu is that is meant in a range, without it: no amplification survives at the far end."""
    whole = claim.statement.currency.without_range()
    if whole is None:
        return ()
    statement = claim.statement
    against = Against(statement.neighbouring, statement.notion, statement.participation)
    found = whole.bracket(claim.run, against)
    text = f"Without that range, {whole.words} is from {found.lower:.5g} to {found.upper:.5g}."
    return (Finding("range-matters", "info", text),)


def _all_days(claim: Claim) -> tuple[Finding, ...]:
    """What a claim about one day comes to on all of them."""
    if claim.days == 1:
        return ()
    found = certified_interval(replace(claim, phases=claim.phases_of_all_days))[0]
    words = f"On all {claim.days} days together {claim.statement.currency.words}"
    return (Finding("all-days", "info", f"{words} is from {found.lower:.5g} to {found.upper:.5g}."),)


def _conventions(claim: Claim, bracket: Bracket) -> tuple[Convention, ...]:
    """The common conventions behind a printed epsilon; none where the search cannot describe the run."""
    if not claim.statement.delta or not claim.statement.is_ordinary:  # pure DP and other currencies have one convention
        return ()
    try:
        return commonly_explained(claim, bracket if judged_against(claim) is None else None)
    except (ValueError, ArithmeticError):  # of a number without meaning: no convention printed it
        return ()


def _digits_findings(claim: Claim, conventions: tuple[Convention, ...]) -> tuple[Finding, ...]:
    """That no common convention gives the printed digits, where that is so."""
    if not conventions or conventions[0].reproduces:
        return ()
    text = f"{not_reproduced(conventions, printed(claim.printed), 'common conventions')} dpcert explain searches more."
    return (Finding("digits-not-reproduced", "info", text),)


def _certificate(
    claim: Claim, bracket: Bracket, directory: Path | None, name: str | None
) -> tuple[str | None, tuple[Finding, ...]]:
    """The certificate's file, if one was asked for and can be proved; else, or where it proves less, a finding."""
    if directory is None:
        return None, ()
    if not claim.statement.is_ordinary:
        text = "No certificate: the format states what one unit costs, whose data may be in every phase."
        return None, (Finding("no-certificate", "info", text),)
    if not claim.statement.delta:
        text = "No certificate: the format states an epsilon at a delta above 0."
        return None, (Finding("no-certificate", "info", text),)
    if not certifiable(claim):
        return None, (Finding("no-certificate", "info", "Certificates speak of the notion's own observer only."),)
    try:
        written = write(claim, bracket.lower, bracket.upper, directory, name)
    except NoCertificate as problem:
        return None, (Finding("no-certificate", "info", f"No certificate: {problem}."),)
    except OSError as problem:
        raise InputError("--certificate", str(directory), f"a folder to write to ({problem})") from None
    note = restated(claim)
    notes = (Finding("certificate-restates", "info", f"The certificate speaks of {note}."),) if note else ()
    if written.verdict == judge(bracket, claim.statement.threshold):
        return str(written.path), notes
    proved = f"[{written.epsilon_lower:g}, {written.epsilon_upper:g}]"
    text = f"The certificate proves a wider interval, {proved}, from which the claim is {written.verdict}."
    return str(written.path), (Finding("certificate-proves-less", "warning", text), *notes)


_WIDTHS = (QUICK, 0.003, FINEST)
"""Relative widths to try, one after the other, where product pairs leave a claim on a hidden cohort undecided."""


def judge(bracket: Bracket, threshold: float) -> Verdict:
    """What an interval around the true epsilon says of the claim that it is at most `threshold`."""
    if bracket.certified and bracket.upper <= threshold:
        return "holds"
    return "refuted" if bracket.certified and bracket.lower > threshold else "undecided"


def certified_interval(claim: Claim) -> tuple[Bracket, tuple[str, ...]]:
    """The interval around the true epsilon, and what kept it from being tighter, in words."""
    run, attained_run = claim.run, claim.attained_run
    worse = covering(claim)
    upper, limits = _attempt(worse, run)
    if attained_run == run and worse is claim:
        return upper, limits
    lower = _attempt(claim, attained_run)[0].lower if attained_run is not None else 0.0
    return Bracket(lower, upper.upper, upper.certified, upper.method), limits


def _attempt(claim: Claim, run: Mechanism) -> tuple[Bracket, tuple[str, ...]]:
    """The accountants' interval, or the one that says nothing where no accountant can give one."""
    try:
        return interval(claim, run), ()
    except InputError as problem:
        if problem.field not in ("accountant", "run"):
            raise
        reason = "no certified accountant serves this mechanism, so the interval is [0, inf]"
    except ArithmeticError as problem:
        reason = f"the accountants failed numerically ({problem}), so the interval is [0, inf]"
    return Bracket(0.0, math.inf, True, "none"), (reason,)
