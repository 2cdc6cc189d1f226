"""The source papers as a register that runs: one row a statement, one function that produces its evidence."""

from .folder import Paper
from .judge import EvidenceError, Judgement, judge
from .register import papers, register
from .row import Finding, Kind, Row, Statement, Status, Undecided

__all__ = [
    "EvidenceError",
    "Finding",
    "Judgement",
    "Kind",
    "Paper",
    "Row",
    "Statement",
    "Status",
    "Undecided",
    "judge",
    "papers",
    "register",
]
