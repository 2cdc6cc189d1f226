"""Claims about banded noise with cyclic Poisson cohorts: Poisson rounds of Gaussian noise, one a pass."""

from __future__ import annotations

import json

import pytest

from dpcert.accounting import epsilon
from dpcert.cli import run
from dpcert.mechanisms import Gaussian, InputError, Poisson, Repeat, Sequence
from dpcert.proofs_checks.claims.claim import load_claim
from dpcert.proofs_checks.verification.verify import verify

CLAIM = """
[claim]
title = "Banded noise"
source = "a test"
notion = "dp"
unit = "example"
neighbouring = "add-remove"
epsilon = {epsilon}
delta = 1e-5
[mechanism]
kind = "{kind}"
noise_multiplier = 2.0
{mechanism}
[sampling]
scheme = "cyclic-poisson"
{sampling}
[composition]
rounds = {rounds}
"""
BANDS = "column_norms = [1.0]\nbands = 5\nmin_separation = 5"


def claim(tmp_path, sampling="sampling_rate = 0.1", mechanism=BANDS, kind="matrix-factorisation", rounds=50, eps=1.0):
    path = tmp_path / "banded.toml"
    text = CLAIM.format(epsilon=eps, kind=kind, mechanism=mechanism, sampling=sampling, rounds=rounds)
    path.write_text(text, "utf-8")
    return path


def test_it_is_a_run_of_poisson_rounds_one_a_pass(tmp_path):
    found = load_claim(claim(tmp_path))
    assert found.run == Repeat(Repeat(Poisson(Gaussian(2.0), 0.1), 10), 1)


def test_cohorts_are_drawn_from_one_group(tmp_path):
    """Ten of the hundred units of each of five groups."""
    found = load_claim(claim(tmp_path, "population = 500\ncohort = 10"))
    assert found.run == Repeat(Repeat(Poisson(Gaussian(2.0), 0.1), 10), 1)


def test_a_last_pass_that_is_not_whole_counts_for_the_first_groups(tmp_path):
    norms = "column_norms = [2.0, 1.0, 2.0]\nbands = 2\nmin_separation = 2"
    found = load_claim(claim(tmp_path, mechanism=norms, rounds=3))
    assert found.run == Repeat(Repeat(Poisson(Gaussian(1.0), 0.1), 2), 1)
    falling = "column_norms = [2.0, 1.0, 1.0]\nbands = 2\nmin_separation = 2"
    found = load_claim(claim(tmp_path, mechanism=falling, rounds=3))
    assert found.run == Repeat(Sequence((Poisson(Gaussian(1.0), 0.1), Poisson(Gaussian(2.0), 0.1))), 1)


def test_verify_is_two_sided_and_says_what_it_takes_for_granted(tmp_path):
    truth = epsilon(Repeat(Poisson(Gaussian(2.0), 0.1), 10), 1e-5)
    holds, refuted = (verify(load_claim(claim(tmp_path, eps=end))) for end in (truth.upper * 1.01, truth.lower * 0.99))
    assert (holds.verdict, refuted.verdict) == ("holds", "refuted")
    assert any("a public split into groups" in line for line in holds.assumptions)


@pytest.mark.parametrize(
    ("changed", "field"),
    [
        ({"kind": "gaussian", "mechanism": ""}, "scheme"),
        ({"mechanism": "coefficients = [1.0, 0.5]\nmin_separation = 5"}, "bands"),
        ({"sampling": ""}, "sampling.population, sampling.cohort"),
        ({"sampling": "sampling_rate = 0.1\ncohort = 3"}, "cohort"),
        ({"sampling": "population = 500\ncohort = 101"}, "cohort"),
        ({"mechanism": "column_norms = [1.0]\nbands = 6\nmin_separation = 5"}, "bands"),
    ],
)
def test_bad_claims(tmp_path, changed, field):
    with pytest.raises(InputError) as problem:
        load_claim(claim(tmp_path, **changed))
    assert problem.value.field.endswith(field)


@pytest.mark.parametrize("stated", ["", "max_participations = 3"])
def test_a_limit_that_coins_do_not_keep_to_is_said_to_change_nothing(tmp_path, stated):
    found = verify(load_claim(claim(tmp_path, mechanism=f"{BANDS}\n{stated}")))
    told = [finding.text for finding in found.findings if finding.id == "key-without-effect"]
    assert len(told) == bool(stated)
    assert all(text.startswith("max_participations of [mechanism] changes nothing") for text in told)


def test_the_command_line_warns_as_a_claim_does(capsys):
    asked = ["epsilon", "--delta", "1e-5", "--mechanism", "tree-aggregation", "--noise-multiplier", "4"]
    for more, told in [
        (["--rounds", "8"], ["participations-not-stated"]),
        (["--rounds", "1"], []),
        (["--rounds", "8", "--set", "max_participations=1"], []),
    ]:
        assert run([*asked, *more, "--json"]) == 0
        out, err = capsys.readouterr()
        assert [each["id"] for each in json.loads(out).get("findings", [])] == told
        assert [line.split(":")[0] for line in err.splitlines()] == [f"warning {each}" for each in told]
    run_of_a_search = 'run={mechanism={kind="laplace",noise_multiplier=4}}'
    assert run([*asked[:3], "--mechanism", "best-of-several", "--set", "gamma=0.2", "--set", run_of_a_search]) == 0
    assert capsys.readouterr().err.startswith("warning norm-not-stated: ")
    solved = ["calibrate", *asked[1:5], "--epsilon", "2", "--rounds", "8", "--solve-for", "noise-multiplier"]
    for command in (["risk", *asked[3:], "--rounds", "8"], solved):
        assert run(command) == 0
        assert capsys.readouterr().err.startswith("warning participations-not-stated: ")


def test_the_command_line(capsys):
    noise = ["--mechanism", "matrix-factorisation", "--set", "noise_multiplier=2", "--set", "column_norms=[1.0]"]
    bands = ["--set", "bands=5", "--set", "min_separation=5", "--rounds", "50", "--delta", "1e-5"]
    assert run(["epsilon", *noise, *bands, "--sampling", "cyclic-poisson", "--sampling-rate", "0.1", "--json"]) == 0
    amplified = capsys.readouterr().out
    assert '"sampling": "cyclic-poisson"' in amplified
    assert run(["epsilon", "--noise-multiplier", "2", "--delta", "1e-5", "--sampling", "cyclic-poisson"]) == 2
