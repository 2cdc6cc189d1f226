"""The body of dpcert mocha. Imports torch through the engine: imported only when asked."""

from __future__ import annotations

from typing import Any

from ..accounting import calibrate
from ..mechanisms import Gaussian, InputError, Repeat
from ..mechanisms.validate import choice, nonnegative, positive
from ..presentation.output import say, show, warnings_on_stderr
from ..presentation.plots import draw_gap, drawable
from ..presentation.progress import bar
from ..trainers.engine.privacy import PrivacyGoal
from ..trainers.interrupted import interrupted
from ..trainers.mocha.assemble import Options, kind_of, method_of, private_of, setting_of
from ..trainers.mocha.mb_sgd import STEP_RULES
from ..trainers.mocha.methods import Setting
from ..trainers.mocha.node_work import NodeWork
from ..trainers.mocha.omegas import Given, Omega, omega_of
from ..trainers.mocha.private_run import PrivateRun
from ..trainers.mocha.run import Run, identity_of
from ..trainers.mocha.sigma_prime import SIGMA_PRIMES, SigmaPrime
from ..trainers.mocha.solution import Solution, private_solution, solution
from ..trainers.mocha.source import Problem, load_problem
from .mocha_options import Asked
from .stopped import said_when_stopped

TOLERANCE = 1e-4
"""Relative gap at which a run without --tolerance stops."""

LONGEST = 1_000_000
"""Rounds of a run that only --tolerance ends."""

LONGEST_OF_OTHERS = 20_000
"""The same where the tolerance need not be reached: mini-batches, Algorithm 1 whole, and a node that never answers."""

PRIVATE_ROUNDS = 100

_OMEGAS = {"clusters": ("clustered",), "ridge": ("mean-regularised", "clustered", "graph-laplacian")}
"""Options that belong to some Omegas."""


def run_mocha(asked: Asked, as_json: bool) -> None:
    """Solve as the options say, and print what came of it."""
    drawable(asked.plot)
    for option, usual in (("clusters", "1"), ("ridge", 0.1)):
        if (given := getattr(asked, option)) != usual and asked.omega not in _OMEGAS[option]:
            belongs = f"it belongs to --omega {', '.join(_OMEGAS[option])}"
            say(f"warning: --{option} {given} is not used: {belongs}", err=True)
    problem = load_problem(asked.data, asked.split_file, asked.seed or 0)
    omega = omega_of(asked.omega, Given(asked.clusters, asked.ridge, asked.graph, asked.covariance))
    setting = setting_of(problem.train, omega, asked.loss, asked.strength, problem.covariance)
    work = NodeWork.of(asked.work, asked.drop, problem.train.count)
    if asked.clip_norm is None:
        found = _plain(asked, problem, omega, setting, work)
    elif work.plain:
        found = _private(asked, problem, omega, setting, as_json)
    else:
        raise InputError("--work", work.text, "passes=1, and no --drop, with --clip-norm")
    if asked.plot is not None:
        draw_gap(found.history, asked.plot, f"{asked.algorithm} on {problem.name}")
    show(found, as_json)


def _about(asked: Asked) -> dict[str, Any]:
    return {"loss": asked.loss, "omega": asked.omega, "lambda": asked.strength, "work": asked.work, "drop": asked.drop}


def _multiplier(asked: Asked, problem: Problem) -> float:
    """The noise multiplier that the options ask for; 0 without any. --noise-std is on the mean over all nodes."""
    if asked.noise_std is not None:
        return (
            nonnegative("--noise-std", asked.noise_std) * problem.train.count / positive("--clip-norm", asked.clip_norm)
        )
    if asked.target_epsilon is None:
        return 0.0 if asked.noise_multiplier is None else nonnegative("noise_multiplier", asked.noise_multiplier)
    found = calibrate(
        lambda multiplier: Repeat(Gaussian(multiplier), asked.rounds or PRIVATE_ROUNDS),
        solve_for="noise_multiplier",
        epsilon=positive("--target-epsilon", asked.target_epsilon),
        delta=asked.delta,
        neighbouring=asked.neighbouring,  # type: ignore[arg-type] # which checks it
        notion="billboard",
    )
    return found.value


def _identity(asked: Asked, problem: Problem, omega: Omega, setting: Setting, *more: object) -> str:
    """Of what decides the run's course; Omega by its entries, as files change under the same name."""
    settings = (asked.algorithm, asked.loss, omega.learned, setting.omega.tobytes(), asked.strength)
    return identity_of(problem.train, *settings, asked.sigma_prime or "reference", *more)


def _longest(asked: Asked, work: NodeWork) -> int:
    if asked.rounds is not None:
        return asked.rounds
    return LONGEST if asked.algorithm in ("mocha", "cocoa") and not work.silent else LONGEST_OF_OTHERS


def _sigma_prime(asked: Asked) -> SigmaPrime | None:
    return None if asked.sigma_prime is None else SIGMA_PRIMES[choice("sigma_prime", asked.sigma_prime, SIGMA_PRIMES)]


def _plain(asked: Asked, problem: Problem, omega: Omega, setting: Setting, work: NodeWork) -> Solution:
    theta, scaling = (0.5 if asked.theta is None else asked.theta), (1.0 if asked.scaling is None else asked.scaling)
    rule = asked.step_rule or "decreasing"
    step_rule = STEP_RULES[choice("step_rule", rule, STEP_RULES)]
    options = Options(work, theta, _sigma_prime(asked), scaling, step_rule)
    method = method_of(asked.algorithm, omega, setting, options)
    run = Run(
        method,
        _identity(asked, problem, omega, setting, theta, work, scaling, rule),
        seed=asked.seed,
        checkpoint=asked.checkpoint,
        record_every=asked.evaluate_every,
    )
    tolerance = TOLERANCE if asked.tolerance is None else asked.tolerance
    with bar(asked.algorithm, quiet=asked.quiet) as step:
        outcome = run.solve(
            _longest(asked, work),
            tolerance=tolerance,
            watch=lambda done, gap: step(done, asked.rounds, f"gap {gap:.3g}"),
        )
    kind = kind_of(asked.algorithm, omega)
    return solution(asked.algorithm, kind, problem, run, outcome, tolerance, asked.sigma_prime, _about(asked))


def _private(asked: Asked, problem: Problem, omega: Omega, setting: Setting, as_json: bool) -> Solution:
    noise = _multiplier(asked, problem)
    rounds = private_of(setting, omega, asked.clip_norm or 0.0, noise, _sigma_prime(asked))
    goal = PrivacyGoal(asked.delta, asked.neighbouring, asked.budget)  # type: ignore[arg-type] # which checks it
    identity = _identity(asked, problem, omega, setting, asked.clip_norm, noise)
    with warnings_on_stderr():
        run = PrivateRun(rounds, identity, goal, seed=asked.seed, checkpoint=asked.checkpoint)
    length = PRIVATE_ROUNDS if asked.rounds is None else asked.rounds
    with (
        bar("private mocha", quiet=asked.quiet) as step,
        said_when_stopped(lambda: interrupted("private mocha", run, length, folder=asked.checkpoint), as_json),
    ):
        outcome = run.solve(length, watch=lambda done: step(done, length, ""))
    secret = asked.seed is not None
    about, learned = _about(asked), omega.learned
    return private_solution(problem, run, outcome, asked.sigma_prime, about, learned=learned, seed_is_known=secret)
