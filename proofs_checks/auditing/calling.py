"""How a mechanism wants to be called, read off its parameters; and what comes of a call that fails.

Somebody who sees whether a release failed has seen an output, and a mechanism that fails on one neighbour only
leaks. By default an exception ends the audit (MechanismError); `observing_failures` makes it an output like any other.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
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


@dataclass(frozen=True, slots=True)
class Raised:
    """The outcome of a call that failed: the exception's class, and what it said."""

    kind: str
    text: str


@dataclass(frozen=True, slots=True)
class Changed:
    """In place of outputs: the calls changed the dataset that they were given."""


class DatasetChanged(InputError):
    """The mechanism changed a dataset in place, so that its later calls ran on another one."""

    def __init__(self, mechanism: str, side: str) -> None:
        expected = f"a mechanism that leaves its dataset as it is; this one changes {side} in place: give it a copy"
        super().__init__("mechanism", mechanism, expected)


def name_of(mechanism: object) -> str:
    """module:name, as the command line takes it."""
    qualified = getattr(mechanism, "__qualname__", type(mechanism).__qualname__)
    return f"{getattr(mechanism, '__module__', '?')}:{qualified}"


def called(mechanism: object) -> str:
    """What a sentence calls it."""
    mechanism = mechanism.mechanism if isinstance(mechanism, ObservingFailures) else mechanism
    name = name_of(mechanism).rpartition(":")[2].rpartition("<locals>.")[2]
    return "the mechanism" if "<" in name else name


def shortened(text: str, most: int = 200) -> str:
    """On one line of bounded length."""
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[: most - 3]}..."


@dataclass(frozen=True)
class ObservingFailures:
    """mechanism, with exceptions of these kinds as outputs of the type Raised. Runs one trial a call."""

    mechanism: Mechanism
    kinds: tuple[type[Exception], ...]

    def __call__(self, dataset: Any, rng: Any) -> Any:
        try:
            return call(self.mechanism, dataset, rng, style_of(self.mechanism))
        except self.kinds as problem:
            return Raised(type(problem).__name__, str(problem))


def observing_failures(mechanism: Mechanism, *kinds: type[Exception]) -> ObservingFailures:
    """The same mechanism, to somebody who sees that a call failed, and why (`kinds`: Exception unless given)."""
    style_of(mechanism)
    return ObservingFailures(mechanism, kinds or (Exception,))


class MechanismError(InputError):
    """The mechanism raised an exception, which is the cause (`__cause__`) of this one.

    dataset: the one that it was run on, as text. known: what the trials before it say, by the e-process alone
    (None where no claim was made, or no trial finished): which trials were finished depends on the outputs, so
    that no other test may look at them.
    """

    def __init__(self, mechanism: str, dataset: str, problem: str) -> None:
        expected = f"a callable that runs on the dataset {dataset} ({problem})"
        also = "if an attacker can see that a call failed, count failures as outputs: --observe-failures (in Python: "
        also += "observing_failures(mechanism))"
        super().__init__("mechanism", mechanism, f"{expected}; {also}")
        self.dataset = dataset
        self.known: Any = None  # an AuditResult, whose module rests on this one


def failed(mechanism: object, dataset: object, problem: BaseException) -> MechanismError:
    """The error to raise from `problem`."""
    said = shortened(f"{type(problem).__name__}: {problem}")
    return MechanismError(name_of(mechanism), shortened(repr(dataset), 120), said)
