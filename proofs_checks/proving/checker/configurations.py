"""What a certificate states of an induction, read with suspicion: the configurations of the loop, and the moves."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from .following import Refused
from .forms import Form, Sign
from .pieces import read_form, read_sign
from .steps import Layout, numbers_in

START = "start"
PERSISTENT: dict[str, set[str]] = {"answers": set(), "replace-one": {"x", "y"}, "add-remove": {"x"}}
FOLLOWING = {"before": "after", "after": "after", "locked": "locked", "free": "locked"}


@dataclass(frozen=True)
class Configuration:
    """One at the loop's head. differences: of each number of the state a form, or the ends of an interval."""

    phase: str
    layout: Layout
    differences: tuple[Form | tuple[Fraction | None, Fraction | None], ...]
    facts: tuple[Sign, ...]
    potential: Fraction


@dataclass(frozen=True)
class Move:
    """How the noise of a step is shifted, at most how far, and where it leads (None: to the output)."""

    shifts: tuple[Form, ...]
    bounds: tuple[Fraction, ...]
    to: int | None


Key = tuple[Any, str, frozenset[str], frozenset[str], str]
"""From where, how (entry, end, ...), the tests of the entries in both runs, the label."""


def read_configuration(entry: Mapping[str, Any], names: set[str]) -> Configuration:
    differences: list[Form | tuple[Fraction | None, Fraction | None]] = []
    for each in entry["differences"]:
        if "ends" in each:
            low, high = (None if end is None else Fraction(end) for end in each["ends"])
            differences.append((low, high))
        else:
            differences.append(read_form(each["form"], names))
    phase, facts = entry["phase"], tuple(read_sign(each, names) for each in entry["facts"])
    made = Configuration(phase, entry["layout"], tuple(differences), facts, Fraction(entry["potential"]))
    ranges = any(isinstance(each, tuple) for each in differences)
    if phase not in ("before", "after", "locked", "free", "done") or (ranges and phase != "free"):
        raise Refused("a configuration of an unknown kind")
    if facts and phase not in ("after", "done"):
        raise Refused("facts of entries that have not come yet")
    if made.potential < 0 or len(differences) != numbers_in(made.layout):
        raise Refused("a configuration with a negative potential, or with other numbers than its state")
    return made


def read_key(entry: Mapping[str, Any]) -> Key:
    here, there = (frozenset(cell) for cell in entry["cells"])
    return entry["from"], entry["how"], here, there, entry["label"]


def read_move(entry: Mapping[str, Any]) -> Move:
    shifts = tuple(read_form(each, {"x", "y", "z", "d"}) for each in entry["shifts"])
    return Move(shifts, tuple(Fraction(each) for each in entry["bounds"]), entry["to"])
