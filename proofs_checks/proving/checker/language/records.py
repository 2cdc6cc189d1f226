"""Records: rows of a 2-d array, of which neither the entries nor their number is known.

They are added, multiplied by numbers, clipped by their norms, and get noise; anything else is refused.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from ..current_run import tracer
from ..forms import Form
from ..refusals import Raises, Refused
from . import functions_of_size, ratios
from .record_entries import column, entry
from .values import Array, Dimension, Ratio, Squares, Vector, is_number, is_truth, of_records, symbolic

CLIP = "clip it by its norm first, as in g / max(1, np.linalg.norm(g) / C)"


def array(rows: list[Any]) -> Array:
    """An array of these records."""
    cells = np.empty(len(rows), object)
    for place, row in enumerate(rows):
        if not isinstance(row, Vector):
            raise Refused("an array of records and numbers")
        cells[place] = Vector(row.form, True)
    return Array(cells, "v")


def binary(operation: Callable[[Any, Any], Any], a: Any, b: Any) -> Any:
    """a operation b, as numpy has it of 2-d arrays, their rows, and columns (n, 1)."""
    many = [x for x in (a, b) if isinstance(x, Array)]
    if not many:
        return _one(operation, a, b)
    lengths = {len(x.cells) for x in many if x.cells.ndim}
    column = all(x.kind == "v" or x.cells.ndim == 0 or x.cells.shape[1:] == (1,) for x in many)
    if len(lengths) != 1 or not column or (len(many) == 2 and isinstance(a, Vector | Squares)):
        raise Refused("an array of this shape beside records: write factors[:, None], with one number for each record")
    sides = [x.cells.ravel().tolist() if isinstance(x, Array) and x.cells.ndim else None for x in (a, b)]
    alone = [x.cells.ravel().tolist()[0] if isinstance(x, Array) and not x.cells.ndim else x for x in (a, b)]
    rows = [
        _one(operation, *[side[i] if side is not None else one for side, one in zip(sides, alone, strict=True)])
        for i in range(lengths.pop())
    ]
    return _held(rows)


def _held(rows: list[Any]) -> Array:
    """Records, or their squares."""
    if not rows or isinstance(rows[0], Vector):
        return array(rows)
    cells = np.empty(len(rows), object)
    cells[:] = rows
    return Array(cells, "v")


def _one(operation: Callable[[Any, Any], Any], a: Any, b: Any) -> Any:
    if isinstance(a, Vector) and isinstance(b, Vector):
        if operation in (operator.add, operator.sub):
            return Vector(_added(a.form, b.form, 1 if operation is operator.add else -1))
        if operation is operator.mul and isinstance(a.form, Form) and isinstance(b.form, Form) and a.form.same(b.form):
            return Squares(a.form)
        raise Refused("this operation of two records")
    if isinstance(a, Vector) and operation is operator.pow and type(b) is int and b == 2 and isinstance(a.form, Form):
        return Squares(a.form)
    for record, number in ((a, b), (b, a)):
        if isinstance(record, Vector) and is_number(number) and not is_truth(number):
            if operation in (operator.add, operator.sub):
                return _shifted(operation, record, number, record is a)
            if operation is operator.mul or (operation is operator.truediv and record is a):
                return Vector(_scaled(operation, record.form, number))
    raise Refused(f"this operation of a record: {CLIP}")


def _added(one: Any, other: Any, times: int) -> Any:
    if not isinstance(one, Ratio) and not isinstance(other, Ratio):
        return one.plus(other, times)
    for value in (one, other):
        if isinstance(value, Form) and value.slopes:
            raise Refused("a record that is divided by the number of records, beside one that is not")
    forms = [value.form if isinstance(value, Ratio) else value for value in (one, other)]
    return Ratio(forms[0].plus(forms[1], times))


def _shifted(operation: Any, record: Vector, number: Any, first: bool) -> Vector:
    """0 may be added, as sums begin with it."""
    if symbolic(number) or number != 0:
        raise Refused("a number that is added to every entry of a record")
    return Vector(record.form if first or operation is operator.add else _added(Form(), record.form, -1))


def _scaled(operation: Any, form: Any, number: Any) -> Any:
    """The record times a number, or divided by it."""
    from .arithmetic import lifted

    if isinstance(number, Ratio):
        raise Refused("a record times a number that is divided by the number of records")
    factor = lifted(number)
    if isinstance(form, Ratio) or ratios.is_length(factor):
        done = ratios.multiple(operation, form, factor)
        if done is None:
            raise Refused("this multiple of a record, which hangs on the number of records")
        return done
    if not factor.slopes:
        if operation is operator.truediv and not factor.at_zero:
            raise Refused("a record that is divided by 0")
        return form.scaled(1 / factor.at_zero if operation is operator.truediv else factor.at_zero)
    if form.noisy or factor.noisy:  # of what is equal in both runs
        name = f"record {operation.__name__}"
        return tracer().computed(name, operation, [form, factor], record=True)
    made = functions_of_size.nonlinear(operation, form, factor, True)
    if made is None:
        raise Refused(f"a record times a number that depends on the data or on noise: {CLIP}")
    return made


def negative(value: Any) -> Any:
    """-value."""
    if isinstance(value, Array):
        return _held([negative(row) for row in value.cells.tolist()])
    if isinstance(value, Vector) and isinstance(value.form, Form):
        return Vector(-value.form)
    raise Refused("the negative of this")


def norm(value: Any, order: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    """numpy.linalg.norm: of a record, or of each of an array of records (axis=1)."""
    if isinstance(value, Array):
        return _by_rows(lambda row: norm(row, order), value, axis, keepdims)
    if not isinstance(value, Vector) or axis not in (None, 0, -1) or keepdims:
        raise Refused("a norm along this axis")
    stated = 2 if order is None else order
    if type(stated) is not int or stated not in (1, 2):
        raise Refused("a norm of a record other than np.linalg.norm(g), and np.linalg.norm(g, 1)")
    return size(value.form, stated)


def size(form: Any, order: int) -> Form:
    """The norm of what is computed of data, as a variable."""
    data = tracer().data
    if not isinstance(form, Form):
        raise Refused("the norm of a record that is divided by the number of records")
    if form.noisy:
        computed: Form = tracer().computed(f"norm {order}", lambda value: _norm(value, order), [form])
        return computed
    if order > data.order:
        raise Refused(
            "the Euclidean norm of a record, beside Laplace noise or a pure epsilon: claim rho or delta and draw "
            "rng.normal, or clip by np.linalg.norm(g, 1)"
        )
    name = f"|{form.name()}|{order}"
    made: Form = data.size(name, form, lambda point: _norm(form.value(point), order))
    data.of_size[name] = functions_of_size.OfSize(form, made, functions_of_size.itself)
    return made


def _norm(value: Any, order: int) -> Fraction:
    entries = np.abs(np.atleast_1d(np.asarray(value, object)))
    if len(entries) == 1 or order == 1:
        return Fraction(sum(entries.tolist(), Fraction(0)))
    return Fraction(math.sqrt(sum(float(entry) ** 2 for entry in entries.tolist())))


def total(value: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """numpy.sum: of all records (axis=0), or of squares."""
    if isinstance(value, Squares) and not value.summed and axis in (None, 0, -1) and not keepdims:
        return Squares(value.form, True)
    none = isinstance(value, Array) and not len(value.cells) and axis != 0
    if none or (isinstance(value, Array) and len(value.cells) and isinstance(value.cells[0], Squares)):
        return _by_rows(total, value, axis, keepdims)
    if not isinstance(value, Array) or axis != 0 or keepdims or isinstance(axis, bool):
        raise Refused("the sum of a record's entries: write .sum(axis=0) for the sum of all records")
    made = Form()
    for row in value.cells.tolist():
        made = _added(made, row.form, 1)
    return Vector(made)


def mean(value: Any, axis: Any = None, keepdims: bool = False) -> Vector:
    """numpy.mean of all records (axis=0)."""
    held = total(value, axis, keepdims)
    if not isinstance(held, Vector) or not len(value.cells):
        raise Refused("the mean of these")
    return Vector(_scaled(operator.truediv, held.form, len(value.cells)))


def _by_rows(function: Callable[[Any], Any], value: Array, axis: Any, keepdims: Any) -> Array:
    """One number for each record."""
    if axis not in (1, -1) or isinstance(axis, bool) or type(keepdims) is not bool:
        raise Refused("what is computed of the entries of all records together: write axis=1")
    cells = np.empty(len(value.cells), object)
    for place, row in enumerate(value.cells.tolist()):
        cells[place] = function(row)
    return Array(cells.reshape(-1, 1) if keepdims else cells, "f")


def root(value: Squares) -> Form:
    """The square root of a sum of squares: the norm."""
    if not value.summed:
        raise Refused("the root of the squares of a record's entries, one by one")
    return size(value.form, 2)


def noise(kind: str, loc: Any, scale: Any, size: Any) -> Any:
    """Noise for every entry of a record, or of each of several."""
    if kind not in ("gaussian", "laplace") or not is_number(scale):
        raise Refused("this noise for the entries of records: draw rng.normal or rng.laplace of one scale")
    shape: list[Any] = [size] if isinstance(size, Dimension) else list(size or ())
    rows = shape[:-1] if size is not None else [len(loc.cells)] if isinstance(loc, Array) else []
    if size is not None and not (shape and isinstance(shape[-1], Dimension) and len(shape) < 3):
        raise Refused("noise whose size is not that of a record: write size=total.shape")
    if not all(type(each) is int for each in rows):
        raise Refused("noise whose size is not that of a record: write size=total.shape")

    def one() -> Vector:
        from .generator import one_draw

        return Vector(one_draw(f"{kind} vector", scale))

    made: Any = array([one() for _ in range(rows[0])]) if rows else one()
    if of_records(loc) or symbolic(loc) or loc != 0:
        if not of_records(loc) or (size is not None and isinstance(loc, Array) != bool(rows)):
            raise Refused("noise around a number, for every entry of a record")
        return binary(operator.add, loc, made)
    return made


def zeros(shape: Any) -> Any:
    """numpy.zeros with the number of a record's entries in the shape."""
    listed: list[Any] = [shape] if isinstance(shape, Dimension) else list(shape)
    *rows, last = listed
    if not isinstance(last, Dimension) or len(rows) > 1 or not all(type(each) is int for each in rows):
        raise Refused("zeros of this shape")
    return array([Vector(Form()) for _ in range(rows[0])]) if rows else Vector(Form())


def has_dimension(shape: Any) -> bool:
    """Whether a shape is stated by the number of a record's entries."""
    return isinstance(shape, Dimension) or (
        isinstance(shape, tuple | list) and any(isinstance(each, Dimension) for each in shape)
    )


def taken(value: Array, place: Any) -> Any:
    """array[place]: a row, or several."""
    if type(place) is int or isinstance(place, slice):
        try:
            found = value.cells[place]
        except IndexError as problem:
            raise Raises(f"the function raises IndexError: {problem}") from problem
        return Array(found, "v") if isinstance(found, np.ndarray) else found
    if isinstance(place, Array) and place.cells.ndim == 1 and place.kind in "bi":
        from .arrays import index

        return Array(value.cells[index(place)], "v")
    if isinstance(place, tuple) and len(place) == 2 and (type(place[0]) is int or isinstance(place[0], slice)):
        rows = taken(value, place[0])
        return entry(rows, place[1]) if isinstance(rows, Vector) else column(rows, place[1])
    raise Refused("a part of an array of records other than some of its rows, or one column")


def added_in_place(held: Vector, operation: Any, new: Any) -> Vector:
    """held += new, where no other array shares its memory."""
    if held.shared or not isinstance(made := binary(operation, held, new), Vector):
        raise Refused("a row of an array that is changed in place: write = and a new one")
    held.form = made.form
    return held


def shape(value: Any) -> tuple[Any, ...]:
    """Its shape."""
    return (len(value.cells), Dimension()) if isinstance(value, Array) else (Dimension(),)
