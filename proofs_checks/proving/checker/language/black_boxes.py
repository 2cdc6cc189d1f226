"""A private function as a black box inside of a mechanism: proofs take its epsilon for granted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from weakref import WeakKeyDictionary

from .....mechanisms.validate import nonnegative
from ..current_run import tracer
from ..exact_numbers import exact
from ..forms import Form
from ..refusals import Refused
from .arithmetic import lifted
from .values import Array, Native, Vector

_parts: WeakKeyDictionary[Any, float] = WeakKeyDictionary()


def part(function: Callable[..., Any], epsilon: float) -> Callable[..., Any]:
    """The same function, of which `prove` assumes that it is epsilon-DP for the relation in question.

    function(dataset, rng) -> a number. Inside of a proof it has to be called with the mechanism's whole dataset; each
    call costs epsilon (basic composition), and its result may be used in any way. The proof says what it assumes.
    Raises InputError.

    >>> from dpcert.proofs_checks import prove
    >>> noisy_count = part(lambda dataset, rng: len(dataset) + rng.laplace(0, 2), epsilon=0.5)
    >>> prove(lambda dataset, rng: noisy_count(dataset, rng) > 3, relation="add-remove", up_to=2).epsilon
    0.5
    """
    nonnegative("epsilon", epsilon)

    def boxed(dataset: Any, rng: Any) -> Any:
        box = getattr(type(rng), "part", None)  # only the generators of proofs have one
        return function(dataset, rng) if box is None else box(rng, dataset, epsilon)

    _parts[boxed] = epsilon
    return boxed


def epsilon_of(value: Any) -> float | None:
    """Of a part its epsilon; None where the value is none."""
    try:
        return _parts.get(value)
    except TypeError:  # of what cannot be referred to weakly, such as numbers
        return None


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
