"""The textbook formula for Gaussian noise beyond its range."""

from __future__ import annotations

import ast
import re

from ..loaders import last_name
from ..numbers import is_at_most, number
from ..privacy_words import EPSILON
from ..rule import Found, Rule, Slip
from ..script import Script, is_constant, mentions

LOCAL = {"LocalDpMod": 2}
"""Flower's local-DP modifier, and the position of its epsilon."""
TEXTBOOK = Slip(
    "sqrt(2 ln(1.25 / delta)) / epsilon is proved for epsilon below 1 only, and gives too little noise at larger ones",
    "calibrate exactly (dpcert calibrate --solve-for noise-multiplier, or the analytic Gaussian mechanism)",
)


def find(script: Script) -> Found:
    """sqrt(2 ln(1.25 / delta)), by itself, and inside of Flower's local-DP modifier with an epsilon above 1."""
    for call in script.calls:
        if script.tail(call) == "sqrt" and call.args and _is_log_of_delta(script, call.args[0]):
            epsilons = _epsilons_beside(script, call)
            if not epsilons or not all(is_at_most(script, epsilon, 1.0) for epsilon in epsilons):
                yield call, TEXTBOOK
        place = LOCAL.get(script.tail(call))
        if place is not None:
            given = script.argument(call, place, "epsilon")
            found = None if given is None else number(script, given)
            if given is not None and found is not None and found > 1:
                said = f"the noise here follows sqrt(2 ln(1.25 / delta)), and epsilon = {found:g} is above 1"
                yield given, Slip(said, TEXTBOOK.remedy)


def _epsilons_beside(script: Script, call: ast.Call) -> list[ast.expr]:
    """The epsilons of the whole expression that the root is part of."""
    whole: ast.AST = call
    while isinstance(parent := script.parents.get(whole), ast.BinOp | ast.Call | ast.keyword | ast.UnaryOp):
        whole = parent
    names = (part for part in ast.walk(whole) if isinstance(part, ast.Name | ast.Attribute))
    return [name for name in names if re.search(EPSILON, last_name(name), re.IGNORECASE)]


def _is_log_of_delta(script: Script, node: ast.expr) -> bool:
    behind = script.resolved(node)
    if not mentions(behind, "delta"):
        return False
    logs = (call for call in ast.walk(behind) if isinstance(call, ast.Call) and script.tail(call) in ("log", "ln"))
    return any(isinstance(part, ast.expr) and is_constant(part, 1.25) for log in logs for part in ast.walk(log))


RULE = Rule(
    id="gaussian-formula",
    slip=(
        "`sqrt(2 * log(1.25 / delta)) / epsilon`, unless epsilon is stated or guarded to be at most 1; Flower's "
        "`LocalDpMod` with epsilon above 1"
    ),
    why="The formula is proved for epsilon below 1 only, and gives too little noise at larger ones.",
    instead="exact calibration",
    find=find,
    bad="""import numpy as np
sigma = np.sqrt(2 * np.log(1.25 / target_delta)) / target_epsilon  # slip
""",
    good="""import numpy as np
target_epsilon = 0.5
sigma = np.sqrt(2 * np.log(1.25 / target_delta)) / target_epsilon
""",
)
