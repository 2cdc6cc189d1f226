"""Guarantees that remember what they are about, so that unlike ones cannot be added up or compared.

Composing or comparing guarantees of different notions, units, neighbouring relations or observers raises
UnlikeGuarantees; reductions.py holds the theorems that turn one kind into another, one function each.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from ...mechanisms import InputError, Neighbouring, Notion, PrivacyNotion, neighbouring_relation
from ...mechanisms.validate import number
from ...mechanisms.word import Word
from ..bracket import Bracket
from ..rounding import up


class ObserverKind(Word):
    """Who looks; `Observer` says what each of them sees."""

    SERVER = "server"
    COALITION = "coalition"
    FINAL_MODELS = "final-models"
    OUTSIDE = "outside"


@dataclass(frozen=True, slots=True)
class Observer:
    """Who a guarantee holds against.

    - "server": runs the aggregation; sees who takes part and whatever uploads the aggregation shows it.
    - "coalition": `size` of the other clients pooling all that they see: the billboard, when each of them took part,
      their own data, models and coins. size None means all others. One other client is a coalition of size 1.
    - "final-models": sees the billboard's last state and the other clients' final models, nothing in between.
    - "outside": reads the billboard (all releases), no client's side.

    size: number of clients in a coalition, at least 1; None: all others.

    >>> str(Observer("coalition", 3))
    'a coalition of 3 other clients'
    """

    kind: ObserverKind | Literal["server", "coalition", "final-models", "outside"]
    size: int | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "kind", ObserverKind.named("observer", self.kind))
        if self.size is not None:
            if self.kind != ObserverKind.COALITION:
                raise InputError("observer.size", self.size, "no size: only a coalition has one")
            if isinstance(self.size, bool) or not isinstance(self.size, int) or self.size < 1:
                raise InputError("observer.size", self.size, "a whole number of at least 1")

    def __str__(self) -> str:
        return f"a coalition of {self.size} other clients" if self.size else _IN_WORDS[ObserverKind(self.kind)]


_IN_WORDS = {
    ObserverKind.SERVER: "the server",
    ObserverKind.COALITION: "the coalition of all other clients",
    ObserverKind.FINAL_MODELS: "whoever sees the final models only",
    ObserverKind.OUTSIDE: "an outside reader of the billboard",
}

SERVER = Observer("server")
EVERYBODY_ELSE = Observer("coalition")
ONE_OTHER_CLIENT = Observer("coalition", 1)
FINAL_MODELS = Observer("final-models")
OUTSIDE = Observer("outside")


class UnlikeGuarantees(InputError):
    """Two guarantees that are not about the same thing, where they would have to be.

    >>> issubclass(UnlikeGuarantees, ValueError)  # it is an InputError
    True
    """


@dataclass(frozen=True, slots=True)
class Guarantee:
    """(epsilon, delta)-indistinguishability of what `observer` sees, for neighbours that differ in one `unit`.

    notion: "dp" for a single output that the observer sees whole; "billboard" when what others get is computed from
    a private billboard and their own data; "joint" when only the outputs of all others must be indistinguishable.
    epsilon: a bracket; what is guaranteed is its upper end (an uncertified bracket guarantees nothing).
    theorem: where it comes from, in words.

    >>> from dpcert import Bracket
    >>> known = Bracket(0.0, 1.0, True, "stated")
    >>> Guarantee("dp", "client", "replace-one", known, 1e-6, Observer("outside")).epsilon.upper
    1.0
    """

    notion: Notion
    unit: str
    neighbouring: Neighbouring
    epsilon: Bracket
    delta: float
    observer: Observer
    theorem: str = "stated"

    def __post_init__(self) -> None:
        object.__setattr__(self, "notion", PrivacyNotion.named("notion", self.notion))
        object.__setattr__(self, "neighbouring", neighbouring_relation(self.neighbouring))
        if not self.unit.strip():
            raise InputError("unit", self.unit, "what one neighbouring step changes, such as 'client'")
        if not 0 <= number("delta", self.delta) <= 1:
            raise InputError("delta", self.delta, "a number from 0 to 1")
        if not self.epsilon.certified:
            raise InputError("epsilon", self.epsilon, "a certified bracket: an estimate guarantees nothing")
        if self.notion != PrivacyNotion.DP and self.observer.kind == ObserverKind.SERVER:
            raise InputError(
                "observer",
                self.observer.kind,
                "a client-side observer: the server is no party to "
                f"{self.notion} privacy, it needs a dp guarantee of its own",
            )

    def implies(self, other: Guarantee) -> bool:
        """Whether this guarantee's certain part gives the other's: upper ends are compared.

        Raises UnlikeGuarantees unless both are of the same kind.
        """
        alike(self, other)
        return self.epsilon.upper <= other.epsilon.upper and self.delta <= other.delta

    def __le__(self, other: Guarantee) -> bool:
        return self.implies(other)

    def __ge__(self, other: Guarantee) -> bool:
        return other.implies(self)

    def __add__(self, other: Guarantee) -> Guarantee:
        return compose([self, other])


def alike(first: Guarantee, second: Guarantee) -> None:
    """Raises UnlikeGuarantees, naming the first difference, unless both guarantees are of the same kind."""
    for field in ("notion", "unit", "neighbouring", "observer"):
        ours, theirs = getattr(first, field), getattr(second, field)
        if ours != theirs:
            raise UnlikeGuarantees(
                field, str(theirs), f"the same {field} as the other guarantee ({ours}), or a reduction in between"
            )


def compose(guarantees: Sequence[Guarantee]) -> Guarantee:
    """Basic adaptive composition: epsilons and deltas add up (Dwork, Roth 2014, Theorem 3.16 and Section 3.5.1).

    For billboard and joint guarantees a client's input to a later mechanism may include what it got from earlier
    ones (docs/theory/billboard.md, "Composition"). What is known from below does not add up: the lower end is the
    largest of the parts'. To compose rounds of one run tightly, describe the run instead and account it whole.

    guarantees: one or more, all of the same notion, unit and neighbouring relation.

    >>> one = Guarantee("dp", "client", "replace-one", Bracket(0.0, 1.0, True, "stated"), 1e-6, OUTSIDE)
    >>> round(compose([one, one]).epsilon.upper, 12)
    2.0
    """
    if not guarantees:
        raise InputError("guarantees", "none", "at least one guarantee")
    first = guarantees[0]
    for other in guarantees[1:]:
        alike(first, other)
    total, delta = 0.0, 0.0
    for part in guarantees:
        total = up(total + part.epsilon.upper) if total else part.epsilon.upper
        delta = up(delta + part.delta) if delta else part.delta
    lower = max((part.epsilon.lower for part in guarantees if part.delta >= delta), default=0.0)
    method = "+".join(dict.fromkeys(part.epsilon.method for part in guarantees))
    theorem = "basic composition of " + ", ".join(dict.fromkeys(part.theorem for part in guarantees))
    return replace(first, epsilon=Bracket(lower, total, True, method), delta=min(1.0, delta), theorem=theorem)
