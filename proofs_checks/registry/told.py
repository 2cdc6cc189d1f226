"""Numbers that an entry's prose names, and what they contradict."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import Any

NUMBER = r"([0-9]+(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?)"
SYMBOLS = {
    "epsilon": r"(?:\\+epsilon|\u03b5|\bepsilon\b)",
    "rho": r"(?:\\+rho|\u03c1|\brho\b)",
    "mu": r"(?:\\+mu|\u03bc|\bmu\b)",
    "scale": r"\bnoise scale\b",
    "sensitivity": r"\bsensitivity\b",
}
SUPERSEDED = re.compile(
    r"\b(superseded|supersedes|previous(ly)?|former(ly)?|earlier|original(ly)?|initial(ly)?|no longer|replaced|older|"
    r"outdated|used to|instead of|rather than|incorrect(ly)?|mistaken(ly)?|erroneous(ly)?|withdrawn|retracted)\b",
    re.IGNORECASE,
)
"""Words of a number that is told because it holds no more: it contradicts nothing."""
CLOSE = 0.01
"""Printed numbers that differ by less, relatively, are one number."""


def numbers(text: str, name: str) -> list[float]:
    r"""Every number that the text gives to the symbol.

    >>> numbers(r"\\(\\epsilon\\)=0.9; sensitivity = 1, noise scale = 10", "epsilon")
    [0.9]
    """
    pattern = SYMBOLS[name] + r"\s*(?:\\+\))?\)?\s*(?:=|of|is(?: about)?|-GDP is about)\s*(?:\\+\()?\s*" + NUMBER
    return [float(found) for found in re.findall(pattern, re.sub(r"\s+", " ", text))]


def standing(text: str) -> str:
    """The text without the clauses about numbers that hold no more.

    >>> standing("The final epsilon = 2.0, not the earlier epsilon = 9.0; delta is small.")
    'The final epsilon = 2.0; delta is small.'
    """
    clauses = re.split(r"((?:[.;:]\s|,\s|\s\(|\)\s|\s-\s|\n)+)", text)
    kept = [clauses[0]] if not SUPERSEDED.search(clauses[0]) else []
    for mark, clause in zip(clauses[1::2], clauses[2::2], strict=True):
        kept += [] if SUPERSEDED.search(clause) else [mark, clause]
    return "".join(kept)


def contradictions(entry: dict[str, Any]) -> Iterator[str]:
    """Sentences about numbers of the entry that cannot all describe one release."""
    loss = entry.get("privacy_loss") or {}
    parameters = loss.get("privacy_parameters") or {}
    mechanisms = str((entry.get("implementation") or {}).get("mechanisms") or "")
    details = str(loss.get("privacy_parameters_details") or "")
    epsilon, rho = parameters.get("epsilon"), parameters.get("rho")
    for text, where in (
        (mechanisms, "implementation.mechanisms"),
        (details, "privacy_loss.privacy_parameters_details"),
    ):
        scales, moves = numbers(text, "scale"), numbers(text, "sensitivity")
        if len(scales) == len(moves) == 1:
            implied = moves[0] / scales[0]
            for named in {*numbers(standing(text), "epsilon"), *([epsilon] if epsilon else [])}:
                if _apart(named, implied):
                    yield (
                        f"{where}: noise of scale {scales[0]:g} at sensitivity {moves[0]:g} gives epsilon {implied:g}, "
                        f"not the {named:g} that the entry names"
                    )
    if isinstance(rho, int | float) and rho > 0:
        for mu in numbers(standing(details), "mu"):
            if _apart(mu * mu / 2, rho):
                yield f"mu = {mu:g} has rho {mu * mu / 2:.4g}, not the stated {rho:g}: they are not of one mechanism"
    if isinstance(epsilon, int | float):
        for named in numbers(standing(details), "epsilon"):
            if re.search(r"\bfinal\b|\bincorrect\b", details) and _apart(named, epsilon):
                yield f"privacy_parameters states epsilon {epsilon:g}, its details name {named:g} for the same release"


def _apart(one: float, other: float) -> bool:
    return not math.isclose(one, other, rel_tol=CLOSE)
