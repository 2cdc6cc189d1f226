"""Section 5, the verdict: both ends of the interval proved, and what follows from them."""

import re
from typing import Any

from flint import arb, fmpq

from .bounds import delta_bound
from .format import FORMAT, Claim, Phase, all_phases, claim, digest, end, lower_end, number, require, table, text
from .largest import above
from .pairs import products


def upper_end(stated: Claim, phases: list[Phase], top: fmpq | None, evidence: Any) -> None:
    """[5] delta(top) <= delta in every dominating direction, 0 where no loss is above top. An infinite end (None) says
    nothing, so needs nothing."""
    ends = [end(value) for value in evidence]
    if top is None:
        require(not ends, "nothing proves an infinite end")
        return
    worst = products(phases, stated.relation, stated.seen, True)
    require(bool(worst) and [each.direction for each in ends] == list(worst), "one proof for each direction")
    for each in ends:
        if each.method == "largest-loss":
            require(bool(above(worst[each.direction], top) <= 0), f"the upper end is not proved ({each.direction})")
            continue
        bound = delta_bound(worst, each, arb(top), True)
        require(bool(bound <= arb(stated.delta)), f"the upper end is not proved ({each.direction})")


def lower(stated: Claim, phases: list[Phase], bottom: fmpq, evidence: Any) -> None:
    """[5] delta(bottom) > delta in one attained direction, of all phases or of some: dropping outputs tells no more."""
    if evidence is None:
        require(bottom == 0, "the lower end has no proof")
        return
    places, proof = lower_end(evidence, len(phases))
    attained = products([phases[place] for place in places], stated.relation, stated.seen, False)
    if proof.method == "largest-loss":
        require(proof.direction in attained and stated.delta == 0, "losses of some direction, at delta = 0")
        require(bool(above(attained[proof.direction], bottom) >= 0), "the lower end is not proved")
        return
    bound = delta_bound(attained, proof, arb(bottom), False)
    require(bool(bound > arb(stated.delta)), "the lower end is not proved")


def due(bottom: fmpq, top: fmpq | None, most: fmpq) -> str:
    """[5] What the interval says of the claim: no claim holds with an infinite upper end."""
    if top is not None and top <= most:
        return "holds"
    return "refuted" if bottom > most else "undecided"


def issued(value: Any) -> None:
    """[1] Who wrote the file, when, and of which claim file: texts, of which nothing is proved."""
    version, date, source = table(value, "dpcert date claim_sha256")
    day = re.fullmatch(r"\d{4}-\d\d-\d\d", text(date))
    require(day is not None and bool(text(version)), "issued: version and date")
    require(source is None or re.fullmatch("[0-9a-f]{64}", text(source)) is not None, "issued: a sha256 or null")


def read(document: Any) -> tuple[Claim, list[Phase], fmpq, fmpq | None]:
    """[1] Claim, phases and interval of a document whose digest and verdict are right. Neither end is proved yet."""
    keys = "format digest issued claim phases verdict interval evidence"
    form, written, origin, about, steps, verdict, interval, _ = table(document, keys)
    require(form == FORMAT, f"expected {FORMAT}")
    require(written == digest(document), "the digest is of another document")
    issued(origin)
    stated, phases = claim(about), all_phases(about, steps)
    low, high = table(interval, "epsilon_lower epsilon_upper")
    bottom, top = number(low), None if high == "inf" else number(high)
    require(top is None or bottom <= top, "an interval from its lower to its upper end")
    follows = due(bottom, top, stated.most)
    require(verdict == follows, f"from the interval the claim is {follows}")
    return stated, phases, bottom, top


def prove(document: Any) -> str:
    """[5] What is proved, in words; raises ValueError where something is not."""
    stated, phases, bottom, top = read(document)
    above, below = table(document["evidence"], "upper lower")
    upper_end(stated, phases, top, above)
    lower(stated, phases, bottom, below)
    return _words(document["claim"], document["verdict"], **document["interval"])


def _words(about: dict[str, Any], verdict: str, epsilon_lower: str, epsilon_upper: str) -> str:
    """What is proved, as a sentence."""
    claimed, delta, span = about["epsilon"], about["delta"], about["epsilon_interval"]
    claimed = f"{claimed} (as printed: up to {span[1]})" if span else claimed
    said = {
        "holds": f"the claim of at most {claimed} holds",
        "refuted": f"the claim of at most {claimed} is refuted",
        "undecided": f"this does not decide the claim of at most {claimed}",
    }
    known = "no upper bound is known" if epsilon_upper == "inf" else f"it is at most {epsilon_upper}"
    return f"epsilon at delta {delta} is at least {epsilon_lower}, and {known}: {said[verdict]}"
