"""What `dpcert calibrate` solves: the run as a function of the value that is asked for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..accounting.calibration.problem import Problem
from ..accounting.calibration.solve_for import SolveFor
from ..mechanisms import InputError, Mechanism
from ..mechanisms.tables.fields import MissingKeys
from ..mechanisms.tables.phase import refuse_uncovered
from ..mechanisms.validate import choice
from .setting import SAMPLED_BY, Setting, missing, refuse

SOLVED = {each.option: each for each in SolveFor}
"""What --solve-for may be, and what the accountants call it."""

_MOST_ROUNDS = 2**53


def problem_of(asked: Setting, solve_for: str | None, schedule: Path | None, **target: float | None) -> Problem:
    """The problem that the options state. One error for all that is missing."""
    complete(asked, solve_for, schedule, **target)
    solved = known(str(solve_for))
    return one_phase(asked, solved) if schedule is None else several(asked, solved, schedule)


def complete(asked: Setting, solve_for: str | None, schedule: Path | None, **target: float | None) -> None:
    """One error for all that is missing: of the target, of what is solved for, and of the run but for that."""
    own = missing(target)
    if solve_for is None:
        own.append(MissingKeys({"solve_for": f"one of {', '.join(SOLVED)}, which needs no value itself"}))
    refuse([*own, *([] if schedule is not None else _lacking(asked, solve_for))])


def _lacking(asked: Setting, solve_for: str | None) -> list[MissingKeys]:
    """What the run lacks. Where it is not said what is solved for, one thing that it could be is no lack."""
    if solve_for is not None:
        solved = known(solve_for)
        _fits(asked, solved)
        return replace(asked, **{solved: 1}).lacking()  # type: ignore[arg-type] # 1 is allowed for all of them
    lacking = asked.lacking()
    free = {key for each in lacking for key in each.keys if key.rpartition(".")[2] in tuple(SolveFor)}
    return lacking if len(free) > 1 else [each for each in lacking if not free & set(each.keys)]


def known(solve_for: str) -> SolveFor:
    return SOLVED[choice("--solve-for", solve_for, SOLVED)]


def _fits(asked: Setting, solved: SolveFor) -> None:
    """Raises InputError where the options leave nothing to solve for, or no way to."""
    option = "--" + solved.option
    if getattr(asked, solved) is not None:
        raise InputError(option, getattr(asked, solved), "to be left out: it is what --solve-for asks for")
    if asked.epochs is not None and (solved.is_whole or solved == SolveFor.SAMPLING_RATE):
        expected = f"--rounds in its place, or neither, to solve for {solved.option}"
        raise InputError("--epochs", asked.epochs, expected)
    if solved == SolveFor.SAMPLING_RATE:
        if asked.sampling != "poisson":
            raise InputError("--sampling", asked.sampling, "poisson, to solve for the sampling rate")
        if asked.cohort is not None:
            raise InputError("--cohort", asked.cohort, "to be left out: with a population it says the sampling rate")
    if solved == SolveFor.COHORT:
        if asked.sampling not in ("poisson", "fixed-size") or asked.population is None:
            raise InputError(
                "--sampling", asked.sampling, "poisson or fixed-size, with --population, to solve for the cohort"
            )
        if asked.noise_std is not None:
            raise InputError(
                "--noise-std", asked.noise_std, "--noise-multiplier: noise on a mean changes with the cohort"
            )


def one_phase(asked: Setting, solved: SolveFor) -> Problem:
    """The options describe the phase, but for the one that is solved for."""
    step = asked.step if solved == SolveFor.ROUNDS else 1
    most = {SolveFor.ROUNDS: _MOST_ROUNDS // step, SolveFor.COHORT: asked.population}.get(solved)

    def at(value: float, times: int = step) -> Setting:
        given: dict[str, Any] = {solved: value * times}
        return replace(asked, **given)

    return Problem(
        solved,
        lambda value: at(value).run(),
        lambda value: at(value).attained(),
        most,
        lambda value: at(value, 1).to_json() | at(value, 1).warn(),
        step,
    )


def several(asked: Setting, solved: SolveFor, path: Path) -> Problem:
    """The phases of a file; every option for a single phase must be left out."""
    from ..mechanisms.tables.schedule import load_schedule

    if asked.sampling != "none":
        raise InputError("--sampling", asked.sampling, "to be left out beside --schedule")
    for name in ("noise_multiplier", "noise_std", "clip_norm", "releases", "rounds", "epochs", *SAMPLED_BY):
        if getattr(asked, name) not in (None, False):
            raise InputError("--" + name.replace("_", "-"), getattr(asked, name), "to be left out beside --schedule")
    schedule = load_schedule(path)
    refuse_uncovered(schedule.phases, asked.relation, asked.hidden)
    step = schedule.last_step if solved == SolveFor.ROUNDS else 1
    builders: dict[SolveFor, Callable[[float], Mechanism]] = {
        SolveFor.NOISE_MULTIPLIER: schedule.with_noise,
        SolveFor.CLIP_NORM: schedule.with_clip,
        SolveFor.ROUNDS: lambda value: schedule.with_last_rounds(value * step),
        SolveFor.COHORT: schedule.with_last_cohort,
    }
    if solved not in builders:
        expected = "noise-multiplier, clip-norm, rounds or cohort, with --schedule"
        raise InputError("--solve-for", solved.option, expected)
    against = {"notion": asked.notion, "neighbouring": asked.relation, "schedule": str(path)}
    ends = {SolveFor.ROUNDS: lambda: _MOST_ROUNDS // step, SolveFor.COHORT: schedule.last_population}
    most = ends[solved]() if solved in ends else None
    build, of = builders[solved], " in the last phase" if solved.is_whole else " times the schedule's"
    least = build if schedule.exact else lambda value: None
    return Problem(solved, build, least, most, lambda value: against, step, of)
