"""A certificate of either format, from its file: proved or rejected, and the command that says so."""

from pathlib import Path
from typing import Any, NamedTuple

from flint import ctx

from . import currencies, verdict
from .format import CURRENCY, load

PRECISION = 192
"""Bits of the ball arithmetic."""


class CheckResult(NamedTuple):
    """Whether everything is proved, and in words what, or why not."""

    ok: bool
    reason: str


def check(source: Any) -> CheckResult:
    """Proves a certificate, from its file or parsed, once more; never raises."""
    try:
        with ctx.workprec(PRECISION):
            document = load(source)
            proved = currencies.prove if document.get("format") == CURRENCY else verdict.prove
            return CheckResult(True, proved(document))
    except Exception as problem:
        return CheckResult(
            False, str(problem) if type(problem) is ValueError else f"{type(problem).__name__}: {problem}"
        )


def main(arguments: list[str]) -> int:
    """The command: one certificate."""
    if len(arguments) != 1:
        print(f"usage: python {Path(__file__).parent.name} CERTIFICATE.json")
        return 2
    result = check(arguments[0])
    print("proved:" if result.ok else "rejected:", result.reason)
    return 0 if result.ok else 1
