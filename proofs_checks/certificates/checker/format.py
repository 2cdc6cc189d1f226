"""Section 1, the format: tables, numbers, the claim, the phases, the digest. Nothing is proved here, only read."""

import hashlib
import json
import re
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

from flint import arb, fmpq

FORMAT, CURRENCY = "dpcert-certificate-2", "dpcert-currency-1"
MOST = 2**53
"""Populations, cohorts, rounds: whole numbers up to this."""

LARGE = 10**15
"""What numbers of mechanisms and evidence, and their reciprocals, must not exceed: exponents without end overflow."""

OBSERVERS = {"dp": ("hidden", "visible"), "billboard": ("hidden", "pooled"), "joint": ("hidden", "pooled")}
RELATIONS = ("add-remove", "zero-out", "replace-one")
FIELDS = {
    "gaussian": "noise_multiplier",
    "gaussian-mean": "noise_std clip_norm max_weight min_weight",
    "per-client-gaussian": "noise_std clip_norm",
    "laplace": "noise_multiplier",
    "discrete-laplace": "scale clip",
    "discrete-gaussian": "sigma clip",
    "zcdp": "rho",
    "pure-dp": "epsilon",
    "approximate-dp": "epsilon delta",
    "gradual": "epsilon",
    "randomized-response": "flip_probability categories",
    "three-valued": "least_epsilon most_epsilon least_apart most_apart",
}
WHOLE = ("clip", "categories")
GAUSSIAN = ("gaussian", "gaussian-mean", "per-client-gaussian")
LAPLACE = ("laplace", "discrete-laplace")


OF_SEVERAL = "the phases that cost one unit the most, as a unit is not in more"
"""What the source says where a unit is in some phases only, and the certificate states those."""


class Claim(NamedTuple):
    """What is claimed: epsilon at most `most` at this delta, for this relation, against an observer who sees `seen`."""

    most: fmpq
    delta: fmpq
    notion: str
    relation: str
    seen: str


class Phase(NamedTuple):
    """One stretch of the run. rate: in (0, 1]; size: units in a round, if known; batches: of one epoch; cut: M of N."""

    kind: str
    values: dict[str, fmpq]
    scheme: str
    rate: fmpq | arb
    size: fmpq | None
    batches: int
    rounds: int
    cut: tuple[fmpq, fmpq] | None


class End(NamedTuple):
    """The evidence for one end of the interval, in one direction; each method reads some of it."""

    direction: str
    method: str
    c: fmpq
    h: fmpq
    terms: int
    beyond: fmpq
    split: fmpq | None
    reach: fmpq | None = None


def require(condition: bool, reason: str) -> None:
    if not condition:
        raise ValueError(reason)


def table(value: Any, keys: str) -> list[Any]:
    """[1] The values of a table that has exactly these keys."""
    require(
        isinstance(value, dict) and set(value) == set(keys.split()), f"a table should have exactly the fields {keys}"
    )
    return [value[key] for key in keys.split()]


def text(value: Any) -> str:
    require(isinstance(value, str), f"expected a text, not {value!r}")
    return str(value)


def whole(value: Any, least: int = 1) -> int:
    """[1] A count: a JSON integer from `least` to 2^53."""
    require(type(value) is int and least <= value <= MOST, f"counts are whole numbers from {least} to 2^53")
    return int(value)


def number(value: Any) -> fmpq:
    """[1] "0.01", "1e-05", "100/205" or a whole number, exactly; never below 0, never infinite."""
    written = str(value) if type(value) in (int, str) else ""
    form = r"\d[\d.]{,60}(e[+-]?\d{1,3}|/\d{1,40})?"
    require(re.fullmatch(form, written, re.ASCII) is not None, f"no number: {written!r}")
    return fmpq(*Fraction(written).as_integer_ratio())


def moderate(value: Any) -> fmpq:
    """[1] A number of a mechanism or of the evidence: 0, or from 1e-15 to 1e15."""
    read = number(value)
    require(read == 0 or (read <= LARGE and read * LARGE >= 1), f"out of range: {value}")
    return read


def digest(document: dict[str, Any]) -> str:
    """[1] sha256 over the canonical JSON of everything but the digest."""
    content = {key: value for key, value in document.items() if key != "digest"}
    return hashlib.sha256(json.dumps(content, sort_keys=True, separators=(",", ":")).encode("ascii")).hexdigest()


def load(source: Any) -> dict[str, Any]:
    """[1] The document in a file, or as it is if it is parsed already. A key twice is an error."""

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        require(len(pairs) == len(dict(pairs)), "a key twice")
        return dict(pairs)

    if not isinstance(source, dict):
        source = json.loads(Path(source).read_text("utf-8"), object_pairs_hook=once)
    require(isinstance(source, dict), "expected a JSON object")
    return dict(source)


def claim(value: Any) -> Claim:
    """[1] The claim; of a printed number's span the upper end is what the verdict uses."""
    keys = "title source unit epsilon epsilon_interval delta notion neighbouring participation"
    *words, claimed, span, delta, notion, relation, seen = table(value, keys)
    require(span is None or (isinstance(span, list) and len(span) == 2), "epsilon_interval: null, or its two ends")
    least, most = span or (claimed, claimed)
    read = Claim(number(most), number(delta), text(notion), text(relation), text(seen))
    require(all(bool(text(word)) and word.isprintable() for word in words), "title, source and unit are texts")
    require(relation in RELATIONS and seen in OBSERVERS.get(read.notion, ()), "relation, notion or participation")
    require(number(least) <= number(claimed) <= read.most, "epsilon outside its interval")
    require(span is None or _rounds_to(number(least), read.most, str(claimed)), "an interval that no rounding leaves")
    require(0 <= read.delta < 1, "delta is at least 0 and below 1")
    return read


def _rounds_to(least: fmpq, most: fmpq, printed: str) -> bool:
    """[1] Whether both ends are within one unit of the last digit that the printed decimal needs, and within 1."""
    require("/" not in printed, "a printed epsilon is a decimal")
    unit = fmpq(10) ** min(0, int(Decimal(printed).normalize().as_tuple().exponent))
    return bool(number(printed) - unit <= least and most <= number(printed) + unit)


def phase(value: Any) -> Phase:
    """[1] A phase: all numbers of its mechanism, and one rate from its sampling."""
    mechanism, sampling, rounds = table(value, "mechanism sampling rounds")
    require(isinstance(mechanism, dict) and mechanism.get("kind") in FIELDS, "no such kind of mechanism")
    kind = text(mechanism["kind"])
    _, *values = table(mechanism, f"kind {FIELDS[kind]}")
    names = FIELDS[kind].split()
    read = {name: fmpq(whole(v)) if name in WHOLE else moderate(v) for name, v in zip(names, values, strict=True)}
    scheme, rate, size, cut = _sampling(sampling)
    batches = int(rate.q) if scheme == "shuffle" else 1
    require(scheme != "shuffle" or rate.p == 1, "shuffled batches are of one size")
    require(whole(rounds) % batches == 0, "shuffled rounds are whole epochs")
    return Phase(kind, read, scheme, rate, size, batches, whole(rounds), cut)


def all_phases(about: Any, values: Any) -> list[Phase]:
    """[1] The phases. To stay in them has to cost as much as to move to those of the claim that are not stated."""
    read = [phase(value) for value in values]
    require(bool(read), "no phases")
    known = about["notion"] != "dp" and any(each.kind == "per-client-gaussian" for each in read)
    require(not known, "clients know their noise")
    moves = about["neighbouring"] == "replace-one" and OF_SEVERAL in about["source"]
    stays = all(each.kind in ("gaussian", "gradual", "laplace") and each.scheme == "none" for each in read)
    require(stays or not moves, "`phases_per_unit`: a replaced unit may move to a phase not stated; verify it again")
    return read


def _sampling(value: Any) -> tuple[str, fmpq, fmpq | None, tuple[fmpq, fmpq] | None]:
    """[1] Scheme, rate, units in a round, cut cohorts. Population, cohort and rate must determine one rate, once."""
    scheme, population, cohort, rate = table(value, "scheme population cohort sampling_rate")
    units, members = (None if count is None else fmpq(whole(count)) for count in (population, cohort))
    require(scheme in ("none", "poisson", "truncated-poisson", "fixed-size", "shuffle"), "no such sampling")
    if scheme == "none":
        require(rate is None and members is None, "everybody takes part: no cohort and no rate")
        return scheme, fmpq(1), units, None
    if scheme == "truncated-poisson":
        require(0 < number(rate) < 1, "a rate above 0 and below 1")
        if units is None or members is None or members >= units:
            raise ValueError("cohorts that are cut to fewer than the population")
        return scheme, number(rate), None, (members, units)
    if units is not None and members is not None:
        require(rate is None, "contradictory sampling")
        share = members / units
    else:
        require(scheme == "poisson" and rate is not None, "sampling without a rate")
        share = number(rate)
    require(share * LARGE >= 1 and share <= 1, "a rate is from 1e-15 to 1")
    return scheme, share, members or (share * units if units else None), None


def end(value: Any) -> End:
    """[1] An end of the interval's evidence; `reach` may be left out."""
    require(isinstance(value, dict), "an end is a table")
    keys = "direction method c h terms beyond split reach"
    direction, method, c, h, terms, beyond, split, reach = table({"reach": None} | value, keys)
    low, high = (None if place is None else moderate(place) for place in (split, reach))
    return End(text(direction), text(method), moderate(c), moderate(h), whole(terms, 0), moderate(beyond), low, high)


def lower_end(value: Any, phases: int) -> tuple[list[int], End]:
    """[1] The same, and which of the phases it speaks of: places from 0, in order."""
    require(isinstance(value, dict) and isinstance(value.get("phases"), list), "phases: a list of places")
    places = [whole(place, 0) for place in value["phases"]]
    require(bool(places) and places == sorted(set(places)) and places[-1] < phases, "phases: places in order")
    return places, end({key: inner for key, inner in value.items() if key != "phases"})
