"""Descriptions survive the way to JSON and back, whatever their numbers."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpcert.mechanisms import (
    DiscreteGaussian,
    FixedSize,
    Gaussian,
    InputError,
    Laplace,
    Poisson,
    RandomizedResponse,
    Repeat,
    Sequence,
    VisibleParticipation,
    Zcdp,
)
from dpcert.mechanisms.serialise import from_json, from_plain, to_json

positive = st.floats(1e-300, 1e300)
bases = st.one_of(
    positive.map(Gaussian),
    positive.map(Laplace),
    positive.map(Zcdp),
    st.builds(DiscreteGaussian, positive, st.integers(1, 100)),
    st.builds(RandomizedResponse, st.floats(1e-9, 0.5)),
)
sampled = st.one_of(
    bases,
    st.builds(Poisson, bases, st.floats(1e-12, 1.0)),
    st.builds(lambda base, cohort, rest: FixedSize(base, cohort + rest, cohort), bases, st.integers(1), st.integers(0)),
)
runs = st.recursive(
    sampled | st.builds(Poisson, bases, st.floats(1e-12, 1.0)).map(VisibleParticipation),
    lambda inner: st.one_of(
        st.builds(Repeat, inner, st.integers(1, 10**9)),
        st.lists(inner, min_size=1, max_size=3).map(lambda parts: Sequence(tuple(parts))),
    ),
    max_leaves=6,
)


@given(runs)
def test_round_trip_is_exact(run):
    assert from_json(to_json(run)) == run


@pytest.mark.parametrize(
    ("data", "named"),
    [
        ([], "mechanism"),
        ({"kind": "Nothing"}, "kind"),
        ({"kind": "Gaussian"}, "fields of Gaussian"),
        ({"kind": "Gaussian", "noise_multiplier": 1.0, "sigma": 2}, "fields of Gaussian"),
        ({"kind": "Gaussian", "noise_multiplier": -1.0}, "noise_multiplier"),
    ],
)
def test_bad_data_is_named(data, named):
    with pytest.raises(InputError) as caught:
        from_plain(data)
    assert caught.value.field == named


def test_truncated_json_is_refused():
    with pytest.raises(InputError):
        from_json(to_json(Gaussian(1.0))[:-1])
