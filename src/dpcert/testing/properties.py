"""The properties, each a function of an accountant and of Hypothesis's draws that raises Violation where it breaks.

They are disjoint as far as logic allows: an accountant that breaks one of them is caught by that one, so that the
name of the failing test says what is wrong (tests/testing plants one fault for each).
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from hypothesis import strategies as st

from .subject import NotServed, Phase, Subject
from .truth import directions, proved_above, proved_below

Draw = Callable[[st.SearchStrategy[Any]], Any]


class Violation(AssertionError):
    """A property is broken: the inputs and the numbers that show it.

    >>> issubclass(Violation, AssertionError)
    True
    """


def _composed(subject: Subject, phases: tuple[Phase, ...]) -> Any:
    accountant = subject.new()
    for phase in phases:
        accountant = subject.compose(accountant, phase)
    return accountant


def _epsilon(subject: Subject, phases: tuple[Phase, ...], delta: float) -> float:
    return float(subject.epsilon(_composed(subject, phases), delta))


def _require(holds: bool, what: str, **shown: object) -> None:
    if not holds:
        raise Violation(what + ": " + ", ".join(f"{name} = {value}" for name, value in shown.items()))


def _at_most(subject: Subject, smaller: float, larger: float) -> bool:
    """smaller <= larger, up to the tolerance; nan is at most nothing."""
    slack = subject.tolerance * max(1.0, abs(larger)) if math.isfinite(larger) else 0.0
    return smaller <= larger + slack


def _same(subject: Subject, first: float, second: float) -> bool:
    return _at_most(subject, first, second) and _at_most(subject, second, first)


def numbers(subject: Subject, draw: Draw) -> None:
    """Epsilon is a number of at least 0, and 0 before anything was composed."""
    delta = draw(subject.deltas())
    empty = float(subject.epsilon(subject.new(), delta))
    _require(empty == 0, "an accountant that composed nothing reports no cost", delta=delta, epsilon=empty)
    phase = draw(subject.phases())
    value = _epsilon(subject, (phase,), delta)
    _require(value >= 0, "epsilon is a number of at least 0", phase=phase, delta=delta, epsilon=value)


def rounds(subject: Subject, draw: Draw) -> None:
    """More rounds never cost less."""
    phase, delta, more = draw(subject.phases()), draw(subject.deltas()), draw(st.sampled_from((1, 2, 7, 100)))
    longer = replace(phase, rounds=phase.rounds + more)
    fewer, many = (_epsilon(subject, (one,), delta) for one in (phase, longer))
    _require(_at_most(subject, fewer, many), "more rounds cost less", phase=phase, more=more, before=fewer, after=many)


def noise(subject: Subject, draw: Draw) -> None:
    """More noise never costs more."""
    phase, delta, factor = draw(subject.phases()), draw(subject.deltas()), draw(st.sampled_from((1.01, 1.2, 2.0)))
    noisier = replace(phase, noise_multiplier=phase.noise_multiplier * factor)
    less, more = (_epsilon(subject, (one,), delta) for one in (noisier, phase))
    _require(_at_most(subject, less, more), "more noise costs more", phase=phase, noisier=noisier, of=(more, less))


def rate(subject: Subject, draw: Draw) -> None:
    """A larger sampling rate never costs less."""
    phase, delta, factor = draw(subject.phases()), draw(subject.deltas()), draw(st.sampled_from((1.01, 1.2, 2.0)))
    oftener = replace(phase, sampling_rate=min(1.0, phase.sampling_rate * factor))
    less, more = (_epsilon(subject, (one,), delta) for one in (phase, oftener))
    _require(_at_most(subject, less, more), "a larger rate costs less", phase=phase, oftener=oftener, of=(less, more))


def delta(subject: Subject, draw: Draw) -> None:
    """A larger delta never costs more: (epsilon, delta)-DP implies (epsilon, larger delta)-DP."""
    phase, target, factor = draw(subject.phases()), draw(subject.deltas()), draw(st.sampled_from((1.1, 3.0, 100.0)))
    strict, lax = (_epsilon(subject, (phase,), one) for one in (target, target * factor))
    _require(_at_most(subject, lax, strict), "a larger delta costs more", phase=phase, delta=target, of=(strict, lax))


def order(subject: Subject, draw: Draw) -> None:
    """The order of composition does not matter."""
    phases = _several(subject, draw)
    turned, target = tuple(reversed(phases)), draw(subject.deltas())
    there, back = (_epsilon(subject, one, target) for one in (phases, turned))
    _require(_same(subject, there, back), "the order matters", phases=phases, delta=target, epsilons=(there, back))


def grouping(subject: Subject, draw: Draw) -> None:
    """Rounds composed at once cost what they cost composed one part after the other."""
    phase, target, more = draw(subject.phases()), draw(subject.deltas()), draw(st.sampled_from((1, 20, 50)))
    whole = _epsilon(subject, (replace(phase, rounds=phase.rounds + more),), target)
    parts = _epsilon(subject, (phase, replace(phase, rounds=more)), target)
    _require(_same(subject, whole, parts), "grouping matters", phase=phase, and_then=more, epsilons=(whole, parts))


def post_processing(subject: Subject, draw: Draw) -> None:
    """Forgetting a part of the output is post-processing: what is left never costs more than the whole."""
    first, target = draw(subject.phases()), draw(subject.deltas())
    if subject.several > 1:
        second = replace(first, noise_multiplier=first.noise_multiplier * draw(st.sampled_from((0.8, 0.9, 1.2))))
    else:
        second = first
    kept, whole = (_epsilon(subject, one, target) for one in ((first,), (first, second)))
    _require(
        _at_most(subject, kept, whole), "a part costs more than the whole", kept=first, lost=second, of=(kept, whole)
    )


def truth(subject: Subject, draw: Draw) -> None:
    """Epsilon is never below what ball arithmetic proves to be needed.

    A number that is the cost of one direction of the neighbours alone is left to `add_and_remove`.
    """
    phases, target = _some(subject, draw), draw(subject.deltas())
    _hold_to_truth(subject, phases, target)


def _hold_to_truth(subject: Subject, phases: tuple[Phase, ...], target: float) -> None:
    value = _epsilon(subject, phases, target)
    above = proved_above(phases, value, target, subject.neighbouring)
    if above and not _one_direction(subject, phases, value, target, above):
        raise Violation(f"below the truth: {phases} at delta {target} needs more than {value}, proved for {min(above)}")


def add_and_remove(subject: Subject, draw: Draw) -> None:
    """Adding and removing a unit are both covered: epsilon is not the cost of the cheaper direction alone."""
    phases, target = _some(subject, draw), draw(subject.deltas())
    value = _epsilon(subject, phases, target)
    above = proved_above(phases, value, target, subject.neighbouring)
    if above and _one_direction(subject, phases, value, target, above):
        raise Violation(f"one direction only: {phases} at delta {target} costs {value}, but more under {min(above)}")


def _one_direction(
    subject: Subject, phases: tuple[Phase, ...], value: float, target: float, above: frozenset[str]
) -> bool:
    """Whether some direction costs `value` to within 2e-3, while another one costs over 1 in a hundred more."""
    others = directions(phases, subject.neighbouring) - above
    if not others or not proved_above(phases, value * 1.01, target, subject.neighbouring) & above:
        return False
    return bool(proved_above(phases, value * (1 - 2e-3), target, subject.neighbouring) & others)


def lower_bound(subject: Subject, draw: Draw) -> None:
    """A reported lower bound is not above the truth."""
    phases, target = _some(subject, draw), draw(subject.deltas())
    _hold_lower_to_truth(subject, phases, target)


def _hold_lower_to_truth(subject: Subject, phases: tuple[Phase, ...], target: float) -> None:
    value = float(subject.epsilon_lower(_composed(subject, phases), target))
    short = math.nextafter(value, 0.0)
    wrong = value > 0 and proved_below(phases, short, target, subject.neighbouring)
    _require(not wrong, "the lower bound is above the truth", phases=phases, delta=target, lower=value)


def state(subject: Subject, draw: Draw) -> None:
    """A restored accountant goes on like the one that was saved, and neither changes the other."""
    phases, target, later = _several(subject, draw), draw(subject.deltas()), draw(subject.phases())
    later = later if subject.several > 1 else phases[-1]
    original = _composed(subject, phases)
    saved = subject.state(original)
    kept, restored = copy.deepcopy(saved), subject.restore(saved)
    expected, after = (_epsilon(subject, some, target) for some in (phases, (*phases, later)))
    _require(_same(subject, float(subject.epsilon(restored, target)), expected), "the state lost something", of=phases)
    grown = float(subject.epsilon(subject.compose(subject.restore(copy.deepcopy(kept)), later), target))
    _require(_same(subject, grown, after), "a restored accountant goes on differently", of=phases, then=later)
    subject.compose(restored, later)
    _require(_plain(saved) == _plain(kept), "a restored accountant changes the state it came from", of=phases)
    _require(
        _same(subject, float(subject.epsilon(original, target)), expected), "a restored accountant is shared", of=phases
    )


def _plain(value: Any) -> str:
    return repr(value)


def getters(subject: Subject, draw: Draw) -> None:
    """Reading changes nothing: asked twice, or in between, the answers are the same."""
    phase, target, times = draw(subject.phases()), draw(subject.deltas()), draw(st.integers(2, 4))
    unread = _epsilon(subject, (phase, phase), target)
    accountant = subject.compose(subject.new(), phase)
    answers = {float(subject.epsilon(accountant, target)) for _ in range(times)}
    _require(len(answers) == 1, "asked again, it answers differently", phase=phase, answers=sorted(answers))
    accountant = subject.compose(accountant, phase)
    read = float(subject.epsilon(accountant, target))
    _require(_same(subject, read, unread), "reading in between changes the cost", phase=phase, of=(unread, read))


def refusals(subject: Subject, draw: Draw) -> None:
    """What is refused changes nothing: everything composed before still counts."""
    phase, target = draw(subject.phases()), draw(subject.deltas())
    before = _epsilon(subject, (phase,), target)
    accountant = subject.compose(subject.new(), phase)
    try:
        subject.misuse(accountant)
    except NotServed:
        raise
    except Exception:
        try:
            after = float(subject.epsilon(accountant, target))
        except Exception as error:
            raise Violation(f"after a refusal {phase} is lost: {type(error).__name__}: {error}") from error
        _require(_same(subject, after, before), "a refusal changed the record", phase=phase, of=(before, after))
    else:
        raise Violation(f"misuse after {phase} was not refused")


def _some(subject: Subject, draw: Draw) -> tuple[Phase, ...]:
    """One phase, or several where the accountant composes several."""
    most = min(2, subject.several)
    return tuple(draw(st.lists(subject.phases(), min_size=1, max_size=most, unique=True)))


def _several(subject: Subject, draw: Draw) -> tuple[Phase, ...]:
    if subject.several < 2:
        return (draw(subject.phases()),)
    return tuple(draw(st.lists(subject.phases(), min_size=2, max_size=subject.several, unique=True)))


PROPERTIES: dict[str, Callable[[Subject, Draw], None]] = {
    property.__name__: property
    for property in (
        numbers,
        rounds,
        noise,
        rate,
        delta,
        order,
        grouping,
        post_processing,
        truth,
        add_and_remove,
        lower_bound,
        state,
        getters,
        refusals,
    )
}
"""Every property by its name."""

HELD_TO_TRUTH: dict[str, Callable[[Subject, tuple[Phase, ...], float], None]] = {
    "truth": _hold_to_truth,
    "lower_bound": _hold_lower_to_truth,
}
"""Those that can be asked of one setting, and not only of drawn ones."""
