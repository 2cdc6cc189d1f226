"""The rows of our corrections of Theorems 3 to 7; evidence: corrected.py, proofs: docs/theory/convergence.md."""

from __future__ import annotations

from collections.abc import Mapping

from ..row import Evidence, Kind, Row, Statement
from . import corrected as evidence

_ALL_ONE = {"start factor": 1.0, "noise factor": 1.0}
_ALL_ONE_GAP = {"rate factor": 1.0, "noise factor": 1.0}
_ALL_ONE_DISTANCE = {"rate factor": 1.0, "noise factor": 1.0, "cohort factor": 1.0}


def _row(
    name: str, place: str, function: Evidence, setting: str, says: str, spoilt: str, factor: Mapping[str, float]
) -> Row:
    """factor: the one constant that the spoilt version changes; all others are 1."""
    ones: Mapping[str, float] = _ALL_ONE
    if function is evidence.gap or function is evidence.distance:
        ones = _ALL_ONE_GAP if function is evidence.gap else _ALL_ONE_DISTANCE
    where = {"setting": setting}
    return Row(
        id=f"PMTL-{name}",
        paper="pmtl",
        place=f"Our correction of {place}",
        kind=Kind.TRAINER,
        evidence=function,
        printed=Statement(says, ones, where),
        spoilt=Statement(spoilt, {**ones, **factor}, where),
    )


_NOISE = "The same with 5% less in the noise term."
_LESS_NOISE = {"noise factor": 0.95}
_LESS_START = {"start factor": 0.95}

ROWS = (
    _row(
        "C-T6",
        "Theorems 3 and 6, Algorithm 1 as printed (q = m, E = 1, eta <= 1/(L + lambda))",
        evidence.stationarity,
        "as printed",
        "mean ||grad mF||^2 <= 2 m (F(W^0) - F*)/(eta T) + lambda^2 m d sigma^2 (T - 1)/2.",
        _NOISE,
        _LESS_NOISE,
    ),
    _row(
        "C-T6-reset",
        "Theorems 3 and 6, with w~ reset to the mean (q = m, E = 1, eta < 2/(L + lambda))",
        evidence.stationarity,
        "reset, one step",
        "mean ||grad mF||^2 <= m (F(W^0) - F*)/(c eta T) + eta L lambda^2 m d sigma^2/(2c), "
        "c = 1 - eta (L + lambda)/2.",
        _NOISE,
        _LESS_NOISE,
    ),
    _row(
        "C-T6-q",
        "Theorems 3 and 6 for cohorts of q < m, 1/m for 1/|S_t| in line 8 (E = 1, eta <= 1/(L + lambda))",
        evidence.stationarity,
        "increments, noise",
        "mean ||grad mF||^2 <= 2 m (F(W^0) - F*)/(p eta T) + lambda^2 m d p^2 sigma^2 (T - 1)/2, p = q/m.",
        _NOISE,
        _LESS_NOISE,
    ),
    _row(
        "C-T6-E",
        "Theorems 3 and 6, (9), for E local steps, with w~ reset to the mean (q = m, eta < 2/(L + lambda))",
        evidence.local_stationarity,
        "reset, local steps",
        "mean ||grad f_k||^2 <= (F(W^0) - F*)/(c eta T) + lambda d sigma^2/(2 c eta E), T local steps. (No term in B.)",
        _NOISE,
        _LESS_NOISE,
    ),
    _row(
        "C-T6-E-start",
        "Corollary 4, (11), for E local steps without noise, with w~ reset to the mean (q = m)",
        evidence.local_stationarity,
        "reset, start",
        "mean ||grad f_k||^2 <= (F(W^0) - F*)/(c eta T): stationarity itself, not a neighbourhood.",
        "The same with 5% less on the right.",
        _LESS_START,
    ),
    _row(
        "C-T6-q-E",
        "Corollary 4, (11), for cohorts of q < m and E local steps, 1/m for 1/|S_t| in line 8",
        evidence.local_stationarity,
        "increments, start",
        "mean ||grad f_k||^2 <= (F(W^0) - F*)/(c p eta T) without noise, over the steps that the clients would take.",
        "The same with 5% less in the first term.",
        _LESS_START,
    ),
    _row(
        "C-T6-q-reset",
        "Theorems 3 and 6 for cohorts of q < m and E local steps, with w~ reset to the cohort's mean",
        evidence.local_stationarity,
        "reset, cohorts",
        "mean ||grad f_k||^2 <= (F(W^0) - F*)/(c p eta T) + lambda/(2 c p eta E) times the mean of ||w~ - w_bar||^2.",
        "The same with 10% less in the last term.",
        {"noise factor": 0.9},
    ),
    _row(
        "C-T7",
        "Theorems 5 and 7, with w~ reset to the mean (q = m, E = 1, eta < 2/(L + lambda))",
        evidence.gap,
        "reset, one step",
        "F(W^T) - F* <= (1 - 2 eta mu c)^T (F(W^0) - F*) + eta L lambda^2 d sigma^2/(4 mu c), "
        "c = 1 - eta (L + lambda)/2.",
        _NOISE,
        _LESS_NOISE,
    ),
    _row(
        "C-T7-rate",
        "Theorems 5 and 7: the rate, without noise (q = m, E = 1)",
        evidence.gap,
        "reset, one step, far",
        "The gap decays at least as fast as (1 - 2 eta mu c)^T.",
        "It decays at least 5% faster.",
        {"rate factor": 1.05},
    ),
    _row(
        "C-T7-E",
        "Theorems 5 and 7 for E local steps, with w~ reset to the mean (q = m, eta <= 2/(L + mu + 2 lambda))",
        evidence.distance,
        "reset, noise",
        "mean ||w_k - w_k*||^2 <= x_R^2 after R rounds, x' = (1 - b) x + b rho y, y'^2 = x'^2 + d sigma^2, "
        "b = 1 - (1 - eta (mu + lambda))^E, rho = lambda/(mu + lambda).",
        _NOISE,
        _LESS_NOISE,
    ),
    _row(
        "C-T7-E-rate",
        "Theorems 5 and 7 for E local steps: the rate, without noise (q = m)",
        evidence.distance,
        "reset, far",
        "The squared distance shrinks by (1 - b mu/(mu + lambda))^2 a round at least.",
        "It does with b 5% larger.",
        {"rate factor": 1.05},
    ),
    _row(
        "C-T7-q",
        "Theorems 5 and 7 for cohorts of q < m and E local steps, with w~ reset to the cohort's mean",
        evidence.distance,
        "reset, floor",
        "mean ||w_k - w_k*||^2 <= x_R^2, with x'^2 = (1 - p) x^2 + p z^2, z = (1 - b) x + b rho y and "
        "y'^2 = z^2 + kappa S^2/(1 - kappa) + d sigma^2, S^2 the variance of the w_k*, kappa = (m - q)/(q (m - 1)).",
        "The same with 10% less for S^2.",
        {"cohort factor": 0.9},
    ),
    _row(
        "C-T7-q-rate",
        "Theorems 5 and 7 for cohorts of q < m: the rate, 1/m for 1/|S_t| in line 8",
        evidence.distance,
        "increments, far",
        "Without noise the squared distance shrinks by 1 - p (1 - (1 - b mu/(mu + lambda))^2) a round at least, to 0.",
        "It does with b 5% larger.",
        {"rate factor": 1.05},
    ),
)
"""The rows of the corrected theorems."""
