"""What `plan` and `dpcert plan` say meets a target, in small federations in full: tests/oracles/worlds.py."""

from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

import pytest
from cases import at_night
from worlds import World

from dpcert.accounting.calibration.plan import plan
from dpcert.cli import run

DELTA = 0.05
SETTINGS = [
    ("poisson", "add-remove", 1),
    ("fixed-size", "zero-out", 1),
    at_night(("poisson", "replace-one", 2)),
    at_night(("poisson", "zero-out", 2)),
    at_night(("fixed-size", "replace-one", 2)),
    at_night(("fixed-size", "add-remove", 2)),
]


def shown(sampling, relation, rounds, cohort, noise, target):
    """The most that four clients show, at least: each in a cohort with probability cohort / 4, or of that size."""
    rate = cohort / 4 if sampling == "poisson" else 0.5
    clients = 2 if sampling == "poisson" else 4
    world = World("gaussian", sampling, relation, "hidden", clients=clients, cohort=cohort, rounds=rounds, rate=rate)
    return replace(world, scale=noise, delta=DELTA).most(target, lambda low, high: low > DELTA or high < DELTA)[0]


@pytest.mark.parametrize(("sampling", "relation", "rounds"), SETTINGS)
def test_every_option_meets_its_target(sampling, relation, rounds):
    """Planted: 2% less noise, where the analysis is exact."""
    found = plan(population=4, rounds=rounds, cohorts=[1, 2], target_epsilons=[2.0], delta=DELTA,
                 sampling=sampling, neighbouring=relation)  # fmt: skip
    for option in found.options:
        setting = sampling, relation, rounds, option.cohort
        assert shown(*setting, option.noise_multiplier, option.target_epsilon) <= DELTA
        assert Fraction(option.noise_on_mean) * option.cohort >= Fraction(option.noise_multiplier)
        if sampling == "poisson":
            assert shown(*setting, option.noise_multiplier * 0.98, option.target_epsilon) > DELTA


def test_the_printed_digits_meet_the_target(capsys):
    """As they are read off the table. Planted: the same digits rounded down."""
    asked = ["plan", "--population", "4", "--batch-size", "2", "--epochs", "1", "--delta", str(DELTA)]
    assert run([*asked, "--epsilons", "1", "--schemes", "poisson", "--neighbouring", "zero-out"]) == 0
    (row,) = (line for line in capsys.readouterr().out.splitlines() if line.strip().startswith("poisson"))
    printed = Decimal(row.split()[1])
    assert shown("poisson", "zero-out", 2, 2, float(printed), 1.0) <= DELTA
    less = printed - 2 * Decimal((0, (1,), int(printed.as_tuple().exponent)))
    assert shown("poisson", "zero-out", 2, 2, float(less), 1.0) > DELTA
