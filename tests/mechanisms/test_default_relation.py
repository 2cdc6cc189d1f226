"""The relation that is meant where none is named: one rule, whoever asks."""

from __future__ import annotations

import json
from typing import get_args

import pytest

from dpcert.accounting import calibrate, delta, epsilon, tradeoff
from dpcert.accounting.accountants import CERTIFIED, ESTIMATES, AccountantName
from dpcert.accounting.ledger import Ledger, RunningEpsilon
from dpcert.cli import run
from dpcert.mechanisms import (
    FixedSize,
    Gaussian,
    InputError,
    Neighbouring,
    Notion,
    Poisson,
    Repeat,
    Visibility,
    default_relation,
)

ROUNDS = Repeat(Poisson(Gaussian(3.0), 0.3), 5)
EXPECTED: dict[tuple[Notion, Visibility | None], Neighbouring] = {
    ("dp", None): "add-remove",
    ("dp", "hidden"): "add-remove",
    ("dp", "visible"): "replace-one",
    ("billboard", None): "replace-one",
    ("billboard", "hidden"): "replace-one",
    ("joint", None): "replace-one",
    ("joint", "visible"): "replace-one",
}


@pytest.mark.parametrize("asked", EXPECTED, ids=str)
def test_functions_and_the_command_line_agree(asked, capsys) -> None:
    notion, seen = asked
    relation = EXPECTED[asked]
    assert default_relation(notion, seen) == relation
    stated = epsilon(ROUNDS, 1e-5, relation, notion=notion, participation=seen)
    assert epsilon(ROUNDS, 1e-5, notion=notion, participation=seen) == stated
    assert delta(ROUNDS, 1.0, notion=notion, participation=seen) == delta(
        ROUNDS, 1.0, relation, notion=notion, participation=seen
    )
    words = ["epsilon", "--delta", "1e-5", "--rounds", "5", "--noise-multiplier", "3", "--sampling", "poisson"]
    words += ["--sampling-rate", "0.3", "--notion", notion, "--json"]
    assert run(words if seen is None else [*words, "--participation", seen]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["neighbouring"] == relation
    assert (document["epsilon_lower"], document["epsilon_upper"]) == (stated.lower, stated.upper)


def test_the_default_matters() -> None:
    """Had billboard claims kept the default of dp, they would be told less than half of what they cost."""
    assert epsilon(ROUNDS, 1e-5, notion="billboard").lower > 1.5 * epsilon(ROUNDS, 1e-5, "add-remove").upper


def test_calibration_and_tradeoff_use_it() -> None:
    def build(noise: float) -> FixedSize:
        return FixedSize(Gaussian(noise), 100, 10)

    found, stated = (
        calibrate(
            build, solve_for="noise_multiplier", epsilon=2.0, delta=1e-3, notion="billboard", neighbouring=relation
        )
        for relation in (None, "replace-one")
    )
    assert found == stated
    assert tradeoff(Gaussian(2.0), points=3) == tradeoff(Gaussian(2.0), "add-remove", points=3)
    assert tradeoff(Gaussian(2.0), notion="joint", points=3) == tradeoff(
        Gaussian(2.0), "replace-one", notion="joint", points=3
    )


def test_the_ledger_and_its_running_cost() -> None:
    ledger, seen = Ledger(), RunningEpsilon(1e-5, participation="visible")
    ledger.record(Gaussian(3.0))
    seen.record(Gaussian(3.0))
    assert ledger.epsilon(1e-5) == epsilon(Gaussian(3.0), 1e-5, "add-remove")
    assert ledger.running_epsilon(1e-5, participation="visible") == seen.epsilon()
    assert seen.epsilon() == epsilon(Gaussian(3.0), 1e-5, "replace-one", participation="visible")


def test_the_type_of_accountants_names_what_there_is() -> None:
    assert set(get_args(AccountantName)) == {"best", *(accountant.name for accountant in (*CERTIFIED, *ESTIMATES))}


def test_an_unknown_notion_is_named() -> None:
    with pytest.raises(InputError, match="notion = 'public'"):
        epsilon(ROUNDS, 1e-5, notion="public")  # type: ignore[arg-type]
