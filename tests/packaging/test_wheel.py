"""What is installed: every module, nothing under a bare room name, and an import that stays light."""

from __future__ import annotations

import os
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
    source = tmp_path_factory.mktemp("source")
    for name in (*ROOMS, "src", "setup.py", "pyproject.toml", "README.md", "LICENSE"):
        if (ROOT / name).exists():
            subprocess.run(["cp", "-r", str(ROOT / name), str(source)], check=True)
    return built(source, tmp_path_factory.mktemp("wheel"))


def built(source: Path, target: Path, kind: str = "wheel") -> Path:
    build = (
        "import sys, setuptools.build_meta as backend; "
        f"sys.argv = ['setup.py']; print(backend.build_{kind}({str(target)!r}))"
    )
    done = subprocess.run([sys.executable, "-c", build], cwd=source, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return next(target.glob("*.whl"))


def contents(wheel: Path) -> dict[str, int]:
    """What it holds but its metadata, whose order is not fixed: each file with its checksum."""
    with zipfile.ZipFile(wheel) as archive:
        return {info.filename: info.CRC for info in archive.infolist() if ".dist-info/" not in info.filename}


@pytest.mark.slow
def test_a_clone_without_symbolic_links_builds_the_same_wheel(tmp_path: Path) -> None:
    """Git writes links as small text files there (Windows, core.symlinks=false)."""
    if not (ROOT / ".git").exists():
        pytest.skip("not a clone")
    wheels = {}
    for links in ("true", "false"):
        clone = tmp_path / links
        command = ["git", "clone", "-q", "--depth", "1", "-c", f"core.symlinks={links}", ROOT.as_uri(), str(clone)]
        subprocess.run(command, check=True, capture_output=True)
        assert (clone / "src/dpcert/accounting").is_symlink() == (links == "true")
        wheels[links] = contents(built(clone, tmp_path))
    assert "dpcert/accounting/epsilon.py" in wheels["true"]
    assert wheels["false"] == wheels["true"]


@pytest.mark.parametrize("links", [True, False])
def test_beside_a_clone_an_editable_install_imports_the_package(tmp_path: Path, links: bool) -> None:
    """A folder dpcert in the current one would be a namespace without anything in it; links in src/ are not needed."""
    clone, site = tmp_path / "dpcert", tmp_path / "site"
    clone.mkdir()
    for name in (*ROOMS, "src", "setup.py", "pyproject.toml", "README.md", "LICENSE"):
        subprocess.run(["cp", "-r", str(ROOT / name), str(clone)], check=True)
    for room in ROOMS if not links else ():
        (clone / "src" / "dpcert" / room).unlink()
    with zipfile.ZipFile(built(clone, tmp_path, "editable")) as archive:
        archive.extractall(site)
    told = (
        f"import site; site.addsitedir({str(site)!r}); import dpcert, dpcert.mechanisms as rooms; "
        "print(dpcert.__file__); print(rooms.__file__)"
    )
    command = [sys.executable, "-S", "-c", told]
    libraries = os.pathsep.join(path for path in sys.path if path.endswith("-packages"))
    environment = os.environ | {"PYTHONPATH": libraries, "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr
    package, room = done.stdout.split()
    assert package == str(clone / "src" / "dpcert" / "__init__.py")
    assert room.endswith("mechanisms/__init__.py")


def test_the_rows_of_the_papers_are_in_it(wheel: Path) -> None:
    folders = [file.parent.name for file in (ROOT / "proofs_checks" / "papers").glob("*/paper.toml")]
    assert len(folders) >= 4
    assert {f"dpcert/proofs_checks/papers/{name}/paper.toml" for name in folders} <= set(contents(wheel))


def test_the_core_needs_no_peer(wheel: Path) -> None:
    """dp-accounting is an extra of its adapter; the metadata is complete."""
    with zipfile.ZipFile(wheel) as archive:
        metadata = archive.read(next(name for name in archive.namelist() if name.endswith("/METADATA"))).decode()
    needed = [line for line in metadata.splitlines() if line.startswith("Requires-Dist:") and "extra ==" not in line]
    assert needed
    assert not any("dp-accounting" in line for line in needed)
    assert "Provides-Extra: dp-accounting" in metadata
    for field in (
        "License-Expression: Apache-2.0",
        "Author:",
        "Keywords:",
        "Requires-Python: >=3.11",
        "Project-URL: Homepage",
        "Project-URL: Documentation",
        "Project-URL: Changelog",
        "Project-URL: Source",
        "Classifier: Framework :: Pytest",
    ):
        assert field in metadata


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
    assert {
        "dpcert/py.typed",
        "dpcert/claim.schema.json",
        "dpcert/presentation/report.html.j2",
        "dpcert/record/record.js",
    } <= names
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


def test_the_accountant_loads_little_of_scipy() -> None:
    """scipy.special is what it needs: scipy.stats, scipy.optimize or dp_accounting would make an import 3x as long."""
    code = "import dpcert.accounting, sys; print(*(name for name in sys.modules if name.startswith('scipy.')))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd="/")
    rooms = {name.split(".")[1] for name in done.stdout.split() if not name.split(".")[1].startswith("_")}
    assert rooms == {"special", "version"}
