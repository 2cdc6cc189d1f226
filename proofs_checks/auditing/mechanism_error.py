"""The mechanism raised an exception, and that ends the audit; what the trials before it say is kept."""

from __future__ import annotations

from ...mechanisms import InputError
from .failures import name_of, shortened
from .result import AuditResult


class MechanismError(InputError):
    """The mechanism raised an exception, which is the cause (`__cause__`) of this one.

    dataset: the one that it was run on, as text. known: what the trials before it say, by the e-process alone
    (None where no claim was made, or no trial finished): which trials were finished depends on the outputs, so
    that no other test may look at them.
    """

    def __init__(self, mechanism: str, dataset: str, problem: str) -> None:
        expected = f"a callable that runs on the dataset {dataset} ({problem})"
        also = "if an attacker can see that a call failed, count failures as outputs: --observe-failures (in Python: "
        also += "observing_failures(mechanism))"
        super().__init__("mechanism", mechanism, f"{expected}; {also}")
        self.dataset = dataset
        self.known: AuditResult | None = None


def failed(mechanism: object, dataset: object, problem: BaseException) -> MechanismError:
    """The error to raise from `problem`."""
    said = shortened(f"{type(problem).__name__}: {problem}")
    return MechanismError(name_of(mechanism), shortened(repr(dataset), 120), said)
