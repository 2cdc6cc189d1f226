"""Notebooks: the findings of a script, with the cell that they are in."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path

import pytest
from cases import many
from hypothesis import given, settings
from hypothesis import strategies as st

from dpcert.cli import run
from dpcert.mechanisms import InputError
from dpcert.proofs_checks.lint import findings, lint, notebook

IMPORT = "from opacus import PrivacyEngine\n"
SLIP = "x = 1\ndelta = 1 / len(train_loader)\n"
TWIN = "x = 1\ndelta = 1 / len(train_loader.dataset)\n"


def written(*cells: str | tuple[str, str], **metadata: object) -> bytes:
    """A notebook of these code cells; (text, kind) for others. Sources are lists of lines, as Jupyter writes them."""
    parts = [cell if isinstance(cell, tuple) else (cell, "code") for cell in cells]
    listed = [{"cell_type": kind, "source": text.splitlines(keepends=True), "metadata": {}} for text, kind in parts]
    return json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": metadata, "cells": listed}).encode()


def places(source: bytes) -> list[tuple[int | None, int, str]]:
    return [(found.cell, found.line, found.rule) for found in findings(notebook("n.ipynb", source))]


def test_the_cell_is_in_the_finding(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "train.ipynb"
    path.write_bytes(written(("# Training", "markdown"), IMPORT, SLIP))
    assert run(["lint", str(path)]) == 1
    assert capsys.readouterr().out.startswith(f"{path}:cell 3:2:9: delta-from-batches: ")
    assert run(["lint", str(path), "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["findings"][0]["cell"] == 3
    path.write_bytes(written(("# Training", "markdown"), IMPORT, TWIN))
    assert run(["lint", str(path)]) == 0


def test_names_are_followed_over_cells_and_folders_are_searched(tmp_path: Path) -> None:
    (tmp_path / "a.ipynb").write_bytes(written(IMPORT, "n = len(loader)\n", "delta = 1 / n\n"))
    (tmp_path / ".ipynb_checkpoints").mkdir()
    (tmp_path / ".ipynb_checkpoints" / "a.ipynb").write_bytes(written(IMPORT, SLIP))
    report = lint([tmp_path])
    assert [(found.cell, found.line) for found in report.findings] == [(3, 1)]
    assert report.files == 1


MAGICS = [
    "%matplotlib inline\n" + SLIP[6:],
    "!pip install opacus \\\n    torch\n" + SLIP[6:],
    "files = !ls\n" + SLIP[6:],
    "PrivacyEngine?\n" + SLIP[6:],
    "if x:\n    %time f()\n" + SLIP[6:],
    "%%time\n" + SLIP[6:],
    "y = (10\n     % 3)\n" + SLIP[6:],
    "text = '''\n%not magic\n'''\n" + SLIP[6:],
    "y = 10 \\\n  % 3\n" + SLIP[6:],
]


@pytest.mark.parametrize("cell", MAGICS)
def test_ipython_lines_are_no_obstacle(cell: str) -> None:
    line = cell.rstrip("\n").count("\n") + 1
    assert places(written(IMPORT, cell)) == [(2, line, "delta-from-batches")]


def test_other_languages_are_left_out() -> None:
    assert places(written(IMPORT, "%%bash\nif [ x ]; then\n", SLIP)) == [(3, 2, "delta-from-batches")]
    assert places(written("x <- 1\n", language_info={"name": "R"})) == []


def test_the_older_format() -> None:
    cells = [{"cell_type": "code", "input": [IMPORT]}, {"cell_type": "code", "input": SLIP}]
    document = {"nbformat": 3, "worksheets": [{"cells": cells}]}
    assert places(json.dumps(document).encode()) == [(2, 2, "delta-from-batches")]


@pytest.mark.parametrize(
    ("source", "said"),
    [
        (b"no json", "a Jupyter notebook"),
        (b"[]", "it has no cells"),
        (b'{"cells": 3}', "it has no cells"),
        (b"\xff", "a Jupyter notebook"),
        (b"[" * 100_000, "a Jupyter notebook"),
    ],
)
def test_what_is_no_notebook_is_bad_input(source: bytes, said: str) -> None:
    with pytest.raises(InputError, match=said):
        notebook("n.ipynb", source)


@pytest.mark.parametrize("cell", ["def f(:\n", 'x = "\ud800"'])
def test_a_cell_that_is_not_python_is_named(cell: str) -> None:
    (said,) = notebook("n.ipynb", written(IMPORT, cell)).unread
    assert said.startswith("cell 2 is not Python and was not read (")


def test_a_bad_notebook_does_not_stop_the_others(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "bad.ipynb").write_bytes(b"{}")
    (tmp_path / "good.ipynb").write_bytes(written(IMPORT, SLIP))
    assert run(["lint", str(tmp_path)]) == 2
    captured = capsys.readouterr()
    assert "good.ipynb:cell 2:2:" in captured.out
    assert captured.err.splitlines()[0].startswith("error: path = ")


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=10),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["source", "input"]), inner),
    max_leaves=5,
)


@settings(max_examples=many(150), deadline=None, derandomize=True)
@given(
    st.lists(
        st.fixed_dictionaries({}, optional={"cell_type": st.just("code") | ANYTHING, "source": ANYTHING}) | ANYTHING,
        max_size=4,
    )
)
def test_never_crashes_on_odd_cells(cells: list[object]) -> None:
    with suppress(InputError):
        findings(notebook("n.ipynb", json.dumps({"cells": cells}).encode()))
