"""CSV, Parquet and TFF HDF5 files that the tests write, whole and broken."""

from __future__ import annotations

import numpy as np
import pytest

from dpcert.mechanisms import InputError
from dpcert.trainers.data import load_federation
from dpcert.trainers.data.stackoverflow import load_stackoverflow
from dpcert.trainers.data.table import load_table

ROWS = "user,a,b,label\n" + "".join(f"u{row % 3},{row},{row / 2},{row % 2}\n" for row in range(30))


def test_csv(tmp_path):
    file = tmp_path / "data.csv"
    file.write_text(ROWS)
    federation = load_federation(f"csv:{file},client=user,test_fraction=0.2")
    assert (federation.population, federation.outputs, federation.shape) == (3, 2, (2,))
    first = federation.clients[0]
    assert {int(value) for value in np.concatenate([first.train.dense(), first.test.dense()])[:, 0]} == set(
        range(0, 30, 3)
    )


def test_csv_regression(tmp_path):
    file = tmp_path / "data.csv"
    file.write_text(ROWS)
    federation = load_table(file, client="user", task="regression")
    assert federation.clients[0].train.labels.shape[1] == 1


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("user,a,label\n", "at least one row"),
        ("user,a,label\nu0,1\n", "3 cells"),
        ("user,a,label\nu0,x,1\nu1,1,1\n", "numbers"),
        ("user,a,label\nu0,nan,1\nu0,1,1\nu1,1,1\n", "finite"),
        ("user,a,label\nu0,1,0.5\nu1,1,1\n", "whole numbers"),
        ("user,a,a\nu0,1,1\n", "every column once"),
        ("who,a,label\nu0,1,1\n", "one of who, a, label"),
        ("user,a,label\n,1,1\nu1,1,1\n", "row 1 without a client"),
        ("user,a,label\nu0,1e300,1\nu1,1,1\n", "finite"),
        ("user,a,label\nu0,1,1\nu1,1,1e15\n", "at most 1048576"),
        ("user,a,label\nu\xe9,1,1\n", "not UTF-8"),
    ],
)
def test_broken_csv(tmp_path, text, expected):
    file = tmp_path / "data.csv"
    file.write_text(text, encoding="latin-1")
    with pytest.raises(InputError, match=expected):
        load_table(file, client="user", test_fraction=0)
    with pytest.raises(InputError, match="another column"):
        load_table(file, client="user", label="user")


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({"user": [None, "a", "b", "b"]}, "row 1 without a client"),
        ({"x": [None, 0.1, 0.2, 0.3]}, "finite"),
        ({"x": ["a", "b", "c", "d"]}, "numbers"),
        ({"label": [None, 1, 0, 1]}, "whole numbers"),
        ({"user": [], "x": [], "label": []}, "at least one row"),
    ],
)
def test_broken_parquet(tmp_path, changed, expected):
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    columns = {"user": ["a", "a", "b", "b"], "x": [0.1, 0.2, 0.3, 0.4], "label": [0, 1, 0, 1]} | changed
    file = tmp_path / "data.parquet"
    parquet.write_table(pyarrow.table(columns), file)
    with pytest.raises(InputError, match=expected):
        load_table(file, client="user")
    file.write_bytes(file.read_bytes()[:100])
    with pytest.raises(InputError, match="complete Parquet"):
        load_table(file, client="user")


def test_the_kind_decides_how_a_table_is_read(tmp_path):
    pytest.importorskip("pyarrow")
    (tmp_path / "data.csv").write_text(ROWS)
    with pytest.raises(InputError, match="complete Parquet"):
        load_federation(f"parquet:{tmp_path / 'data.csv'},client=user")


def test_parquet_equals_csv(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import csv, parquet

    (tmp_path / "data.csv").write_text(ROWS)
    parquet.write_table(csv.read_csv(tmp_path / "data.csv"), tmp_path / "data.parquet")
    left = load_table(tmp_path / "data.csv", client="user")
    right = load_table(tmp_path / "data.parquet", client="user")
    for one, other in zip(left.clients, right.clients, strict=True):
        np.testing.assert_array_equal(one.train.dense(), other.train.dense())
        np.testing.assert_array_equal(one.train.labels, other.train.labels)
    assert pyarrow.__version__


def write_tff(path, clients):
    h5py = pytest.importorskip("h5py")
    with h5py.File(path, "w") as file:
        for name, (titles, tokens, tags) in clients.items():
            group = file.create_group(f"examples/{name}")
            for field, entries in (("title", titles), ("tokens", tokens), ("tags", tags)):
                group.create_dataset(field, data=np.asarray(entries, dtype=object), dtype=h5py.string_dtype())


TFF = {
    "0001": (["sort a list", "loop"], ["how to sort a list in python", "while loop never ends"], ["python|list", "c"]),
    "0002": (["null pointer", "sort"], ["pointer is null", "sort sort sort"], ["c|pointers", "python"]),
}


def test_stackoverflow_tags(tmp_path):
    write_tff(tmp_path / "so.h5", TFF)
    words = ["sort", "pointer", "list"]
    tags = ["c", "python"]
    federation = load_stackoverflow(tmp_path / "so.h5", words=words, tags=tags, test_fraction=0)
    assert (federation.task, federation.outputs, federation.shape) == ("tags", 2, (3,))
    first, second = (client.train for client in federation.clients)
    # "sort a list" + "how to sort a list in python": 10 words, sort twice, list twice.
    np.testing.assert_allclose(first.dense(), [[0.2, 0, 0.2], [0, 0, 0]])
    np.testing.assert_array_equal(first.labels, [[0, 1], [1, 0]])
    np.testing.assert_allclose(second.dense(), [[0, 2 / 5, 0], [1, 0, 0]])
    np.testing.assert_array_equal(second.labels, [[1, 0], [0, 1]])


def test_stackoverflow_vocabulary_by_frequency(tmp_path):
    write_tff(tmp_path / "so.h5", TFF)
    federation = load_stackoverflow(tmp_path / "so.h5", words=1, tags=1, test_fraction=0)
    assert federation.shape == (1,)
    assert federation.clients[1].train.dense()[1, 0] == 1  # "sort" is the most frequent word


def test_broken_stackoverflow(tmp_path):
    h5py = pytest.importorskip("h5py")
    write_tff(tmp_path / "so.h5", TFF)
    content = (tmp_path / "so.h5").read_bytes()
    (tmp_path / "cut.h5").write_bytes(content[:200])
    with pytest.raises(InputError, match="complete HDF5"):
        load_stackoverflow(tmp_path / "cut.h5")
    with h5py.File(tmp_path / "other.h5", "w") as file:
        file.create_group("data")
    with pytest.raises(InputError, match="group named examples"):
        load_stackoverflow(tmp_path / "other.h5")
    with h5py.File(tmp_path / "lacking.h5", "w") as file:
        file.create_group("examples/0001")
    with pytest.raises(InputError, match="tokens and tags"):
        load_stackoverflow(tmp_path / "lacking.h5")


def test_vocabularies_from_files(tmp_path):
    write_tff(tmp_path / "so.h5", TFF)
    (tmp_path / "words.txt").write_text("sort\npointer\nlist\n")
    (tmp_path / "tags.txt").write_text("c\npython\n")
    told = f"stackoverflow:{tmp_path / 'so.h5'},words={tmp_path / 'words.txt'},tags={tmp_path / 'tags.txt'}"
    listed = load_stackoverflow(tmp_path / "so.h5", words=["sort", "pointer", "list"], tags=["c", "python"])
    assert load_federation(told).fingerprint() == listed.fingerprint()
    with pytest.raises(InputError, match="one on each line"):
        load_federation(f"stackoverflow:{tmp_path / 'so.h5'},words=nowhere.txt")


BROKEN_FIELDS = {
    "numbers": ("tokens", [1.0, 2.0], "vector of strings"),
    "a scalar": ("tokens", b"x", "vector of strings"),
    "fewer tags": ("tags", [b"c"], "as many entries as tokens, 2"),
    "fewer titles": ("title", [b"c"], "as many entries as tokens, 2"),
}


@pytest.mark.parametrize("case", BROKEN_FIELDS)
def test_broken_fields_of_a_client(tmp_path, case):
    h5py = pytest.importorskip("h5py")
    field, entries, expected = BROKEN_FIELDS[case]
    write_tff(tmp_path / "so.h5", TFF)
    with h5py.File(tmp_path / "so.h5", "a") as file:
        del file[f"examples/0002/{field}"]
        file[f"examples/0002/{field}"] = entries
    with pytest.raises(InputError, match=expected):
        load_stackoverflow(tmp_path / "so.h5")


def test_stackoverflow_groups_that_are_none_and_clients_without_samples(tmp_path):
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "vector.h5", "w") as file:
        file["examples"] = [1, 2]
    with pytest.raises(InputError, match="group named examples"):
        load_stackoverflow(tmp_path / "vector.h5")
    write_tff(tmp_path / "empty.h5", TFF | {"0003": ([], [], [])})
    with pytest.raises(InputError, match="at least one sample"):
        load_stackoverflow(tmp_path / "empty.h5")


def test_damaged_bytes_never_end_in_a_traceback(tmp_path):
    """Every 97th byte in turn: the file is read, or refused with one clear error."""
    write_tff(tmp_path / "so.h5", TFF)
    content = (tmp_path / "so.h5").read_bytes()
    refused = 0
    for place in range(0, len(content), 97):
        (tmp_path / "bad.h5").write_bytes(content[:place] + bytes([content[place] ^ 0x5A]) + content[place + 1 :])
        try:
            load_stackoverflow(tmp_path / "bad.h5")
        except InputError:
            refused += 1
    assert refused > 3
