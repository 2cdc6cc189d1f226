"""Operations and comparisons of values, cell by cell where they are arrays."""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from ..current_run import tracer
from ..exact_numbers import compared, concrete, exact
from ..forms import Form, Sign
from ..refusals import Raises, Refused
from . import functions, ratios, records
from .values import (
    KINDS,
    Appended,
    Array,
    Function,
    Native,
    Ranks,
    Ratio,
    Text,
    Total,
    Uniform,
    Weight,
    is_number,
    is_truth,
    named,
    of_records,
    symbolic,
)

LOGICAL = (operator.and_, operator.or_, operator.xor)
SEQUENCES = (str, list, tuple)
PLAIN = (str, type(None), bool, int, float)
OTHER = (*PLAIN, list, tuple, dict, set, range, Appended, Function, Native)
"""What is equal to no plain value of another type."""


def lifted(value: Any) -> Form:
    """A number as a form; a truth value counts as 0 or 1."""
    if isinstance(value, Form):
        return value
    if isinstance(value, Sign):
        done = value.decided()
        merged = tracer().merged_sign(value) if done is None else None
        return merged if merged is not None else Form({}, int(truth(value)))
    if isinstance(value, Uniform):
        return functions.uniform(value)
    if isinstance(value, Ratio):
        return ratios.number(value)  # type: ignore[no-any-return]
    if isinstance(value, Weight | Total):
        return lifted(functions.valued(value))
    if not is_number(value):
        raise Refused(f"a {named(value)} where a number is needed")
    return Form({}, exact(value))


def plain(value: Any) -> Any:
    """What is made a number only where it is used as one, as that."""
    return lifted(value) if isinstance(value, Uniform | Weight | Total) else value


def truth(value: Any) -> bool:
    """The truth value on this run."""
    if isinstance(value, Sign):
        return bool(tracer().answer(value))
    if isinstance(value, Form | Ratio):
        return not _equal(value.form if isinstance(value, Ratio) else value, Form())
    if of_records(value):
        raise Refused("the truth value of a record")
    if isinstance(value, Array):
        if value.cells.size != 1:
            raise Raises("the function raises ValueError: the truth value of an array")
        return truth(value.cells.ravel()[0])
    if value is None or isinstance(value, bool | int | float | str | list | tuple | dict | set):
        return bool(value)
    raise Refused(f"the truth value of a {named(value)}")


def placed(value: Any) -> Any:
    """An order as the array of places that it is."""
    if not isinstance(value, Ranks):
        return value
    from .arrays import array_of

    return array_of(value)


def as_number(value: Any) -> Any:
    """A truth value as 0 or 1."""
    if isinstance(value, bool):
        return int(value)
    return lifted(value) if isinstance(value, Sign) else value


def binary(operation: Callable[[Any, Any], Any], a: Any, b: Any, of_numpy: bool = False) -> Any:
    """a operation b. of_numpy: they are cells of arrays."""
    a, b = placed(a), placed(b)
    if of_records(a) or of_records(b):
        return records.binary(operation, a, b)
    if isinstance(a, Array) or isinstance(b, Array):
        return _on_arrays(operation, a, b)
    if isinstance(a, Weight | Total) or isinstance(b, Weight | Total):
        return functions.weighed(operation, a, b)
    if isinstance(a, Uniform | Form | Sign | Ratio) or isinstance(b, Uniform | Form | Sign | Ratio):
        return _symbolic(operation, a, b, of_numpy)
    if is_number(a) and is_number(b):
        if is_truth(a) and is_truth(b) and operation not in LOGICAL:
            raise Refused("arithmetic with two truth values, which numpy's add otherwise than Python's: write int(...)")
        return concrete(operation, a, b)
    if operation is operator.add and (isinstance(a, Text) or isinstance(b, Text)):
        return functions.joined([a, b])
    return _sequences(operation, a, b)


def _sequences(operation: Callable[[Any, Any], Any], a: Any, b: Any) -> Any:
    """Texts, lists and tuples that are added or repeated; sets and dicts that are united."""
    added = operation is operator.add and type(a) is type(b) and type(a) in SEQUENCES
    repeated = operation is operator.mul and any(type(x) in SEQUENCES and type(y) is int for x, y in ((a, b), (b, a)))
    united = operation in (operator.or_, operator.and_, operator.sub) and type(a) is type(b) is set
    merged = operation is operator.or_ and type(a) is type(b) is dict
    if not (added or repeated or united or merged):
        raise Refused(f"this operation of a {named(a)} and a {named(b)}")
    return operation(a, b)


def _symbolic(operation: Callable[[Any, Any], Any], a: Any, b: Any, of_numpy: bool) -> Any:
    if operation in LOGICAL:
        if not (is_truth(a) and is_truth(b)):
            raise Refused("an operation on the bits of a symbol")
        return _both(operation, a, b)
    if is_truth(a) and is_truth(b):
        raise Refused("arithmetic with two truth values, which numpy's add otherwise than Python's: write int(...)")
    if (isinstance(a, float) and not math.isfinite(a)) or (isinstance(b, float) and not math.isfinite(b)):
        raise Refused("arithmetic with a symbol and an infinity")
    if operation is operator.pow and type(b) is int and b == 1:
        return a
    if isinstance(a, Ratio) or isinstance(b, Ratio):
        return ratios.binary(operation, a, b)
    left, right = lifted(a), lifted(b)
    if operation is operator.truediv and ratios.is_length(right):
        return ratios.divided(left, right)
    if operation is operator.add or operation is operator.sub:
        return left.plus(right, 1 if operation is operator.add else -1)
    if operation is operator.mul and not (left.slopes and right.slopes):
        return left.scaled(right.at_zero) if left.slopes else right.scaled(left.at_zero)
    if operation is operator.truediv and not right.slopes:
        if not right.at_zero:
            raise Refused("a division by zero")
        return left.scaled(1 / right.at_zero)
    return functions.nonlinear(operation, left, right, type(b) is int, of_numpy)


def _both(operation: Callable[[Any, Any], Any], a: Any, b: Any) -> Any:
    """& or | of two truth values: of tests on data a value of its own, where that is wanted; else on this run."""
    run = tracer()
    tests = all(isinstance(x, Sign) and x.form.slopes and not x.form.noisy for x in (a, b))
    if not tests or not run.data.merging:
        return operation(truth(a), truth(b))
    name = f"{operation.__name__}({a.name()};{b.name()})"
    value = lambda point: Fraction(operation(a.holds(point), b.holds(point)))  # noqa: E731
    merged = run.data.merge(name, (a.form, b.form), value, (Fraction(0), Fraction(1)), True)
    return Sign(merged - 1, False)


def _on_arrays(operation: Callable[[Any, Any], Any], a: Any, b: Any) -> Any:
    from .arrays import array_of, kind_of

    one, other = (x if isinstance(x, Array) else array_of(x) if isinstance(x, list | tuple) else x for x in (a, b))
    kinds = [x.kind if isinstance(x, Array) else kind_of(x) for x in (one, other)]
    if operation in LOGICAL:
        if kinds != ["b", "b"]:
            raise Refused("an operation on the bits of arrays that are no truth values")
        kind = "b"
    elif kinds == ["b", "b"]:
        raise Refused("arithmetic with two arrays of truth values: write .astype(int)")
    elif operation is operator.truediv:
        kind = "f"
    else:
        kind = max(*kinds, "i", key=KINDS.index)
    return elementwise(functools.partial(binary, operation, of_numpy=True), kind, one, other)


def elementwise(function: Callable[..., Any], kind: str, *values: Any) -> Any:
    """The function of every cell, with numpy's broadcasting."""
    if any(of_records(value) for value in values):
        raise Refused("this function of the entries of records")
    boxes = [value.cells if isinstance(value, Array) else boxed(value) for value in values]
    try:
        result = np.frompyfunc(function, len(boxes), 1)(*boxes)
    except ValueError as problem:
        raise Raises(f"the function raises ValueError: {problem}") from problem
    return Array(result, kind) if isinstance(result, np.ndarray) else result


def boxed(value: Any) -> np.ndarray[Any, Any]:
    """The value as an array without axes."""
    box = np.empty((), object)
    box[()] = value
    return box


def comparison(operation: Callable[[Any, Any], Any], a: Any, b: Any) -> Any:
    """a operation b, for <, <=, >, >=, == and !=."""
    a, b = placed(a), placed(b)
    if of_records(a) or of_records(b):
        raise Refused("a comparison of records")
    if isinstance(a, Array) or isinstance(b, Array):
        from .arrays import array_of

        sides = [array_of(x) if isinstance(x, list | tuple) else x for x in (a, b)]
        return elementwise(functools.partial(comparison, operation), "b", *sides)
    if isinstance(a, Uniform) or isinstance(b, Uniform):
        return functions.thrown(operation, a, b)
    a, b = plain(a), plain(b)
    alike = operation in (operator.eq, operator.ne)
    if symbolic(a) or symbolic(b):
        if alike and (is_number(a) or isinstance(a, OTHER)) and (is_number(b) or isinstance(b, OTHER)):
            same = is_number(a) and is_number(b) and _same_number(a, b)
            return same if operation is operator.eq else not same
        if not (is_number(a) and is_number(b)):
            raise Refused(f"an order of a {named(a)} and a {named(b)}")
        return ordered(operation, a, b)
    if is_number(a) and is_number(b):
        return compared(operation, a, b)
    if alike and (isinstance(a, PLAIN) or isinstance(b, PLAIN)) and isinstance(a, OTHER) and isinstance(b, OTHER):
        return bool(operation(a, b)) if isinstance(a, PLAIN) and isinstance(b, PLAIN) else operation is operator.ne
    if alike and type(a) is type(b) and type(a) in (list, tuple):
        same = len(a) == len(b) and all(truth(comparison(operator.eq, x, y)) for x, y in zip(a, b, strict=True))
        return same if operation is operator.eq else not same
    if type(a) is type(b) is str:
        return operation(a, b)
    raise Refused(f"a comparison of a {named(a)} and a {named(b)}")


def ordered(operation: Callable[[Any, Any], Any], a: Any, b: Any) -> Any:
    """<, <=, > or >= of numbers of which one is a symbol: a test, or its truth where that is known."""
    for value, other in ((a, -1), (b, 1)):
        if isinstance(value, float) and not math.isfinite(value):
            if math.isnan(value):
                raise Refused("a comparison with nan")
            return bool(operation(0, value)) if other == 1 else bool(operation(value, 0))
    if isinstance(a, Ratio) or isinstance(b, Ratio):
        a, b = ratios.numerators(a, b) or (ratios.number(a), ratios.number(b))
    less = operation in (operator.lt, operator.le)
    form = lifted(b).plus(lifted(a), -1) if less else lifted(a).plus(lifted(b), -1)
    sign = Sign(form, operation in (operator.lt, operator.gt))
    done = sign.decided()
    return sign if done is None else done


def _same_number(a: Any, b: Any) -> bool:
    if any(isinstance(value, float) and not math.isfinite(value) for value in (a, b)):
        return False
    if isinstance(a, Ratio) or isinstance(b, Ratio):
        a, b = ratios.numerators(a, b) or (ratios.number(a), ratios.number(b))
    return _equal(lifted(a), lifted(b))


def _equal(a: Form, b: Form) -> bool:
    """Two forks, so that smooth noise is seen to be equal with probability 0 only."""
    gap = a.plus(b, -1)
    return truth(Sign(gap, False)) and truth(Sign(-gap, False))


def negative(value: Any) -> Any:
    if of_records(value):
        return records.negative(value)
    if isinstance(value, Array):
        if value.kind == "b":
            raise Refused("the negative of truth values: write ~")
        return elementwise(negative, value.kind, value)
    if is_truth(value):
        raise Refused("the negative of a truth value")
    if isinstance(value, Form):
        return -value
    if isinstance(value, Ratio):
        return Ratio(-value.form)
    if isinstance(value, Uniform):
        return -lifted(value)
    if is_number(value):
        return concrete(operator.mul, -1, value) if value else -value
    raise Refused(f"the negative of a {named(value)}")


def inverted(value: Any) -> Any:
    """~ of an array of truth values."""
    if not isinstance(value, Array) or value.kind != "b":
        raise Refused("~ of anything but an array of truth values: write not")
    return elementwise(lambda cell: cell.negation() if isinstance(cell, Sign) else not cell, "b", value)


def add(a: Any, b: Any) -> Any:
    """As numpy and Python add in sums: truth values are 0 and 1."""
    return binary(operator.add, as_number(a), as_number(b))
