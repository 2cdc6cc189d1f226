"""The project's own files: they say the same version, and can be read by what reads them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import dpcert

ROOT = Path(__file__).parents[2]


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


@pytest.mark.parametrize("path", sorted((ROOT / ".github").rglob("*.yml")), ids=lambda path: path.name)
def test_workflows_and_templates_are_yaml(path: Path) -> None:
    yaml = pytest.importorskip("yaml")
    read = yaml.safe_load(path.read_text(encoding="utf-8"))
    assert isinstance(read, dict)
    if path.parent.name == "workflows":
        assert set(read) >= {"name", "jobs", "permissions"}
