"""A proof for a few entries that is called "proved": the fault of version 0.2.0, planted."""

from __future__ import annotations

import pytest

from dpcert.proofs_checks import assert_proved
from dpcert.proofs_checks.proving import strategy
from dpcert.proofs_checks.proving.proof import PROVED


def every_answer(answers, rng):
    """Private for no epsilon: it costs more with every answer."""
    bound = rng.laplace(0, 2)
    return [bool(answer + rng.laplace(0, 4) >= bound) for answer in answers]


def test_a_proof_for_few_entries_that_is_called_proved_is_noticed(monkeypatch):
    claim = {"epsilon": 1.5, "relation": "answers", "entries": 2}
    with pytest.raises(AssertionError, match="proved up to N = 2 only"):
        assert_proved(every_answer, **claim)
    monkeypatch.setattr(strategy, "PROVED_UP_TO", PROVED)
    assert assert_proved(every_answer, **claim).proved
