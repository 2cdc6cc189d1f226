"""The body of dpcert train for the MOCHA family. Imports torch through the engine: imported only when asked."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from ..accounting import Bracket, calibrate
from ..mechanisms import Gaussian, InputError, Repeat
from ..mechanisms.arrays import Floats
from ..mechanisms.serialise import to_plain
from ..mechanisms.validate import count, nonnegative, positive
from ..presentation.output import print_json
from ..presentation.training_plot import check_plot, draw_gap
from ..trainers.engine.privacy import PrivacyGoal
from ..trainers.mocha.assemble import Choices, method_of, private_of, setting_of
from ..trainers.mocha.methods import Setting, WeightStep
from ..trainers.mocha.node_work import NodeWork
from ..trainers.mocha.objective import risk
from ..trainers.mocha.private_run import PrivateOutcome, PrivateRun
from ..trainers.mocha.run import Outcome, Run, accuracies, identity_of
from ..trainers.mocha.sigma_prime import resolve_sigma_prime
from ..trainers.mocha.source import Problem, load_problem
from .train_mocha_sweep import run_study
from .train_mocha_words import print_run

TOLERANCE = 1e-4
"""Relative gap at which a run without --tolerance stops."""

LONGEST = 1_000_000
"""Rounds of a run that only --tolerance ends."""

LONGEST_OF_OTHERS = 20_000
"""The same where the tolerance need not be reached: mini-batches, Algorithm 1 whole, and a node that never answers."""

PRIVATE_ROUNDS = 100

NOISE = ("noise_multiplier", "noise_std", "sigma", "target_epsilon")
"""The options that ask for noise, of which one may be given."""


def run_mocha(asked: SimpleNamespace) -> None:
    """Solve as the options say, and print what came of it."""
    if asked.sweep is not None:
        return run_study(asked)
    _refuse_what_means_nothing(asked)
    check_plot(asked.plot)
    problem = load_problem(asked.data, asked.split_file, asked.seed or 0)
    choices = Choices(
        asked.omega, asked.clusters, asked.ridge, asked.loss, asked.strength, asked.graph, asked.covariance
    )
    setting = setting_of(problem.train, choices, problem.covariance)
    work = NodeWork.of(asked.work, asked.drop, problem.train.count)
    document = _common(asked, problem) | {"work": work.text, "drop": asked.drop}
    if asked.clip_norm is not None:
        if not work.plain:
            raise InputError("--work", work.text, "passes=1, and no --drop, with --clip-norm")
        document |= _private(asked, problem, setting, _multiplier(asked, problem))
    else:
        document |= _plain(asked, problem, setting, work)
    if asked.plot is not None:
        draw_gap(document["history"], asked.plot, f"{asked.algorithm} on {problem.name}")
    if asked.as_json:
        print_json(document)
    else:
        print_run(document)


def _refuse_what_means_nothing(asked: SimpleNamespace) -> None:
    given = [option for option in NOISE if getattr(asked, option) is not None]
    if len(given) > 1:
        raise InputError(_flag(given[1]), getattr(asked, given[1]), f"either {_flag(given[0])} or {_flag(given[1])}")
    if asked.sigma is not None:
        raise InputError("--sigma", asked.sigma, "--noise-multiplier: MOCHA has no sigma")
    if given and asked.clip_norm is None:
        raise InputError("--clip-norm", None, f"a bound on what a node sends, with {_flag(given[0])}")
    if asked.budget is not None and not given:
        raise InputError("--budget", asked.budget, "noise with it")
    if asked.clip_norm is not None and asked.algorithm != "mocha":
        raise InputError("algorithm", asked.algorithm, "mocha, with --clip-norm or noise")
    if asked.clip_norm is not None and asked.tolerance is not None:
        raise InputError(
            "--tolerance", asked.tolerance, "--rounds with --clip-norm: stopping on the gap would release it"
        )
    if asked.clip_norm is not None and asked.evaluate_every:
        raise InputError("--evaluate-every", asked.evaluate_every, "0 with --clip-norm: one gap, at the end")
    if asked.clip_norm is not None and asked.plot is not None:
        raise InputError("--plot", str(asked.plot), "none with --clip-norm: one gap, at the end")
    if asked.rounds is not None:
        count("--rounds", asked.rounds)
    if asked.tolerance is not None:
        positive("--tolerance", asked.tolerance)
    if asked.seed is not None:
        count("--seed", asked.seed, least=0)


def _flag(option: str) -> str:
    return "--" + option.replace("_", "-")


def _multiplier(asked: SimpleNamespace, problem: Problem) -> float:
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
        neighbouring=asked.neighbouring,
        notion="billboard",
    )
    return found.value


def _common(asked: SimpleNamespace, problem: Problem) -> dict[str, Any]:
    return {
        "algorithm": asked.algorithm,
        "data": problem.name,
        "tasks": problem.train.count,
        "samples": int(problem.train.sizes.sum()),
        "dimension": problem.train.dimension,
        "loss": asked.loss,
        "omega": asked.omega,
        "lambda": asked.strength,
    }


def _identity(asked: SimpleNamespace, problem: Problem, setting: Setting, *more: object) -> str:
    """Of what decides the run's course; Omega by its entries, as files change under the same name."""
    settings = (asked.algorithm, asked.loss, asked.omega == "learned", setting.omega.tobytes(), asked.strength)
    return identity_of(problem.train, *settings, asked.sigma_prime or "reference", *more)


def _longest(asked: SimpleNamespace, work: NodeWork) -> int:
    if asked.rounds is not None:
        return int(asked.rounds)
    return LONGEST if asked.algorithm in ("mocha", "cocoa") and not work.silent else LONGEST_OF_OTHERS


def _plain(asked: SimpleNamespace, problem: Problem, setting: Setting, work: NodeWork) -> dict[str, Any]:
    method = method_of(
        asked.algorithm,
        asked.omega,
        setting,
        theta=asked.theta,
        work=work,
        sigma_prime=asked.sigma_prime,
        scaling=asked.scaling,
        step_rule=asked.step_rule,
    )
    run = Run(
        method,
        _identity(asked, problem, setting, asked.theta, work, asked.scaling, asked.step_rule),
        seed=asked.seed,
        checkpoint=asked.checkpoint,
        record_every=asked.evaluate_every,
    )
    rounds = _longest(asked, work)
    tolerance = TOLERANCE if asked.tolerance is None else asked.tolerance
    with _progress(asked, asked.algorithm, asked.rounds) as watch:
        outcome = run.solve(rounds, tolerance=tolerance, watch=lambda done, gap: watch(done, f"gap {gap:.3g}"))
    document = _outcome(problem, setting, outcome) | {"tolerance": tolerance}
    return document | _sigma_prime(asked, setting, run.state.covariance, isinstance(method, WeightStep))


def _sigma_prime(asked: SimpleNamespace, setting: Setting, covariance: Floats, used: bool) -> dict[str, Any]:
    """sigma' of the subproblems (4), by name and as it was in the end; null for methods that have none."""
    if not used or asked.algorithm.startswith("mb-"):
        return {"sigma_prime": None}
    name = asked.sigma_prime or "reference"
    return {"sigma_prime": {"name": name, "value": resolve_sigma_prime(name)(setting.tasks, covariance)}}


def _scores(problem: Problem, setting: Setting, weights: Floats) -> dict[str, float | None]:
    """Means over tasks on their test samples; no accuracy where the labels are not -1 and 1."""
    signs = all(np.isin(y, (-1.0, 1.0)).all() for y in problem.test.labels)
    return {
        "test_accuracy": float(accuracies(problem.test, weights).mean()) if signs else None,
        "test_loss": risk(problem.test, setting.loss, weights) / problem.test.count,
    }


def _outcome(problem: Problem, setting: Setting, outcome: Outcome) -> dict[str, Any]:
    return {
        "rounds": outcome.rounds,
        **_scores(problem, setting, outcome.weights),
        "primal": outcome.primal,
        "dual": outcome.dual,
        "gap": outcome.gap,
        "converged": outcome.converged,
        "privacy": None,
        "mechanism": None,
        "history": list(outcome.history),
        "seconds": outcome.seconds,
    }


def _private(asked: SimpleNamespace, problem: Problem, setting: Setting, noise: float) -> dict[str, Any]:
    rounds = private_of(setting, asked.omega, asked.clip_norm, noise, asked.sigma_prime)
    goal = PrivacyGoal(asked.delta, asked.neighbouring, asked.budget)
    identity = _identity(asked, problem, setting, asked.clip_norm, noise)
    run = PrivateRun(rounds, identity, goal, seed=asked.seed, checkpoint=asked.checkpoint)
    length = PRIVATE_ROUNDS if asked.rounds is None else asked.rounds
    with _progress(asked, "private mocha", length) as watch:
        outcome = run.solve(length, watch=lambda done: watch(done, ""))
    seen = WeightStep(setting).report(run.state)
    return {
        "variant": f"private: clipped {'and noised messages' if noise else 'messages without noise'}, ours and not "
        "the paper's",
        "rounds": outcome.rounds,
        "releases": outcome.spent,
        "stopped_by_budget": outcome.stopped_by_budget,
        **_scores(problem, setting, outcome.weights),
        "primal": seen.primal,
        "dual": seen.dual,
        "gap": seen.gap,
        "privacy": _privacy(asked, run, outcome, noise),
        "mechanism": None if outcome.mechanism is None else to_plain(outcome.mechanism),
        "seconds": outcome.seconds,
    } | _sigma_prime(asked, setting, run.state.covariance, True)


def _privacy(asked: SimpleNamespace, run: PrivateRun, outcome: PrivateOutcome, noise: float) -> dict[str, Any] | None:
    began = time.perf_counter()
    bracket: Bracket | None = outcome.privacy
    if bracket is None:
        return None
    assumptions = ["the reported accuracy, primal, dual and gap are the simulation's own and are not released"]
    if asked.omega != "learned":
        assumptions.append("Omega does not depend on the clients' data")
    if asked.delta > 1 / run.private.setting.tasks.count:
        assumptions.append("delta is above 1/population: it allows one client to be exposed whole")
    if asked.seed is not None:
        assumptions.append("the seed is secret: whoever knows it can subtract the noise")
    observers = {str(seen.observer): [seen.epsilon.lower, seen.epsilon.upper] for seen in run.observed()}
    return {
        "epsilon_lower": bracket.lower,
        "epsilon_upper": bracket.upper,
        "delta": asked.delta,
        "notion": run.cost.notion,
        "neighbouring": run.cost.relation,
        "sampling": "none",
        "noise_multiplier": noise,
        "accountant": bracket.method,
        "certified": bracket.certified,
        "observers": observers,
        "assumptions": assumptions,
        "seconds": time.perf_counter() - began,
    }


@contextmanager
def _progress(asked: SimpleNamespace, name: str, rounds: int | None) -> Iterator[Callable[[int, str], None]]:
    """A bar on stderr; without a number of rounds it only counts."""
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[note]}")
    bar = Progress(*columns, TimeElapsedColumn(), console=Console(stderr=True), disable=asked.quiet)
    with bar:
        task = bar.add_task(name, total=rounds, note="")
        yield lambda done, note: bar.update(task, completed=done, note=note)
