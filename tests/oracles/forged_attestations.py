"""What a signer can change in an attestation and sign again: each lie, and what a check finds wrong with it."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any

from dpcert.attest import attest, check_attestation, read_private_key, read_public_key
from dpcert.attest.checking import CheckedAttestation
from dpcert.attest.envelope import envelope_around

Told = dict[str, Any]


def _interval(told: Told) -> None:
    told["interval"] = {"lower": 0.0, "upper": 0.01}


def _agreeing(told: Told) -> None:
    told["ledger"] |= {"epsilon": {"lower": 50.0, "upper": 60.0}, "agrees": True, "sentence": "It costs nothing."}


def _cheap(told: Told) -> None:
    told["ledger"] |= {"epsilon": {"lower": 0.0, "upper": 0.01}, "agrees": True}


def _quiet_audit(told: Told) -> None:
    told["audits"][0] |= {"epsilon_lower": 30.0, "refuted": False}


def _no_hazards(told: Told) -> None:
    told["hazards"] = [row for row in told["hazards"] if row["basis"] != "not covered"]


LIES: dict[str, tuple[Callable[[Told], None], str]] = {
    "an interval below the proved one": (_interval, "certificate"),
    "a ledger that costs more and is said to agree": (_agreeing, "ledger"),
    "a ledger that is said to cost less than it does": (_cheap, "ledger"),
    "an audit above the claim that is said to contradict nothing": (_quiet_audit, "audit"),
    "hazards that nobody covers are left out": (_no_hazards, "hazards"),
}


def forged(folder: Path, lie: Callable[[Told], None]) -> Path:
    """An attestation of the folder (attested.py), with the lie, signed with its key."""
    (folder / "audit.json").write_text(json.dumps({"epsilon_lower": 0.5, "delta": 1e-5, "refuted": False}))
    signer = read_private_key(folder / "key.pem")
    honest = attest(
        folder / "claim.toml",
        [folder / "model.bin"],
        ledger=folder / "ledger.sqlite",
        audits=[folder / "audit.json"],
        signer=signer,
    )
    statement = deepcopy(json.loads(base64.b64decode(honest.envelope["payload"])))
    lie(statement["predicate"])
    (folder / "forged.jsonl").write_text(json.dumps(envelope_around(statement, signer)))
    return folder / "forged.jsonl"


def checked(folder: Path, path: Path) -> CheckedAttestation:
    """By somebody who holds everything."""
    key = read_public_key(folder / "key.pub")
    return check_attestation(path, [folder / "model.bin"], key=key, ledger=folder / "ledger.sqlite")
