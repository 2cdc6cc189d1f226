"""Two hundred attacks on the language of proofs: none is proved, and what is refused is refused with its line."""

from __future__ import annotations

import re
import warnings

import pytest
import red_team_lines
from cases import few
from red_team import ATTACKS

from dpcert.proofs_checks.proving import prove
from dpcert.proofs_checks.proving.checker.language import above_zero

LISTED = [(group, name, function) for group, held in ATTACKS.items() for name, function in held.items()]


def parameters():
    for i, (group, name, function) in enumerate(LISTED):
        marks = [pytest.mark.nightly] if i % 6 else []
        yield pytest.param(function, id=f"{group}, {name}", marks=marks)


@pytest.mark.parametrize("container", ["array", "list"])
@pytest.mark.parametrize("function", list(parameters()))
def test_it_is_not_proved(function, container):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        proof = prove(function, epsilon=1, up_to=2, max_seconds=20, container=container)
    assert proof.certificate is None, str(proof)
    assert proof.verdict in ("not proved", "unsupported")
    if proof.verdict == "unsupported":
        assert re.match(r"red_team\.py, line \d+", proof.reason), proof.reason
        assert "\n" not in proof.reason


def test_there_are_many():
    assert len(LISTED) >= 200
    assert len(red_team_lines.ATTACKS) >= 120


@pytest.mark.parametrize("function", few(red_team_lines.ATTACKS, 8))
def test_no_line_is_proved(function):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        proof = prove(function, epsilon=1, up_to=2, max_seconds=20)
    assert proof.certificate is None, str(proof)


OF_COMPUTED = [red_team_lines.root_of_tanh, red_team_lines.log_of_tanh]


@pytest.mark.parametrize("function", OF_COMPUTED)
def test_values_that_do_not_exist_are_noticed_where_their_sign_is_believed(function, monkeypatch):
    """Planted: whatever is computed is above 0. Runs on numbers come to a point of a way without a value."""
    assert prove(function, up_to=2).verdict == "unsupported"
    monkeypatch.setattr(above_zero, "_known_sign", lambda form: True)
    proof = prove(function, up_to=2)
    assert proof.certificate is None, str(proof)
    assert "does not exist at a point of a way" in str(proof)
