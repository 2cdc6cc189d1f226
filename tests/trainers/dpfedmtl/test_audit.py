"""Training rounds against the paper's own claim: Lemma 4.2 is refuted for its listing and holds for ours.

Client 0's data pull its shared gradient to +C or to -C; what is scored is the release, which everybody reads, of a
first round in which client 0 takes part. The cohort does not depend on the data, so the claim, G_{1/sigma} for a client
that takes part, must hold for the rounds chosen that way.
"""

from __future__ import annotations

import functools
import itertools

import numpy as np
import pytest
import torch
from cases import few
from torch import nn

from dpcert.proofs_checks.auditing.audit import audit_samples
from dpcert.proofs_checks.auditing.curve import gdp
from dpcert.proofs_checks.auditing.trials import from_arrays
from dpcert.trainers.data import Client, Federation, Samples
from dpcert.trainers.dpfedmtl import DpFedMtl, DpFedMtlAsPrinted, DpFedMtlClipped, DpFedMtlLocalNoise
from dpcert.trainers.engine import noise as noise_module
from dpcert.trainers.engine.billboard import RecordingBillboard
from dpcert.trainers.engine.cohort import CohortSampler
from dpcert.trainers.engine.streams import Streams
from dpcert.trainers.federated import LocalSteps, Settings, Trainer

torch.set_num_threads(1)
POPULATION, COHORT, SIGMA = 24, 2, 1.0
ERROR = 1e-4
"""Probability with which a true claim is refuted."""
CLAIM = gdp(1 / SIGMA)


class Shift(nn.Module):
    """A head that adds its one number."""

    def __init__(self):
        super().__init__()
        self.by = nn.Parameter(torch.zeros(1))

    def forward(self, x):
        return x + self.by


MODEL = nn.Sequential(nn.Linear(1, 1, bias=False), Shift())
MODEL[0].weight.data.zero_()


@functools.cache
def federation(pull):
    targets = (pull, *(0.0 for _ in range(POPULATION - 1)))
    own = [Samples(np.ones((1, 1)), np.full((1, 1), target)) for target in targets]
    return Federation("canary", tuple(Client(str(k), s, s) for k, s in enumerate(own)), "regression", 1)


def settings(variant, seed):
    return Settings(
        rounds=1,
        cohort=COHORT,
        sampling="fixed-size",
        noise_multiplier=variant().noise_multiplier(SIGMA, COHORT, POPULATION),
        clip_norm=1.0,
        seed=seed,
        local=LocalSteps(learning_rate=0.1, steps=1, batch_size=None),
    )


@functools.cache
def seeds(first, number):
    """Seeds from `first` on with which client 0 is in the first cohort."""
    sampler = CohortSampler(settings(DpFedMtl, 0), POPULATION)
    chosen = (seed for seed in itertools.count(first) if 0 in sampler.draw(Streams(seed), 0, 0))
    return tuple(itertools.islice(chosen, number))


def score(variant, pull, seed):
    board = RecordingBillboard()
    Trainer(federation(pull), variant(), MODEL, settings(variant, seed), billboard=board)._round()
    assert (0, 0) in board.messages
    return board.billboard[1].item()


def refuted(variant, pull, trials):
    sides = [
        np.array([[score(variant, side, seed)] for seed in seeds(10**6 * place, trials)])
        for place, side in enumerate((pull, -pull))
    ]
    return audit_samples(from_arrays(*sides), claim=CLAIM, alpha=ERROR, method="curve").refuted


def test_as_printed_is_refuted():
    """Gradients of 50 C: nothing clips them."""
    assert refuted(DpFedMtlAsPrinted, 50.0, 150)


def test_clipped_is_refuted_by_its_noise_alone():
    """G_{M / (K^1.5 sigma)} in truth: 8.5 times too little noise on the average."""
    assert refuted(DpFedMtlClipped, 1e6, 150)


@pytest.mark.parametrize("variant", few([DpFedMtl, DpFedMtlLocalNoise], 4))
def test_corrected_is_not_refuted(variant):
    assert not refuted(variant, 1e6, 150)


class LocalNoiseOfThePaper(DpFedMtlLocalNoise):
    """Planted: the corrected form with the S of Lemma 4.1 again."""

    def sensitivity(self, clip_norm, cohort, population):
        return 2 * clip_norm * cohort / population


class NoClipping(DpFedMtl):
    """Planted: the corrected form without its clipping."""

    clips = False


@pytest.mark.parametrize(("variant", "pull"), few([(LocalNoiseOfThePaper, 1e6), (NoClipping, 50.0)], 4))
def test_planted_twins_are_refuted(variant, pull):
    assert refuted(variant, pull, 150)


def with_noise_of(share, monkeypatch):
    honest = noise_module.grid_noise
    monkeypatch.setattr(
        noise_module, "grid_noise", lambda rng, shape, deviation, *rest: honest(rng, shape, share * deviation, *rest)
    )


def test_corrected_with_a_third_of_its_noise_is_refuted(monkeypatch):
    with_noise_of(1 / 3, monkeypatch)
    assert refuted(DpFedMtl, 1e6, 300)


@pytest.mark.nightly
def test_corrected_with_more_trials_and_with_two_thirds_of_its_noise(monkeypatch):
    assert not refuted(DpFedMtl, 1e6, 4000)
    with_noise_of(2 / 3, monkeypatch)
    assert refuted(DpFedMtl, 1e6, 4000)
