"""The body of dpcert mocha. Imports torch through the engine: imported only when asked."""

from __future__ import annotations

from ..mechanisms import InputError
from ..presentation.output import say, show, warnings_on_stderr
from ..presentation.plots import draw_gap, drawable
from ..presentation.progress import bar
from ..trainers.engine.privacy import PrivacyGoal
from ..trainers.mocha.omegas import Given, omega_of
from ..trainers.mocha.source import load_problem
from ..trainers.mocha.trainer import PRIVATE_ROUNDS, MochaTrainer, Solution
from ..trainers.mocha.work import NodeWork
from ..trainers.statement import interrupted
from .mocha import NOISE, Asked
from .run_options import said_when_stopped

_OMEGAS = {"clusters": ("clustered",), "ridge": ("mean-regularised", "clustered", "graph-laplacian")}
"""Options that belong to some Omegas."""


def run_mocha(asked: Asked, as_json: bool) -> None:
    """Solve as the options say, and print what came of it."""
    drawable(asked.plot)
    for option, usual in (("clusters", "1"), ("ridge", 0.1)):
        if (given := getattr(asked, option)) != usual and asked.omega not in _OMEGAS[option]:
            belongs = f"it belongs to --omega {', '.join(_OMEGAS[option])}"
            say(f"warning: --{option} {given} is not used: {belongs}", err=True)
    trainer = _trainer(asked)
    found = _plain(asked, trainer) if asked.clip_norm is None else _private(asked, trainer, asked.clip_norm, as_json)
    if asked.plot is not None:
        draw_gap(found.history, asked.plot, f"{asked.algorithm} on {trainer.problem.name}")
    show(found, as_json)


def _trainer(asked: Asked) -> MochaTrainer:
    problem = load_problem(asked.data, asked.split_file, asked.seed or 0)
    omega = omega_of(asked.omega, Given(asked.clusters, asked.ridge, asked.graph, asked.covariance))
    work = NodeWork.of(asked.work, asked.drop, problem.train.count)
    if asked.clip_norm is not None and not work.plain:
        reason = "With --clip-norm every node does one pass in every round: leave out --work and --drop."
        raise InputError("--work", work.text, "passes=1", reason)
    told = {"loss": asked.loss, "omega": asked.omega, "lambda": asked.strength, "work": asked.work, "drop": asked.drop}
    kept = asked.seed, asked.checkpoint, told
    return MochaTrainer(asked.algorithm, problem, asked.loss, omega, asked.strength, work, asked.sigma_prime, *kept)


def _plain(asked: Asked, trainer: MochaTrainer) -> Solution:
    given = {name: getattr(asked, name) for name in ("theta", "scaling", "step_rule", "tolerance")}
    stated = {name: value for name, value in given.items() if value is not None}
    with bar(asked.algorithm, quiet=asked.quiet) as step:
        return trainer.solve(
            asked.rounds,
            record_every=asked.evaluate_every,
            watch=lambda done, gap: step(done, asked.rounds, f"gap {gap:.3g}"),
            **stated,
        )


def _private(asked: Asked, trainer: MochaTrainer, clip_norm: float, as_json: bool) -> Solution:
    length = PRIVATE_ROUNDS if asked.rounds is None else asked.rounds
    goal = PrivacyGoal(asked.delta, asked.neighbouring, asked.budget)  # type: ignore[arg-type] # which checks it
    noise = trainer.noise_multiplier(length, clip_norm, goal, **{name: getattr(asked, name) for name in NOISE})
    with warnings_on_stderr():
        run = trainer.private_run(clip_norm, noise, goal)
    with (
        bar("private mocha", quiet=asked.quiet) as step,
        said_when_stopped(lambda: interrupted("private mocha", run, length, folder=asked.checkpoint), as_json),
    ):
        outcome = run.solve(length, watch=lambda done: step(done, length, ""))
    return trainer.private_solution(run, outcome)
