"""Noise printed with few digits: what it may have been before it was rounded, and which epsilons it was chosen for."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace

from ...mechanisms import FixedSize, Gaussian, Mechanism, Poisson, Zcdp, rounds_by_step
from .conventions import Computed
from .printed import Convention, Printed, significant_digits
from .run_variants import Variant, rewritten

INVERSE = ("one round's Gaussian formula", "closed-form noise of PMTL's Theorem 1")
"""Formulas that give the noise from epsilon, in which the two are inverse to each other."""


def parameter_ends(run: Mechanism) -> tuple[str, Mechanism, Mechanism] | None:
    """The run at both ends of what its rounded noise parameter (3 or 4 digits) may stand for; None if not rounded.

    Fewer digits are rarely a rounding, and would stand for so much that anything could be matched.
    Returns the parameter's name and the runs with the cheaper and the dearer end.
    """
    found: list[str] = []

    def end(sign: int) -> Callable[[Mechanism], Mechanism]:
        def change(part: Mechanism) -> Mechanism:
            if isinstance(part, Poisson | FixedSize):
                return replace(part, mechanism=change(part.mechanism))
            for kind, name, cheaper in ((Gaussian, "noise_multiplier", 1), (Zcdp, "rho", -1)):
                if isinstance(part, kind) and 3 <= significant_digits(getattr(part, name)) <= 4:
                    found.append(name)
                    value = getattr(part, name)
                    return replace(part, **{name: value + sign * cheaper * _half_unit(value)})
            return part

        return change

    cheap, dear = rewritten(run, end(1)), rewritten(run, end(-1))
    return (found[0], cheap, dear) if found else None


def noise_chosen_for(computed: Computed, variant: Variant, target: Printed) -> Iterator[Convention]:
    """For a formula that noise is chosen by: does the printed epsilon give the printed noise, rounded as printed?

    Sources that choose the noise from epsilon print a round epsilon and a rounded noise, so that the formula
    backwards misses the epsilon by the rounding of the noise.
    """
    noise = _printed_noise(variant.run)
    if computed.name not in INVERSE or noise is None or target.value <= 0:
        return
    half = _half_unit(noise)
    least, most = computed.value * noise / (noise + half), computed.value * noise / (noise - half)
    chosen = least <= target.value <= most
    detail = f"epsilon {target.value:g} needs the noise {noise * computed.value / target.value:.6g}, here {noise:g}"
    changes = (*variant.changes, "noise chosen for the printed epsilon, then rounded")
    name, rounding = "; ".join((computed.name, *changes)), "nearest" if chosen else None
    yield Convention(name, computed.value, chosen, detail, (least, most), changes, rounding)


def _printed_noise(run: Mechanism) -> float | None:
    """The one Gaussian's noise multiplier if it shows two to six digits: one digit could be anything."""
    parts = list(rounds_by_step(run))
    part = parts[0].mechanism if isinstance(parts[0], Poisson | FixedSize) else parts[0]
    if len(parts) > 1 or not isinstance(part, Gaussian):
        return None
    noise = float(f"{part.noise_multiplier:.12g}")  # a quotient of printed numbers, freed of its rounding error
    return noise if 2 <= significant_digits(noise) <= 6 else None


def _half_unit(value: float) -> float:
    return 0.5 * 10.0 ** (math.floor(math.log10(value)) + 1 - significant_digits(value))
