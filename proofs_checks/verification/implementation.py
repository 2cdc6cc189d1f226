"""verify --audit: attack the implementation that a claim names.

Two questions, at half of the error probability each. Is the claimed (epsilon, delta) contradicted: then the claim
is refuted, whatever was proved of its description. Is the described mechanism's whole curve contradicted: then
what was implemented is not what was described, and the proof is about something else (a finding).
"""

from __future__ import annotations

import shlex
from dataclasses import replace

from ...mechanisms import InputError, PrivacyNotion
from ..auditing import AuditResult, ClaimedCurve, approximate_dp, of_mechanism
from ..auditing.attack import attack
from ..auditing.checked import least_calls
from ..auditing.target import load
from ..auditing.trials import Progress
from ..claims.claim import Claim
from ..claims.currency import EpsilonAt
from ..claims.findings import Finding
from .verdict import Verification

DIFFERS, UNCHECKED, TOO_FEW = "implementation-differs", "implementation-not-checked", "audit-too-short"


def audited(
    verification: Verification,
    *,
    trials: int = 50_000,
    alpha: float = 0.01,
    max_seconds: float = 60.0,
    seed: int = 0,
    progress: Progress | None = None,
    replay: str | None = None,
) -> Verification:
    """The verification with what an audit of the named implementation adds; unchanged when none is named.

    replay: the command that repeats this, for the witness; `dpcert verify CLAIM --audit` unless given.

    Raises InputError when the implementation cannot be imported, and MechanismError when it fails.
    """
    statement = verification.claim.statement
    if statement.implementation is None:
        return verification
    target = load(statement.implementation, neighbouring=statement.neighbouring, field="claim.implementation")
    currency = statement.currency
    if not isinstance(currency, EpsilonAt):
        raise InputError("--audit", statement.implementation, f"a claim of epsilon and delta, not of {currency.name}")
    curves = [approximate_dp(currency.threshold, currency.delta), *_described(verification.claim)]
    results: list[AuditResult] = []
    for curve in curves:
        result = attack(
            target,
            curve,
            delta=currency.delta,
            trials=trials,
            alpha=alpha / len(curves),
            max_seconds=max_seconds / len(curves),
            seed=seed,
            progress=progress,
            replay=replay or f"dpcert verify {shlex.quote(str(verification.claim.file))} --audit",
        )
        results.append(result)
        if result.stopped == "interrupt":
            break
    found = replace(verification, audit=results[0])
    if results[0].unchecked:
        enough = results[0].trials >= least_calls(curves[0], alpha / len(curves) / len(target.pairs))
        finding = _unchecked(statement.implementation, results[0], enough)
        found = replace(found, findings=(*found.findings, finding))
    if len(results) == 2 and results[1].refuted:
        found = replace(found, findings=(*found.findings, _differs(statement.implementation, results[1])))
    if results[0].refuted and found.verdict != "refuted":
        found = replace(found, verdict="refuted", witness=results[0].witness)
    return found


def _described(claim: Claim) -> list[ClaimedCurve]:
    """The curve of what the claim says ran, where plain DP and an accountant make it one."""
    if claim.statement.notion != PrivacyNotion.DP:
        return []
    try:
        return [of_mechanism(claim.run, claim.statement.neighbouring)]
    except InputError:
        return []


def _unchecked(name: str, result: AuditResult, enough: bool) -> Finding:
    """enough: whether so many calls could have refuted the claim, had there been anything to compare."""
    text = f"The audit of {name} checked nothing. {result.unchecked} The verdict is about the description alone."
    return Finding(UNCHECKED, "error", text) if enough else Finding(TOO_FEW, "warning", text)


def _differs(name: str, result: AuditResult) -> Finding:
    text = f"{name} is not the mechanism that the claim describes: it is less private than that one. {result.witness}"
    return Finding(DIFFERS, "error", text)
