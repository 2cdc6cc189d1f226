"""dpcert calibrate: the least noise, the most rounds, the largest cohort, rate or clip that a target allows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, get_args

import typer

from ..accounting.calibrate import WHOLE, Calibration, SolveFor, calibrate
from ..accounting.calibrate_risk import calibrate_risk
from ..mechanisms import InputError, Mechanism
from ..mechanisms.tables.fields import MissingKeys
from ..mechanisms.validate import choice
from . import options
from .output import as_given, interval, output_console, print_json, rounded_down, rounded_up
from .plan_schemes import compare_schemes
from .setting import SAMPLED_BY, Setting, missing, refuse, required, timed

SOLVED: dict[str, SolveFor] = {name.replace("_", "-"): name for name in get_args(SolveFor)}
"""What --solve-for may be, and what the accountants call it."""

Asked = Annotated[
    str | None,
    typer.Option(
        "--solve-for",
        help="noise-multiplier, noise-std, rounds, cohort, sampling-rate or clip-norm: leave that one out.",
        autocompletion=options.words(*SOLVED),
    ),
]
ScheduleFile = Annotated[
    Path | None,
    typer.Option(
        "--schedule",
        help="Instead of the options for one phase: a TOML file with the [[phase]] tables of a claim. Solves for "
        "noise-multiplier or clip-norm (a factor for every phase's), rounds or cohort (of the last phase).",
    ),
]


Tpr = Annotated[
    float | None,
    typer.Option("--tpr", help="Instead of --epsilon and --delta: the largest true-positive rate of an attack ..."),
]
Fpr = Annotated[float | None, typer.Option("--fpr", help="... with this false-positive rate.")]

_MOST_ROUNDS = 2**53


@dataclass(frozen=True, slots=True)
class Problem:
    """build: the run at a value; most: the largest value; at: what was asked, with the value, for the JSON document.

    step: how many rounds the value counts together, where a run has whole epochs or blocks of them only.
    """

    build: Callable[[float], Mechanism]
    most: float | None
    at: Callable[[float], dict[str, Any]]
    step: int = 1


def calibrate_command(
    context: typer.Context,
    epsilon: options.Epsilon = None,
    delta: options.Delta = None,
    solve_for: Asked = None,
    mechanism: options.Kind = "gaussian",
    keys: options.Keys = None,
    noise_multiplier: options.NoiseMultiplier = None,
    noise_std: options.NoiseStd = None,
    clip_norm: options.ClipNorm = None,
    rounds: options.Rounds = None,
    sampling: options.Sampling = "none",
    sampling_rate: options.SamplingRate = None,
    population: options.Population = None,
    cohort: options.Cohort = None,
    max_cohort: options.MaxCohort = None,
    block: options.Block = None,
    per_block: options.PerBlock = None,
    bins: options.Bins = None,
    schedule: ScheduleFile = None,
    neighbouring: options.Neighbouring = None,
    notion: options.Notion = "dp",
    participation: options.Participation = None,
    accountant: options.Accountant = "best",
    tpr: Tpr = None,
    fpr: Fpr = None,
    rtol: options.Rtol = None,
    schemes: Annotated[
        str | None,
        typer.Option("--schemes", help="Of several sampling schemes the least noise: all, or such as poisson,shuffle."),
    ] = None,
    batch_size: Annotated[int | None, typer.Option("--batch-size", help="With --schemes: of every batch.")] = None,
    epochs: Annotated[int | None, typer.Option("--epochs", help="With --schemes: passes over the population.")] = None,
    as_json: options.Json = False,
) -> None:
    """The most favourable value that still meets (--epsilon, --delta), or (--tpr, --fpr): it never misses.

    Example: dpcert calibrate --epsilon 3 --delta 1e-5 --solve-for noise-multiplier --rounds 10000
    --sampling poisson --sampling-rate 0.01

    Example: dpcert calibrate --epsilon 3 --delta 1e-5 --schemes all --population 60000 --batch-size 250 --epochs 5
    """
    if schemes is not None:
        if solve_for not in (None, "noise-multiplier"):
            raise InputError("--solve-for", solve_for, "noise-multiplier, or nothing, beside --schemes")
        required(epsilon=epsilon, delta=delta, population=population, batch_size=batch_size, epochs=epochs)
        compare_schemes(schemes, [epsilon or 0.0], population, batch_size, epochs, delta, neighbouring, None, as_json)
        return
    for option, given in (("--batch-size", batch_size), ("--epochs", epochs)):
        if given is not None:
            raise InputError(option, given, "--schemes beside it")
    if tpr is not None or fpr is not None:
        _for_risk(Setting.given(context), solve_for, (tpr, fpr), (epsilon, delta), schedule, as_json)
        return
    asked = Setting.given(context)
    _complete(asked, solve_for, schedule, epsilon=epsilon, delta=delta)
    solved = _known(str(solve_for))
    problem = _one_phase(asked, solved) if schedule is None else _several(asked, solved, schedule)
    found, seconds = timed(
        lambda: calibrate(
            problem.build,
            solve_for=solved,
            epsilon=epsilon or 0.0,
            delta=delta or 0.0,
            most=problem.most,
            **asked.against(),
        )
    )
    if problem.step > 1:
        beyond = None if found.beyond is None else found.beyond * problem.step
        found = replace(found, value=found.value * problem.step, beyond=beyond)
    if as_json:
        print_json(problem.at(found.value) | _document(str(solve_for), epsilon, delta, found, seconds))
    else:
        _print(str(solve_for), epsilon or 0.0, delta or 0.0, found, seconds, schedule is not None)


def _for_risk(
    asked: Setting,
    solve_for: str | None,
    target: tuple[float | None, float | None],
    other: tuple[float | None, float | None],
    schedule: Path | None,
    as_json: bool,
) -> None:
    """An attack's two error rates in place of epsilon and delta."""
    tpr, fpr = target
    _complete(asked, solve_for, schedule, tpr=tpr, fpr=fpr)
    for name, value in (("--epsilon", other[0]), ("--delta", other[1])):
        if value is not None:
            raise InputError(name, value, "to be left out beside --tpr and --fpr: one target")
    solved = _known(str(solve_for))
    problem = _one_phase(asked, solved) if schedule is None else _several(asked, solved, schedule)
    against = {name: value for name, value in asked.against().items() if name != "accountant"}
    found, seconds = timed(
        lambda: calibrate_risk(
            problem.build, solve_for=solved, tpr=tpr or 0.0, fpr=fpr or 0.0, most=problem.most, **against
        )
    )
    value = found.value * problem.step
    if as_json:
        power = found.true_positive_rate
        answer = {"solve_for": solve_for, "value": value, "tpr": tpr, "fpr": fpr, "seconds": seconds}
        ends = {"true_positive_rate_lower": power.lower, "true_positive_rate_upper": power.upper}
        print_json(problem.at(value) | answer | ends | {"certified": power.certified})
        return
    shown = _safe_side(solved, value)
    console = output_console()
    console.print(f"{solve_for} = {shown}")
    console.print(
        f"No attack that accuses {fpr:g} wrongly finds out more than {rounded_up(found.true_positive_rate.upper, 5)} "
        f"(asked for: {tpr:g}). {seconds:.2f} s"
    )


def _complete(asked: Setting, solve_for: str | None, schedule: Path | None, **target: float | None) -> None:
    """One error for all that is missing: of the target, of what is solved for, and of the run but for that."""
    own = missing(target)
    if solve_for is None:
        own.append(MissingKeys({"solve_for": f"one of {', '.join(SOLVED)}, which needs no value itself"}))
    refuse([*own, *([] if schedule is not None else _lacking(asked, solve_for))])


def _lacking(asked: Setting, solve_for: str | None) -> list[MissingKeys]:
    """What the run lacks. Where it is not said what is solved for, one thing that it could be is no lack."""
    if solve_for is not None:
        solved = _known(solve_for)
        _fits(asked, solved)
        return replace(asked, **{solved: 1}).lacking()  # type: ignore[arg-type] # 1 is allowed for all of them
    lacking = asked.lacking()
    free = {key for each in lacking for key in each.keys if key.rpartition(".")[2] in get_args(SolveFor)}
    return lacking if len(free) > 1 else [each for each in lacking if not free & set(each.keys)]


def _known(solve_for: str) -> SolveFor:
    return SOLVED[choice("--solve-for", solve_for, SOLVED)]


def _fits(asked: Setting, solved: SolveFor) -> None:
    """Raises InputError where the options leave nothing to solve for, or no way to."""
    option = "--" + solved.replace("_", "-")
    if getattr(asked, solved) is not None:
        raise InputError(option, getattr(asked, solved), "to be left out: it is what --solve-for asks for")
    if solved == "sampling_rate":
        if asked.sampling != "poisson":
            raise InputError("--sampling", asked.sampling, "poisson, to solve for the sampling rate")
        if asked.cohort is not None:
            raise InputError("--cohort", asked.cohort, "to be left out: with a population it says the sampling rate")
    if solved == "cohort":
        if asked.sampling not in ("poisson", "fixed-size") or asked.population is None:
            raise InputError(
                "--sampling", asked.sampling, "poisson or fixed-size, with --population, to solve for the cohort"
            )
        if asked.noise_std is not None:
            raise InputError(
                "--noise-std", asked.noise_std, "--noise-multiplier: noise on a mean changes with the cohort"
            )


def _one_phase(asked: Setting, solved: SolveFor) -> Problem:
    """The options describe the phase, but for the one that is solved for."""

    def at(value: float) -> Setting:
        given: dict[str, Any] = {solved: value}
        return replace(asked, **given)

    def document(value: float) -> dict[str, Any]:
        return at(value).to_json()

    if solved == "rounds":
        return Problem(lambda value: at(value * asked.step).run(), _MOST_ROUNDS // asked.step, document, asked.step)
    return Problem(lambda value: at(value).run(), asked.population if solved == "cohort" else None, document)


def _several(asked: Setting, solved: SolveFor, path: Path) -> Problem:
    """The phases of a file; every option for a single phase must be left out."""
    from ..mechanisms.tables.schedule import load_schedule

    if asked.sampling != "none":
        raise InputError("--sampling", asked.sampling, "to be left out beside --schedule")
    for name in ("noise_multiplier", "noise_std", "clip_norm", "rounds", *SAMPLED_BY):
        if getattr(asked, name) is not None:
            raise InputError("--" + name.replace("_", "-"), getattr(asked, name), "to be left out beside --schedule")
    schedule = load_schedule(path)
    builders = {
        "noise_multiplier": schedule.with_noise,
        "clip_norm": schedule.with_clip,
        "rounds": schedule.with_last_rounds,  # by the step
        "cohort": schedule.with_last_cohort,
    }
    if solved not in builders:
        expected = "noise-multiplier, clip-norm, rounds or cohort, with --schedule"
        raise InputError("--solve-for", solved.replace("_", "-"), expected)
    against = {"notion": asked.notion, "neighbouring": asked.relation, "schedule": str(path)}
    if solved == "rounds":
        step = schedule.last_step
        return Problem(
            lambda value: schedule.with_last_rounds(value * step), _MOST_ROUNDS // step, lambda value: against, step
        )
    most = schedule.last_population() if solved == "cohort" else None
    return Problem(builders[solved], most, lambda value: against)


def _document(
    solve_for: str, epsilon: float | None, delta: float | None, found: Calibration, seconds: float
) -> dict[str, Any]:
    bracket = found.epsilon
    return {
        "solve_for": solve_for,
        "value": found.value,
        "epsilon": epsilon,
        "epsilon_lower": bracket.lower,
        "epsilon_upper": bracket.upper,
        "delta": delta,
        "beyond": found.beyond,
        "accountant": bracket.method,
        "certified": bracket.certified,
        "reached": bracket.reached,
        "seconds": seconds,
    }


def _print(solve_for: str, epsilon: float, delta: float, found: Calibration, seconds: float, scheduled: bool) -> None:
    bracket = found.epsilon
    kind = "certified" if bracket.certified else "an estimate, not a bound"
    told = " in the last phase" if found.solve_for in WHOLE else " times the schedule's"
    value = _safe_side(found.solve_for, found.value) + (told if scheduled else "")
    typer.echo(f"{solve_for} = {value} meets ({as_given(epsilon)}, {as_given(delta)})")
    typer.echo(f"  epsilon in {interval(bracket)}; {kind}, by {bracket.method}, in {seconds:.3g} s")


def _safe_side(field: SolveFor, value: float) -> str:
    """Ten digits, rounded to the side that still meets the target: noise up, a rate or a clip down."""
    if field in WHOLE:
        return str(int(value))
    return rounded_up(value, 10) if field in ("noise_multiplier", "noise_std") else rounded_down(value, 10)
