"""delta = 1 / len(loader): the number of batches where the number of examples is meant."""

from __future__ import annotations

import ast

from ..loaders import counts_batches
from ..named_values import deltas
from ..rule import Found, Rule, Slip
from ..script import Script

SMALLEST_NUMERATOR = 0.1
"""Below this, 1 / batches may be a margin that somebody meant: nothing is said."""
SLIP = Slip(
    "delta is 1 over the number of batches, which is batch_size times larger than 1 over the number of examples",
    "take delta well below 1 / len(loader.dataset), the number of examples (or people) protected",
)


def find(script: Script) -> Found:
    """Where a delta is one over a count of batches."""
    for value in deltas(script):
        if one_over_batches(script, value):
            yield value, SLIP


def one_over_batches(script: Script, value: ast.expr) -> bool:
    """1 / len(loader), 1 / len(loader) ** 1.1, len(loader) ** -1; not 1 / (len(loader) * batch_size)."""
    if not isinstance(value, ast.BinOp):
        return False
    if isinstance(value.op, ast.Pow):
        negative = isinstance(value.right, ast.UnaryOp) and isinstance(value.right.op, ast.USub)
        return negative and counts_batches(script, value.left)
    if not (isinstance(value.op, ast.Div) and _is_about_one(value.left)):
        return False
    divisor = value.right
    if isinstance(divisor, ast.BinOp) and isinstance(divisor.op, ast.Pow):
        divisor = divisor.left
    return counts_batches(script, divisor)


def _is_about_one(node: ast.expr) -> bool:
    number = node.value if isinstance(node, ast.Constant) else None
    return isinstance(number, int | float) and number >= SMALLEST_NUMERATOR


RULE = Rule(
    id="delta-from-batches",
    slip="`delta = 1 / len(train_loader)`",
    why=(
        "The length of a loader is its number of batches, so this delta is batch_size times larger than 1 over "
        "the number of examples. A delta near 1 over the number of examples already allows to publish one of "
        "them."
    ),
    instead="delta well below `1 / len(train_loader.dataset)`",
    find=find,
    bad="""from opacus import PrivacyEngine
delta = 1 / len(train_loader)  # slip
""",
    good="delta = 0.1 / len(train_loader.dataset)",
)
