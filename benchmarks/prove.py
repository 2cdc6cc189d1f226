"""`dpcert prove` beside a prototype that only searched: CPU seconds of both in one process, and their ratio.

`PYTHONPATH=tests/oracles python benchmarks/prove.py [--prototype FILE]`. FILE has
prove(mechanism, epsilon, entries, kind) -> {"proved": ...}; without it the first column is all there is. Ours is the
whole command: induction, check, and the search for 2 entries, or for all sizes up to N where there is no induction; the
prototype's is the search for N alone, which the last column compares with ours alone. Each is the median of five runs.
"""

from __future__ import annotations

import argparse
import importlib.util
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from planted.provable import provable

from dpcert.proofs_checks.proving import prove
from dpcert.proofs_checks.proving.checker.pairs import Setting
from dpcert.proofs_checks.proving.search import search
from dpcert.proofs_checks.proving.solver import pairs

KINDS = {"answers": "answers", "replace-one": "replace", "add-remove": "remove"}
Mechanism = Callable[[Any, Any], Any]


def noisy_sum(dataset: Any, rng: Any) -> Any:
    return sum(dataset) + rng.laplace(0, 1)


def clipped_sum(dataset: Any, rng: Any) -> Any:
    return sum(min(max(x, 0), 1) for x in dataset) + rng.laplace(0, 1)


def partial_sums(dataset: Any, rng: Any) -> Any:
    total, out = 0, []
    for x in dataset:
        total = total + x
        out.append(total + rng.laplace(0, len(dataset)))
    return out


def histogram(dataset: Any, rng: Any) -> Any:
    above = sum(1 if x > 0.5 else 0 for x in dataset)
    return above + rng.laplace(0, 2), len(dataset) - above + rng.laplace(0, 2)


def by_loop(answers: Any, rng: Any) -> Any:
    best, where = answers[0] + rng.laplace(0, 2), 0
    for i in range(1, len(answers)):
        value = answers[i] + rng.laplace(0, 2)
        if value > best:
            best, where = value, i
    return where


def in_numpy(answers: Any, rng: Any) -> Any:
    return int(np.argmax(np.array([x + rng.laplace(0, 2) for x in answers])))


def exponential(answers: Any, rng: Any) -> Any:
    return int(np.argmax(np.array([x + rng.exponential(2) for x in answers])))


def gumbel(answers: Any, rng: Any) -> Any:
    return int(np.argmax(np.array([x + rng.gumbel(0, 2) for x in answers])))


def two_above(answers: Any, rng: Any) -> Any:
    threshold, out, above = rng.laplace(0, 4), [], 0
    for answer in answers:
        if answer + rng.laplace(0, 8) >= threshold:
            out.append(True)
            above += 1
            if above == 2:
                break
        else:
            out.append(False)
    return out


def one_above(answers: Any, rng: Any) -> Any:
    threshold, out = rng.laplace(0, 2), []
    for answer in answers:
        if answer + rng.laplace(0, 4) >= threshold:
            out.append(True)
            return out
        out.append(False)
    return out


def two_largest(answers: Any, rng: Any) -> Any:
    noisy = [x + rng.laplace(0, 4) for x in answers]
    first = max(range(len(noisy)), key=lambda i: noisy[i])
    return first, max((i for i in range(len(noisy)) if i != first), key=lambda i: noisy[i])


def cases() -> list[tuple[str, Mechanism, str, int]]:
    """The rows of the table in docs/prove.md: name, mechanism, relation, entries."""
    correct = {case.name: case.correct for case in provable()}
    return [
        ("noisy sum", noisy_sum, "replace-one", 3),
        ("clipped sum", clipped_sum, "replace-one", 4),
        ("partial sums", partial_sums, "replace-one", 3),
        ("histogram", histogram, "replace-one", 3),
        ("noisy max, a loop", by_loop, "answers", 4),
        ("noisy max in numpy", in_numpy, "answers", 4),
        ("exponential noisy max", exponential, "answers", 4),
        ("Gumbel noisy max", gumbel, "answers", 4),
        ("noisy max with gap", correct["noisy max with gap"], "answers", 3),
        ("the top two", two_largest, "answers", 4),
        ("sparse vector, one above", one_above, "answers", 4),
        ("sparse vector, two above", two_above, "answers", 4),
        ("sparse vector with gap", correct["sparse vector with gap"], "answers", 4),
        ("sparse vector, one above", one_above, "answers", 8),
        ("sparse vector, two above", two_above, "answers", 8),
        ("numeric sparse vector", correct["numeric sparse vector"], "answers", 8),
        ("adaptive sparse vector", correct["adaptive sparse vector"], "answers", 8),
        ("noisy max, a loop", correct["noisy max"], "answers", 8),
        ("noisy max in numpy", in_numpy, "answers", 8),
        ("noisy sum", noisy_sum, "replace-one", 8),
        ("partial sums", partial_sums, "replace-one", 8),
    ]


def spent(call: Callable[[], bool]) -> tuple[float, bool]:
    """CPU seconds, the median of five calls, and what the last one said."""
    seconds, said = [], False
    for _ in range(5):
        began = time.process_time()
        said = call()
        seconds.append(time.process_time() - began)
    return statistics.median(seconds), said


def searched(mechanism: Mechanism, relation: str, entries: int) -> bool:
    """The search for that many entries alone, unchecked: what the prototype does."""
    return not any(search(mechanism, pair, "array")[1] for pair in pairs(Setting(relation), entries, merging=True))


def beside(seconds: float, alone: float, call: Callable[[], bool]) -> list[str]:
    """The prototype's seconds, or what it cannot do, and the ratios."""
    try:
        theirs, said = spent(call)
    except Exception as problem:  # whatever it cannot run
        return [type(problem).__name__, "", ""]
    return [f"{theirs:.2f}" + ("" if said else " not proved"), f"{seconds / theirs:.1f}", f"{alone / theirs:.1f}"]


def loaded(path: Path) -> Callable[..., dict[str, Any]]:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module.prove  # type: ignore[no-any-return]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--prototype", type=Path)
    parser.add_argument("--only", default="", help="a part of the mechanisms' names")
    parser.add_argument("--least", type=int, default=1, help="N at least")
    parser.add_argument("--most", type=int, default=8, help="N at most")
    options = parser.parse_args()
    other = None if options.prototype is None else loaded(options.prototype)
    heads = "mechanism", "relation", "N", "proved for", "CPU s", "prototype", "ratio", "search of N alone"
    print("| " + " | ".join(heads) + " |\n" + "|---" * len(heads) + "|")
    for name, mechanism, relation, entries in cases():
        if options.only not in name or not options.least <= entries <= options.most:
            continue
        answers = []

        def ours(mechanism: Mechanism = mechanism, relation: str = relation, entries: int = entries) -> bool:
            answers.append(prove(mechanism, epsilon=1, relation=relation, entries=entries))  # noqa: B023
            return answers[-1].certificate is not None  # noqa: B023

        seconds, proved = spent(ours)
        far = "all N" if answers[-1].every_size else f"N <= {max(answers[-1].sizes, default=0)}"
        cells = ["", "", ""]
        if other is not None:
            alone, _ = spent(lambda: searched(mechanism, relation, entries))  # noqa: B023
            cells = beside(seconds, alone, lambda: bool(other(mechanism, 1, entries, KINDS[relation])["proved"]))  # noqa: B023
        row = name, relation, f"{entries}", far if proved else "not proved", f"{seconds:.2f}", *cells
        print("| " + " | ".join(row) + " |", flush=True)


if __name__ == "__main__":
    main()
