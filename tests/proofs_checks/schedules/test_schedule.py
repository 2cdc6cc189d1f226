"""Samplers draw their own scheme, by exact laws and by the audit of logs; the audit catches one scheme sold as another.

The audits here err with probability at most 1e-6 each, the laws of the samplers with at most 1e-9 (Hoeffding);
all draws are seeded, so a run that passed once passes always.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from itertools import combinations, permutations

import pytest
from cases import few

from dpcert.cli import run as main
from dpcert.mechanisms import (
    Cyclic,
    FixedSize,
    Gaussian,
    InputError,
    Poisson,
    RandomAllocation,
    Repeat,
    Shuffled,
    TruncatedPoisson,
    WithReplacement,
    draw_balls_in_bins,
    draw_cyclic_poisson,
    draw_min_separated,
    draw_schedule,
)
from dpcert.mechanisms.randomness import KeyedSource, SeededTestSource
from dpcert.proofs_checks.schedules.audit import audit_cyclic_poisson, audit_schedule
from dpcert.proofs_checks.schedules.separated import audit_balls_in_bins, audit_min_separated

NOISE = Gaussian(1.0)
UNITS, ROUNDS = 240, 60
SCHEMES = {
    "poisson": Repeat(Poisson(NOISE, 0.05), ROUNDS),
    "truncated": Repeat(TruncatedPoisson(NOISE, 0.05, UNITS, 13), ROUNDS),
    "fixed-size": Repeat(FixedSize(NOISE, UNITS, 12), ROUNDS),
    "shuffled": Repeat(Shuffled(NOISE, 20), 3),
    "cyclic": Repeat(Cyclic(NOISE, 20), 3),
    "allocation": Repeat(RandomAllocation(NOISE, 20), 3),
    "replaced": Repeat(WithReplacement(NOISE, UNITS, 12), ROUNDS),
}


@pytest.mark.parametrize("name", SCHEMES)
@pytest.mark.parametrize("seed", range(5))
def test_no_scheme_is_refuted_as_itself(name, seed):
    run = SCHEMES[name]
    found = audit_schedule(run, draw_schedule(run, UNITS, SeededTestSource(seed)), UNITS)
    assert not found.refuted, found


@pytest.mark.parametrize("claimed", SCHEMES)
@pytest.mark.parametrize("drawn", SCHEMES)
def test_every_scheme_sold_as_another_is_caught(claimed, drawn):
    """One of t looks like Poisson cohorts, fixed sizes fit under a cut: in 60 rounds these are not told apart."""
    fit = ("fixed-size", "shuffled", "cyclic", "replaced")
    alike = {("poisson", "allocation"), *(("truncated", other) for other in fit)}
    if claimed == drawn or (claimed, drawn) in alike:
        return
    cohorts = draw_schedule(SCHEMES[drawn], UNITS, SeededTestSource(7))
    if drawn == "replaced":  # other schemes' logs have no unit twice in a round: that is said before any counting
        cohorts = [sorted(set(cohort)) for cohort in cohorts]
    assert audit_schedule(SCHEMES[claimed], cohorts, UNITS).refuted


@pytest.mark.parametrize("seed", range(5))
def test_cyclic_poisson_cohorts_pass_and_others_do_not(seed):
    def refuted(cohorts):
        return audit_cyclic_poisson(4, 0.2, cohorts, UNITS).refuted

    assert not refuted(draw_cyclic_poisson(4, 0.2, ROUNDS, UNITS, SeededTestSource(seed)))
    assert refuted(draw_schedule(SCHEMES["poisson"], UNITS, SeededTestSource(seed)))  # as many, but of all groups
    assert refuted(draw_cyclic_poisson(5, 0.2, ROUNDS, UNITS, SeededTestSource(seed)))
    assert refuted(draw_cyclic_poisson(4, 0.3, ROUNDS, UNITS, SeededTestSource(seed)))
    once = draw_cyclic_poisson(4, 0.2, 4, UNITS, SeededTestSource(seed))
    assert refuted(once * 15)  # coins flipped in the first pass only
    cohorts = draw_cyclic_poisson(4, 0.2, 2 * ROUNDS, UNITS, SeededTestSource(seed))
    assert audit_schedule(Repeat(Poisson(NOISE, 0.05), 2 * ROUNDS), cohorts, UNITS).refuted


def test_draws_without_replacement_are_not_draws_with_it():
    """Repeats alone tell, where sizes are right and rounds are independent."""
    found = audit_schedule(Repeat(WithReplacement(NOISE, 40, 12), 60), fixed_rounds(), 40)
    assert {check.name for check in found.checks if check.p_value < 1e-9} == {"repeats"}


def fixed_rounds():
    return draw_schedule(Repeat(FixedSize(NOISE, 40, 12), 60), 40, SeededTestSource(4))


def test_a_loader_that_shuffles_once_is_caught():
    once = draw_schedule(Shuffled(NOISE, 20), UNITS, SeededTestSource(1))
    assert audit_schedule(Repeat(Shuffled(NOISE, 20), 4), once * 4, UNITS).refuted


def close(found: int, trials: int, chance: float) -> bool:
    """|frequency - chance| within Hoeffding's bound for a probability of error of 1e-9."""
    return abs(found / trials - chance) <= math.sqrt(math.log(2e9) / (2 * trials))


@pytest.mark.parametrize(
    ("run", "law"),
    [
        (FixedSize(NOISE, 4, 2), {(pair,): 1 / 6 for pair in combinations(range(4), 2)}),
        (RandomAllocation(NOISE, 3), None),
        (Poisson(NOISE, 0.25), None),
        (Shuffled(NOISE, 3), {tuple((unit,) for unit in order): 1 / 6 for order in permutations(range(3))}),
        (TruncatedPoisson(NOISE, 0.5, 2, 1), {((),): 1 / 4, ((0,),): 3 / 8, ((1,),): 3 / 8}),
        (WithReplacement(NOISE, 2, 2), {((0, 0),): 1 / 4, ((0, 1),): 1 / 2, ((1, 1),): 1 / 4}),
    ],
)
@pytest.mark.parametrize("source", [SeededTestSource(3), KeyedSource(b"three")])
def test_samplers_draw_the_law_itself(run, law, source):
    draws, units = 6000, {FixedSize: 4, Shuffled: 3}.get(type(run), 2)
    seen = Counter(tuple(tuple(cohort) for cohort in draw_schedule(run, units, source)) for _ in range(draws))
    if law is None and isinstance(run, Poisson):
        law = {((),): 9 / 16, ((0,),): 3 / 16, ((1,),): 3 / 16, ((0, 1),): 1 / 16}
    elif law is None:  # both units in one of three rounds, independently
        law = {
            tuple(tuple(unit for unit, at in enumerate(places) if at == k) for k in range(3)): 1 / 9
            for places in [(i, j) for i in range(3) for j in range(3)]
        }
    assert set(seen) <= set(law)
    assert all(close(seen[outcome], draws, chance) for outcome, chance in law.items())


def test_false_alarms_are_as_rare_as_stated():
    """At error 0.2, a thousand logs of the scheme itself: more than 290 alarms would have probability below 1e-9."""
    run, source = Repeat(Poisson(NOISE, 0.2), 6), SeededTestSource(11)
    alarms = sum(audit_schedule(run, draw_schedule(run, 12, source), 12, 0.2).refuted for _ in range(1000))
    assert alarms <= 290


def failed(found):
    return {check.name for check in found.checks if check.p_value <= found.error / len(found.checks)}


@pytest.mark.parametrize("seed", few(range(5), 4))
def test_bins_drawn_once_pass_and_others_do_not(seed):
    source, units = SeededTestSource(seed), 40 * UNITS
    cohorts = draw_balls_in_bins(40, 120, units, source)
    assert not audit_balls_in_bins(40, cohorts, units).refuted
    anew = [cohort for _ in range(3) for cohort in draw_balls_in_bins(40, 40, units, source)]
    assert failed(audit_balls_in_bins(40, anew, units)) == {"same bin"}
    dealt = draw_schedule(Shuffled(NOISE, 40), units, source) * 3
    assert failed(audit_balls_in_bins(40, dealt, units)) >= {"even sizes"}
    assert failed(audit_balls_in_bins(40, [cohort[:-1] for cohort in cohorts], units)) == {"one bin"}
    twice = [[*cohorts[0], cohorts[1][0]], *cohorts[1:40]] * 3
    assert failed(audit_balls_in_bins(40, twice, units)) == {"one bin"}


@pytest.mark.parametrize("seed", few(range(5), 4))
def test_separated_coins_pass_and_others_do_not(seed):
    source = SeededTestSource(seed)

    def drawn(apart, coin):
        return draw_min_separated(apart, coin, ROUNDS, 4 * UNITS, source)

    def refuted(cohorts):
        return failed(audit_min_separated(5, 0.2, cohorts, 4 * UNITS))

    cohorts = drawn(5, 0.2)
    assert not refuted(cohorts)
    assert "too close" in refuted(drawn(4, 0.2))
    assert "total" in refuted(drawn(5, 0.3))
    assert "at once" in refuted(drawn(6, 0.25))  # as many in each round
    assert refuted(cohorts[:8] + cohorts[9:]) == {"too close"}
    cold = draw_min_separated(5, 0.2, 2 * ROUNDS, 4 * UNITS, source)
    late = [[] for _ in range(4)] + cold[: ROUNDS - 4]  # nobody at the start, where there are expected cohorts
    assert "start" in refuted(late)


def test_bad_logs():
    run = Repeat(Poisson(NOISE, 0.5), 2)
    for cohorts, field in (([[0]], "cohorts"), ([[0], [0, 0]], "cohorts[1]"), ([[5], []], "cohorts[0]")):
        with pytest.raises(InputError) as problem:
            audit_schedule(run, cohorts, 3)
        assert problem.value.field == field
    with pytest.raises(InputError):
        draw_schedule(NOISE, 3)
    with pytest.raises(InputError):
        draw_schedule(FixedSize(NOISE, 10, 2), 9)


def test_the_command(tmp_path, capsys):
    log = tmp_path / "log.json"
    rounds = draw_schedule(SCHEMES["shuffled"], UNITS, SeededTestSource(2))
    for sampling, code in (({"scheme": "shuffle", "cohort": 12}, 0), ({"scheme": "poisson", "sampling_rate": 0.05}, 1)):
        log.write_text(json.dumps({"population": UNITS, "sampling": sampling, "rounds": rounds}))
        assert main(["audit", "--schedule", str(log), "--json"]) == code
        assert json.loads(capsys.readouterr().out)["refuted"] is (code == 1)
    rounds = draw_cyclic_poisson(4, 0.2, ROUNDS, UNITS, SeededTestSource(2))
    draws = draw_schedule(SCHEMES["replaced"], UNITS, SeededTestSource(2))
    for sampling, logged, code in (
        ({"scheme": "cyclic-poisson", "groups": 4, "sampling_rate": 0.2}, rounds, 0),
        ({"scheme": "cyclic-poisson", "groups": 5, "sampling_rate": 0.2}, rounds, 1),
        ({"scheme": "cyclic-poisson", "sampling_rate": 0.2}, rounds, 2),
        ({"scheme": "with-replacement", "cohort": 12}, draws, 0),
        ({"scheme": "fixed-size", "cohort": 12}, draws, 2),
        ({"scheme": "balls-in-bins", "bins": 4}, draw_balls_in_bins(4, 12, UNITS, SeededTestSource(2)), 0),
        ({"scheme": "balls-in-bins", "bins": 6}, draw_balls_in_bins(4, 12, UNITS, SeededTestSource(2)), 1),
        ({"scheme": "balls-in-bins"}, rounds, 2),
        ({"scheme": "balls-in-bins", "bins": ROUNDS + 1}, rounds, 2),
        ({"scheme": "min-separated", "min_separation": 2, "sampling_rate": 0.2}, rounds, 1),
        ({"scheme": "min-separated", "min_separation": 2}, rounds, 2),
    ):
        log.write_text(json.dumps({"population": UNITS, "sampling": sampling, "rounds": logged}))
        assert main(["audit", "--schedule", str(log)]) == code
    log.write_text("[]")
    assert main(["audit", "--schedule", str(log)]) == 2
