"""What Python does is not taken for something else: neither late nor rarely nor where a number is none."""

from __future__ import annotations

import misread
import numpy as np
import pytest

from dpcert.proofs_checks.proving import prove
from dpcert.proofs_checks.proving.checker.current_run import followed
from dpcert.proofs_checks.proving.checker.farkas import Prover
from dpcert.proofs_checks.proving.checker.language import arrays, numpy_cells, numpy_made
from dpcert.proofs_checks.proving.checker.language.methods import ARRAYS
from dpcert.proofs_checks.proving.checker.pairs import Data
from dpcert.proofs_checks.proving.checker.real.runs import close
from dpcert.proofs_checks.proving.checker.tracer import Tracer


@pytest.mark.parametrize("function", misread.LATE)
def test_what_leaks_late_is_not_proved_for_every_number(function):
    assert not prove(function, epsilon=1, entries=1).every_size


@pytest.mark.parametrize("function", misread.NEVER + misread.NOT_A_NUMBER)
def test_what_leaks_is_not_proved(function):
    assert prove(function, epsilon=1, entries=1).certificate is None


@pytest.mark.parametrize(("function", "options"), misread.CAREFUL)
def test_what_has_a_value_is_proved(function, options):
    assert prove(function, epsilon=1, entries=1, **options).every_size


@pytest.mark.parametrize("real", [np.inf, -np.inf, np.nan, 3.1])
def test_no_number_is_close_to_another_or_to_none(real):
    """The tolerance grows with the numbers: an infinite one would be near to all."""
    assert close([3.0], [3.0 + 1e-12])
    assert not close([3.0], [real])
    assert not close([real, 3.0], [3.0, 3.0])


FLAT = np.arange(6.0).reshape(2, 3)
MADE = {
    "array": (np.array, numpy_cells.array),
    "copy": (np.copy, numpy_cells.array),
    "method": (lambda x: x.copy(), ARRAYS["copy"]),
    "astype": (lambda x: x.astype(int), lambda x: ARRAYS["astype"](x, int)),
    "zeros": (np.zeros_like, numpy_made.like(0)),
    "full": (lambda x: np.full_like(x, 2.0), lambda x: numpy_made.full_like(x, 2.0)),
    "concatenated": (lambda x: np.concatenate([x, x]), lambda x: numpy_made.combined(np.concatenate)([x, x])),
    "stacked": (lambda x: np.stack([x, x]), lambda x: numpy_made.combined(np.stack)([x, x])),
    "digitized": (lambda x: np.digitize(x, [0, 1]), lambda x: numpy_cells.digitized(x, [0, 1])),
}


@pytest.mark.parametrize("name", MADE)
@pytest.mark.parametrize("flat", [FLAT, FLAT.T, FLAT.T[::-1], FLAT[:, ::2]])
def test_arrays_lie_in_memory_as_numpy_s_do(name, flat):
    """Whether ravel and reshape give a view, by which the array is changed, hangs on that."""
    of_numpy, of_the_language = MADE[name]
    cells = np.empty_like(flat, object)
    cells[...] = flat
    with followed(Tracer(Prover(), Data(False), [])):
        real, made = of_numpy(flat), of_the_language(arrays.Array(cells, "f")).cells
    assert (made.flags.c_contiguous, made.flags.f_contiguous) == (real.flags.c_contiguous, real.flags.f_contiguous)
    assert made.tolist() == real.tolist()
