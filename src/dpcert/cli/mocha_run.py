"""The body of dpcert mocha. Imports torch through the engine: imported only when asked."""

from __future__ import annotations

from ..mechanisms import InputError
from ..presentation.output import say, show, warnings_on_stderr
from ..presentation.plots import draw_gap, drawable
from ..presentation.progress import bar
from ..trainers.engine.privacy import PrivacyGoal
from ..trainers.interrupted import interrupted
from ..trainers.mocha.chosen import PRIVATE_ROUNDS, Chosen
from ..trainers.mocha.node_work import NodeWork
from ..trainers.mocha.omegas import Given, omega_of
from ..trainers.mocha.solution import Solution
from ..trainers.mocha.source import load_problem
from .mocha_options import NOISE, Asked
from .stopped import said_when_stopped

_OMEGAS = {"clusters": ("clustered",), "ridge": ("mean-regularised", "clustered", "graph-laplacian")}
"""Options that belong to some Omegas."""


def run_mocha(asked: Asked, as_json: bool) -> None:
    """Solve as the options say, and print what came of it."""
    drawable(asked.plot)
    for option, usual in (("clusters", "1"), ("ridge", 0.1)):
        if (given := getattr(asked, option)) != usual and asked.omega not in _OMEGAS[option]:
            belongs = f"it belongs to --omega {', '.join(_OMEGAS[option])}"
            say(f"warning: --{option} {given} is not used: {belongs}", err=True)
    chosen = _chosen(asked)
    found = _plain(asked, chosen) if asked.clip_norm is None else _private(asked, chosen, asked.clip_norm, as_json)
    if asked.plot is not None:
        draw_gap(found.history, asked.plot, f"{asked.algorithm} on {chosen.problem.name}")
    show(found, as_json)


def _chosen(asked: Asked) -> Chosen:
    problem = load_problem(asked.data, asked.split_file, asked.seed or 0)
    omega = omega_of(asked.omega, Given(asked.clusters, asked.ridge, asked.graph, asked.covariance))
    work = NodeWork.of(asked.work, asked.drop, problem.train.count)
    if asked.clip_norm is not None and not work.plain:
        raise InputError("--work", work.text, "passes=1, and no --drop, with --clip-norm")
    told = {"loss": asked.loss, "omega": asked.omega, "lambda": asked.strength, "work": asked.work, "drop": asked.drop}
    kept = asked.seed, asked.checkpoint, told
    chosen = Chosen(asked.algorithm, problem, asked.loss, omega, asked.strength, work, asked.sigma_prime, *kept)
    _ = chosen.setting  # what is wrong with it is told first
    return chosen


def _plain(asked: Asked, chosen: Chosen) -> Solution:
    given = {name: getattr(asked, name) for name in ("theta", "scaling", "step_rule", "tolerance")}
    stated = {name: value for name, value in given.items() if value is not None}
    with bar(asked.algorithm, quiet=asked.quiet) as step:
        return chosen.solved(
            asked.rounds,
            record_every=asked.evaluate_every,
            watch=lambda done, gap: step(done, asked.rounds, f"gap {gap:.3g}"),
            **stated,
        )


def _private(asked: Asked, chosen: Chosen, clip_norm: float, as_json: bool) -> Solution:
    length = PRIVATE_ROUNDS if asked.rounds is None else asked.rounds
    goal = PrivacyGoal(asked.delta, asked.neighbouring, asked.budget)  # type: ignore[arg-type] # which checks it
    noise = chosen.noise(length, clip_norm, goal, **{name: getattr(asked, name) for name in NOISE})
    with warnings_on_stderr():
        run = chosen.private(clip_norm, noise, goal)
    with (
        bar("private mocha", quiet=asked.quiet) as step,
        said_when_stopped(lambda: interrupted("private mocha", run, length, folder=asked.checkpoint), as_json),
    ):
        outcome = run.solve(length, watch=lambda done: step(done, length, ""))
    return chosen.privately(run, outcome)
