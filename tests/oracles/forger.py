"""Certificates for false statements: every kind of mechanism, every method of evidence, with valid digests.

The falsehood is known from `certificate_truth`, which shares nothing with the checker. Bytes are not what is forged
here: each document is well-formed, and its seal is right.
"""

from __future__ import annotations

import copy
import itertools
import random
from collections.abc import Iterator
from functools import cache
from hashlib import sha256
from json import dumps
from typing import Any

import mpmath as mp
from certificate_truth import DIGITS, NOTHING, at_least, at_most, bound_only, exact, unbounded

Document = dict[str, Any]

METHODS = ("mixture", "lattice", "threshold", "chernoff", "inversion", "largest-loss")
DIRECTIONS = (("both",), ("add", "remove"), ("remove",), ("add",), ("add", "both", "remove"))
MARGIN = mp.mpf("1e-3")
"""How far an end is moved past the truth, relatively."""

NONE = {"scheme": "none", "population": None, "cohort": None, "sampling_rate": None}
ALL_OF_THEM = NONE | {"population": 30}
COIN = NONE | {"scheme": "poisson", "sampling_rate": "0.2"}
COHORT = {"scheme": "fixed-size", "population": 30, "cohort": 6, "sampling_rate": None}
BATCHES = COHORT | {"scheme": "shuffle"}
ONE = "0." + 58 * "9"
"""A rate that is 1 in double precision, and nearly so in the checker's."""


def statement(
    kind: str,
    numbers: dict[str, Any],
    sampling: Document = NONE,
    relation: str = "replace-one",
    rounds: int = 2,
    notion: str = "dp",
    seen: str = "hidden",
    delta: str = "1e-6",
) -> Document:
    """A certificate that lacks its interval, verdict, evidence and digest."""
    claim = {"title": "T", "source": "S", "unit": "client", "epsilon": "1", "epsilon_interval": None, "delta": delta}
    claim |= {"notion": notion, "neighbouring": relation, "participation": seen}
    phase = {"mechanism": {"kind": kind, **numbers}, "sampling": sampling, "rounds": rounds}
    issued = {"dpcert": "0", "date": "2026-01-01", "claim_sha256": None}
    return {"format": "dpcert-certificate-2", "issued": issued, "claim": claim, "phases": [phase]}


Z = {"noise_multiplier": "2.0"}
LOSSES = {"least_epsilon": "0.9", "most_epsilon": "1.1", "least_apart": "0.5", "most_apart": "0.75"}
MEAN = {"noise_std": "0.2", "clip_norm": "1.5", "max_weight": "1/6", "min_weight": "1/6"}
STATEMENTS: dict[str, Document] = {
    "gaussian": statement("gaussian", Z, rounds=3),
    "gaussian, add-remove": statement("gaussian", Z, relation="add-remove", rounds=3),
    "gaussian, next to no noise": statement("gaussian", {"noise_multiplier": "0.01"}, delta="0." + 54 * "9"),
    "gaussian, tiny delta": statement("gaussian", Z, delta="1e-120"),
    "gaussian, coin": statement("gaussian", Z, COIN, "add-remove", rounds=1),
    "gaussian, coin replaced": statement("gaussian", Z, COIN, "replace-one", rounds=1),
    "gaussian, coin zeroed": statement("gaussian", {"noise_multiplier": "0.3"}, COIN, "zero-out", rounds=1),
    "gaussian, rate next to one": statement("gaussian", Z, COIN | {"sampling_rate": ONE}, "add-remove", rounds=1),
    "gaussian, coin seen": statement("gaussian", Z, COIN, rounds=4, seen="visible"),
    "gaussian, cohort": statement("gaussian", Z, COHORT, "replace-one", rounds=1),
    "gaussian, cohort, add-remove": statement("gaussian", Z, COHORT, "add-remove", rounds=1),
    "gaussian, cohort zeroed": statement("gaussian", Z, COHORT, "zero-out", rounds=1),
    "gaussian, cohort pooled": statement("gaussian", Z, COHORT, rounds=4, notion="billboard", seen="pooled"),
    "gaussian, shuffled": statement("gaussian", Z, BATCHES, "zero-out", rounds=5),
    "mean": statement("gaussian-mean", MEAN, COHORT, rounds=3, notion="joint", seen="pooled"),
    "mean, uneven": statement(
        "gaussian-mean", MEAN | {"max_weight": "1/3"}, COHORT, rounds=3, notion="joint", seen="pooled"
    ),
    "mean, of a bound": statement("gaussian-mean", MEAN | {"min_weight": "0"}, COHORT, rounds=1),
    "clients": statement("per-client-gaussian", {"noise_std": "0.7", "clip_norm": "1"}, COHORT, "zero-out", rounds=1),
    "clients, all": statement("per-client-gaussian", {"noise_std": "0.7", "clip_norm": "1"}, ALL_OF_THEM, rounds=2),
    "clients, add-remove": statement(
        "per-client-gaussian", {"noise_std": "0.7", "clip_norm": "1"}, ALL_OF_THEM, "add-remove", rounds=1
    ),
    "laplace": statement("laplace", Z, rounds=1),
    "laplace, twice": statement("laplace", Z, rounds=2),
    "laplace, coin": statement("laplace", Z, COIN, "zero-out", rounds=1),
    "discrete-laplace": statement("discrete-laplace", {"scale": "1.5", "clip": 1}, relation="zero-out"),
    "discrete-gaussian": statement("discrete-gaussian", {"sigma": "1.5", "clip": 1}, rounds=1),
    "discrete-gaussian, coin": statement("discrete-gaussian", {"sigma": "1.5", "clip": 1}, COIN, "zero-out", rounds=1),
    "responses": statement("randomized-response", {"flip_probability": "0.3", "categories": 3}, rounds=4),
    "three losses": statement("three-valued", LOSSES, rounds=3),
    "three losses, delta 0": statement("three-valued", LOSSES, relation="zero-out", delta="0"),
    "three losses, of a bound": statement("three-valued", LOSSES | {"least_apart": "0"}, rounds=1),
    "zcdp": statement("zcdp", {"rho": "0.25"}),
    "pure": statement("pure-dp", {"epsilon": "0.5"}, rounds=3),
    "gradual": statement("gradual", {"epsilon": "0.8"}, relation="add-remove", rounds=1),
    "gradual, delta 0": statement("gradual", {"epsilon": "0.8"}, rounds=1, delta="0"),
    "approximate": statement("approximate-dp", {"epsilon": "0.5", "delta": "1e-7"}, rounds=3),
    "approximate, hopeless": statement("approximate-dp", {"epsilon": "0.5", "delta": "0.5"}, rounds=1, delta="1e-5"),
    "two phases": statement("gaussian", Z, COIN, "add-remove", rounds=1),
    "gaussian, advantage": statement("gaussian", Z, rounds=1, delta="0.3"),
    "laplace, advantage": statement("laplace", Z, rounds=1, delta="0.3"),
    "laplace, delta 0": statement("laplace", Z, rounds=1, delta="0"),
    "laplace, coin, delta 0": statement("laplace", {"noise_multiplier": "0.5"}, COIN, "add-remove", 1, delta="0"),
    "discrete-laplace, delta 0": statement("discrete-laplace", {"scale": "1.5", "clip": 2}, delta="0"),
    "responses, delta 0": statement(
        "randomized-response", {"flip_probability": "0.3", "categories": 3}, rounds=3, delta="0"
    ),
    "responses, mostly false, delta 0": statement(
        "randomized-response", {"flip_probability": "0.9", "categories": 2}, rounds=1, delta="0"
    ),
    "pure, delta 0": statement("pure-dp", {"epsilon": "0.22"}, relation="add-remove", rounds=6, delta="0"),
    "approximate, delta 0": statement("approximate-dp", {"epsilon": "0.5", "delta": "1e-7"}, rounds=2, delta="0"),
}
STATEMENTS["two phases"]["phases"] += statement("laplace", Z)["phases"]


def seal(document: Document) -> Document:
    """The document with its digest, computed here, from what docs/certificates.md says."""
    content = {key: value for key, value in document.items() if key != "digest"}
    canonical = dumps(content, sort_keys=True, separators=(",", ":"))
    return content | {"digest": sha256(canonical.encode("ascii")).hexdigest()}


def is_false(document: Document) -> bool:
    """Whether an end of the interval contradicts the oracle, or the verdict the interval."""
    interval, claim = document["interval"], document["claim"]
    low, high = interval["epsilon_lower"], interval["epsilon_upper"]
    with mp.workdps(DIGITS):
        delta = exact(claim["delta"])
        slack = min(delta, 1 - delta) * mp.mpf("1e-12") or NOTHING
        if exact(low) > 0 and (bound_only(document) or _is_above(document, low, delta - slack)):
            return True
        if high != "inf" and at_least(document, high) > delta + slack:
            return True
        claimed = exact(claim["epsilon_interval"][1] if claim["epsilon_interval"] else claim["epsilon"])
        holds, refuted = high != "inf" and exact(high) <= claimed, exact(low) > claimed
    return bool(document["verdict"] != ("holds" if holds else "refuted" if refuted else "undecided"))


def _is_above(document: Document, low: str, delta: mp.mpf) -> bool:
    """Whether a lower end is above the truth; at delta = 0 the truth is the largest loss, which the end may be."""
    if delta > 0:
        return bool(at_most(document, low) < delta)
    below = mp.nstr(exact(low) * (1 - mp.mpf("1e-12")), DIGITS)
    return not unbounded(document) and bool(at_most(document, below) < NOTHING)


@cache
def edges(name: str) -> tuple[str, str]:
    """Just inside and just outside: an upper end that is too low, and a lower end that is too high ("0": none is)."""
    document = STATEMENTS[name]
    with mp.workdps(DIGITS):
        delta = exact(document["claim"]["delta"]) or NOTHING
        inside = _last(lambda eps: at_least(document, eps) > delta) * (1 - MARGIN)
        outside = _last(lambda eps: at_most(document, eps) >= delta) * (1 + MARGIN) + mp.mpf("1e-6")
    if bound_only(document):
        outside = mp.mpf("0.01")
    return mp.nstr(max(inside, mp.mpf(0)), 12), mp.nstr(outside, 12)


def _last(above: Any) -> mp.mpf:
    """About the largest epsilon with this property, which holds below it."""
    if not above("0"):
        return mp.mpf(0)
    low, high = mp.mpf(0), mp.mpf(1)
    while above(mp.nstr(high, 12)) and high < 10**6:
        low, high = high, 4 * high
    for _ in range(16):
        middle = (low + high) / 2
        low, high = (middle, high) if above(mp.nstr(middle, 12)) else (low, middle)
    return low


BLANK = {"c": "0", "h": "0", "terms": 0, "beyond": "0", "split": None}
EVIDENCE: tuple[Document, ...] = (
    BLANK,
    BLANK | {"c": "25", "h": "0.3", "terms": 200, "beyond": "40"},
    BLANK | {"c": "1", "h": "1e-12", "terms": 2, "beyond": "2"},
    BLANK | {"c": "0.3", "h": "20", "terms": 3, "beyond": "0.45"},
    BLANK | {"c": "1e300", "h": "1", "terms": 2, "beyond": "1e301", "split": "0"},
)
"""What each method is given in turn: nothing; what may do; steps far too fine, and far too coarse; what overflows."""


def at_random(rng: random.Random, epsilon: str, rounds: int) -> Document:
    """Evidence from the sensible to the absurd."""
    c = rng.choice(["0.3", "1.0", "3.0", "10", "40", "1e-9", "1e7", ONE, f"{rng.uniform(0, 6):.3f}"])
    h = rng.choice(["0.02", "0.2", "0.6", "2", "20", "1e20", ONE])
    split = rng.choice([None, None, None, "0", repr(0.999 * float(epsilon) / rounds), "7"])
    beyond = rng.choice(["0", "0.01", "1.5", "30", repr(1.5 * float(c))])
    terms = rng.choice([2, 3, 40, 250])
    reach = random.Random(f"{c}{h}{beyond}").choice([None, None, "0.5", "3", "8"])
    return {"c": c, "h": h, "terms": terms, "beyond": beyond, "split": split, "reach": reach}


def forgeries(name: str, seed: int, more: int) -> Iterator[Document]:
    """False statements about one run with evidence of every method, `more` of it at random: all are false."""
    rng, base = random.Random(f"{name}{seed}"), STATEMENTS[name]
    inside, outside = edges(name)
    rounds = base["phases"][0]["rounds"]
    for method, directions in itertools.product(METHODS, DIRECTIONS):
        for found in (*EVIDENCE, *(at_random(rng, inside, rounds) for _ in range(more))):
            ends = [{"direction": direction, "method": method, **found} for direction in directions]
            yield told(base, ("0", inside), ends, None, "holds", inside)
            yield told(base, (outside, "inf"), [], ends[0] | {"phases": [0]}, "refuted", "0")
    yield told(base, ("0", "inf"), [], None, "holds", "1e200")
    yield told(base, ("0", inside), [], None, "holds", inside)
    yield told(base, (outside, "inf"), [], None, "refuted", "0")
    yield told(base, ("0", "inf"), [], None, "refuted", "0")


def told(
    base: Document, interval: tuple[str, str], above: list[Document], below: Any, verdict: str, claimed: str
) -> Document:
    """The statement with this interval, evidence and verdict, sealed."""
    document = copy.deepcopy(base)
    document["claim"]["epsilon"] = claimed
    document["interval"] = dict(zip(("epsilon_lower", "epsilon_upper"), interval, strict=True))
    document |= {"verdict": verdict, "evidence": {"upper": above, "lower": below}}
    return seal(document)


WORDS = ("add-remove", "replace-one", "zero-out", "none", "poisson", "fixed-size", "shuffle", *METHODS)
WORDS += ("hidden", "visible", "pooled", "dp", "billboard", "joint", "remove", "add", "both", "opposed", "inf")
KINDS = tuple(sorted({document["phases"][0]["mechanism"]["kind"] for document in STATEMENTS.values()}))
ODD = (None, True, [], {}, 0.5, -1, 0, 1, 2**53 + 1, 10**30, "", "nan", "-1", "0", "1", "1e200", "1/3", ONE)


def leaves(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """Every field of a document with its place."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    inner = list(items)
    if not inner:
        yield path, value
    for key, below in inner:
        yield from leaves(below, (*path, key))


def substitutes(value: Any) -> Iterator[Any]:
    """Other values for a field: near, far, of other kinds, and such as no document should have."""
    yield from (odd for odd in ODD if odd != value or type(odd) is not type(value))
    if isinstance(value, int):
        yield from (value - 1, value + 1, 2 * value, 10 * value)
    elif isinstance(value, str):
        yield from (word for word in (*WORDS, *KINDS) if word != value)
        with mp.workdps(20):
            for factor in ("0.5", "0.98", "0.999999", "1.000001", "1.02", "2"):
                try:
                    yield mp.nstr(exact(value) * mp.mpf(factor), 18)
                except (ValueError, ZeroDivisionError):
                    return


def changed(document: Document, path: tuple[Any, ...], value: Any) -> Document:
    """The document with one field changed, the verdict that then follows from its interval, and a new seal."""
    result = copy.deepcopy(document)
    place: Any = result
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    if path[0] != "verdict":
        result["verdict"] = _follows(result)
    return seal(result)


def _follows(document: Document) -> str:
    """The verdict of the interval, if it has one."""
    try:
        interval, claim = document["interval"], document["claim"]
        claimed = exact(claim["epsilon_interval"][1] if claim["epsilon_interval"] else claim["epsilon"])
        if interval["epsilon_upper"] != "inf" and exact(interval["epsilon_upper"]) <= claimed:
            return "holds"
        return "refuted" if exact(interval["epsilon_lower"]) > claimed else "undecided"
    except (ValueError, TypeError, LookupError, ArithmeticError):
        return str(document["verdict"])


def tampered(document: Document, seed: int, most: int) -> Iterator[Document]:
    """The document with one field changed: each field, up to `most` substitutes for it, at random."""
    for path, value in leaves(document):
        rng = random.Random(f"{path}{seed}")
        others = list(substitutes(value))
        for other in rng.sample(others, min(most, len(others))):
            yield changed(document, path, other)


def moved(document: Document, name: str) -> Iterator[Document]:
    """An honest document with one end just past the truth: the evidence is as good as it can be."""
    inside, outside = edges(name)
    upper, lower = (copy.deepcopy(document) for _ in range(2))
    upper["interval"] = {"epsilon_lower": "0", "epsilon_upper": inside}
    upper["claim"]["epsilon"], upper["evidence"]["lower"] = inside, None
    lower["interval"] = {"epsilon_lower": outside, "epsilon_upper": "inf"}
    lower["claim"]["epsilon"], lower["evidence"]["upper"] = "0", []
    yield changed(upper, ("verdict",), "holds")
    yield changed(lower, ("verdict",), "refuted")
    twice = copy.deepcopy(lower)  # a phase told twice, and the rest of the other end's proof in its place
    for end in document["evidence"]["upper"]:
        twice["evidence"]["lower"] = {**end, "phases": [0]}
        yield changed(twice, ("verdict",), "refuted")
        twice["evidence"]["lower"] = {**end, "phases": [0, 0]}
        yield changed(twice, ("verdict",), "refuted")
    if document["evidence"]["lower"]:
        end = {key: value for key, value in document["evidence"]["lower"].items() if key != "phases"}
        upper["evidence"]["upper"] = [{**end, "direction": each["direction"]} for each in document["evidence"]["upper"]]
        yield changed(upper, ("verdict",), "holds")
        lower["evidence"]["lower"]["phases"] = [0, 0]
        yield changed(lower, ("verdict",), "refuted")
