"""Lower ends are of what ran at the least, where options say only how bad a run is at most: as of claims.

The two ends of a Laplace contribution of ten numbers in the Euclidean norm are 1.6% apart: a lower end that is taken
from the upper description would be that much too large.
"""

from __future__ import annotations

import json

import pytest

from dpcert import Laplace, Repeat, epsilon
from dpcert.cli import run
from dpcert.proofs_checks.claims.claim import parse_claim
from dpcert.proofs_checks.verification.verify import verify

TABLES = [
    {"kind": "laplace", "noise_multiplier": 5.0, "norm": "l2", "dimension": 10},
    {"kind": "discrete-laplace", "scale": 20.0, "clip": 2, "norm": "l2", "dimension": 4},
    {"kind": "skellam", "variance": 400.0, "clip": 2, "dimension": 3},
    {"kind": "gaussian", "noise_multiplier": 3.0, "norm": "linf", "dimension": 7},
]
WEIGHTS = ["--mechanism", "gaussian-mean", "--noise-std", "0.5", "--clip-norm", "1", "--set", "weights=0.2"]
FIXED = ["--sampling", "fixed-size", "--population", "100", "--cohort", "10"]


def options(table: dict[str, object]) -> list[str]:
    kind, *keys = table
    return ["--mechanism", str(table[kind]), *(word for key in keys for word in ("--set", f"{key}={table[key]}"))]


def answer(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> dict[str, object]:
    assert run([*arguments, "--json"]) == 0, capsys.readouterr().err
    found: dict[str, object] = json.loads(capsys.readouterr().out)
    return found


def claimed(table: dict[str, object], **more: object) -> dict[str, object]:
    about = {"title": "t", "source": "s", "unit": "user", "notion": "dp", "neighbouring": "replace-one"}
    return {"claim": about | {"epsilon": 1.0, "delta": 1e-5} | more, "mechanism": table}


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table["kind"])
def test_an_interval_is_the_claim_s(table: dict[str, object], capsys: pytest.CaptureFixture[str]) -> None:
    found = answer(["epsilon", "--delta", "1e-5", "--neighbouring", "replace-one", *options(table)], capsys)
    certified = verify(parse_claim(claimed(table))).certified
    assert (found["epsilon_lower"], found["epsilon_upper"]) == pytest.approx((certified.lower, certified.upper), 1e-9)


@pytest.mark.parametrize("accountant", ["closed-form", "rdp"])
def test_an_accountant_of_the_bound_need_not_serve_what_ran(
    accountant: str, capsys: pytest.CaptureFixture[str]
) -> None:
    found = answer(["epsilon", "--delta", "1e-5", "--accountant", accountant, *options(TABLES[0])], capsys)
    assert found["epsilon_lower"] == pytest.approx(0.622418, abs=1e-5)
    assert found["epsilon_upper"] == pytest.approx(0.632436, abs=1e-5)


def test_what_is_found_out_at_least_is_not_what_is_found_out_at_most(capsys: pytest.CaptureFixture[str]) -> None:
    for table in TABLES[:2]:
        found = answer(["risk", "--fpr", "0.01", *options(table)], capsys)
        (row,) = found["rates"]  # type: ignore[misc]
        assert row["true_positive_rate"][0] == 0.01 < row["true_positive_rate"][1]
        assert found["advantage"][0] == found["mu"][0] == 0.0  # type: ignore[index]
        assert found["bayes_success"][0] == pytest.approx(0.5)  # type: ignore[index]


def test_a_target_is_met_from_above(capsys: pytest.CaptureFixture[str]) -> None:
    solve = ["calibrate", "--solve-for", "noise-multiplier", *options(TABLES[0])[:2], "--set", "norm=l2"]
    for target, amount in (
        (["--epsilon", "1", "--delta", "1e-5"], "epsilon"),
        (["--mu", "1"], "mu"),
        (["--tpr", "0.1", "--fpr", "0.01"], "true_positive_rate"),
    ):
        found = answer([*solve, "--set", "dimension=10", *target], capsys)
        lower, upper = found[f"{amount}_lower"], found[f"{amount}_upper"]
        assert lower <= 0.995 * upper  # type: ignore[operator]


@pytest.mark.parametrize("relation", ["zero-out", "add-remove"])
def test_neighbours_that_change_other_weights_are_refused(relation: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Priced as if they did not, zero-out came to 0.675, where replace-one, which bounds it, is 1.016."""
    about = [*WEIGHTS, *FIXED, "--neighbouring", relation]
    solve = ["calibrate", "--solve-for", "noise-std", "--epsilon", "1", "--delta", "1e-5", *WEIGHTS[:2], *WEIGHTS[4:]]
    for command in (
        ["epsilon", "--delta", "1e-5", *about],
        ["delta", "--epsilon", "1", *about],
        ["risk", *about],
        [*solve, *FIXED, "--neighbouring", relation],
    ):
        assert run(command) == 2
        assert "changes all" in capsys.readouterr().err
    found = answer(["epsilon", "--delta", "1e-5", *WEIGHTS, *FIXED, "--neighbouring", "replace-one"], capsys)
    assert found["epsilon_upper"] == pytest.approx(1.01626, abs=1e-4)


def test_a_group_s_lower_end_is_of_what_ran_at_the_least() -> None:
    claim = parse_claim(claimed(TABLES[0], group=2))
    assert claim.attained_run != claim.run
    least = epsilon(Repeat(Laplace(5 * 10**0.5 / 2), 10), 1e-5, "replace-one")  # each number moves twice as far
    assert verify(claim).certified.lower == pytest.approx(least.lower, rel=1e-6)
