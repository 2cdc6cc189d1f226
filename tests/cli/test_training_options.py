"""train, mocha and experiment ignore no option: what has no use is none of theirs, refused, or said to be unused."""

from __future__ import annotations

import json
import re

import pytest

from dpcert.cli import COMMANDS, loaded, run
from dpcert.cli.experiment import EXPERIMENTS, SETS, Federated, Mocha
from dpcert.trainers.experiments.presets import PRESETS
from dpcert.trainers.names import ALGORITHMS, UNRELATED

MOCHA = ["--data", "synthetic:mean,tasks=4,samples=8,dimension=2", "--rounds", "2", "--quiet", "--json"]
FEDERATED = ["--data", "synthetic:related,population=6,samples=10", "--rounds", "1", "--quiet", "--json"]
STUDY = ["experiment", "mocha-private", "--seeds", "1", "--quiet", "--json"]
MOST = 35


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["mocha", "mocha", "--learning-rate", "0.5"], "--learning-rate"),
        (["mocha", "mocha", "--device", "cuda"], "--device"),
        (["mocha", "mocha", "--finetune", "ewc"], "--finetune"),
        (["mocha", "mocha", "--theta", "0.9"], "--theta"),
        (["mocha", "mocha", "--save", "x.pt"], "--save"),
        (["experiment", "mocha-figure1", "--work", "passes=2"], "--work"),
        (["experiment", "mocha-table1", "--split-file", "x.json"], "--split-file"),
        (["experiment", "mocha-figure3", "--save", "x.pt"], "--save"),
        (["train", "pmtl", "--theta", "0.9"], "--theta"),
        (["train", "pmtl", "--tolerance", "1e-3"], "--tolerance"),
        (["train", "pmtl", "--set", "alpha=2"], "alpha"),
        (["train", "pmtl", "--set", "head-layers=2"], "head-layers"),
        (["train", "dp-fedavg", "--set", "omega=x.npy"], "omega"),
        (["train", "pmtl", "--seeds", "2"], "--seeds"),
        (["train", "pmtl", "--local-steps", "3", "--local-epochs", "2"], "--local-epochs"),
        (["experiment", "pp-sgd", "--alpha", "3"], "--alpha"),
        (["experiment", "rounds", "--evaluate-clients", "3"], "--evaluate-clients"),
        (["experiment", "rounds", "--plot", "x.png"], "--plot"),
        (["experiment", "privacy-utility", "--noise-multiplier", "2"], "--noise-multiplier"),
    ],
)
def test_an_option_without_use_is_refused(capsys, arguments, named):
    assert run(arguments) == 2
    error = capsys.readouterr().err
    assert error.startswith("error: ")
    assert named in error
    assert error.count("\n") == 1


def test_common_options_without_use_are_said_to_be_unused(capsys):
    for option, given in (("--lambda", "0.5"), ("--cohort", "2")):
        full = ["--sampling", "full"] if option == "--cohort" else []
        assert run(["train", "dp-fedavg", *FEDERATED, option, given, *full]) == 0
        captured = capsys.readouterr()
        assert f"warning: {option} {given} is not used" in captured.err
        json.loads(captured.out)
    assert run(["mocha", "mocha", *MOCHA, "--omega", "fixed-identity", "--ridge", "1"]) == 0
    assert "warning: --ridge 1.0 is not used" in capsys.readouterr().err


def test_what_is_used_is_neither(capsys):
    assert run(["mocha", "mocha", *MOCHA, "--lambda", "0.1", "--ridge", "1", "--seed", "1"]) == 0
    assert run(["train", "pmtl", *FEDERATED, "--lambda", "0.5", "--model", "logistic", "--cohort", "3"]) == 0
    assert "warning" not in capsys.readouterr().err


def told(algorithm):
    return type(algorithm).__name__, str(vars(algorithm))


def test_the_settings_of_each_algorithm_are_those_that_it_is_built_with():
    """Each changes the algorithm; lambda changes those that have one, and no other."""
    from dpcert.trainers.build import Parameters, build_algorithm

    other = {"clusters": "2", "label-sets": "own", "alpha": 3.0, "head-layers": 0, "aggregation-interval": 2}
    for name in ALGORITHMS:
        usual = told(build_algorithm(name, Parameters(), 4))
        for key in ALGORITHMS[name]:
            if key != "omega":  # a file's
                changed = Parameters(**{key.replace("-", "_"): other[key]})  # type: ignore[arg-type]
                assert told(build_algorithm(name, changed, 4)) != usual
        assert (told(build_algorithm(name, Parameters(strength=7.0), 4)) == usual) == (name in UNRELATED)


@pytest.mark.parametrize("command", COMMANDS)
def test_no_command_has_more_options_than_a_reader_takes_in(command, capsys):
    found = loaded(command)
    for name in getattr(found, "commands", {None: None}):
        assert run([command, *([] if name is None else [name]), "--help"]) == 0
        out = capsys.readouterr().out
        options = re.findall(r"^  (?:-\w, )?--[a-z]", out, re.MULTILINE)
        assert 0 < len(options) <= MOST + 1, (command, name)  # --help itself beside them
        if len(options) > 9:
            assert "\nOutput:\n" in out


def test_help_of_an_experiment_has_the_options_that_it_uses(capsys):
    assert set(EXPERIMENTS[Federated]) == {"fair", *PRESETS}
    for name in EXPERIMENTS[Federated] | EXPERIMENTS[Mocha]:
        assert run(["experiment", name, "--help"]) == 0
        out = capsys.readouterr().out
        for option in SETS.get(name, ()):
            shown = {"strength": "lambda"}.get(option, option).replace("_", "-")
            assert f"--{shown} " not in out


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
        assert run([*STUDY, "--data", source, *more, "--out", str(tmp_path)]) == 0
        tables.append(json.loads(capsys.readouterr().out)["table"])
    assert len(set(tables)) == 4
    assert tables[4] == tables[0]
    assert len(list(tmp_path.glob("*/cells/*.json"))) == 4 * 6


@pytest.mark.parametrize(
    ("arguments", "known"),
    [
        (["train", "pmtl", "--data", "synthetic:clustered,klusters=3"], "clusters"),
        (["train", "pmtl", "--data", "csv:x.csv,klient=a"], "client"),
        (["mocha", "mocha", "--data", "synthetic:mean,task=3"], "tasks"),
    ],
)
def test_an_unknown_option_of_the_data_is_answered_with_the_known_ones(capsys, arguments, known):
    assert run(arguments) == 2
    assert known in capsys.readouterr().err.split("options among")[1]
