"""delta = 1 / len(loader): the number of batches where the number of examples is meant."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from .finding import Slip
from .loaders import counts_batches
from .named_values import named_values
from .script import Script

DELTA = re.compile(r"^(target|dp|privacy|train)?_?delta$", re.IGNORECASE)
SMALLEST_NUMERATOR = 0.1
"""Below this, 1 / batches may be a margin that somebody meant: nothing is said."""

SLIP = Slip(
    "delta is 1 over the number of batches, which is batch_size times larger than 1 over the number of examples",
    "take delta well below 1 / len(loader.dataset), the number of examples (or people) protected",
)


def delta_from_batches(script: Script) -> Iterator[tuple[ast.AST, Slip]]:
    """Where a delta is one over a count of batches."""
    for _, value in named_values(script, DELTA):
        if one_over_batches(script, value):
            yield value, SLIP
    for call in script.calls:
        if script.tail(call) == "get_epsilon" and call.args and one_over_batches(script, call.args[0]):
            yield call.args[0], SLIP


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
