"""What a certificate states of an induction, read with suspicion: the configurations of the loop, and the moves."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from ..alignment_pieces import read_form, read_sign
from ..forms import Form, Sign
from ..refusals import Refused
from .states import Layout, kinds

START = "start"
PERSISTENT: dict[str, set[str]] = {"answers": set(), "replace-one": {"x", "y"}, "add-remove": {"x"}}
FOLLOWING = {"before": "before", "again": "again", "after": "after", "locked": "locked", "free": "locked"}
"""The phase after a step with an entry that both datasets have; free: after the last event."""
PHASES = {"answers": ("locked", "free", "done"), "replace-one": ("before", "again", "after", "done")}
PHASES["add-remove"] = PHASES["replace-one"]


@dataclass(frozen=True)
class Configuration:
    """One at a loop's head. differences: of each number of the state a form, or the ends of an interval.

    facts and the potential hang on the numbers s0, s1, ... of the first run's state; the potential also on the
    number of entries N, and of those left, r.
    """

    stage: int
    phase: str
    layout: Layout
    differences: tuple[Form | tuple[Fraction | None, Fraction | None], ...]
    facts: tuple[Sign, ...]
    potential: Form


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
    own = {f"s{i}" for i in range(len(differences))}
    phase = entry["phase"]
    known = own if phase == "before" else names | own
    facts = tuple(read_sign(each, known) for each in entry["facts"])
    left = entry["potential"]
    potential = read_form({"": left} if isinstance(left, str) else left, own | {"N", "r"})
    made = Configuration(entry["stage"], phase, entry["layout"], tuple(differences), facts, potential)
    ranges = any(isinstance(each, tuple) for each in differences)
    if phase not in (*FOLLOWING, "done") or (ranges and phase != "free") or type(made.stage) is not int:
        raise Refused("a configuration of an unknown kind")
    if facts and phase == "free":
        raise Refused("facts of a state that the other run need not be in")
    negative = not potential.slopes and potential.at_zero < 0
    if negative or len(differences) != len(kinds(made.layout)):
        raise Refused("a configuration with a negative potential, or with other numbers than its state")
    return made


def read_key(entry: Mapping[str, Any]) -> Key:
    here, there = (frozenset(cell) for cell in entry["cells"])
    return entry["from"], entry["how"], here, there, entry["label"]


def read_move(entry: Mapping[str, Any], names: set[str]) -> Move:
    """names: what is made of the entries that differ."""
    shifts = tuple(read_form(each, {"x", "y", "z", "d"} | names) for each in entry["shifts"])
    return Move(shifts, tuple(Fraction(each) for each in entry["bounds"]), entry["to"])
