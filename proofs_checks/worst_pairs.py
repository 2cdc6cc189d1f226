"""Pairs of neighbours that private code most often gets wrong, made from what a function says of its argument.

The container and the kind of its entries are read off the first parameter's annotation; the range of the entries off
parameters with defaults such as lower=0 and upper=1, bounds=(0, 1) or clip_norm=1. Without an annotation: lists of
numbers in [0, 1], or arrays where the function takes no lists.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

import numpy as np

from ..mechanisms import Relation, neighbouring_relation
from ..mechanisms.validate import choice
from . import units
from .auditing.calling import call, style_of
from .auditing.global_generators import controlled

Pair = tuple[Any, Any]
REST = 4
"""Entries beside the one that differs."""

_LOW = ("lower", "low", "minimum", "min_value", "lower_bound")
_HIGH = ("upper", "high", "maximum", "max_value", "upper_bound", "clip_norm", "clip", "bound")
_RANGE = ("bounds", "range")


def worst_pairs(mechanism: Callable[..., Any], relation: str = Relation.ADD_REMOVE) -> tuple[Pair, ...]:
    """Extremes first and last, one entry and none, duplicates, and a majority that tips; no two data sets are equal.

    Raises InputError for an unknown relation.

    >>> def total(data: list[int], rng, upper=10): ...
    >>> worst_pairs(total, "replace-one")[0]
    ([0, 0, 0, 0, 10], [0, 0, 0, 0, 0])
    """
    choice("relation", relation, tuple(Relation))
    checked = neighbouring_relation(relation)
    parameters = _parameters(mechanism)
    annotation = str(parameters[0].annotation) if parameters and parameters[0].annotation is not _EMPTY else ""
    low, high = _entries(annotation, _range(parameters))
    lists = _lists(low, high, checked)
    pairs = [_containers(annotation, pair) for pair in lists]
    if not annotation and not _takes(mechanism, pairs[0][0]) and _takes(mechanism, np.array(lists[0][0])):
        pairs = [(np.array(one), np.array(other)) for one, other in lists]
    return tuple(pairs)


def _lists(low: Any, high: Any, relation: Relation) -> list[tuple[list[Any], list[Any]]]:
    few, many = [low] * REST, [high] * REST
    half = [low] * (REST // 2) + [high] * (REST // 2)
    if relation == Relation.ADD_REMOVE:
        return [
            ([*few, high], few), ([high, *few], few), ([*many, low], many), ([*many, high], many),
            ([high], []), ([low], []), ([*half, high], half),
        ]  # fmt: skip
    nothing = low if relation == Relation.REPLACE_ONE else units.zero(high)
    found = [
        ([*few, high], [*few, nothing]), ([high, *few], [nothing, *few]), ([*many, high], [*many, nothing]),
        ([high], [nothing]), ([*half, high], [*half, nothing]),
    ]  # fmt: skip
    return found if relation == Relation.REPLACE_ONE or low == nothing else [*found, ([*many, low], [*many, nothing])]


_EMPTY = inspect.Parameter.empty


def _parameters(mechanism: Callable[..., Any]) -> list[inspect.Parameter]:
    try:
        return list(inspect.signature(mechanism).parameters.values())
    except (TypeError, ValueError):
        return []


def _range(parameters: Sequence[inspect.Parameter]) -> tuple[float, float]:
    """The smallest and the largest entry, from the defaults of parameters that are named so."""
    given = {p.name: p.default for p in parameters if p.default is not _EMPTY}
    for name in _RANGE:
        both = given.get(name)
        if isinstance(both, tuple | list) and len(both) == 2 and all(isinstance(end, int | float) for end in both):
            return both[0], both[1]
    ends = [
        next((given[name] for name in names if isinstance(given.get(name), int | float)), other)
        for names, other in ((_LOW, 0.0), (_HIGH, 1.0))
    ]
    return (ends[0], ends[1]) if ends[0] < ends[1] else (0.0, 1.0)


def _entries(annotation: str, ends: tuple[float, float]) -> tuple[Any, Any]:
    """Two entries of the annotated kind, as far apart as the range goes."""
    inside = annotation.rpartition("[")[2]
    if _is_mapping(annotation):
        inside = inside.rpartition(",")[2]
    if re.search(r"\bstr\b", inside):
        return "a", "b"
    if re.search(r"\bbool\b", inside):
        return False, True
    if re.search(r"\bint\b", inside) and "float" not in inside:
        return int(ends[0]), int(ends[1])
    return float(ends[0]), float(ends[1])


def _is_mapping(annotation: str) -> bool:
    return re.search(r"\b(dict|Mapping)\b", annotation) is not None


def _containers(annotation: str, pair: tuple[list[Any], list[Any]]) -> Pair:
    first, second = pair
    if "DataFrame" in annotation:
        frame = import_module("pandas").DataFrame
        return frame({"x": first}), frame({"x": second})
    if re.search(r"ndarray|NDArray|Array|Floats", annotation):
        return np.array(first), np.array(second)
    if _is_mapping(annotation):
        return dict(enumerate(first)), dict(enumerate(second))
    return (tuple(first), tuple(second)) if re.search(r"\btuple\b", annotation) else (first, second)


def _takes(mechanism: Callable[..., Any], dataset: Any) -> bool:
    """Whether a call on it comes back."""
    try:
        with controlled(np.random.SeedSequence(0)):
            call(mechanism, dataset, np.random.default_rng(0), style_of(mechanism))
    except Exception:
        return False
    return True
