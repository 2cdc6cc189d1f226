"""What certificates of a claim must be about: the claim and phases that they state, without the proof."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..proofs_checks.certificates.points import points
from ..proofs_checks.certificates.restated import NoCertificate
from ..proofs_checks.certificates.stated import stated
from ..proofs_checks.claims.claim import Claim
from ..proofs_checks.claims.observers import against
from ..proofs_checks.verification.verdict import Verdict
from ..proofs_checks.verification.verify import verify

ABOUT = ("claim", "phases", "currency")


def descriptions(claim: Claim) -> list[dict[str, Any]]:
    """The parts of a certificate that follow from the claim alone, for each of its certificates.

    For currencies whose certificates are no points of a curve they are taken from fresh certificates.
    """
    try:
        return [stated(part) for part in points(claim, against(claim, claim.statement.currency.rtol))]
    except NoCertificate:
        with tempfile.TemporaryDirectory() as folder:
            verify(claim, certificates=Path(folder))
            return [json.loads(file.read_text("utf-8")) for file in sorted(Path(folder).glob("*.json"))]


def verdict_of(documents: Sequence[dict[str, Any]], described: Sequence[dict[str, Any]]) -> Verdict:
    """What certificates, each proved by the checker, say of the claim together.

    The claim is refuted where one of its certificates is, and holds where every one that it needs is there and does.
    """
    if any(document["verdict"] == "refuted" for document in documents):
        return "refuted"
    holding = [document for document in documents if document["verdict"] == "holds"]
    whole = described and all(any(same(document, each) for document in holding) for each in described)
    return "holds" if whole else "undecided"


def same(document: dict[str, Any], described: dict[str, Any]) -> bool:
    """Whether a certificate is about what is described."""
    return isinstance(document, dict) and all(document.get(key) == described.get(key) for key in ABOUT)
