"""Each fault planted in the checker lets a false certificate through that the checker itself rejects.

So the suite's false certificates have the power to find the fault: a checker that rejects them all does not have it.
"""

from __future__ import annotations

import copy
import sys
import types
from pathlib import Path

import pytest

from dpcert.accounting import epsilon
from dpcert.mechanisms import Gaussian, Laplace, Poisson, Repeat
from dpcert.proofs_checks.certificates import checker
from dpcert.proofs_checks.certificates.certificate import certificate
from dpcert.proofs_checks.claims.claim import parse_claim
from dpcert.proofs_checks.verification.verify import certified_interval

SOURCE = Path(checker.__file__).read_text("utf-8")


def faulty(monkeypatch, right, wrong):
    """The checker's module with one piece of its source replaced."""
    assert SOURCE.count(right) == 1, right
    module = types.ModuleType("faulty_checker")
    monkeypatch.setitem(sys.modules, "faulty_checker", module)
    exec(compile(SOURCE.replace(right, wrong), "faulty_checker", "exec"), module.__dict__)
    return module


def issued(neighbouring, mechanism, sampling, rounds, epsilon=1.0, **claim):
    tables = {
        "claim": {"title": "T", "neighbouring": neighbouring, "epsilon": epsilon, "delta": 1e-5, **claim},
        "mechanism": mechanism,
        "sampling": sampling,
        "composition": {"rounds": rounds},
    }
    read = parse_claim(tables)
    bracket, _ = certified_interval(read)
    return certificate(read, bracket.lower, bracket.upper)


GAUSSIAN = {"kind": "gaussian", "noise_multiplier": 2.0}
COHORT = {"scheme": "fixed-size", "population": 200, "cohort": 20}
COIN = {"scheme": "poisson", "sampling_rate": 0.1}


@pytest.fixture(scope="module")
def poisson():
    """epsilon = 2.3374, so the claim of 1 is refuted."""
    return issued("add-remove", GAUSSIAN, COIN, 100)


def forged(document, changes, **top):
    """The document with changes at dotted paths, judged by the stated interval, under a new digest."""
    result = copy.deepcopy(document) | top
    for path, value in changes.items():
        *way, last = [int(step) if step.isdigit() else step for step in path.split(".")]
        place = result
        for step in way:
            place = place[step]
        place[last] = value
    interval, claimed = result["interval"], float(result["claim"]["epsilon"])
    if "verdict" not in top:
        low, high = float(interval["epsilon_lower"]), float(interval["epsilon_upper"])
        result["verdict"] = "holds" if high <= claimed else "refuted" if low > claimed else "undecided"
    return result | {"digest": checker.digest(result)}


def caught(monkeypatch, right, wrong, document):
    assert faulty(monkeypatch, right, wrong).check(document).ok, "the fault was meant to let this through"
    assert not checker.check(document).ok


LOWER = "total - rest - excess"
HIGH = {"interval.epsilon_lower": "2.35", "interval.epsilon_upper": "inf", "evidence.upper": []}
"""A lower end above the truth; the upper one is given up, so that nothing else can be found fault with."""


def test_truncation_ignored(monkeypatch, poisson):
    few = {"interval.epsilon_upper": "2.33", "interval.epsilon_lower": "0", "evidence.lower": None}
    caught(monkeypatch, "total + rest if upper", "total if upper", forged(poisson, few | {"evidence.upper.1.terms": 3}))


def test_excess_of_the_trapezoidal_rule_ignored(monkeypatch, poisson):
    coarse = {"evidence.lower.h": "6.0"}
    caught(monkeypatch, LOWER, "total - rest", forged(poisson, HIGH | coarse))


def test_excess_bounded_on_the_wrong_side_of_the_contour(monkeypatch, poisson):
    document = forged(poisson, HIGH | {"evidence.lower.beyond": "0.1"})
    caught(monkeypatch, "(upper or b > c)", "True", document)


def test_upper_bound_used_for_a_lower_end(monkeypatch, poisson):
    document = forged(poisson, HIGH | {"evidence.lower.method": "chernoff"})
    caught(monkeypatch, 'method == "chernoff" and upper', 'method == "chernoff"', document)


def test_what_hidden_coins_give_away_ignored_for_a_lower_end(monkeypatch):
    """With little noise the coins are all but seen, but not quite: the lower end must pay for each of them."""
    document = issued("add-remove", {"kind": "gaussian", "noise_multiplier": 0.05}, COIN, 20, epsilon=1.0)
    seen = issued("zero-out", {"kind": "gaussian", "noise_multiplier": 0.05}, COHORT, 20, notion="billboard")
    low = float(seen["interval"]["epsilon_lower"])
    assert low > 1.01 * epsilon(Repeat(Poisson(Gaussian(0.05), 0.1), 20), 1e-5).upper
    high = {"interval.epsilon_lower": repr(low), "interval.epsilon_upper": "inf", "evidence.upper": []}
    high |= {"evidence.lower.method": "mixture", "evidence.lower.direction": "remove"}
    caught(monkeypatch, "if hidden else 0", "if False else 0", forged(document, high))


def test_a_shuffled_epoch_accounted_as_one_round(monkeypatch):
    shuffled = {"scheme": "shuffle", "population": 1000, "cohort": 10}
    document = issued("zero-out", {"kind": "gaussian", "noise_multiplier": 1.0}, shuffled, 100)
    assert float(document["interval"]["epsilon_lower"]) < 4.1
    high = {"interval.epsilon_lower": "4.25", "evidence.lower.c": "5.8"}
    caught(monkeypatch, "** (pair.batches - 1)", "** 0", forged(document, high))


def test_epochs_counted_as_rounds_no_further(monkeypatch):
    shuffled = {"scheme": "shuffle", "population": 100, "cohort": 10}
    document = issued("zero-out", {"kind": "gaussian", "noise_multiplier": 1.0}, shuffled, 20)
    part = forged(document, {"phases.0.rounds": 15, "interval.epsilon_lower": "0", "evidence.lower": None})
    caught(monkeypatch, "rounds % batches == 0", "True", part)


def test_merged_cells_taken_for_an_upper_end(monkeypatch):
    document = issued("add-remove", {"kind": "laplace", "noise_multiplier": 2.0}, {"scheme": "none"}, 40, epsilon=50.0)
    truth = epsilon(Repeat(Laplace(2.0), 40), 1e-5).lower
    false = forged(document, {"interval.epsilon_upper": repr(0.999 * truth), "interval.epsilon_lower": "0"})
    false = forged(false, {"evidence.lower": None})
    caught(monkeypatch, "ZERO if r.worst else", "ZERO if False else", false)


def test_a_direction_without_proof(monkeypatch, poisson):
    document = forged(poisson, {"interval.epsilon_upper": "2.5", "evidence.upper": []})
    fault = "list(worst) if top is not None else []"
    caught(monkeypatch, fault, "[]", document)


def test_undecided_balls_taken_for_a_proof(monkeypatch, poisson):
    low = {"interval.epsilon_upper": "0.5", "interval.epsilon_lower": "0", "evidence.lower": None}
    ends = {f"evidence.upper.{i}.{key}": value for i in (0, 1) for key, value in (("method", "chernoff"), ("c", "0"))}
    right = "delta_bound(worst, end, arb(top), True) <= arb(delta)"
    wrong = "not delta_bound(worst, end, arb(top), True) > arb(delta)"
    # A division by zero raises for sampled pairs; where nothing is sampled it leaves balls without an end.
    plain = issued("add-remove", GAUSSIAN, {"scheme": "none"}, 10)
    low |= {"evidence.upper.0.method": "chernoff", "evidence.upper.0.c": "0"}
    caught(monkeypatch, right, wrong, forged(plain, low))
    assert not checker.check(forged(poisson, low | ends)).ok


def test_losses_split_off_that_do_matter(monkeypatch):
    document = issued("add-remove", {"kind": "gaussian", "noise_multiplier": 0.5}, COIN, 20, epsilon=30.0)
    low = float(document["interval"]["epsilon_lower"])
    less = {"interval.epsilon_upper": repr(0.9 * low), "interval.epsilon_lower": "0", "evidence.lower": None}
    remove = [end["direction"] for end in document["evidence"]["upper"]].index("remove")
    less |= {f"evidence.upper.{remove}.{key}": value for key, value in _inversion(document).items()}
    less |= {f"evidence.upper.{remove}.split": "30"}
    right = "split is None or split * sum(n for _, n in product) <= epsilon"
    caught(monkeypatch, right, "True", forged(document, less))


def _inversion(document):
    lower = document["evidence"]["lower"]
    assert lower["method"] == "inversion"
    return {key: lower[key] for key in ("method", "c", "h", "terms", "beyond")}


def test_sensitivity_halved(monkeypatch):
    document = issued("zero-out", GAUSSIAN, COHORT, 50, notion="billboard")
    relabelled = forged(document, {"claim.neighbouring": "replace-one"})
    caught(monkeypatch, '"replace-one": 2', '"replace-one": 1', relabelled)


def test_a_coalition_that_is_said_to_see_nothing(monkeypatch):
    document = issued("replace-one", {"kind": "gaussian", "noise_multiplier": 8.0}, COHORT, 300)
    relabelled = forged(document, {"claim.notion": "billboard", "claim.participation": "pooled"})
    caught(monkeypatch, 'or (seen == "pooled" and not poisson)', "", relabelled)


def test_fixed_size_sampling_accounted_as_poisson(monkeypatch):
    document = issued("zero-out", {"kind": "gaussian", "noise_multiplier": 8.0}, COIN, 300)
    sampling = {"scheme": "fixed-size", "population": 200, "cohort": 20, "sampling_rate": None}
    relabelled = forged(document, {"phases.0.sampling": sampling})
    right = 'elif relation == "add-remove" or (relation == "zero-out" and poisson):\n'
    moves = '("remove", 1 if poisson else 2), ("add", 1 if poisson else 2)'
    assert moves in SOURCE
    wrong = 'elif relation == "zero-out":\n        moves = [("remove", 1), ("add", 1)]\n    ' + right
    caught(monkeypatch, right, wrong, relabelled)


ZEROED = {"kind": "gaussian-mean", "noise_std": 0.8, "clip_norm": 1.0}


@pytest.fixture(scope="module")
def zeroed():
    """An upper end only."""
    claim = {"title": "T", "neighbouring": "zero-out", "epsilon": 9.0, "delta": 1e-5}
    tables = {"claim": claim, "mechanism": ZEROED, "sampling": COHORT, "composition": {"rounds": 500}}
    read = parse_claim(tables)
    return certificate(read, 0.0, certified_interval(read)[0].upper)


def test_rounds_that_reveal_nothing_are_forgotten(monkeypatch, zeroed):
    """Without the mass at loss 0 the zeroed pair's moments are too small."""
    wrong = forged(zeroed, {"interval.epsilon_upper": repr(0.9 * float(zeroed["interval"]["epsilon_upper"]))})
    caught(monkeypatch, '{"hy": (1, 1), "ze": (1, 9)}', '{"hy": (1, 1), "ze": ()}', wrong)


def test_weights_that_differ_taken_as_equal(monkeypatch, zeroed):
    lighter = forged(zeroed, {"phases.0.mechanism.min_weight": "0.04"})
    caught(monkeypatch, 'kind != "gaussian-mean" or values[2] == values[3]', "True", lighter)


def test_a_replaced_unit_s_laplace_noise_accounted_as_a_removed_one_s(monkeypatch):
    document = issued("zero-out", {"kind": "laplace", "noise_multiplier": 2.0}, COIN, 10)
    both = [{**document["evidence"]["upper"][0], "direction": "both"}]
    changes = {"claim.neighbouring": "replace-one", "interval.epsilon_lower": "0", "evidence.lower": None}
    relabelled = forged(document, changes | {"evidence.upper": both})
    caught(monkeypatch, 'order == "replace" else 1)', "False else 1)", relabelled)


def test_lightest_weight_taken_for_the_heaviest(monkeypatch):
    mechanism = {"kind": "gaussian-mean", "noise_std": 0.1, "clip_norm": 1.0, "weights": [1.0] * 150 + [3.0] * 50}
    document = issued("replace-one", mechanism, COHORT, 10, epsilon=50.0, notion="billboard")
    weight = document["phases"][0]["mechanism"]["min_weight"]
    even = forged(document, {"phases.0.mechanism.max_weight": weight})
    low = float(even["interval"]["epsilon_lower"])
    ends = {"interval.epsilon_upper": repr(low * 1.01), "interval.epsilon_lower": "0", "evidence.lower": None}
    ends["evidence.upper.0"] = copy.deepcopy(document["evidence"]["lower"])
    assert checker.check(forged(even, ends)).ok, "true where all clients weigh the least"
    caught(monkeypatch, "values.pop(3 if worst else 2)", "values.pop(2 if worst else 3)", forged(document, ends))


def test_a_mechanism_that_fails_with_certainty(monkeypatch):
    mechanism = {"kind": "approximate-dp", "epsilon": 0.1, "delta": 1e-7}
    document = issued("add-remove", mechanism, {"scheme": "none"}, 2)
    right = '    require(lost < 1, "a mechanism with delta = 1")\n'
    caught(monkeypatch, right, "", forged(document, {"phases.0.mechanism.delta": "2"}))


def test_the_verdict_is_not_compared(monkeypatch, poisson):
    caught(monkeypatch, "require(verdict == due", "require(True", forged(poisson, {}, verdict="holds"))


def test_infinity_taken_for_a_large_number(monkeypatch, poisson):
    none = {"interval.epsilon_upper": "inf", "evidence.upper": [], "interval.epsilon_lower": "0"}
    none |= {"evidence.lower": None, "claim.epsilon": "1e200"}
    right, wrong = 'None if high == "inf" else', 'fmpq(10**99) if high == "inf" else'
    document = forged(poisson, none, verdict="holds")
    assert not checker.check(document).ok
    faulty_source = {right: wrong, "list(worst) if top is not None else []": 'list(worst) if high != "inf" else []'}
    module = SOURCE
    for piece, fault in faulty_source.items():
        assert module.count(piece) == 1
        module = module.replace(piece, fault)
    monkeypatch.setattr(sys.modules[__name__], "SOURCE", module)
    assert faulty(monkeypatch, "FORMAT, PRECISION", "FORMAT, PRECISION").check(document).ok


def test_the_digest_is_not_compared(monkeypatch, poisson):
    document = copy.deepcopy(poisson)
    document["claim"]["title"] = "a better title"
    caught(monkeypatch, "seal == digest(document)", "True", document)
