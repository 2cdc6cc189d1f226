"""Sparse-vector variants: proofs by `dpcert prove`, and outputs that tell neighbours apart, with certified odds.

A variant compares each answer plus Laplace noise with a noisy threshold, at 0, and stops after c answers above. Given
the threshold z, answers are independent, so that an output's probability is one integral over z; between the places
where a Laplace density has its kink the integrand is a product of exponentials, which Arb integrates rigorously.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import groupby, pairwise
from typing import Any

from flint import acb, arb, ctx

from ...auditing import approximate_dp, audit
from ...proving import prove
from ..formula import exactly
from ..measured import by_audit
from ..row import BALLS, Basis, Finding, Means, Statement, Undecided, on_instances
from . import variants
from .variants import numeric, sparse_vector

BITS, TAIL = 128, 60
"""Working precision; beyond TAIL times its scale the threshold's noise is bounded by its probability alone."""


def private(statement: Statement) -> Finding:
    """Whether the variant is claim.epsilon-DP: by dpcert prove, or refuted by the certified odds of one output.

    claim: scales of the threshold's and of the answers' noise, c (0: it never stops), what is released. domain:
    entries, up to how many answers; data, neighbour, output (1 above, 0 below): where the odds are computed; or below
    and above: so many answers of 0, which are 1 on the neighbour where the output is below, and -1 where it is above.
    """
    claim, stated = statement.claim, float(exactly(statement.claim["epsilon"]))
    found = _where(claim, statement.domain)
    if found is not None:
        odds = _log_odds(claim, *found)
        where = dict(zip(("data", "neighbour", "output"), map(list, found), strict=True))
        if odds > stated:
            text = f"the output ({_runs(found[2])}) has log odds of at least {_shown(odds)}, not {stated:g}"
            return Finding(False, text, {"log odds at least": _shown(odds)}, where, basis=BALLS)
    proof = prove(_mechanism(claim), epsilon=stated, entries=statement.domain["entries"], relation="answers")
    if proof.every_size or proof.up_to is not None:
        many = "every number of answers" if proof.every_size else f"up to {proof.up_to} answers"
        text = f"{stated:g}-DP for {many}, whatever they are, by a randomness alignment in exact fractions"
        every = Basis(Means.EVERY_CASE, "dpcert prove, every number of answers")
        basis = every if proof.every_size else on_instances(len(proof.sizes), "numbers of answers, dpcert prove")
        return Finding(True, text, {"epsilon": proof.epsilon}, basis=basis)
    if proof.epsilon is None or proof.epsilon <= stated:
        raise Undecided(f"neither proved nor refuted: {proof.verdict}, {proof.reason}")
    text = f"the cheapest alignment costs {proof.epsilon:.6g}, not {stated:g}"
    return Finding(False, text, {"least epsilon": proof.epsilon}, basis=on_instances(1, "search for a proof"))


def _mechanism(claim: Any) -> Any:
    if claim.get("releases") == "answer":
        return numeric(claim["threshold"], claim["query"], claim["fresh"])
    return sparse_vector(claim["threshold"], claim["query"], claim["c"] or None, anew=claim.get("anew"))


Output = tuple[Sequence[float], Sequence[float], Sequence[int]]
"""The answers, those on the neighbour, and what is said of them."""


def _where(claim: Any, domain: Any) -> Output | None:
    if "data" in domain:
        return domain["data"], domain["neighbour"], domain["output"]
    if "below" not in domain:
        return None
    below, above = (0,) * domain["below"], domain["above"]
    output = (*below, 1) * above if "anew" in claim else below + (1,) * above
    return (0,) * len(output), tuple(-1 if each else 1 for each in output), output


def _log_odds(claim: Any, data: Sequence[float], neighbour: Sequence[float], output: Sequence[int]) -> arb:
    """A lower bound of the log of the output's odds; infinite where it is impossible on the neighbour."""
    with ctx.workprec(BITS):
        likely, other = (_probability(claim, answers, output) for answers in (data, neighbour))
        if other.upper() <= 0:
            return arb("inf") if likely.lower() > 0 else arb(0)
        return arb((arb(likely.lower()) / arb(other.upper())).log().lower())


def _probability(claim: Any, answers: Sequence[float], output: Sequence[int]) -> arb:
    """A threshold that is drawn again after each answer above makes the parts in between independent."""
    first, query = (arb(str(claim[key])) for key in ("threshold", "query"))
    ends = [place + 1 for place, above in enumerate(output) if above] if "anew" in claim else [len(output)]
    total = arb(1)
    for start, end in pairwise((0, *ends)):
        part = answers[start:end], output[start:end]
        threshold = arb(str(claim["anew"])) if start else first
        total *= _integral(threshold, query, *part) if query > 0 else _without_noise(threshold, *part)
    return total


def _integral(threshold: arb, query: arb, answers: Sequence[float], output: Sequence[int]) -> arb:
    kinks = sorted({0.0, *(float(answer) for answer in answers)})
    reach = TAIL * float(threshold)
    total = arb(0, 2 * (-arb(TAIL) + arb(max(abs(k) for k in kinks)) / threshold).exp())
    for low, high in pairwise((kinks[0] - reach, *kinks, kinks[-1] + reach)):
        middle = (low + high) / 2

        def integrand(z: Any, _: bool, middle: float = middle) -> Any:
            value = _density(z, threshold, middle)
            for answer in set(answers):
                below = _below(z - answer, query, middle - answer)
                said = [above for each, above in zip(answers, output, strict=True) if each == answer]
                value *= below ** said.count(0) * (1 - below) ** said.count(1)
            return value

        total += acb.integral(integrand, acb(low), acb(high)).real
    return total


def _density(z: Any, scale: arb, middle: float) -> Any:
    """Of Laplace noise, by the branch that holds on the piece around `middle`."""
    return ((z if middle < 0 else -z) / acb(scale)).exp() / (2 * acb(scale))


def _below(x: Any, scale: arb, middle: float) -> Any:
    """P(noise < x), by the branch that holds on the piece around `middle`."""
    tail = ((x if middle < 0 else -x) / acb(scale)).exp() / 2
    return tail if middle < 0 else 1 - tail


def _without_noise(threshold: arb, answers: Sequence[float], output: Sequence[int]) -> arb:
    """The threshold lies above every answer that is said to be below it, and not above any other."""
    low = max(
        (arb(str(a)) for a, above in zip(answers, output, strict=True) if not above), default=arb("-inf"), key=float
    )
    high = min((arb(str(a)) for a, above in zip(answers, output, strict=True) if above), default=arb("inf"), key=float)
    if not low < high:
        return arb(0)
    return _distribution(high / threshold) - _distribution(low / threshold)


def _distribution(x: arb) -> arb:
    return x.exp() / 2 if x < 0 else 1 - (-x).exp() / 2


def _shown(value: arb) -> float:
    """A lower bound in six decimals, rounded down."""
    return math.floor(float(value.lower()) * 1e6) / 1e6 if value.is_finite() else math.inf


def _runs(output: Sequence[int]) -> str:
    """40 below, 2 above."""
    return ", ".join(f"{len(list(same))} {'above' if above else 'below'}" for above, same in groupby(output))


def odds_grow(statement: Statement) -> Finding:
    """Algorithm 6, m answers below, then m above: log odds on either side of claim.rate times m, for each m."""
    numbers, rates = {}, []
    for m in statement.domain["m"]:
        where = _where(statement.claim, {"below": m, "above": m})
        assert where is not None
        numbers[f"m = {m}: log odds at least"] = _shown(_log_odds(statement.claim, *where))
        rates.append(numbers[f"m = {m}: log odds at least"] / m)
    stated, at_least = statement.claim["rate"], statement.claim["side"] == "at least"
    holds = min(rates) >= stated if at_least else max(rates) <= stated
    text = f"log odds of {min(rates):.4f} m to {max(rates):.4f} m, {statement.claim['side']} {stated:g} m was stated"
    return Finding(holds, text, numbers, basis=on_instances(len(numbers), "certified integrals"))


def attacked(statement: Statement) -> Finding:
    """An audit of a variant as it is, against claim.epsilon; wrong with a probability of at most 1e-4."""
    algorithms = {"1": variants.algorithm_1(1.0, 3), "4": variants.algorithm_4(1.0, 3), "6": variants.algorithm_6(1.0)}
    claim = approximate_dp(statement.claim["epsilon"])
    mechanism = algorithms[statement.domain["algorithm"]]
    result = audit(mechanism, variants.CROSSED, claim=claim, trials=10_000, seed=0, alpha=1e-4)
    numbers = {"audited epsilon at least": result.epsilon_lower(0.0)}
    return by_audit(result, f"epsilon = {statement.claim['epsilon']:g}", numbers, 1e-4)
