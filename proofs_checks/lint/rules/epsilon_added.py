"""Epsilons that are added up."""

from __future__ import annotations

import ast

from ..rule import Found, Rule, Slip
from ..script import Script

ADDED = Slip(
    "epsilons are added: get_epsilon already covers everything so far, and a sum of k runs holds at k times delta only",
    "keep one accountant over all runs on the same data, and ask it once",
)


def find(script: Script) -> Found:
    """total_epsilon += engine.get_epsilon(delta)."""
    for node in script.nodes:
        if isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Add):
            behind = script.resolved(node.value)
            if isinstance(behind, ast.Call) and script.tail(behind) in ("get_epsilon", "get_privacy_spent"):
                yield node, ADDED


RULE = Rule(
    id="epsilon-added",
    slip="`total += engine.get_epsilon(delta)`",
    why=("get_epsilon already covers everything so far; and a sum of k runs' epsilons holds at k times delta only."),
    instead="one accountant, asked once",
    find=find,
    bad="""from opacus import PrivacyEngine
total += engine.get_epsilon(delta)  # slip
""",
    good="total = engine.get_epsilon(delta)",
)
