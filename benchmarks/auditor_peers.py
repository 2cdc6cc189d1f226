"""Other people's auditors, for benchmarks/auditors.py: each from outputs to a lower bound on epsilon.

Peers that are not installed are left out. Two are loaded without their packages' own imports, as the parts that are
compared need little more than numpy: jax-privacy's auditing module (its package needs jax), and the histogram tester
of dp_auditorium (its package needs tensorflow and vizier; it is not on the package index, but installs from the
folder python/dp_auditorium of github.com/google/differential-privacy with `pip install --no-deps`, and needs etils).
The DP-Sniper-style classifier is re-implemented here in its published form.
"""

from __future__ import annotations

import importlib
import importlib.util
import math
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpcert.proofs_checks.auditing import clopper_pearson

Floats = NDArray[np.float64]
LowerBound = Callable[[Floats, Floats, float, float], float]
"""(outputs on the dataset, on its neighbour, error, delta) -> lower bound on epsilon; trials come first."""


@dataclass(frozen=True)
class Peer:
    """scalar: it takes one finite number a trial. model: its bound is for Gaussian trade-off curves only."""

    name: str
    bound: LowerBound
    scalar: bool = True
    model: bool = False

    def epsilon(self, mine: Floats, other: Floats, error: float, delta: float) -> float | None:
        """Its bound (0 where it raises an exception, as jax-privacy's does at times); None for outputs not taken."""
        if self.scalar and (mine.ndim > 1 or not np.isfinite(mine.sum() + other.sum())):
            return None
        try:
            return self.bound(mine, other, error, delta)
        except (ValueError, ArithmeticError):
            return 0.0


def installed() -> tuple[list[Peer], list[str]]:
    """The peers that are here, and the names of those that are not."""
    found, missing = [Peer("DP-Sniper-style", sniper, scalar=False)], []
    auditing, histogram = jax_privacy_auditing(), _dp_auditorium()
    if auditing is None:
        missing.append("jax-privacy")
    else:
        found += _jax_privacy_bounds(auditing)
    if histogram is None:
        missing.append("dp_auditorium")
    else:
        found.append(Peer("dp_auditorium histogram", _histogram_bound(*histogram)))
    return found, missing


def sniper(mine: Floats, other: Floats, error: float, delta: float) -> float:
    """Bichsel et al. 2021 (IEEE S&P): a classifier on half of the calls, its top c = .01 of the neighbour's outputs
    as the event, Clopper-Pearson on the other half (both ends at half of the error)."""
    from sklearn.linear_model import LogisticRegression

    rows = [np.nan_to_num(side.reshape(len(side), -1), nan=-1e3, posinf=1e6, neginf=-1e6) for side in (mine, other)]
    half = min(len(mine), len(other)) // 2
    model = LogisticRegression(max_iter=300)
    model.fit(np.concatenate([rows[0][:half], rows[1][:half]]), np.repeat([1, 0], half))
    score = model.decision_function
    threshold = np.quantile(score(rows[1][:half]), 0.99)
    hits = [int((score(side[half:]) >= threshold).sum()) for side in rows]
    p = float(clopper_pearson.lower(hits[0], len(mine) - half, error / 2))
    q = float(clopper_pearson.upper(hits[1], len(other) - half, error / 2))
    return max(0.0, math.log(max(p - delta, 1e-300) / q))


def _jax_privacy_bounds(auditing: ModuleType) -> list[Peer]:
    def bonferroni(mine: Floats, other: Floats, error: float, delta: float) -> float:
        return float(auditing.CanaryScoreAuditor(mine, other).epsilon_clopper_pearson(error, delta))

    def model(mine: Floats, other: Floats, error: float, delta: float) -> float:
        return float(auditing.CanaryScoreAuditor(mine, other).epsilon_from_gdp(error, max(delta, 1e-5)))

    return [Peer("jax-privacy CP", bonferroni), Peer("jax-privacy GDP", model, model=True)]


def _histogram_bound(tester: ModuleType, settings: ModuleType, properties: ModuleType) -> LowerBound:
    def bound(mine: Floats, other: Floats, error: float, delta: float) -> float:
        """The largest epsilon that its test at (epsilon, delta) rejects, in 20 bins over what was seen."""
        ends = float(min(mine.min(), other.min())), float(max(mine.max(), other.max()))

        def rejected(epsilon: float) -> bool:
            claimed = properties.ApproximateDp(epsilon=epsilon, delta=delta)
            config = settings.HistogramPropertyTesterConfig(False, 20, ends[0], ends[1] + 1e-9, claimed)
            test = tester.HistogramTester(config)
            return bool(test.reject_property(test.estimate_lower_bound(mine, other, error)))

        low, high = 0.0, 20.0
        if not rejected(1e-9):
            return 0.0
        for _ in range(14):
            middle = (low + high) / 2
            low, high = (middle, high) if rejected(middle) else (low, middle)
        return low

    return bound


def jax_privacy_auditing() -> ModuleType | None:
    where = _folder("jax_privacy")
    if where is None:
        return None
    inner = importlib.util.spec_from_file_location("jax_privacy_auditing", where / "auditing.py")
    if inner is None or inner.loader is None:
        return None
    module = importlib.util.module_from_spec(inner)
    sys.modules[inner.name] = module
    inner.loader.exec_module(module)
    return module


def _dp_auditorium() -> tuple[ModuleType, ModuleType, ModuleType] | None:
    where = _folder("dp_auditorium")
    if where is None or importlib.util.find_spec("etils") is None:
        return None
    for package in ("dp_auditorium", "dp_auditorium.testers", "dp_auditorium.configs"):
        bare: Any = ModuleType(package)
        bare.__path__ = [str(where.joinpath(*package.split(".")[1:]))]
        sys.modules[package] = bare
    names = "testers.histogram_tester", "configs.property_tester_config", "configs.privacy_property"
    first, second, third = (importlib.import_module(f"dp_auditorium.{name}") for name in names)
    return first, second, third


def _folder(package: str) -> Path | None:
    spec = importlib.util.find_spec(package)
    return Path(spec.submodule_search_locations[0]) if spec is not None and spec.submodule_search_locations else None
