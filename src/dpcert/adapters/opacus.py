"""Our accountant for Opacus (1.6 and later); importing this module registers it as "dpcert".

    import dpcert.adapters.opacus
    engine = PrivacyEngine(accountant="dpcert")
    get_noise_multiplier(accountant="dpcert", target_epsilon=3.0, target_delta=1e-5, sample_rate=0.01, epochs=5)

Opacus tells its accountants a noise multiplier and a rate for each step, never how batches were drawn: like
Opacus's own accountants, this one is for Poisson sampling (`poisson_sampling=True`, the default of make_private).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from math import inf, isinf
from typing import Any

from opacus.accountants import IAccountant, register_accountant

from ..accounting import Bracket, epsilon
from ..mechanisms import Gaussian, InputError, Mechanism, Neighbouring, Poisson, Repeat, Sequence
from ..mechanisms.validate import count, nonnegative, open_probability, rate

NAME = "dpcert"

Steps = tuple[float, float, int]
"""Opacus's unit of history: noise multiplier, sample rate, how many steps with them."""


class CertifiedAccountant(IAccountant):
    """Certified upper bounds for every history of Poisson-sampled Gaussian steps.

    history: list of (noise multiplier, sample rate, steps), public and assignable as in Opacus.
    """

    def __init__(self) -> None:
        self.history: list[Steps] = []

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

    def bracket(self, delta: float, neighbouring: Neighbouring = "add-remove") -> Bracket:
        """The certified interval around the true epsilon of the history; delta strictly between 0 and 1."""
        open_probability("delta", delta)
        history = _checked(self.history)
        if any(noise == 0 for noise, _, _ in history):
            return Bracket(inf, inf, True, "no noise")
        run = _run(history)
        return Bracket(0.0, 0.0, True, "no steps") if run is None else epsilon(run, delta, neighbouring)

    def get_epsilon(self, delta: float, neighbouring: Neighbouring = "add-remove") -> float:
        """The upper end of `bracket`. Arguments of Opacus's other accountants are refused, not ignored."""
        return self.bracket(delta, neighbouring).upper

    def __len__(self) -> int:
        """Number of optimiser steps recorded."""
        return sum(steps for _, _, steps in self.history)

    @classmethod
    def mechanism(cls) -> str:
        return NAME

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Replace the history by that of a `state_dict`; InputError or ValueError, and no change, for another one's."""
        before = self.history
        super().load_state_dict(state_dict)
        loaded, self.history = self.history, before
        self.history = _checked(loaded)


def _run(history: list[Steps]) -> Mechanism | None:
    parts = tuple(Repeat(Poisson(Gaussian(noise), share), steps) for noise, share, steps in history if steps and share)
    return Sequence(parts) if parts else None


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
