"""What leaks from some number of entries on is never proved for every number of them."""

from __future__ import annotations

import warnings

import pytest
from cases import few
from leaks_of_many import ATTACKS

from dpcert.proofs_checks.proving import prove


@pytest.mark.parametrize("name", few(list(ATTACKS), 25))
def test_it_is_not_proved_for_every_number_of_entries(name):
    function, options = ATTACKS[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert not prove(function, **options, up_to=2).every_size


def test_there_are_many():
    assert len(ATTACKS) >= 90
