"""What an honest attestation says, and that every way of tampering with one is caught: each attack is planted here."""

from __future__ import annotations

import base64
import json
import tracemalloc
from pathlib import Path

import pytest
from attested import CLAIM, keys, prepared, schedule

from dpcert.accounting.ledger import Ledger
from dpcert.attest import attest, check_attestation, read_private_key, read_public_key
from dpcert.attest.envelope import envelope_around
from dpcert.attest.parts import digests
from dpcert.attest.predicate import PREDICATES, schema
from dpcert.cli import run
from dpcert.mechanisms import Gaussian, InputError


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return prepared(tmp_path)


def made(folder: Path, claim: str = "claim.toml", key: str | None = "key", **more) -> Path:
    signer = None if key is None else read_private_key(folder / f"{key}.pem")
    found = attest(folder / claim, [folder / "model.bin"], signer=signer, **more)
    found.write(folder / "a.intoto.jsonl")
    return folder / "a.intoto.jsonl"


def whole(folder: Path, **more) -> Path:
    return made(folder, schedule_log=folder / "schedule.json", ledger=folder / "ledger.sqlite", **more)


def made_with_log(folder: Path) -> Path:
    return made(folder, schedule_log=folder / "schedule.json")


def wrong(folder: Path, path: Path, **more) -> set[str]:
    """What a check finds wrong."""
    found = check_attestation(path, [folder / "model.bin"], key=read_public_key(folder / "key.pub"), **more)
    assert not found.ok
    return {check.what for check in found.checks if check.ok is False}


def opened(path: Path) -> dict:
    return json.loads(base64.b64decode(json.loads(path.read_text())["payload"]))


def signed_again(folder: Path, statement: dict, key: str = "key") -> Path:
    """By a signer who signs anything."""
    path = folder / "again.intoto.jsonl"
    path.write_text(json.dumps(envelope_around(statement, read_private_key(folder / f"{key}.pem"))))
    return path


def test_an_honest_one_is_proved_tested_and_logged(folder):
    path = whole(folder)
    found = check_attestation(
        path,
        [folder / "model.bin"],
        key=read_public_key(folder / "key.pub"),
        schedule_log=folder / "schedule.json",
        ledger=folder / "ledger.sqlite",
    )
    assert found.ok, str(found)
    assert {(check.what, check.basis) for check in found.checks if check.ok} == {
        ("signature", "tested"),
        ("subjects", "tested"),
        ("claim", "tested"),
        ("certificate", "proved"),
        ("verdict", "proved"),
        ("hazards", "tested"),
        ("schedule", "tested"),
        ("ledger", "logged"),
    }
    grounds = {row["hazard"]: row["basis"] for row in opened(path)["predicate"]["hazards"]}
    assert grounds["strength of epsilon"] == "proved"
    assert grounds["sampling and amplification"] == "tested"
    assert grounds["composition of releases"] == "logged"
    assert grounds["unit of privacy"] == "asserted"


def test_nothing_asserted_is_ever_proved(folder):
    """Without logs, audits or a certificate every other row is asserted or not covered."""
    path = made(folder)
    proved = [row for row in opened(path)["predicate"]["hazards"] if row["basis"] == "proved"]
    assert [row["hazard"] for row in proved] == ["strength of epsilon"]
    found = check_attestation(path)
    assert [check.what for check in found.checks if check.ok and check.basis == "proved"] == ["certificate", "verdict"]
    assert {check.what for check in found.checks if check.ok is None} == {"signature", "subjects", "schedule", "ledger"}


def test_nothing_secret_is_in_it(folder):
    text = base64.b64decode(json.loads(whole(folder).read_text())["payload"]).decode()
    rounds = json.loads((folder / "schedule.json").read_text())["rounds"]
    assert not any(json.dumps(cohort) in text or str(cohort) in text for cohort in rounds)
    assert "rounds" not in opened(whole(folder))["predicate"]["schedule"] or "PRIVATE KEY" not in text


@pytest.mark.parametrize(("claim", "verdict"), [("tight.toml", "refuted"), ("claim.toml", "holds")])
def test_the_verdict_is_attested_as_it_is(folder, claim, verdict):
    path = made(folder, claim)
    assert opened(path)["predicate"]["verdict"] == verdict
    assert check_attestation(path).ok


def test_unsigned_says_so(folder):
    path = made(folder, key=None)
    assert check_attestation(path).checks[0].ok is None
    assert wrong(folder, path) == {"signature"}


def test_signed_by_another(folder):
    assert wrong(folder, made(folder, key="other")) == {"signature"}


def test_another_model(folder):
    path = made(folder)
    (folder / "model.bin").write_bytes(b"other weights")
    assert wrong(folder, path) == {"subjects"}


@pytest.mark.parametrize("where", [["predicate", "claim", "toml"], ["predicate", "verdict"], ["subject"]])
def test_changed_after_signing(folder, where):
    path = made(folder)
    document, statement = json.loads(path.read_text()), opened(path)
    part = statement
    for key in where[:-1]:
        part = part[key]
    part[where[-1]] = {"toml": CLAIM.format(epsilon=27), "verdict": "refuted", "subject": statement["subject"] * 2}[
        where[-1]
    ]
    document["payload"] = base64.b64encode(json.dumps(statement).encode()).decode()
    path.write_text(json.dumps(document))
    assert "signature" in wrong(folder, path)


def test_a_loosened_claim_that_is_signed_again(folder):
    """Text, digest and numbers agree with each other; the certificate is of the claim as it was."""
    statement, loose = opened(made(folder)), opened(made(folder, "loose.toml"))
    statement["predicate"]["claim"] = loose["predicate"]["claim"]
    assert wrong(folder, signed_again(folder, statement)) == {"certificate", "verdict", "hazards"}


def test_a_certificate_of_another_claim(folder):
    statement, loose = opened(made(folder)), opened(made(folder, "loose.toml"))
    statement["predicate"]["certificates"] = loose["predicate"]["certificates"]
    assert wrong(folder, signed_again(folder, statement)) == {"certificate", "verdict", "hazards"}
    (folder / "c.json").write_text(json.dumps(loose["predicate"]["certificates"][0]["document"]))
    with pytest.raises(InputError, match="of another"):
        made(folder, certificate=folder / "c.json")


def test_a_verdict_that_does_not_follow(folder):
    statement = opened(made(folder, "tight.toml"))
    statement["predicate"]["verdict"] = "holds"
    assert wrong(folder, signed_again(folder, statement)) == {"claim", "verdict", "hazards"}
    statement["predicate"]["interval"] = {"lower": 0.0, "upper": 1.0}
    assert wrong(folder, signed_again(folder, statement)) == {"certificate", "verdict", "hazards"}


CURVE = CLAIM.replace("epsilon = {epsilon}\ndelta = 1e-5", "curve = [[2.7, 1e-5], [3.6, 1e-7]]")


def test_a_certificate_that_decides_nothing_proves_no_verdict(folder):
    """Of a curve one point's certificate alone: the verdict is asserted, and cannot be called proved."""
    (folder / "curve.toml").write_text(CURVE)
    whole = opened(made(folder, "curve.toml"))
    assert len(whole["predicate"]["certificates"]) == 2
    whole["predicate"]["certificates"].pop()
    assert wrong(folder, signed_again(folder, whole)) == {"verdict", "hazards"}
    whole["predicate"]["verdict_basis"] = "asserted"
    for row in whole["predicate"]["hazards"]:
        row["basis"] = "asserted" if row["hazard"] == "strength of epsilon" else row["basis"]
    assert wrong(folder, signed_again(folder, whole)) == set()


def test_a_hazard_with_a_stronger_ground_than_there_is(folder):
    statement = opened(made(folder))
    next(row for row in statement["predicate"]["hazards"] if row["hazard"] == "unit of privacy")["basis"] = "proved"
    assert wrong(folder, signed_again(folder, statement)) == {"hazards"}


def test_what_is_said_of_a_ledger_is_counted_again(folder):
    Ledger(folder / "ledger.sqlite", run_id="later").record(Gaussian(0.5), "a loud one")
    statement = opened(whole(folder))
    statement["predicate"]["ledger"] |= {"agrees": True, "sentence": "All is well."}
    assert wrong(folder, signed_again(folder, statement), ledger=folder / "ledger.sqlite") == {"ledger"}


def test_files_that_were_not_compared_are_named(folder):
    (folder / "tokens.json").write_text("{}")
    found = attest(folder / "claim.toml", [folder / "model.bin", folder / "tokens.json"])
    found.write(folder / "two.jsonl")
    checks = check_attestation(folder / "two.jsonl", [folder / "model.bin"]).checks
    assert [check.sentence for check in checks if check.what == "subjects" and check.ok is None] == [
        "Files that were attested and not compared: tokens.json."
    ]


def test_large_files_are_read_in_pieces(folder):
    with (folder / "large.bin").open("wb") as handle:
        handle.truncate(64 * 2**20)
    tracemalloc.start()
    digests([folder / "large.bin"])
    assert tracemalloc.get_traced_memory()[1] < 2**21
    tracemalloc.stop()


def test_an_audit_above_the_claim_contradicts_it(folder):
    told = {"epsilon_lower": 3.0, "delta": 1e-5, "refuted": False, "alpha": 0.05}
    (folder / "audit.json").write_text(json.dumps(told))
    assert wrong(folder, made(folder, audits=[folder / "audit.json"])) == {"audit"}
    (folder / "audit.json").write_text(json.dumps(told | {"delta": 0.0}))
    assert check_attestation(made(folder, audits=[folder / "audit.json"])).ok


def test_a_claim_that_says_something_else_than_its_text(folder):
    statement = opened(made(folder))
    statement["predicate"]["claim"]["claimed"]["epsilon"] = 0.1
    assert wrong(folder, signed_again(folder, statement)) == {"claim"}


def test_an_older_ledger_head(folder):
    path = whole(folder)
    Ledger(folder / "ledger.sqlite", run_id="later").record(Gaussian(4.0), "one more")
    assert wrong(folder, path, ledger=folder / "ledger.sqlite") == {"ledger"}


def test_another_ledger(folder):
    path = whole(folder)
    Ledger(folder / "l2.sqlite", run_id="x").record(Gaussian(40.0), "all")
    assert wrong(folder, path, ledger=folder / "l2.sqlite") == {"ledger"}


def test_a_ledger_that_costs_more_than_the_claim(folder):
    Ledger(folder / "ledger.sqlite", run_id="later").record(Gaussian(0.5), "a loud one")
    path = whole(folder)
    assert "not shown to be at most" in opened(path)["predicate"]["ledger"]["sentence"]
    assert wrong(folder, path, ledger=folder / "ledger.sqlite") == {"ledger"}


def test_another_schedule_and_one_that_is_not_poisson(folder):
    path = whole(folder)
    schedule(folder / "other.json", seed=2)
    assert wrong(folder, path, schedule_log=folder / "other.json") == {"schedule"}
    schedule(folder / "fixed.json", size=10)
    path = made(folder, schedule_log=folder / "fixed.json")
    assert opened(path)["predicate"]["schedule"]["refuted"] is True
    assert wrong(folder, path) == {"schedule"}


def test_a_schedule_that_could_be_guessed_from_its_digest(folder):
    log = {"population": 4, "sampling": {"scheme": "poisson", "sampling_rate": 0.2}, "rounds": [[0, 1], [2]]}
    (folder / "short.json").write_text(json.dumps(log))
    with pytest.raises(InputError, match="trying all logs"):
        made(folder, schedule_log=folder / "short.json")


def test_a_newer_version_is_refused_by_name(folder):
    statement = opened(made(folder))
    statement["predicateType"] = f"{PREDICATES}v2"
    with pytest.raises(InputError, match="newer dpcert"):
        check_attestation(signed_again(folder, statement))
    statement["predicateType"] = "https://example.org/other"
    with pytest.raises(InputError, match="about privacy"):
        check_attestation(signed_again(folder, statement))


@pytest.mark.parametrize(
    "text",
    [
        "[" * 1_000_000,
        '{"payload": "e30=", "payload": "e30=", "payloadType": "application/vnd.in-toto+json", "signatures": []}',
        '{"payload": "!", "payloadType": "application/vnd.in-toto+json", "signatures": []}',
        '{"payload": "e30=", "payloadType": "application/vnd.in-toto+json", "signatures": [], "more": 1}',
        '{"payload": NaN, "payloadType": "application/vnd.in-toto+json", "signatures": []}',
    ],
)
def test_what_is_no_attestation_is_bad_input(folder, text):
    (folder / "bad.jsonl").write_text(text)
    with pytest.raises(InputError):
        check_attestation(folder / "bad.jsonl")


def test_an_unknown_key_in_the_predicate_is_refused(folder):
    statement = opened(made(folder))
    statement["predicate"]["proved"] = True
    with pytest.raises(InputError, match="version 1"):
        check_attestation(signed_again(folder, statement))


def test_links_and_missing_files_are_no_subjects(folder):
    (folder / "link.bin").symlink_to(folder / "model.bin")
    for name in ("link.bin", "nothing.bin"):
        with pytest.raises(InputError, match="--subject"):
            attest(folder / "claim.toml", [folder / name])


def test_a_folder_is_all_of_its_files(folder):
    (folder / "weights" / "deep").mkdir(parents=True)
    (folder / "weights" / "deep" / "a.bin").write_bytes(b"a")
    (folder / "weights" / "b.bin").write_bytes(b"b")
    found = attest(folder / "claim.toml", [folder / "weights"])
    assert sorted(found.subjects) == ["weights/b.bin", "weights/deep/a.bin"]


def test_keys(folder, monkeypatch):
    pem, _ = keys(folder, "locked", passphrase=b"secret")
    assert read_private_key(pem, lambda: "secret") is not None
    monkeypatch.setenv("DPCERT_PASSPHRASE", "secret")  # nothing is read from the environment
    for ask, said in ((None, "a terminal to ask for the key's passphrase"), (lambda: "wrong", "wrong passphrase")):
        with pytest.raises(InputError, match=said):
            read_private_key(pem, ask)
    with pytest.raises(InputError, match="a public key"):
        read_public_key(folder / "key.pem")
    with pytest.raises(InputError, match="a private key"):
        read_private_key(folder / "key.pub")


def test_an_audit_s_lower_bound_is_told(folder):
    (folder / "audit.json").write_text(json.dumps({"epsilon_lower": 0.7, "refuted": False, "alpha": 0.05}))
    path = made(folder, audits=[folder / "audit.json"])
    assert "at least 0.7" in str(check_attestation(path))
    (folder / "audit.json").write_text("{}")
    with pytest.raises(InputError, match="--audit"):
        made(folder, audits=[folder / "audit.json"])


def test_the_shipped_schema_is_the_predicate_s(folder):
    jsonschema = pytest.importorskip("jsonschema")
    shipped = json.loads((Path(__file__).parents[2] / "src/dpcert/attestation.schema.json").read_text())
    assert shipped == schema()
    jsonschema.validate(opened(whole(folder)), shipped)


def test_the_commands(folder, capsys):
    out, model = folder / "b.intoto.jsonl", folder / "model.bin"
    card = folder / "README.md"
    card.write_text("---\nlicense: mit\n---\n# Model\n\nText.\n")
    asked = [
        "attest",
        str(folder / "claim.toml"),
        "--subject",
        str(model),
        "--out",
        str(out),
        "--model-card",
        str(card),
    ]
    for _ in range(2):  # a second time refreshes the section
        assert run([*asked, "--key", str(folder / "key.pem")]) == 0
    assert "proved: the verdict, by 1 certificate" in capsys.readouterr().out
    text = card.read_text()
    assert text.count("## Differential privacy") == text.count("dpcert_verdict") == 1
    assert text.startswith("---\nlicense: mit\n")
    assert "# Model\n\nText." in text
    checked = ["check", str(out), "--subject", str(model), "--key", str(folder / "key.pub")]
    assert run(checked) == 0
    assert run([*checked, "--json"]) == 0
    assert json.loads(capsys.readouterr().out.partition("\n{")[2].join(["{", ""]))["ok"] is True
    capsys.readouterr()
    assert run(["check", str(out), "--key", str(folder / "other.pub")]) == 1
    assert capsys.readouterr().out.startswith("Do not rely on this attestation.")
    assert run(["check", str(folder / "nothing.jsonl"), "--subject", str(model)]) == 2
    assert "nothing.jsonl does not exist." in capsys.readouterr().err
    assert run(["check", str(folder / "claim.toml"), "--subject", str(model)]) == 2
    assert "expected one attestation" in capsys.readouterr().err
    assert run([*asked[:4], "--out", str(model)]) == 2
    assert "a file that is not attested itself" in capsys.readouterr().err
    checked = ["check", str(made_with_log(folder)), "--schedule-log", "nothing.json"]
    assert run(checked) == 2
    assert "--schedule-log" in capsys.readouterr().err
    for bad in (["--key", "nothing.pem"], ["--ledger", "nothing.sqlite"], ["--schedule-log", "nothing.json"]):
        assert run([*asked, *bad]) == 2
        assert bad[1] in capsys.readouterr().err
