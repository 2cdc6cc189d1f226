"""The papers as a register that runs: one row a statement, one function that produces its evidence."""

from .folder import Paper
from .judge import EvidenceError, Judgement, judge
from .register import papers, register
from .row import Basis, Finding, Grade, Kind, Row, Severity, Statement, Status, Undecided, on_instances

__all__ = [
    "Basis",
    "EvidenceError",
    "Finding",
    "Grade",
    "Judgement",
    "Kind",
    "Paper",
    "Row",
    "Severity",
    "Statement",
    "Status",
    "Undecided",
    "judge",
    "on_instances",
    "papers",
    "register",
]
