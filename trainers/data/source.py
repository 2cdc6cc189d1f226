"""`kind:argument` strings, as the command line's --data takes them, to federations."""

from __future__ import annotations

from functools import partial
from typing import Any

from ...mechanisms import InputError
from ...mechanisms.validate import count
from .federation import Federation
from .known import logistic_regression, mean_estimation, ridge_regression
from .leaf import load_leaf
from .stackoverflow import load_stackoverflow
from .store import load_store
from .synthetic import clustered_tasks, fedprox_synthetic, related_tasks
from .table import load_table

FILES: dict[str, Any] = {
    "leaf": load_leaf,
    "stackoverflow": load_stackoverflow,
    "csv": partial(load_table, form="csv"),
    "parquet": partial(load_table, form="parquet"),
    "store": load_store,
}
SYNTHETIC: dict[str, Any] = {
    "related": related_tasks,
    "fedprox": fedprox_synthetic,
    "clustered": lambda **options: clustered_tasks(**options)[0],
    "mean": lambda **options: mean_estimation(**options).federation,
    "ridge": lambda **options: ridge_regression(**options).federation,
    "logistic": lambda **options: logistic_regression(**options).federation,
}


def load_federation(source: str, seed: int = 0) -> Federation:
    """A federation from `synthetic[:NAME][,key=value...]` or `leaf|stackoverflow|csv|parquet:PATH[,key=value...]`.

    The options are the keyword arguments of the loader, such as `synthetic:related,spread=0.5` or
    `csv:data.csv,client=user,label=y`. Raises InputError for an unknown kind, option or value.
    """
    kind, _, rest = source.partition(":")
    argument, *options = rest.split(",")
    given: dict[str, Any] = {"seed": seed} | dict(parse_option(source, option) for option in options)
    given["seed"] = count("seed", given["seed"], least=0)
    if kind == "synthetic":
        name = argument or "related"
        if name not in SYNTHETIC:
            raise InputError("data", source, "synthetic: followed by one of " + ", ".join(SYNTHETIC))
        return _call(source, SYNTHETIC[name], (), given)
    if kind not in FILES:
        raise InputError("data", source, "synthetic, or KIND:PATH with KIND one of " + ", ".join(FILES))
    if not argument:
        raise InputError("data", source, f"{kind}:PATH")
    return _call(source, FILES[kind], (argument,), given)


def parse_option(source: str, text: str) -> tuple[str, Any]:
    """(key, value) of `key=value`, the value a number where it reads as one."""
    key, equals, value = text.partition("=")
    if not equals or not key:
        raise InputError("data", source, f"options of the form key=value, not {text!r}")
    for number in (int, float):
        try:
            return key, number(value)
        except ValueError:
            continue
    return key, value


def _call(source: str, loader: Any, arguments: tuple[str, ...], options: dict[str, Any]) -> Federation:
    try:
        federation: Federation = loader(*arguments, **options)
    except TypeError as error:
        if "keyword argument" not in str(error):
            raise
        raise InputError("data", source, f"options that the loader knows ({error})") from error
    return federation
