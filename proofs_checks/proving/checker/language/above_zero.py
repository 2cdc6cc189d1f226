"""Which numbers are above 0, or never below, on a run: where roots, logarithms, powers and quotients have a value."""

from __future__ import annotations

from ..current_run import tracer
from ..forms import Form, Sign, noise_index
from ..noise import COMPUTED, smooth


def noted(made: Form, positive: bool = False) -> Form:
    """A value that is never below 0, or always above."""
    tracer().signs.update(dict.fromkeys(made.slopes, positive))
    return made


def _known_sign(form: Form) -> bool | None:
    """Of a sum of values that are never below 0, or always above, whether it is above 0. None: it is none."""
    signs = tracer().signs
    if form.at_zero < 0 or any(slope < 0 or name not in signs for name, slope in form.slopes.items()):
        return None
    return form.at_zero > 0 or any(signs[name] for name in form.slopes)


def _holds(sign: Sign) -> bool:
    run = tracer()
    return bool(run.prover.contradictory([*run.data.facts, *run.assumed, sign.negation()]))


def positive(form: Form) -> bool:
    """Whether it is above 0 on this run, but for probability 0."""
    return bool(_known_sign(form)) or _holds(Sign(form, not smooth(form, tracer().draws)))


def nonnegative(form: Form) -> bool:
    """Whether it is not below 0 on this run."""
    return _known_sign(form) is not None or _holds(Sign(form, False))


def never_zero(form: Form) -> bool:
    """Whether it is not 0 on this run, but for probability 0."""
    return smooth(form, tracer().draws) or positive(form) or positive(-form)


def computed(form: Form) -> bool:
    """Whether it hangs on values that are computed of others."""
    draws = tracer().draws
    return any((k := noise_index(name)) is not None and draws[k][0] in COMPUTED for name in form.slopes)


def has_power(base: Form, exponent: Form) -> bool:
    """Whether there is one: of a number that may be below 0 by whole numbers above 0 only."""
    if not exponent.slopes and exponent.at_zero > 0:
        return exponent.at_zero.denominator == 1 or nonnegative(base)
    return positive(base)
