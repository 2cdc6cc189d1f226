"""Guards of audits left out, planted: trials that are not what they seem are then believed."""

from __future__ import annotations

import os
import random
import sys
from importlib import import_module

import numpy as np
import pytest
from numpy.random import SeedSequence
from two_threads import drawn_by_two_threads

from dpcert.mechanisms import Gaussian
from dpcert.proofs_checks import assert_private, audit_trainer
from dpcert.proofs_checks.auditing.global_generators import controlled
from dpcert.proofs_checks.auditing.trainer import TrainerClaim


def test_threads_that_seed_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first one goes on with the other's generator, and what is printed later is lost."""
    state, out, system, inside = random.getstate(), sys.stdout, os.urandom, random._urandom  # type: ignore[attr-defined]
    with controlled(SeedSequence(1)):
        alone = [random.random(), random.random()]
    try:
        drawn, put_back = drawn_by_two_threads(monkeypatch, guarded=False)
    finally:
        sys.stdout, os.urandom, random._urandom = out, system, inside  # type: ignore[attr-defined]
        random.setstate(state)
    assert drawn != alone
    assert not put_back


def test_data_that_are_gone_after_the_first_call(monkeypatch: pytest.MonkeyPatch) -> None:
    """A release without noise passes: all calls but two saw nothing."""
    monkeypatch.setattr(import_module("dpcert.proofs_checks.auditing.audit"), "_is_read_once", lambda dataset: False)
    found = assert_private(lambda data, rng: float(sum(data)), (iter([0.0]), iter([1.0])), epsilon=1.0)
    assert not found.refuted


def test_a_trainer_that_hears_no_canary_looks_audited(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a look at the one run's scores, what the short runs could not check is passed over."""
    guarded = import_module("dpcert.proofs_checks.auditing.trainer")
    assert audit_trainer(Deaf(), runs=50).unchecked
    monkeypatch.setattr(guarded, "_unchecked", lambda *_: "")
    assert not audit_trainer(Deaf(), runs=50).unchecked


class Deaf:
    claim, canaries = TrainerClaim(Gaussian(1.0), "zero-out"), 50

    def scores(self, included: np.ndarray, seed: int) -> np.ndarray:
        return np.zeros(len(included))
