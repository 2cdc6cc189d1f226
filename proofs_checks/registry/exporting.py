"""A claim as an entry of the registry: what the claim knows, beside an entry that knows the rest."""

from __future__ import annotations

import copy
import re
from pathlib import Path
from typing import Any

from ...mechanisms import InputError
from ..claims.claim import Claim, load_claim
from .importing import CLAIM_BLOCK
from .schema import problems


def exported(path: Path, entry: Any = None) -> tuple[dict[str, Any], list[InputError]]:
    """The entry, and what the registry's schema still asks for. entry: an existing one, whose other fields stay.

    The claim file itself goes into implementation.mechanisms, in a fence, so that `import` gives it back unchanged.
    Raises InputError for claims in a currency that the registry has no field for.
    """
    claim = load_claim(path)
    document: dict[str, Any] = copy.deepcopy(entry) if isinstance(entry, dict) else {}
    document.setdefault("url_slug", re.sub(r"[^a-z0-9]+", "-", claim.statement.title.lower()).strip("-"))
    document.setdefault("status", "Draft")
    document.setdefault("tier", 2)
    deployment = document.setdefault("deployment", {})
    _basic(deployment.setdefault("basic", {}), claim)
    deployment.setdefault("dp_variant", {})["variant_name"] = _variant(claim)
    loss = deployment.setdefault("privacy_loss", {})
    loss.setdefault("privacy_unit", claim.statement.unit)
    loss["privacy_parameters"] = _parameters(claim)
    implementation = deployment.setdefault("implementation", {})
    before = CLAIM_BLOCK.sub("", str(implementation.get("mechanisms") or "")).strip()
    block = f"```toml\n# dpcert claim\n{path.read_text(encoding='utf-8').strip()}\n```"
    implementation["mechanisms"] = f"{before}\n\n{block}".strip()
    return document, list(problems(document))


def _basic(basic: dict[str, Any], claim: Claim) -> None:
    statement = claim.statement
    basic.setdefault("name", statement.title)
    if statement.author:
        basic.setdefault("data_curators", [statement.author])
    if statement.year:
        basic.setdefault("publication_date", f"{statement.year}-01-01")  # as the schema says for unknown days


def _variant(claim: Claim) -> str:
    if claim.statement.rho is not None:
        return "Zero-concentrated DP"
    return "Approximate DP" if claim.statement.delta else "Pure DP"


def _parameters(claim: Claim) -> dict[str, float]:
    statement = claim.statement
    if statement.rho is not None:
        return {"rho": statement.rho}
    if statement.epsilon is None or statement.delta is None:
        name = statement.currency.name
        raise InputError(
            f"claim.{name}", claim.printed, "epsilon with delta, or rho: the registry has no field for others"
        )
    return {"epsilon": statement.epsilon} | ({"delta": statement.delta} if statement.delta else {})
