"""What accountants make of a step that is proved: the mechanism that tells no less, composed over rounds and samples.

Of Gaussian noise that alone is shifted, by at most mu of its scale, a proof says that every pair of neighbours is
dominated by N(0, 1) against N(mu, 1) (checker/rounding.py): that of a sum with Gaussian noise. Dominating pairs
compose, also adaptively (Zhu, Dong, Wang 2022, arXiv 2106.08567, Theorem 10), and under Poisson sampling where the
neighbours are those of add-remove (Theorem 11), whatever the sample's size.
"""

from __future__ import annotations

import math
from collections.abc import Sequence as Listed
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from ...accounting import Bracket
from ...accounting import delta as least_delta
from ...accounting import epsilon as least_epsilon
from ...mechanisms import Gaussian, InputError, Mechanism, Poisson, PureDp, Relation, Repeat, Sequence, sensitivity
from ...mechanisms.notebook import InNotebook
from ...mechanisms.validate import count, rate
from .proof import Proof

ZERO = Fraction(1, 10**9)
"""A noise multiplier for a function that Gaussian noise does not touch would be infinite: this rho is no more."""
NEIGHBOURS: dict[str, Relation] = {relation.value: relation for relation in Relation} | {"answers": Relation.ZERO_OUT}
"""The accountants' word for the relation: answers, like a contribution that is zeroed, move by at most 1."""


def gaussian(rho: Fraction, neighbouring: Relation = Relation.ADD_REMOVE) -> Gaussian:
    """Gaussian noise on a sum of contributions of norm 1, which costs at least rho for these neighbours."""
    moves, twice = Fraction(sensitivity(neighbouring)), 2 * max(rho, ZERO)
    multiplier = float(moves) / math.sqrt(twice)
    while Fraction(multiplier) ** 2 * twice > moves**2:
        multiplier = math.nextafter(multiplier, 0)
    return Gaussian(multiplier)


def described(proof: Proof) -> tuple[Mechanism, Relation]:
    """A mechanism that tells no less than what is proved, and the relation of its neighbours, for accountants.

    Raises InputError where nothing is proved.

    >>> from dpcert.proofs_checks import prove
    >>> described(prove(lambda data, rng: data.sum() + rng.normal(0, 2), relation="add-remove", notion="zcdp"))
    (Gaussian(noise_multiplier=2.0), 'add-remove')
    """
    if proof.certificate is None or not (proof.proved or proof.up_to):
        raise InputError("proof", proof.name, "a function of which something is proved")
    neighbouring = NEIGHBOURS[proof.relation]
    if "rho" in proof.certificate:
        return gaussian(Fraction(proof.certificate["rho"]), neighbouring), neighbouring
    if Fraction(proof.certificate.get("delta", 0)):
        raise InputError("proof", proof.name, "a proof of rho, mu or a pure epsilon, to be composed")
    pure = float(Fraction(proof.certificate["epsilon"]))
    return PureDp(
        pure if Fraction(pure) >= Fraction(proof.certificate["epsilon"]) else math.nextafter(pure, math.inf)
    ), neighbouring


@dataclass(frozen=True, slots=True)
class Accounted(InNotebook):
    """Proved steps one after the other, in so many rounds, each on a Poisson sample of the data.

    run: what accountants take for them; neighbouring: the relation. sampling_rate: 1 is no sample.
    """

    proofs: tuple[Proof, ...]
    run: Mechanism
    neighbouring: Relation
    rounds: int
    sampling_rate: float

    def epsilon(self, delta: float) -> Bracket:
        """The smallest epsilon for this delta; its upper end holds of what is proved. Raises InputError."""
        return least_epsilon(self.run, delta, self.neighbouring)

    def delta(self, epsilon: float) -> Bracket:
        """The smallest delta for this epsilon, likewise."""
        return least_delta(self.run, epsilon, self.neighbouring)

    def __str__(self) -> str:
        names = " then ".join(proof.name for proof in self.proofs)
        return f"{names}: accounted as {self.run} ({self.neighbouring})"

    def to_json(self) -> dict[str, Any]:
        return {
            "mechanisms": [proof.name for proof in self.proofs],
            "run": str(self.run),
            "neighbouring": self.neighbouring,
            "rounds": self.rounds,
            "sampling_rate": self.sampling_rate,
        }


def composed(*proofs: Proof | Listed[Proof], rounds: int = 1, sampling_rate: float = 1.0) -> Accounted:
    """Proved functions one after the other, `rounds` times, each round on a Poisson sample of the data (1.0: on all).

    Later functions may be chosen by what earlier ones have put out; each draws its own noise. A sample is taken anew in
    every round, and all functions of the round see the same one. What is proved has to hold for every number of
    entries, as samples have any size. Raises InputError.

    >>> from dpcert.proofs_checks import prove
    >>> step = prove(lambda data, rng: data.sum() + rng.normal(0, 1.1), relation="add-remove", notion="zcdp")
    >>> round(composed(step, rounds=1000, sampling_rate=0.01).epsilon(1e-5).upper, 3)
    1.515
    """
    listed = tuple(each for given in proofs for each in ([given] if isinstance(given, Proof) else given))
    rounds, sampling_rate = count("rounds", rounds), rate("sampling_rate", sampling_rate)
    if not listed:
        raise InputError("proofs", listed, "at least one proof")
    parts = [described(proof) for proof in listed]
    neighbouring = parts[0][1]
    if any(other != neighbouring for _, other in parts):
        raise InputError("proofs", [proof.relation for proof in listed], "proofs about one relation of neighbours")
    if sampling_rate < 1 and neighbouring != "add-remove":
        raise InputError(
            "sampling_rate", sampling_rate, "1, or proofs of relation add-remove: samples differ by a record"
        )
    if sampling_rate < 1 and not all(proof.every_size or proof.sizes[0] == 1 for proof in listed):
        raise InputError("proofs", [proof.sizes for proof in listed], "proofs from 1 entry on: samples may be small")
    run: Mechanism = parts[0][0] if len(parts) == 1 else Sequence([part for part, _ in parts])
    run = Poisson(run, sampling_rate) if sampling_rate < 1 else run
    return Accounted(listed, Repeat(run, rounds) if rounds > 1 else run, neighbouring, rounds, sampling_rate)
