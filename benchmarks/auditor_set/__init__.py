"""Sixty broken and forty sound mechanisms, written before the auditors were last changed, to measure them by."""

from . import few_values, numbers, several_runs, state_machines, structured
from .case import Case

ROOMS = {
    "one number": numbers.CASES,
    "few values": few_values.CASES,
    "state machines": state_machines.CASES,
    "several runs": several_runs.CASES,
    "structured outputs": structured.CASES,
}

__all__ = ["ROOMS", "Case"]
