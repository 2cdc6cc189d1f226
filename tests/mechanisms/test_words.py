"""Terms that are one of a few words: a door takes the word and keeps the member; what is no word of its is named."""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable
from typing import get_args

import pytest

from dpcert.accounting import dominating, epsilon, renyi, rho
from dpcert.accounting.billboard.guarantees import EVERYBODY_ELSE, Guarantee, Observer, ObserverKind
from dpcert.accounting.billboard.knowledge import Clients, Knows
from dpcert.accounting.billboard.reductions import ClientsLearn
from dpcert.accounting.bracket import Bracket
from dpcert.accounting.calibration.solve_for import Solved, SolveFor
from dpcert.accounting.currencies.convert import Asked, AskedAs, Direction, Known, KnownAs
from dpcert.accounting.ledger import Ledger, RenyiFilter
from dpcert.accounting.pairs.order import Order, Sampling
from dpcert.accounting.pricing.change import Change
from dpcert.accounting.quantity import Quantity
from dpcert.accounting.question import Question
from dpcert.mechanisms import Gaussian, InputError, Participation, Poisson, PrivacyNotion, Relation, sensitivity
from dpcert.mechanisms.neighbours import Neighbouring, Notion
from dpcert.mechanisms.selection import SelectionNoise
from dpcert.mechanisms.tables.norms import Norm
from dpcert.mechanisms.tables.scheme import Scheme
from dpcert.mechanisms.word import Word

KINDS: list[type[Word]] = [
    *(Relation, PrivacyNotion, Participation, Order, Sampling, Quantity, Change),
    *(ObserverKind, Knows, Clients, ClientsLearn),
    *(SolveFor, Known, Asked, Direction, Scheme, Norm, SelectionNoise),
]

RUN = Poisson(Gaussian(2.0), 0.1)


@pytest.mark.parametrize("kind", KINDS)
def test_a_member_stands_for_its_spelling_everywhere(kind: type[Word]) -> None:
    for member in kind:
        word = str.__str__(member.value)
        assert (member, hash(member), repr(member), f"{member}") == (word, hash(word), repr(word), word)
        assert json.dumps({member: [member]}) == json.dumps({word: [word]})
        assert {word: 1}[member] == {member: 1}[word] == 1
        assert pickle.loads(pickle.dumps(member)) is member
        assert kind.named("field", word) is kind.named("field", member) is member


@pytest.mark.parametrize("kind", KINDS)
def test_an_unknown_word_is_refused_with_the_list(kind: type[Word]) -> None:
    for wrong in ("replace_one", "", None, 3):
        with pytest.raises(InputError, match=r"expected one of " + ", ".join(kind)):
            kind.named("field", wrong)


@pytest.mark.parametrize("said", [Neighbouring, Notion, Solved, KnownAs, AskedAs])
def test_what_callers_may_say_is_the_list(said: object) -> None:
    kind, spelt = get_args(said)
    assert get_args(spelt) == tuple(kind)


DOORS: dict[str, Callable[[object], object]] = {
    "epsilon": lambda relation: epsilon(RUN, 1e-5, relation),  # type: ignore[arg-type]
    "dominating": lambda relation: dominating(RUN, relation),  # type: ignore[arg-type]
    "renyi": lambda relation: renyi(RUN, 4.0, relation),  # type: ignore[arg-type]
    "rho": lambda relation: rho(RUN, relation),  # type: ignore[arg-type]
    "sensitivity": lambda relation: sensitivity(relation),  # type: ignore[arg-type]
    "filter": lambda relation: RenyiFilter(1.0, 1e-5, relation).neighbouring,  # type: ignore[arg-type]
    "guarantee": lambda relation: (
        Guarantee(
            "dp",
            "client",
            relation,  # type: ignore[arg-type]
            Bracket(0.0, 1.0, True, "stated"),
            1e-6,
            EVERYBODY_ELSE,
        ).neighbouring
    ),
    "ledger": lambda relation: Ledger().running_epsilon(1e-5, relation),  # type: ignore[arg-type]
}


@pytest.mark.parametrize("door", DOORS)
def test_each_door_takes_either_and_refuses_the_rest(door: str) -> None:
    asked = DOORS[door]
    for member in Relation:
        assert asked(member) == asked(member.value)
    with pytest.raises(InputError, match="add-remove, replace-one, zero-out"):
        asked("replace one")


def test_what_a_question_keeps_are_members() -> None:
    """Planted: a door that passes the word on; wherever a relation is told apart by what it is, another is priced."""
    question = Question.about(RUN, "delta", "zero-out", "joint", "hidden")  # type: ignore[arg-type]
    kept = (question.quantity, question.neighbouring, question.participation)
    assert [type(each) for each in kept] == [Quantity, Relation, Participation]
    assert Observer("coalition", 2).kind is ObserverKind.COALITION
    assert type(RenyiFilter(1.0, 1e-5, "zero-out", participation="visible").participation) is Participation
