"""A mechanism that dpcert does not know, added in ten lines: everything works for it, or says why not."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
import pytest
from flint import arb

from dpcert import Mechanism, Poisson, Repeat, Sequence, assert_private, calibrate, delta, epsilon, renyi
from dpcert.accounting.accountants import composed
from dpcert.accounting.pairs import FinitePair
from dpcert.accounting.pricing.additive import additive
from dpcert.accounting.pricing.dominating import dominating
from dpcert.mechanisms import InputError, RandomizedResponse
from dpcert.mechanisms.tables.fields import Probability
from dpcert.mechanisms.tables.kinds import KINDS, Described, MechanismTable, register
from dpcert.proofs_checks.auditing import audit
from dpcert.proofs_checks.claims.claim import parse_claim
from dpcert.proofs_checks.verification.verify import verify


# The ten lines: what ran, its pair, its registration, and its table in claim files.
@dataclass(frozen=True, slots=True)
class Shy(Mechanism):  # answers truthfully, falsely, or not at all
    false: float
    silent: float


@dataclass(frozen=True, slots=True)
class ShyPair(FinitePair):
    false: float
    silent: float

    def outcomes(self) -> list[tuple[arb, arb]]:
        false, silent = arb(self.false), arb(self.silent)
        truth = 1 - false - silent
        return [(truth, false), (false, truth), (silent, silent)]


class ShyTable(MechanismTable):
    kind: Literal["shy"]
    false: Probability
    silent: Probability

    def described(self, sampling: object) -> Described:
        return Described(Shy(self.false, self.silent), Shy(self.false, self.silent))


additive.register(Shy, lambda shy, move: ShyPair(shy.false, shy.silent))
# That is all, but for register(ShyTable), which the fixture takes back for the other tests.


@pytest.fixture(autouse=True)
def _table() -> Iterator[None]:
    register(ShyTable)
    yield
    del KINDS["shy"]


RUN = Repeat(Shy(0.2, 0.3), 8)


def by_hand(rounds: int, epsilon: float, false: float = 0.2, silent: float = 0.3) -> float:
    """delta from the loss's law, convolved on its lattice: an oracle of its own."""
    truth = 1 - false - silent
    law = np.array([false, silent, truth])
    total = np.array([1.0])
    for _ in range(rounds):
        total = np.convolve(total, law)
    losses = np.log(truth / false) * np.arange(-rounds, rounds + 1)
    return float(np.sum(total * np.maximum(0.0, -np.expm1(epsilon - losses))))


@pytest.mark.parametrize("rounds", [1, 8])
@pytest.mark.parametrize("at", [0.0, 0.5, 2.0])
def test_delta_and_epsilon(rounds: int, at: float) -> None:
    run = Repeat(Shy(0.2, 0.3), rounds)
    found = delta(run, at)
    assert found.lower * (1 - 1e-9) <= by_hand(rounds, at) <= found.upper * (1 + 1e-9)
    assert found.width <= 1e-3 * found.upper + 1e-12
    target = by_hand(rounds, at)
    if at > 0 and 0 < target < 1:
        assert epsilon(run, target).lower * (1 - 1e-6) <= at <= epsilon(run, target).upper * (1 + 1e-6)


def test_it_composes_with_others_and_is_sampled() -> None:
    both = epsilon(Sequence(RUN, Repeat(RandomizedResponse(0.3, 2), 5)), 1e-5, "replace-one")
    assert epsilon(RUN, 1e-5).lower < both.lower <= both.upper < 20
    sampled, whole = epsilon(Repeat(Poisson(Shy(0.2, 0.3), 0.1), 8), 1e-5), epsilon(RUN, 1e-5)
    assert 0 < sampled.lower <= sampled.upper < whole.lower
    (product, *_) = dominating(RUN, "add-remove").upper
    bounds = [composed(product, name, "epsilon", 1e-5, 1e-6) for name in ("pld", "rdp")]
    assert bounds[0].lower <= bounds[1].upper
    assert bounds[0].upper == pytest.approx(bounds[1].upper, rel=1e-6)  # here both are the largest loss
    assert renyi(RUN, 2.0).upper == pytest.approx(8 * np.log(0.5**2 / 0.2 + 0.2**2 / 0.5 + 0.3), rel=1e-12)


def test_calibrate() -> None:
    found = calibrate(lambda z: Repeat(Shy(0.35 - 0.3 / max(z, 1.01), 0.3), 8), solve_for="noise_multiplier",
                      epsilon=2.0, delta=1e-5, rtol=1e-6)  # fmt: skip
    assert found.epsilon.at_most(2.0)


def claim(claimed: float) -> dict[str, object]:
    statement = {"title": "shy", "neighbouring": "replace-one", "epsilon": claimed, "delta": 1e-5}
    table = {"kind": "shy", "false": 0.2, "silent": 0.3}
    return {"claim": statement, "mechanism": table, "composition": {"rounds": 8}}


def test_verify_and_a_certificate_or_its_reason(tmp_path: Path) -> None:
    refuted = verify(parse_claim(claim(1.0)), certificates=tmp_path, certificate_name="shy")
    assert refuted.verdict == "refuted"
    assert refuted.witness is not None
    assert "ShyPair" in refuted.witness.pair
    assert refuted.certificate is not None  # of its pure epsilon, as a statement: it cannot refute, and both are said
    assert {"certificate-proves-less", "certificate-restates"} <= {finding.id for finding in refuted.findings}
    assert verify(parse_claim(claim(8.0))).verdict == "holds"
    with pytest.raises(InputError, match=r"mechanism\.false and mechanism\.silent are required"):
        parse_claim(claim(1.0) | {"mechanism": {"kind": "shy"}})
    with pytest.raises(InputError, match="did you mean shy"):
        parse_claim(claim(1.0) | {"mechanism": {"kind": "shyy"}})
    with pytest.raises(InputError, match="did you mean silent"):
        parse_claim(claim(1.0) | {"mechanism": {"kind": "shy", "false": 0.2, "silence": 0.3}})


def test_audit() -> None:
    def shy(dataset, rng, size):
        return rng.choice([sum(dataset), 1 - sum(dataset), -1], size=size, p=[0.5, 0.2, 0.3])

    assert not assert_private(shy, ([0], [1]), claim=Shy(0.2, 0.3)).refuted
    assert audit(shy, ([0], [1]), claim=Shy(0.3, 0.3), trials=20_000).refuted  # planted: less private than claimed


@pytest.mark.parametrize("masses", [[(0.5, 0.4), (0.5, 0.6)], [(0.7, 0.3), (0.3, 0.8)], [(1.2, -0.2), (-0.2, 1.2)]])
def test_outcomes_that_are_no_symmetric_pair_are_refused(masses: list[tuple[float, float]]) -> None:
    """Accountants take one pair for both orders of the neighbours: an asymmetric one would be under-counted."""

    @dataclass(frozen=True, slots=True)
    class Skewed(FinitePair):
        def outcomes(self) -> list[tuple[arb, arb]]:
            return [(arb(p), arb(q)) for p, q in masses]

    with pytest.raises(InputError, match="outcomes"):
        Skewed()
