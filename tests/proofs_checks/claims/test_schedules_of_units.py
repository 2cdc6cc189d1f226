"""Claims of cyclic batches and random allocation: what they describe, their verdicts, witnesses and certificates."""

from __future__ import annotations

import json
from math import inf
from pathlib import Path

import numpy as np
import pytest

from dpcert.accounting import epsilon
from dpcert.mechanisms import Cyclic, DistributedDiscreteGaussian, Gaussian, InputError, RandomAllocation, Repeat
from dpcert.proofs_checks.certificates.checker import check
from dpcert.proofs_checks.claims.claim import parse_claim
from dpcert.proofs_checks.verification.verify import verify


def claim(sampling: dict, rounds: int, stated: float = 3.0, **more: object):
    return parse_claim(
        {
            "claim": {"title": "t", "neighbouring": "zero-out", "epsilon": stated, "delta": 1e-5, **more},
            "mechanism": {"kind": "gaussian", "noise_multiplier": 1.0},
            "sampling": sampling,
            "composition": {"rounds": rounds},
        }
    )


CYCLIC = {"scheme": "cyclic", "population": 1000, "cohort": 10}
ALLOCATED = {"scheme": "random-allocation", "block": 100}


def test_what_is_described():
    assert claim(CYCLIC, 1000).run == Repeat(Cyclic(Gaussian(1.0), 100), 10)
    assert claim(ALLOCATED, 1000).run == Repeat(RandomAllocation(Gaussian(1.0), 100, 1), 10)
    several = ALLOCATED | {"per_block": 5, "population": 2000}
    assert claim(several, 300).run == Repeat(RandomAllocation(Gaussian(1.0), 100, 5), 3)
    assert claim(several, 300).phases[0].sampling.divisor() == 100.0


def test_a_pass_that_was_begun_counts():
    """The first batch's units took part in it: rounding down, the planted fault, would under-count them."""
    begun, whole = (epsilon(claim(CYCLIC, rounds).run, 1e-5, "zero-out") for rounds in (1001, 1000))
    as_seen = epsilon(Repeat(Gaussian(1.0), 11), 1e-5, "zero-out")
    assert (begun.lower, begun.upper) == (as_seen.lower, as_seen.upper)
    assert whole.upper < begun.lower


@pytest.mark.parametrize(
    ("sampling", "rounds", "field"),
    [
        (ALLOCATED, 250, "composition.rounds"),
        (ALLOCATED | {"per_block": 101}, 100, "sampling.per_block"),
        (ALLOCATED | {"sampling_rate": 0.1}, 100, "sampling.sampling_rate"),
        ({"scheme": "random-allocation"}, 100, "sampling.block"),
        (CYCLIC | {"cohort": 1001}, 100, "sampling.cohort"),
        (CYCLIC | {"block": 7}, 100, "sampling.block"),
        ({"scheme": "cyclic"}, 100, "sampling.population, sampling.cohort"),
    ],
)
def test_bad_tables(sampling, rounds, field):
    with pytest.raises(InputError) as problem:
        claim(sampling, rounds)
    assert problem.value.field == field


def test_random_numbers_of_clients_bring_no_noise_of_their_own():
    tables = {"kind": "per-client-gaussian", "noise_std": 1.0, "clip_norm": 1.0}
    stated = {"title": "t", "neighbouring": "zero-out", "epsilon": 1.0, "delta": 1e-5}
    with pytest.raises(InputError, match=r"sampling\.scheme"):
        parse_claim({"claim": stated, "mechanism": tables, "sampling": ALLOCATED | {"population": 200}})


def test_verdicts_and_witnesses():
    cyclic, allocated = verify(claim(CYCLIC, 1000)), verify(claim(ALLOCATED, 1000))
    assert (cyclic.verdict, allocated.verdict) == ("refuted", "holds")
    assert cyclic.witness is not None
    assert "N(1, 1)" in cyclic.witness.pair
    low = verify(claim(ALLOCATED, 1000, 0.5))
    assert low.verdict == "refuted"
    assert low.witness is not None
    assert "their sum" in low.witness.pair
    assert low.witness.delta_at_claimed_epsilon > 1e-5


def test_the_coalition_sees_no_cyclic_secret_but_not_the_picks():
    stateless = {"notion": "billboard", "clients": "stateless"}
    for sampling, several in ((ALLOCATED, 1), (ALLOCATED | {"per_block": 5}, 5)):
        carried = verify(claim(sampling, 100, notion="billboard", clients="stateful")).certified
        free = verify(claim(sampling, 100, **stateless)).certified
        assert free.upper <= carried.upper
        seen = epsilon(Repeat(Gaussian(1.0), several), 1e-5, "zero-out")
        assert (carried.upper >= seen.lower) == (several > 1)
    against = verify(claim(CYCLIC, 100, **stateless)).certified
    assert against.upper == pytest.approx(epsilon(Gaussian(1.0), 1e-5, "zero-out").upper, rel=1e-12)


def test_certificates(tmp_path):
    written = verify(claim(CYCLIC, 1000), certificates=tmp_path)
    assert written.certificate is not None
    document = json.loads(Path(written.certificate).read_text())
    assert check(document).ok
    assert document["verdict"] == "refuted"
    assert any(finding.id == "certificate-restates" for finding in written.findings)
    none = verify(claim(ALLOCATED, 1000), certificates=tmp_path)
    assert none.certificate is None
    assert any("random allocation" in finding.text for finding in none.findings)


def test_distributed_discrete_gaussian():
    table = {"kind": "distributed-discrete-gaussian", "sigma": 2.0, "clients": 50, "clip": 4.0, "dimension": 8}
    stated = {"title": "t", "neighbouring": "zero-out", "epsilon": 9.0, "delta": 1e-5}
    read = parse_claim({"claim": stated, "mechanism": table})
    assert read.run == Repeat(DistributedDiscreteGaussian(2.0, 50, 4.0, 8), 1)
    assert verify(read).verdict == "holds"


def _simulated_delta(block: int, blocks: int, noise: float, at: float) -> tuple[float, float]:
    """Mean and standard error of max(0, 1 - e^(at - L)) under P: independent of the accountants' code."""
    coins, values = np.random.default_rng(20261122), []
    for _ in range(20):
        loss = np.zeros(5_000)
        for _ in range(blocks):
            seen = coins.normal(size=(len(loss), block)) * noise
            seen[np.arange(len(loss)), coins.integers(block, size=len(loss))] += 1.0
            loss += np.log(np.exp((2.0 * seen - 1.0) / (2.0 * noise**2)).mean(axis=1))
        values.append(np.maximum(0.0, -np.expm1(at - loss)))
    together = np.concatenate(values)
    return float(together.mean()), float(together.std() / len(together) ** 0.5)


def test_the_bracket_against_a_simulation():
    """100,000 simulated runs; five standard errors: a false alarm in fewer than 1 of a million seeds."""
    run = Repeat(RandomAllocation(Gaussian(0.7), 10), 3)
    found = epsilon(run, 0.01, "zero-out")
    assert 0.0 < found.lower < found.upper < inf
    for end, sign in ((found.upper, 1), (found.lower, -1)):
        mean, error = _simulated_delta(10, 3, 0.7, end)
        assert sign * (0.01 - mean) > -5 * error
    halved, error = _simulated_delta(10, 3, 0.35, found.upper)  # the planted fault: half the noise is told apart
    assert halved > 0.01 + 5 * error
