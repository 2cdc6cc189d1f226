"""Certificates: a claim, what ran, the interval around the true epsilon, and evidence that a checker can re-prove.

    written = write(claim, lower, upper, Path("certificates"))
    written.path, written.epsilon_lower, written.epsilon_upper, written.verdict

`claim` is a claims.Claim (`parse_claim` makes one of parsed TOML); lower and upper are the ends of a certified
bracket. The file states the interval that the checker can prove: it holds the given one and may be
wider, so `write` returns it, with the verdict that follows from it. What cannot be certified at all raises
NoCertificate. Format and proofs: docs/certificates.md. The checker trusts nothing that is done here.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from hashlib import sha256
from pathlib import Path
from typing import Literal, TypeVar

from flint import ctx

from ..claims.claim import Claim
from .checker import format, pairs, verdict
from .checker.command import PRECISION
from .evidence import Search
from .restated import NoCertificate
from .stated import Table, stated

_FINE = (float(f"1e-{digits}") for digits in range(13, 2, -1))
WIDENINGS = (0.0, *_FINE, 3e-3, 0.01, 0.02, 0.04, 0.07, 0.1, 0.15, 0.2, 0.3)
"""By how much, relatively, an end is moved outwards until it can be proved: the first of these that does."""

WILD = tuple(1.25**k - 1 for k in range(2, 75))
"""Further widenings of an upper end, up to 1e7-fold: a bound is better than none."""

FAR = 1000.0
"""A lower end for an infinite epsilon, at delta = 0."""

Verdict = Literal["holds", "refuted", "undecided"]
Proof = TypeVar("Proof")


@dataclass(frozen=True, slots=True)
class Written:
    """A certificate's file, and the interval and verdict that it states."""

    path: Path
    epsilon_lower: float
    epsilon_upper: float
    verdict: Verdict


def write(claim: Claim, lower: float, upper: float, directory: Path, name: str | None = None) -> Written:
    """Writes `directory`/NAME.json and returns what it states.

    name: default the claim file's, or the title; where a certificate of another claim (another title or source) is
    there already, with a few digits that tell the two apart, so that it is not overwritten.
    lower, upper: a certified bracket of the claim's true epsilon; upper may be infinite.
    Raises NoCertificate for what the format cannot describe, OSError where the file cannot be written.
    """
    document = certificate(claim, lower, upper)
    path, interval = filed(document, claim, directory, name), document["interval"]
    return Written(path, float(interval["epsilon_lower"]), float(interval["epsilon_upper"]), document["verdict"])


def filed(document: Table, claim: Claim, directory: Path, name: str | None) -> Path:
    """Where the certificate was written to, as `write` says."""
    directory.mkdir(parents=True, exist_ok=True)
    path = directory / f"{name or _name(claim)}.json"
    if name is None and _another_s(path, document["claim"]):
        path = directory / f"{_name(claim)}-{told_apart(document['claim']['title'] + document['claim']['source'])}.json"
    path.write_text(json.dumps(document, indent=2) + "\n", "utf-8")
    return path


def told_apart(text: str) -> str:
    """Eight hexadecimal digits for file names."""
    return sha256(text.encode("utf-8")).hexdigest()[:8]


def _another_s(path: Path, claim: Table) -> bool:
    """Whether the file that is there states another claim; what is no certificate is nobody's."""
    try:
        stated = json.loads(path.read_text("utf-8"))["claim"]
        return any(stated[key] != claim[key] for key in ("title", "source"))
    except (OSError, ValueError, LookupError, TypeError):
        return False


def certificate(claim: Claim, lower: float, upper: float) -> Table:
    """The certificate as plain JSON data; it passes the checker."""
    return proved(stated(claim), lower, upper)


def proved(statement: Table, lower: float, upper: float) -> Table:
    """The statement (format, issued, claim, phases), its digest and the proof that [lower, upper] holds its epsilon."""
    if not 0 <= lower <= upper:
        raise NoCertificate(f"no interval from {lower} to {upper}")
    document, claim = dict(statement), statement["claim"]
    most = (claim["epsilon_interval"] or [claim["epsilon"]])[-1]
    top, above = _upper_end(document, upper, upper - lower, most)
    bottom, below = _lower_end(document, lower, upper - lower)
    document["interval"] = {"epsilon_lower": bottom, "epsilon_upper": top}
    document["verdict"] = _verdict(bottom, top, most)
    document["evidence"] = {"upper": above, "lower": below}
    document["digest"] = format.digest(document)
    try:
        verdict.read(document)  # that both ends are proved is what the searches have asked the checker
    except (ValueError, ArithmeticError, LookupError, TypeError) as problem:
        raise NoCertificate(f"the checker rejects it: {problem}") from None
    return document


def _verdict(lower: str, upper: str, threshold: str) -> Verdict:
    claimed = Fraction(threshold)
    if upper != "inf" and Fraction(upper) <= claimed:
        return "holds"
    return "refuted" if Fraction(lower) > claimed else "undecided"


def _upper_end(document: Table, upper: float, width: float, most: str) -> tuple[str, list[Table]]:
    """The smallest end, among widened ones and what is claimed, that is proved in every dominating direction."""
    searches = _searches(document, tuple(range(len(document["phases"]))), width, worst=True)
    known: dict[str, tuple[str, Table]] = {}

    def proof(epsilon: str) -> list[Table] | None:
        found = {}
        for direction in sorted(searches, reverse=True):  # "remove" before "add", which hardly ever fails
            since, end = known.get(direction, ("inf", None))
            if end is None or float(epsilon) < float(since):
                end = searches[direction].evidence(direction, epsilon, upper=True)
            if end is None:
                return None
            if end["method"] != "inversion":  # the other bounds fall with epsilon
                known[direction] = (epsilon, end)
            found[direction] = end
        return [found[direction] for direction in searches]

    if math.isinf(upper):
        return "inf", []
    near, far = ([upper + widening * max(upper, 1e-6) for widening in widenings] for widenings in (WIDENINGS, WILD))
    claimed = float(Fraction(most))
    if far[0] < claimed < far[-1]:
        far = sorted([*far, claimed])
    return first_proved(list(map(repr, near)), proof) or first_proved(list(map(repr, far)), proof) or ("inf", [])


def _lower_end(document: Table, lower: float, width: float) -> tuple[str, Table | None]:
    """The largest end, among lowered ones, that is proved in one attained direction; 0 needs no proof."""
    best: tuple[str, Table | None] = ("0", None)
    far = lower if math.isfinite(lower) else FAR  # where the true end is infinite, one that refutes what anybody claims
    lowered = [repr(far * (1 - widening)) for widening in (*WIDENINGS, 0.5, 0.7, 0.9)]
    for places in _sub_sequences(document) if lower > 0 else ():
        searches = _searches(document, places, width, worst=False)

        def proof(epsilon: str, searches: dict[str, Search] = searches) -> Table | None:
            ends = (searches[side].evidence(side, epsilon, upper=False) for side in sorted(searches, reverse=True))
            return next((end for end in ends if end is not None), None)

        found = first_proved([epsilon for epsilon in lowered if float(epsilon) > float(best[0])], proof)
        if found is not None:
            best = found[0], found[1] | {"phases": list(places)}
    return best


def first_proved(epsilons: Sequence[str], proof: Callable[[str], Proof | None]) -> tuple[str, Proof] | None:
    """The first that can be proved, where each is easier than those before it; None where not even the last can.

    The first is what mostly succeeds, and where the last fails all do: those are tried first, the rest by bisection.
    """
    at, failed, known = 0, -1, len(epsilons)
    end: Proof | None = None
    while failed + 1 < known:
        found = proof(epsilons[at])
        if found is None:
            failed = at
            if at + 1 == len(epsilons):
                return None
        else:
            known, end = at, found
        at = len(epsilons) - 1 if end is None else (failed + known) // 2
    return (epsilons[known], end) if end is not None else None


def _sub_sequences(document: Table) -> Iterator[tuple[int, ...]]:
    """Phases whose outputs alone may show the most: all that are attained, the Gaussian ones, and each other one."""
    read = [format.phase(phase) for phase in document["phases"]]
    known = tuple(place for place, phase in enumerate(read) if pairs.attained(phase))
    normal = tuple(place for place in known if read[place].kind in format.GAUSSIAN)
    others = ((place,) for place in known if place not in normal)
    yield from {places: None for places in (known, normal, *others) if places}


def _searches(document: Table, places: tuple[int, ...], width: float, *, worst: bool) -> dict[str, Search]:
    claim = document["claim"]
    try:
        with ctx.workprec(PRECISION):
            phases = [format.phase(document["phases"][place]) for place in places]
            found = pairs.products(phases, claim["neighbouring"], claim["participation"], worst)
    except (ValueError, ArithmeticError, LookupError, TypeError) as problem:
        raise NoCertificate(f"the checker cannot read the mechanism: {problem}") from None
    return {direction: Search(product, claim["delta"], width) for direction, product in found.items()}


def _name(claim: Claim) -> str:
    """A file name: the claim file's own, or what is left of the title."""
    if claim.file:
        return Path(claim.file).stem
    return re.sub(r"[^a-z0-9]+", "-", claim.statement.title.lower()).strip("-")[:80] or "claim"
