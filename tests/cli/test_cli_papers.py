"""dpcert papers: the table, one row's evidence, one JSON document, and errors."""

from __future__ import annotations

import json

import pytest

from dpcert.cli import run
from dpcert.proofs_checks.papers import EvidenceError, Row
from dpcert.proofs_checks.papers import register as register_module
from dpcert.proofs_checks.papers.judging import Judged


def test_only_shows_the_evidence(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["papers", "--only", "pmtl-t7-step"]) == 0
    shown = capsys.readouterr().out
    for part in (
        "PMTL-T7-step",
        "false",
        "refuted by a certified counterexample",
        "counterexample",
        "under a condition",
        "passes",
    ):
        assert part in shown


def test_json_is_one_document(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["papers", "--only", "PMTL-A1-27", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    (row,) = document["rows"]
    assert row["status"] == "false"
    assert row["grade"] == "refuted by a certified counterexample"
    assert row["remedy"] == "under a condition"
    assert row["printed"][0]["holds"] is False
    assert row["repaired"]["holds"] is True
    assert document["counts"]["false"] == 1
    assert document["without_status"] == []


def test_table_counts(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    chosen = tuple(row for row in register_module() if row.id in ("PMTL-T7", "PMTL-T7-79", "PMTL-A1-25"))
    monkeypatch.setattr(
        "dpcert.proofs_checks.papers.register",
        lambda paper=None, only=None, extra=None: tuple(r for r in chosen if only in (None, r.id)),
    )
    assert run(["papers", "--quick", "--jobs", "1"]) == 0
    shown = capsys.readouterr().out
    assert "3 statements: 1 holds; 1 false; 1 left open" in shown
    assert "(vacuous)" in shown


@pytest.mark.parametrize("columns", [50, 80, 160])
def test_however_narrow_the_terminal_no_word_of_a_row_is_lost(columns: int, capsys, monkeypatch) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    (row,) = (row for row in register_module() if row.id == "PMTL-T7-79")
    monkeypatch.setattr("dpcert.proofs_checks.papers.register", lambda *_: (row,))
    assert run(["papers", "--jobs", "1"]) == 0
    shown = capsys.readouterr().out
    assert max(map(len, shown.splitlines())) <= columns
    assert "…" not in shown
    if columns < 110:  # else the words of a cell stand below each other
        assert row.readings[0].text in " ".join(shown.split())


def test_evidence_that_falls_short_is_an_error(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuses(row: Row) -> None:
        raise EvidenceError(f"{row.id}: evidence cannot fail")

    monkeypatch.setattr("dpcert.proofs_checks.papers.judging.judge", refuses)
    assert run(["papers", "--only", "PMTL-A1-27", "--json"]) == 1
    shown = capsys.readouterr()
    assert json.loads(shown.out)["without_status"] == [
        {"id": "PMTL-A1-27", "reason": "PMTL-A1-27: evidence cannot fail"}
    ]
    assert "PMTL-A1-27: evidence cannot fail" in shown.err


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (["--paper", "pmlt"], ["--paper", "'pmlt'", "pmtl"]),
        (["--only", "PMTL-A1-28"], ["--only", "PMTL-A1-2"]),
        (["--only", "xyz"], ["--only", "an id of the register"]),
        (["--quick", "--pages", "somewhere"], ["--pages", "every row"]),
    ],
)
def test_bad_input(arguments: list[str], parts: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["papers", *arguments]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    for part in parts:
        assert part in shown.err


def test_what_is_not_installed_is_said_before_the_rows_are_checked(monkeypatch, capsys):
    monkeypatch.setattr("dpcert.cli.papers.find_spec", lambda name: None if name == "z3" else object())
    monkeypatch.setattr("dpcert.cli.papers._judge_all", lambda *_: pytest.fail(capsys.readouterr().err))
    with pytest.raises(pytest.fail.Exception, match="note: z3 is not installed: rows that need it will have no status"):
        run(["papers"])


def test_quick_says_which_rows_it_leaves_out(monkeypatch, capsys):
    judged = []
    monkeypatch.setattr("dpcert.cli.papers._judge_all", lambda rows, *_: judged.extend(rows) or Judged((), ()))
    assert run(["papers", "--paper", "svt", "--quick"]) == 0
    assert "note: --quick leaves out 2 rows that take long: SVT-A4-audit, SVT-A6-audit" in capsys.readouterr().err
    assert "SVT-A4" in {row.id for row in judged}
    assert "SVT-A4-audit" not in {row.id for row in judged}
