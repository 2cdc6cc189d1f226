"""Single entries of records, and columns of arrays of them: numbers of which nothing is known."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from ..current_run import tracer
from ..forms import Form
from ..refusals import Refused
from .values import Array, Vector

NOTHING = (None, None)
MOST_COLUMNS = 64


def column(value: Array, place: Any) -> Array:
    """array[:, place]."""
    cells = np.empty(len(value.cells), object)
    for at, row in enumerate(value.cells.tolist()):
        cells[at] = entry(row, place)
    cells.flags.writeable = False  # numpy's is a view of the dataset
    return Array(cells, "f")


def entry(value: Vector, place: Any) -> Any:
    """record[place]: a number of which nothing is known but which records it is an entry of."""
    if type(place) is not int or not 0 <= place < MOST_COLUMNS or not isinstance(value.form, Form):
        raise Refused(f"an entry of a record other than one of its first {MOST_COLUMNS}")
    data = tracer().data
    data.columns = max(data.columns, place + 1)
    if value.form.noisy:
        return tracer().computed(f"entry {place}", lambda record: _at(record, place), [value.form])
    made = Form()
    for name, slope in value.form.slopes.items():
        alone, its = Form.variable(name), entry_name(name, place)
        held = data.merge(its, (alone,), lambda point, one=alone: _at(one.value(point), place), NOTHING)
        made = made.plus(held, slope)
    return made


def entry_name(record: str, place: int) -> str:
    """The variable that is this entry of a record."""
    return f"{record}[{place}]"


def _at(record: Any, place: int) -> Fraction:
    """Of a record of one entry the others are 0."""
    entries = np.atleast_1d(np.asarray(record, object)).tolist()
    return Fraction(entries[place] if place < len(entries) else 0)
