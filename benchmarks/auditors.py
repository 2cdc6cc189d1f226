"""dpcert's auditors against the peers': tightness, power, false alarms, calls, time.

One command, `make bench-auditors`. Peers that are not installed are left out and named: jax-privacy's auditing
module (numpy only) comes with benchmarks/requirements.txt; dp_auditorium is not on the package index; the
DP-Sniper-style classifier is re-implemented here in its published form. Every figure is a median or a rate over
seeds; times are wall clock, so compare ratios.
"""

from __future__ import annotations

import argparse
import importlib.util
import math
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table
from scipy.optimize import brentq

from dpcert.proofs_checks.auditing import EProcess, approximate_dp, audit, clopper_pearson, gdp
from dpcert.proofs_checks.auditing.outputs import Outputs
from dpcert.proofs_checks.auditing.scores import Linear, LowBits
from dpcert.proofs_checks.planted import catalogue
from dpcert.proofs_checks.planted.additive import gaussian_sum, laplace_sum
from dpcert.proofs_checks.planted.exact import mechanisms
from dpcert.proofs_checks.planted.floating_point import textbook_laplace
from dpcert.proofs_checks.planted.sparse_vector import CROSSED, algorithm_4, algorithm_5, algorithm_6, halved

PAIR = ([1.0], [])
GAUSSIAN = 4.3771780956
"""epsilon of mu = 1 at delta = 1e-5; the accountants certify these digits."""
ERROR = 0.05
Bound = Callable[[Any, int, int], float]
"""(mechanism, calls a side, seed) -> 95% lower bound on epsilon."""


def jax_privacy() -> ModuleType | None:
    """The peer's auditing module, without importing its package (which needs jax)."""
    spec = importlib.util.find_spec("jax_privacy")
    if spec is None or not spec.submodule_search_locations:
        return None
    file = Path(spec.submodule_search_locations[0]) / "auditing.py"
    inner = importlib.util.spec_from_file_location("jax_privacy_auditing", file)
    if inner is None or inner.loader is None:
        return None
    module = importlib.util.module_from_spec(inner)
    sys.modules[inner.name] = module
    inner.loader.exec_module(module)
    return module


def drawn(mechanism: Any, trials: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Outputs on either side, as the peers want them."""
    rng = np.random.default_rng(seed)
    return mechanism(PAIR[0], rng, size=trials), mechanism(PAIR[1], rng, size=trials)


def ours(method: str, delta: float, assumes: str | None = None, **options: Any) -> Bound:
    def bound(mechanism: Any, trials: int, seed: int) -> float:
        result = audit(mechanism, PAIR, delta=delta, trials=trials, alpha=ERROR, method=method, seed=seed, **options)
        return max(b.value for b in result.bounds if b.quantity == "epsilon" and b.assumes == assumes)

    return bound


def jax_bonferroni(peer: ModuleType, delta: float) -> Bound:
    def bound(mechanism: Any, trials: int, seed: int) -> float:
        return float(peer.CanaryScoreAuditor(*drawn(mechanism, trials, seed)).epsilon_clopper_pearson(ERROR, delta))

    return bound


def jax_gdp(peer: ModuleType, delta: float) -> Bound:
    def bound(mechanism: Any, trials: int, seed: int) -> float:
        return float(peer.CanaryScoreAuditor(*drawn(mechanism, trials, seed)).epsilon_from_gdp(ERROR, delta))

    return bound


def sniper(delta: float) -> Bound:
    """Bichsel et al. 2021: a classifier on half of the calls, its top c = .01 of the neighbour's outputs as the
    event, Clopper-Pearson on the other half (both ends at ERROR / 2)."""

    def bound(mechanism: Any, trials: int, seed: int) -> float:
        from sklearn.linear_model import LogisticRegression

        mine, other = drawn(mechanism, trials, seed)
        half = trials // 2
        x = np.concatenate([mine[:half], other[:half]])[:, None]
        model = LogisticRegression().fit(x, np.repeat([1, 0], half))
        score = model.decision_function
        threshold = np.quantile(score(other[:half, None]), 0.99)
        hits = [int((score(side[half:, None]) >= threshold).sum()) for side in (mine, other)]
        left = trials - half
        p = float(clopper_pearson.lower(hits[0], left, ERROR / 2))
        q = float(clopper_pearson.upper(hits[1], left, ERROR / 2))
        return max(0.0, math.log(max(p - delta, 1e-300) / q))

    return bound


def gaussian_limit(trials: int) -> float:
    """No 95% bound from outputs alone can have a larger median (up to the skewness of a log likelihood ratio):
    where the least favourable (epsilon, 0)-DP pair is 1.645 deviations away from the Gaussian pair."""
    s = np.linspace(-14, 15, 400_001)
    p, q = (np.exp(-((s - shift) ** 2) / 2) / math.sqrt(2 * math.pi) for shift in (1.0, 0.0))

    def excess(epsilon: float) -> float:
        near_p, near_q = (p + q) * math.exp(epsilon) / (1 + math.exp(epsilon)), (p + q) / (1 + math.exp(epsilon))
        density = p * np.log(p / near_p) + q * np.log(q / near_q) + near_p - p + near_q - q
        return 2 * trials * float(np.trapezoid(np.where(s - 0.5 > epsilon, density, 0.0), s)) - 1.645**2 / 2

    return float(brentq(excess, 0.5, 8.0))


def tightness(console: Console, sizes: Sequence[int], seeds: int, peer: ModuleType | None) -> None:
    loss = {"loss": lambda rows: rows[:, 0] - 0.5}
    rows: list[tuple[str, Any, float, dict[str, Bound]]] = [
        (
            "Gaussian mu = 1, delta = 1e-5",
            gaussian_sum(1.0),
            GAUSSIAN,
            {
                "event": ours("event", 1e-5),
                "band (all epsilon, delta)": ours("band", 1e-5),
                "if Gaussian": ours("mu", 1e-5, "gaussian"),
                "if densities are known": ours("likelihood", 1e-5, "densities", claim=gdp(1.0), **loss),
                "DP-Sniper-style": sniper(1e-5),
            },
        )
    ]
    for name, scale in (("Laplace", 1.0), ("half-noise Laplace", 0.5)):
        rows.append(
            (
                name,
                laplace_sum(scale),
                1 / scale,
                {
                    "event": ours("event", 0.0),
                    "band (all epsilon, delta)": ours("band", 0.0),
                    "DP-Sniper-style": sniper(0.0),
                },
            )
        )
    if peer is not None:
        rows[0][3]["jax-privacy Clopper-Pearson"] = jax_bonferroni(peer, 1e-5)
        rows[0][3]["jax-privacy GDP"] = jax_gdp(peer, 1e-5)
        for row in rows[1:]:
            row[3]["jax-privacy Clopper-Pearson"] = jax_bonferroni(peer, 0.0)
    table = Table("mechanism", "auditor", *[f"n = {n:.0e}" for n in sizes], title="95% lower bound / true epsilon")
    for name, mechanism, truth, auditors in rows:
        for auditor, bound in auditors.items():
            values = []
            for n in sizes:
                count = seeds if n <= 100_000 else max(5, seeds // 3)
                values.append(statistics.median(bound(mechanism, n, seed) for seed in range(count)) / truth)
            table.add_row(name, auditor, *[f"{value:.3f}" for value in values])
            name = ""
        if truth == GAUSSIAN:
            table.add_row("", "limit of what outputs can show", *[f"{gaussian_limit(n) / truth:.3f}" for n in sizes])
    console.print(table)


def attacks(console: Console, sizes: Sequence[int], seeds: int) -> None:
    wide = np.full(100, 0.1)

    def hundred(dataset: Sequence[float], rng: np.random.Generator, size: int) -> np.ndarray:
        return sum(dataset) * wide + rng.normal(size=(size, 100))

    long = [0.0] * 12 + [1.0] * 12, [1.0] * 12 + [0.0] * 12
    rows = [
        ("textbook Laplace, low bits (infinite)", textbook_laplace, ([1.0], [0.0]), 0.0, [LowBits()]),
        ("sparse vector 1, half noise", halved(1.0, 1), CROSSED, 0.0, None),
        ("sparse vector 4, c = 3 (4.2)", algorithm_4(1.0, 3), CROSSED, 0.0, None),
        ("sparse vector 5 (infinite)", algorithm_5(1.0), CROSSED, 0.0, None),
        ("sparse vector 6, 10 queries (4.03)", algorithm_6(1.0), CROSSED, 0.0, [Linear()]),
        ("sparse vector 6, 24 queries", algorithm_6(1.0), long, 0.0, [Linear()]),
        ("Gaussian in 100 dimensions, mu = 1", hundred, PAIR, 1e-5, [Linear()]),
    ]
    table = Table("mechanism", *[f"n = {n:.0e}" for n in sizes], title="95% lower bound on epsilon, event method")
    for name, mechanism, pair, delta, scores in rows:
        cells = []
        for n in sizes:
            if "100" in name and n > 100_000:
                cells.append("-")
                continue
            found = [
                audit(mechanism, pair, delta=delta, trials=n, alpha=ERROR, method="event", seed=seed, scores=scores)
                for seed in range(max(3, seeds // 4))
            ]
            cells.append(f"{statistics.median(result.bounds[0].value for result in found):.2f}")
        table.add_row(name, *cells)
    console.print(table)


def power(console: Console, sizes: Sequence[int], seeds: int) -> None:
    table = Table("sigma / claimed", *[f"n = {n:.0e}" for n in sizes], title="rate of refuting mu = 1, error .05")
    for ratio in (1.0, 0.995, 0.99, 0.98, 0.95, 0.9):
        cells = []
        for n in sizes:
            count = seeds if n <= 100_000 else max(5, seeds // 2)
            refuted = [
                audit(gaussian_sum(ratio), PAIR, claim=gdp(1.0), trials=n, alpha=ERROR, seed=seed).refuted
                for seed in range(count)
            ]
            cells.append(f"{np.mean(refuted):.2f}")
        table.add_row(f"{ratio:g}", *cells)
    console.print(table)


def calls(console: Console, seeds: int) -> None:
    table = Table("mechanism and claim", "median", "90%", "refuted", title="calls until refuted, e-process, error .001")
    rows = [
        ("Laplace, half noise, epsilon = 1", laplace_sum(0.5), approximate_dp(1.0)),
        ("Gaussian, half noise, mu = 1", gaussian_sum(0.5), gdp(1.0)),
        ("Gaussian, 10% low, mu = 1", gaussian_sum(0.9), gdp(1.0)),
        ("Laplace, correct, epsilon = 1", laplace_sum(1.0), approximate_dp(1.0)),
        ("Gaussian, correct, mu = 1", gaussian_sum(1.0), gdp(1.0)),
    ]
    for name, mechanism, claim in rows:
        results = [
            audit(mechanism, PAIR, claim=claim, trials=60_000, alpha=0.001, method="eprocess", seed=seed)
            for seed in range(seeds)
        ]
        needed = [result.tests[0].trials if result.refuted else math.inf for result in results]
        middle, late = np.quantile(needed, 0.5, method="higher"), np.quantile(needed, 0.9, method="higher")
        table.add_row(name, f"{middle:g}", f"{late:g}", f"{np.mean(np.isfinite(needed)):.2f}")
    console.print(table)


def false_alarms(console: Console, runs: int, peer: ModuleType | None) -> None:
    table = Table(
        "mechanism", "audit, all methods", "e-process", "jax-privacy CP", "jax-privacy GDP",
        title=f"false alarms at nominal {ERROR}, {runs} runs of 120 calls a side",
    )  # fmt: skip
    for case in mechanisms():
        claim = gdp(case.mu) if case.mu is not None else approximate_dp(case.epsilon, case.delta)
        whole = anytime = peer_cp = peer_gdp = 0
        for run in range(runs):
            result = audit(case.mechanism, (0, 1), claim=claim, delta=case.delta, trials=120, alpha=ERROR, seed=run)
            whole += result.refuted or result.epsilon_lower(case.delta) > case.epsilon
            rng = np.random.default_rng((1, run))
            sides = case.draw[0](rng, 120), case.draw[1](rng, 120)
            process = EProcess(claim, None, run)
            anytime += any(
                process.feed(*(Outputs(side[a:b, None]) for side in sides), stop_at=1 / ERROR)
                for a, b in ((0, 40), (40, 80), (80, 120))
            )
            if peer is not None:
                auditor = peer.CanaryScoreAuditor(*sides)
                peer_cp += auditor.epsilon_clopper_pearson(ERROR, case.delta) > case.epsilon
                peer_gdp += auditor.epsilon_from_gdp(ERROR, max(case.delta, 1e-5)) > case.epsilon
        rates = [f"{whole / runs:.3f}", f"{anytime / runs:.3f}"]
        # The GDP bound claims something for Gaussian curves only, and for identical distributions.
        fair = "identical" in case.name or (case.mu is not None and case.delta < 0.2)
        rates += [f"{peer_cp / runs:.3f}" if peer else "-", f"{peer_gdp / runs:.3f}" if peer and fair else "-"]
        table.add_row(case.name, *rates)
    console.print(table)


def planted(console: Console, seeds: int) -> None:
    table = Table(
        "planted bug", "calls a side", "caught", "twin accused", title=f"planted bugs, error .01, {seeds} seeds"
    )
    for case in catalogue():
        options = {"trials": case.trials, "method": case.method}
        caught = [audit(case.broken, case.pair, claim=case.claim, seed=s, **options).refuted for s in range(seeds)]
        twins = [
            audit(case.correct, case.pair, claim=case.twin_claim or case.claim, seed=s, **options).refuted
            for s in range(seeds)
        ]
        table.add_row(case.name, f"{case.trials}", f"{np.mean(caught):.2f}", f"{np.mean(twins):.2f}")
    console.print(table)


def seconds(console: Console) -> None:
    table = Table("mechanism", "sampling", "audit", "ratio", title="10^6 calls a side: CPU seconds, best of 3")
    for name, mechanism, claim in (
        ("Laplace", laplace_sum(1.0), approximate_dp(1.0)),
        ("Gaussian", gaussian_sum(1.0), gdp(1.0)),
    ):
        alone, whole = [], []
        for seed in range(3):
            started = time.process_time()
            drawn(mechanism, 10**6, seed)
            alone.append(time.process_time() - started)
            started = time.process_time()
            audit(mechanism, PAIR, claim=claim, delta=1e-5, trials=10**6, seed=seed)
            whole.append(time.process_time() - started)
        table.add_row(name, f"{min(alone):.3f}", f"{min(whole):.3f}", f"{min(whole) / min(alone):.1f}")
    console.print(table)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--full", action="store_true", help="n up to 1e6, more seeds (about half an hour)")
    parser.add_argument("--only", default="", help="tightness,attacks,power,calls,alarms,planted,seconds")
    options = parser.parse_args()
    sizes, seeds = ((10**4, 10**5, 10**6), 31) if options.full else ((10**4, 10**5), 11)
    console, peer = Console(width=130), jax_privacy()
    if peer is None:
        console.print("jax-privacy is not installed: left out")
    console.print("dp_auditorium is not on the package index: left out")
    parts: dict[str, Callable[[], None]] = {
        "tightness": lambda: tightness(console, sizes, seeds, peer),
        "attacks": lambda: attacks(console, sizes, seeds),
        "power": lambda: power(console, sizes, 2 * seeds),
        "calls": lambda: calls(console, seeds),
        "alarms": lambda: false_alarms(console, 1000 if options.full else 100, peer),
        "planted": lambda: planted(console, 50 if options.full else 5),
        "seconds": lambda: seconds(console),
    }
    wanted = options.only.split(",") if options.only else list(parts)
    for name in wanted:
        parts[name]()


if __name__ == "__main__":
    main()
