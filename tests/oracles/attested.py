"""A claim, a model, keys, a schedule log and a ledger, in a folder."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519

from dpcert.accounting.ledger import Ledger
from dpcert.mechanisms import Gaussian, Poisson, Repeat

CLAIM = """[claim]
title = "A small model"
unit = "client"
neighbouring = "add-remove"
epsilon = {epsilon}
delta = 1e-5
[mechanism]
kind = "gaussian"
noise_multiplier = 2.0
[sampling]
scheme = "poisson"
sampling_rate = 0.2
[composition]
rounds = 30
"""
ROUNDS, UNITS, RATE = 30, 50, 0.2


def keys(folder: Path, name: str, private=None, passphrase: bytes | None = None) -> tuple[Path, Path]:
    """NAME.pem and NAME.pub."""
    private = private or ed25519.Ed25519PrivateKey.generate()
    pem, pub = serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    lock = serialization.BestAvailableEncryption(passphrase) if passphrase else serialization.NoEncryption()
    (folder / f"{name}.pem").write_bytes(private.private_bytes(pem, serialization.PrivateFormat.PKCS8, lock))
    (folder / f"{name}.pub").write_bytes(private.public_key().public_bytes(pem, pub))
    return folder / f"{name}.pem", folder / f"{name}.pub"


def schedule(path: Path, seed: int = 1, size: int | None = None) -> Path:
    """A log of Poisson cohorts, or of cohorts of a fixed size that call themselves so."""
    rng = np.random.default_rng(seed)
    drawn = [
        np.flatnonzero(rng.random(UNITS) < RATE) if size is None else rng.choice(UNITS, size, replace=False)
        for _ in range(ROUNDS)
    ]
    sampling = {"scheme": "poisson", "sampling_rate": RATE}
    rounds = [sorted(cohort.tolist()) for cohort in drawn]
    path.write_text(json.dumps({"population": UNITS, "sampling": sampling, "rounds": rounds}))
    return path


def prepared(tmp_path: Path) -> Path:
    """The folder with all of them."""
    (tmp_path / "claim.toml").write_text(CLAIM.format(epsilon=2.7))
    (tmp_path / "loose.toml").write_text(CLAIM.format(epsilon=27))
    (tmp_path / "tight.toml").write_text(CLAIM.format(epsilon=1.5))
    (tmp_path / "model.bin").write_bytes(bytes(range(256)) * 40)
    keys(tmp_path, "key")
    keys(tmp_path, "other", ec.generate_private_key(ec.SECP256R1()))
    schedule(tmp_path / "schedule.json")
    Ledger(tmp_path / "ledger.sqlite", run_id="run").record(Repeat(Poisson(Gaussian(2.0), RATE), ROUNDS), "all")
    return tmp_path
