"""PMTL's rates: what the noise adds to (9)'s left-hand side and to F - F*, and what the start leaves, on noisy runs.

All clients take part and w~ is the mean afresh (`pmtl`) unless said. The step is Theorem 6's,
1/(pL + (p + 1/p) lambda), which is 1/(L + 2 lambda) for p = 1. What noise adds is the difference of two runs of one
seed, with it and without, over the last half of the rounds. The bounds are those of docs/theory/convergence.md:
lambda d sigma^2/(2 c eta E) and (F(W^0) - F*)/(c eta T), c = 1 - eta (L + lambda)/2, with F* at least 0.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np

from ....mechanisms.arrays import Floats
from ..pmtl.runs import Form, Path, run
from .rate import Rate
from .watched import CLASSES, CLIENTS, How, Problem, first_value, pmtl, quadratic

SMOOTH: dict[Problem, float] = {"quadratic": 1.0, "logistic": 0.5}
"""L; nobody knows the CNN's, whose step is fixed."""
NUMBERS: dict[Problem, int] = {"quadratic": 8, "logistic": 4 * CLASSES, "CNN": 114}
CNN_STEP, SIGMA = 0.1, 0.2
WIDE = 96
"""Coordinates of quadratics whose coordinates are runs of their own: nothing is clipped there."""

NINE = "Theorem 3, (9)"


def theorem_step(problem: Problem, strength: float, p: float = 1.0) -> float:
    """Theorem 6's eta."""
    if problem == "CNN":
        return CNN_STEP
    return 1 / (p * SMOOTH[problem] + (p + 1 / p) * strength)


@cache
def _squares(how: How, seed: int) -> Floats:
    """(T,): the mean over clients and local steps of ||grad f_k||^2; several local steps on the quadratic only.

    There each step shrinks the gradient by 1 - eta (1 + lambda), and what a client moved is eta times their sum.
    """
    shrink = (1 - how.step * (1 + how.strength)) ** np.arange(how.steps)
    squares = (pmtl(how, seed).gradients ** 2).sum(axis=2).mean(axis=1)
    return np.asarray(squares / shrink.sum() ** 2 * (shrink**2).mean())


def _noise_adds(how: How, seed: int) -> float:
    """To (9)'s left-hand side, over the last half of the rounds."""
    half = how.rounds // 2
    return float((_squares(how, seed) - _squares(replace(how, sigma=0.0), seed))[half:].mean())


def _noise_bound(how: How) -> float:
    """C-T6-E's term."""
    share = 1 - how.step * (SMOOTH[how.problem] + how.strength) / 2
    d = how.dimension if how.problem == "quadratic" else NUMBERS[how.problem]
    return how.strength * d * how.sigma**2 / (2 * share * how.step * how.steps)


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
def clip_of(problem: Problem) -> float:
    """Half of what the clients send in the middle of a run without noise: most updates are shortened."""
    how = _how(problem)
    seen = pmtl(replace(how, sigma=0.0), 0)
    return float(np.median(np.linalg.norm(seen.kept - seen.broadcast[:, None], axis=2))) / 2


def _how(problem: Problem, *, clipping: bool = False, **more: object) -> How:
    strength = float(more.get("strength", 1.0))  # type: ignore[arg-type]
    told: dict[str, object] = {"step": theorem_step(problem, strength), "sigma": SIGMA}
    told |= {"clip": clip_of(problem)} if clipping else {}
    return How(problem, **(told | more))  # type: ignore[arg-type]


def _rate(
    quantity: str,
    parameter: str,
    stated: float,
    sizes: tuple[float, ...],
    how: Callable[[float], How],
    **more: object,
) -> Rate:
    """A rate of (9): what noise adds, or what the start leaves."""
    start = quantity == "start"
    measure, bound = (_start_leaves, _start_bound) if start else (_noise_adds, _noise_bound)
    known = (start or how(sizes[0]).problem in SMOOTH) and how(sizes[0]).clip is None and more.pop("bounded", True)
    return Rate(
        "PMTL",
        str(more.pop("place", NINE)),
        "squared gradient, " + ("start" if start else "noise"),
        parameter,
        stated,
        sizes,
        lambda size, seed: measure(how(size), seed),
        (lambda size: bound(how(size))) if known else None,
        problem=how(sizes[0]).problem,
        clipping=how(sizes[0]).clip is not None,
        **more,  # type: ignore[arg-type]
    )


def _of(problem: Problem, clipping: bool) -> list[Rate]:
    """sigma, T, m and lambda, on every problem; a CNN has rounds enough for the first two."""

    def how(**more: object) -> How:
        return _how(problem, clipping=clipping, **more)

    rates = [
        _rate("noise", "sigma", 2.0, (0.05, 0.1, 0.2, 0.4), lambda x: how(sigma=x)),
        _rate("noise", "T", 0.0, (20, 40, 80), lambda x: how(rounds=int(x), dimension=64)),
        _rate("start", "T", -1.0, (40, 80, 160), lambda x: how(rounds=int(x), sigma=0.0), relation="at most"),
    ]
    if problem != "CNN":
        rates.append(_rate("noise", "m", 0.0, (4, 8, 16), lambda x: how(clients=int(x))))
    return rates


def _quadratic() -> list[Rate]:
    """What has room on quadratics only."""
    strong, wide = (8.0, 16.0, 32.0, 64.0), (4, 8, 16, 32)

    def pulled(strength: float) -> How:
        return _how("quadratic", strength=strength)

    return [
        _rate("noise", "d", 1.0, wide, lambda x: _how("quadratic", dimension=int(x))),
        _rate("noise", "lambda", 1.0, strong, pulled, relation="at most", bounded=False),
        _rate("noise", "lambda", 2.0, strong, pulled, place="Theorem 6, (29)"),
        _rate("noise", "E", -1.0, (4, 8, 16), lambda x: _how("quadratic", steps=int(x), rounds=20)),
        *_by_coordinates(),
    ]


def _by_coordinates() -> list[Rate]:
    """On wide quadratics: cohorts, the step size, and what noise adds to F - F*."""
    gradient, gap, sizes = "squared gradient, noise", "F - F*, noise", (0.05, 0.1, 0.2, 0.4)

    def of(place: str, *told: Any, **more: Any) -> Rate:
        return Rate("PMTL", place, *told, **more)

    def drift(rounds: float, seed: int) -> float:
        return _gap("as-printed", int(rounds), SIGMA, seed)

    def steps(eta: float) -> float:
        return eta * CLIENTS * WIDE * SIGMA**2 / (2 * (1 - eta))

    small, at_most = {"towards": "small"}, {"relation": "at most"}
    cohorts = "Theorem 6, (29): q of 8 clients, p = q/8"
    return [
        of(cohorts, gradient, "p", -2.0, (0.25, 0.5, 0.75), _cohorts, **at_most, **small),
        of(
            "our correction of Theorem 6",
            "squared gradient of the objective, noise",
            "eta",
            1.0,
            (0.02, 0.04, 0.08),
            _by_step,
            steps,
        ),
        of("Theorem 5, (12)", gap, "sigma", 2.0, sizes, lambda x, seed: _gap("reset", 100, x, seed), _gap_bound),
        of("Theorem 5, (12), line 8 as printed", gap, "T", 0.0, (50, 100, 200), drift, **at_most),
    ]


@cache
def _path(form: Form, m: int, d: int, eta: float, rounds: int, cohort: int | None, sigma: float, seed: int) -> Path:
    known = quadratic(m, d)
    begin = known.centres.mean(axis=0)
    told = {"strength": 1.0, "learning_rate": eta, "rounds": rounds, "cohort": cohort, "start": begin}
    return run(known, form, noise_std=sigma, clip_norm=1e4, seed=seed, **told)


def _pair(*told: object, seed: int) -> tuple[Path, Path]:
    """With noise and without, from the same cohorts."""
    return _path(*told, SIGMA, seed), _path(*told, 0.0, seed)


def _cohorts(p: float, seed: int) -> float:
    """What noise adds to (9)'s left-hand side, over all clients, whether they took part or not."""
    noisy, plain = _pair("reset", 8, WIDE, theorem_step("quadratic", 1.0, p), 60, round(8 * p), seed=seed)
    added = noisy.broadcast_gradients().sum(axis=1) - plain.broadcast_gradients().sum(axis=1)
    return float(added[30:].mean()) / 8


def _by_step(eta: float, seed: int) -> float:
    """What noise adds to ||grad m F||^2, L = lambda = mu = 1, m = 4, over the last half."""
    rounds = round(8 / eta)
    noisy, plain = _pair("reset", CLIENTS, WIDE, eta, rounds, None, seed=seed)
    added = noisy.gradients().sum(axis=1) - plain.gradients().sum(axis=1)
    return float(added[rounds // 2 :].mean())


def _gap(form: Form, rounds: int, sigma: float, seed: int) -> float:
    """What noise adds to F - F*, over the last half; eta = 1/4."""
    noisy = _path(form, CLIENTS, WIDE, 0.25, rounds, None, sigma, seed)
    plain = _path(form, CLIENTS, WIDE, 0.25, rounds, None, 0.0, seed)
    return float((noisy.gaps() - plain.gaps())[rounds // 2 :].mean())


def _gap_bound(sigma: float) -> float:
    """C-T7: eta L lambda^2 d sigma^2/(4 c mu)."""
    return 0.25 * WIDE * sigma**2 / (4 * (1 - 0.25))


def rates() -> list[Rate]:
    """All of PMTL's."""
    problems: tuple[Problem, ...] = ("quadratic", "logistic", "CNN")
    return [
        *_quadratic(),
        *(rate for problem in problems for clipping in (False, True) for rate in _of(problem, clipping)),
    ]
