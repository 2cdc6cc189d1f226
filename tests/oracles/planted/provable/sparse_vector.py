"""Sparse vector techniques: which answers are above a threshold, as long as few are. epsilon = 1, sensitivity 1.

Numbers are those of Lyu, Su, Li 2017 (PVLDB 10(6), Figure 1; arXiv 1603.01699). Threshold 0.
"""

from __future__ import annotations

from typing import Any

from dpcert.proofs_checks.papers.svt.variants import numeric, sparse_vector

from .case import Mechanism, Provable

ANSWERS = {"relation": "answers"}


def gap(threshold: float, query: float) -> Mechanism:
    """Releases by how much the first answer is above (Wang, Ding, Wang, Zhang, Kifer 2019, arXiv 1903.12254)."""

    def mechanism(data: Any, rng: Any) -> list[Any]:
        bound, out = rng.laplace(0, threshold), []
        for answer in data:
            noisy = answer + (rng.laplace(0, query) if query else 0)
            if noisy >= bound:
                out.append(noisy - bound)
                break
            out.append(False)
        return out

    return mechanism


def adaptive(charge_far: float) -> Mechanism:
    """Answers far above are found with more noise at half the price (Ding and others 2019, arXiv 1904.12773)."""

    def mechanism(data: Any, rng: Any) -> list[str]:
        bound, left, out = rng.laplace(0, 2), 0.5, []
        for answer in data:
            far = answer + rng.laplace(0, 8) - bound
            near = answer + rng.laplace(0, 4) - bound
            if far >= 3:
                out.append("far")
                left -= charge_far
            elif near >= 0:
                out.append("near")
                left -= 0.5
            else:
                out.append("below")
            if left < 0.5:
                break
        return out

    return mechanism


CASES = (
    Provable("sparse vector 3", numeric(2, 2, None), numeric(4, 8, 2), entries=6, options=ANSWERS),
    Provable("sparse vector 4", sparse_vector(4, 4 / 3, 2), sparse_vector(4, 6, 2), entries=6, options=ANSWERS),
    Provable("sparse vector 5", sparse_vector(2, 0, None), sparse_vector(2, 4, 1), options=ANSWERS),
    Provable("sparse vector 6", sparse_vector(2, 2, None), sparse_vector(2, 8, 2), entries=4, options=ANSWERS),
    Provable(
        "threshold drawn again",
        sparse_vector(2, 4, 2, anew=2),
        sparse_vector(4, 8, 2, anew=4),
        entries=5,
        options=ANSWERS,
    ),
    Provable("no noise on the threshold", sparse_vector(1e-9, 2, 1), sparse_vector(2, 4, 1), options=ANSWERS),
    Provable("numeric sparse vector", numeric(4, 8, 1), numeric(4, 8, 2), entries=4, options=ANSWERS),
    Provable("gap without query noise", gap(2, 0), gap(2, 4), options=ANSWERS),
    Provable("sparse vector with gap", gap(2, 1), gap(2, 4), entries=4, options=ANSWERS),
    Provable("adaptive sparse vector", adaptive(0.0), adaptive(0.5), entries=4, options=ANSWERS),
)
