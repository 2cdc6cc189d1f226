"""DPFedMTL's rates: the mean of ||grad f(w^t)||^2, Theorem 5.1's left-hand side, on noisy runs with clients' noise.

On the quadratics of dpfedmtl/recursion.py, identical clients and lambda = 2, everything is known: eta = 1/(lambda L),
and the corrected bounds (docs/theory/dpfedmtl.md) are d (S sigma)^2/(lambda K) and 2 lambda L f(w^0)/T. Two layers with
softmax and a small CNN have a fixed step; all clients take part there, so that the gradient of f is seen.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np

from ....mechanisms.arrays import Floats
from ..dpfedmtl.recursion import Family, Step
from ..dpfedmtl.trainer_problem import trained
from .rate import Rate
from .watched import How, Problem, dpfedmtl, first_value

DIVERSITY, NOISE, ROUNDS, WIDE = 2.0, 0.1, 40, 128
PLACE = "Theorem 5.1"
STEPS: dict[Problem, float] = {"logistic": 1.0, "CNN": 0.2}
ON_GRADIENTS: dict[Problem, float] = {"logistic": 1.5, "CNN": 3.0}
"""S sigma where it shows."""


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


def _deep(problem: Problem, clipping: bool) -> list[Rate]:
    clip = _clip_of(problem) if clipping else None

    def how(**more: object) -> How:
        told = {"step": STEPS[problem], "sigma": ON_GRADIENTS[problem], "clip": clip}
        return How(problem, **(told | more))  # type: ignore[arg-type]

    def rate(
        parameter: str, stated: float, sizes: tuple[float, ...], measure: Callable[[float, int], float], **more: object
    ) -> Rate:
        term = "squared gradient, " + str(more.pop("term", "noise"))
        name = "two layers with softmax" if problem == "logistic" else problem
        return Rate("DPFedMTL", PLACE, term, parameter, stated, sizes, measure, problem=name, clipping=clipping, **more)  # type: ignore[arg-type]

    def first(rounds: float) -> float:
        """2 lambda L f(w^0)/T, lambda L = 1/eta: supposes that the step is one of the theorem's."""
        return 2 * first_value(how(), deep=True) / (STEPS[problem] * rounds)

    base, start = ON_GRADIENTS[problem], {"term": "start", "relation": "at most", "bound": None if clipping else first}
    noises = tuple(base * factor for factor in (0.5, 0.7, 1.0))
    return [
        rate(
            "S sigma", 2.0, noises, lambda x, seed: _all(how(sigma=x), seed), term="start and noise", relation="at most"
        ),
        rate("T", -1.0, (40, 80, 160), lambda x, seed: _all(how(rounds=int(x), sigma=0.0), seed), **start),
    ]


def _all(how: How, seed: int) -> float:
    """The mean over t < T. Noise may lower it: far out a softmax is flat."""
    return float(_squares(how, seed).mean())


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
        *(rate for problem in deep for clipping in (False, True) for rate in _deep(problem, clipping)),
    ]
