"""dpcert train does not ignore options: what an algorithm has no use for is refused, or said to be unused."""

from __future__ import annotations

import json

import pytest

from dpcert.cli import run
from dpcert.cli.train_options import ALGORITHMS, DEFAULTS, GROUPS, MOCHA_FAMILY, names_of
from dpcert.cli.train_unused import refuse_unused

MOCHA = ["--data", "synthetic:mean,tasks=4,samples=8,dimension=2", "--rounds", "2", "--quiet", "--json"]
FEDERATED = ["--data", "synthetic:related,population=6,samples=10", "--rounds", "1", "--quiet", "--json"]
STUDY = ["mocha", "--sweep", "private", "--seeds", "1", "--quiet", "--json"]


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["mocha", "--learning-rate", "0.5"], "--learning-rate"),
        (["mocha", "--device", "cuda"], "--device"),
        (["mocha", "--finetune", "ewc"], "--finetune"),
        (["mocha", "--theta", "0.9"], "--theta"),
        (["mocha", "--sweep", "figure1", "--work", "passes=2"], "--work"),
        (["cocoa", "--head-layers", "2"], "--head-layers"),
        (["pmtl", "--theta", "0.9"], "--theta"),
        (["pmtl", "--tolerance", "1e-3"], "--tolerance"),
        (["pmtl", "--alpha", "2"], "--alpha"),
        (["pmtl", "--head-layers", "2"], "--head-layers"),
        (["dp-fedavg", "--omega", "x.npy"], "--omega"),
        (["pmtl", "--finetune-epochs", "3"], "--finetune-epochs"),
        (["pmtl", "--seeds", "2"], "--seeds"),
        (["pmtl", "--local-steps", "3", "--local-epochs", "2"], "--local-epochs"),
        (["pmtl", "--sampling", "full", "--sweep", "pp-sgd", "--alpha", "3"], "--alpha"),
        (["pmtl", "--sweep", "rounds", "--evaluate-clients", "3"], "--evaluate-clients"),
        (["pmtl", "--sweep", "rounds", "--plot", "x.png"], "--plot"),
        (["mocha", "--sweep", "figure3", "--save", "x.pt"], "--save"),
        (["mocha", "--save", "x.pt"], "--save"),
        (["dpfedmtl", "--sweep", "rounds"], "algorithm"),
        (["dp-fedavg", "--sweep", "privacy-utility"], "algorithm"),
        (["pmtl", "--sweep", "dpfedmtl"], "algorithm"),
    ],
)
def test_an_option_without_use_is_refused(capsys, arguments, named):
    assert run(["train", *arguments]) == 2
    error = capsys.readouterr().err
    assert error.startswith(f"error: {named} = ")
    assert error.count("\n") == 1


def test_common_options_without_use_are_said_to_be_unused(capsys):
    assert run(["train", "mocha", *MOCHA, "--cohort", "2"]) == 0
    assert "warning: --cohort 2 is not used" in capsys.readouterr().err
    assert run(["train", "dp-fedavg", *FEDERATED, "--lambda", "0.5"]) == 0
    captured = capsys.readouterr()
    assert "warning: --lambda 0.5 is not used" in captured.err
    json.loads(captured.out)


def test_what_is_used_is_neither(capsys):
    assert run(["train", "mocha", *MOCHA, "--device", "cpu", "--lambda", "0.1", "--ridge", "1", "--seed", "1"]) == 0
    assert run(["train", "pmtl", *FEDERATED, "--lambda", "0.5", "--model", "logistic", "--cohort", "3"]) == 0
    assert "warning" not in capsys.readouterr().err


def test_defaults_are_never_refused():
    """And every option has one: a new one that is not in the table would fail here."""
    from types import SimpleNamespace

    assert set(DEFAULTS) == {name for group in GROUPS for name in names_of(group)}
    for algorithm in ALGORITHMS + MOCHA_FAMILY:
        refuse_unused(SimpleNamespace(**DEFAULTS | {"algorithm": algorithm}))


@pytest.mark.nightly
def test_results_of_other_data_or_another_lambda_are_not_reused(capsys, tmp_path):
    """One folder, four studies; the first one again goes on from what is there."""
    tables = []
    for data, *more in (
        ("samples=8", "--lambda", "0.1"),
        ("samples=12", "--lambda", "0.1"),
        ("samples=8", "--lambda", "0.5"),
        ("samples=8", "--lambda", "0.1", "--seed", "7"),
        ("samples=8", "--lambda", "0.1"),
    ):
        source = f"synthetic:mean,tasks=4,{data},dimension=2"
        assert run(["train", *STUDY, "--data", source, *more, "--out", str(tmp_path)]) == 0
        tables.append(json.loads(capsys.readouterr().out)["table"])
    assert len(set(tables)) == 4
    assert tables[4] == tables[0]
    assert len(list(tmp_path.glob("*/cells/*.json"))) == 4 * 6


@pytest.mark.parametrize(
    ("arguments", "known"),
    [
        (["pmtl", "--data", "synthetic:clustered,klusters=3"], "clusters"),
        (["pmtl", "--data", "csv:x.csv,klient=a"], "client"),
        (["mocha", "--data", "synthetic:mean,task=3"], "tasks"),
    ],
)
def test_an_unknown_option_of_the_data_is_answered_with_the_known_ones(capsys, arguments, known):
    assert run(["train", *arguments]) == 2
    assert known in capsys.readouterr().err.split("options among")[1]
