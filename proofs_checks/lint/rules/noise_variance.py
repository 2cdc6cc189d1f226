"""A variance where the noise's standard deviation belongs."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from ..loaders import last_name
from ..noise_draws import ADDS, DISTRIBUTIONS, distribution, noise_draws
from ..rule import Found, Rule, Slip
from ..script import Script, is_constant, mentions

STANDARD = ("randn", "randn_like", "standard_normal")
SCALED = ("normal", "normal_", "gauss", "normalvariate", "rvs", *DISTRIBUTIONS)
"""Draws, and distributions, whose second argument is a standard deviation."""
SCALES = r"nois|sigma|std|clip|norm|scale|sens"
MODULES = ("numpy", "torch", "jax", "math", "tensorflow")
VARIANCE = re.compile(r"(^|_)var(iance)?$", re.IGNORECASE)
SQUARED = Slip(
    "the noise is scaled by a square, its variance, where its standard deviation belongs",
    "scale the noise by noise_multiplier * clip_norm, or take the square root of the variance",
)


def find(script: Script) -> Found:
    """(z C) ** 2 * randn_like(g); normal(0, sigma ** 2)."""
    for call in noise_draws(script):
        for scale in _scales(script, call):
            if _is_variance(script, scale):
                yield scale, SQUARED


def _scales(script: Script, call: ast.Call) -> Iterator[ast.expr]:
    of = distribution(script, call) or call
    if script.tail(of) in SCALED:
        for name in ("scale", "std", "stddev", "sigma"):
            if (given := script.keyword(of, name)) is not None:
                yield given
        yield from of.args[1:2]
    node: ast.AST = call
    while isinstance(parent := script.parents.get(node), ast.BinOp) and isinstance(parent.op, ast.Mult):
        yield parent.right if parent.left is node else parent.left
        node = parent
    if isinstance(parent, ast.Call) and script.tail(parent) in ADDS and (given := script.keyword(parent, "alpha")):
        yield given  # g.add_(noise, alpha=scale)


def _is_variance(script: Script, node: ast.expr) -> bool:
    behind, named = script.resolved(node), VARIANCE.search(last_name(node)) is not None
    if (root := _squared(script, behind)) is not None:
        return named or mentions(root, SCALES)
    if isinstance(behind, ast.BinOp) and isinstance(behind.op, ast.Mult | ast.Div):
        factors = [behind.left, behind.right] if isinstance(behind.op, ast.Mult) else [behind.left]
        return any(_is_variance(script, part) for part in factors) or (named and _has_a_square(script, behind))
    return VARIANCE.search(last_name(behind)) is not None


def _squared(script: Script, node: ast.AST) -> ast.expr | None:
    """x of x ** 2, x * x, pow(x, 2), x.pow(2) and square(x)."""
    if isinstance(node, ast.BinOp):
        squared = isinstance(node.op, ast.Pow) and _is_two(node.right)
        twice = isinstance(node.op, ast.Mult) and ast.dump(node.left) == ast.dump(node.right)
        return node.left if squared or twice else None
    if not isinstance(node, ast.Call) or script.tail(node) not in ("square", "pow", "power"):
        return None
    own = isinstance(node.func, ast.Attribute) and script.origin(node.func).split(".")[0] not in MODULES
    root, *exponent = [node.func.value, *node.args] if own and isinstance(node.func, ast.Attribute) else node.args
    return root if script.tail(node) == "square" or any(map(_is_two, exponent)) else None


def _is_two(node: ast.expr) -> bool:
    return is_constant(node, 2) or is_constant(node, 2.0)


def _has_a_square(script: Script, node: ast.expr) -> bool:
    return any(_squared(script, part) is not None for part in ast.walk(node))


RULE = Rule(
    id="noise-variance",
    slip="`(noise_multiplier * clip) ** 2 * randn_like(g)`, `normal(0, sigma ** 2)`",
    why=(
        "These functions take a standard deviation. Where it is below 1 its square is smaller, and the noise is less "
        "than was accounted for; where it is above 1 there is more noise than was meant."
    ),
    instead="the standard deviation, `noise_multiplier * clip_norm`",
    find=find,
    bad="""import numpy as np
noise_multiplier, clip = 0.5, 1.0
total = total + rng.normal(0, (noise_multiplier * clip) ** 2, size=d)  # slip
""",
    good="total = total + rng.normal(0, noise_multiplier * clip, size=d)",
)
