"""Runs as papers on training write them: epochs, dataset_size, batch_size."""

from __future__ import annotations

from typing import Any

import pytest

from dpcert.mechanisms import InputError, Poisson, Repeat
from dpcert.proofs_checks.claims.claim import parse_claim


def claim(sampling: dict[str, Any], composition: dict[str, Any]) -> Any:
    said = {"title": "a claim", "neighbouring": "add-remove", "epsilon": 3.0, "delta": 1e-5}
    noise = {"kind": "gaussian", "noise_multiplier": 1.1}
    return parse_claim({"claim": said, "mechanism": noise, "sampling": sampling, "composition": composition})


MNIST = {"scheme": "poisson", "dataset_size": 60_000, "batch_size": 256}


@pytest.mark.parametrize(
    ("sampling", "epochs", "rounds"),
    [
        (MNIST, 60, 14_063),  # 14,062.5: the last round counts
        ({"scheme": "poisson", "sampling_rate": 0.01}, 0.3, 30),  # .3 / .01 is 30 in decimals, not above
        ({"scheme": "poisson", "sampling_rate": 0.003}, 3, 1000),
    ],
)
def test_epochs_are_rounds(sampling: dict[str, Any], epochs: float, rounds: int) -> None:
    run = claim(sampling, {"epochs": epochs}).run
    assert isinstance(run, Repeat)
    assert run.rounds == rounds
    assert run == claim(sampling, {"rounds": rounds}).run


def test_the_other_names_mean_the_same() -> None:
    run = claim(MNIST, {"rounds": 7}).run
    assert run == claim({"scheme": "poisson", "population": 60_000, "cohort": 256}, {"rounds": 7}).run
    assert isinstance(run.mechanism, Poisson)
    assert run.mechanism.sampling_rate == 256 / 60_000


@pytest.mark.parametrize(
    ("sampling", "composition", "field"),
    [
        (MNIST, {"epochs": 60, "rounds": 3}, "composition.epochs"),
        (MNIST, {"epochs": 0}, "composition.epochs"),
        (MNIST | {"population": 60_000}, {"epochs": 1}, "sampling.dataset_size"),
        ({"scheme": "none"}, {"epochs": 2}, "composition.epochs"),
        (MNIST | {"batch_size": 0}, {"epochs": 1}, "sampling.cohort"),
    ],
)
def test_contradictions_are_named(sampling: dict[str, Any], composition: dict[str, Any], field: str) -> None:
    with pytest.raises(InputError) as refused:
        claim(sampling, composition)
    assert refused.value.field == field
