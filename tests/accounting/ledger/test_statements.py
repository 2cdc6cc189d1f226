"""Whatever can be stated can be recorded: a ledger that is opened again says the same epsilon, to the last bit.

The epsilon of what goes in is asked before anything is recorded; a field that is lost on the way would change it, or
the ledger could not be read.
"""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from dpcert.accounting import epsilon
from dpcert.accounting.ledger import Ledger
from dpcert.cli import run as command
from dpcert.mechanisms import (
    ApproximateDp,
    Gaussian,
    LossDistribution,
    Mechanism,
    NoNoise,
    Poisson,
    PureDp,
    RandomizedResponse,
    RenyiDp,
    Repeat,
    ReportNoisyMax,
    Sequence,
    Zcdp,
)
from dpcert.mechanisms.serialise import from_json, to_json

KNOWN = LossDistribution.from_outcomes((0.75, 0.25), (0.25, 0.75))
RARE = LossDistribution(((-0.5, 0.3599), (0.5, 0.64), (math.inf, 1e-4)))

STATEMENTS: list[Mechanism] = [
    Repeat(Poisson(Repeat(Gaussian(1.0), 10), 0.1), 20),
    Poisson(Sequence((Gaussian(2.0), Gaussian(1.0))), 0.1),
    Repeat(Poisson(Poisson(Gaussian(1.0), 0.05), 0.1), 20),
    Repeat(RenyiDp(((8.0, 0.2), (32.0, 0.9))), 3),
    Repeat(KNOWN, 5),
    Poisson(KNOWN, 0.1),
    Repeat(RARE, 2),
    *(Repeat(Poisson(known, 0.1), 5) for known in (PureDp(1.0), ApproximateDp(1.0, 1e-8), Zcdp(0.05))),
    Poisson(ReportNoisyMax(1.0, "gumbel"), 0.1),
    Repeat(Poisson(NoNoise(), 1e-5), 3),
]


@pytest.mark.parametrize("run", STATEMENTS, ids=repr)
def test_a_statement_comes_back_at_the_same_epsilon(run: Mechanism, tmp_path: Path) -> None:
    known = epsilon(run, 1e-3, "add-remove")
    Ledger(tmp_path / "ledger.sqlite").record(run)
    opened = Ledger(tmp_path / "ledger.sqlite")
    assert from_json(to_json(run)) == run
    assert opened.epsilon(1e-3, "add-remove") == known
    assert opened.running_epsilon(1e-3, "add-remove").upper >= known.upper * (1 - 1e-6)


def test_one_of_what_replaces_a_unit(tmp_path: Path) -> None:
    run = Poisson(RandomizedResponse(0.2), 0.5)
    Ledger(tmp_path / "ledger.sqlite").record(run)
    assert Ledger(tmp_path / "ledger.sqlite").epsilon(0.01, "replace-one") == epsilon(run, 0.01, "replace-one")


def test_the_command_line_shows_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ledger = Ledger(tmp_path / "ledger.sqlite")
    ledger.record(STATEMENTS[0])
    assert command(["ledger", "show", str(tmp_path / "ledger.sqlite"), "--delta", "1e-5"]) == 0
    assert "epsilon in [42." in capsys.readouterr().out
