"""Laplace noise, which needs a bound on the sum of absolute values, after clipping in the Euclidean norm."""

from __future__ import annotations

import ast
import re

from ..numbers import number
from ..rule import Found, Rule, Slip
from ..script import Script, mentions

NORMS = ("norm", "vector_norm", "l2_norm", "global_norm")
CLIPS = ("clip_by_norm", "clip_by_global_norm", "clip_grad_norm_", "clip_by_l2_norm")
EUCLIDEAN = Slip(
    "this noise is Laplace's, whose scale is for the sum of absolute values (the L1 norm), and contributions are "
    "clipped in the Euclidean norm: in d dimensions they can be sqrt(d) times larger",
    "clip in the L1 norm, multiply the scale by the square root of the dimension, or add Gaussian noise",
)


def find(script: Script) -> Found:
    """A Laplace draw for a vector in the function, or at the top of the file, in which norms are clipped at 2."""
    for call in script.calls:
        if script.tail(call).lower() not in ("laplace", "random_laplace") or not _is_a_vector(script, call):
            continue
        beside = [other for other in script.calls if script.scope(other) is script.scope(call)]
        if any(_is_taken(script, other, 1.0) for other in beside) or mentions(script.scope(call), r"sqrt"):
            continue
        if any(_is_taken(script, other, 2.0) and _clips(script, other) for other in beside):
            yield call, EUCLIDEAN


def _is_a_vector(script: Script, call: ast.Call) -> bool:
    """Drawn with a size or a shape that is not one number, also as Laplace(...).sample(shape)."""
    sampled = script.parents.get(script.parents.get(call, call))
    if isinstance(sampled, ast.Call) and script.tail(sampled) in ("sample", "rsample"):
        return bool(sampled.args or sampled.keywords)
    size = script.argument(call, 2, "size", "shape")
    return size is not None and number(script, size) != 1


def _is_taken(script: Script, call: ast.Call, order: float) -> bool:
    """Does the call take (or clip) the norm of this order? Without one it is Euclidean."""
    tail = script.tail(call)
    if tail in CLIPS:
        given = script.keyword(call, "norm_type")
    elif tail in NORMS:
        own = isinstance(call.func, ast.Attribute) and "linalg" not in script.origin(call.func) and tail == "norm"
        first = 0 if own and not script.origin(call.func).startswith(("torch.", "numpy.", "jax.")) else 1
        given = script.argument(call, first, "ord", "p")
    else:
        return False
    return (2.0 if given is None else number(script, given)) == order


def _clips(script: Script, call: ast.Call) -> bool:
    """The norm is compared with, or divided by, something called clip, bound or C, in its statement or by its name."""
    if script.tail(call) in CLIPS:
        return True
    node: ast.AST = call
    while isinstance(parent := script.parents.get(node), ast.expr | ast.keyword):
        node = parent
    around = script.parents.get(node) if parent is None else parent
    if isinstance(around, ast.Assign) and around.value is node and isinstance(around.targets[0], ast.Name):
        named = around.targets[0].id
        return any(
            isinstance(part, ast.BinOp | ast.Call | ast.Compare)
            and mentions(part, f"^{re.escape(named.lower())}$")
            and mentions(part, CLIP)
            for part in ast.walk(script.scope(call))
        )
    return around is not None and mentions(around, CLIP)


CLIP = r"clip|bound|^c$|max_norm|max_grad|sens|threshold"


RULE = Rule(
    id="laplace-after-euclidean-clipping",
    slip="`g / max(1, np.linalg.norm(g) / clip)`, then `laplace(0, clip / epsilon, size=...)`",
    why=(
        "Laplace noise of scale b gives epsilon = s / b for contributions whose absolute values add up to at most s. A "
        "vector of Euclidean norm 1 in d dimensions can have a sum of sqrt(d)."
    ),
    instead="clipping in the L1 norm, or Gaussian noise",
    find=find,
    bad="""import numpy as np
epsilon, clip, target_epsilon = 1.0, 1.0, 1.0
def release(gradients):
    total = sum(g / max(1.0, np.linalg.norm(g) / clip) for g in gradients)
    return total + rng.laplace(0.0, clip / epsilon, size=total.shape)  # slip
""",
    good="""import numpy as np
epsilon, clip, target_epsilon = 1.0, 1.0, 1.0
def release(gradients):
    total = sum(g / max(1.0, np.linalg.norm(g, 1) / clip) for g in gradients)
    return total + rng.laplace(0.0, clip / epsilon, size=total.shape)
""",
)
