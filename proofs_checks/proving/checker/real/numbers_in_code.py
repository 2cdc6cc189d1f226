"""Where a function is likely to do something else: at the numbers in its code, and between two of them."""

from __future__ import annotations

import ast
import functools
import itertools
import types
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import numpy as np

from ..cutting.parameters import opened
from ..exact_numbers import written
from ..language.source import cells_of, definition
from ..refusals import Refused

MOST = 1000


@functools.lru_cache(64)
def marks(function: Callable[..., Any]) -> tuple[Fraction, ...]:
    """Its numbers, those of the functions and constants that it names, and those in the middle of two neighbours."""
    try:
        given = opened(function)
    except Refused:
        return ()
    found: set[Fraction] = set()
    for value in given.values.values():
        found |= set(_held(value))
    _collect(given.function, found, set())
    numbers = sorted(found)
    return (*numbers, *((low + high) / 2 for low, high in itertools.pairwise(numbers)))


def _collect(function: types.FunctionType, found: set[Fraction], seen: set[int]) -> None:
    """The numbers in its syntax, and in what its names mean."""
    if id(function) in seen:
        return
    seen.add(id(function))
    try:
        syntax = definition(function)
    except Refused:
        return
    around = function.__globals__ | {name: cell.cell_contents for name, cell in cells_of(function).items()}
    for node in ast.walk(syntax):
        if isinstance(node, ast.Constant):
            found |= set(_held(node.value))
        if isinstance(node, ast.Name) and node.id in around:
            value = around[node.id]
            found |= set(_held(value))
            if isinstance(value, types.FunctionType):
                _collect(value, found, seen)


def _held(value: Any) -> Iterator[Fraction]:
    """The numbers in a constant."""
    if isinstance(value, bool | int | float) and abs(value) < 1e300:
        yield written(float(value)) if isinstance(value, float) else Fraction(value)
    elif isinstance(value, list | tuple | set | frozenset | np.ndarray) and len(value) <= MOST:
        for each in value:
            yield from _held(each)
    elif isinstance(value, dict) and len(value) <= MOST:
        for each in (*value, *value.values()):
            yield from _held(each)
