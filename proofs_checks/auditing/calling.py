"""How a mechanism wants to be called, read off its parameters: with a generator or without, for one output or many."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, Literal

import numpy as np
from numpy.random import Generator

from ...mechanisms import InputError

Mechanism = Callable[..., Any]
Style = Literal["single", "size", "rngs", "named", "random_state", "alone"]
"""Called with (dataset, rng), (dataset, rng, size=), (dataset, rngs=), (dataset, rng=), (dataset, random_state=), or
(dataset) alone."""

_GENERATOR = ("rng", "generator")
_Kind = inspect.Parameter


def style_of(mechanism: Mechanism) -> Style:
    """By the names of the parameters; a second one that has to be given is the generator. Raises InputError."""
    if not callable(mechanism):
        raise InputError("mechanism", mechanism, "a callable mechanism(dataset, rng) -> output")
    try:
        parameters = inspect.signature(mechanism).parameters
    except (TypeError, ValueError):
        return "single"
    if "size" in parameters:
        return "size"
    if "rngs" in parameters:
        return "rngs"
    listed = [p for p in parameters.values() if p.kind in (_Kind.POSITIONAL_ONLY, _Kind.POSITIONAL_OR_KEYWORD)]
    several = any(p.kind is _Kind.VAR_POSITIONAL for p in parameters.values())
    if several or (len(listed) > 1 and (listed[1].default is _Kind.empty or listed[1].name in _GENERATOR)):
        return "single"
    if any(name in parameters for name in _GENERATOR):
        return "named"
    return "random_state" if "random_state" in parameters else "alone"


def call(mechanism: Mechanism, dataset: Any, rng: Generator, style: Style) -> Any:
    """One output."""
    if style == "single":
        return mechanism(dataset, rng)
    if style == "size":
        return mechanism(dataset, rng, size=1)[0]
    if style == "rngs":
        return mechanism(dataset, rngs=[rng])[0]
    if style == "alone":
        return mechanism(dataset)
    if style == "random_state":
        return mechanism(dataset, random_state=np.random.RandomState(rng.bit_generator))
    parameters = inspect.signature(mechanism).parameters
    return mechanism(dataset, **{next(name for name in _GENERATOR if name in parameters): rng})


def batched(style: Style) -> bool:
    """Whether one call gives many outputs."""
    return style in ("size", "rngs")


def call_many(mechanism: Mechanism, dataset: Any, rng: Generator, count: int, style: Style) -> Any:
    """`count` outputs, trial first."""
    if style == "size":
        return mechanism(dataset, rng, size=count)
    if style == "rngs":
        return mechanism(dataset, rngs=rng.spawn(count))
    return [call(mechanism, dataset, rng, style) for _ in range(count)]
