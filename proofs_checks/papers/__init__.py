"""The source papers as a register that runs: one row a statement, one function that produces its evidence."""

from .judge import EvidenceError, Judgement, judge
from .register import PAPERS, register
from .row import Finding, Kind, Row, Statement, Status, Undecided

__all__ = [
    "PAPERS",
    "EvidenceError",
    "Finding",
    "Judgement",
    "Kind",
    "Row",
    "Statement",
    "Status",
    "Undecided",
    "judge",
    "register",
]
