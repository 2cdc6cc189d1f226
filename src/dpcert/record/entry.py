"""What the record says of one claim: its verdict, certificate, explanations and risks, as plain data for its page."""

from __future__ import annotations

import json
import math
import shutil
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ..accounting.currencies.risk_picture import allowed
from ..mechanisms import InputError
from ..mechanisms.digits import as_given, interval, rounded_down, rounded_up
from ..proofs_checks.claims.assumptions import NOT_CHECKED
from ..proofs_checks.claims.claim import Claim, load_claim
from ..proofs_checks.reproduction.claimed import explained, stated_numbers
from ..proofs_checks.reproduction.printed import Convention, chances
from ..proofs_checks.reproduction.printed import printed as as_printed
from ..proofs_checks.verification import kept
from ..proofs_checks.verification.exposure import Exposure, band, exposure
from ..proofs_checks.verification.verdict import Verification
from ..proofs_checks.verification.verify import verify

FORMAT = "record 3"
"""Changes whenever an entry could say something else of the same verdict: then nothing kept is used."""

RATES = (0.1, 0.01, 0.001)
"""The false-positive rates at which risks are told."""

FACTORS = ((1.0, "above 1"), (0.9, "0.9 to 1"), (0.5, "0.5 to 0.9"), (-math.inf, "at most 0.5"))
"""Ranges of the true number over the printed one: (above, in words), the largest first."""

STATED = ("title", "year", "source", "link", "convention", "unit", "notion", "neighbouring", "delta")
JUDGED = ("verdict", "why", "method", "findings", "assumptions", "witness")
"""What pages show of a claim's statement, and of its verdict, as it stands there."""

BEST = 5
"""So many of the conventions that give the printed digits are named, the plainest first."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One claim. slug: its pages' name. kind: its folder. data: all that its page shows; certificate: its file."""

    slug: str
    kind: str
    data: dict[str, Any]
    certificate: Path | None


def entry(path: Path, kind: str, cache: Path) -> Entry | InputError:
    """The entry of a claim file, made anew only where the file or dpcert changed; or what is wrong with the file."""
    try:
        claim = load_claim(path)
    except InputError as problem:
        return problem
    name = kept.key(FORMAT.encode() + path.read_bytes())
    data, certificate = cache / f"{name}.json", cache / f"{name}.certificate.json"
    if not data.exists():
        data.parent.mkdir(parents=True, exist_ok=True)
        result = verify(claim, certificates=cache, certificate_name=f"{name}.new")
        if result.certificate is not None:
            shutil.move(result.certificate, certificate)
        made = data.with_suffix(".making")
        made.write_text(json.dumps(_data(claim, result)), encoding="utf-8")
        made.replace(data)
    told = json.loads(data.read_text(encoding="utf-8")) | {"slug": path.stem, "kind": kind}
    return Entry(path.stem, kind, told, certificate if certificate.exists() else None)


def _data(claim: Claim, result: Verification) -> dict[str, Any]:
    statement, told = claim.statement, result.to_json()
    found, times = exposure(claim), _times(result)
    drawn = band(found, statement)
    return {
        **{name: getattr(statement, name) for name in STATED},
        **{name: told[name] for name in JUDGED},
        "author": statement.author or "not stated",
        "observer": result.judged.observer,
        "currency": statement.currency.words,
        "printed": result.printed,
        "interval": _interval(result),
        "times": times,
        "factor": _factor(times),
        "phases": [[p.noise_in_words, p.sampling_in_words, p.rounds] for p in result.judged.phases],
        "bar": _bar(result),
        "not_checked": [*dict.fromkeys((*result.not_checked, *NOT_CHECKED))],
        "explained": _explained(claim),
        "risks": list(_risks(found, result)),
        "band": None if drawn is None else asdict(drawn),
        "judged": asdict(result.judged.issued),
    }


def _times(result: Verification) -> float | None:
    """How many times the printed number the true one is, by the end of the interval that says least; None: unknown."""
    stated, certified = result.stated, result.certified
    end = certified.lower if certified.lower > 0 else certified.upper
    return end / stated if stated > 0 and math.isfinite(end) else None


def _interval(result: Verification) -> str:
    """[lower, upper], rounded outwards, but not beyond the printed number where the upper end is no larger."""
    stated, shown = result.stated, interval(result.certified, 6)
    lower, upper = shown[1:-1].split(", ")
    return f"[{lower}, {as_given(stated)}]" if result.certified.upper <= stated < float(upper) else shown


def _factor(times: float | None) -> str:
    """The same in words, for choosing."""
    if times is None:
        return "unknown"
    return next(words for least, words in FACTORS if times > least)


def _bar(result: Verification) -> dict[str, float | None]:
    """The interval on a logarithmic axis from a hundredth to a hundred times the printed number, in percent."""
    stated = result.stated

    def place(end: float) -> float:
        if end <= 0 or stated <= 0:
            return 0.0
        return 25 * min(max(math.log10(end / stated) + 2, 0.0), 4.0) if math.isfinite(end) else 100.0

    left, right = place(result.certified.lower), place(result.certified.upper)
    return {"left": left, "width": max(right - left, 0.8)}


def _explained(claim: Claim) -> dict[str, Any] | None:
    """The conventions that give the printed digits; None for a curve, which is several numbers."""
    (claim, *others) = stated_numbers(claim)
    if others:
        return None
    try:
        found = explained(claim)
    except InputError:
        return None
    matching = [convention for convention in found if convention.reproduces]
    told = chances(found, as_printed(claim.printed))
    return {
        "tried": len(found),
        "matching": len(matching),
        "best": [_named(convention) for convention in matching[:BEST]],
        "nearest": None if matching or not found else _named(min(found, key=lambda one: _far(one, claim))),
        "by_chance": told[-1].any if told else None,
    }


def _far(convention: Convention, claim: Claim) -> float:
    return abs(convention.value - float(as_printed(claim.printed).value))


def _named(convention: Convention) -> list[str]:
    return [convention.name, f"{convention.value:.6g}"]


def _risks(found: Exposure | None, result: Verification) -> Iterator[list[str]]:
    """Of each rate: what an attack that accuses so many wrongly finds out at least and at most."""
    statement, upper = result.claim.statement, result.certified.upper
    for rate in RATES:
        if found is not None:
            power = found.found_out(rate)
            yield [f"{rate:g}", rounded_down(power.lower, 3), rounded_up(power.upper, 3)]
        elif statement.epsilon is not None and statement.delta is not None and math.isfinite(upper):
            yield [f"{rate:g}", "0", rounded_up(min(1.0, allowed(rate, upper, statement.delta) * (1 + 2**-50)), 3)]
