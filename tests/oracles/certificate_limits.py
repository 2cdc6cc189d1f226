"""What a claim may not say, whoever reads it: each limit with a claim beyond it, and a certificate beyond it, sealed.

beyond: what is changed in the claim's tables, at dotted paths; forged: what is changed in the honest claim's
certificate, so that nothing but the limit is wrong. without: the checker's limit, to be taken out.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from cases import at_night
from forger import Document, seal

from dpcert.proofs_checks.claims.claim import parse_claim
from dpcert.proofs_checks.verification.verify import verify

GAUSSIAN = {"kind": "gaussian", "noise_multiplier": 1.0}
MEAN = {"kind": "gaussian-mean", "noise_std": 0.5, "clip_norm": 1.0}
ANSWER = {"kind": "randomized-response", "flip_probability": 0.25}
EVERYBODY = {"scheme": "none", "population": 10}
HALF = {"scheme": "poisson", "population": 10, "cohort": 5}
CUT = HALF | {"max_cohort": 8}


@dataclass(frozen=True)
class Limit:
    """One limit; `names` is what the reader's error names."""

    claim: dict[str, Any]
    mechanism: dict[str, Any]
    sampling: dict[str, Any]
    beyond: dict[str, Any]
    names: str
    forged: dict[str, Any]
    without: dict[str, str] = field(default_factory=dict)

    def tables(self) -> dict[str, Any]:
        statement = {"title": "T", "neighbouring": "zero-out"} | self.claim
        return {"claim": statement, "mechanism": self.mechanism, "sampling": self.sampling}

    def tables_beyond(self) -> dict[str, Any]:
        return changed(self.tables(), self.beyond)

    def certificate_beyond(self) -> Document:
        return seal(changed(honest(json.dumps(self.tables())), self.forged))


@cache
def honest(tables: str) -> Document:
    """A true certificate, as issued."""
    with TemporaryDirectory() as folder:
        found = verify(parse_claim(json.loads(tables)), certificates=Path(folder))
        assert found.certificate is not None, [finding.text for finding in found.findings]
        return dict(json.loads(Path(found.certificate).read_text()))


def changed(document: dict[str, Any], changes: dict[str, Any]) -> dict[str, Any]:
    """A copy with other values at these dotted paths."""
    result = copy.deepcopy(document)
    for path, value in changes.items():
        *way, last = [int(step) if step.isdigit() else step for step in path.split(".")]
        place = result
        for step in way:
            place = place[step]
        place[last] = value
    return result


AT = {"epsilon": 1.0, "delta": 1e-5}
WEIGHTS = "most * members * LARGE >= LARGE - 10**6"
PLACE = {"    _require_place(name, place)\n": ""}
UNPROVED_ABOVE = {"interval.epsilon_upper": "inf", "evidence.upper": []}


def weights(sampling: dict[str, Any], least: float, beyond: float) -> Limit:
    """Weights that are at most `beyond` among so many clients that they need `least`."""
    forged = {"phases.0.mechanism.max_weight": repr(beyond)}
    mechanism = MEAN | {"weights": least}
    claim = {"epsilon": 30.0, "delta": 1e-5, "notion": "dp" if sampling == CUT else "joint"}
    return Limit(claim, mechanism, sampling, {"mechanism.weights": beyond}, "weights", forged, {WEIGHTS: "True"})


LIMITS = {
    "a printed number's span": Limit(
        AT,
        GAUSSIAN,
        {},
        {"claim.epsilon_interval": [1.0, 1000.0]},
        "epsilon_interval",
        {"claim.epsilon_interval": ["1.0", "1000"], "verdict": "holds"},
        {"span is None or _rounds_to(number(least), read.most, str(claimed))": "True"},
    ),
    "weights of everybody": weights(EVERYBODY, 0.1, 0.05),
    "weights of a cohort": weights({"scheme": "fixed-size", "population": 10, "cohort": 5}, 0.2, 0.15),
    "weights of an expected cohort": weights(HALF, 0.2, 0.15),
    "weights of a cut cohort": weights(CUT, 0.2, 0.15),
    "a weight above 1": Limit(
        {"epsilon": 0.1, "delta": 1e-5},
        MEAN | {"weights": [1.0] * 10},
        EVERYBODY,
        {"mechanism.weights": 1.5},
        "weights",
        {"phases.0.mechanism.max_weight": "1.5", "phases.0.mechanism.min_weight": "1.5", **UNPROVED_ABOVE},
        {'require(not alone or most <= 1, "a weight above 1 in a mean")': "pass"},
    ),
    "words that a terminal obeys": Limit(
        AT,
        GAUSSIAN,
        {},
        {"claim.title": "\x1b[2J"},
        "title",
        {"claim.title": "\x1b[2J"},
        {"bool(text(word)) and word.isprintable()": "text(word) is word"},
    ),
    "a cohort above the population": Limit(
        AT,
        GAUSSIAN,
        HALF,
        {"sampling.cohort": 11},
        "cohort",
        {"phases.0.sampling.cohort": 11},
    ),
    "no sampling with a cohort": Limit(
        AT, GAUSSIAN, EVERYBODY, {"sampling.cohort": 5}, "cohort", {"phases.0.sampling.cohort": 5}
    ),
    "a rate that contradicts the sizes": Limit(
        AT, GAUSSIAN, HALF, {"sampling.sampling_rate": 0.1}, "sampling_rate", {"phases.0.sampling.sampling_rate": "0.1"}
    ),
    "a rate of almost nothing": Limit(
        AT,
        GAUSSIAN,
        {"scheme": "poisson", "sampling_rate": 0.5},
        {"sampling.sampling_rate": 1e-16},
        "sampling_rate",
        {"phases.0.sampling.sampling_rate": "1e-16"},
    ),
    "a delta of 1": Limit(AT, GAUSSIAN, {}, {"claim.delta": 1.0}, "delta", {"claim.delta": "1"}),
    "an epsilon below 0": Limit(AT, GAUSSIAN, {}, {"claim.epsilon": -1.0}, "epsilon", {"claim.epsilon": "-1"}),
    "an order of 1": Limit(
        {"renyi": {"order": 2.0, "epsilon": 1.0}},
        GAUSSIAN,
        {},
        {"claim.renyi.order": 1.0},
        "order",
        {"currency.place": "1"},
    ),
    "orders up to 1": Limit(
        {"rho": 0.5, "orders_up_to": 2.0},
        GAUSSIAN,
        {},
        {"claim.orders_up_to": 1.0},
        "orders_up_to",
        {"currency.place": "1", "currency.number": "0.01", "orders": ["1.001"]},
        {**PLACE, "require(bool(first[1]": "require(True or bool(first[1]", "all(below(": "True or all(below("},
    ),
    "error rates above 1/2": Limit(
        {"mu": 0.26, "neighbouring": "replace-one"},
        ANSWER | {"flip_probability": 0.45},
        {},
        {"claim.fpr_at_least": 0.51},
        "fpr_at_least",
        {"currency.place": "0.51"},
        PLACE,
    ),
    "deltas of 1": Limit(
        {"mu": 1.35, "delta": 0.01, "neighbouring": "replace-one"},
        ANSWER,
        {},
        {"claim.delta": 1.0},
        "delta",
        {"currency.place": "1"},
        PLACE,
    ),
    "a false-positive rate above 1/2": Limit(
        {"tpr_at_fpr": {"fpr": 0.1, "tpr": 0.11}},
        GAUSSIAN,
        {},
        {"claim.tpr_at_fpr.fpr": 0.6},
        "fpr",
        {"currency.place": "0.6"},
    ),
}
SLOW = "weights of a cut cohort"
"""Half a minute: by night."""

BELIEVED = [name for name, limit in LIMITS.items() if limit.without]
"""Limits without which the checker would believe the forged certificate."""


def by_night(names: Iterable[str]) -> list[Any]:
    """The names as parameters, the slow one for the night."""
    return [at_night(name) if name == SLOW else name for name in names]
