"""LEAF files: every layout, and one clear error for every way in which they come broken."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import numpy as np
import pytest

from dpcert.mechanisms import InputError
from dpcert.trainers.data import load_federation
from dpcert.trainers.data.leaf import load_leaf

SHARED = Path(__file__).parents[3].parent / "shared" / "data" / "femnist-206-writers.leaf.json.zip"


def document(users, samples=5, features=4, seed=0):
    rng = np.random.default_rng(seed)
    data = {
        user: {
            "x": rng.random((samples, features)).round(3).tolist(),
            "y": [int(label) for label in rng.integers(0, 3, samples)],
        }
        for user in users
    }
    return {"users": list(users), "num_samples": [samples] * len(users), "user_data": data}


def test_plain_file_is_split_by_client(tmp_path):
    content = document(["a", "b", "c"], samples=10)
    file = tmp_path / "all.json"
    file.write_text(json.dumps(content))
    federation = load_leaf(file, test_fraction=0.2, seed=3)
    assert [client.name for client in federation.clients] == ["a", "b", "c"]
    assert federation.outputs == 3
    for client in federation.clients:
        assert (len(client.train), len(client.test)) == (8, 2)
        together = np.concatenate([client.train.dense(), client.test.dense()])
        original = np.asarray(content["user_data"][client.name]["x"], dtype=np.float32)
        assert sorted(map(tuple, together)) == sorted(map(tuple, original))


def test_split_is_seeded(tmp_path):
    file = tmp_path / "all.json"
    file.write_text(json.dumps(document(["a", "b"], samples=20)))
    assert load_leaf(file, seed=1).fingerprint() == load_leaf(file, seed=1).fingerprint()
    assert load_leaf(file, seed=1).fingerprint() != load_leaf(file, seed=2).fingerprint()


def test_train_and_test_folders_split_over_files(tmp_path):
    for part, seed in (("train", 0), ("test", 1)):
        (tmp_path / part).mkdir()
        (tmp_path / part / "0.json").write_text(json.dumps(document(["a", "b"], seed=seed)))
        (tmp_path / part / "1.json").write_text(json.dumps(document(["c"], seed=seed + 7)))
    federation = load_leaf(tmp_path)
    assert [client.name for client in federation.clients] == ["a", "b", "c"]
    assert all((len(client.train), len(client.test)) == (5, 5) for client in federation.clients)


def test_zip_equals_plain_and_ignores_mac_shadow_files(tmp_path):
    text = json.dumps(document(["a", "b"]))
    (tmp_path / "all.json").write_text(text)
    with zipfile.ZipFile(tmp_path / "all.zip", "w") as archive:
        archive.writestr("all.json", text)
        archive.writestr("__MACOSX/._all.json", b"\x00\x05")
    plain, zipped = load_leaf(tmp_path / "all.json"), load_leaf(tmp_path / "all.zip")
    for left, right in zip(plain.clients, zipped.clients, strict=True):
        np.testing.assert_array_equal(left.train.dense(), right.train.dense())
        np.testing.assert_array_equal(left.test.labels, right.test.labels)


def test_celeba_names_are_read_as_images(tmp_path):
    image = pytest.importorskip("PIL.Image")
    for name, colour in (("1.png", (255, 0, 0)), ("2.png", (0, 0, 255))):
        image.new("RGB", (178, 218), colour).save(tmp_path / name)
    content = {"users": ["a", "b"], "user_data": {user: {"x": ["1.png", "2.png"], "y": [0, 1]} for user in "ab"}}
    (tmp_path / "celeba.json").write_text(json.dumps(content))
    federation = load_leaf(tmp_path / "celeba.json", images=tmp_path, test_fraction=0)
    assert federation.shape == (3, 84, 84)
    np.testing.assert_allclose(federation.clients[0].train.dense()[:, :, 40, 40], [[1, 0, 0], [0, 0, 1]])


def test_inverted_features(tmp_path):
    file = tmp_path / "all.json"
    file.write_text(json.dumps(document(["a", "b"])))
    plain, inverted = load_leaf(file), load_federation(f"leaf:{file},features=inverted")
    np.testing.assert_array_equal(inverted.clients[1].train.dense(), 1 - plain.clients[1].train.dense())
    with pytest.raises(InputError, match="one of as-written, inverted"):
        load_leaf(file, features="negative")


BROKEN = {
    "truncated": (lambda text: text[: len(text) // 2], "complete JSON"),
    "no user_data": (lambda text: json.dumps({"users": ["a"]}), "users and user_data"),
    "missing user": (lambda text: json.dumps(json.loads(text) | {"users": ["a", "zz"]}), "x and y"),
    "ragged rows": (lambda text: text.replace("[[", "[[0.5, ", 1), "rows of numbers of one length"),
    "text": (lambda text: json.dumps({"users": ["a"], "user_data": {"a": {"x": ["hello"], "y": [0]}}}), "image files"),
    "infinite": (lambda text: text.replace("[[", "[[Infinity, ").replace("], [", "], [1, "), "finite"),
    "negative label": (lambda text: text.replace('"y": [', '"y": [-', 1), "a class from 0"),
    "no samples": (
        lambda text: json.dumps({"users": ["a"], "user_data": {"a": {"x": [], "y": []}}}),
        "at least one sample for every client",
    ),
    "users that are no list": (lambda text: json.dumps(json.loads(text) | {"users": 3}), "a list of users"),
    "an identifier as label": (lambda text: text.replace('"y": [1', '"y": [1000000000000000000', 1), "at most 1048576"),
    "another num_samples": (
        lambda text: json.dumps(json.loads(text) | {"num_samples": [6, 5]}),
        "number of its samples, 6",
    ),
    "num_samples of others": (lambda text: json.dumps(json.loads(text) | {"num_samples": [6]}), "each of 2 users"),
    "beyond single precision": (lambda text: text.replace("[[", "[[1e300, ").replace("], [", "], [1, "), "finite"),
    "half a label": (lambda text: text.replace('"y": [', '"y": [0.5, ', 1), "one whole number"),
}


@pytest.mark.parametrize("case", BROKEN)
def test_broken_files_are_one_clear_error(tmp_path, case):
    damage, expected = BROKEN[case]
    content = document(["a", "b"], samples=6)
    for user in content["user_data"].values():
        user["y"] = [1, 1, 2, 2, 1, 2]
    file = tmp_path / "broken.json"
    file.write_text(damage(json.dumps(content)))
    with pytest.raises(InputError, match=expected):
        load_leaf(file)


def test_labels_beyond_the_stated_classes(tmp_path):
    file = tmp_path / "all.json"
    file.write_text(json.dumps(document(["a", "b"], samples=30)))
    with pytest.raises(InputError, match="a class from 0 to 1"):
        load_leaf(file, classes=2)


def test_truncated_zip_and_missing_path(tmp_path):
    with zipfile.ZipFile(tmp_path / "all.zip", "w") as archive:
        archive.writestr("all.json", json.dumps(document(["a", "b"])))
    content = (tmp_path / "all.zip").read_bytes()
    (tmp_path / "cut.zip").write_bytes(content[: len(content) // 2])
    with pytest.raises(InputError, match="readable zip"):
        load_leaf(tmp_path / "cut.zip")
    with pytest.raises(InputError, match="existing file"):
        load_leaf(tmp_path / "nowhere.json")


def test_a_split_by_users_is_refused(tmp_path):
    """The test users of such a split have nothing to train on: they must not be left out silently."""
    for part, users in (("train", ["a", "b"]), ("test", ["c"])):
        (tmp_path / part).mkdir()
        (tmp_path / part / "all.json").write_text(json.dumps(document(users)))
    with pytest.raises(InputError, match="split by samples, not by users"):
        load_leaf(tmp_path)


@pytest.mark.parametrize(
    ("option", "expected"), [("classes=0", "at least 1"), ("seed=-1", "at least 0"), ("seed=x", "whole number")]
)
def test_bad_options(tmp_path, option, expected):
    (tmp_path / "all.json").write_text(json.dumps(document(["a", "b"])))
    with pytest.raises(InputError, match=expected):
        load_federation(f"leaf:{tmp_path / 'all.json'},{option}")


@pytest.mark.skipif(not SHARED.exists(), reason="the FEMNIST subset is not here")
def test_femnist_subset():
    federation = load_federation(f"leaf:{SHARED}")
    sizes = [len(client.train) + len(client.test) for client in federation.clients]
    assert (federation.population, sum(sizes), min(sizes), max(sizes)) == (206, 6237, 5, 69)
    assert (federation.outputs, federation.shape) == (62, (784,))
