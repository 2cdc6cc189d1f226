"""Train, attest, and tamper: what `dpcert check` says of a whole attestation, and of four that are not.

    python examples/attest_training.py FOLDER      (needs the extras train and attest: docs/install.md)

A run of DP-FedAvg attests itself: model, claim, schedule log and ledger. Then a model is changed, a certificate is
swapped, and a schedule is taken that was not drawn as it is accounted; each is caught.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import torch
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from dpcert.attest import AttestRun, attest, check_attestation, read_private_key, read_public_key
from dpcert.mechanisms import InputError
from dpcert.trainers.federated import DpFedAvg, Settings, Trainer, load_federation


def new_keys(folder: Path) -> tuple[Path, Path]:
    """An Ed25519 key pair in PEM files. Keep the private one where nobody else can read it."""
    private, pem = Ed25519PrivateKey.generate(), serialization.Encoding.PEM
    bare, public = serialization.NoEncryption(), serialization.PublicFormat.SubjectPublicKeyInfo
    (folder / "key.pem").write_bytes(private.private_bytes(pem, serialization.PrivateFormat.PKCS8, bare))
    (folder / "key.pub").write_bytes(private.public_key().public_bytes(pem, public))
    return folder / "key.pem", folder / "key.pub"


def main(folder: Path) -> None:
    """Run it all in the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    pem, pub = new_keys(folder)
    run, signer, key = folder / "run", read_private_key(pem), read_public_key(pub)
    settings = Settings(rounds=30, cohort=20, noise_multiplier=2.0, clip_norm=0.5, seed=1)
    federation = load_federation("synthetic:related,population=100,samples=10", seed=0)
    Trainer(federation, DpFedAvg(), settings=settings).run(attest=AttestRun(run, signer=signer))
    log, model, signed = run / "schedule.json", run / "model.pt", run / "model.intoto.jsonl"

    print(check_attestation(signed, [model], key=key, schedule_log=log, ledger=run / "ledger.sqlite"))

    tampered = folder / "model.pt"
    torch.save({"weights": torch.zeros(3)}, tampered)
    print("\nA tampered model:", *wrong(check_attestation(signed, [tampered], key=key)), sep="\n  ")

    loose = folder / "loose.toml"
    loose.write_text((run / "claim.toml").read_text().replace("epsilon = ", "epsilon = 1"))
    other = attest(loose, [model]).predicate.certificates[0].document
    (folder / "certificate.json").write_text(json.dumps(other))
    try:
        attest(run / "claim.toml", [model], certificate=folder / "certificate.json")
    except InputError as problem:
        print("\nA swapped certificate:", problem, sep="\n  ")

    fixed = json.loads(log.read_text())
    fixed["rounds"] = [list(range(turn % 80, turn % 80 + 20)) for turn in range(30)]
    (folder / "schedule.json").write_text(json.dumps(fixed))
    print("\nAnother schedule:", *wrong(check_attestation(signed, schedule_log=folder / "schedule.json")), sep="\n  ")
    attest(run / "claim.toml", [model], schedule_log=folder / "schedule.json").write(folder / "not-poisson.jsonl")
    print("\nA schedule that is not Poisson:", *wrong(check_attestation(folder / "not-poisson.jsonl")), sep="\n  ")


def wrong(found: object) -> list[str]:
    """What a check found wrong."""
    return [str(check) for check in found.checks if check.ok is False]  # type: ignore[attr-defined]


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "attested"))
