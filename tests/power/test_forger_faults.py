"""The forger finds each fault planted in the checker: a false certificate that the weakened checker believes.

Each is searched for among forgeries such as tests/proofs_checks/certificates/test_forger.py has the right checker
refuse; a weakened checker that crashes or refuses them all is not caught.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import pytest
from cases import few
from forger import STATEMENTS, Document, changed, edges, forgeries, is_false, moved, tampered
from weakened_checker import weakened

from dpcert.proofs_checks.certificates import checker
from dpcert.proofs_checks.certificates.certificate import proved

UPPER, LOWER = "bool(bound <= arb(stated.delta))", "bool(bound > arb(stated.delta))"
NAMES = "name for pairs, _ in runs for name in pairs"
FAULTS = {
    "infinity taken for a number": (
        "gaussian",
        {'None if high == "inf" else': 'fmpq(10**99) if high == "inf" else', "if top is None:": "if not ends:"},
    ),
    "an upper end compared the wrong way": ("gaussian", {UPPER: "bool(bound >= arb(stated.delta))"}),
    "a lower end compared the wrong way": ("gaussian", {LOWER: "bool(bound < arb(stated.delta))"}),
    "what is undecided taken for proved": ("gaussian", {UPPER: "not bound > arb(stated.delta)"}),
    "directions without a proof": ("gaussian", {"[each.direction for each in ends] == list(worst)": "True"}),
    "the remove order skipped": ("gaussian, coin", {NAMES: f'{NAMES} if name != "remove" or not worst'}),
    "a replaced unit moves as far as a removed one": (
        "gaussian",
        {'d = 2 if relation == "replace-one" else 1': "d = 1"},
    ),
    "clients' own noise under add-remove": (
        "clients, add-remove",
        {'require(relation != "add-remove", "an absent client\'s noise is absent too")': "pass"},
    ),
    "bounds taken for attained pairs": (
        "pure",
        {'phase.kind not in ("zcdp", "pure-dp", "approximate-dp", "gradual")': "True"},
    ),
    "a phase told twice": ("gaussian", {"places == sorted(set(places))": "bool(places)"}),
    "the mass at infinity forgotten": ("approximate, hopeless", {"lost(product) if upper else ZERO": "ZERO"}),
    "Chernoff's bound from below": ("gaussian", {'end.method == "chernoff" and upper': 'end.method == "chernoff"'}),
    "an event's bound from above": (
        "gaussian",
        {'end.method == "threshold" and not upper': 'end.method == "threshold"'},
    ),
    "hidden coins given away below": ("gaussian, coin zeroed", {"if hidden else 0": "if False else 0"}),
    "the verdict not compared": ("gaussian", {"verdict == follows": "bool(verdict)"}),
    "a false answer likelier than the true one": (
        "responses, mostly false, delta 0",
        {'    require((1 - flip) * others >= flip, "the true answer is the likeliest one")\n': ""},
    ),
    "a failure's probability left out of the largest loss": (
        "approximate, delta 0",
        {"bool(pair.law) and pair.lost.is_zero() and pair.mu.is_zero()": "bool(pair.law)"},
    ),
    "one round's largest loss": ("pure, delta 0", {"exact += n * pair.most": "exact += pair.most"}),
    "a coin's share of the largest loss": (
        "laplace, coin, delta 0",
        {"return pure((1 + p * (odds - 1))": 'return pure(odds**p if order != "replace" else (1 + p * (odds - 1))'},
    ),
    "the largest loss from below": (
        "laplace, advantage",
        {"attained and stated.delta == 0": "attained"},
    ),
    "the tail left out": ("gaussian, coin", {"return total + rest if upper": "return total if upper"}),
    "the excess left in": (
        "gaussian, coin",
        {"total - rest - excess(product, epsilon, c, h, arb(end.beyond))": "total - rest"},
    ),
}


def _candidates(name: str) -> Iterator[Document]:
    """Forgeries of one run, all of them sealed: evidence at random, and honest evidence with a field changed."""
    yield from forgeries(name, seed=1, more=1)
    if name not in ("clients, add-remove", "responses, mostly false, delta 0"):
        inside, outside = (float(edge) for edge in edges(name))
        known = (0.0, float("inf")) if "hopeless" in name else (min(inside, outside), max(inside, outside))
        honest = proved(STATEMENTS[name], *known)
        for false in moved(honest, name):
            yield false
            yield from tampered(false, seed=1, most=3)


@pytest.mark.parametrize("fault", few(FAULTS, 8))
def test_the_forger_finds(fault, tmp_path):
    name, replacements = FAULTS[fault]
    faulty = weakened(tmp_path, replacements)
    for document in itertools.islice(_candidates(name), 900):
        if faulty.check(document).ok and is_false(document):
            assert not checker.check(document).ok
            return
    pytest.fail("no forgery was believed")


def test_a_direction_without_evidence_is_noticed_where_another_one_needs_more(tmp_path):
    """Nothing false follows from skipping "add" where "remove" is worse; unproved it is all the same."""
    inside, outside = (float(edge) for edge in edges("gaussian, coin"))
    honest = proved(STATEMENTS["gaussian, coin"], inside, outside)
    place = [end["direction"] for end in honest["evidence"]["upper"]].index("add")
    unproved = changed(honest, ("evidence", "upper", place, "method"), "threshold")
    skipped = {"    for each in ends:\n": '    for each in (end for end in ends if end.direction != "add"):\n'}
    assert weakened(tmp_path, skipped).check(unproved).ok
    assert not checker.check(unproved).ok
