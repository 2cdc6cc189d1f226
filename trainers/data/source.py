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

Loaders = dict[str, Callable[..., Any]]

FILES: Loaders = {
    "leaf": load_leaf,
    "stackoverflow": load_stackoverflow,
    "csv": partial(load_table, form="csv"),
    "parquet": partial(load_table, form="parquet"),
    "store": load_store,
}

SYNTHETIC: Loaders = {
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
    _, _, options = parsed(source)
    given = {"seed": seed} | options
    given["seed"] = count("seed", given["seed"], least=0)
    federation: Federation = called(source, loader_of(source, FILES, SYNTHETIC, "related"), given)
    return federation


def parsed(source: str) -> tuple[str, str, dict[str, Any]]:
    """(kind, argument, options) of `kind:argument,key=value...`; a value is a number where it reads as one."""
    kind, _, rest = source.partition(":")
    argument, *options = rest.split(",")
    return kind, argument, dict(_option(source, option) for option in options)


def _option(source: str, text: str) -> tuple[str, Any]:
    key, equals, value = text.partition("=")
    if not equals or not key:
        raise InputError("data", source, f"options of the form key=value, not {text!r}")
    for number in (int, float):
        try:
            return key, number(value)
        except ValueError:
            continue
    return key, value


def loader_of(source: str, files: Loaders, synthetic: Loaders, usual: str) -> Callable[..., Any]:
    """What loads or makes the data, up to its options. usual: of the synthetic ones. InputError for unknown kinds."""
    kind, argument, _ = parsed(source)
    if kind == "synthetic":
        if (argument or usual) not in synthetic:
            raise InputError("data", source, "synthetic: followed by one of " + ", ".join(synthetic))
        return synthetic[argument or usual]
    if kind not in files:
        guess = meant(source, ["synthetic"]) or meant(source.split(":")[0], files)
        raise InputError("data", source, "synthetic, or KIND:PATH with KIND one of " + ", ".join(files) + guess)
    if not argument:
        raise InputError("data", source, f"{kind}:PATH")
    return partial(files[kind], argument)


def called(source: str, loader: Callable[..., Any], options: dict[str, Any]) -> Any:
    """What it loads. InputError, naming those that there are, for an option that the loader does not know."""
    known = [name for name in signature(loader).parameters if name not in ("form", "structure")]  # what partial settled
    for name in options:
        if name not in known:
            raise InputError("data", source, f"options among {', '.join(known) or '(none)'}, not {name}")
    return loader(**options)
