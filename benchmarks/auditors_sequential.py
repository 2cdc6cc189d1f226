"""Calls until a sequential test refutes: dpcert's e-process on the mechanisms of two papers, beside what they report.

`python benchmarks/auditors_sequential.py [--seeds N]`, part of `make bench-auditors`. A mean of one number and of two,
with noise of scale 2/(n epsilon), n the number of entries: the neighbours' outputs differ in scale by two. Reported:
Gonzalez et al. 2025 (arXiv 2509.07055), Table 1, claim (epsilon, 1e-5), as the other reports it; Kutta et al. 2026
(arXiv 2602.06518, the manuscript in their repository), Table 1, claim of epsilon-GDP for the Gaussian and of a Laplace
curve for the other. Error .05 in all.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

import numpy as np
from rich.console import Console
from rich.table import Table

from dpcert.proofs_checks.auditing import ClaimedCurve, EProcess, approximate_dp, gdp
from dpcert.proofs_checks.auditing.outputs import Outputs

ERROR, CHUNK, MOST = 0.05, 10, 2000
Noise = Callable[[np.random.Generator, float, int], np.ndarray]

NOISES: dict[str, Noise] = {
    "Gaussian": lambda rng, scale, count: rng.normal(0.0, scale, count),
    "Laplace": lambda rng, scale, count: rng.laplace(0.0, scale, count),
}
REPORTED = {
    ("Gaussian", 0.01): ("264", "59"),
    ("Gaussian", 0.1): ("562", "68"),
    ("Laplace", 0.01): ("331", "86"),
    ("Laplace", 0.1): ("920", "114"),
}


def calls(noise: Noise, epsilon: float, claim: ClaimedCurve, seed: int) -> float:
    """Calls a side until the claim is refuted; infinite where MOST are not enough."""
    rng = np.random.default_rng(seed)
    process = EProcess(claim, None, seed)
    for _ in range(MOST // CHUNK):
        sides = noise(rng, 2 / epsilon, CHUNK), 0.5 + noise(rng, 1 / epsilon, CHUNK)
        if process.feed(*(Outputs(side[:, None]) for side in sides), stop_at=1 / ERROR):
            return process.trials_at_largest / 2
    return np.inf


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=30)
    seeds = parser.parse_args().seeds
    table = Table("noise, epsilon", "claim", "mean of ours (refuted)", "Gonzalez et al.", "Kutta et al.", title=(
        "mean calls a side until refuted, error .05"))  # fmt: skip
    for (name, epsilon), (first, second) in REPORTED.items():
        claims = {f"({epsilon:g}, 1e-5)-DP": (approximate_dp(epsilon, 1e-5), first, "")}
        if name == "Gaussian":
            claims[f"{epsilon:g}-GDP"] = (gdp(epsilon), "", second)
        else:
            claims[f"{epsilon:g}-DP"] = (approximate_dp(epsilon), "", second)
        for text, (claim, *reported) in claims.items():
            found = [calls(NOISES[name], epsilon, claim, seed) for seed in range(seeds)]
            cell = f"{np.mean(found):.0f} ({np.isfinite(found).mean():.2f})"
            table.add_row(f"{name}, {epsilon:g}", text, cell, *reported)
    Console(width=120).print(table)


if __name__ == "__main__":
    main()
