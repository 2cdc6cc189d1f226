"""Mechanisms with finitely many outcomes: every output's exact probability, and P <= e^epsilon Q + delta.

The function is followed on known data; each way through it is a fall of its coins and dice, or an interval of a uniform
number. Each way is compared with the function itself, run on the very same falls.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

from .check import Checked
from .farkas import Prover
from .forms import Point, Sign
from .language.arrays import of_cells
from .language.calls import called
from .language.globals import admitted
from .language.values import Generator
from .outputs import key_of
from .pairs import Data
from .real.runs import Real, same_output
from .refusals import Refused
from .rounding import exponential_down
from .runs import Leaf, explored, leaves
from .tracer import Tracer

FORMAT, FORMER = "dpcert enumeration 2", "dpcert enumeration 1"
MOST = 1024
"""Ways of one dataset that are run on real numbers."""
Law = Mapping[str, Fraction]


def law(function: Real, dataset: Sequence[float]) -> Law:
    """Every output's exact probability, as JSON text. Raises Refused."""
    cells = [float(value) if isinstance(value, float) else int(value) for value in dataset]

    def run(tracer: Tracer) -> tuple[str, list[Any]]:
        held: Any = list(cells) if function.container == "list" else of_cells(cells)
        return key_of(called(admitted(function.function, "the mechanism"), [held, Generator()], {}))

    found: dict[str, Fraction] = defaultdict(Fraction)
    for number, leaf in enumerate(leaves(explored(run, Data(False), Prover(), coins=False))):
        if leaf.reals:
            raise Refused("an output with numbers that are not finitely many")
        chance, point = _chance(leaf)
        found[leaf.key] += chance
        if chance and number < MOST:
            same_output(function, cells, leaf, point)
    if sum(found.values()) != 1:
        raise Refused("probabilities that do not sum to 1")
    return dict(found)


def _chance(leaf: Leaf) -> tuple[Fraction, Point]:
    """The probability of a way, and a point of it. Raises Refused."""
    chance, point = Fraction(1), Point()
    for k, (kind, parameter) in enumerate(leaf.draws):
        name = f"n{k}"
        tests = [test for test in leaf.tests if name in test.form.slopes]
        if kind not in ("coin", "die", "uniform") or any(test.form.slopes.keys() != {name} for test in tests):
            raise Refused(f"{kind} noise, or numbers that are compared with each other, among finitely many outcomes")
        low, high = _interval(tests, name)
        if kind == "uniform":
            chance *= max(high - low, Fraction(0))
            point[name] = (low + high) / 2
            continue
        point[name] = low
        if kind == "die":
            chance /= int(parameter)
        else:
            chance *= Fraction(parameter) if low == 1 else 1 - Fraction(parameter)
    return chance, point


def _interval(tests: Sequence[Sign], name: str) -> tuple[Fraction, Fraction]:
    """Between which ends the tests hold."""
    ends = [(-test.form.at_zero / test.form.slopes[name], test.form.slopes[name] > 0) for test in tests]
    return max(end for end, below in ends if below), min(end for end, below in ends if not below)


def neighbours(values: Sequence[float], entries: int, relation: str) -> Iterator[tuple[tuple[float, ...], ...]]:
    """All pairs of neighbours with that many entries (add-remove: the larger one), in both orders. Raises Refused."""
    if relation not in ("replace-one", "add-remove"):
        raise Refused(f"unknown relation {relation!r}")
    for dataset in itertools.product(values, repeat=entries):
        for i in range(entries):
            if relation == "add-remove":
                yield dataset, dataset[:i] + dataset[i + 1 :]
                yield dataset[:i] + dataset[i + 1 :], dataset
            else:
                yield from ((dataset, (*dataset[:i], v, *dataset[i + 1 :])) for v in values if v != dataset[i])


def laws(
    function: Real, values: Sequence[float], entries: int, relation: str
) -> Iterator[tuple[tuple[float, ...], tuple[float, ...], Law, Law]]:
    """All neighbours, with their laws. Raises Refused."""
    known: dict[tuple[float, ...], Law] = {}
    for here, there in neighbours(values, entries, relation):
        for dataset in (here, there):
            if dataset not in known:
                known[dataset] = law(function, dataset)
        yield here, there, known[here], known[there]


def check_enumeration(document: Mapping[str, Any], function: Callable[..., Any]) -> Checked:
    """Whether the function is epsilon-DP for all datasets of the stated values and sizes."""
    try:
        if document.get("format") not in (FORMAT, FORMER):
            raise Refused(f"not a certificate of the formats {FORMAT!r} and {FORMER!r}")
        epsilon, delta = Fraction(document["epsilon"]), Fraction(document.get("delta", 0))
        values = [float(value) for value in document["values"]]
        container = document.get("container", "array")
        if epsilon < 0 or not 0 <= delta < 1 or not document["sizes"] or len(set(values)) < 2:
            raise Refused("fields that make no claim")
        sizes = tuple(int(n) for n in document["sizes"])
        if sorted(sizes) != list(range(1, max(sizes) + 1)) or container not in ("array", "list"):
            raise Refused("numbers of entries that are not all from 1 on, or another container")
        real = Real(function, container)
        compared = sum(
            _check_size(real, kind, n, document["relation"], epsilon, delta) for n in sizes for kind in kinds_of(values)
        )
    except Refused as problem:
        return Checked(False, str(problem))
    except (KeyError, TypeError, ValueError, ZeroDivisionError) as problem:
        return Checked(False, f"the certificate cannot be read ({type(problem).__name__}: {problem})")
    return Checked(True, f"{compared} pairs of probabilities compared in exact arithmetic", compared, sizes=sizes)


def kinds_of(values: Sequence[float]) -> list[Sequence[float]]:
    """The values, and as integers where they are whole: numpy's arrays of integers keep no fractions."""
    whole = all(float(value).is_integer() for value in values)
    return [values, [int(value) for value in values]] if whole else [values]


def _check_size(
    function: Real, values: Sequence[float], entries: int, relation: str, epsilon: Fraction, delta: Fraction
) -> int:
    compared = 0
    for here, there, law_here, law_there in laws(function, values, entries, relation):
        compared += len(law_here)
        if needed_delta(law_here, law_there, epsilon) > delta:
            raise Refused(f"{list(here)} is told from {list(there)} too well: more epsilon or delta is needed")
    return compared


def needed_delta(law: Law, other: Law, epsilon: Fraction) -> Fraction:
    """sum of max(0, p - e^epsilon q) over the outputs, rounded up; 0 where each p is at most e^epsilon q."""
    factor = exponential_down(epsilon)
    return sum((max(p - factor * other.get(output, 0), Fraction(0)) for output, p in law.items()), Fraction(0))
