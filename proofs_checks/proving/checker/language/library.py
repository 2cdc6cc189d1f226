"""What Python's own functions, and those of math, mean."""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable
from typing import Any

from .....mechanisms import samplers
from .. import invariant
from ..current_run import tracer
from ..order import largest_place, least_place
from ..refusals import Raises, Refused
from . import functions
from .above_zero import computed
from .arithmetic import add, binary, comparison, lifted, plain, truth
from .arrays import VIEWS, iterated, of_dict
from .numpy_cells import magnitude, square_root
from .ordering import best, ordered
from .values import (
    Appended,
    Array,
    Dimension,
    Generator,
    Native,
    Ranks,
    Ratio,
    Text,
    Vector,
    as_key,
    is_number,
    named,
    one,
    symbolic,
)

KINDS = (list, tuple, dict, str)
SIZED: Any = (*KINDS, range, set, frozenset, Ranks, *VIEWS)


def listed(value: Any) -> list[Any]:
    """list(value)."""
    return list(iterated(value))


def length(value: Any) -> Any:
    if isinstance(value, Vector):
        return Dimension()
    if isinstance(value, Array):
        if not value.cells.ndim:
            raise Raises("the function raises TypeError: len() of unsized object")
        return len(value.cells)
    if isinstance(value, SIZED):
        return len(value)
    raise Refused(f"the length of a {named(value)}")


def total(values: Any, /, start: Any = 0) -> Any:
    """sum(values, start)."""
    return functools.reduce(add, iterated(values), start)


def real(value: Any = 0.0) -> Any:
    """float(value)."""
    value = plain(one(value))
    if isinstance(value, Ratio):
        return value
    if symbolic(value):
        return lifted(value)
    if isinstance(value, str):
        try:
            return float(value)
        except ValueError as problem:
            raise Raises(f"the function raises ValueError: {problem}") from problem
    if not is_number(value):
        raise Refused(f"float of a {named(value)}")
    return value if isinstance(value, float) else float(value)


def integer(value: Any = 0) -> Any:
    """int(value)."""
    return functions.whole(plain(one(value)))


def is_instance(value: Any, kinds: Any) -> bool:
    """isinstance of list, tuple, dict and str; of numbers it is not told whether they are numpy's or Python's."""
    listed_kinds = kinds if isinstance(kinds, tuple) else (kinds,)
    stated = [each.source for each in listed_kinds if isinstance(each, Native)]
    kind = {Appended: list, Text: str}.get(type(value), type(value))
    known = issubclass(kind, KINDS) or value is None
    if len(stated) != len(listed_kinds) or not (known or all(each in KINDS for each in stated)):
        raise Refused(f"isinstance of a {named(value)}: ask for list, tuple, dict or str only")
    return issubclass(kind, tuple(each for each in stated if each in KINDS))


def dictionary(values: Any = (), /, **named_ones: Any) -> dict[Any, Any]:
    if isinstance(values, dict):
        return dict(values) | named_ones
    made = {}
    for pair in iterated(values):
        key, value = iterated(pair)
        made[as_key(key)] = value
    return made | named_ones


def numbers(*ends: Any) -> range:
    """range(...)."""
    if not all(isinstance(end, int) for end in ends):
        raise Refused("range of what is no integer")
    try:
        return range(*ends)
    except (TypeError, ValueError) as problem:
        raise Raises(f"the function raises {type(problem).__name__}: {problem}") from problem


def zipped(*values: Any, strict: Any = False) -> Any:
    def together() -> Any:
        try:
            yield from zip(*[iterated(value) for value in values], strict=bool(strict))
        except ValueError as problem:
            raise Raises(f"the function raises ValueError: {problem}") from problem

    return together()


def counted(values: Any, /, start: int = 0) -> Any:
    return enumerate(iterated(values), start)


def mapped(function: Any, /, *values: Any) -> Any:
    from .calls import called

    return (called(function, list(args), {}) for args in zip(*[iterated(v) for v in values]))  # noqa: B905


def filtered(function: Any, values: Any, /) -> Any:
    from .calls import called

    return (item for item in iterated(values) if truth(item if function is None else called(function, [item], {})))


def reduced(function: Any, values: Any, *start: Any) -> Any:
    """functools.reduce."""
    from .calls import called

    return functools.reduce(lambda a, b: called(function, [a, b], {}), iterated(values), *start)


def of_numbers(function: Callable[[Any], bool], of_symbols: bool) -> Callable[[Any], bool]:
    """A question that has one answer for all symbols, which are finite; floats may overflow where they are computed."""

    def asked(value: Any) -> bool:
        if symbolic(value) and computed(lifted(value)):
            raise Refused("whether a computed number is finite: ask before it is computed")
        return of_symbols if symbolic(value) else function(_known(value))

    return asked


def _absolute(value: Any, /) -> Any:
    """abs: of an array, numpy's."""
    if isinstance(value, Array):
        return magnitude(value)
    return functions.absolute(plain(value))


def backwards(values: Any, /) -> Any:
    """reversed(values), which sees what becomes of them."""
    if isinstance(values, Array):
        return iterated(Array(values.cells[::-1], values.kind))
    if not isinstance(values, SIZED) or isinstance(values, set | frozenset | Ranks):
        raise Refused(f"reversed() of a {named(values)}")
    found: Any = reversed(values)
    return of_dict(found) if isinstance(values, (dict, *VIEWS)) else found


def of_two(function: Callable[..., Any], operation: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """An operation, or a comparison, as a function of two values and nothing else."""
    return lambda a, b, /: function(operation, a, b)


power = of_two(binary, operator.pow)


def logarithm(x: Any, base: Any = None, /) -> Any:
    return functions.elementary("log", math.log)(x) if base is None else known_only(math.log)(x, base)


def text(value: Any = "") -> Any:
    """str(value)."""
    return functions.written(one(value), "")


def _known(value: Any) -> Any:
    if symbolic(value) or not is_number(value):
        raise Refused("a known number is needed")
    return value


def known_only(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of known numbers."""

    def applied(*values: Any) -> Any:
        try:
            return function(*[_known(value) for value in values])
        except (ArithmeticError, ValueError) as problem:
            raise Raises(f"the function raises {type(problem).__name__}: {problem}") from problem

    return applied


def _discrete_laplace(scale: Any, source: Any = None) -> Any:
    if source is not None and not isinstance(source, Generator):
        raise Refused("a source of randomness other than the usual one")
    return tracer().noise("discrete-laplace", scale)


def _said(*facts: Any, spent: Any = None) -> None:
    invariant.invariant(*facts, spent=None if spent is None else lifted(spent))


ELEMENTARY = ("log1p", "log2", "log10", "expm1", "tanh", "erf")
FINITE = {math.isnan: False, math.isinf: False, math.isfinite: True}
TABLE: list[tuple[Any, Callable[..., Any]]] = [
    (abs, _absolute),
    (max, best(functions.greater, largest_place)),
    (min, best(functions.lesser, least_place)),
    (sum, total),
    (len, length),
    (int, integer),
    (float, real),
    (bool, lambda value=False: truth(value)),
    (round, lambda value, ndigits=None: functions.rounded(value, ndigits)),
    (range, numbers),
    (enumerate, counted),
    (zip, zipped),
    (map, mapped),
    (filter, filtered),
    (reversed, backwards),
    (list, lambda values=(): listed(values)),
    (tuple, lambda values=(): tuple(listed(values))),
    (sorted, ordered),
    (any, lambda values: any(truth(value) for value in iterated(values))),
    (all, lambda values: all(truth(value) for value in iterated(values))),
    (dict, dictionary),
    (set, lambda values=(): {as_key(value) for value in iterated(values)}),
    (str, text),
    (pow, power),
    (isinstance, is_instance),
    (print, lambda *values, **options: None),
    (divmod, known_only(divmod)),
    (getattr, lambda on, name: attribute(on, name)),
    (samplers.discrete_laplace, _discrete_laplace),
    (invariant.invariant, _said),
    *[(getattr(math, name), functions.elementary(name, getattr(math, name))) for name in ELEMENTARY],
    *[(getattr(math, name), functions.elementary(name, getattr(math, name), False)) for name in ("sin", "cos")],
    *[(getattr(math, name), known_only(getattr(math, name))) for name in ("comb", "factorial", "gcd", "hypot")],
    *[(function, of_numbers(function, finite)) for function, finite in FINITE.items()],
    *[(operation, of_two(binary, operation)) for operation in (operator.add, operator.sub, operator.mul)],
    *[(operation, of_two(comparison, operation)) for operation in (operator.lt, operator.gt)],
    (operator.neg, lambda value: binary(operator.mul, -1, value)),
    (math.fsum, lambda values: real(total(values))),
    (math.floor, functions.floored),
    (math.ceil, functions.ceiled),
    (math.trunc, integer),
    (math.fabs, functions.absolute),
    (math.sqrt, square_root),
    (math.log, logarithm),
    (math.exp, functions.exponential),
    (math.pow, power),
    (math.isclose, lambda a, b, /, **options: math.isclose(_known(a), _known(b), **options)),
    (
        math.prod,
        lambda values, start=1: functools.reduce(functools.partial(binary, operator.mul), iterated(values), start),
    ),
    (functools.reduce, reduced),
]


def attribute(on: Any, name: Any, /) -> Any:
    """getattr of a name that is in the language as an attribute, too."""
    from .interpreter import INTERPRETER

    if not isinstance(name, str) or name.startswith("_"):
        raise Refused("getattr of a name that is private, or not known")
    return INTERPRETER.attribute(on, name)
