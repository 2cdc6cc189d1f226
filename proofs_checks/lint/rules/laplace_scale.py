"""The scale of Laplace noise, turned over."""

from __future__ import annotations

import ast
import re

from ..loaders import last_name
from ..privacy_words import EPSILON
from ..rule import Found, Rule, Slip
from ..script import Script, mentions

INVERTED = Slip(
    "the scale of the Laplace noise grows with epsilon: it is turned over, so that more privacy gets less noise",
    "use sensitivity / epsilon as the scale",
)


def find(script: Script) -> Found:
    """laplace(0, epsilon / sensitivity), laplace(scale=epsilon)."""
    for call in script.calls:
        if script.tail(call).lower() in ("laplace", "random_laplace"):
            scale = script.argument(call, 1, "scale")
            behind = None if scale is None else script.resolved(scale)
            if scale is not None and behind is not None and _grows_with_epsilon(behind):
                yield scale, INVERTED


def _grows_with_epsilon(node: ast.expr) -> bool:
    if isinstance(node, ast.BinOp):
        if isinstance(node.op, ast.Div):
            return _grows_with_epsilon(node.left) and not mentions(node.right, EPSILON)
        if isinstance(node.op, ast.Mult):
            return _grows_with_epsilon(node.left) or _grows_with_epsilon(node.right)
        return False
    return re.search(EPSILON, last_name(node), re.IGNORECASE) is not None


RULE = Rule(
    id="laplace-scale",
    slip="`laplace(0, epsilon / sensitivity)`",
    why="The noise grows with epsilon, so that more privacy gets less noise.",
    instead="`sensitivity / epsilon`",
    find=find,
    bad="""import dp_accounting
noise = rng.laplace(0, epsilon / sensitivity)  # slip
""",
    good="noise = rng.laplace(0, sensitivity / epsilon)",
)
