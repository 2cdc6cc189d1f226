"""The papers as a register that runs: one row a statement, one function that produces its evidence."""

from .judge import EvidenceError, Judgement, judge
from .register import Paper, papers, register
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
