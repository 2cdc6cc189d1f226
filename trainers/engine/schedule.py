"""How the clients' learning rate falls from round to round."""

from __future__ import annotations

from ...mechanisms import InputError

FORMS = "constant, halving:N (half as large every N rounds) or inverse:N (divided by 1 + t/N in round t)"


def rate_factor(schedule: str, round_index: int) -> float:
    """By what the learning rate is multiplied in this round, counted from 0: a function of the round alone.

    Raises InputError for anything but FORMS.

    >>> [rate_factor("halving:200", t) for t in (0, 199, 200, 400)]
    [1.0, 1.0, 0.5, 0.25]
    >>> rate_factor("inverse:10", 30)
    0.25
    """
    name, _, told = schedule.partition(":")
    if schedule == "constant":
        return 1.0
    if name not in ("halving", "inverse") or not told.isdigit() or int(told) == 0:
        raise InputError("schedule", schedule, FORMS)
    length = int(told)
    return 0.5 ** (round_index // length) if name == "halving" else length / (length + round_index)
