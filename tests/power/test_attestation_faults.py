"""Each comparison of a check left out, planted: the lie that it is there for is then believed."""

from __future__ import annotations

from pathlib import Path

import pytest
from attested import prepared
from forged_attestations import LIES, checked, forged

from dpcert.attest import attest, checking, parts

LEFT_OUT = {
    "an interval below the proved one": (checking, "_apart", lambda *_: False),
    "a ledger that is said to cost less than it does": (parts, "ledger_part", None),
    "an audit above the claim that is said to contradict nothing": (parts, "above", lambda *_: False),
    "hazards that nobody covers are left out": (checking, "hazards", None),
}


@pytest.mark.parametrize("name", LEFT_OUT)
def test_a_comparison_that_is_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    folder = prepared(tmp_path)
    path = forged(folder, LIES[name][0])
    home, guard, fault = LEFT_OUT[name]
    said = checking.opened(path)[1]["predicate"]
    if guard == "ledger_part":  # believed as it is said
        read = checking.Predicate.model_validate_json
        part = read(checking.json.dumps(said)).ledger
        monkeypatch.setattr(home, guard, lambda *_: part)
    elif guard == "hazards":  # only what is there is looked at
        real = checking.hazards
        there = {row["hazard"] for row in said["hazards"]}
        monkeypatch.setattr(home, guard, lambda evidence: [row for row in real(evidence) if row.hazard in there])
    else:
        monkeypatch.setattr(home, guard, fault)
    assert checked(folder, path).ok


def test_any_log_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A log of a quarter of the rate passes its own test, and amplification is then called tested."""
    folder = prepared(tmp_path)
    claim = (folder / "claim.toml").read_text().replace("sampling_rate = 0.2", "sampling_rate = 0.05")
    (folder / "claim.toml").write_text(claim)
    monkeypatch.setattr(parts, "other_sampling", lambda *_: "")
    told = attest(folder / "claim.toml", [folder / "model.bin"], schedule_log=folder / "schedule.json").predicate
    assert {row.hazard: row.basis for row in told.hazards}["sampling and amplification"] == "tested"
    assert not told.schedule.refuted
