"""Any output becomes rows of numbers, and equal outputs equal rows."""

import numpy as np
import pytest
from cases import many
from hypothesis import given, settings
from hypothesis import strategies as st

from dpcert.mechanisms import InputError
from dpcert.proofs_checks.auditing import Raised, audit
from dpcert.proofs_checks.auditing.outputs import Encoder, Outputs, join


def test_numbers_vectors_and_arrays():
    assert Encoder().each([1, 2.5, True]).rows.tolist() == [[1.0], [2.5], [1.0]]
    assert Encoder().each([[1, 2], [3, 4]]).rows.shape == (2, 2)
    assert Encoder().batch(np.zeros((5, 2, 3)), 5).rows.shape == (5, 6)


def test_tensors():
    torch = pytest.importorskip("torch")
    assert Encoder().batch(torch.ones(4, 3, requires_grad=True), 4).rows.shape == (4, 3)
    assert Encoder().each([torch.ones(2), torch.zeros(2)]).rows.shape[0] == 2


def test_objects_have_numbers_of_their_own():
    first, second = Encoder().each(["a", "b", None]), Encoder().each([None, "a", "c"])
    assert first.rows[0] == second.rows[1]
    assert first.rows[2] == second.rows[0]
    assert len({float(row[0]) for row in np.concatenate([first.rows, second.rows])}) == 4


OUTPUTS = (1, 2.5, True, [1.0, 2.0], [1.0, 2.0, 3.0], [[1, 2], [3, 4]], [[1], [2, 3]], "a", ("a", [2.0, "b"]), {"x": 1},
           {3, 4}, None, [], np.ones((2, 2), np.float32), Raised("ValueError", "no"))  # fmt: skip


@settings(max_examples=many(100), deadline=None, derandomize=True)
@given(st.lists(st.sampled_from(range(len(OUTPUTS))), min_size=1, max_size=6))
def test_a_row_depends_on_its_own_output_alone(chosen):
    together = Encoder().each([OUTPUTS[index] for index in chosen]).rows
    for row, index in zip(together, chosen, strict=True):
        alone = Encoder().each([OUTPUTS[index]]).rows[0]
        assert np.array_equal(row[: len(alone)], alone, equal_nan=True)
        assert np.isnan(row[len(alone) :]).all()


def test_objects_that_are_addresses_are_refused():
    with pytest.raises(InputError, match="repr of their own"):
        Encoder().each([object()])


def test_failures_are_no_numbers():
    rows = Encoder().each([Raised("ValueError", "a"), Raised("ValueError", "b"), Raised("KeyError", "a"), 3.0]).rows
    assert np.isnan(rows[:3, 0]).all()
    assert len(np.unique(Outputs(rows).keys())) == 4


def test_transcripts_of_different_lengths_stay_different():
    rows = Encoder().each([[1.0], [1.0, 1.0], [], {"loss": 1.0}, ("a", [2.0, "b"])])
    assert len(set(rows.keys().tolist())) == 5


def test_float32_is_kept_exactly():
    values = np.array([0.1, 1e-30], np.float32)
    assert np.array_equal(Encoder().batch(values, 2).rows[:, 0].astype(np.float32), values)


def test_join_pads_with_nan():
    joined = join([Outputs(np.ones((2, 1))), Outputs(np.ones((1, 3)))])
    assert joined.rows.shape == (3, 3)
    assert np.isnan(joined.rows[0, 1:]).all()


def test_keys_tell_rows_apart():
    rows = np.random.default_rng(0).integers(0, 3, (5000, 6)).astype(float)
    assert len(np.unique(Outputs(rows).keys())) == len(np.unique(rows, axis=0))


def test_a_batch_of_the_wrong_size_is_refused():
    with pytest.raises(InputError, match="first axis"):
        Encoder().batch(np.zeros(3), 4)
    with pytest.raises(InputError, match="mechanism"):
        Encoder().batch("abc", 4)


ODD = np.array([np.nan, np.inf, -np.inf, 1e308, -1e308, 0.0, 5e-324])
UNUSUAL = {
    "odd numbers": lambda dataset, rng, size: rng.choice(ODD, size),
    "odd vectors": lambda dataset, rng, size: rng.choice(ODD, (size, 12)),
    "strings": lambda dataset, rng, size: rng.choice(["a", "b"], size),
    "objects": lambda dataset, rng, size: rng.choice(np.array([None, (1, 2)], object), size),
    "nothing": lambda dataset, rng: [],
    "large whole numbers": lambda dataset, rng: int(rng.integers(0, 5)) * 10**30,
    "complex numbers": lambda dataset, rng: complex(rng.integers(2), 1.0),
}


@pytest.mark.parametrize("method", ["best", "low-bits"])
@pytest.mark.parametrize("kind", UNUSUAL)
def test_unusual_outputs_are_outputs(kind, method):
    """No error and no warning (which pytest makes errors), whatever comes out."""
    result = audit(UNUSUAL[kind], ([1.0], []), epsilon=1.0, trials=400, alpha=1e-4, method=method)
    assert result.stopped == "complete"
    assert not result.refuted
