"""Shuffled batches whose means weigh units unequally: the theorem about sums does not cover them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from dpcert.accounting import epsilon
from dpcert.accounting.billboard.guarantees import OUTSIDE
from dpcert.accounting.billboard.observers import observer_epsilon
from dpcert.mechanisms import Gaussian, InputError, RandomAllocation, Repeat, Shuffled
from dpcert.mechanisms.aggregation import SampleCountMean
from dpcert.mechanisms.tables import phase as phases
from dpcert.proofs_checks.claims.claim import Claim, parse_claim
from dpcert.proofs_checks.verification.verify import certified_interval

SHUFFLED = {"scheme": "shuffle", "population": 100, "cohort": 10}
UNEVEN, EVEN = [1.0] * 99 + [1.2], [1.0] * 100


def claim(relation: str, weights: list[float], scheme: str = "shuffle", **more: Any) -> Claim:
    mean = {"kind": "gaussian-mean", "noise_std": 0.2, "clip_norm": 1.0, "weights": weights, **more}
    statement = {"title": "T", "neighbouring": relation, "epsilon": 1.0, "delta": 1e-5}
    sampling = SHUFFLED | {"scheme": scheme}
    return parse_claim({"claim": statement, "mechanism": mean, "sampling": sampling, "composition": {"rounds": 10}})


@pytest.mark.parametrize("relation", ["zero-out", "replace-one"])
def test_they_cost_what_public_batches_do(relation: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Planted: weights that are taken for equal ones are amplified."""
    public = certified_interval(claim(relation, UNEVEN, "cyclic"))[0]
    assert certified_interval(claim(relation, UNEVEN))[0].upper == public.upper
    monkeypatch.setattr(phases, "has_uneven_batches", lambda _: False)
    assert certified_interval(claim(relation, UNEVEN))[0].upper < public.lower


def test_equal_weights_are_none() -> None:
    run = claim("zero-out", EVEN).run
    assert isinstance(run, Repeat)
    assert isinstance(run.mechanism, Shuffled)


def test_the_lower_end_is_that_of_idle_others() -> None:
    read = claim("zero-out", UNEVEN, releases=2)
    assert isinstance(read.attained_run, Repeat)
    assert isinstance(read.attained_run.mechanism, RandomAllocation)
    with pytest.raises(InputError, match="who takes a unit's place"):
        phases.refuse_uncovered(read.phases, "zero-out", hidden=False)


def test_uneven_counts_before_an_outside_reader() -> None:
    plain = epsilon(Gaussian(2.0), 1e-5, "zero-out")
    for heavy, amplified in ((10.0, True), (12.0, False)):
        mean = SampleCountMean(clip_norm=1.0, noise_std=1.0, counts=(*(10.0,) * 99, heavy), cohort=10)
        mean = replace(mean, noise_std=2.0 * mean.largest_weight)
        found = observer_epsilon(
            Shuffled(Gaussian(2.0), 10, 10), OUTSIDE, 1e-5, "zero-out", clients="stateless", aggregation=mean
        ).epsilon
        assert (found.upper < plain.lower) == amplified
