"""Hidden cohorts of a fixed size over many adaptive rounds: the control problem, solved from both sides.

What one round can reveal depends on what was released before, so the exact cost of a run is a dynamic programme
(docs/theory/fixed_cohorts.md). It replaces, for Gaussian noise under replace-one and zero-out, the composition of each
round's worst profile, which no federation attains.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from ...mechanisms import FixedSize, Gaussian, Mechanism, Neighbouring, Repeat, Sequence
from ..bracket import Bracket, EmptyBracket, OutOfReach
from . import stored
from .layout import Layout, Phase
from .solve import Above, Curve, Effort, Progress, below

METHOD = "cohorts"

QUICK = 0.02
"""Relative width of a first bracket: under a second for a thousand rounds."""

FINEST = 5e-4
"""Relative width below which covers, and rounds of work, would become too many."""

_LARGEST_SHIFT = 4.0
_MOST_ROUNDS = 1 << 20
_MOST_PHASES = 64
_LONGEST_BLOCK = 1500
_LONGEST_ATTAINED = 6000
"""Rounds beyond which the lower end is left to products of pairs: the adaptive one costs a convolution a round."""


def phases(run: Mechanism) -> tuple[Phase, ...] | None:
    """The run's rounds in their true order; None for runs that are not Gaussian cohorts of a fixed size throughout."""
    found: list[Phase] = []
    for part, rounds in _in_order(run, 1):
        if not isinstance(part, FixedSize) or not isinstance(part.mechanism, Gaussian) or part.sampling_rate == 1.0:
            return None
        shift = 1.0 / part.mechanism.noise_multiplier
        if shift > _LARGEST_SHIFT:
            return None
        if found and (found[-1].shift, found[-1].rate) == (shift, part.sampling_rate):
            rounds += found.pop().rounds
        found.append(Phase(shift, part.sampling_rate, rounds))
        if len(found) > _MOST_PHASES:
            return None
    return tuple(found) if 1 < sum(phase.rounds for phase in found) <= _MOST_ROUNDS else None


def _in_order(run: Mechanism, times: int) -> Iterator[tuple[Mechanism, int]]:
    if isinstance(run, Repeat) and not isinstance(run.mechanism, Repeat | Sequence):
        yield run.mechanism, run.rounds * times
    elif isinstance(run, Repeat | Sequence):
        parts = (run.mechanism,) if isinstance(run, Repeat) else run.mechanisms
        repeats = run.rounds if isinstance(run, Repeat) else 1
        for _ in range(min(times * repeats, _MOST_PHASES + 1)) if len(parts) > 1 else range(1):
            for part in parts:
                yield from _in_order(part, 1 if len(parts) > 1 else times * repeats)
    else:
        yield run, times


def narrowed(
    known: Bracket,
    run: Mechanism,
    neighbouring: Neighbouring,
    quantity: str,
    at: float,
    rtol: float = QUICK,
    progress: Progress | None = None,
) -> Bracket:
    """The known bracket of the run's epsilon at delta (or delta at epsilon), hidden cohorts, made narrower.

    Until it is at most rtol wide, or FINEST. `known` is returned as it is where nothing can be gained here.
    """
    parts = phases(run)
    usable = known.certified and 0.0 < known.upper < math.inf and neighbouring in ("replace-one", "zero-out")
    if parts is None or not usable or known.width <= rtol * known.upper:
        return known
    key = stored.key(parts, neighbouring, quantity, at)
    best = stored.read(key, known)
    for accuracy in _accuracies(rtol):
        if best.width <= rtol * best.upper:
            break
        found = _attempt(best, parts, neighbouring, quantity, at, accuracy, progress or _silent)
        best = Bracket(max(best.lower, found.lower), min(best.upper, found.upper), True, METHOD)
    stored.write(key, best)
    return best


def _silent(_: float) -> None:
    pass


def _accuracies(rtol: float) -> list[float]:
    wanted = max(rtol, FINEST)
    return [QUICK] if wanted >= QUICK else [QUICK, wanted, max(wanted / 3.0, FINEST / 2.0)]


def _attempt(
    known: Bracket,
    parts: tuple[Phase, ...],
    relation: Neighbouring,
    quantity: str,
    at: float,
    accuracy: float,
    progress: Progress,
) -> Bracket:
    """A bracket by the recursion at one accuracy; [0, inf] where its floating point breaks down."""
    nothing = Bracket(0.0, math.inf if quantity == "epsilon" else 1.0, True, METHOD)
    if known.lower <= 0.0:
        return nothing
    middle = math.sqrt(known.lower * known.upper)
    epsilon, delta = (known.lower, at) if quantity == "epsilon" else (at, middle)
    try:
        layout = Layout.of(parts, relation, epsilon, delta)
        effort = _effort(known.width / known.lower, accuracy)
        orders = (False, True) if relation == "zero-out" else (False,)
        uppers = [
            _read_above(Above(layout, relation, order, effort, progress).curve(), quantity, at) for order in orders
        ]
        lower = 0.0
        if layout.rounds <= _LONGEST_ATTAINED:
            curve = below(layout, relation, False, 0.5 * effort.step, progress)
            lower = curve.epsilon_below(at) if quantity == "epsilon" else curve.delta_below(at)
        return Bracket(lower, max(uppers), True, METHOD)
    except EmptyBracket:
        raise
    except (ArithmeticError, MemoryError, OutOfReach):
        return nothing


def _read_above(curve: Curve, quantity: str, at: float) -> float:
    return curve.epsilon_above(at) if quantity == "epsilon" else curve.delta_above(at)


def _effort(width: float, accuracy: float) -> Effort:
    """Measured: of what the composed one-round profile is too large, blocks of b rounds leave about 6/b."""
    return Effort(
        step=min(0.1, 0.078 * math.sqrt(accuracy / 0.003)),
        excess=min(accuracy / 4.0, 0.003),
        boxes=round(min(256.0, 48.0 * (QUICK / accuracy) ** 0.4)),
        block=round(min(max(60.0, 25.0 * width / accuracy), _LONGEST_BLOCK)) if accuracy >= 0.01 else _LONGEST_BLOCK,
    )
