"""Calls: of functions of the language, of entries of tables, of classes and of objects."""

from __future__ import annotations

import dataclasses
import inspect
import types
from contextlib import suppress
from typing import Any

from ..refusals import Raises, Refused
from .classes import attribute, generated, initialiser
from .values import Class, Function, Module, Native, Object, named, of_records


def called(function: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
    """function(*args, **kwargs)."""
    if isinstance(function, Native):
        return _native(function, args, kwargs)
    if isinstance(function, Function):
        return _function(function, args, kwargs)
    if isinstance(function, Class):
        return _made(function.kind, args, kwargs)
    if isinstance(function, Object):
        return called(method(function, "__call__"), args, kwargs)
    if isinstance(function, Module) and callable(function.module):
        raise Refused("prove() inside of a mechanism")
    raise Refused(f"a call of a {named(function)}")


def _native(entry: Native, args: list[Any], kwargs: dict[str, Any]) -> Any:
    from .tables import takes_records

    if entry.source is not None and any(map(_records, (*args, *kwargs.values()))) and not takes_records(entry.source):
        raise Refused(f"{entry.name}() of records, which are clipped by a norm, added, and get noise only")
    try:
        return entry.call(*args, **kwargs)
    except RecursionError:
        raise
    except Exception as problem:  # an entry that does not say what it does of such values
        with suppress(ValueError):
            try:
                inspect.signature(entry.call).bind(*args, **kwargs)
            except TypeError as unlike:
                raise Refused(f"{entry.name}() with these arguments ({unlike})") from problem
        raise Refused(f"{entry.name}() of such values ({type(problem).__name__}: {problem})") from problem


def _records(value: Any) -> bool:
    """Whether there are records in it."""
    return any(map(_records, value)) if isinstance(value, list | tuple) else of_records(value)


def _function(function: Function, args: list[Any], kwargs: dict[str, Any]) -> Any:
    from .interpreter import INTERPRETER, Local

    given = bound(function.arguments, function.defaults, args, kwargs, function.name)
    return INTERPRETER.body(function.body, Local(function.outer, given, function.names, function.file))


def bound(stated: Any, defaults: dict[str, Any], args: list[Any], kwargs: dict[str, Any], name: str) -> dict[str, Any]:
    """Parameters and their values, as Python binds them. Raises Raises."""
    positional = [each.arg for each in (*stated.posonlyargs, *stated.args)]
    only = [each.arg for each in stated.kwonlyargs]
    given = dict(zip(positional, args, strict=False))
    rest, more = tuple(args[len(positional) :]), dict(kwargs)
    for key in [key for key in more if key in (*(each.arg for each in stated.args), *only)]:
        if key in given:
            raise Raises(f"the function raises TypeError: {name}() got two values for {key}")
        given[key] = more.pop(key)
    if stated.vararg is not None:
        given[stated.vararg.arg], rest = rest, ()
    if stated.kwarg is not None:
        given[stated.kwarg.arg], more = more, {}
    given = {key: value for key, value in defaults.items() if key not in given} | given
    missing = [key for key in (*positional, *only) if key not in given]
    if rest or more or missing:
        raise Raises(f"the function raises TypeError: {name}() called with other arguments than it takes")
    return given


def _made(kind: type, args: list[Any], kwargs: dict[str, Any]) -> Object:
    """A new object of the class."""
    start = initialiser(kind)
    if generated(kind):
        return _record(kind, args, kwargs)
    if dataclasses.is_dataclass(kind) and (start is None or start.__code__.co_filename == "<string>"):
        raise Refused(f"{kind.__name__}, a dataclass with factories")
    made = Object(kind, {})
    if start is not None:
        called(_written(start), [made, *args], kwargs)
    elif args or kwargs:
        raise Raises(f"the function raises TypeError: {kind.__name__}() takes no arguments")
    return made


def _record(kind: type, args: list[Any], kwargs: dict[str, Any]) -> Object:
    """An instance of a dataclass, with the __init__ that is generated."""
    from .globals import admitted

    fields = dataclasses.fields(kind)
    usual = {f.name: admitted(f.default, f.name) for f in fields if f.default is not dataclasses.MISSING}
    names = [f.name for f in fields]
    given = dict(zip([f.name for f in fields if not f.kw_only], args, strict=False)) | kwargs
    if set(usual | given) != set(names) or len(args) + len(kwargs) != len(given):
        raise Raises(f"the function raises TypeError: {kind.__name__}() called with other fields than it has")
    parameters: Any = vars(kind).get("__dataclass_params__")
    if any("__post_init__" in vars(each) for each in kind.__mro__):
        raise Refused(f"{kind.__name__}, which has a __post_init__")
    return Object(kind, {name: (usual | given)[name] for name in names}, bool(parameters and parameters.frozen), True)


def _written(function: types.FunctionType) -> Function:
    from .globals import function_of

    return function_of(function)


def method(on: Object, name: str) -> Any:
    """on.name, where it is no field."""
    from .globals import admitted

    value = attribute(on.kind, name)
    if isinstance(value, staticmethod):
        return _written(value.__func__)  # type: ignore[arg-type]
    if isinstance(value, types.FunctionType):
        function = _written(value)
        return Native(lambda *args, **kwargs: called(function, [on, *args], kwargs), name)
    return admitted(value, name)
