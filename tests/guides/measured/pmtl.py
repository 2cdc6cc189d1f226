"""PMTL's rates: what the noise adds to (9)'s left-hand side and to F - F*, and what the start leaves, on noisy runs.

All clients take part and w~ is the mean afresh (`pmtl`) unless said. The step is Theorem 6's,
1/(pL + (p + 1/p) lambda), which is 1/(L + 2 lambda) for p = 1. What noise adds is the difference of two runs of one
seed, with it and without, over the last half of the rounds. The bounds are those of docs/theory/convergence.md:
lambda d sigma^2/(2 c eta E) and (F(W^0) - F*)/(c eta T), c = 1 - eta (L + lambda)/2, with F* at least 0.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial

import numpy as np

from dpcert.mechanisms.arrays import Floats

from .rate import Rate
from .watched import CLASSES, How, Problem, first_value, pmtl, quadratic

SMOOTH: dict[Problem, float] = {"quadratic": 1.0, "logistic": 0.5}
"""L."""
SUPPOSED = 8.0
"""The CNN's, which nobody knows: its steps are small enough if this is."""
SIGMA = 0.2

NINE, TWENTY_NINE = "Theorem 3, (9)", "Theorem 6, (29)"
Measure = Callable[[float, int], float]
"""The quantity at a size, for a seed."""


def theorem_step(problem: Problem, strength: float, p: float = 1.0) -> float:
    """Theorem 6's eta."""
    return 1 / (p * SMOOTH.get(problem, SUPPOSED) + (p + 1 / p) * strength)


def numbers(how: How) -> int:
    """d: how many weights a client's model has."""
    sizes = {"quadratic": how.dimension, "logistic": how.features * CLASSES, "CNN": 37 * how.channels + CLASSES}
    return sizes[how.problem]


@cache
def _squares(how: How, seed: int) -> Floats:
    """(T,): the mean of ||grad f_k||^2 over the clients that took part and their local steps.

    Cohorts are drawn without regard to the past, so it is that over all clients on average.
    """
    return np.asarray((pmtl(how, seed).gradients ** 2).sum(axis=2).mean(axis=1))


def _noise_adds(how: How, seed: int) -> float:
    """To (9)'s left-hand side, over the last half of the rounds."""
    half = how.rounds // 2
    return float((_squares(how, seed) - _squares(replace(how, sigma=0.0), seed))[half:].mean())


def _noise_bound(how: How) -> float:
    """C-T6-E's term."""
    share = 1 - how.step * (SMOOTH[how.problem] + how.strength) / 2
    return how.strength * numbers(how) * how.sigma**2 / (2 * share * how.step * how.steps)


def _start_leaves(how: How, seed: int) -> float:
    """(9)'s left-hand side of a run without noise."""
    return float(_squares(how, seed).mean())


def _start_bound(how: How) -> float:
    """C-T6-E's first term, with c = 1/2 for the CNN, which supposes that its eta is at most 1/(L + lambda)."""
    share = 0.5 if how.problem == "CNN" else 1 - how.step * (SMOOTH[how.problem] + how.strength) / 2
    return _first_value(how) / (share * how.step * how.rounds)


def _first_value(how: How) -> float:
    """F(W^0) - F* of the quadratic; F(W^0) of the others, which is no less."""
    if how.problem != "quadratic":
        return first_value(how, deep=False)
    known = quadratic(how.clients, how.dimension)
    begin = np.repeat(known.centres.mean(axis=0)[None] + how.away, how.clients, axis=0)
    least = known.objective(known.optimum(how.strength), how.strength)
    return float(known.objective(begin, how.strength) - least)


@cache
def clip_of(how: How) -> float:
    """Half of what the clients send in the middle of this run without noise or clipping: most updates are shortened."""
    seen = pmtl(replace(how, sigma=0.0, clip=None), 0)
    return float(np.median(np.linalg.norm(seen.kept - seen.broadcast[:, None], axis=2))) / 2


def setting(problem: Problem, **more: object) -> How:
    strength = float(more.get("strength", 1.0))  # type: ignore[arg-type]
    return How(problem, **({"step": theorem_step(problem, strength), "sigma": SIGMA} | more))  # type: ignore[arg-type]


def nine(
    quantity: str,
    parameter: str,
    stated: float,
    sizes: tuple[float, ...],
    how: Callable[[float], How],
    problem: Problem = "quadratic",
    *,
    clipping: bool = False,
    **more: object,
) -> Rate:
    """A rate of (9): what noise adds, or what the start leaves."""
    start, bounded = quantity == "start", more.pop("bounded", True)
    measure, bound = (_start_leaves, _start_bound) if start else (_noise_adds, _noise_bound)
    known = bounded and (start or problem in SMOOTH) and not clipping
    return Rate(
        "PMTL",
        str(more.pop("place", NINE)),
        "squared gradient, " + ("start" if start else "noise"),
        parameter,
        stated,
        sizes,
        lambda size, seed: measure(how(size), seed),
        (lambda size: bound(how(size))) if known else None,
        problem=problem,
        clipping=clipping,
        **more,  # type: ignore[arg-type]
    )


def _of(problem: Problem, clipping: bool) -> list[Rate]:
    """sigma, T and m."""

    def how(**more: object) -> How:
        return setting(problem, **({"clip": clip_of(setting(problem))} | more if clipping else more))

    rate = partial(nine, problem=problem, clipping=clipping)

    return [
        rate("noise", "sigma", 2.0, (0.05, 0.1, 0.2, 0.4), lambda x: how(sigma=x)),
        rate("noise", "T", 0.0, (20, 40, 80), lambda x: how(rounds=int(x), dimension=64)),
        rate("start", "T", -1.0, (40, 80, 160), lambda x: how(rounds=int(x), sigma=0.0), relation="at most"),
        rate("noise", "m", 0.0, (4, 8, 16), lambda x: how(clients=int(x))),
    ]


def _in_every_parameter(problem: Problem, clipping: bool) -> list[Rate]:
    """d, lambda, E, p and eta of runs whose clip norm, if there is one, is each setting's own."""

    def how(**more: object) -> How:
        free = setting(problem, **more)
        return replace(free, clip=clip_of(free)) if clipping else free

    def shared(p: float) -> How:
        return how(step=theorem_step(problem, 1.0, p), clients=8, cohort=round(8 * p))

    wide = {
        "quadratic": ((4, 8, 16, 32), lambda d: how(dimension=int(d))),
        "logistic": ((12, 24, 48), lambda d: how(features=round(d / CLASSES))),
        "CNN": ((77, 151, 299), lambda d: how(channels=round((d - CLASSES) / 37))),
    }[problem]
    rate = partial(nine, problem=problem, clipping=clipping)
    steps = (16, 32, 64) if problem == "CNN" else (4, 8, 16)
    strengths = (8.0, 16.0, 32.0, 64.0)
    far, sigma = {"quadratic": (8, 1.0), "logistic": (8, 2.0), "CNN": (4, 2.0)}[problem]
    return [
        rate("noise", "d", 1.0, *wide),
        rate("noise", "lambda", 2.0, strengths, lambda x: how(strength=x), place=TWENTY_NINE),
        rate("noise", "E", -1.0, steps, lambda x: how(steps=int(x), rounds=12)),
        in_p(lambda p, seed: _noise_adds(shared(p), seed), (0.25, 0.5, 0.75), problem, clipping),
        in_eta(
            lambda eta, seed: _on_objective(how(step=eta, rounds=round(far / eta), sigma=sigma, dimension=32), seed),
            problem,
            clipping,
        ),
    ]


def in_p(measure: Measure, sizes: tuple[float, ...], problem: Problem = "quadratic", clipping: bool = False) -> Rate:
    """What noise adds to (29)'s left-hand side, in the share of clients that take part."""
    place, quantity = f"{TWENTY_NINE}: q of 8 clients, p = q/8", "squared gradient, noise"
    told = {"relation": "at most", "problem": problem, "clipping": clipping, "towards": "small"}
    return Rate("PMTL", place, quantity, "p", -2.0, sizes, measure, **told)  # type: ignore[arg-type]


def in_eta(
    measure: Measure,
    problem: Problem = "quadratic",
    clipping: bool = False,
    bound: Callable[[float], float] | None = None,
) -> Rate:
    """What noise adds to the squared gradient of the objective, in the step size."""
    place, quantity = "our correction of Theorem 6", "squared gradient of the objective, noise"
    sizes = (0.02, 0.04, 0.08)
    return Rate("PMTL", place, quantity, "eta", 1.0, sizes, measure, bound, problem=problem, clipping=clipping)


def _on_objective(how: How, seed: int) -> float:
    """What noise adds to ||grad m F||^2 over the last half: w_k is pulled to the clients' mean there, not to w~."""
    half = how.rounds // 2
    noisy, plain = _of_objective(how, seed), _of_objective(replace(how, sigma=0.0), seed)
    return float((noisy - plain)[half:].mean())


def _of_objective(how: How, seed: int) -> Floats:
    """(T,); all clients take part with one step. The first round begins at w~."""
    seen = pmtl(how, seed)
    before = np.concatenate([np.repeat(seen.broadcast[:1, None], how.clients, axis=1), seen.kept[:-1]])
    apart = seen.broadcast - before.mean(axis=1)
    return np.asarray(((seen.gradients + how.strength * apart[:, None]) ** 2).sum(axis=(1, 2)))


def _elsewhere(problem: Problem, clipping: bool) -> list[Rate]:
    """_in_every_parameter, but for what pmtl_exact.py measures more exactly."""
    return [] if problem == "quadratic" and not clipping else _in_every_parameter(problem, clipping)


def rates() -> list[Rate]:
    """Those that are measured in the same way on every problem."""
    problems: tuple[Problem, ...] = ("quadratic", "logistic", "CNN")
    return [
        rate
        for problem in problems
        for clipping in (False, True)
        for rate in (*_of(problem, clipping), *_elsewhere(problem, clipping))
    ]
