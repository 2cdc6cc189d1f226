"""Our accountant for Opacus (1.6 and later); importing this module registers it as "dpcert".

    import dpcert.adapters.opacus
    engine = PrivacyEngine(accountant="dpcert")
    get_noise_multiplier(accountant="dpcert", target_epsilon=3.0, target_delta=1e-5, sample_rate=0.01, epochs=5)

Opacus tells its accountants a noise multiplier and a rate for each step, never how batches were drawn: like
Opacus's own accountants, this one is for Poisson sampling (`poisson_sampling=True`, the default of make_private).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from math import inf, isinf
from pathlib import Path
from typing import TYPE_CHECKING, Any

from opacus.accountants import IAccountant, register_accountant

from ..accounting import Bracket
from ..accounting.ledger import RunningEpsilon
from ..mechanisms import Gaussian, InputError, Neighbouring, Poisson, Relation, Repeat
from ..mechanisms.validate import count, delta_below_one, nonnegative, rate
from .opacus_checkpoint import KEPT_BY

if TYPE_CHECKING:
    from ..attest import Attestation

NAME = "dpcert"

Steps = tuple[float, float, int]
"""Opacus's unit of history: noise multiplier, sample rate, how many steps with them."""


class CertifiedAccountant(IAccountant):
    """Certified upper bounds for every history of Poisson-sampled Gaussian steps.

    history: list of (noise multiplier, sample rate, steps), public and assignable as in Opacus.
    """

    def __init__(self) -> None:
        self.history: list[Steps] = []
        self._readings: dict[tuple[float, Neighbouring], _Reading] = {}

    def step(self, *, noise_multiplier: float, sample_rate: float) -> None:
        """Record one optimiser step."""
        _checked([(noise_multiplier, sample_rate, 1)])
        if self.history and self.history[-1][:2] == (noise_multiplier, sample_rate):
            self.history[-1] = (noise_multiplier, sample_rate, self.history[-1][2] + 1)
        else:
            self.history.append((noise_multiplier, sample_rate, 1))

    def get_optimizer_hook_fn(self, sample_rate: float) -> Callable[[Any], None]:
        """What Opacus calls at each optimiser step; InputError for a step over several accumulated batches.

        Opacus accumulates with poisson_sampling=False only, and one example may then take part in several of the
        batches: charging one step at several times the rate, as Opacus does, is no bound.
        """

        def hook(optimizer: Any) -> None:
            if optimizer.accumulated_iterations != 1:
                expected = "one Poisson batch a step (BatchMemoryManager splits large ones without accumulating)"
                raise InputError("accumulated_iterations", optimizer.accumulated_iterations, expected)
            self.step(noise_multiplier=optimizer.noise_multiplier, sample_rate=sample_rate)

        return hook

    def bracket(self, delta: float, neighbouring: Neighbouring = Relation.ADD_REMOVE) -> Bracket:
        """The certified interval around the true epsilon of the history; delta from 0 (infinite) to below 1."""
        delta_below_one("delta", delta)
        reading = self._readings.get((delta, neighbouring))
        if reading is None or not reading.goes_on_with(self.history):
            reading = _Reading(delta, neighbouring)
        self._readings = {}  # What raises below is not gone on with.
        found = reading.of(self.history)
        self._readings[delta, neighbouring] = reading
        return found

    def get_epsilon(self, delta: float, neighbouring: Neighbouring = Relation.ADD_REMOVE) -> float:
        """The upper end of `bracket`. Arguments of Opacus's other accountants are refused, not ignored."""
        return self.bracket(delta, neighbouring).upper

    def claim(self, title: str, delta: float, *, unit: str = "example", dataset_size: int | None = None) -> str:
        """The history as the text of a claim file: one phase for each (noise multiplier, rate), add-remove.

        The epsilon that it claims is the certified upper bound, rounded up to four digits.
        """
        from ..attest.run import rounded_up
        from ..proofs_checks.claims.toml import as_toml

        phases = [
            {
                "mechanism": {"kind": "gaussian", "noise_multiplier": noise},
                "sampling": {"scheme": "poisson", "sampling_rate": rate_}
                | ({} if dataset_size is None else {"population": dataset_size}),
                "composition": {"rounds": steps},
            }
            for noise, rate_, steps in _checked(self.history)
        ]
        if not phases:
            raise InputError("history", [], "at least one step: there is nothing to claim yet")
        about = {"title": title, "unit": unit, "neighbouring": Relation.ADD_REMOVE}
        return as_toml(
            {"claim": about | {"epsilon": rounded_up(self.get_epsilon(delta)), "delta": delta}, "phase": phases}
        )

    def attest(
        self,
        files: Sequence[Path],
        out: Path,
        *,
        title: str,
        delta: float,
        unit: str = "example",
        dataset_size: int | None = None,
        key: Path | None = None,
    ) -> Attestation:
        """Attest at the end of a run what these files cost: `out` is the attestation, and out's folder gets claim.toml.

        key: a private key in PEM to sign with. Who took part is asserted: Opacus keeps no log of it.
        """
        from ..attest import attest, read_private_key

        claim = out.parent / "claim.toml"
        claim.write_text(self.claim(title, delta, unit=unit, dataset_size=dataset_size), "utf-8")
        found = attest(claim, files, signer=None if key is None else read_private_key(key))
        found.write(out)
        return found

    def __len__(self) -> int:
        """Number of optimiser steps recorded."""
        return sum(steps for _, _, steps in self.history)

    @classmethod
    def mechanism(cls) -> str:
        return NAME

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Replace the history by that of a `state_dict`, also of Opacus's own accountants, which count the same steps.

        InputError or ValueError, and no change, for anything else.
        """
        before = self.history
        same = state_dict and state_dict.get("mechanism") in KEPT_BY
        super().load_state_dict({**state_dict, "mechanism": NAME} if same else state_dict)
        loaded, self.history = self.history, before
        self.history = _checked(loaded)


class _Reading:
    """The running cost of a history that grows at its end, and what of it was counted already."""

    def __init__(self, delta: float, neighbouring: Neighbouring) -> None:
        self._cost = RunningEpsilon(delta, neighbouring)
        self._counted: list[Any] = []
        self._noise = True

    def goes_on_with(self, history: list[Any]) -> bool:
        """Whether the history is what was counted, with more steps in its last entry or more entries."""
        before = self._counted
        if len(history) < len(before) or history[: len(before) - 1] != before[:-1]:
            return False
        return not before or (history[len(before) - 1][:2] == before[-1][:2] and _left_over(history, before) >= 0)

    def of(self, history: list[Any]) -> Bracket:
        """The bracket of the whole history; InputError, and nothing counted, for entries that are none."""
        new = _checked(history[max(0, len(self._counted) - 1) :])
        if self._counted:
            noise, share, _ = new[0]
            new[0] = (noise, share, _left_over(history, self._counted))
        for noise, share, steps in new:
            if noise == 0:
                self._noise = False
            elif steps and share:
                self._cost.record(Repeat(Poisson(Gaussian(noise), share), steps))
        self._counted = [tuple(entry) for entry in history]  # A list may be changed in place: it is counted afresh.
        return self._cost.epsilon() if self._noise else Bracket(inf, inf, True, "no noise")


def _left_over(history: list[Any], counted: list[Any]) -> int:
    """Steps of the entry that was counted last that were not counted yet."""
    return int(history[len(counted) - 1][2]) - int(counted[-1][2])


def _checked(history: Iterable[Any]) -> list[Steps]:
    """The history as finite numbers in range; infinite noise is refused: it releases nothing."""
    checked = []
    for entry in history:
        if not isinstance(entry, tuple | list) or len(entry) != 3 or isinf(entry[0]):
            raise InputError("history", entry, "tuples (finite noise multiplier, sample rate, steps)")
        noise, share, steps = entry
        checked.append(
            (
                nonnegative("noise_multiplier", noise),
                rate("sample_rate", share) if share else 0.0,
                count("steps", steps, least=0),
            )
        )
    return checked


register_accountant(NAME, CertifiedAccountant, force=True)  # Importing again, as reload does, is no error.
