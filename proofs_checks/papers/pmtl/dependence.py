"""How the terms of Theorems 3 and 5 depend on T, m, E, lambda, sigma, epsilon, d and p: fitted exponents.

The numbers are expectations (convergence/pmtl_moments.py): their range between sizes shows how far they are from a
power law.
The step is half of 1/(L + lambda), w~ is reset to the cohort's mean, L = mu = 1, q = m and E = 1 unless said.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import cache

from ...convergence.exponents import fitted_exponent
from ...convergence.pmtl_moments import Federation, Moments, check_against_trainer
from ...convergence.pmtl_runs import Form, mean_estimation
from ..balls import largest_shift
from ..measured import by_exponent
from ..row import Finding, Statement, on_instances

SLACK = 0.02
"""For quantities that are power laws in the limit only."""


@cache
def _federation(
    *,
    m: int = 4,
    d: int = 1,
    strength: float = 1.0,
    sigma: float = 0.2,
    steps: int = 1,
    cohort: int | None = None,
    form: Form = "reset",
    step: float = 0.5,
    away: float = 0.0,
) -> Federation:
    problem = mean_estimation(m, d)
    start = problem.centres.mean(axis=0) + away
    return Federation(problem, form, strength, step / (1 + strength), steps, cohort, sigma, start)


@cache
def _confirmed(own: Federation) -> float:
    return check_against_trainer(own)


@cache
def _moments(own: Federation, rounds: int) -> Moments:
    """Several terms are read off one run."""
    return own.moments(rounds)


@cache
def _silent(own: Federation) -> Federation:
    return replace(own, sigma=0.0)


def _gradients(own: Federation, rounds: int) -> float:
    """(9)'s left-hand side over the last half of the rounds: the mean over clients and local steps."""
    return float(_moments(own, rounds).local_gradients()[rounds // 2 : -1].mean()) / own.steps


def _gap(own: Federation, rounds: int) -> float:
    """F - F*, over the same rounds."""
    return float(_moments(own, rounds).gaps()[rounds // 2 : -1].mean())


Measure = Callable[[Federation, int], float]


def _noise(measure: Measure, own: Federation, rounds: int = 200) -> float:
    """What sigma adds, once the run is stationary."""
    _confirmed(own)
    return measure(own, rounds) - measure(_silent(own), rounds)


def _start(own: Federation, rounds: int) -> float:
    """(9)'s left-hand side without noise, over the whole run."""
    own = _silent(own)
    _confirmed(own)
    return float(_moments(own, rounds).local_gradients()[:-1].mean()) / own.steps


def _first_gaps(own: Federation) -> float:
    """F - F* after five rounds."""
    _confirmed(own)
    return float(own.moments(5).gaps()[-1])


def _least_sigma(m: float, rounds: float) -> float:
    """C-T1's noise for epsilon = 1, delta = 1e-5, gamma = 1."""
    return 2 * math.sqrt(rounds) / (m * largest_shift(1.0, 1e-5))


def _printed_sigma(epsilon: float) -> float:
    """Theorem 1's noise, q = m = 4, T = 100, gamma = .1, delta = 1e-5."""
    return 4 * 0.1 * math.sqrt(100 * math.log(1e5)) / (epsilon * 4)


Values = tuple[tuple[float, ...], Callable[[float], float]]


def _noise_terms(measure: Measure) -> dict[str, Values]:
    return {
        "sigma": ((0.05, 0.1, 0.2, 0.4, 0.8), lambda x: _noise(measure, _federation(sigma=x))),
        "lambda": ((64.0, 128.0, 256.0, 512.0), lambda x: _noise(measure, _federation(m=3, strength=x), int(10 * x))),
        "d": ((1, 2, 4, 8), lambda x: _noise(measure, _federation(m=3, d=int(x)))),
        "m": ((4, 6, 9, 14, 20), lambda x: _noise(measure, _federation(m=int(x)))),
        "m, T ~ m": (
            (4, 6, 9, 14, 20),
            lambda x: _noise(measure, _federation(m=int(x), sigma=_least_sigma(x, 10 * x))),
        ),
        "E": ((16, 32, 64, 128), lambda x: _noise(measure, _federation(steps=int(x)))),
        "epsilon": ((0.25, 0.5, 1.0, 2.0), lambda x: _noise(measure, _federation(sigma=_printed_sigma(x)))),
        "p": (
            (2 / 6, 3 / 6, 4 / 6, 5 / 6),
            lambda x: _noise(measure, _federation(m=6, strength=64.0, steps=8, cohort=round(6 * x)), 640),
        ),
        "T": ((200, 400, 800, 1600), lambda x: _noise(measure, _federation(), int(x))),
        "T, as printed": (
            (1000, 2000, 4000, 8000),
            lambda x: _noise(measure, _federation(m=3, form="as-printed"), int(x)),
        ),
    }


TERMS: dict[str, dict[str, Values]] = {
    "noise in the gradient": _noise_terms(_gradients),
    "noise in F - F*": _noise_terms(_gap),
    "start": {
        "T": ((100, 200, 400, 800, 1600), lambda x: _start(_federation(away=4.0), int(x))),
        "E": ((8, 16, 32, 64), lambda x: _start(_federation(steps=int(x), away=4.0), int(8192 / x))),
        "m": ((4, 6, 9, 14, 20), lambda x: _start(_federation(m=int(x), away=20.0), 400)),
        "m, T ~ m": ((4, 6, 9, 14, 20), lambda x: _start(_federation(m=int(x), away=20.0), int(40 * x))),
        "lambda": ((256.0, 512.0, 1024.0, 2048.0), lambda x: _start(_federation(m=3, strength=x, away=20.0), 16_000)),
        "p": (
            (1 / 12, 2 / 12, 3 / 12, 4 / 12),
            lambda x: _start(_federation(m=12, cohort=round(12 * x), form="increments", step=0.1, away=20.0), 3000),
        ),
    },
    "needed constant of O(lambda/T)": {
        "lambda": ((1e-4, 1e-2, 1.0, 256.0), lambda x: 400 * _start(_federation(m=3, strength=x, away=20.0), 400) / x)
    },
    "start of F - F*": {"m": ((4, 6, 9, 14, 20), lambda x: _first_gaps(_federation(m=int(x), sigma=0.0, away=20.0)))},
}
"""Term and parameter: the sizes at which the term is measured, and how."""


@cache
def _values(term: str, parameter: str) -> tuple[tuple[float, ...], tuple[float, ...]]:
    sizes, measure = TERMS[term][parameter]
    return sizes, tuple(measure(size) for size in sizes)


def exponent(statement: Statement) -> Finding:
    """The exponent of one parameter in one term. The measured values are expectations: there is no chance in them."""
    term, parameter = statement.domain["term"], statement.domain["parameter"]
    sizes, values = _values(term, parameter)
    numbers = {parameter: list(sizes), "measured": list(values)}
    basis = on_instances(len(sizes), "recursions equal to the trainer")
    return by_exponent(fitted_exponent(sizes, values), statement, f"{term} ~ ({parameter})", basis, numbers, SLACK)
