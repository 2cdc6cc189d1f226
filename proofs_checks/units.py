"""Datasets as units: how to drop, replace or zero one unit of a list, array, data frame or federation.

The unit is a list's or tuple's element, an array's first-axis entry, a data frame's row, a mapping's value.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from ..mechanisms import InputError
from .auditing.structure import same_contents


def keys(dataset: Any) -> list[Any]:
    """What names each unit: positions, or a mapping's keys."""
    if isinstance(dataset, Mapping):
        return list(dataset)
    if isinstance(dataset, list | tuple | np.ndarray) or _is_frame(dataset):
        return list(range(len(dataset)))
    raise InputError("dataset", dataset, "a list, tuple, array, data frame, or mapping of clients")


def without(dataset: Any, key: Any) -> Any:
    """The dataset with one unit gone."""
    if isinstance(dataset, Mapping):
        return {name: value for name, value in dataset.items() if name != key}
    if _is_frame(dataset):
        return dataset.drop(dataset.index[key])
    return np.delete(dataset, key, axis=0) if isinstance(dataset, np.ndarray) else dataset[:key] + dataset[key + 1 :]


def replaced(dataset: Any, key: Any, unit: Any) -> Any:
    """The dataset with one unit's data replaced."""
    if isinstance(dataset, Mapping):
        return {name: unit if name == key else value for name, value in dataset.items()}
    if not isinstance(dataset, np.ndarray) and not _is_frame(dataset):
        return dataset[:key] + type(dataset)([unit]) + dataset[key + 1 :]
    changed = dataset.copy()
    (changed.iloc if _is_frame(dataset) else changed)[key] = unit
    return changed


def unit(dataset: Any, key: Any) -> Any:
    """One unit's data."""
    return dataset.iloc[key] if _is_frame(dataset) else dataset[key]


def zero(value: Any) -> Any:
    """Data of the same shape that contribute nothing to a sum."""
    if isinstance(value, int | float | complex) or hasattr(value, "__array__"):
        return value * 0 if not hasattr(value, "__array__") else np.zeros_like(value)[()]
    if isinstance(value, list | tuple):
        return type(value)(zero(part) for part in value)
    if isinstance(value, Mapping):
        return {name: zero(part) for name, part in value.items()}
    raise InputError("unit", value, "numbers, arrays, or lists, tuples and mappings of them, for zero-out neighbours")


def distance(unit: Any, other: Any) -> float:
    """How far two units' data are apart: 0 where they are equal; other = None: how far the unit is from nothing."""
    if other is not None and same_contents(unit, other):
        return 0.0
    try:
        moved = np.abs(np.asarray(unit, float) - (0.0 if other is None else np.asarray(other, float)))
    except (TypeError, ValueError):
        return 1.0
    return math.inf if np.isnan(moved).any() else float(moved.sum()) or 1e-300


def _is_frame(dataset: object) -> bool:
    """A pandas data frame or series, without importing pandas."""
    return hasattr(dataset, "iloc") and hasattr(dataset, "drop")
