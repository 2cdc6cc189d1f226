"""Runs that attest themselves: model, claim, schedule and ledger fit together without further typing."""

from __future__ import annotations

import json
import runpy
from pathlib import Path

import pytest
from attested import keys

from dpcert.attest import AttestRun, check_attestation, read_private_key, read_public_key
from dpcert.cli import run
from dpcert.mechanisms import InputError

torch = pytest.importorskip("torch")

from dpcert.trainers.build import Parameters, build_algorithm  # noqa: E402
from dpcert.trainers.federated import DpFedAvg, PrivacyGoal, Settings, Trainer, load_federation  # noqa: E402

torch.set_num_threads(1)
DATA = "synthetic:related,population=40,samples=10,features=4"


def trainer(algorithm=None, **changed) -> Trainer:
    told = {"rounds": 12, "cohort": 10, "noise_multiplier": 2.0, "clip_norm": 1.0, "seed": 0}
    goal = PrivacyGoal(1e-5, "zero-out" if changed.get("sampling") == "shuffle" else None)
    return Trainer(load_federation(DATA, seed=0), algorithm or DpFedAvg(), "logistic", Settings(**told | changed), goal)


def many():
    """Releases one model for each client."""
    return build_algorithm("naive-joint", Parameters(), 40)


@pytest.mark.parametrize(
    "sampling",
    [{}, {"sampling": "fixed-size"}, {"sampling": "shuffle"}, {"sampling": "poisson", "max_cohort": 20}],
)
def test_a_run_attests_itself(tmp_path, sampling):
    pem, pub = keys(tmp_path, "key")
    attest = AttestRun(tmp_path / "run", signer=read_private_key(pem))
    trainer(**sampling).run(attest=attest)
    folder = tmp_path / "run"
    found = check_attestation(
        folder / "model.intoto.jsonl",
        [folder / "model.pt"],
        key=read_public_key(pub),
        schedule_log=folder / "schedule.json",
        ledger=folder / "ledger.sqlite",
    )
    assert not [check for check in found.checks if check.ok is False], str(found)
    assert found.predicate.verdict == "holds"
    assert found.ok == (found.predicate.verdict_basis == "proved")


def test_a_run_that_cannot_be_attested_says_so_before_it_trains(tmp_path):
    silent = trainer(noise_multiplier=0.0)
    for asked, said in ((silent, "noise"), (trainer(many()), "no single model")):
        with pytest.raises(InputError, match=said):
            asked.run(attest=AttestRun(tmp_path / "run"))
        assert asked.rounds == 0
    (tmp_path / "mine.bin").write_bytes(b"personal models, kept elsewhere")
    attest = AttestRun(tmp_path / "run", files=[tmp_path / "mine.bin"])
    trainer(many()).run(attest=attest)
    assert list(attest.attestation.subjects) == ["mine.bin"]
    with pytest.raises(InputError, match="without an attestation"):
        trainer().run(attest=AttestRun(tmp_path / "run"))


def test_the_command(tmp_path, capsys):
    pem, pub = keys(tmp_path, "key")
    asked = ["train", "dp-fedavg", "--data", DATA, "--rounds", "12", "--cohort", "10", "--noise-multiplier", "2"]
    asked += ["--clip-norm", "1", "--quiet"]
    folder = tmp_path / "run"
    assert run([*asked, "--attest", str(folder), "--key", str(pem)]) == 0
    capsys.readouterr()
    checked = ["check", str(folder / "model.intoto.jsonl"), "--subject", str(folder / "model.pt"), "--key", str(pub)]
    assert run([*checked, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["ok"] is True
    assert run([*asked, "--key", str(pem)]) == 2
    assert "--attest" in capsys.readouterr().err


def test_opacus(tmp_path):
    pytest.importorskip("opacus")
    from dpcert.adapters.opacus import CertifiedAccountant

    accountant = CertifiedAccountant()
    (tmp_path / "model.pt").write_bytes(b"weights")
    with pytest.raises(InputError, match="at least one step"):
        accountant.claim("nothing yet", 1e-5)
    accountant.history = [(1.1, 0.01, 100), (1.3, 0.02, 50)]
    pem, pub = keys(tmp_path, "key")
    out = tmp_path / "model.intoto.jsonl"
    accountant.attest([tmp_path / "model.pt"], out, title="A small model", delta=1e-5, dataset_size=60_000, key=pem)
    found = check_attestation(out, [tmp_path / "model.pt"], key=read_public_key(pub))
    assert found.ok, str(found)
    assert found.predicate.interval.upper == pytest.approx(accountant.get_epsilon(1e-5), rel=1e-4)


def test_the_example_catches_each(tmp_path, capsys):
    path = Path(__file__).parents[2] / "examples" / "attest_training.py"
    runpy.run_path(str(path))["main"](tmp_path / "attested")
    told = capsys.readouterr().out
    whole, model, certificate, schedule, drawn = told.split("\n\n")
    assert "WRONG" not in whole
    assert "logged: " in whole
    assert "model.pt is not a file that was attested" in model
    assert "one of another" in certificate
    assert "not the one that was attested" in schedule
    assert "contradicts" in drawn
