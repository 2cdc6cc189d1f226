"""PMTL's rates on quadratics without clipping: in d, lambda and E, of F - F*, and over all clients in p and eta.

F* is known there, and coordinates are runs of their own, so that many of them make intervals narrow.
"""

from __future__ import annotations

from functools import cache, partial

from dpcert.proofs_checks.convergence.pmtl_runs import Form, Path, run

from .pmtl import SIGMA, TWENTY_NINE, in_eta, in_p, nine, setting, theorem_step
from .rate import Rate
from .watched import CLIENTS, quadratic

WIDE = 96
"""Coordinates."""


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
    """What is measured in its own way on quadratics without clipping."""
    return [*_of_nine(), *_over_all_clients(), *_of_values()]


def _of_nine() -> list[Rate]:
    noise = partial(nine, "noise")
    strengths = (8.0, 16.0, 32.0, 64.0), lambda x: setting("quadratic", strength=x)
    return [
        noise("d", 1.0, (4, 8, 16, 32), lambda x: setting("quadratic", dimension=int(x))),
        noise("lambda", 1.0, *strengths, relation="at most", bounded=False),
        noise("lambda", 2.0, *strengths, place=TWENTY_NINE),
        noise("E", -1.0, (4, 8, 16), lambda x: setting("quadratic", steps=int(x), rounds=20)),
    ]


def _over_all_clients() -> list[Rate]:
    def bound(eta: float) -> float:
        return eta * CLIENTS * WIDE * SIGMA**2 / (2 * (1 - eta))

    return [
        in_p(lambda p, seed: _cohorts(p, seed), (0.25, 0.5, 0.75)),
        in_eta(lambda eta, seed: _by_step(eta, seed), bound=bound),
    ]


def _of_values() -> list[Rate]:
    """Of F - F*."""
    gap = partial(Rate, "PMTL")
    return [
        gap(
            "Theorem 5, (12)",
            "F - F*, noise",
            "sigma",
            2.0,
            (0.05, 0.1, 0.2, 0.4),
            lambda sigma, seed: _gap("reset", 100, sigma, seed),
            _gap_bound,
        ),
        gap(
            "Theorem 5, (12), line 8 as printed",
            "F - F*, noise",
            "T",
            0.0,
            (50, 100, 200),
            lambda rounds, seed: _gap("as-printed", int(rounds), SIGMA, seed),
            relation="at most",
        ),
    ]
