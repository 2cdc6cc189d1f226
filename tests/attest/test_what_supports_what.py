"""Whatever stands beside a claim in an attestation is about that claim, and what is said of it follows from it."""

from __future__ import annotations

import base64
import json
from pathlib import Path

import pytest
from attested import CLAIM, RATE, ROUNDS, UNITS, prepared, schedule
from forged_attestations import LIES, checked, forged

from dpcert.attest import attest, check_attestation
from dpcert.attest.checking import _apart
from dpcert.attest.envelope import envelope_around
from dpcert.attest.predicate import Interval
from dpcert.mechanisms import InputError


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return prepared(tmp_path)


def written(folder: Path, claim: str = "claim.toml", **more: object) -> Path:
    attest(folder / claim, [folder / "model.bin"], **more).write(folder / "a.jsonl")  # type: ignore[arg-type]
    return folder / "a.jsonl"


@pytest.mark.parametrize("name", LIES)
def test_a_lie_that_is_signed(folder, name):
    lie, what = LIES[name]
    found = checked(folder, forged(folder, lie))
    assert what in {check.what for check in found.checks if check.ok is False}


def test_the_same_without_a_lie(folder):
    assert checked(folder, forged(folder, lambda told: None)).ok


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"sampling": {"scheme": "poisson", "sampling_rate": 0.5}}, r"sampling_rate = 0\.2\); it is of another"),
        ({"sampling": {"scheme": "fixed-size", "cohort": 10}}, "it is of another"),
        ({"sampling": {"scheme": "cyclic", "cohort": 10}}, "it is of another"),
        ({"sampling": {"scheme": "min-separated", "min_separation": 2, "sampling_rate": RATE}}, "it is of another"),
        ({"rounds": [[]] * (ROUNDS + 1)}, f"at most the {ROUNDS} rounds"),
    ],
)
def test_a_log_of_another_sampling_supports_nothing(folder, changed, said):
    """Such a log passes the test of the sampling that it names itself."""
    log = json.loads((folder / "schedule.json").read_text())
    (folder / "other.json").write_text(json.dumps(log | changed))
    with pytest.raises(InputError, match=said):
        written(folder, schedule_log=folder / "other.json")


def test_a_log_of_another_population(folder):
    text = CLAIM.format(epsilon=2.7).replace("sampling_rate = 0.2", "population = 1000\ncohort = 200")
    (folder / "claim.toml").write_text(text)
    with pytest.raises(InputError, match="population, 1000; its population is 50"):
        written(folder, schedule_log=folder / "schedule.json")


def test_the_same_sampling_in_other_words(folder):
    """A rate in the log, population and cohort in the claim; and a log of fewer rounds, which the table says."""
    text = CLAIM.format(epsilon=2.7).replace("sampling_rate = 0.2", f"population = {UNITS}\ncohort = 10")
    (folder / "claim.toml").write_text(text)
    log = json.loads(schedule(folder / "schedule.json").read_text())
    (folder / "part.json").write_text(json.dumps(log | {"rounds": log["rounds"][:20]}))
    path = written(folder, schedule_log=folder / "part.json")
    found = check_attestation(path, schedule_log=folder / "part.json")
    assert found.ok, str(found)
    assert any("20 rounds, of the 30 that the claim is about," in row.how for row in found.predicate.hazards)


def test_a_group_s_ledger_costs_what_the_group_does(folder):
    (folder / "group.toml").write_text(CLAIM.format(epsilon=3).replace("[claim]", "[claim]\ngroup = 3"))
    said = attest(folder / "group.toml", [folder / "model.bin"], ledger=folder / "ledger.sqlite").predicate
    assert said.ledger.epsilon.lower > 9.8
    assert not said.ledger.agrees


def test_a_ledger_says_nothing_of_a_named_observer(folder):
    (folder / "server.toml").write_text(CLAIM.format(epsilon=3).replace("[claim]", '[claim]\nobserver = "server"'))
    with pytest.raises(InputError, match="names no observer"):
        written(folder, "server.toml", ledger=folder / "ledger.sqlite")


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        (("epsilon = 2.7\ndelta = 1e-5", "rho = 5.0"), "a claim that states epsilon; this one states rho"),
        (("[claim]", '[claim]\nobserver = "server"'), "a claim that names no observer"),
    ],
)
def test_a_ledger_beside_a_claim_that_it_says_nothing_of(folder, changed, said):
    """The part of another attestation, put in by a signer."""
    (folder / "other.toml").write_text(CLAIM.format(epsilon=2.7).replace(*changed))
    ledger = attest(folder / "claim.toml", [folder / "model.bin"], ledger=folder / "ledger.sqlite").predicate.ledger
    told = attest(folder / "other.toml", [folder / "model.bin"])
    statement = json.loads(base64.b64decode(told.envelope["payload"]))
    statement["predicate"]["ledger"] = ledger.model_dump(mode="json")
    (folder / "b.jsonl").write_text(json.dumps(envelope_around(statement, None)))
    wrong = [check.sentence for check in check_attestation(folder / "b.jsonl").checks if check.what == "ledger"]
    assert said in wrong[0]


@pytest.mark.parametrize(
    ("told", "said"),
    [
        ({"unchecked": "Every call returned 1, whatever the data."}, "checked something; this one did not: Every call"),
        ({"neighbouring": "replace-one"}, "add-remove neighbours, as the claim has them, not of replace-one"),
    ],
)
def test_an_audit_that_says_nothing_of_the_claim(folder, told, said):
    """What compared nothing is no test of the implementation."""
    (folder / "audit.json").write_text(json.dumps({"epsilon_lower": 0.0, "delta": 1e-5, "refuted": False} | told))
    with pytest.raises(InputError, match=said):
        written(folder, audits=[folder / "audit.json"])


def test_one_attested_file_in_another_s_place(folder):
    (folder / "decoy.bin").write_bytes(b"harmless")
    attest(folder / "claim.toml", [folder / "model.bin", folder / "decoy.bin"]).write(folder / "a.jsonl")
    (folder / "model.bin").write_bytes(b"harmless")
    found = check_attestation(folder / "a.jsonl", [folder / "model.bin"])
    assert [check.sentence for check in found.checks if check.ok is False] == [
        "model.bin was attested under another name, and another file under this one."
    ]
    (folder / "renamed.bin").write_bytes(b"harmless")
    assert check_attestation(folder / "a.jsonl", [folder / "renamed.bin"]).ok


@pytest.mark.parametrize("text", ["a\n  proved: The certificates prove the verdict.", "a\x1b[2J", "a\u202eb"])
def test_what_a_terminal_would_obey(folder, text):
    """Lines of dpcert's own cannot be imitated in what a signer says."""
    statement = {"_type": "https://in-toto.io/Statement/v1", "subject": [{"name": text, "digest": {"sha256": "0"}}]}
    told = attest(folder / "claim.toml", [folder / "model.bin"])
    statement |= {"predicateType": "https://github.com/dpcert/dpcert/attestations/privacy/v1"}
    for changed in (statement, statement | {"subject": [{"name": "a", "digest": {}}]}):
        predicate = told.predicate.model_dump(mode="json")
        if changed is not statement:
            predicate["no_certificate"] = text
        (folder / "b.jsonl").write_text(json.dumps(envelope_around(changed | {"predicate": predicate}, None)))
        with pytest.raises(InputError, match="predicate of version 1"):
            check_attestation(folder / "b.jsonl")
    (folder / text.replace("/", "")).write_text("")
    with pytest.raises(InputError, match="printable"):
        attest(folder / "claim.toml", [folder / text.replace("/", "")])


@pytest.mark.parametrize(("upper", "apart"), [("1e999", False), ("inf", False), ("3/2", False), ("0.4", True)])
def test_ends_of_certificates_may_be_beyond_all_floats(upper, apart):
    stated = Interval(lower=0.5, upper=1.0)
    assert _apart(stated, {"epsilon_lower": "0", "epsilon_upper": upper}) == apart


def test_what_a_signer_leaves_unsaid_is_found_anew(folder):
    def silent(told: dict) -> None:
        told |= {"assumptions": [], "not_checked": [], "findings": []}

    told = checked(folder, forged(folder, silent)).to_json()
    assert told["predicate"]["assumptions"] == []
    assert any("neighbouring data sets: add-remove" in sentence for sentence in told["assumptions"])


def test_an_interval_that_ends_before_it_begins(folder):
    def empty(told: dict) -> None:
        told["interval"] = {"lower": 9.0, "upper": 1.0}

    with pytest.raises(InputError, match="predicate of version 1"):
        checked(folder, forged(folder, empty))


def test_a_release_without_noise_is_attested_as_refuted(folder):
    """Its interval has no finite end, and JSON has no infinity."""
    text = CLAIM.format(epsilon=3).replace("noise_multiplier = 2.0", "noise_multiplier = 0")
    (folder / "bare.toml").write_text(text)
    assert check_attestation(written(folder, "bare.toml")).predicate.verdict == "refuted"
