"""A logged schedule in a file, and its audit against the scheme that the file names."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from ...mechanisms import Gaussian, InputError, Repeat, WithReplacement
from ...mechanisms.paths import content
from ...mechanisms.tables.cohort import SamplingTable
from ...mechanisms.tables.correlated import MatrixFactorisationTable
from ...mechanisms.tables.phase import Phase
from ...mechanisms.tables.problems import first_problem
from ...mechanisms.tables.scheme import Scheme
from ...mechanisms.validate import positive
from .audit import ScheduleAudit, audit_cyclic_poisson, audit_schedule
from .separated import audit_balls_in_bins, audit_min_separated

EXPECTED = "JSON with population, sampling (as in a claim's [sampling]) and rounds: one list of unit numbers per round"
_SHOULD = f"is no schedule log. A log is {EXPECTED}"
GROUPS = "groups and sampling_rate beside scheme = 'cyclic-poisson'"
BINS = "bins beside scheme = 'balls-in-bins'"
SEPARATED = "min_separation and sampling_rate beside scheme = 'min-separated'"
DRAWS = "cohort, the draws of a round, beside scheme = 'with-replacement'"


def audited(path: Path, error: float) -> ScheduleAudit:
    """The audit of a logged schedule. Raises InputError for a log that is not one."""
    return replace(_audited(read_log(path), error), schedule=str(path))


def _audited(log: dict[str, Any], error: float) -> ScheduleAudit:
    sampling, rounds = log["sampling"], log["rounds"]
    # what a claim's [sampling] does not have: groups and distances are the noise's there, draws with replacement an
    # observer's matter
    if sampling.get("scheme") == "balls-in-bins":
        (bins,) = _exactly(sampling, ("bins",), BINS)
        return audit_balls_in_bins(bins, rounds, log["population"], error)
    if sampling.get("scheme") == "min-separated":
        apart, share = _exactly(sampling, ("min_separation", "sampling_rate"), SEPARATED)
        return audit_min_separated(apart, share, rounds, log["population"], error)
    if sampling.get("scheme") == "cyclic-poisson":
        groups, share = _exactly(sampling, ("groups", "sampling_rate"), GROUPS)
        return audit_cyclic_poisson(groups, share, rounds, log["population"], error)
    if sampling.get("scheme") == "with-replacement":
        (draws,) = _exactly(sampling, ("cohort",), DRAWS)
        drawn = WithReplacement(Gaussian(1.0), log["population"], draws)
        return audit_schedule(Repeat(drawn, len(rounds)), rounds, log["population"], error)
    table = _stated(log)
    # noise has no part in who takes part
    run = Repeat(table.sampled(Gaussian(1.0)), table.times(len(rounds)))
    return audit_schedule(run, rounds, log["population"], error)


def _stated(log: dict[str, Any]) -> SamplingTable:
    try:
        return SamplingTable.model_validate({"population": log["population"], **log["sampling"]})
    except ValidationError as problem:
        raise first_problem(problem) from None


def _exactly(sampling: dict[str, Any], names: tuple[str, ...], expected: str) -> tuple[Any, ...]:
    if set(sampling) != {"scheme", *names}:
        raise InputError("sampling", sampling, expected)
    return tuple(sampling[name] for name in names)


PARTLY_IN_MECHANISM = (Scheme.BALLS_IN_BINS, Scheme.MIN_SEPARATED, Scheme.CYCLIC_POISSON)
"""Schemes whose groups, or least distances, a claim states in its [mechanism], not in its [sampling]."""


def other_sampling(log: dict[str, Any], phases: Iterable[Phase]) -> str:
    """What a log says of its sampling and these phases do not, in words; empty where both say the same.

    A log passes the test of the sampling that it names: it supports only a claim of that very one.
    """
    phases, logged = tuple(phases), log["sampling"]
    claimed, rounds = sum(phase.steps for phase in phases), len(log["rounds"])
    if rounds > claimed:
        return f"a log of at most the {claimed} rounds of the claim; it has {rounds}"
    for phase in phases:
        stated = phase.sampling.model_dump(exclude_none=True)
        if stated.get("population", log["population"]) != log["population"]:
            return f"a log of the claim's population, {stated['population']}; its population is {log['population']}"
        if not _same_sampling(log, phase):
            return f"a log of the claim's sampling ({_in_words(stated)}); it is of another ({_in_words(logged)})"
    return ""


def _in_words(sampling: dict[str, Any]) -> str:
    return ", ".join(f"{key} = {value}" for key, value in sampling.items())


def _same_sampling(log: dict[str, Any], phase: Phase) -> bool:
    logged, claimed = log["sampling"], phase.sampling
    if logged.get("scheme") != claimed.scheme:
        return False
    if claimed.scheme in PARTLY_IN_MECHANISM:
        noise = phase.mechanism
        assert isinstance(noise, MatrixFactorisationTable)  # no other noise takes these schemes
        stated = {"bins": claimed.bins, "groups": noise.min_separation, "min_separation": noise.min_separation}
        rate = logged.get("sampling_rate")  # a claim may state sizes in its place: they say the same but for rounding
        same = rate is None or math.isclose(positive("sampling_rate", rate), noise.rate_of_free(claimed), rel_tol=1e-9)
        return same and all(stated[key] == value for key, value in logged.items() if key in stated)
    return _stated(log).sampled(Gaussian(1.0)) == claimed.sampled(Gaussian(1.0))


def read_log(path: Path) -> dict[str, Any]:
    """The log's population, sampling and rounds. Raises InputError for a file that is none."""
    try:
        log = json.loads(content("schedule log", path).decode())
    except InputError:
        raise
    except ValueError as problem:
        raise InputError(
            "schedule log", str(path), EXPECTED, f"{path} {_SHOULD}; it is not JSON ({problem})."
        ) from problem
    keys = {"population", "sampling", "rounds"}
    if not isinstance(log, dict) or set(log) != keys or not isinstance(log["sampling"], dict):
        raise InputError("schedule log", str(path), EXPECTED, f"{path} {_SHOULD}.")
    rounds = log["rounds"]
    if not isinstance(rounds, list) or not rounds or not all(isinstance(cohort, list) for cohort in rounds):
        raise InputError("rounds", str(rounds)[:40], "a list with one list of unit numbers for each round")
    return log
