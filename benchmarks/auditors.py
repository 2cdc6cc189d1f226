"""dpcert's auditors against the peers': tightness, power, false alarms, calls, time.

One command, `make bench-auditors`; `--full` takes more calls and seeds, `--only planted,alarms` some of the tables. The
peers, and which of them need installing: auditor_peers.py. Every figure is a median, or a count over seeds; times are
CPU time, so compare ratios.
"""

from __future__ import annotations

import argparse
import math
import statistics
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from auditor_peers import Peer, installed
from planted import Planted, catalogue
from planted.additive import gaussian_sum, laplace_sum
from planted.exact import mechanisms
from planted.floating_point import textbook_laplace
from planted.sparse_vector import CROSSED, algorithm_4, algorithm_5, algorithm_6, halved
from rich.console import Console
from rich.table import Table

from dpcert.proofs_checks.auditing import ClaimedCurve, EProcess, approximate_dp, audit, gdp
from dpcert.proofs_checks.auditing.outputs import Outputs
from dpcert.proofs_checks.auditing.scores import LowBits
from dpcert.proofs_checks.auditing.simple_scores import Linear

PAIR = ([1.0], [])
GAUSSIAN = 4.3771780956
"""epsilon of mu = 1 at delta = 1e-5; the accountants certify these digits."""
ERROR = 0.05
Bound = Callable[[Any, int, int], float]
"""(mechanism, calls a side, seed) -> 95% lower bound on epsilon."""


def drawn(mechanism: Any, trials: int, seed: int, pair: tuple[Any, Any] = PAIR) -> tuple[np.ndarray, np.ndarray]:
    """Outputs on either side, as the peers want them."""
    rng = np.random.default_rng(seed)
    return mechanism(pair[0], rng, size=trials), mechanism(pair[1], rng, size=trials)


def ours(method: str, delta: float, assumes: str | None = None, **options: Any) -> Bound:
    def bound(mechanism: Any, trials: int, seed: int) -> float:
        result = audit(mechanism, PAIR, delta=delta, trials=trials, alpha=ERROR, method=method, seed=seed, **options)
        return max(b.value for b in result.bounds if b.quantity == "epsilon" and b.assumes == assumes)

    return bound


def theirs(peer: Peer, delta: float) -> Bound:
    def bound(mechanism: Any, trials: int, seed: int) -> float:
        value = peer.epsilon(*drawn(mechanism, trials, seed), ERROR, delta)
        assert value is not None
        return value

    return bound


def tightness(console: Console, sizes: Sequence[int], seeds: int, peers: Sequence[Peer]) -> None:
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
                **{peer.name: theirs(peer, 1e-5) for peer in peers},
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
                    **{peer.name: theirs(peer, 0.0) for peer in peers if not peer.model},
                },
            )
        )
    table = Table("mechanism", "auditor", *[f"n = {n:.0e}" for n in sizes], title="95% lower bound / true epsilon")
    for name, mechanism, truth, auditors in rows:
        for auditor, bound in auditors.items():
            values = []
            for n in sizes:
                count = seeds if n <= 100_000 else max(5, seeds // 3)
                values.append(statistics.median(bound(mechanism, n, seed) for seed in range(count)) / truth)
            table.add_row(name, auditor, *[f"{value:.3f}" for value in values])
            name = ""
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


def false_alarms(console: Console, runs: int, peers: Sequence[Peer]) -> None:
    ours_ = ["whole audit", "e-process"]
    table = Table("mechanism", *ours_, *[peer.name for peer in peers], title=(
        f"false alarms at nominal {ERROR}: something false reported, of {runs} runs of 120 calls a side"
    ))  # fmt: skip
    total = np.zeros(len(ours_), int)
    for case in mechanisms():
        claim = gdp(case.mu) if case.mu is not None else approximate_dp(case.epsilon, case.delta)
        counts = np.zeros(len(ours_) + len(peers), int)
        for run in range(runs):
            result = audit(case.mechanism, (0, 1), claim=claim, delta=case.delta, trials=120, alpha=ERROR, seed=run)
            rng = np.random.default_rng((1, run))
            sides = case.draw[0](rng, 120), case.draw[1](rng, 120)
            process = EProcess(claim, None, run)
            anytime = any(
                process.feed(*(Outputs(side[a:b, None]) for side in sides), stop_at=1 / ERROR)
                for a, b in ((0, 40), (40, 80), (80, 120))
            )
            above = [(peer.epsilon(*sides, ERROR, case.delta) or 0.0) > case.epsilon for peer in peers]
            false = result.refuted or result.epsilon_lower(case.delta) > case.epsilon
            counts += np.array([false, anytime, *above], int)
        total += counts[: len(ours_)]
        # The GDP bound claims something for Gaussian curves only, and for identical distributions.
        fair = "identical" in case.name or (case.mu is not None and case.delta < 0.2)
        meant = [True] * len(ours_) + [fair or not peer.model for peer in peers]
        table.add_row(case.name, *[f"{count}" if said else "-" for count, said in zip(counts, meant, strict=True)])
    table.add_row("all", *[f"{count} of {runs * len(mechanisms())}" for count in total], *["" for _ in peers])
    console.print(table)


def at_one_delta(claim: ClaimedCurve) -> tuple[float, float]:
    """What the peers can test of a claim: its epsilon at delta = 0, or else at the least delta from 1e-5 on."""
    lines = sorted(zip(claim.deltas, claim.epsilons, strict=True))
    delta, epsilon = next((line for line in lines if line[0] == 0.0 or line[0] >= 1e-5), lines[-1])
    return epsilon, delta


def accused_by(peer: Peer, case: Planted, seeds: int, twin: bool) -> str:
    """How often its bound exceeds the claim; "-" for outputs that it does not take."""
    mechanism, claim = (case.correct, case.twin_claim or case.claim) if twin else (case.broken, case.claim)
    epsilon, delta = at_one_delta(claim)
    count = 0
    for seed in range(seeds):
        value = peer.epsilon(*drawn(mechanism, case.trials, seed, case.pair), 0.01, delta)
        if value is None:
            return "-"
        count += value > epsilon
    return f"{count}"


def planted(console: Console, seeds: int) -> None:
    """How often a planted bug is caught, and its twin (which takes longer: a quarter of the seeds) accused."""
    few = max(3, seeds // 4)
    table = Table("planted bug", "calls a side", f"caught of {seeds}", f"twin accused of {few}", title="error .01")
    total = [0, 0]
    for case in catalogue():
        options = {"trials": case.trials, "method": case.method}
        twin_claim = case.twin_claim or case.claim
        caught = sum(audit(case.broken, case.pair, claim=case.claim, seed=s, **options).refuted for s in range(seeds))
        twins = sum(audit(case.correct, case.pair, claim=twin_claim, seed=s, **options).refuted for s in range(few))
        total = [total[0] + caught, total[1] + twins]
        table.add_row(case.name, f"{case.trials}", f"{caught}", f"{twins}")
    count = len(catalogue())
    table.add_row("all", "", f"{total[0]} of {seeds * count}", f"{total[1]} of {few * count}")
    console.print(table)


def planted_peers(console: Console, seeds: int, peers: Sequence[Peer]) -> None:
    """The same for the peers, which test one point of the claim: epsilon at delta = 0, or at the least above 1e-5."""
    fair = [peer for peer in peers if not peer.model]
    title = f"accused of {seeds} seeds at error .01: the planted bug / its correct twin; -: takes no such outputs"
    table = Table("planted bug", "calls a side", *[peer.name for peer in fair], title=title)
    for case in catalogue():
        cells = [" / ".join(accused_by(peer, case, seeds, twin) for twin in (False, True)) for peer in fair]
        table.add_row(case.name, f"{case.trials}", *cells)
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
    parser.add_argument("--full", action="store_true", help="n up to 1e6, more seeds (about two hours)")
    parser.add_argument("--only", default="", help="tightness,attacks,power,calls,alarms,planted,planted-peers,seconds")
    options = parser.parse_args()
    sizes, seeds = ((10**4, 10**5, 10**6), 31) if options.full else ((10**4, 10**5), 11)
    console, (peers, missing) = Console(width=150), installed()
    for name in missing:
        console.print(f"{name} is not installed: left out")
    parts: dict[str, Callable[[], None]] = {
        "tightness": lambda: tightness(console, sizes, seeds, peers),
        "attacks": lambda: attacks(console, sizes, seeds),
        "power": lambda: power(console, sizes, 2 * seeds),
        "calls": lambda: calls(console, seeds),
        "alarms": lambda: false_alarms(console, 2000 if options.full else 200, peers),
        "planted": lambda: planted(console, 100 if options.full else 10),
        "planted-peers": lambda: planted_peers(console, 20 if options.full else 3, peers),
        "seconds": lambda: seconds(console),
    }
    wanted = options.only.split(",") if options.only else list(parts)
    for name in wanted:
        parts[name]()


if __name__ == "__main__":
    main()
