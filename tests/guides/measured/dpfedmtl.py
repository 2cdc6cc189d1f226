"""DPFedMTL's rates: the mean of ||grad f(w^t)||^2, Theorem 5.1's left-hand side, on noisy runs with clients' noise.

On the quadratics of dpfedmtl_recursion.py, identical clients and lambda = 2, everything is known: eta = 1/(lambda L),
and the corrected bounds (docs/theory/dpfedmtl.md) are d (S sigma)^2/(lambda K) and 2 lambda L f(w^0)/T. Two layers with
softmax and a small CNN have a fixed step: their noise floors are floor.py's, and all clients take part where the start
is what is measured, so that the gradient of f is seen.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np

from dpcert.mechanisms.arrays import Floats
from dpcert.proofs_checks.convergence.dpfedmtl_recursion import Family, Step
from dpcert.proofs_checks.convergence.dpfedmtl_trainer import trained

from .floor import clip_of, floor
from .rate import Rate
from .watched import How, Problem, dpfedmtl, first_value

DIVERSITY, NOISE, ROUNDS, WIDE = 2.0, 0.1, 40, 128
PLACE = "Theorem 5.1"
NAMES: dict[Problem, str] = {"logistic": "two layers with softmax", "CNN": "CNN"}
STEPS: dict[Problem, float] = {"logistic": 1.0, "CNN": 0.2}
SETTLED: dict[Problem, float] = {"logistic": 0.5, "CNN": 0.2}
"""The step where the noise floor is measured."""


def _noise_floor(family: Family, how: Step, seed: int) -> float:
    """The mean over the last half of the rounds of ||grad f||^2, from the optimum."""
    run = trained(family, how, 0.0, ROUNDS, seed)
    return float(family.squared_gradient(run.heads, run.shared)[ROUNDS // 2 :].mean())


def _quadratic(parameter: str, stated: float, sizes: tuple[float, ...], **more: object) -> Rate:
    def setting(size: float) -> tuple[Family, Step]:
        told = {"M": 8.0, "d": float(WIDE), "S sigma": NOISE, "K": 2.0, "H": 1.0} | {parameter: size}
        family = Family("quadratic", 1.0, int(told["M"]), int(told["d"]))
        return family, Step(1 / DIVERSITY, told["S sigma"], int(told["K"]), int(told["H"]))

    def bound(size: float) -> float:
        family, how = setting(size)
        return family.dimension * how.noise**2 / (DIVERSITY * how.cohort)

    known = bound if parameter != "H" else None  # the corrected theorem is for H = 1
    measure = lambda size, seed: _noise_floor(*setting(size), seed)  # noqa: E731 - two arguments for a field
    place = str(more.pop("place", PLACE))
    return Rate("DPFedMTL", place, "squared gradient, noise", parameter, stated, sizes, measure, known, **more)  # type: ignore[arg-type]


def _start(rounds: float, seed: int) -> float:
    """The mean over t < T of ||grad f||^2 without noise, clients that are not convex (L = 1), one of five a round."""
    family, how = Family("cosine", 1.0, 5), Step(1 / DIVERSITY)
    run = trained(family, how, 1.0, int(rounds), seed)
    return float(family.squared_gradient(run.heads, run.shared)[:-1].mean())


def _start_bound(rounds: float) -> float:
    family = Family("cosine", 1.0, 5)
    first = float(family.value(np.ones((1, 5)), np.ones((1, 1)))[0])
    return 2 * DIVERSITY * first / rounds


@cache
def _squares(how: How, seed: int) -> Floats:
    """(T,): ||grad f||^2, every client's head in f = (1/M) sum f_i and the mean of the shared gradients."""
    slopes, size = dpfedmtl(how, seed).gradients, how.clients
    shared = {"logistic": 12, "CNN": 30}[how.problem]
    of_heads = (slopes[:, :, shared:] ** 2).sum(axis=(1, 2)) / size**2
    return np.asarray(of_heads + (slopes[:, :, :shared].mean(axis=1) ** 2).sum(axis=1))


def _clip_of(problem: Problem) -> float:
    """Half of the median norm of the shared gradients without noise: most are shortened."""
    shared = {"logistic": 12, "CNN": 30}[problem]
    slopes = dpfedmtl(How(problem, step=STEPS[problem]), 0).gradients[:, :, :shared]
    return float(np.median(np.linalg.norm(slopes, axis=2))) / 2


def _start_of_network(problem: Problem, clipping: bool) -> Rate:
    """The mean over t < T without noise."""
    clip = _clip_of(problem) if clipping else None
    how = How(problem, step=STEPS[problem], clip=clip)

    def first(rounds: float) -> float:
        """2 lambda L f(w^0)/T, lambda L = 1/eta: supposes that the step is one of the theorem's."""
        return 2 * first_value(how, deep=True) / (how.step * rounds)

    return Rate(
        "DPFedMTL",
        PLACE,
        "squared gradient, start",
        "T",
        -1.0,
        (40, 80, 160),
        lambda rounds, seed: float(_squares(replace(how, rounds=int(rounds)), seed).mean()),
        None if clipping else first,
        relation="at most",
        problem=NAMES[problem],
        clipping=clipping,
    )


def _floors(problem: Problem, clipping: bool) -> list[Rate]:
    """What noise leaves where a run without it has settled, in every parameter of Theorem 5.1's term."""

    def how(**more: object) -> How:
        told = {"step": SETTLED[problem], "sigma": 0.01, "cohort": 2, "rounds": 120} | more
        free = How(problem, **told)  # type: ignore[arg-type]
        return replace(free, clip=clip_of(free)) if clipping else free

    def rate(parameter: str, stated: float, sizes: tuple[float, ...], of: Callable[[float], How], **more: Any) -> Rate:
        measure = lambda size, seed: floor(of(size), seed)  # noqa: E731 - two arguments for a field
        told = {"place": PLACE, "relation": "at most"} | more
        return Rate(
            "DPFedMTL",
            quantity="squared gradient, noise",
            parameter=parameter,
            stated=stated,
            sizes=sizes,
            measure=measure,
            problem=NAMES[problem],
            clipping=clipping,
            **told,
        )

    if problem == "CNN":
        wide = rate("d", 1.0, (20, 40, 80), lambda d: how(channels=round(d / 10)))
    else:
        wide = rate("d", 1.0, (12, 24, 48), lambda d: how(features=round(d / 3)))
    return [
        rate("S sigma", 2.0, (0.003, 0.01, 0.03), lambda x: how(sigma=x), relation="is"),
        wide,
        rate("M", 1.0, (4, 8, 16), lambda x: how(clients=int(x))),
        rate("H", 2.0, (1, 2, 4), lambda x: how(steps=int(x))),
        rate("K", -1.0, (1, 2, 4), lambda x: how(cohort=int(x)), place="our correction of Theorem 5.1"),
    ]


def rates() -> list[Rate]:
    """All of DPFedMTL's."""
    deep: tuple[Problem, ...] = ("logistic", "CNN")
    return [
        _quadratic("S sigma", 2.0, (0.03, 0.1, 0.3)),
        _quadratic("d", 1.0, (32, 64, 128)),
        _quadratic("M", 1.0, (4, 8, 16), relation="at most"),
        _quadratic("H", 2.0, (1, 2, 4), relation="at most"),
        _quadratic("K", -1.0, (1, 2, 4), place="our correction of Theorem 5.1"),
        Rate(
            "DPFedMTL",
            PLACE,
            "squared gradient, start",
            "T",
            -1.0,
            (50, 100, 200),
            _start,
            _start_bound,
            relation="at most",
            problem="cosines",
        ),
        *(
            rate
            for problem in deep
            for clipping in (False, True)
            for rate in (_start_of_network(problem, clipping), *_floors(problem, clipping))
        ),
    ]
