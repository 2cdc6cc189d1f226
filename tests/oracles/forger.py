"""Certificates for false statements: every kind of mechanism, every method of evidence, with valid digests.

The falsehood is known from `certificate_truth`, which shares nothing with the checker. Bytes are not what is forged
here: each document is well-formed, and its seal is right.
"""

from __future__ import annotations

import copy
import random
from collections.abc import Iterator
from functools import cache
from hashlib import sha256
from json import dumps
from typing import Any

import mpmath as mp
from certificate_truth import DIGITS, at_least, at_most, bound_only, exact

Document = dict[str, Any]

METHODS = ("mixture", "lattice", "threshold", "chernoff", "inversion")
DIRECTIONS: tuple[tuple[str, ...], ...] = (("both",), ("add", "remove"), ("remove",), ("add", "both", "remove"))
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
    "zcdp": statement("zcdp", {"rho": "0.25"}),
    "pure": statement("pure-dp", {"epsilon": "0.5"}, rounds=3),
    "approximate": statement("approximate-dp", {"epsilon": "0.5", "delta": "1e-7"}, rounds=3),
    "approximate, hopeless": statement("approximate-dp", {"epsilon": "0.5", "delta": "0.5"}, rounds=1, delta="1e-5"),
}


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
        slack = min(delta, 1 - delta) * mp.mpf("1e-12")
        if exact(low) > 0 and (bound_only(document) or at_most(document, low) < delta - slack):
            return True
        if high != "inf" and at_least(document, high) > delta + slack:
            return True
        claimed = exact(claim["epsilon_interval"][1] if claim["epsilon_interval"] else claim["epsilon"])
        holds, refuted = high != "inf" and exact(high) <= claimed, exact(low) > claimed
    return bool(document["verdict"] != ("holds" if holds else "refuted" if refuted else "undecided"))


@cache
def edges(name: str) -> tuple[str, str]:
    """Just inside and just outside: an upper end that is too low, and a lower end that is too high ("0": none is)."""
    document = STATEMENTS[name]
    with mp.workdps(DIGITS):
        delta = exact(document["claim"]["delta"])
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


def ends(rng: random.Random, direction: str, method: str, epsilon: str, rounds: int) -> Document:
    """Evidence at random, from the sensible to the absurd."""
    c = rng.choice(["0.3", "1.0", "3.0", "10", "40", "1e-9", "1e7", "0", ONE, f"{rng.uniform(0, 6):.3f}"])
    h = rng.choice(["0.02", "0.2", "0.6", "2", "20", "1e-20", "1e20", "0"])
    split = rng.choice([None, None, None, "0", repr(0.999 * float(epsilon) / rounds), "7"])
    beyond = rng.choice(["0", "0.01", "1.5", "30", repr(1.5 * float(c))])
    terms = rng.choice([0, 2, 3, 40, 250])
    return dict(direction=direction, method=method, c=c, h=h, terms=terms, beyond=beyond, split=split)


def forgeries(name: str, seed: int, per_method: int) -> Iterator[Document]:
    """False statements about one run, each with evidence of every method; all are false, whatever the evidence."""
    rng, base = random.Random(f"{name}{seed}"), STATEMENTS[name]
    inside, outside = edges(name)
    rounds = base["phases"][0]["rounds"]
    for method in METHODS:
        for directions in DIRECTIONS:
            for _ in range(per_method):
                above = [ends(rng, direction, method, inside, rounds) for direction in directions]
                yield told(base, ("0", inside), above, None, "holds", inside)
                below = ends(rng, directions[0], method, outside, rounds) | {"phases": [0]}
                yield told(base, (outside, "inf"), [], below, "refuted", "0")
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
