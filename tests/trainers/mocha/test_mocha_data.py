"""Loaders of multi-task data on small files written here: what is read, and one clear error for what cannot be."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy.io import savemat

from dpcert.mechanisms import InputError
from dpcert.trainers.data.har import load_har
from dpcert.trainers.mocha.source import load_problem


@pytest.fixture
def har(tmp_path):
    """Two people in train/, one in test/; activities 1 to 6 in turn; three features."""
    for part, people in (("train", [1, 3] * 6), ("test", [2] * 6)):
        (tmp_path / part).mkdir()
        rows = np.random.default_rng(len(people)).standard_normal((len(people), 3))
        np.savetxt(tmp_path / part / f"X_{part}.txt", rows)
        np.savetxt(tmp_path / part / f"y_{part}.txt", [place % 6 + 1 for place in range(len(people))], fmt="%d")
        np.savetxt(tmp_path / part / f"subject_{part}.txt", people, fmt="%d")
    return tmp_path


def test_har_makes_a_task_of_each_person(har):
    tasks = load_har(har)
    assert tasks.count == 3
    assert tasks.dimension == 3
    assert tasks.sizes.tolist() == [6, 6, 6]
    # Person 1 does activities 1, 3, 5 (twice each), person 2 all six, person 3 activities 2, 4, 6; 4 is sitting.
    assert [int((y > 0).sum()) for y in tasks.labels] == [0, 1, 2]
    assert [int((y > 0).sum()) for y in load_har(har, positive="walking").labels] == [2, 1, 0]
    first = np.loadtxt(har / "train" / "X_train.txt")
    assert tasks.features[0] == pytest.approx(first[::2])


@pytest.mark.parametrize(
    ("file", "content", "said"),
    [
        ("train/X_train.txt", "1 2 3\n4 5", "table of numbers"),
        ("train/X_train.txt", "1 2 3\n4 5 x", "table of numbers"),
        ("train/X_train.txt", "1 2 nan\n" * 12, "finite"),
        ("train/X_train.txt", "1 2 3\n" * 5, "as many lines"),
        ("train/X_train.txt", "1 2\n" * 12, "as many features"),
        ("train/X_train.txt", "", "at least one line"),
        ("train/y_train.txt", "7\n" * 12, "activity"),
        ("train/y_train.txt", "1.5\n" * 12, "whole"),
        ("train/y_train.txt", "1 2\n" * 12, "one number"),
        ("train/subject_train.txt", None, "readable"),
    ],
)
def test_damaged_har_is_named(har, file, content, said):
    if content is None:
        (har / file).unlink()
    else:
        (har / file).write_text(content)
    with pytest.raises(InputError, match=said) as caught:
        load_har(har)
    assert "\n" not in str(caught.value)


def test_har_is_found_where_the_archive_unpacks_it(har, tmp_path_factory):
    outside = tmp_path_factory.mktemp("download")
    (outside / "UCI HAR Dataset").symlink_to(har)
    assert load_problem(f"har:{outside}").train.count == 3


def test_har_needs_its_folder(tmp_path):
    with pytest.raises(InputError, match="UCI HAR"):
        load_har(tmp_path)
    with pytest.raises(InputError, match="positive"):
        load_har(tmp_path, positive="flying")


@pytest.fixture
def recorded(tmp_path):
    """Two tasks in a MATLAB file, and a split."""
    x, y = np.empty((1, 2), dtype=object), np.empty((1, 2), dtype=object)
    for task in range(2):
        x[0, task], y[0, task] = np.arange(12.0).reshape(4, 3) + task, np.array([[1.0], [-1.0], [1.0], [-1.0]])
    savemat(tmp_path / "t.mat", {"X": x, "Y": y})
    (tmp_path / "split.json").write_text(json.dumps({"train_index_0based": [[0, 1, 2], [3]]}))
    return tmp_path


def test_a_recorded_split_is_followed(recorded):
    problem = load_problem(f"mat:{recorded / 't.mat'}", recorded / "split.json")
    assert problem.train.sizes.tolist() == [3, 1]
    assert problem.test.sizes.tolist() == [1, 3]
    assert problem.test.features[0].tolist() == [[9, 10, 11]]


@pytest.mark.parametrize(
    ("split", "said"),
    [
        ("nonsense", "train_index_0based"),
        ("{}", "train_index_0based"),
        ('{"train_index_0based": 3}', "train_index_0based"),
        ('{"train_index_0based": [[0, 1]]}', "list for each"),
        ('{"train_index_0based": [[0, 9], [1]]}', "task 0"),
        ('{"train_index_0based": [[0, 1.5], [1]]}', "train_index_0based"),
        ('{"train_index_0based": [[0, 0], [1]]}', "task 0"),
        ('{"train_index_0based": [[], [1]]}', "at least one sample"),
        ('{"train_index_0based": [[0, 1, 2, 3], [1]]}', "task 0"),
    ],
)
def test_damaged_splits_are_named(recorded, split, said):
    (recorded / "split.json").write_text(split)
    with pytest.raises(InputError, match=said):
        load_problem(f"mat:{recorded / 't.mat'}", recorded / "split.json")


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_truncated_matlab_files_are_named(recorded, share):
    whole = (recorded / "t.mat").read_bytes()
    (recorded / "t.mat").write_bytes(whole[: int(share * len(whole))])
    with pytest.raises(InputError, match="cells X and Y"):
        load_problem(f"mat:{recorded / 't.mat'}")


def test_matlab_files_with_other_contents_are_named(recorded):
    savemat(recorded / "n.mat", {"X": np.array([[np.array([["a"]])]], dtype=object), "Y": np.zeros((1, 1))})
    savemat(recorded / "nan.mat", {"X": np.array([[np.array([[np.nan]])]], dtype=object), "Y": np.ones((1, 1))})
    for name in ("n", "nan"):
        with pytest.raises(InputError):
            load_problem(f"mat:{recorded / name}.mat")


def test_sources_are_named(tmp_path):
    for source, said in (
        ("table:x", "synthetic, or KIND"),
        ("mat:", "mat:PATH"),
        ("synthetic:unknown", "clustered"),
        ("synthetic:mean,tasks", "key=value"),
        ("synthetic:mean,colour=3", "options among"),
        ("synthetic:mean,strength=1.5", "strength"),
        ("synthetic:mean,fraction=0", "fraction"),
        ("synthetic:mean,tasks=0", "tasks"),
        ("synthetic:mean,standardise=all", "standardise"),
    ):
        with pytest.raises(InputError, match=said):
            load_problem(source)


def test_synthetic_tasks_have_their_covariance():
    """Labels of many noiseless tasks agree as the angle between correlated weights says, arccos(0.9) / pi."""
    problem = load_problem("synthetic:mean,tasks=2,dimension=2000,samples=2,noise=0,strength=0.9", seed=1)
    assert problem.train.dimension == 2000
    one, same = (load_problem(f"synthetic:mean,strength={s},tasks=4", seed=3).train for s in (0.0, 0.9))
    assert one.features[0].tolist() == same.features[0].tolist()
    assert load_problem("synthetic", seed=1).train.features[0].tolist() != one.features[0].tolist()


def test_features_are_standardised_by_each_tasks_own_training_samples(recorded):
    """A constant feature is only centred; what is tested does not enter."""
    rng = np.random.default_rng(0)
    x, y = np.empty((1, 2), dtype=object), np.empty((1, 2), dtype=object)
    for task in range(2):
        x[0, task] = np.c_[rng.normal(5 * task, 3, (40, 2)), np.full(40, 7.0)]
        y[0, task] = np.where(rng.random((40, 1)) < 0.5, 1.0, -1.0)
    savemat(recorded / "s.mat", {"X": x, "Y": y})
    plain = load_problem(f"mat:{recorded / 's.mat'}")
    problem = load_problem(f"mat:{recorded / 's.mat'},standardise=per-task")
    for task in range(2):
        own = plain.train.features[task]
        expected = (plain.test.features[task] - own.mean(0)) / [*own.std(0)[:2], 1.0]
        assert problem.test.features[task] == pytest.approx(expected)
        assert problem.train.features[task].mean(0) == pytest.approx(0, abs=1e-12)
        assert problem.train.features[task].std(0) == pytest.approx([1, 1, 0])
