"""dpcert ledger: a whole ledger is shown and exported, a damaged one is refused with one line."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest

from dpcert.accounting import epsilon
from dpcert.accounting.ledger import Ledger
from dpcert.accounting.ledger.store import GENESIS, SqliteStore, chained
from dpcert.cli import run
from dpcert.mechanisms import Gaussian, Poisson
from dpcert.mechanisms.serialise import from_plain, to_json

STEP = Poisson(Gaussian(1.1), 0.01)


@pytest.fixture
def recorded(tmp_path: Path) -> Path:
    path = tmp_path / "ledger.sqlite"
    ledger = Ledger(path)
    for _ in range(7):
        ledger.record(STEP)
    ledger.record(Gaussian(20.0))
    return path


def test_a_whole_ledger(recorded, capsys):
    assert run(["ledger", "check", str(recorded), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["whole"]
    assert document["events"] == 8
    assert run(["ledger", "check", str(recorded), "--head", document["head"]]) == 0
    assert "8 events" in capsys.readouterr().out


def test_show_costs_what_the_accountant_says(recorded, capsys):
    assert run(["ledger", "show", str(recorded), "--delta", "1e-5", "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    expected = epsilon(Ledger(recorded).run(), 1e-5)
    assert (shown["epsilon_lower"], shown["epsilon_upper"]) == (expected.lower, expected.upper)
    assert [part["rounds"] for part in shown["mechanisms"]] == [7, 1]
    assert run(["ledger", "show", str(recorded), "--delta", "1e-5"]) == 0
    assert "epsilon in [" in capsys.readouterr().out


def test_the_export_is_complete_and_its_chain_can_be_recomputed(recorded, tmp_path, capsys):
    assert run(["ledger", "export", str(recorded), "-o", str(tmp_path / "events.jsonl")]) == 0
    events = [json.loads(line) for line in (tmp_path / "events.jsonl").read_text().splitlines()]
    head = GENESIS
    for event in events:
        head = chained(head, event["event_id"], to_json(from_plain(event["mechanism"])))
        assert head == event["hash"]
    assert head == Ledger(recorded).head
    assert run(["ledger", "export", str(recorded), "-o", str(tmp_path / "events.jsonl")]) == 2
    assert "a new file" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["check", "show", "export"])
@pytest.mark.parametrize("damage", ["edited", "cut", "emptied", "missing", "other"])
def test_damaged_ledgers_are_refused_and_left_alone(recorded, capsys, command, damage):
    if damage == "edited":
        connection = sqlite3.connect(recorded)
        with connection:
            connection.execute("UPDATE events SET mechanism = replace(mechanism, '1.1', '9.1') WHERE sequence = 2")
        connection.close()
    elif damage == "missing":
        recorded.unlink()
    else:
        content = {"cut": recorded.read_bytes()[:5000], "emptied": b"", "other": b"no ledger at all"}[damage]
        recorded.write_bytes(content)
    assert run(["ledger", command, str(recorded)]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    said = "does not exist" if damage == "missing" else "is not a whole ledger: "
    assert captured.err.startswith(f"error: {recorded} {said}")
    assert captured.err.count("\n") == 1
    assert recorded.exists() == (damage != "missing")


def test_bad_options(recorded, capsys):
    for arguments in (["--delta", "1"], ["--delta", "nan"], ["--delta", "1e-5", "--neighbouring", "sideways"]):
        assert run(["ledger", "show", str(recorded), *arguments]) == 2
        assert "error: --" in capsys.readouterr().err
    assert run(["ledger", "check", str(recorded), "--head", "0" * 64]) == 2


def test_an_export_that_cannot_be_written_is_one_line(recorded, tmp_path, capsys):
    assert run(["ledger", "export", str(recorded), "--output", str(tmp_path / "none" / "events.jsonl")]) == 2
    assert capsys.readouterr().err.startswith("error: --output = ")


def test_a_checkpoint_s_record_is_told_from_a_ledger(tmp_path, capsys):
    SqliteStore(tmp_path / "spent.sqlite").append("0/0", "0" * 64)
    assert run(["ledger", "check", str(tmp_path / "spent.sqlite")]) == 2
    assert "digests of releases" in capsys.readouterr().err
