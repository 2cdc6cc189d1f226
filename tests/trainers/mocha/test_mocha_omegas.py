"""Known relationships on the command line: graphs and covariances out of files."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy.io import savemat

from dpcert.cli import run
from dpcert.mechanisms import InputError
from dpcert.trainers.data.task_files import read_covariance, read_graph
from dpcert.trainers.mocha.omegas import graph_laplacian

TINY = ["--data", "synthetic:clustered,tasks=4,dimension=3,samples=10", "--lambda", "0.1", "--seed", "1", "--quiet"]
WEIGHTS = np.array([[0, 1, 0, 2.5], [1, 0, 1, 0], [0, 1, 0, 0], [2.5, 0, 0, 0]])
EDGES = "# a path and a heavier edge\n0 1\n1 2 1.0\n\n3 0 2.5  # the heavier\n"


@pytest.fixture
def graphs(tmp_path):
    (tmp_path / "g.txt").write_text(EDGES)
    np.save(tmp_path / "g.npy", WEIGHTS)
    np.savetxt(tmp_path / "g.csv", WEIGHTS, delimiter=",")
    return [tmp_path / f"g.{suffix}" for suffix in ("txt", "npy", "csv")]


def primal(capsys, *arguments):
    assert run(["mocha", "mocha", *TINY, "--tolerance", "1e-6", *arguments, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["converged"]
    return document["primal"]


def test_lists_of_edges_and_matrices_are_the_same_graph(graphs):
    for file in graphs:
        assert read_graph(file, 4).tolist() == WEIGHTS.tolist()


def test_the_laplacian_of_a_graph_is_omega(capsys, graphs, tmp_path):
    """By list, by matrix, and as the covariance that it is the inverse of, under both its names."""
    np.save(tmp_path / "s.npy", np.linalg.inv(graph_laplacian(WEIGHTS, 0.3)))
    known = ["--omega", "known", "--covariance", str(tmp_path / "s.npy")]
    ways = [["--omega", "graph-laplacian", "--graph", str(file), "--ridge", "0.3"] for file in graphs]
    ways += [known, ["--omega", str(tmp_path / "s.npy")]]
    values = [primal(capsys, *way) for way in ways]
    assert values == pytest.approx([values[0]] * len(values), rel=1e-9)
    assert primal(capsys, *ways[0][:-1], "3") != pytest.approx(values[0], rel=1e-4)


def test_synthetic_tasks_know_the_covariance_that_made_them(capsys, tmp_path):
    """Two halves, correlated 0.9 within; a file takes its place; other data need one."""
    np.save(tmp_path / "s.npy", np.kron(np.eye(2), np.full((2, 2), 0.9)) + 0.1 * np.eye(4))
    own = primal(capsys, "--omega", "known")
    assert own == pytest.approx(primal(capsys, "--omega", "known", "--covariance", str(tmp_path / "s.npy")), rel=1e-12)
    cells = np.empty((2, 1), dtype=object)
    cells[0, 0], cells[1, 0] = np.eye(4), np.eye(4)
    labels = np.empty((2, 1), dtype=object)
    labels[0, 0], labels[1, 0] = np.ones((4, 1)), -np.ones((4, 1))
    savemat(tmp_path / "t.mat", {"X": cells, "Y": labels})
    assert run(["mocha", "mocha", "--data", f"mat:{tmp_path / 't.mat'}", "--omega", "known", "--quiet"]) == 2
    assert "covariance = None" in capsys.readouterr().err


def test_a_graph_without_edges_separates_the_tasks(capsys, tmp_path):
    """Omega = ridge I is the identity's problem at another lambda."""
    np.save(tmp_path / "g.npy", np.zeros((4, 4)))
    apart = primal(capsys, "--omega", "graph-laplacian", "--graph", str(tmp_path / "g.npy"), "--ridge", "4")
    assert apart == pytest.approx(primal(capsys, "--omega", "fixed-identity"), rel=2e-6)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("0 1\n1 4\n", "line 2.*tasks from 0 to 3"),
        ("0 1\n-1 2\n", "line 2.*tasks from 0 to 3"),
        ("0 1\n2 2\n", "line 2.*two different"),
        ("0 1\n1 0 2\n", "line 2.*each edge once"),
        ("0 1 -2\n", "line 1.*at least 0"),
        ("0 1 nan\n", "line 1.*at least 0"),
        ("0 1 inf\n", "line 1.*finite"),
        ("0 one\n", "line 1.*whole numbers"),
        ("0 1.5\n", "line 1.*whole numbers"),
        ("0\n", "line 1.*two tasks"),
        ("0 1 2 3\n", "line 1.*two tasks"),
        ("", "at least one line"),
    ],
)
def test_damaged_lists_of_edges_are_named(tmp_path, content, said):
    (tmp_path / "g.txt").write_text(content)
    with pytest.raises(InputError, match=said) as caught:
        read_graph(tmp_path / "g.txt", 4)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("matrix", "said"),
    [
        (WEIGHTS[:3], "one row a task"),
        (WEIGHTS[:3, :3], "one row a task"),
        (np.triu(WEIGHTS), "symmetric"),
        (-WEIGHTS, "at least 0"),
        (WEIGHTS + np.eye(4), "loops"),
        (np.full((4, 4), np.nan), "finite"),
        (np.array([["a"] * 4] * 4), "readable"),
    ],
)
def test_matrices_that_are_no_graph_are_named(tmp_path, matrix, said):
    np.save(tmp_path / "g.npy", matrix)
    with pytest.raises(InputError, match=said):
        read_graph(tmp_path / "g.npy", 4)


def test_truncated_matrices_are_named(graphs):
    graphs[1].write_bytes(graphs[1].read_bytes()[:60])
    graphs[2].write_text("1,2\n3\n")
    for file in graphs[1:]:
        with pytest.raises(InputError, match="readable"):
            read_covariance(file, 4)
    with pytest.raises(InputError, match="a matrix"):
        read_covariance(graphs[0], 4)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--omega", "graph-laplacian"], "graph"),
        (["--graph", "g.txt"], "graph"),
        (["--covariance", "s.npy"], "covariance"),
        (["--omega", "graph-laplacian", "--graph", "absent.txt"], "absent.txt"),
        (["--omega", "known", "--covariance", "absent.npy"], "absent.npy"),
        (["--omega", "known", "--covariance", "indefinite.npy"], "positive definite"),
        (["--omega", "graph-laplacian", "--graph", "g.txt", "--ridge", "0"], "ridge"),
    ],
)
def test_bad_relationships_are_one_clear_line(capsys, tmp_path, monkeypatch, arguments, said):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "g.txt").write_text(EDGES)
    np.save(tmp_path / "indefinite.npy", np.ones((4, 4)) - 0.5 * np.eye(4))
    assert run(["mocha", "mocha", *TINY, *arguments]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    assert said in captured.err
