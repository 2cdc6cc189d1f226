"""From one kind of guarantee to another: each reduction a function, each with its theorem.

Proofs, line by line: docs/theory/billboard.md, in the section that each function names. Every reduction checks its
premises as far as they are visible in the guarantee and asks for the others by name; what it cannot check (that a
client really uses nothing but its data, its coins and the billboard) is what proofs_checks.check_billboard tries.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from ...mechanisms import PrivacyNotion
from ...mechanisms.validate import count
from ...mechanisms.word import Word
from ..bracket import Bracket
from ..pricing.stated_parameters import grouped_delta
from ..rounding import up
from .guarantees import EVERYBODY_ELSE, OUTSIDE, Guarantee, ObserverKind, UnlikeGuarantees


class ClientsLearn(Word):
    """What reaches a client of what is secret to others: nothing but the billboard, when it took part itself, or its
    own share of the noise."""

    BILLBOARD_ONLY = "the-billboard-only"
    OWN_PARTICIPATION = "own-participation"
    OWN_NOISE_SHARE = "own-noise-share"


def billboard_lemma(
    billboard: Guarantee,
    clients_learn: ClientsLearn | Literal["the-billboard-only", "own-participation", "own-noise-share"],
) -> Guarantee:
    """If the billboard g is (eps, delta)-DP, the clients' outputs f_j(D_j, g(D)) are (eps, delta)-billboard private.

    Hsu, Huang, Roth, Roughgarden, Wu 2014 (arXiv 1311.2828), the Billboard Lemma; section "The billboard
    lemma". Premise: given g(D), the clients' functions are independent of g's internal randomness. Cohorts, and noise
    that clients add, are such randomness. So a guarantee against an outside reader of the billboard carries over only
    when clients learn the billboard and nothing else; otherwise g's guarantee must hold against the coalition,
    who knows its own coins.
    Raises UnlikeGuarantees when the guarantee is too weak for that.

    billboard: the guarantee of what is published. clients_learn: what reaches a client beside it.

    >>> from dpcert.accounting import Bracket
    >>> from dpcert.accounting.billboard.guarantees import EVERYBODY_ELSE
    >>> seen = Guarantee("dp", "client", "replace-one", Bracket(0.0, 1.0, True, "stated"), 1e-6, EVERYBODY_ELSE)
    >>> billboard_lemma(seen, clients_learn="own-participation").notion
    'billboard'
    """
    learn = ClientsLearn.named("clients_learn", clients_learn)
    _needs(billboard, PrivacyNotion.DP)
    if billboard.observer == OUTSIDE and learn != ClientsLearn.BILLBOARD_ONLY:
        raise UnlikeGuarantees(
            "observer",
            str(billboard.observer),
            f"a dp guarantee against {EVERYBODY_ELSE}: clients learn {learn}, which an outside reader does not",
        )
    if billboard.observer not in (OUTSIDE, EVERYBODY_ELSE):
        raise UnlikeGuarantees("observer", str(billboard.observer), f"{OUTSIDE} or {EVERYBODY_ELSE}")
    return replace(
        billboard, notion=PrivacyNotion.BILLBOARD, observer=EVERYBODY_ELSE, theorem=_by("billboard lemma", billboard)
    )


def billboard_implies_joint(guarantee: Guarantee) -> Guarantee:
    """Billboard privacy is joint privacy with a particular way of computing; the inequality is the same.

    Kearns, Pai, Roth, Ullman 2014 (arXiv 1207.4084); section "Billboard implies joint".

    >>> from dpcert.accounting import Bracket
    >>> from dpcert.accounting.billboard.guarantees import EVERYBODY_ELSE
    >>> seen = Guarantee("billboard", "client", "replace-one", Bracket(0.0, 1.0, True, "stated"), 1e-6, EVERYBODY_ELSE)
    >>> billboard_implies_joint(seen).notion
    'joint'
    """
    _needs(guarantee, PrivacyNotion.BILLBOARD)
    return replace(guarantee, notion=PrivacyNotion.JOINT, theorem=_by("billboard implies joint", guarantee))


def dp_implies_joint(guarantee: Guarantee) -> Guarantee:
    """A dp guarantee of the whole vector of outputs, seen by everybody else, is joint: leaving out a part is
    post-processing (section "Billboard implies joint").

    >>> from dpcert.accounting import Bracket
    >>> from dpcert.accounting.billboard.guarantees import EVERYBODY_ELSE
    >>> seen = Guarantee("dp", "client", "replace-one", Bracket(0.0, 1.0, True, "stated"), 1e-6, EVERYBODY_ELSE)
    >>> dp_implies_joint(seen).notion
    'joint'
    """
    _needs(guarantee, PrivacyNotion.DP)
    if guarantee.observer != EVERYBODY_ELSE:
        raise UnlikeGuarantees("observer", str(guarantee.observer), str(EVERYBODY_ELSE))
    return replace(guarantee, notion=PrivacyNotion.JOINT, theorem=_by("dp implies joint", guarantee))


def group(guarantee: Guarantee, size: int) -> Guarantee:
    """The guarantee for `size` units that change together (correlated or colluding clients): what everybody outside
    the group sees is (size * eps, delta * (e^{size eps} - 1) / (e^eps - 1))-indistinguishable.

    Vadhan 2017 ("The Complexity of Differential Privacy"), Lemma 2.2, in the form that sums the geometric series;
    section "Groups". Holds for joint privacy too: leaving out more outputs is post-processing.

    size: number of units that change together, at least 1.

    >>> from dpcert.accounting import Bracket
    >>> from dpcert.accounting.billboard.guarantees import EVERYBODY_ELSE
    >>> seen = Guarantee("dp", "client", "replace-one", Bracket(0.0, 1.0, True, "stated"), 1e-6, EVERYBODY_ELSE)
    >>> round(group(seen, 3).epsilon.upper, 12)
    3.0
    """
    size = count("size", size)
    if size == 1:
        return guarantee
    epsilon, delta = guarantee.epsilon, guarantee.delta
    upper = up(size * epsilon.upper) if epsilon.upper else 0.0
    observer = guarantee.observer
    if observer.kind == ObserverKind.COALITION and observer.size is None:
        theorem = _by(f"group of {size} (everybody outside the group)", guarantee)
    else:
        theorem = _by(f"group of {size}", guarantee)
    return replace(
        guarantee,
        unit=f"group of {size} {guarantee.unit}s",
        epsilon=Bracket(epsilon.lower if delta == 0 else 0.0, upper, True, epsilon.method),
        delta=min(1.0, grouped_delta(epsilon.upper, delta, size)),
        theorem=theorem,
    )


def post_process(guarantee: Guarantee) -> Guarantee:
    """What others compute from what they see and from their own data costs nothing.

    Dwork, Roth 2014, Proposition 2.1; section "Post-processing". For billboard and joint guarantees this covers local
    fine-tuning by any client on its own data and the billboard: the outputs of all others stay as they are.

    >>> from dpcert.accounting import Bracket
    >>> from dpcert.accounting.billboard.guarantees import EVERYBODY_ELSE
    >>> seen = Guarantee("joint", "client", "replace-one", Bracket(0.0, 1.0, True, "stated"), 1e-6, EVERYBODY_ELSE)
    >>> post_process(seen).epsilon == seen.epsilon
    True
    """
    return replace(guarantee, theorem=_by("post-processing", guarantee))


def _needs(guarantee: Guarantee, notion: str) -> None:
    if guarantee.notion != notion:
        raise UnlikeGuarantees("notion", guarantee.notion, f"a {notion} guarantee")


def _by(step: str, guarantee: Guarantee) -> str:
    return f"{step} <- {guarantee.theorem}"
