"""What a guarantee is stated against: which two federations it must not tell apart, and to whom.

The one place that defines these words, and which relation is meant where none is named.
"""

from __future__ import annotations

from typing import Literal, cast

from .validate import choice

Neighbouring = Literal["add-remove", "replace-one", "zero-out"]
"""In what two neighbouring data sets differ. add-remove: one unit is added or removed. replace-one: one unit's data are
swapped for other data. zero-out: one unit's contribution is set to zero, although everyone knows that it took part."""
RELATIONS: tuple[Neighbouring, ...] = ("add-remove", "replace-one", "zero-out")

Notion = Literal["dp", "billboard", "joint"]
"""Who the attacker is. dp: anyone who sees everything that is released. billboard: all the other clients together; they
see what the server publishes, but not your personal model. joint: all the other clients together; they see their own
outputs."""
NOTIONS: tuple[Notion, ...] = ("dp", "billboard", "joint")
"""Every `Notion`."""

Visibility = Literal["hidden", "visible"]
"""Whether the attacker sees when a unit takes part."""


def default_relation(notion: Notion = "dp", participation: Visibility | None = None) -> Neighbouring:
    """The relation that is meant where none is named, by functions, commands and trainers alike.

    "add-remove" for dp, the literature's usual one. "replace-one" where the observer may see that a unit takes part,
    so that it cannot be there or not: for billboard and joint privacy, and for dp with visible participation.

    >>> default_relation("dp"), default_relation("billboard"), default_relation("dp", "visible")
    ('add-remove', 'replace-one', 'replace-one')
    """
    choice("notion", notion, NOTIONS)
    return "add-remove" if notion == "dp" and participation != "visible" else "replace-one"


def neighbouring_relation(value: object) -> Neighbouring:
    """The relation as given, or an InputError.

    - "add-remove": one unit is there or not; its contribution appears or disappears.
    - "replace-one": one unit's data become any other data.
    - "zero-out": one unit's contribution is replaced by zero; everything else, the cohort's size
      included, stays.

    >>> neighbouring_relation("zero-out")
    'zero-out'
    """
    return cast(Neighbouring, choice("neighbouring", value, RELATIONS))


def sensitivity(relation: Neighbouring) -> float:
    """How far one neighbouring step moves a sum of contributions of norm at most 1.

    Two contributions in a unit ball are up to 2 apart; a contribution and nothing (or zero) up to 1.

    >>> sensitivity("replace-one")
    2.0
    """
    return 2.0 if relation == "replace-one" else 1.0
