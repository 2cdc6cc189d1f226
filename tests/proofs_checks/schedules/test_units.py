"""Few units that are sampled otherwise: each planted fault is found by its own check, and the scheme itself is not."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from dpcert.mechanisms import FixedSize, Gaussian, Mechanism, Poisson, RandomAllocation, Repeat, Shuffled
from dpcert.proofs_checks.schedules.audit import ScheduleAudit, audit_cyclic_poisson, audit_schedule
from dpcert.proofs_checks.schedules.separated import audit_min_separated
from dpcert.proofs_checks.schedules.units import Strand, unit_checks

ROUNDS, UNITS, RATE = 200, 200, 0.1
Cohorts = list[set[int]]
NAMES = ("unit counts", "repeats", "gaps", "pairs")


def drawn(seed: int, rounds: int = ROUNDS, units: int = UNITS, rate: float = RATE) -> Cohorts:
    rng = np.random.default_rng(seed)
    return [set(np.flatnonzero(rng.random(units) < rate).tolist()) for _ in range(rounds)]


def audited(cohorts: Cohorts, error: float = 0.01) -> ScheduleAudit:
    run = Repeat(Poisson(Gaussian(1.0), RATE), len(cohorts))
    return audit_schedule(run, [sorted(cohort) for cohort in cohorts], UNITS, error)


def p_values(audit: ScheduleAudit) -> dict[str, float]:
    return {check.name: check.p_value for check in audit.checks if check.name in NAMES}


def five_twice_as_often(cohorts: Cohorts) -> None:
    rng = np.random.default_rng(10)
    for unit in range(5):
        for cohort in cohorts:
            (cohort.add if rng.random() < 0.2 else cohort.discard)(unit)


def one_never(cohorts: Cohorts) -> None:
    for cohort in cohorts:
        cohort.discard(7)


def two_always_together(cohorts: Cohorts) -> None:
    for cohort in cohorts:
        (cohort.add if 3 in cohort else cohort.discard)(11)


def runs_of_the_same(cohorts: Cohorts) -> None:
    rng = np.random.default_rng(11)
    for unit in range(5):
        inside = False
        for cohort in cohorts:
            inside = bool(rng.random() < (0.55 if inside else 0.05))
            (cohort.add if inside else cohort.discard)(unit)


def every_tenth_round(cohorts: Cohorts) -> None:
    for unit in range(6):
        for at, cohort in enumerate(cohorts):
            (cohort.add if (at + unit) % 10 == 0 else cohort.discard)(unit)


@pytest.mark.parametrize(
    ("planted", "name"),
    [
        (five_twice_as_often, "unit counts"),
        (one_never, "unit counts"),
        (two_always_together, "pairs"),
        (runs_of_the_same, "repeats"),
        (every_tenth_round, "gaps"),
    ],
)
def test_a_fault_of_few_units_is_found_by_its_check(planted: Callable[[Cohorts], None], name: str) -> None:
    cohorts = drawn(3)
    assert not audited(cohorts).refuted
    planted(cohorts)
    found = audited(cohorts)
    assert found.refuted
    assert min(p_values(found), key=p_values(found).__getitem__) == name


def test_false_alarms_of_each_check_keep_their_level() -> None:
    """400 logs of Poisson's scheme: at level .05 more than 34 alarms of a check have probability 1e-3."""
    alarms = dict.fromkeys(NAMES, 0)
    for seed in range(400):
        for check in unit_checks([Strand([frozenset(c) for c in drawn(seed, 40, 60, 0.15)], 60, 0.15)]):
            alarms[check.name] += check.p_value <= 0.05
    assert max(alarms.values()) <= 34


def test_sizes_that_vary_do_not_count_as_units_that_do() -> None:
    """Planted for a check that takes all rounds to be of one size: cohorts of 5 and of 60 in turn, drawn evenly."""
    rng = np.random.default_rng(4)
    rounds = [frozenset(rng.choice(UNITS, 5 if at % 2 else 60, replace=False).tolist()) for at in range(100)]
    assert min(check.p_value for check in unit_checks([Strand(rounds, UNITS)])) > 0.01


def test_other_schemes_have_their_units_looked_at() -> None:
    rng = np.random.default_rng(5)
    fixed = [set(rng.choice(50, 10, replace=False).tolist()) for _ in range(120)]
    run: Mechanism = Repeat(FixedSize(Gaussian(1.0), 50, 10), 120)
    assert not audit_schedule(run, [sorted(c) for c in fixed], 50, 0.01).refuted
    for cohort in fixed:  # unit 0 takes another's place wherever it can
        if 0 not in cohort and rng.random() < 0.3:
            cohort.remove(next(iter(cohort)))
            cohort.add(0)
    assert audit_schedule(run, [sorted(c) for c in fixed], 50, 0.01).refuted
    epochs, batches = 30, 5
    shuffled = []
    for _ in range(epochs):
        order = [unit for unit in rng.permutation(40).tolist() if unit not in (0, 1)]
        order[8:8] = [0, 1]  # two units that are always in one batch
        shuffled += [order[start : start + 8] for start in range(0, 40, 8)]
    run = Repeat(Shuffled(Gaussian(1.0), batches), epochs)
    assert "pairs" in {c.name for c in audit_schedule(run, shuffled, 40, 0.01).checks if c.p_value < 1e-6}
    blocks = [[[] for _ in range(4)] for _ in range(25)]
    for block in blocks:
        for unit in range(30):
            block[0 if unit < 2 else int(rng.integers(4))].append(unit)
    run = Repeat(RandomAllocation(Gaussian(1.0), 4), 25)
    assert audit_schedule(run, [cohort for block in blocks for cohort in block], 30, 0.01).refuted


def test_groups_and_coins_that_keep_a_distance() -> None:
    rng = np.random.default_rng(6)
    cyclic = [[u for u in range(at % 4, 80, 4) if rng.random() < (0.9 if u == 9 else 0.25)] for at in range(240)]
    checks = audit_cyclic_poisson(4, 0.25, cyclic, 80, 0.01).checks
    assert next(check for check in checks if check.name == "unit counts").p_value < 1e-6
    last, rounds = np.full(60, -99), []
    for at in range(300):
        coin = np.where(np.arange(60) == 3, 0.9, 0.3)
        cohort = np.flatnonzero((at - last >= 3) & (rng.random(60) < coin))
        last[cohort] = at
        rounds.append(cohort.tolist())
    checks = audit_min_separated(3, 0.3, rounds, 60, 0.01).checks
    assert next(check for check in checks if check.name == "unit counts").p_value < 1e-3
