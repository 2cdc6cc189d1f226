"""What the names in the user's function mean while the checker runs it: the function itself is not changed."""

from __future__ import annotations

import builtins
import functools
import math
import numbers
import operator
import sys
import types
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np

from ....mechanisms import samplers
from .dice import Dice
from .entered import AS_THEY_ARE, Entered, betrays, by_value_only
from .following import Refused, refuse, tracer
from .forms import Form, Sign, greater, lesser
from .harmless import foreign
from .numpy_stand_in import NUMPY
from .order import Order, largest_place, least_place
from .stand_ins import Integer, NumpyArray, Real, Text
from .tables import Table
from .tracer import noisy

LIBRARIES = ("numpy", "scipy", "pandas", "torch", "z3")


def _is_instance(value: Any, kinds: Any) -> bool:
    listed = kinds if isinstance(kinds, tuple) else (kinds,)
    if isinstance(value, Sign | Order):
        raise refuse("isinstance of a truth value or an order that is a symbol")
    if isinstance(value, Dice):
        return any(kind is object or kind is np.random.Generator for kind in listed)
    if not isinstance(value, Form):
        return isinstance(value, kinds)
    known = (float, Real, numbers.Number, numbers.Complex, numbers.Real, np.floating, np.generic, object)
    others: tuple[Any, ...] = (
        Integer,
        int,
        bool,
        str,
        bytes,
        list,
        tuple,
        dict,
        np.integer,
        np.ndarray,
        NumpyArray,
        Text,
        numbers.Integral,
        type(None),
    )
    if any(kind is k for kind in listed for k in (int, Integer, np.integer, numbers.Integral)) and _counts(value):
        raise refuse("isinstance of a whole symbol and int")
    if not all(any(kind is k for k in known + others) for kind in listed):
        raise refuse("isinstance of a symbol and an unknown type")
    return any(any(kind is k for k in known) for kind in listed)


def _counts(form: Form) -> bool:
    """Whether it may be an int at some point: sums of whole numbers are."""
    return all(name in tracer().data.whole or name[0] == "n" for name in form.slopes)


def _type_of(*arguments: Any) -> Any:
    if len(arguments) == 1 and isinstance(arguments[0], Form | Sign | Table | Order | Dice):
        raise refuse("type() of a symbol or of the generator")
    return type(*arguments)


def _attribute(value: Any, name: str, *otherwise: Any) -> Any:
    if isinstance(value, Form | Sign) or betrays(name) or (otherwise and _computed(value, name)):
        raise refuse(f"getattr of {name}")
    return meaning(getattr(value, name, *otherwise), {})


def _has(value: Any, name: str) -> bool:
    if isinstance(value, Form | Sign | Table | Order | Dice) or _computed(value, name):
        raise refuse("hasattr of a symbol, of the generator or of what is computed")
    return hasattr(value, name)


def _computed(value: Any, name: str) -> bool:
    """Whether the attribute is a property, or like one: of numbers it may raise what it does not raise of symbols."""
    return own(type(value).__module__) and hasattr(type(getattr(type(value), name, None)), "__set__")


def _is_subclass(kind: Any, kinds: Any) -> bool:
    if any(each is Real or each is Integer for each in (kind, kinds)):
        raise refuse("issubclass of float or int")
    return issubclass(kind, kinds)


def _best(
    plain: Callable[..., Any], pick: Callable[[Any, Any], Any], place: Callable[[list[Any]], int]
) -> Callable[..., Any]:
    """max or min; of several noisy values in one fork, of data merged into one value where that can be."""

    def best(*values: Any, **options: Any) -> Any:
        listed = list(values[0]) if len(values) == 1 else list(values)
        if options or not any(isinstance(value, Form) for value in listed):
            return plain(listed, **options)
        if len(listed) > 2 and any(isinstance(value, Form) and noisy(value) for value in listed):
            return listed[place(listed)]
        return functools.reduce(pick, listed)

    return best


def _no(name: str) -> Callable[..., Any]:
    def no(*_: Any, **__: Any) -> Any:
        raise refuse(f"{name} is not supported")

    return no


class Forbidden:
    """Something of Python's own that may decide by chance or by the clock, read memory, or remember."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        raise refuse(f"{self._name}.{attribute} is not supported")

    def __call__(self, *_: Any, **__: Any) -> Any:
        raise refuse(f"{self._name} is not supported")


class Module:
    """A module that may be used; what it holds means what it would in the function itself."""

    def __init__(self, module: types.ModuleType) -> None:
        self.module = module

    def __getattr__(self, attribute: str) -> Any:
        return meaning(getattr(self.module, attribute), {})


class Maths:
    """math, where it makes sense for symbols."""

    def __getattr__(self, name: str) -> Any:
        if name in ("isnan", "isinf", "isfinite"):
            return lambda x: name == "isfinite" if isinstance(x, Form) else getattr(math, name)(x)
        return {"fabs": abs, "fsum": sum}.get(name) or getattr(math, name)


MATHS = Maths()


def _import(name: str, *arguments: Any, **options: Any) -> Any:
    if foreign(name):
        raise refuse(f"import {name} inside the function")
    return meaning(__import__(name, *arguments, **options), {})


BUILTINS = vars(builtins) | {
    "float": Real,
    "int": Integer,
    "str": Text,
    "isinstance": _is_instance,
    "type": _type_of,
    "getattr": _attribute,
    "hasattr": _has,
    "issubclass": _is_subclass,
    "max": _best(max, greater, largest_place),
    "min": _best(min, lesser, least_place),
    "__import__": _import,
}
WITHOUT = (
    "id", "hash", "open", "input", "exec", "eval", "compile", "globals", "locals", "vars", "dir", "callable",
    "breakpoint", "memoryview", "bytes", "bytearray",
)  # fmt: skip
BUILTINS |= {name: _no(name) for name in WITHOUT}
REPLACED = {id(getattr(builtins, name)): BUILTINS[name] for name in vars(builtins) if name not in AS_THEY_ARE}
"""By the object that stands for it in Python itself."""


def _discrete_laplace(scale: Any, source: Any = None) -> Any:
    return tracer().noise("discrete-laplace", scale)


def meaning(value: Any, known: dict[int, Any]) -> Any:
    """What a global, closed-over or imported value is during the run."""
    if value is samplers.discrete_laplace:
        return _discrete_laplace
    if isinstance(value, types.FunctionType) and own(value.__module__ or ""):
        return followed(value, known)
    if value is operator.is_ or value is operator.is_not:
        return _no("operator.is_")
    if id(value) in REPLACED:
        return REPLACED[id(value)]
    if isinstance(value, types.ModuleType):
        if value is np or value is math:
            return NUMPY if value is np else MATHS
        root = value.__name__.split(".")[0]
        if root == "numpy" or foreign(root):
            return Forbidden(value.__name__)
        return Module(value)
    name, home = str(getattr(value, "__name__", "")), str(getattr(value, "__module__", None) or "")
    if name and vars(np).get(name) is value:
        return getattr(NUMPY, name)
    return Forbidden(f"{home}.{name}") if isinstance(value, MADE) and foreign(home) else value


MADE = (types.BuiltinFunctionType, type)


def own(module: str) -> bool:
    root = module.split(".")[0]
    ours = module.startswith("dpcert.proofs_checks.proving")
    return root not in sys.stdlib_module_names and root not in LIBRARIES and not ours


def taking(function: Callable[..., Any], container: Any) -> Callable[..., Any]:
    """The function of an array that a function of this container is. Raises Refused for another container."""
    if container == "array":
        return function
    if container != "list":
        raise Refused(f"a dataset that is neither an array nor a list but {container!r:.40}")
    return lambda dataset, rng: function(dataset.tolist(), rng)


def followed(function: Callable[..., Any], known: dict[int, Any] | None = None) -> Callable[..., Any]:
    """The function over these names."""
    known = {} if known is None else known
    if isinstance(function, types.MethodType):
        return types.MethodType(followed(function.__func__, known), function.__self__)
    if isinstance(function, functools.partial):
        return functools.partial(followed(function.func, known), *function.args, **function.keywords)
    if not isinstance(function, types.FunctionType):
        return function
    if id(function) in known:
        return known[id(function)]  # type: ignore[no-any-return]
    scope: dict[str, Any] = {"__builtins__": BUILTINS, "__name__": function.__module__}
    closure = tuple(types.CellType() for _ in function.__closure__ or ()) or None
    twin = types.FunctionType(function.__code__, scope, function.__name__, None, closure)
    twin.__dict__ |= function.__dict__
    known[id(function)] = twin
    twin.__defaults__ = tuple(meaning(value, known) for value in function.__defaults__ or ()) or None
    twin.__kwdefaults__ = {name: meaning(value, known) for name, value in (function.__kwdefaults__ or {}).items()}
    pending = [function.__code__]
    while pending:
        code = pending.pop()
        pending += [constant for constant in code.co_consts if isinstance(constant, types.CodeType)]
        by_value_only(code)
        for name in code.co_names:
            if name in function.__globals__ and name not in scope:
                scope[name] = meaning(function.__globals__[name], known)
    for new, old in zip(closure or (), function.__closure__ or (), strict=True):
        with suppress(ValueError):  # one that is not bound yet
            new.cell_contents = meaning(old.cell_contents, known)
    return twin


def entered() -> Entered:
    """What reads the code that a function runs."""
    return Entered(BUILTINS, lambda value: meaning(value, {}))
