"""Every mechanism inside of every wrapper, two deep, for every relation and observer: both ends against all outcomes.

The worlds: tests/oracles/two_deep.py. By day a sample, at night all.
"""

from itertools import product

import pytest
from cases import at_night
from two_deep import EXACT, INNER, WRAPPERS, compared

ROWS = [(leaf, *names) for leaf in INNER for names in [*((outer,) for outer in WRAPPERS), *product(WRAPPERS, repeat=2)]]
NAMES = ["/".join(row) for row in ROWS]
DAY = [name for name in NAMES if name.split("/")[0] in EXACT][::19]
"""Of the exact worlds."""


@pytest.mark.parametrize("row", DAY + [at_night(row) for row in NAMES if row not in DAY])
def test_both_ends(row):
    compared(tuple(row.split("/")))


def test_most_rows_are_answered():
    """Of the exact leaves: a table that refuses everything would pass."""
    rows = [row for row in ROWS if row[0] in ("discrete-laplace", "poisson") and len(row) == 2]
    assert sum(compared(row) > 0 for row in rows) >= 11
