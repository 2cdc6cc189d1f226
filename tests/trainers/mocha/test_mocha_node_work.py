"""What nodes do in a round, on the command line: passes, shares, theta, dropped nodes, and one that never answers."""

from __future__ import annotations

import json

import numpy as np
import pytest
from cases import few

from dpcert.cli import run
from dpcert.mechanisms import InputError
from dpcert.trainers.mocha import trainer
from dpcert.trainers.mocha.tasks import related_tasks
from dpcert.trainers.mocha.work import NodeWork

TINY = ["--data", "synthetic:clustered,tasks=4,dimension=3,samples=10", "--lambda", "0.1", "--seed", "1", "--quiet"]


@pytest.fixture(scope="module")
def four():
    tasks, _ = related_tasks(4, 3, 20, np.eye(4), np.random.default_rng(0))
    return tasks.take([range(20), range(15), range(10), range(10)])


def trained(capsys, *arguments):
    assert run(["mocha", "mocha", *TINY, *arguments, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_steps_are_what_the_words_say(four):
    rng = np.random.default_rng(0)
    assert NodeWork.of("passes=2", None, 4).steps()(four, 0, rng).tolist() == [40, 30, 20, 20]
    shares = np.array([NodeWork.of("shares=0.5:1", None, 4).steps()(four, 0, rng) for _ in range(200)])
    assert shares.min() == 5
    assert 9 <= shares.max() <= 10  # of the smallest n_t
    dropped = NodeWork.of("passes=1", "0.5,2=1,3=0", 4)
    assert dropped.dropped == (0.5, 0.5, 1.0, 0.0)
    steps = np.array([dropped.steps()(four, 0, rng) for _ in range(400)])
    # 400 coins of 1/2: outside 0.4 to 0.6 with probability below 1e-4 each.
    assert 0.4 < (steps[:, 0] == 0).mean() < 0.6
    assert (steps[:, 2] == 0).all()
    assert (steps[:, 3] == 10).all()
    assert dropped.silent
    assert not dropped.plain


def test_thetas_are_what_the_words_say(four):
    rng = np.random.default_rng(0)
    fixed = NodeWork.of("theta=0.4", None, 4)
    assert fixed.targets()(four, 0, rng).tolist() == [0.4] * 4
    drawn = NodeWork.of("theta=0.2:0.6", "1=1", 4).targets()(four, 0, rng)
    assert drawn[1] == 1
    assert ((drawn[[0, 2, 3]] >= 0.2) & (drawn[[0, 2, 3]] <= 0.6)).all()
    assert NodeWork.of("passes=1", None, 4).targets() is None
    with pytest.raises(InputError, match="work"):
        fixed.steps()


@pytest.mark.parametrize(
    ("work", "drop"),
    few(
        [
            ("passes=0.5", "0.4"),
            ("passes=3", "0"),
            ("shares=0.1:1", "0,1=0.8"),
            ("theta=0.7", "0.4"),
            ("theta=0.3:0.9", "0"),
        ],
        8,
    ),
)
def test_every_policy_reaches_the_same_optimum(capsys, work, drop):
    smooth = ["--loss", "squared-hinge", "--tolerance", "1e-5"]
    best = trained(capsys, *smooth)["primal"]
    document = trained(capsys, *smooth, "--work", work, "--drop", drop)
    assert document["converged"]
    assert document["primal"] == pytest.approx(best, rel=2e-5)
    assert (document["work"], document["drop"]) == (work, drop)


def test_a_node_that_never_answers_prevents_convergence(capsys, monkeypatch):
    """Node 0 silent: the gap stays open however long; a node that answers in one round of ten closes it."""
    monkeypatch.setattr(trainer, "LONGEST_OF_OTHERS", 700)
    silent = trained(capsys, "--drop", "0=1", "--tolerance", "1e-3")
    assert silent["rounds"] == 700
    assert not silent["converged"]
    assert silent["gap"] > 0.01 * silent["primal"]
    assert trained(capsys, "--drop", "0=0.9", "--tolerance", "1e-3")["converged"]
    assert run(["mocha", "mocha", *TINY, "--drop", "0=1", "--rounds", "50"]) == 0
    assert "not within the tolerance" in capsys.readouterr().out


def test_algorithm_1_whole_takes_steps_and_drops(capsys):
    arguments = ["mocha", "mocha-alternating", *TINY, "--omega", "learned", "--rounds", "80", "--json"]
    assert run([*arguments, "--work", "shares=0.1:1", "--drop", "0.3"]) == 0
    assert json.loads(capsys.readouterr().out)["drop"] == "0.3"


@pytest.mark.parametrize(
    ("algorithm", "arguments", "said"),
    [
        ("mocha", ["--work", "much"], "passes=P"),
        ("mocha", ["--work", "passes=1:2"], "passes=P"),
        ("mocha", ["--work", "shares=0.5"], "passes=P"),
        ("mocha", ["--work", "passes=x"], "numbers"),
        ("mocha", ["--work", "passes=0"], "above 0"),
        ("mocha", ["--work", "passes=inf"], "above 0"),
        ("mocha", ["--work", "passes=nan"], "above 0"),
        ("mocha", ["--work", "shares=0.9:0.1"], "not above the second"),
        ("mocha", ["--work", "theta=1.5"], "at most 1"),
        ("mocha", ["--drop", "1.5"], "0 to 1"),
        ("mocha", ["--drop", "often"], "numbers"),
        ("mocha", ["--drop", "4=0.5"], "a node from 0 to 3"),
        ("mocha", ["--drop", "a=0.5"], "a node from 0 to 3"),
        ("mocha", ["--drop", "nan"], "0 to 1"),
        ("mocha", ["--work", "passes=2", "--omega", "learned"], "work"),
        ("mocha-alternating", ["--work", "theta=0.5", "--omega", "learned"], "passes or shares"),
        ("cocoa", ["--work", "theta=0.5"], "work"),
        ("mb-sgd", ["--work", "passes=2"], "a batch holds a sample once"),
        ("mb-sdca", ["--work", "theta=0.5"], "passes or shares"),
        ("mb-sdca", ["--step-rule", "constant"], "mb-sgd's"),
        ("mb-sgd", ["--step-rule", "none"], "decreasing, constant"),
        ("mocha", ["--scaling", "2"], "mb-sdca's and mb-sgd's"),
        ("mocha", ["--drop", "0.5", "--clip-norm", "0.1", "--noise-multiplier", "1"], "leave out --work and --drop"),
    ],
)
def test_bad_words_are_one_clear_line(capsys, algorithm, arguments, said):
    assert run(["mocha", algorithm, *TINY, *arguments]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    assert said in captured.err


def test_mini_batches_are_tuned_from_the_command_line(capsys):
    """Steps scaled, batches halved, nodes dropped: all of it changes the run, and larger steps come further."""
    primal = {}
    for options in ((), ("--scaling", "8"), ("--work", "passes=0.5"), ("--drop", "0.5")):
        assert run(["mocha", "mb-sdca", *TINY, *options, "--rounds", "20", "--json"]) == 0
        primal[options] = json.loads(capsys.readouterr().out)["primal"]
    assert len(set(primal.values())) == 4
    assert primal["--scaling", "8"] < primal[()]
    rules = {}
    for rule in ("decreasing", "constant", "pegasos"):
        assert run(["mocha", "mb-sgd", *TINY, "--step-rule", rule, "--rounds", "20", "--json"]) == 0
        rules[rule] = json.loads(capsys.readouterr().out)["history"][1]["primal"]
    assert rules["decreasing"] == rules["constant"] < rules["pegasos"]


def test_checkpoints_of_0_2_0_know_their_work():
    """By these words, as 0.2.0 had them in a run's identity."""
    dropping, plain = NodeWork.of("shares=0.5:1", "1=1", 2), NodeWork.of("passes=1", None, 2)
    assert repr(dropping) == "NodeWork(text='shares=0.5:1', kind='shares', low=0.5, high=1.0, dropped=(0.0, 1.0))"
    assert repr(plain) == "NodeWork(text='passes=1', kind='passes', low=1.0, high=1.0, dropped=())"
