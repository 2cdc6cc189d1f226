"""Whatever an output is wrapped in, an audit finds in it what it would have found in the number itself."""

from __future__ import annotations

import datetime as dt
import enum
import io
import json
import struct
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import pytest
from cases import few

from dpcert.mechanisms import InputError
from dpcert.proofs_checks.auditing import audit
from dpcert.proofs_checks.auditing.outputs import Encoder
from dpcert.proofs_checks.auditing.structure import blocks

pandas = pytest.importorskip("pandas")


@dataclass
class Answer:
    value: float
    rounds: list[float]


class Plain:
    def __init__(self, value: float) -> None:
        self.value = value


class Slotted:
    __slots__ = ("value",)

    def __init__(self, value: float) -> None:
        self.value = value


class Point(NamedTuple):
    value: float
    name: str


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Table(SimpleNamespace):
    def __repr__(self) -> str:
        return f"Table({self.value})"


EPOCH = dt.datetime(2026, 1, 1)

WRAPPED: dict[str, Any] = {
    "dataclass": lambda x: Answer(x, [1.0]),
    "plain object": Plain,
    "slotted object": Slotted,
    "object with a repr": lambda x: Table(value=x),
    "named tuple": lambda x: Point(x, "sum"),
    "namespace": lambda x: SimpleNamespace(result={"sum": x}),
    "data frame": lambda x: pandas.DataFrame({"name": ["a"], "sum": [x]}),
    "series": lambda x: pandas.Series([x], index=["sum"]),
    "index of a series": lambda x: pandas.Series(["sum"], index=[x]),
    "column name": lambda x: pandas.DataFrame({"high" if x > 1 else "low": [1.0]}),
    "order of rows": lambda x: pandas.DataFrame({"n": [1, 2] if x > 1 else [2, 1]}, index=[1, 2] if x > 1 else [2, 1]),
    "order of a dict": lambda x: {"a": 0, "b": 0} if x > 1 else {"b": 0, "a": 0},
    "object array": lambda x: np.array([x, "sum"], object),
    "structured array": lambda x: np.array([(x, 1)], dtype=[("sum", "f8"), ("n", "i4")]),
    "masked array": lambda x: np.ma.array([1.0, x], mask=[True, x < 1]),
    "json": lambda x: json.dumps({"sum": x}),
    "number as text": lambda x: f"{x:.12f}",
    "bytes": lambda x: struct.pack(">d", x),
    "decimal": lambda x: Decimal(repr(x)),
    "fraction": Fraction,
    "complex": lambda x: complex(0.0, x),
    "complex array": lambda x: np.array([1.0 + 1j * x]),
    "date": lambda x: np.datetime64("2026-01-01", "ms") + np.timedelta64(int(x * 1e6), "ms"),
    "date array": lambda x: np.array(["2026-01-01"], "M8[ns]") + np.timedelta64(int(x * 1e12), "ns"),
    "datetime": lambda x: EPOCH + dt.timedelta(seconds=x * 1e4),
    "huge whole number": lambda x: int(x * 1e6) * 10**400,
    "enum": lambda x: Colour.RED if x > 1 else Colour.BLUE,
    "set": lambda x: {round(x, 6)},
    "nested": lambda x: [{"a": (1, [x, "b"])}],
}


def wrapped(kind: str, scale: float) -> Any:
    return lambda dataset, rng: WRAPPED[kind](sum(dataset) + rng.laplace(0.0, scale))


@pytest.mark.parametrize("kind", few(WRAPPED, 8))
def test_half_a_quarter_of_the_noise_is_found(kind) -> None:
    """8-DP that claims 1. Dataclasses and the like were hashed, and passed 200,000 calls."""
    result = audit(wrapped(kind, 1 / 8), ([1.0, 1.0], [1.0]), epsilon=1.0, trials=1500, method="eprocess", alpha=1e-4)
    assert result.refuted, kind


@pytest.mark.parametrize("kind", few(WRAPPED, 8))
def test_enough_noise_is_left_alone(kind) -> None:
    result = audit(wrapped(kind, 1.0), ([1.0, 1.0], [1.0]), epsilon=1.0, trials=200, alpha=1e-4)
    assert not result.refuted, kind


def test_bfloat16() -> None:
    torch = pytest.importorskip("torch")

    def rounded(dataset: list[float], rng: np.random.Generator) -> Any:
        return torch.tensor([sum(dataset) + rng.laplace(0.0, 1 / 8)], dtype=torch.bfloat16)

    assert audit(rounded, ([1.0, 1.0], [1.0]), epsilon=1.0, trials=1500, alpha=1e-4).refuted
    module = torch.nn.Linear(1, 1)
    assert any("state_dict" in part.path for part in blocks(module))


@pytest.mark.parametrize(
    "make",
    [
        lambda: lambda: None,
        lambda: Answer(object(), []),  # type: ignore[arg-type]
        lambda: [object()],
        lambda: {"sum": iter([1])},
        lambda: np.array([object()]),
        lambda: np.random.default_rng(0),
        lambda: io.StringIO("1"),
    ],
)
def test_addresses_are_refused_and_not_taken_for_outputs(make) -> None:
    """A constant mechanism that returns a new one of these was refuted in 12 of 12 seeds."""
    with pytest.raises(InputError, match=r"address in memory"):
        audit(lambda dataset, rng: make(), ([1.0], []), epsilon=1.0, trials=50)


def test_an_output_within_itself_is_refused() -> None:
    loop: list[Any] = []
    loop.append(loop)
    with pytest.raises(InputError, match="contain themselves"):
        audit(lambda dataset, rng: loop, ([1.0], []), epsilon=1.0, trials=5)


EQUAL = (Answer(1.0, [2.0]), Plain(3.0), {"a": {1, 2, 3}}, pandas.DataFrame({"x": [1.0, None]}), b"ab", Decimal("1.50"))


@pytest.mark.parametrize("output", EQUAL, ids=lambda output: type(output).__name__)
def test_equal_outputs_have_equal_rows(output) -> None:
    import copy

    rows = Encoder().each([output, copy.deepcopy(output), "else"]).rows
    assert np.array_equal(rows[0], rows[1], equal_nan=True)
    assert not np.array_equal(rows[0], rows[2], equal_nan=True)


def test_columns_are_named_as_python_names_them() -> None:
    encoder = Encoder()
    row = encoder.each(
        [{"a": [1.0, "x", 2.5], "b": np.zeros((1, 2))}, {"a": [1.0, "y", 3.5], "b": np.ones((1, 2))}]
    ).rows
    names = [encoder.layout.name(column) for column in range(row.shape[1])]
    assert "output['a'][2]" in names
    assert "output['b'][0][1]" in names
    assert row[0, names.index("output['a'][2]")] == 2.5
    text = names.index("output['a'][1]")
    assert encoder.layout.value(row[0, text], text) == "'x'"
    assert encoder.layout.texts[text].keys() == set(row[:, text])
    assert Encoder().layout.name(0) == "output"
