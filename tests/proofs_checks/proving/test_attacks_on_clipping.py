"""What is clipped, squared, averaged or composed wrongly is not proved for less than it costs."""

from __future__ import annotations

import warnings

import attacks_on_columns
import attacks_on_numbers
import attacks_on_records
import pytest

from dpcert.mechanisms import InputError
from dpcert.proofs_checks.proving import prove

ATTACKS = [*attacks_on_records.ATTACKS, *attacks_on_numbers.ATTACKS, *attacks_on_columns.ATTACKS]
GROWING = [(function, {"container": "rows"}) for function in attacks_on_records.GROWING]
GROWING += [(function, {"low": -1, "high": 1}) for function in attacks_on_numbers.GROWING]


def by_day(cases, every):
    """Every so manieth by day, the others by night."""
    return [
        pytest.param(*case, marks=[pytest.mark.nightly] if i % every else [], id=case[0].__name__)
        for i, case in enumerate(cases)
    ]


def attempted(function, options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return prove(function, max_seconds=30, **({"entries": 2} | options))


@pytest.mark.parametrize(("function", "options"), by_day(ATTACKS, 8))
def test_it_is_not_proved(function, options):
    try:
        proof = attempted(function, options)
    except InputError:
        assert "sampling_rate" in options
        return
    assert proof.certificate is None, str(proof)
    assert proof.verdict in ("not proved", "unsupported")


@pytest.mark.parametrize(("function", "options"), by_day(GROWING, 4))
def test_what_grows_with_every_entry_has_no_proof_for_all(function, options):
    """For one and two entries the claim is true, and no more than that is proved."""
    assert not attempted(function, {"rho": 60.0} | options).every_size


@pytest.mark.parametrize(
    ("function", "rho"), [(attacks_on_records.norm_of_sum, 0.125), (attacks_on_records.sum_and_count, 0.15625)]
)
def test_a_claim_that_is_true_is_proved(function, rho):
    """So that what is said above is not said of everything."""
    relation = dict(attacks_on_records.ATTACKS)[function].get("relation", "replace-one")
    assert attempted(function, {"rho": rho, "relation": relation, "container": "rows"}).certificate is not None


def test_there_are_many():
    assert len(ATTACKS) >= 235
