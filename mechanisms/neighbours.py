"""What a guarantee is stated against: which two federations it must not tell apart, and to whom.

The one place that defines these words, and which relation is meant where none is named.
"""

from __future__ import annotations

from typing import Literal

from .word import Word


class Relation(Word):
    """In what two neighbouring data sets differ.

    ADD_REMOVE: one unit is there or not; its contribution appears or disappears. REPLACE_ONE: one unit's data become
    any other data. ZERO_OUT: one unit's contribution is replaced by zero; everything else, the cohort's size included,
    stays, and everyone knows that it took part.

    >>> Relation.ZERO_OUT == "zero-out", Relation("zero-out")
    (True, 'zero-out')
    """

    ADD_REMOVE = "add-remove"
    REPLACE_ONE = "replace-one"
    ZERO_OUT = "zero-out"


Neighbouring = Relation | Literal["add-remove", "replace-one", "zero-out"]
"""What callers may say: a `Relation`, or its spelling."""


class PrivacyNotion(Word):
    """Who the attacker is.

    DP: anyone who sees everything that is released. BILLBOARD: all the other clients together; they see what the server
    publishes, but not your personal model. JOINT: all the other clients together; they see their own outputs.

    >>> PrivacyNotion("joint") is PrivacyNotion.JOINT
    True
    """

    DP = "dp"
    BILLBOARD = "billboard"
    JOINT = "joint"


Notion = PrivacyNotion | Literal["dp", "billboard", "joint"]
"""What callers may say: a `PrivacyNotion`, or its spelling."""
NOTIONS = tuple(PrivacyNotion)
"""Every one of them."""


class Participation(Word):
    """What the attacker knows of who took part in a round.

    HIDDEN: nothing. POOLED: every other unit knows whether it took part itself, and they pool that; it settles the
    unit's own participation when the cohort has a fixed size, and says nothing about it under independent Poisson
    coins.
    VISIBLE: the attacker sees the unit's own participation (its traffic, or the cohort itself).

    >>> [str(known) for known in Participation]
    ['hidden', 'pooled', 'visible']
    """

    HIDDEN = "hidden"
    POOLED = "pooled"
    VISIBLE = "visible"


Visibility = Participation | Literal["hidden", "visible"]
"""What callers may say: whether the attacker sees when a unit takes part. POOLED follows from the notion alone."""


def default_relation(notion: Notion = PrivacyNotion.DP, participation: Visibility | None = None) -> Relation:
    """The relation that is meant where none is named, by functions, commands and trainers alike.

    "add-remove" for dp, the literature's usual one. "replace-one" where the observer may see that a unit takes part,
    so that it cannot be there or not: for billboard and joint privacy, and for dp with visible participation.

    >>> default_relation("dp"), default_relation("billboard"), default_relation("dp", "visible")
    ('add-remove', 'replace-one', 'replace-one')
    """
    if PrivacyNotion.named("notion", notion) == PrivacyNotion.DP and participation != Participation.VISIBLE:
        return Relation.ADD_REMOVE
    return Relation.REPLACE_ONE


def neighbouring_relation(value: object) -> Relation:
    """The relation that a caller means, or an InputError.

    >>> neighbouring_relation("zero-out") is Relation.ZERO_OUT
    True
    """
    return Relation.named("neighbouring", value)


def relation_meant(
    neighbouring: Neighbouring | None, notion: Notion = PrivacyNotion.DP, participation: Visibility | None = None
) -> Relation:
    """The relation that a caller names, or the default one.

    >>> relation_meant("zero-out"), relation_meant(None), relation_meant(None, "joint")
    ('zero-out', 'add-remove', 'replace-one')
    """
    return default_relation(notion, participation) if neighbouring is None else neighbouring_relation(neighbouring)


def sensitivity(relation: Neighbouring) -> float:
    """How far one neighbouring step moves a sum of contributions of norm at most 1.

    Two contributions in a unit ball are up to 2 apart; a contribution and nothing (or zero) up to 1.

    >>> sensitivity("replace-one")
    2.0
    """
    return 2.0 if neighbouring_relation(relation) == Relation.REPLACE_ONE else 1.0
