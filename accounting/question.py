"""What is asked about a run, against whom, by which accountant and how precisely: one frozen value."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache

from ..mechanisms import Mechanism, Run, TruncatedPoisson, as_run
from ..mechanisms.composition import has_step
from ..mechanisms.neighbours import (
    Neighbouring,
    Notion,
    Participation,
    PrivacyNotion,
    Relation,
    Visibility,
    relation_meant,
)
from ..mechanisms.validate import InputError, choice, number
from .accountants import BEST, Accountant, AccountantName, named
from .pricing.dominating import Dominating, dominating
from .quantity import Quantity

RTOL = 1e-6
"""The relative width of a bracket that is asked for where none is named."""


def tolerance(name: str, value: object) -> float:
    """A relative width, as a float. Raises InputError unless it is strictly between 0 and 1."""
    if not 0.0 < (asked := number(name, value)) < 1.0:
        raise InputError(name, value, "a number strictly between 0 and 1, such as 1e-6")
    return asked


def seen_by(notion: Notion, participation: Visibility | None) -> Participation:
    """What the notion's adversary knows of the cohorts.

    For billboard and joint privacy that is the coalition of all others, who see their own participation unless
    it is said to be hidden even from them; for plain DP, whoever sees the output, and nothing else by default.

    >>> seen_by("dp", None), seen_by("dp", "visible"), seen_by("joint", None), seen_by("joint", "hidden")
    ('hidden', 'visible', 'pooled', 'hidden')
    """
    attacker = PrivacyNotion.named("notion", notion)
    if participation is not None:
        choice("participation", participation, ("hidden", "visible"))
    if attacker == PrivacyNotion.DP:
        return Participation(participation or "hidden")
    return Participation.HIDDEN if participation == Participation.HIDDEN else Participation.POOLED


_pairs = lru_cache(maxsize=64)(dominating)
"""One claim asks about the same run several times: for its interval, its witness, its observers."""


@dataclass(frozen=True, slots=True)
class Question:
    """epsilon or delta of a run. Everything but the delta, or epsilon, at which it is asked.

    accountant: a name, or "best". rtol: the relative width that the bracket is to have.
    """

    run: Mechanism
    quantity: Quantity
    neighbouring: Relation
    participation: Participation
    accountant: AccountantName
    rtol: float

    @classmethod
    def about(
        cls,
        run: Run,
        quantity: Quantity,
        neighbouring: Neighbouring | None,
        notion: Notion = "dp",
        participation: Visibility | None = None,
        accountant: AccountantName = "best",
        rtol: float = RTOL,
    ) -> Question:
        """The question that a caller's words mean. Raises InputError for words and tolerances that mean none."""
        seen = seen_by(notion, participation)
        relation = relation_meant(neighbouring, notion, participation)
        if accountant != BEST:
            named(accountant)
        return cls(as_run(run), Quantity(quantity), relation, seen, accountant, tolerance("rtol", rtol))

    @property
    def asks_all(self) -> bool:
        """Whether the certified accountants are asked together, and none by name."""
        return self.accountant == BEST

    def asks_alone(self, accountant: Accountant) -> bool:
        """Whether this one is asked by name, to answer by itself."""
        return self.accountant == accountant.name

    def asks(self, accountant: Accountant) -> bool:
        """Whether this certified one is asked, alone or among all."""
        return self.accountant in (BEST, accountant.name)

    @property
    def is_cut(self) -> bool:
        """Whether some cohorts are cut at a largest size."""
        return has_step(self.run, TruncatedPoisson)

    def pairs(self) -> Dominating:
        """The product pairs that bound and attain what the run reveals."""
        return _pairs(self.run, self.neighbouring, self.participation)

    def of(self, run: Mechanism, **changed: object) -> Question:
        """The same question about another run."""
        return replace(self, run=run, **changed)  # type: ignore[arg-type]
