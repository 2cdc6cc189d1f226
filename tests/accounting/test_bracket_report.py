"""What an answer says of itself, in the words of claims."""

from __future__ import annotations

from typing import get_args

from dpcert.accounting.bracket_report import NAME_OF_SCHEME
from dpcert.mechanisms.tables.cohort import SamplingTable
from dpcert.proofs_checks.schedules.logged import DRAWS


def test_schemes_have_the_names_that_claims_and_logs_give_them() -> None:
    claimed = get_args(SamplingTable.model_fields["scheme"].annotation)
    (logged,) = set(NAME_OF_SCHEME.values()) - set(claimed)
    assert f"scheme = '{logged}'" in DRAWS
