"""`part`: a function that is taken to be private, as a black box."""

from __future__ import annotations

from typing import Any

from ..following import Refused, tracer
from ..forms import Form
from ..reals import exact
from .arithmetic import lifted
from .values import Array, Native, Vector


def box(epsilon: float) -> Native:
    """What puts out anything, at the price of epsilon, if it is given the whole dataset."""

    def called(dataset: Any, rng: Any) -> Form:
        cells = dataset.cells.tolist() if isinstance(dataset, Array) else dataset
        if not isinstance(cells, list) or [_name(cell) for cell in cells] != tracer().entries:
            raise Refused("a part that is not given the whole dataset")
        made: Form = tracer().atom("part", str(exact(epsilon)))
        return made

    return Native(called, "part")


def _name(cell: Any) -> str:
    return str((cell.form if isinstance(cell, Vector) else lifted(cell)).name())
