"""verify(claim): holds, refuted or undecided, by a certified interval around the true epsilon.

holds iff the interval's upper end is at most the claimed epsilon; refuted iff its lower end, which an attained pair
of neighbours certifies, is above; else undecided. An interval that is only an estimate decides nothing. Where no
accountant decides, draws may refute (simulated.py), never prove.
"""

from __future__ import annotations

import math
import time
from dataclasses import replace
from pathlib import Path

from ...accounting import Bracket
from ...accounting.cohorts.hidden_cohorts import FINEST, QUICK, narrowed
from ...accounting.quantity import Quantity
from ...accounting.question import RTOL, Question, tolerance
from ...mechanisms import InputError, Mechanism
from ...mechanisms.tables.phase import has_uneven_cohorts
from ..claims.assumptions import NOT_CHECKED, assumptions
from ..claims.claim import Claim, load_claim
from ..claims.currency import EpsilonAt
from ..claims.findings import Finding, findings
from ..claims.judged import judged
from ..claims.observers import (
    against,
    by_observer,
    interval,
    judged_against,
    observer_findings,
    witnessed_run,
)
from ..reproduction.claimed import commonly_explained
from ..reproduction.printed import Convention, not_reproduced, printed
from .certified import certificate_of
from .exposure import covering
from .simulated import simulated
from .verdict import Verification, judge
from .witness import PairWitness, currency_witness, witness


def verify(
    claim: Claim | str | Path,
    *,
    rtol: float | None = None,
    certificates: Path | None = None,
    certificate_name: str | None = None,
) -> Verification:
    """The verdict on a claim, or on the claim in a TOML file.

    rtol: the relative width that the certified interval is to have; where no accountant gets there it is the narrowest
    that was reached, and its `reached` is False. None: 1e-6 (rho, mu: 1e-4), and hidden cohorts of a fixed size only as
    narrow as the verdict needs it. certificates: the folder to write a certificate into, as
    certificate_name.json; see certificate.write.
    Raises InputError for a file that cannot be read and for combinations that have no meaning.

    certificate_name: name of the certificate's file, without its ending; None: the claim's own.

    >>> from dpcert.proofs_checks.claims.claim import parse_claim
    >>> claim = {"title": "ten rounds", "neighbouring": "add-remove", "epsilon": 5.0, "delta": 1e-5}
    >>> run = {"mechanism": {"kind": "gaussian", "noise_multiplier": 2.0}, "composition": {"rounds": 10}}
    >>> verify(parse_claim({"claim": claim} | run)).verdict
    'refuted'
    """
    if not isinstance(claim, Claim):
        claim = load_claim(claim)
    if rtol is not None:
        tolerance("rtol", rtol)
    started = time.perf_counter()
    bracket, limits = certified_interval(claim, rtol)
    if rtol is not None or judge(bracket, claim.statement.threshold) == "undecided":
        bracket = _closer(claim, bracket, rtol)
    verdict = judge(bracket, claim.statement.threshold)
    conventions = _conventions(claim, bracket)
    reproduced = tuple(convention.name for convention in conventions if convention.reproduces)
    run, observers = witnessed_run(claim), by_observer(claim, rtol or RTOL)
    certificate, notes = certificate_of(claim, bracket, certificates, certificate_name)
    found = Verification(
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
        seconds=0.0,
        judged=judged(claim),
    )
    return replace(simulated(found), seconds=time.perf_counter() - started)


def _closer(claim: Claim, bracket: Bracket, asked: float | None) -> Bracket:
    """For hidden cohorts of a fixed size: the recursion's bracket, as narrow as asked for, or as the verdict needs it.

    Not with unequal weights, where who is drawn moves everybody's part: the pairs' common shift is missing.
    """
    statement, run = claim.statement, claim.run
    ordinary = isinstance(statement.currency, EpsilonAt) and judged_against(claim) is None
    if not ordinary or not statement.delta or run != claim.attained_run or any(map(has_uneven_cohorts, claim.phases)):
        return bracket
    for rtol in _WIDTHS if asked is None else (asked,):
        question = Question.about(run, Quantity.EPSILON, **against(claim, rtol).options())
        bracket = narrowed(question, bracket, statement.delta)
        if judge(bracket, statement.threshold) != "undecided":
            break
    return bracket


def _witness(claim: Claim, run: Mechanism, bracket: Bracket) -> PairWitness | None:
    if claim.statement.delta:
        return witness(claim, run)
    return currency_witness(claim, run, bracket.lower)


def _without_range(claim: Claim) -> tuple[Finding, ...]:
    """What a rho or mu is that is meant in a range, without it: no amplification survives at the far end."""
    whole = claim.statement.currency.without_range()
    if whole is None:
        return ()
    most = whole.bracket(claim.run, against(covering(claim), whole.rtol)).upper
    attained = claim.attained_run
    least = 0.0 if attained is None else whole.bracket(attained, against(claim, whole.rtol)).lower
    ends = f"from {least:.5g} to {most:.5g}"
    text = f"The claim is about a range only. Without the range, {whole.words} is {ends}."
    return (Finding("range-matters", "info", text),)


def _all_days(claim: Claim) -> tuple[Finding, ...]:
    """What a claim about one day comes to on all of them."""
    if claim.days == 1:
        return ()
    try:
        found = certified_interval(replace(claim, phases=claim.phases_of_all_days))[0]
    except InputError as problem:  # it is not stated whether a day goes on with what the day before began
        said = f"dpcert states no epsilon for all {claim.days} days together: {problem.sentence}"
        return (Finding("all-days", "info", said),)
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


_WIDTHS = (QUICK, 0.003, FINEST)
"""Relative widths to try, one after the other, where product pairs leave a claim on a hidden cohort undecided."""


def certified_interval(claim: Claim, rtol: float | None = None) -> tuple[Bracket, tuple[str, ...]]:
    """The interval around the true epsilon, and what kept it from being tighter, in words.

    rtol: the relative width that is asked for; `reached` says whether the interval has it.
    """
    run, attained_run = claim.run, claim.attained_run
    worse, rtol = covering(claim), claim.statement.currency.rtol if rtol is None else rtol
    bracket, limits = _attempt(worse, run, rtol)
    if attained_run != run or worse is not claim:
        lower = _attempt(claim, attained_run, rtol)[0].lower if attained_run is not None else 0.0
        bracket = replace(bracket, lower=lower)
    return replace(bracket, reached=bracket.narrower_than(rtol)), limits


def _attempt(claim: Claim, run: Mechanism, rtol: float) -> tuple[Bracket, tuple[str, ...]]:
    """The accountants' interval, or the one that says nothing where no accountant can give one."""
    try:
        return interval(claim, run, rtol), ()
    except InputError as problem:
        if problem.field not in ("accountant", "run"):
            raise
        reason = "no certified accountant serves this mechanism, so the interval is [0, inf]"
    except ArithmeticError as problem:
        reason = f"the accountants failed numerically ({problem}), so the interval is [0, inf]"
    return Bracket(0.0, math.inf, True, "none", reached=False), (reason,)
