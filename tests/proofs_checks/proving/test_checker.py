"""The checker on its own: honest certificates pass, tampered ones do not, and each of its checks is needed.

For each check there is a false certificate, written by hand for a mechanism that is not private as claimed, that the
checker rejects and a checker without that check accepts.
"""

import copy
import json
from fractions import Fraction

import numpy as np
import pytest

from dpcert.mechanisms.samplers import discrete_laplace
from dpcert.proofs_checks.proving import prove
from dpcert.proofs_checks.proving.checker import check as checker
from dpcert.proofs_checks.proving.checker import costs, current_run, farkas, finite, order, tracer
from dpcert.proofs_checks.proving.checker.check import check_proof
from dpcert.proofs_checks.proving.checker.forms import Form, Sign
from dpcert.proofs_checks.proving.checker.language import methods


def sparse_vector(answers, rng):
    bound = rng.laplace(0, 2)
    for i, answer in enumerate(answers):
        if answer + rng.laplace(0, 4) >= bound:
            return i
    return None


@pytest.fixture(scope="module")
def honest():
    proof = prove(sparse_vector, epsilon=1, up_to=3, relation="answers")
    assert proof.proved
    return json.loads(json.dumps(proof.certificate))


def test_an_honest_certificate_passes(honest):
    checked = check_proof(honest, sparse_vector)
    assert checked.ok
    assert checked.steps > 10
    assert checked.runs > 10


def test_it_is_not_one_of_another_function(honest):
    def other(answers, rng):
        bound = rng.laplace(0, 2)
        for i, answer in enumerate(answers):
            if answer + rng.laplace(0, 3) >= bound:
                return i
        return None

    assert not check_proof(honest, other).ok


def first(document):
    return document["cases"][-1]["pieces"][0]


def set_field(*path_and_value):
    *path, value = path_and_value

    def tamper(document):
        target = document
        for step in path[:-1]:
            target = target[step]
        target[path[-1]] = value

    return tamper


def in_piece(change):
    return lambda document: change(first(document))


TAMPERED = {
    "a smaller epsilon": set_field("epsilon", "1/2"),
    "a negative epsilon": set_field("epsilon", "-1"),
    "another format": set_field("format", "dpcert proof 3"),
    "another relation": set_field("relation", "replace-one"),
    "no relation": set_field("relation", "none"),
    "more sizes": set_field("sizes", [1, 2, 3, 4]),
    "no sizes": set_field("sizes", []),
    "no cases": set_field("cases", []),
    "merging that is no flag": set_field("merging", 1),
    "a piece less": lambda document: document["cases"][-1]["pieces"].pop(),
    "no shift": in_piece(lambda piece: piece.__setitem__("shifts", [{} for _ in piece["shifts"]])),
    "another shift": in_piece(lambda piece: piece["shifts"].__setitem__(1, {"": "7"})),
    "a shift by the data": in_piece(lambda piece: piece["shifts"].__setitem__(1, {"x0": "1"})),
    "a shift of unknown variables": in_piece(lambda piece: piece["shifts"].__setitem__(0, {"q": "1"})),
    "shifts missing": in_piece(lambda piece: piece["shifts"].pop()),
    "smaller bounds": in_piece(lambda piece: piece.__setitem__("bounds", [{} for _ in piece["bounds"]])),
    "negative bounds": in_piece(lambda piece: piece.__setitem__("bounds", [{"": "-9"} for _ in piece["bounds"]])),
    "no target": in_piece(lambda piece: piece.__setitem__("target", [])),
    "no source": in_piece(lambda piece: piece.__setitem__("source", [])),
    "an empty source": in_piece(
        lambda piece: piece.__setitem__(
            "source", [{"form": {"n0": "1"}, "strict": True}, {"form": {"n0": "-1"}, "strict": True}]
        )
    ),
    "another output": in_piece(lambda piece: piece.__setitem__("output", ["int", "77"])),
    "another scale": in_piece(lambda piece: piece["draws"].__setitem__(0, ["laplace", "200"])),
    "another kind": in_piece(lambda piece: piece["draws"].__setitem__(0, ["uniform", "2"])),
    "a kind that does not exist": in_piece(lambda piece: piece["draws"].__setitem__(0, ["cauchy", "2"])),
    "strict as a word": in_piece(lambda piece: piece["source"][0].__setitem__("strict", "no")),
    "a number that is none": in_piece(lambda piece: piece["shifts"].__setitem__(0, {"": "1/0"})),
    "nothing but a word": set_field("cases", "all"),
}


@pytest.mark.parametrize("tamper", TAMPERED.values(), ids=TAMPERED)
def test_a_tampered_certificate_is_rejected(honest, tamper):
    document = copy.deepcopy(honest)
    tamper(document)
    checked = check_proof(document, sparse_vector)
    assert not checked.ok
    assert checked.reason


def certificate(*pieces, epsilon="1"):
    """For datasets of one number in [0, 1] that is replaced."""
    return {
        "format": "dpcert proof 1",
        "relation": "replace-one",
        "domain": {"ends": ["0", "1"], "whole": False},
        "sizes": [1],
        "merging": True,
        "epsilon": epsilon,
        "cases": [{"entries": 1, "case": "entry 0 is replaced", "pieces": list(pieces)}],
    }


def piece(output, draws, shifts, bounds, source=(), target=()):
    def signs(conditions):
        return [{"form": form, "strict": strict} for form, strict in conditions]

    return {
        "output": output,
        "draws": draws,
        "source": signs(source),
        "target": signs(target),
        "shifts": shifts,
        "bounds": bounds,
    }


WORD = ["str", "'a'"]
OTHER = ["str", "'b'"]
UNIFORM = [["uniform", "1"]]


def half_noise(data, rng):
    return data[0] + rng.laplace(0, 0.5)


def exact(data, rng):
    return data[0]


def exact_word(data, rng):
    return "a" if data[0] > 0.5 else "b"


def exact_place(data, rng):
    return int(np.argmax([data[0], 0.5]))


def one_sided(data, rng):
    return data[0] + rng.exponential(1)


def twice_as_often(data, rng):
    """'a' with probability 1/2 or 1/4."""
    return "a" if rng.random() < (0.5 if data[0] > 0.5 else 0.25) else "b"


def discrete_noise_on_reals(data, rng):
    return data[0] + discrete_laplace(1)


def gumbel_sum(data, rng):
    return data[0] + rng.gumbel(0, 1)


LARGE, SMALL = ({"x0": "1", "": "-1/2"}, True), ({"x0": "-1", "": "1/2"}, False)
Y_LARGE, Y_SMALL = ({"y": "1", "": "-1/2"}, True), ({"y": "-1", "": "1/2"}, False)


def below(end):
    return ({"n0": "-1", "": end}, True)


def from_(start):
    return ({"n0": "1", "": "-" + start}, False)


def everywhere_else():
    """Honest pieces of `twice_as_often` for all but large x0 and small y, where 'a' is claimed to cost nothing."""
    same = [
        piece(word, UNIFORM, [{}], [{}], (x, y, *cut), (x, y, *cut))
        for x, y, end in ((LARGE, Y_LARGE, "1/2"), (SMALL, Y_SMALL, "1/4"))
        for word, cut in ((WORD, (below(end),)), (OTHER, (from_(end),)))
    ]
    down = [piece(WORD, UNIFORM, [{}], [{}], (SMALL, Y_LARGE, below("1/4")), (SMALL, Y_LARGE, below("1/4")))]
    rest = [piece(OTHER, UNIFORM, [{}], [{}], (LARGE, Y_SMALL, from_("1/2")), (LARGE, Y_SMALL, from_("1/2")))]
    squeezed = [
        piece(
            OTHER,
            UNIFORM,
            [{"n0": "-1/3", "": "1/3"}],
            [{}],
            (SMALL, Y_LARGE, from_("1/4")),
            (SMALL, Y_LARGE, from_("1/2")),
        )
    ]
    return same + down + rest + squeezed


def overlapping():
    """'a' below 1/2 is moved to 'a' below 1/4 in two halves, one on top of the other; likewise 'b'."""
    ends = (LARGE, Y_SMALL)
    flipped = (SMALL, Y_LARGE)
    return [
        *everywhere_else()[:6],
        piece(WORD, UNIFORM, [{}], [{}], (*ends, below("1/4")), (*ends, below("1/4"))),
        piece(WORD, UNIFORM, [{"": "-1/4"}], [{}], (*ends, from_("1/4"), below("1/2")), (*ends, below("1/4"))),
        piece(OTHER, UNIFORM, [{}], [{}], (*flipped, from_("1/2")), (*flipped, from_("1/2"))),
        piece(OTHER, UNIFORM, [{"": "1/4"}], [{}], (*flipped, from_("1/4"), below("1/2")), (*flipped, from_("1/2"))),
    ]


def squeezing():
    """The same in one piece, by halving distances."""
    ends = (LARGE, Y_SMALL)
    halved = piece(WORD, UNIFORM, [{"n0": "-1/2"}], [{}], (*ends, below("1/2")), (*ends, below("1/4")))
    return [*everywhere_else(), halved]


def moved(draws, bound):
    """The noise makes up for the replaced entry."""
    return certificate(piece("real", draws, [{"x0": "1", "y": "-1"}], [bound]))


def ignore(*_, **__):
    return None


def no_branch(self, ways):
    """Only one way is followed."""
    known = [*self.data.facts, *self.assumed]
    possible = [k for k, way in enumerate(ways) if not self.prover.contradictory([*known, *way])]
    chosen = possible[0] if possible else len(ways) - 1
    self.trail.append((tuple(ways), chosen, [], self.known()))
    self.assumed += ways[chosen]
    return chosen


run_under_way = current_run.tracer


def no_last_place(values, better, as_good):
    """As if the last value were never the one looked for."""
    return run_under_way().choose([tuple(order._test(as_good, values[0], other) for other in values[1:])])


FALSE = {
    "costs": (half_noise, lambda: moved([["laplace", "1/2"]], {"": "1"}), [(checker, "costs", ignore)]),
    "scales": (
        half_noise,
        lambda: moved([["laplace", "1/2"]], {"": "1"}),
        [(costs, "weight", lambda kind, scale: Fraction(1))],
    ),
    "released numbers": (
        exact,
        lambda: certificate(piece("real", [], [], [])),
        [(checker, "_same_numbers", ignore)],
    ),
    "branches": (
        exact_word,
        lambda: certificate(piece(WORD, [], [], [])),
        [(tracer.Tracer, "choose", no_branch)],
    ),
    "every place": (
        exact_place,
        lambda: certificate(piece(["int", "0"], [], [], [])),
        [(order, "_place", no_last_place)],
    ),
    "coverage": (
        exact_word,
        lambda: certificate(
            piece(WORD, [], [], [], [LARGE, Y_LARGE], [LARGE, Y_LARGE]),
            piece(OTHER, [], [], [], [SMALL, Y_SMALL], [SMALL, Y_SMALL]),
        ),
        [(farkas.Prover, "covered", lambda *_: True)],
    ),
    "arrival": (
        exact_word,
        lambda: certificate(piece(WORD, [], [], []), piece(OTHER, [], [], [])),
        [(checker, "_arrives", ignore)],
    ),
    "support": (
        one_sided,
        lambda: moved([["exponential", "1"]], {"": "1"}),
        [(checker, "support", lambda *_: [])],
    ),
    "overlap": (twice_as_often, lambda: certificate(*overlapping(), epsilon="0"), [(checker, "_apart", ignore)]),
    "volume": (
        twice_as_often,
        lambda: certificate(*squeezing(), epsilon="0"),
        [(checker, "determinant", lambda piece: 1)],
    ),
    "whole shifts": (
        discrete_noise_on_reals,
        lambda: moved([["discrete-laplace", "1"]], {"": "1"}),
        [(costs, "_shiftable", ignore)],
    ),
    "entailment": (
        exact_word,
        lambda: certificate(piece(WORD, [], [], []), piece(OTHER, [], [], [])),
        [(farkas.Prover, "contradictory", lambda self, signs: True), (tracer.Tracer, "choose", no_branch)],
    ),
}


@pytest.mark.parametrize("name", FALSE)
def test_each_check_is_needed(name, monkeypatch):
    mechanism, document, mutant = FALSE[name]
    checked = check_proof(document(), mechanism)
    assert not checked.ok, "a false certificate was accepted"
    for home, what, instead in [*mutant, (checker, "at_random", lambda *_, **__: 0)]:  # random runs are a guard more
        monkeypatch.setattr(home, what, instead)
    assert check_proof(document(), mechanism).ok, "the mutant rejects it for another reason: " + checked.reason


def test_gumbel_noise_is_only_shifted_upwards():
    checked = check_proof(moved([["gumbel", "1"]], {"": "1"}), gumbel_sum)
    assert not checked.ok
    assert "a shift may be larger than its bound" in checked.reason


def test_a_symbolic_run_that_means_something_else_is_noticed(monkeypatch):
    """Planted: a table takes the minimum for the sum."""

    def mechanism(data, rng):
        return 1.0 * np.stack([data, data]).ravel().sum() + rng.laplace(0, 1)

    assert not prove(mechanism, epsilon=1, up_to=1).proved
    monkeypatch.setitem(methods.ARRAYS, "sum", methods.ARRAYS["min"])
    checked = check_proof(moved([["laplace", "1"]], {"": "1"}), mechanism)
    assert not checked.ok
    assert "the real output is" in checked.reason
    assert not prove(mechanism, epsilon=1, up_to=1).proved


def sign(strict=False, **slopes):
    constant = Fraction(slopes.pop("c", 0))
    return Sign(Form({name: Fraction(value) for name, value in slopes.items()}, constant), strict)


def test_multipliers_are_found_and_verified():
    signs = [sign(x=1, y=-1), sign(y=1, z=-1), sign(x=-1, z=1, c=-1)]
    assert farkas.multipliers(signs) == [1, 1, 1]
    assert not farkas.valid(signs, [Fraction(1), Fraction(1), Fraction(0)])
    assert not farkas.valid(signs, [Fraction(-1)] * 3)


def test_what_only_touches_is_a_contradiction_when_strict():
    touching = [sign(x=1), sign(x=-1)]
    assert farkas.multipliers(touching) is None
    assert farkas.multipliers([sign(x=1, strict=True), sign(x=-1)]) == [1, 1]


def test_possible_inequalities_have_no_multipliers():
    prover = farkas.Prover()
    assert not prover.contradictory([sign(x=1), sign(x=-1, c=1)])
    assert prover.contradictory([sign(x=1, c=-2), sign(x=-1, c=1)])
    assert prover.entails([sign(x=1, c=-2)], sign(x=1, c=-1))
    assert not prover.entails([sign(x=1, c=-1)], sign(x=1, c=-2))


def randomised_response(data, rng):
    return data[0] if rng.random() < 0.75 else 1 - data[0]


def enumeration(**changes):
    document = {"format": "dpcert enumeration 1", "relation": "replace-one", "values": [0, 1], "sizes": [1]}
    return document | {"epsilon": "11/10"} | changes


def test_enumerations_are_checked_exactly():
    assert finite.check_enumeration(enumeration(), randomised_response).ok
    for changes in (
        {"epsilon": "109/100"},
        {"epsilon": "-1"},
        {"sizes": []},
        {"values": [0]},
        {"relation": "answers"},
        {"format": "dpcert proof 1"},
    ):
        assert not finite.check_enumeration(enumeration(**changes), randomised_response).ok


def test_a_function_that_catches_the_end_of_its_run_is_rejected():
    def mechanism(data, rng):
        try:
            return data[0] if rng.random() < 0.5 else 0.0
        except BaseException:
            return 0.0

    assert "`try`" in finite.check_enumeration(enumeration(epsilon="9"), mechanism).reason


def test_deltas_of_enumerations_are_checked_exactly():
    """At epsilon 0 the randomised response needs a delta of 3/4 - 1/4."""
    assert finite.check_enumeration(enumeration(epsilon="0", delta="1/2"), randomised_response).ok
    for delta in ("499999/1000000", "1", "-1"):
        assert not finite.check_enumeration(enumeration(epsilon="0", delta=delta), randomised_response).ok
