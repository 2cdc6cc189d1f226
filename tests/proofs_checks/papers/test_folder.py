"""A paper is a folder: found by entry point or by path, with clear errors for what is none."""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from dpcert.mechanisms import InputError
from dpcert.proofs_checks.papers import Kind, Status, judge, papers, register
from dpcert.proofs_checks.papers.row import Check

PAPER = """
key = "squares"
title = "On squares"
about = "Squares."

[[row]]
id = "SQ-1"
place = "Section 1, (1)"
check = ".checks:at_most"
says = "x^2 <= 3 on [0, 2]."
claim = {bound = 3}
domain = {largest = 2}
repaired = {says = "x^2 <= 4 there.", claim = {bound = 4}}

[[row]]
id = "SQ-2"
like = "SQ-1"
place = "Section 2, (2)"
domain = {largest = 2.5}
repaired = {says = "x^2 <= 6.25 there.", claim = {bound = 6.25}}
"""

CHECKS = '''
"""x^2 <= bound on [0, largest]."""

from dpcert.proofs_checks.papers import Finding, Statement
from dpcert.proofs_checks.papers.row import EXACT


def at_most(statement: Statement) -> Finding:
    worst = statement.domain["largest"] ** 2
    return Finding(worst <= statement.claim["bound"], f"the largest square is {worst}", basis=EXACT)
'''


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "paper.toml").write_text(PAPER)
    (tmp_path / "checks.py").write_text(CHECKS)
    return tmp_path


def test_a_folder_is_a_paper(folder: Path) -> None:
    first, second = register("squares", extra=folder)
    assert judge(first).status is Status.FALSE
    assert judge(first).why == "the largest square is 4"
    assert judge(second).why == "the largest square is 6.25"
    assert second.place == "Section 2, (2)"


def test_an_installed_package_is_found_by_its_entry_point(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "paper_on_squares"
    package.mkdir()
    for name, text in (("paper.toml", PAPER), ("checks.py", CHECKS), ("__init__.py", "")):
        (package / name).write_text(text)
    monkeypatch.syspath_prepend(str(tmp_path))
    point = EntryPoint("squares", "paper_on_squares", "dpcert.papers")
    monkeypatch.setattr(sys.modules["dpcert.proofs_checks.papers.register"], "entry_points", lambda group: [point])
    papers.cache_clear()
    try:
        assert [row.id for row in register("squares")] == ["SQ-1", "SQ-2"]
        assert judge(register(only="sq-1")[0]).status is Status.FALSE
    finally:
        papers.cache_clear()
        for name in [name for name in sys.modules if name.startswith("paper_on_squares")]:
            del sys.modules[name]


@pytest.mark.parametrize(
    ("before", "after", "parts"),
    [
        ('key = "squares"', 'key = "mocha"', ["mocha", "no other paper"]),
        ('id = "SQ-2"', 'id = "PMTL-E2"', ["PMTL-E2", "no other row"]),
        ('like = "SQ-1"', 'like = "PMTL-E22"', ["PMTL-E22", "such as"]),
        ('title = "On squares"', "", ["no title"]),
        ("claim = {bound = 3}", "claims = {bound = 3}", ["SQ-1", "claims", "claim"]),
        ('says = "x^2 <= 4 there.", ', "", ["SQ-1", "repaired", "no says"]),
        ('says = "x^2 <= 3', "says = x^2 <= 3", ["TOML"]),
    ],
)
def test_what_is_wrong_is_named(folder: Path, before: str, after: str, parts: list[str]) -> None:
    assert before in PAPER
    (folder / "paper.toml").write_text(PAPER.replace(before, after))
    with pytest.raises(InputError) as error:
        register(extra=folder)
    for part in parts:
        assert part in str(error.value)


def test_no_folder_is_no_paper(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"paper\.toml"):
        register(extra=tmp_path / "nothing")


@pytest.mark.parametrize(
    ("name", "place"),
    [(".a:f", "x.y.a:f"), ("..a.b:f", "x.a.b:f"), ("z.a:f", "z.a:f")],
)
def test_the_full_name_of_a_check(name: str, place: str) -> None:
    assert Check("x.y", name).place == place


def test_every_check_exists() -> None:
    for row in register():
        module, function = row.function.split(":")
        assert callable(getattr(import_module(module), function)), row.id


def test_every_paper_says_what_its_symbols_stand_for() -> None:
    for key, paper in papers().items():
        assert paper.notation, key
        page = (Path(__file__).parents[3] / "docs" / "papers" / f"{key}.md").read_text()
        assert page.index("| symbol | here it stands for |") < page.index("## All rows")


def test_printed_rows_have_a_formula() -> None:
    assert [row.id for row in register() if row.kind is Kind.PRINTED and not row.formula] == []
