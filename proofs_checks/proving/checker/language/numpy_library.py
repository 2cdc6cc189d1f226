"""What numpy's functions mean: the table. What is not in it is not in the language."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from ..order import largest_place, least_place
from ..refusals import Refused
from . import arrays, functions, numpy_folds, numpy_made
from . import numpy_cells as cells
from .arithmetic import binary, elementwise, negative, truth
from .library import of_numbers, real
from .values import Array, Squares

ELEMENTARY = ("log", "log1p", "log2", "tanh")
OPERATIONS = {"add": "add", "subtract": "sub", "multiply": "mul", "divide": "truediv", "power": "pow"}
COMPARISONS = {"greater": "gt", "greater_equal": "ge", "less": "lt", "less_equal": "le"}
COMPARISONS |= {"equal": "eq", "not_equal": "ne"}
"""What numpy has of Python's operators: its name, and theirs."""


def _float64(value: Any = 0) -> Any:
    """numpy.float64 of one number."""
    if isinstance(value, Array | list | tuple):
        raise Refused("a numpy scalar of several numbers")
    return real(value)


def _with_axes(value: Any) -> Array:
    """numpy.atleast_1d."""
    held = arrays.made(value)
    return held if isinstance(held, Array) and held.cells.ndim else arrays.of_cells([value])


TABLE: list[tuple[Any, Callable[..., Any]]] = [
    *[(getattr(np, name), cells.each(functions.elementary(name, getattr(math, name)), "f")) for name in ELEMENTARY],
    *[(getattr(np, name), cells.operated(getattr(operator, python))) for name, python in OPERATIONS.items()],
    *[(getattr(np, name), cells.compared(getattr(operator, python))) for name, python in COMPARISONS.items()],
    *[(function, cells.pairs(functions.greater)) for function in (np.maximum, np.fmax)],
    *[(function, cells.pairs(functions.lesser)) for function in (np.minimum, np.fmin)],
    (np.array, cells.array),
    (np.copy, lambda a: cells.array(a)),
    *[(function, numpy_made.combined(function)) for function in (np.concatenate, np.stack, np.vstack)],
    *[(function, numpy_folds.dot) for function in (np.dot, np.inner)],
    (np.abs, cells.magnitude),
    (np.fabs, cells.each(functions.absolute)),
    (np.asarray, cells.as_array),
    (np.sum, arrays.total),
    (np.mean, arrays.mean),
    (np.average, lambda a, axis=None: arrays.mean(a, axis)),
    (np.median, arrays.folded(numpy_folds.middle, "f")),
    (np.var, numpy_folds.variance),
    (np.std, numpy_folds.deviation),
    (np.cumsum, numpy_folds.running),
    (np.where, cells.where),
    (np.clip, cells.clip),
    (np.max, numpy_folds.extreme(functions.greater, largest_place)),
    (np.min, numpy_folds.extreme(functions.lesser, least_place)),
    (np.argmax, numpy_folds.place_of(largest_place)),
    (np.argmin, numpy_folds.place_of(least_place)),
    (np.argsort, numpy_folds.argsort),
    (np.sort, numpy_folds.sort),
    (np.zeros, numpy_made.zeros(0)),
    (np.ones, numpy_made.zeros(1)),
    (np.empty, numpy_made.empty),
    (np.full, numpy_made.full),
    (np.zeros_like, numpy_made.like(0)),
    (np.ones_like, numpy_made.like(1)),
    (np.full_like, numpy_made.full_like),
    (np.arange, numpy_made.arange),
    (np.linspace, numpy_made.linspace),
    (np.diff, numpy_folds.differences),
    (np.count_nonzero, numpy_folds.count_nonzero),
    (np.histogram, numpy_folds.histogram),
    (np.bincount, numpy_folds.bincount),
    (np.digitize, cells.digitized),
    (np.any, numpy_folds.truths(any)),
    (np.all, numpy_folds.truths(all)),
    (np.sign, cells.each(cells.sign)),
    (np.round, cells.round_),
    (np.rint, cells.each(cells.float_of(functions.rounded))),
    (np.floor, cells.each(cells.float_of(functions.floored))),
    (np.ceil, cells.each(cells.float_of(functions.ceiled))),
    (np.trunc, cells.each(cells.float_of(functions.whole))),
    (np.sqrt, lambda x: cells.square_root(x) if isinstance(x, Squares) else cells.each(cells.square_root, "f")(x)),
    (np.exp, lambda value: elementwise(functions.exponential, "f", arrays.made(value))),
    (np.square, lambda value: binary(operator.mul, arrays.made(value), arrays.made(value))),
    (np.negative, lambda value: negative(arrays.made(value))),
    (np.logical_and, cells.logical(operator.and_)),
    (np.logical_or, cells.logical(operator.or_)),
    (np.logical_not, lambda value: elementwise(lambda cell: not truth(cell), "b", arrays.made(value))),
    (np.isnan, cells.each(of_numbers(math.isnan, False))),
    (np.isfinite, cells.each(of_numbers(math.isfinite, True))),
    (np.float64, _float64),
    (np.linalg.norm, numpy_folds.norm),
    (np.array_equal, numpy_folds.same),
    (np.shape, numpy_made.outer_shape),
    (np.flatnonzero, lambda value: numpy_folds.ones_where(value)[0]),
    (np.nonzero, numpy_folds.ones_where),
    *[(getattr(np, name), numpy_made.rearranged(name)) for name in ("repeat", "ravel", "transpose")],
    (np.size, lambda value: int(arrays.held(value).cells.size)),
    (np.atleast_1d, _with_axes),
]
