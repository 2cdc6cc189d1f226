"""Neighbouring relations: which two federations a guarantee must not tell apart."""

from __future__ import annotations

from typing import Literal, cast

from .validate import choice

Neighbouring = Literal["add-remove", "replace-one", "zero-out"]
RELATIONS: tuple[Neighbouring, ...] = ("add-remove", "replace-one", "zero-out")


def neighbouring_relation(value: object) -> Neighbouring:
    """The relation as given, or an InputError.

    - "add-remove": one unit is there or not; its contribution appears or disappears.
    - "replace-one": one unit's data become any other data.
    - "zero-out": one unit's contribution is replaced by zero; everything else, the cohort's size
      included, stays.
    """
    return cast(Neighbouring, choice("neighbouring", value, RELATIONS))


def sensitivity(relation: Neighbouring) -> float:
    """How far one neighbouring step moves a sum of contributions of norm at most 1.

    Two contributions in a unit ball are up to 2 apart; a contribution and nothing (or zero) up to 1.
    """
    return 2.0 if relation == "replace-one" else 1.0
