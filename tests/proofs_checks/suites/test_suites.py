"""A manifest's audits: right, broken, blind, raising and dying mechanisms each get their row; runs are resumed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dpcert.cli import run
from dpcert.mechanisms import InputError
from dpcert.proofs_checks.suites import Manifest, read, run_suite
from dpcert.proofs_checks.suites import run as running

MANIFEST = """
[library]
name = "numpy"
alpha = 0.01

[defaults]
trials = 600
relation = "add-remove"
setup = '''
def noisy(data, scale, rng):
    return round(float(np.sum(data)) + rng.laplace(0, scale), 3)
'''

[[mechanism]]
name = "sum"
call = "noisy(data, 1.0, rng)"
epsilon = 1.0

[[mechanism]]
name = "an eighth of the noise"
call = "noisy(data, 0.125, rng)"
epsilon = 1.0
pair = "([1.0], [])"

[[mechanism]]
name = "imported"
import = "numpy:sum"
call = "float(f([*data, 0.0]) > 50)"
epsilon = 1.0

[[mechanism]]
name = "raises"
call = "1 / 0"
rho = 0.5

[[mechanism]]
name = "dies"
setup = "import os"
call = "os._exit(3)"
mu = 1.0
pair = "([1.0], [])"
"""


@pytest.fixture
def mostly_here(monkeypatch) -> None:
    """Starting Python takes a second: only what ends its process, and one beside it, get one of their own."""
    real = running._in_a_process

    def started(manifest, entry):
        alone = entry.name in ("dies", "an eighth of the noise")
        return real(manifest, entry) if alone else running.row_of(entry, 0.01 / 5)

    monkeypatch.setattr(running, "_in_a_process", started)


@pytest.fixture
def manifest(tmp_path: Path) -> Path:
    path = tmp_path / "numpy.toml"
    path.write_text(MANIFEST)
    return path


@pytest.mark.usefixtures("mostly_here")
def test_every_mechanism_gets_its_row_and_finished_ones_are_kept(manifest: Path, tmp_path: Path, capsys, monkeypatch):
    kept = tmp_path / "kept.jsonl"
    assert run(["audit-suite", str(manifest), "--jobs", "2", "--resume", str(kept), "--json"]) == 1
    rows = {row["name"]: row for row in json.loads(capsys.readouterr().out)["mechanisms"]}
    assert {name: row["verdict"] for name, row in rows.items()} == {
        "sum": "not refuted",
        "an eighth of the noise": "refuted",
        "imported": "nothing checked",
        "raises": "failed",
        "dies": "failed",
    }
    assert rows["an eighth of the noise"]["bound"] > 1.0
    assert len(rows["sum"]["tried"]) == 7
    assert "ZeroDivisionError" in rows["raises"]["text"]
    assert "exit code 3" in rows["dies"]["text"]
    kept.write_text(kept.read_text() + '{"name": "cut o')

    def only_failed_ones(manifest, entry):
        assert entry.name in ("raises", "dies"), "a finished row is not run again"
        return running.row_of(manifest.entries[3], 0.01 / 5)

    monkeypatch.setattr(running, "_in_a_process", only_failed_ones)
    finished = ("sum", "an eighth of the noise", "imported", "raises")
    again = run_suite(read(manifest), kept=kept, only=finished)
    assert [row.verdict for row in again.rows] == [rows[name]["verdict"] for name in finished]
    shown = str(again)
    for part in (
        "1 not refuted, 1 refuted, 1 nothing checked, 1 failed",
        "an eighth of the noise  (1, 0)-DP",
        "runs on",
    ):
        assert part in shown
    manifest.write_text(MANIFEST.replace("trials = 600", "trials = 700"))  # another number of calls: another row
    with pytest.raises(AssertionError, match="not run again"):
        run_suite(read(manifest), kept=kept, only=finished)


@pytest.mark.usefixtures("mostly_here")
def test_exit_codes(manifest: Path, capsys) -> None:
    def only(*names: str) -> int:
        code = run(["audit-suite", str(manifest), *(part for name in names for part in ("--only", name))])
        capsys.readouterr()
        return code

    assert only("sum") == 0
    assert only("imported") == 4
    assert only("nobody") == 2


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('name = "numpy"', 'name = "no-such-library"', "pip install no-such-library"),
        ("epsilon = 1.0", "epsilom = 1.0", "epsilom"),
        ("rho = 0.5", "rho = 0.5\nmu = 1.0", "claim"),
        ("[[mechanism]]", "[[mechanisms]]", "mechanisms"),
        ('pair = "([1.0], [])"', 'pair = "rm -rf"', "two data sets written out"),
        ('name = "sum"', 'name = "dies"', "another name for every mechanism"),
        ('relation = "add-remove"', 'relation = "swap"', "relation"),
        ("alpha = 0.01", "alpha = 2", "alpha"),
    ],
)
def test_bad_manifests_are_one_sentence(manifest: Path, capsys, old: str, new: str, said: str) -> None:
    manifest.write_text(MANIFEST.replace(old, new))
    assert run(["audit-suite", str(manifest)]) == 2
    errors = [line for line in capsys.readouterr().err.splitlines() if line.startswith("error:")]
    assert len(errors) == 1
    assert said in errors[0]


def test_code_that_does_not_load_names_its_mechanism(manifest: Path) -> None:
    manifest.write_text(MANIFEST.replace("noisy(data, 1.0, rng)", "noisy(data, 1.0,"))
    with pytest.raises(InputError, match="code that can be loaded"):
        read(manifest).entries[0].target()


SHIPPED = sorted((Path(__file__).parents[3] / "examples/audits").glob("*.toml"))


def test_the_shipped_manifests_can_be_read() -> None:
    manifests: list[Manifest] = [read(path) for path in SHIPPED]
    assert {manifest.library for manifest in manifests} == {
        "diffprivlib", "opendp", "python-dp", "pipeline-dp", "opacus"
    }  # fmt: skip
    assert all(manifest.written_for for manifest in manifests)


def test_rows_of_another_dpcert_are_not_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What another version compared, or read, may have been something else."""
    (tmp_path / "m.toml").write_text(MANIFEST)
    manifest = read(tmp_path / "m.toml")
    row, about = manifest.entries[0], ("1.0", 0.01)
    key = running.key_of(row, *about)
    assert running.key_of(row, *about) == key
    monkeypatch.setattr(running, "__version__", "another")
    assert running.key_of(row, *about) != key
