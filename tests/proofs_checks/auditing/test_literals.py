"""Datasets as text: what is written is read back as it was, and nothing else is evaluated."""

import math

import numpy as np
import pandas as pd
import pytest
from cases import many
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from dpcert.proofs_checks.auditing.literals import read, written

PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.binary(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.lists(inner, max_size=3).map(tuple)
        | st.dictionaries(st.text(max_size=3) | st.integers(), inner, max_size=3)
    ),
    max_leaves=8,
)
KINDS = st.sampled_from(["float64", "float32", "int64", "int8", "uint16", "bool"])


def same(first, second) -> bool:
    """Equal, of one type, bit for bit but for the payloads of NaN."""
    if type(first) is not type(second):
        return False
    if isinstance(first, list | tuple):
        return len(first) == len(second) and all(map(same, first, second))
    if isinstance(first, dict):
        return list(first) == list(second) and all(map(same, first.values(), second.values()))
    if isinstance(first, float):
        return (math.isnan(first) and math.isnan(second)) or (first == second and math.copysign(1, first * second) >= 0)
    return first == second


@settings(max_examples=many(150), deadline=None, derandomize=True)
@given(PLAIN)
def test_plain_values(value):
    text = written(value)
    assert text is not None
    assert same(read(text), value)


@settings(max_examples=many(100), deadline=None, derandomize=True)
@given(arrays.arrays(KINDS, arrays.array_shapes(min_dims=1, max_dims=3, min_side=0, max_side=3)))
def test_arrays(value):
    again = read(written(value))
    assert again.dtype == value.dtype
    assert again.shape == value.shape
    assert np.array_equal(again, value, equal_nan=value.dtype.kind == "f")


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame({"x": [0.25, math.nan]}),
        pd.DataFrame({"x": [1, 2, 3], "name": ["a", "b", "c"]}).drop(1),
        pd.DataFrame({"x": [0.5]}, index=["row"]),
        pd.DataFrame({"x": np.array([1.5], "float32")}),
    ],
)
def test_data_frames(frame):
    pd.testing.assert_frame_equal(read(written(frame)), frame)


@pytest.mark.parametrize("value", [object(), {1, 2}, [object()], np.array(["a"]), list(range(5000)), 1j, math])
def test_what_cannot_be_written_is_not(value):
    assert written(value) is None


@pytest.mark.parametrize(
    "text",
    ["__import__('os')", "module:name", "name", "array(open('x'))", "object(1)", "", "array()", "-'a'", "f(*[1])",
     "{**{}}", "array([1], order='C')", "float64('a')", "[x for x in (1, 2)]"],
)  # fmt: skip
def test_nothing_else_is_evaluated(text):
    with pytest.raises(ValueError, match=r"literal|malformed|numpy|convert|sign|mapping"):
        read(text)
