"""Each fault planted in the checker lets a false certificate through that the checker itself rejects.

So the suite's false certificates have the power to find the fault: a checker that rejects them all does not have it.
"""

from __future__ import annotations

import copy

import pytest
from weakened_checker import weakened

from dpcert.accounting import epsilon
from dpcert.mechanisms import DiscreteLaplace, Gaussian, Laplace, Poisson, Repeat
from dpcert.proofs_checks.certificates import checker
from dpcert.proofs_checks.certificates.certificate import certificate
from dpcert.proofs_checks.certificates.checker.format import digest
from dpcert.proofs_checks.claims.claim import parse_claim
from dpcert.proofs_checks.verification.verify import certified_interval


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
HALF = {"scheme": "fixed-size", "population": 200, "cohort": 100}
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
    return result | {"digest": digest(result)}


@pytest.fixture
def caught(tmp_path):
    def judge(right, wrong, document, *more):
        faulty = weakened(tmp_path, {right: wrong, **dict(more)})
        result = faulty.check(document)
        assert result.ok, f"the fault was meant to let this through: {result.reason}"
        assert not checker.check(document).ok

    return judge


LOWER = "total - rest - excess(product, epsilon, c, h, arb(end.beyond))"
HIGH = {"interval.epsilon_lower": "2.35", "interval.epsilon_upper": "inf", "evidence.upper": []}
"""A lower end above the truth; the upper one is given up, so that nothing else can be found fault with."""


def test_zeros_before_the_point_taken_for_digits_that_rounding_made(caught):
    """epsilon = 15.66, claimed as a 10 that was rounded."""
    document = issued("add-remove", {"kind": "gaussian", "noise_multiplier": 0.35}, {"scheme": "none"}, 1, epsilon=10.0)
    exponent = "int(Decimal(printed).normalize().as_tuple().exponent)"
    wide = forged(document, {"claim.epsilon_interval": ["9.5", "20"]}, verdict="holds")
    caught(f"min(0, {exponent})", exponent, wide)


def test_truncation_ignored(caught, poisson):
    few = {"interval.epsilon_upper": "2.33", "interval.epsilon_lower": "0", "evidence.lower": None}
    caught("total + rest if upper", "total if upper", forged(poisson, few | {"evidence.upper.1.terms": 3}))


def test_excess_of_the_trapezoidal_rule_ignored(caught, poisson):
    coarse = {"evidence.lower.h": "6.0"}
    caught(LOWER, "total - rest", forged(poisson, HIGH | coarse))


def test_excess_bounded_on_the_wrong_side_of_the_contour(caught, poisson):
    document = forged(poisson, HIGH | {"evidence.lower.beyond": "0.1"})
    caught('require(beyond > c, "beyond: an abscissa above c")', "pass", document)


def test_upper_bound_used_for_a_lower_end(caught, poisson):
    document = forged(poisson, HIGH | {"evidence.lower.method": "chernoff"})
    caught('end.method == "chernoff" and upper', 'end.method == "chernoff"', document)


def test_what_hidden_coins_give_away_ignored_for_a_lower_end(caught):
    """With little noise the coins are all but seen, but not quite: the lower end must pay for each of them."""
    document = issued("add-remove", {"kind": "gaussian", "noise_multiplier": 0.05}, COIN, 20, epsilon=1.0)
    seen = issued("zero-out", {"kind": "gaussian", "noise_multiplier": 0.05}, COHORT, 20, notion="billboard")
    low = float(seen["interval"]["epsilon_lower"])
    assert low > 1.01 * epsilon(Repeat(Poisson(Gaussian(0.05), 0.1), 20), 1e-5).upper
    high = {"interval.epsilon_lower": repr(low), "interval.epsilon_upper": "inf", "evidence.upper": []}
    high |= {"evidence.lower.method": "mixture", "evidence.lower.direction": "remove"}
    caught("if hidden else 0", "if False else 0", forged(document, high))


def test_a_shuffled_epoch_accounted_as_one_round(caught):
    shuffled = {"scheme": "shuffle", "population": 1000, "cohort": 10}
    document = issued("zero-out", {"kind": "gaussian", "noise_multiplier": 1.0}, shuffled, 100)
    assert float(document["interval"]["epsilon_lower"]) < 4.1
    high = {"interval.epsilon_lower": "4.25", "evidence.lower.c": "5.8"}
    caught("** (pair.batches - 1)", "** 0", forged(document, high))


def test_epochs_counted_as_rounds_no_further(caught):
    shuffled = {"scheme": "shuffle", "population": 100, "cohort": 10}
    document = issued("zero-out", {"kind": "gaussian", "noise_multiplier": 1.0}, shuffled, 20)
    part = forged(document, {"phases.0.rounds": 15, "interval.epsilon_lower": "0", "evidence.lower": None})
    caught("whole(rounds) % batches == 0", "True", part)


def test_merged_cells_taken_for_an_upper_end(caught):
    document = issued("add-remove", {"kind": "laplace", "noise_multiplier": 2.0}, {"scheme": "none"}, 40, epsilon=50.0)
    truth = epsilon(Repeat(Laplace(2.0), 40), 1e-5).lower
    false = forged(document, {"interval.epsilon_upper": repr(0.999 * truth), "interval.epsilon_lower": "0"})
    false = forged(false, {"evidence.lower": None})
    caught("split = r.worst or ", "split = ", false, ("min(CELLS, ", "min(1, "))


def test_split_cells_taken_for_a_lower_end(caught):
    document = issued("add-remove", {"kind": "laplace", "noise_multiplier": 2.0}, {"scheme": "none"}, 40, epsilon=50.0)
    truth = epsilon(Repeat(Laplace(2.0), 40), 1e-5).upper
    false = forged(document, {"interval.epsilon_lower": repr(1.001 * truth), "interval.epsilon_upper": "inf"})
    false = forged(false, {"evidence.upper": []})
    caught("split = r.worst or 0 < integers <= n", "split = True", false, ("min(CELLS, ", "min(1, "))


def test_coarse_cells_whose_ends_are_no_losses_of_the_integers(caught):
    noise = {"kind": "discrete-laplace", "scale": 2.0, "clip": 1}
    document = issued("add-remove", noise, {"scheme": "none"}, 40, epsilon=50.0)
    truth = epsilon(Repeat(DiscreteLaplace(2.0, 1), 40), 1e-5).lower
    false = forged(document, {"interval.epsilon_upper": repr(0.999 * truth), "interval.epsilon_lower": "0"})
    caught("if integers % k == 0", "if True", forged(false, {"evidence.lower": None}))


def test_a_bound_that_grows_with_the_move_taken_for_what_is_attained(caught):
    document = issued("add-remove", {"kind": "pure-dp", "epsilon": 1.0}, {"scheme": "none"}, 1, epsilon=0.001)
    lower = {"direction": "both", "method": "lattice", "c": "0", "h": "0", "terms": 0, "beyond": "0", "split": None}
    gradual = {"phases.0.mechanism": {"kind": "gradual", "epsilon": "1.0"}, "interval.epsilon_lower": "0.9"}
    false = forged(document, gradual | {"evidence.lower": lower | {"phases": [0]}})
    caught(', "gradual")', ")", false)


def test_other_phases_losses_forgotten(caught):
    document = issued("add-remove", {"kind": "laplace", "noise_multiplier": 2.0}, {"scheme": "none"}, 4, epsilon=50.0)
    more = document["phases"] + [{**document["phases"][0], "mechanism": {"kind": "pure-dp", "epsilon": "1"}}]
    false = forged(document, {"phases": more, "interval.epsilon_lower": "0", "evidence.lower": None})
    caught("all(q.law and q.g.is_zero() for q, _ in others)", "True", false)


def test_a_direction_without_proof(caught, poisson):
    document = forged(poisson, {"interval.epsilon_upper": "2.5", "evidence.upper": []})
    caught("bool(worst) and [each.direction for each in ends] == list(worst)", "bool(worst)", document)


def test_undecided_balls_taken_for_a_proof(caught, poisson):
    low = {"interval.epsilon_upper": "0.5", "interval.epsilon_lower": "0", "evidence.lower": None}
    ends = {f"evidence.upper.{i}.{key}": value for i in (0, 1) for key, value in (("method", "chernoff"), ("c", "0"))}
    right, wrong = "bool(bound <= arb(stated.delta))", "not bound > arb(stated.delta)"
    # A division by zero raises for sampled pairs; where nothing is sampled it leaves balls without an end.
    plain = issued("add-remove", GAUSSIAN, {"scheme": "none"}, 10)
    low |= {"evidence.upper.0.method": "chernoff", "evidence.upper.0.c": "0"}
    caught(right, wrong, forged(plain, low))
    assert not checker.check(forged(poisson, low | ends)).ok


def test_losses_split_off_that_do_matter(caught):
    document = issued("add-remove", {"kind": "gaussian", "noise_multiplier": 0.5}, COIN, 20, epsilon=30.0)
    low = float(document["interval"]["epsilon_lower"])
    less = {"interval.epsilon_upper": repr(0.9 * low), "interval.epsilon_lower": "0", "evidence.lower": None}
    remove = [end["direction"] for end in document["evidence"]["upper"]].index("remove")
    less |= {f"evidence.upper.{remove}.{key}": value for key, value in _inversion(document).items()}
    less |= {f"evidence.upper.{remove}.split": "30"}
    right = "split is None or split * sum(n for _, n in product) <= epsilon"
    caught(right, "True", forged(document, less))


def _inversion(document):
    lower = document["evidence"]["lower"]
    assert lower["method"] == "inversion"
    return {key: lower[key] for key in ("method", "c", "h", "terms", "beyond")}


def test_sensitivity_halved(caught):
    document = issued("zero-out", GAUSSIAN, COHORT, 50, notion="billboard")
    relabelled = forged(document, {"claim.neighbouring": "replace-one"})
    caught('d = 2 if relation == "replace-one" else 1', "d = 1", relabelled)


def test_a_coalition_that_is_said_to_see_nothing(caught):
    document = issued("replace-one", {"kind": "gaussian", "noise_multiplier": 8.0}, HALF, 30)
    relabelled = forged(document, {"claim.notion": "billboard", "claim.participation": "pooled"})
    caught('or (seen == "pooled" and phase.scheme == "fixed-size")', "", relabelled)


def test_fixed_size_sampling_accounted_as_poisson(caught):
    document = issued("zero-out", {"kind": "gaussian", "noise_multiplier": 8.0}, COIN, 300)
    sampling = {"scheme": "fixed-size", "population": 200, "cohort": 20, "sampling_rate": None}
    relabelled = forged(document, {"phases.0.sampling": sampling})
    right = '[("zeroed remove", 1), ("zeroed add", 1)] if normal and even(phase) else [("hybrid", 2)]'
    caught(right, '[("remove", 1), ("add", 1)]', relabelled)


ZEROED = {"kind": "gaussian-mean", "noise_std": 0.8, "clip_norm": 1.0}


@pytest.fixture(scope="module")
def zeroed():
    """An upper end only."""
    claim = {"title": "T", "neighbouring": "zero-out", "epsilon": 9.0, "delta": 1e-5}
    tables = {"claim": claim, "mechanism": ZEROED, "sampling": COHORT, "composition": {"rounds": 10}}
    read = parse_claim(tables)
    return certificate(read, 0.0, certified_interval(read)[0].upper)


def test_rounds_that_reveal_nothing_are_forgotten(caught, zeroed):
    """Without the mass at loss 0 the zeroed pair's moments are too small."""
    wrong = forged(zeroed, {"interval.epsilon_upper": repr(0.98 * float(zeroed["interval"]["epsilon_upper"]))})
    caught('"zeroed remove": far, "zeroed add": far}', "}", wrong)


def test_weights_that_differ_taken_as_equal(caught, zeroed):
    lighter = forged(zeroed, {"phases.0.mechanism.min_weight": "0.04"})
    caught('phase.kind != "gaussian-mean" or phase.values["max_weight"] == phase.values["min_weight"]', "True", lighter)


def test_a_replaced_unit_s_laplace_noise_accounted_as_a_removed_one_s(caught):
    document = issued("zero-out", {"kind": "laplace", "noise_multiplier": 2.0}, COIN, 10)
    both = [{**document["evidence"]["upper"][0], "direction": "both"}]
    changes = {"claim.neighbouring": "replace-one", "interval.epsilon_lower": "0", "evidence.lower": None}
    relabelled = forged(document, changes | {"evidence.upper": both})
    caught('if order == "replace" else ONE', "if False else ONE", relabelled)


def test_lightest_weight_taken_for_the_heaviest(caught):
    mechanism = {"kind": "gaussian-mean", "noise_std": 0.1, "clip_norm": 1.0, "weights": [1.0] * 150 + [3.0] * 50}
    document = issued("replace-one", mechanism, COHORT, 10, epsilon=50.0, notion="billboard")
    weight = document["phases"][0]["mechanism"]["min_weight"]
    even = forged(document, {"phases.0.mechanism.max_weight": weight})
    low = float(even["interval"]["epsilon_lower"])
    ends = {"interval.epsilon_upper": repr(low * 1.01), "interval.epsilon_lower": "0", "evidence.lower": None}
    lower = document["evidence"]["lower"]
    ends["evidence.upper.0"] = {key: value for key, value in lower.items() if key != "phases"}
    assert checker.check(forged(even, ends)).ok, "true where all clients weigh the least"
    caught('"max_weight" if r.worst else', '"min_weight" if r.worst else', forged(document, ends))


def test_a_mechanism_that_fails_with_certainty(caught):
    mechanism = {"kind": "approximate-dp", "epsilon": 0.1, "delta": 1e-7}
    document = issued("add-remove", mechanism, {"scheme": "none"}, 2)
    right = '    require(delta < 1, "a mechanism with delta = 1")\n'
    caught(right, "", forged(document, {"phases.0.mechanism.delta": "2"}))


def test_the_verdict_is_not_compared(caught, poisson):
    caught("require(verdict == follows", "require(True", forged(poisson, {}, verdict="holds"))


def test_infinity_taken_for_a_large_number(caught, poisson):
    none = {"interval.epsilon_upper": "inf", "evidence.upper": [], "interval.epsilon_lower": "0"}
    none |= {"evidence.lower": None, "claim.epsilon": "1e200"}
    right, wrong = 'None if high == "inf" else', 'fmpq(10**99) if high == "inf" else'
    silent = ("if top is None:", "if not ends:")
    caught(right, wrong, forged(poisson, none, verdict="holds"), silent)


def test_the_digest_is_not_compared(caught, poisson):
    document = copy.deepcopy(poisson)
    document["claim"]["title"] = "a better title"
    caught("require(written == digest(document)", "require(True", document)
