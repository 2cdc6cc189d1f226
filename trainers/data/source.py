"""`kind:argument` strings, as the command line's --data takes them, to federations."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from inspect import signature
from typing import Any

from ...mechanisms import InputError
from ...mechanisms.validate import count, meant
from .federation import Federation
from .leaf import load_leaf
from .on_demand import related_tasks_on_demand
from .stackoverflow import load_stackoverflow
from .store import load_store
from .synthetic import (
    clustered_tasks,
    fedprox_synthetic,
    logistic_regression,
    mean_estimation,
    related_tasks,
    ridge_regression,
)
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
    "on-demand": related_tasks_on_demand,
    "fedprox": fedprox_synthetic,
    "clustered": clustered_tasks,
    "mean": mean_estimation,
    "ridge": ridge_regression,
    "logistic": logistic_regression,
}


def load_federation(source: str, seed: int = 0) -> Federation:
    """A federation from `synthetic[:NAME][,key=value...]` or `leaf|stackoverflow|csv|parquet:PATH[,key=value...]`.

    The options are the keyword arguments of the loader, such as `synthetic:related,spread=0.5` or
    `csv:data.csv,client=user,label=y`. Raises InputError for an unknown kind, option or value.

    source: where the data are, as `--data` takes it: synthetic, leaf:PATH, csv:PATH, ...
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
        guess = meant(source, ["synthetic"]) or meant(source.split(":")[0], FILES)
        raise InputError("data", source, "synthetic, or KIND:PATH with KIND one of " + ", ".join(FILES) + guess)
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
    check_options(source, loader, len(arguments), options)
    federation: Federation = loader(*arguments, **options)
    return federation


def check_options(source: str, loader: Callable[..., Any], arguments: int, options: dict[str, Any]) -> None:
    """InputError, naming those that there are, for an option that the loader does not know."""
    known = list(signature(loader).parameters)[arguments:]
    known = [name for name in known if name != "form"]  # what partial settled
    for name in options:
        if name not in known:
            raise InputError("data", source, f"options among {', '.join(known) or '(none)'}, not {name}")
