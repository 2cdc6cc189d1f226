"""What an answer says of itself, in the words of claims."""

from __future__ import annotations

from dpcert.accounting.bracket_report import NAME_OF_SCHEME
from dpcert.mechanisms.tables.scheme import Scheme
from dpcert.proofs_checks.schedules.logged import DRAWS


def test_schemes_have_the_names_that_claims_and_logs_give_them() -> None:
    (logged,) = set(NAME_OF_SCHEME.values()) - set(Scheme)
    assert f"scheme = '{logged}'" in DRAWS
