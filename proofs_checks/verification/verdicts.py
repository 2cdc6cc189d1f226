"""The verdicts on several claims: what `dpcert verify` prints of them; and claims side by side.

Side by side is in one currency, epsilon at one delta, with what all their releases cost together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

from ...accounting import Bracket
from ...mechanisms import InputError
from ...mechanisms.digits import interval
from ...mechanisms.text_table import rendered, text_table
from ..claims.claim import Claim
from ..claims.statement import COMPANIONS, CURRENCIES
from .verdict import Verification
from .verdict_table import verdict_table
from .verify import certified_interval

NO_DELTA_STATED = 1e-6
"""Where no claim states one."""

AGAINST = (
    "unit",
    "neighbouring",
    "notion",
    "observer",
    "coalition_size",
    "coalition_sees_participation",
    "clients",
    "group",
)
"""What all claims must say alike for a total to have a meaning."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """epsilons: one a claim, at `delta`, against whom each claim names. total: all releases together.

    no_total: why there is no total; empty where there is one.
    """

    delta: float
    epsilons: tuple[Bracket, ...]
    total: Bracket | None
    no_total: str

    def to_json(self, results: Sequence[Verification]) -> dict[str, Any]:
        """Plain data; infinities stay floats here. results: those that were compared."""
        claims = [
            {"file": result.claim.file, "title": result.claim.statement.title} | _ends(epsilon)
            for result, epsilon in zip(results, self.epsilons, strict=True)
        ]
        total = None if self.total is None else _ends(self.total)
        return {"delta": self.delta, "claims": claims, "total": total, "no_total": self.no_total or None}

    def table(self, results: Sequence[Verification]) -> str:
        """Every claim's epsilon at one delta, and that of all releases together."""
        rows = []
        for result, epsilon in zip(results, self.epsilons, strict=True):
            statement = result.claim.statement
            against = f"{statement.notion}, {statement.neighbouring}, one {statement.unit}"
            rows.append((statement.title, result.printed, interval(epsilon, 6), against))
        columns: list[str | dict[str, object]] = [{"header": "claim"}, "printed"]
        columns += [{"header": "epsilon", "no_wrap": True}, {"header": "against"}]
        table = text_table(columns, rows, title=f"side by side, at delta = {self.delta:g}")
        if self.total is None:
            return f"{table}\n{rendered(f'No total: {self.no_total}.')}"
        text = "for a unit whose data are in all of these releases, each with randomness of its own"
        return f"{table}\n{rendered(f'Together: {interval(self.total, 6)} {text}.')}"


def compare(results: Sequence[Verification]) -> Comparison:
    """All claims at the smallest delta that one of them states, and the adaptive composition of all their runs.

    A delta of 0 counts only where all claims state it: Gaussian noise has no epsilon there, and what is pure keeps its
    own at every delta.
    The total is about a unit whose data are in every release, with randomness that is independent between them.
    Raises InputError for no claims.
    """
    if not results:
        raise InputError("claims", [], "at least one claim to compare")
    claims = [result.claim for result in results]
    delta = _common_delta([claim.statement.delta for claim in claims])
    epsilons = tuple(_epsilon(result, delta) for result in results)
    total, reason = _total(claims, delta)
    return Comparison(delta, epsilons, total, reason)


def _common_delta(stated: Sequence[float | None]) -> float:
    above_0 = [delta for delta in stated if delta]
    return 0.0 if all(delta == 0 for delta in stated) else min(above_0, default=NO_DELTA_STATED)


def at_delta(claim: Claim, delta: float) -> Claim:
    """The claim's run and relation, asked for its epsilon at this delta, whatever the claim states."""
    nothing: dict[str, Any] = dict.fromkeys((*CURRENCIES, *COMPANIONS))
    statement = claim.statement.model_copy(update=nothing | {"epsilon": 0.0, "delta": delta})
    return replace(claim, statement=statement)


def _epsilon(result: Verification, delta: float) -> Bracket:
    if result.claim.statement.delta == delta:
        return result.certified
    return certified_interval(at_delta(result.claim, delta))[0]


def _total(claims: Sequence[Claim], delta: float) -> tuple[Bracket | None, str]:
    first, *others = claims
    for name in AGAINST:
        if any(getattr(other.statement, name) != getattr(first.statement, name) for other in others):
            return None, f"the claims differ in {name}, so that one total would be about neither"
    if first.statement.phases_per_unit is not None or any(other.statement.phases_per_unit for other in others):
        return None, "in one of the claims a unit's data are in some phases only"
    try:
        together = replace(
            at_delta(first, delta), phases=tuple(chain.from_iterable(claim.phases_of_all_days for claim in claims))
        )
        bracket, limits = certified_interval(together)
    except InputError as problem:
        return None, str(problem)
    return (None, limits[0]) if limits else (bracket, "")


def _ends(epsilon: Bracket) -> dict[str, float]:
    return {"epsilon_lower": epsilon.lower, "epsilon_upper": epsilon.upper}


Problems = tuple[tuple[str, InputError], ...]
"""Files that could not be judged, and why."""


class NotJudged(InputError):
    """Of a claim that Ctrl-C came before."""


@dataclass(frozen=True, slots=True)
class Verdicts:
    """One verification a claim, and the files that could not be judged. comparison: side by side, where asked for.

    everything: all claims are listed, also those of many that hold.
    """

    results: tuple[Verification, ...]
    problems: Problems = ()
    comparison: Comparison | None = None
    everything: bool = False

    @property
    def unjudged(self) -> int:
        """How many claims Ctrl-C came before."""
        return sum(isinstance(problem, NotJudged) for _, problem in self.problems)

    def compared(self) -> Verdicts:
        """The same with every claim's epsilon at one delta, and the total of all releases."""
        return replace(self, comparison=compare(self.results)) if self.results else self

    def __str__(self) -> str:
        beside = [] if self.comparison is None else [self.comparison.table(self.results)]
        return "\n".join([verdict_table(self.results, len(self.problems), self.unjudged, self.everything), *beside])

    def _repr_html_(self) -> str:
        """Each verdict in a notebook, with its curve."""
        return "".join(result._repr_html_() for result in self.results)

    def to_json(self) -> dict[str, Any]:
        """Plain data; infinities stay floats."""
        document: dict[str, Any] = {
            "claims": [result.to_json() for result in self.results],
            "errors": [{"file": file} | problem.to_json() for file, problem in self.problems],
        }
        return document if self.comparison is None else document | {"comparison": self.comparison.to_json(self.results)}
