"""A variance where the noise's standard deviation belongs."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from ..finding import Slip
from ..loaders import last_name
from ..noise_draws import noise_draws
from ..rule import Rule
from ..script import Script, is_constant, mentions

STANDARD = ("randn", "randn_like", "standard_normal")
SCALED = {"normal": 1, "normal_": 1, "gauss": 1, "normalvariate": 1}
"""Draws whose second argument is a standard deviation."""
SCALES = r"nois|sigma|std|clip|norm|scale|sens"
VARIANCE = re.compile(r"(^|_)var(iance)?$", re.IGNORECASE)
SQUARED = Slip(
    "the noise is scaled by a square, its variance, where its standard deviation belongs",
    "scale the noise by noise_multiplier * clip_norm, or take the square root of the variance",
)


def noise_variance(script: Script) -> Iterator[tuple[ast.AST, Slip]]:
    """(z C) ** 2 * randn_like(g); normal(0, sigma ** 2)."""
    for call in noise_draws(script):
        for scale in _scales(script, call):
            if _is_variance(script, scale):
                yield scale, SQUARED


def _scales(script: Script, call: ast.Call) -> Iterator[ast.expr]:
    tail = script.tail(call)
    if tail in SCALED:
        place = SCALED[tail]
        for name in ("scale", "std", "stddev", "sigma"):
            if (given := script.keyword(call, name)) is not None:
                yield given
        if len(call.args) > place:
            yield call.args[place]
    node: ast.AST = call
    while isinstance(parent := script.parents.get(node), ast.BinOp) and isinstance(parent.op, ast.Mult):
        yield parent.right if parent.left is node else parent.left
        node = parent


def _is_variance(script: Script, node: ast.expr) -> bool:
    behind = script.resolved(node)
    if isinstance(behind, ast.BinOp):
        squared = isinstance(behind.op, ast.Pow) and (is_constant(behind.right, 2) or is_constant(behind.right, 2.0))
        twice = isinstance(behind.op, ast.Mult) and ast.dump(behind.left) == ast.dump(behind.right)
        if squared or twice:
            return mentions(behind.left, SCALES)
        return isinstance(behind.op, ast.Mult) and (
            _is_variance(script, behind.left) or _is_variance(script, behind.right)
        )
    if isinstance(behind, ast.Call):
        return script.tail(behind) == "square" and mentions(behind, SCALES)
    return VARIANCE.search(last_name(behind)) is not None


RULE = Rule(
    id="noise-variance",
    slip="`(noise_multiplier * clip) ** 2 * randn_like(g)`, `normal(0, sigma ** 2)`",
    why=(
        "These functions take a standard deviation. Where it is below 1 its square is smaller, and the noise is less "
        "than was accounted for; where it is above 1 there is more noise than was meant."
    ),
    instead="the standard deviation, `noise_multiplier * clip_norm`",
    find=noise_variance,
    bad="""import numpy as np
noise_multiplier, clip = 0.5, 1.0
total = total + rng.normal(0, (noise_multiplier * clip) ** 2, size=d)  # slip
""",
    good="""import numpy as np
noise_multiplier, clip = 0.5, 1.0
total = total + rng.normal(0, noise_multiplier * clip, size=d)
""",
)
