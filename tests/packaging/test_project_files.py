"""The project's own files: they say the same version, and can be read by what reads them."""

from __future__ import annotations

import re
import runpy
import tomllib
from pathlib import Path

import pytest
from cases import many

import dpcert

ROOT = Path(__file__).parents[2]
MIRRORED = ("accounting", "trainers")
SIZE = r"max_examples=[0-9]"
ROOMS = ("mechanisms", "accounting", "trainers", "proofs_checks")


def test_one_version() -> None:
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert re.search(r"^version: (.*)$", citation, re.MULTILINE)[1] == dpcert.__version__  # type: ignore[index]
    assert 'dynamic = ["version"]' in (ROOT / "pyproject.toml").read_text(encoding="utf-8")


def test_the_changelog_begins_with_this_version_and_a_date() -> None:
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    headings = re.findall(r"^## (.*)$", changes, re.MULTILINE)
    newest = next(heading for heading in headings if heading != "Unreleased")
    assert re.fullmatch(rf"{re.escape(dpcert.__version__)} - \d{{4}}-\d\d-\d\d", newest)


def test_the_name_is_told_apart_and_names_are_not_withdrawn_without_a_warning() -> None:
    assert "SampCert" in (ROOT / "README.md").read_text(encoding="utf-8")
    assert "DeprecationWarning" in (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")


def test_the_floor_of_coverage_is_stated() -> None:
    floor = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["coverage"]["report"]["fail_under"]
    assert (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").count(f"{floor}%") == 2
    assert floor >= 91.6


def strays(root: Path) -> list[str]:
    """Tests of a room that stand beside no folder or module of their name; `worlds` are about all of accounting."""

    def known(room: str, test: Path) -> bool:
        folder = test.parent.relative_to(root / "tests" / room)
        if folder == Path():
            return (root / room / test.name.removeprefix("test_")).is_file()
        return (root / room / folder).is_dir() or folder == Path("worlds")

    found = [(room, test) for room in MIRRORED for test in sorted((root / "tests" / room).rglob("test_*.py"))]
    return [str(test.relative_to(root)) for room, test in found if not known(room, test)]


def test_tests_stand_as_the_rooms_do(tmp_path: Path) -> None:
    assert strays(ROOT) == []
    for made in ("accounting/pairs/noise.py", "tests/accounting/pairs/test_any.py", "tests/accounting/test_noise.py"):
        (tmp_path / made).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / made).touch()
    assert strays(tmp_path) == ["tests/accounting/test_noise.py"]


def test_the_tests_that_the_pages_name_are_there() -> None:
    code = (ROOT / "accounting").rglob("*.py")
    pages = [ROOT / "Makefile", *ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *code]
    texts = [page.read_text(encoding="utf-8") for page in pages]
    named = {name for text in texts for name in re.findall(r"\btests/[\w/]*test_\w+\.py", text)}
    assert len(named) > 20
    assert [name for name in sorted(named) if not (ROOT / name).is_file()] == []


def test_every_page_of_theory_says_what_rests_on_it() -> None:
    hook = runpy.run_path(str(ROOT / "docs" / "hooks" / "theory.py"))
    for page in (ROOT / "docs" / "theory").glob("*.md"):
        files, tests = hook["rests_on"](page.name)
        assert files, page.name
        assert any("/test_" in test for test in tests), page.name
    assert hook["rests_on"]("allocation.md")[0][0] == "accounting/allocation/__init__.py"


def test_one_variable_sets_the_size_of_random_tests(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of all tests that draw cases by hypothesis, but for those of the plugin, whose numbers are their subject."""
    for told, size in (("1", 60), ("2.5", 150), ("0.001", 1)):
        monkeypatch.setenv("DPCERT_TEST_MULTIPLIER", told)
        assert many(60) == size
    written = [file.name for file in (ROOT / "tests").rglob("test_*.py") if re.search(SIZE, file.read_text("utf-8"))]
    assert written == ["test_pytest_plugin.py"]


def cited_in_vain(root: Path, places: tuple[str, ...]) -> list[str]:
    """Sections of pages that comments and docstrings name, and that are neither headings nor bold beginnings there."""
    found = []
    for file in sorted(file for place in places for file in (root / place).rglob("*.py")):
        text = re.sub(r"\s*\n\s*(# )?", " ", file.read_text(encoding="utf-8"))
        for page, section in re.findall(r'docs/([\w/]+\.md),? (?:section )?"([^"]+)"', text):
            heading = re.compile(rf"^(#+ |\*\*){re.escape(section.rstrip('.,'))}", re.MULTILINE)
            if not heading.search((root / "docs" / page).read_text(encoding="utf-8")):
                found.append(f"{file.relative_to(root)}: {page}, {section}")
    return found


def test_the_sections_that_docstrings_cite_are_there(tmp_path: Path) -> None:
    assert cited_in_vain(ROOT, (*ROOMS, "tests")) == []
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "proof.md").write_text("# Proof\n\n## One of t\n", encoding="utf-8")
    page = "docs/proof.md"
    (tmp_path / "one.py").write_text(f'# Why ({page}, "One of\n# t"), and {page}, "Two of t".', encoding="utf-8")
    assert cited_in_vain(tmp_path, (".",)) == ["one.py: proof.md, Two of t"]


@pytest.mark.parametrize("path", sorted((ROOT / ".github").rglob("*.yml")), ids=lambda path: path.name)
def test_workflows_and_templates_are_yaml(path: Path) -> None:
    yaml = pytest.importorskip("yaml")
    read = yaml.safe_load(path.read_text(encoding="utf-8"))
    assert isinstance(read, dict)
    if path.parent.name == "workflows":
        assert set(read) >= {"name", "jobs", "permissions"}
