"""What is installed: every module, nothing under a bare room name, and an import that stays light."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ROOMS = ("accounting", "mechanisms", "trainers", "proofs_checks")
HEAVY = ("torch", "z3", "matplotlib", "pydantic", "sklearn", "hypothesis", "typer", "rich", "pandas")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The project's wheel, built from a copy of the sources so that nothing is left in the tree."""
    source, target = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("wheel")
    for name in (*ROOMS, "src", "setup.py", "pyproject.toml", "README.md", "LICENSE"):
        if (ROOT / name).exists():
            subprocess.run(["cp", "-r", str(ROOT / name), str(source)], check=True)
    build = (
        "import sys, setuptools.build_meta as backend; "
        f"sys.argv = ['setup.py']; print(backend.build_wheel({str(target)!r}))"
    )
    done = subprocess.run([sys.executable, "-c", build], cwd=source, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return next(target.glob("*.whl"))


def modules() -> set[str]:
    """Every module of the tree, under the name by which users import it."""
    rooms = {f"dpcert/{path.relative_to(ROOT)}" for room in ROOMS for path in (ROOT / room).rglob("*.py")}
    own = {
        f"dpcert/{path.relative_to(ROOT / 'src' / 'dpcert')}"
        for folder, names, files in os.walk(ROOT / "src" / "dpcert", followlinks=False)
        for path in (Path(folder) / file for file in files)
        if path.suffix == ".py"
    }
    return rooms | own


def test_the_wheel_holds_every_module(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    assert modules() - names == set()
    assert "dpcert/py.typed" in names
    assert any(name.endswith(".dist-info/licenses/LICENSE") for name in names)


def test_no_room_is_importable_by_its_bare_name(wheel: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        tops = {name.split("/")[0] for name in archive.namelist()}
        archive.extractall(tmp_path)
    assert {top for top in tops if not top.endswith(".dist-info")} == {"dpcert"}
    check = "import importlib.util, sys; print([r for r in sys.argv[1:] if importlib.util.find_spec(r)])"
    found = subprocess.run(
        [sys.executable, "-c", check, *ROOMS], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert found.stdout.strip() == "[]"


def loaded_by(statement: str) -> set[str]:
    script = f"{statement}; import sys; print(' '.join(sys.modules))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd="/")
    return {name.split(".")[0] for name in done.stdout.split()}


def test_the_accountant_loads_nothing_heavy() -> None:
    assert loaded_by("import dpcert.accounting") & set(HEAVY) == set()
    assert loaded_by("import dpcert.mechanisms") & {*HEAVY, "numpy", "scipy", "flint"} == set()


def test_only_the_trainers_load_torch() -> None:
    assert "torch" not in loaded_by("import dpcert.cli")
    assert "torch" not in loaded_by("import dpcert.proofs_checks.verification.verify")


def processor_seconds(statement: str) -> float:
    script = f"import time; start = time.process_time(); {statement}; print(time.process_time() - start)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd="/")
    return float(done.stdout)


def test_importing_the_accountant_costs_about_as_much_as_scipy_special() -> None:
    """Medians of alternating fresh processes, by processor time; scipy.stats or dp_accounting would be 3x and more."""
    pairs = [
        (processor_seconds("import scipy.special"), processor_seconds("import dpcert.accounting")) for _ in range(5)
    ]
    scipy_special, ours = (statistics.median(column) for column in zip(*pairs, strict=True))
    assert ours < 2 * scipy_special + 0.05
