"""docs/tightness.md: how near the two ends are, for every kind of mechanism, as `dpcert verify` finds them.

python tightness_table.py writes it anew.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from dpcert.proofs_checks import verify
from dpcert.proofs_checks.claims.claim import parse_claim

DOCS = Path(__file__).parents[2] / "docs/tightness.md"
DELTAS = (1e-5, 1e-2)
"""The first is shown; at both the ends have to meet, as near the largest loss they are always close."""

TIGHT = 1e-5
"""Relative widths that count as attained: ten times what is asked for, as atoms of the loss widen a little."""

ROUNDS = (1, 10)
RESPONSE = {"kind": "randomized-response", "flip_probability": 0.25, "categories": 2}
LOSSES = [[math.log(3), 0.75], [-math.log(3), 0.25]]
EXAMPLES: dict[str, dict[str, Any]] = {
    "gaussian": {"noise_multiplier": 4.0},
    "gaussian-mean": {"noise_std": 0.4, "clip_norm": 1.0},
    "per-client-gaussian": {"noise_std": 0.4, "clip_norm": 1.0},
    "laplace": {"noise_multiplier": 2.0},
    "discrete-gaussian": {"sigma": 4.0, "clip": 1},
    "discrete-laplace": {"scale": 2.0, "clip": 1},
    "skellam": {"variance": 16.0, "clip": 1, "dimension": 1},
    "distributed-discrete-gaussian": {"sigma": 2.0, "clients": 10, "clip": 1, "dimension": 1},
    "tree-aggregation": {"noise_multiplier": 4.0},
    "matrix-factorisation": {"noise_multiplier": 4.0, "coefficients": [1.0]},
    "staircase": {"epsilon": 1.0, "gamma": 0.3},
    "randomized-response": {"flip_probability": 0.3, "categories": 4},
    "unary-encoding": {"keep": 0.6, "false": 0.3},
    "hadamard-response": {"epsilon": 1.0},
    "local-hash": {"epsilon": 1.0, "buckets": 4},
    "piecewise": {"epsilon": 1.0},
    "duchi": {"epsilon": 1.0},
    "truncated-laplace": {"noise_multiplier": 1.0, "bound": 14.0},
    "stable-histogram": {"noise": "laplace", "noise_multiplier": 1.0, "threshold": 20.0},
    "exponential-mechanism": {"epsilon": 1.0},
    "permute-and-flip": {"epsilon": 1.0},
    "noisy-max": {"epsilon": 1.0, "noise": "laplace"},
    "sparse-vector": {"threshold_scale": 2.0, "query_scale": 4.0},
    "bounded-laplace": {"scale": 2.0, "width": 4.0},
    "clamped-gaussian": {"sigma": 4.0, "width": 4.0},
    "truncated-gaussian": {"sigma": 4.0, "width": 4.0},
    "shuffled-reports": {"reports": 1000, "report": RESPONSE},
    "best-of-several": {"run": {"mechanism": {"kind": "laplace", "noise_multiplier": 4.0}}, "gamma": 0.25},
    "zcdp": {"rho": 0.03},
    "renyi-dp": {"points": [[8, 0.24], [32, 0.96]]},
    "loss-distribution": {"losses": LOSSES, "optimistic": LOSSES},
    "pure-dp": {"epsilon": 1.0},
    "approximate-dp": {"epsilon": 1.0, "delta": 1e-8},
}
REPORTS = {"randomized-response", "unary-encoding", "hadamard-response", "local-hash", "piecewise", "duchi"}

_WORST = "the worst neighbours depend on epsilon: exact in one release, an envelope of them in several"
WHY = {
    "skellam": "a Renyi bound: no pair of neighbours is known in every dimension",
    "distributed-discrete-gaussian": "a Renyi bound of the sum of shares",
    "local-hash": "which values share a bucket is the hash family's matter: told apart always, or as seldom as may be",
    "exponential-mechanism": f"{_WORST} (theory/selection.md)",
    "permute-and-flip": "no neighbours are known that show more than one event a release (theory/selection.md)",
    "noisy-max": "no tight pair is known: tied candidates below, a bound on the density above (theory/selection.md)",
    "sparse-vector": 'events below, Laplace noise above (theory/selection.md, "Sparse vector")',
    "bounded-laplace": f"{_WORST} (theory/public_ranges.md)",
    "clamped-gaussian": f"{_WORST} (theory/public_ranges.md)",
    "truncated-gaussian": f"{_WORST} (theory/public_ranges.md)",
    "shuffled-reports": "clones above, counts on one side of two values below (theory/shuffle_model.md)",
    "best-of-several": "a Renyi bound above, one run below (theory/selection.md)",
    "zcdp": "stated: a bound, not a mechanism",
    "renyi-dp": "stated: a bound, not a mechanism",
    "pure-dp": "stated: a bound, not a mechanism",
    "approximate-dp": "stated: a bound, not a mechanism",
}


def interval(kind: str, rounds: int, delta: float) -> tuple[float, float]:
    """Of the claim's run, as verify finds it."""
    claim = {
        "title": kind,
        "neighbouring": "replace-one" if kind in REPORTS or kind == "shuffled-reports" else "zero-out",
        "epsilon": 1.0,
        "delta": delta,
    }
    tables: dict[str, Any] = {"claim": claim, "mechanism": {"kind": kind} | EXAMPLES[kind]}
    if kind in ("gaussian-mean", "per-client-gaussian"):
        tables["sampling"] = {"scheme": "none", "population": 10}
    found = verify(parse_claim(tables | {"composition": {"rounds": rounds}})).certified
    return found.lower, found.upper


def status(ends: list[list[tuple[float, float]]]) -> str:
    """attained, one round, bracket, or from above only; ends: for one round and for ten, at every delta."""
    if all(low == 0.0 for each in ends for low, _ in each):
        return "from above only"
    near = [all(high - low <= TIGHT * high < math.inf for low, high in each) for each in ends]
    return "attained" if all(near) else "one round" if near[0] else "bracket"


def row(kind: str) -> str:
    """One line of the table."""
    ends = [[interval(kind, rounds, delta) for delta in DELTAS] for rounds in ROUNDS]
    shown = [f"[{low:.6g}, {high:.6g}]" for (low, high), *_ in ends]
    return f"| `{kind}` | {status(ends)} | {' | '.join(shown)} | {WHY.get(kind, '')} |"


def document() -> str:
    """The page."""
    return "\n".join([HEAD, *map(row, EXAMPLES), ""])


HEAD = """# How near the two ends are

dpcert answers with an interval that contains the true epsilon. This page shows how wide the interval is for one
example of each kind of mechanism: for one round and for ten, if everybody takes part, one unit is zeroed out (in
local reports: replaced) and delta = 1e-5.

The status says what is known:

- *attained*: exact. Two neighbouring data sets are known that need as much as the upper end, in one round and in ten
  (relative width at most 1e-5, at delta = 1e-5 and at .01).
- *one round*: exact for one release. For several releases the two ends differ.
- *bracket*: the two ends differ.
- *from above only*: nothing is known from below. A claim about such a mechanism can hold, and is never refuted.

With sampling, see [every combination](combinations.md): its letters say where both ends are exact. This page is
written by `tests/oracles/tightness_table.py`; `test_tightness.py` fails if the product answers otherwise.

| mechanism | status | one round | ten rounds | why not exact |
|---|---|---|---|---|"""

if __name__ == "__main__":
    DOCS.write_text(document(), encoding="utf-8")
