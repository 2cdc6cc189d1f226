"""Noise drawn for each microbatch, or scaled for the average, and averaged afterwards."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ..gradient_noise import Addition, data_loops, noise_on_gradients
from ..rule import Found, Rule, Slip
from ..script import Loop, Script, dotted, mentions

MICROBATCH = r"micro_?batch"
CASTS = ("float", "cast")
MEANS = ("mean", "average", "reduce_mean", "nanmean")
REMEDY = "sum the clipped gradients, add noise of noise_multiplier * clip_norm once to the sum, then divide"
ONCE_EACH = Slip(
    "noise is added to every microbatch's gradient before they are averaged, so that the average's noise is not what "
    "the accountant is told of",
    REMEDY,
)
TWICE = Slip("noise that is already scaled for the average is added before averaging, and so divided twice", REMEDY)


def find(script: Script) -> Found:
    """Where averaging changes the noise's scale behind the accountant's back."""
    for addition in noise_on_gradients(script):
        if _averaged_by_the_same_divisor(script, addition):
            yield addition.node, TWICE
        elif _in_each_microbatch(script, addition):
            yield addition.node, ONCE_EACH


def _divisors(node: ast.AST) -> Iterator[ast.expr]:
    """What the node divides by: a / b, a /= b, a.div_(b)."""
    if isinstance(node, ast.BinOp | ast.AugAssign) and isinstance(node.op, ast.Div):
        yield node.right if isinstance(node, ast.BinOp) else node.value
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in ("div_", "div"):
        yield from node.args[:1]


def _divided(node: ast.AST) -> ast.expr | None:
    if isinstance(node, ast.BinOp):
        return node.left
    if isinstance(node, ast.AugAssign):
        return node.target
    return node.func.value if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) else None


def _averaged_by_the_same_divisor(script: Script, addition: Addition) -> bool:
    """(total + noise(sigma / n)) / n, in one expression or by the sum's name later in the function."""
    inner = {_text(d) for part in ast.walk(addition.noise) for d in _divisors(part) if not isinstance(d, ast.Constant)}
    inner.discard(None)
    if not inner:
        return False
    sum_name, line = _name_of_sum(script, addition), getattr(addition.node, "lineno", 0)
    for node in ast.walk(script.scope(addition.node)):
        if not any(_text(divisor) in inner for divisor in _divisors(node)):
            continue
        numerator = _divided(node)
        parts = [] if numerator is None else list(ast.walk(numerator))
        later = getattr(node, "lineno", 0) > line
        named = later and any(isinstance(p, ast.expr) and dotted(p) == sum_name for p in parts)
        if addition.node in parts or (sum_name is not None and named):
            return True
    return False


def _text(node: ast.expr) -> str | None:
    """A name to compare divisors by: n, args.batch_size, len(batch), float(n) as n; None for anything else."""
    if isinstance(node, ast.Call) and (dotted(node.func) or "").rsplit(".", 1)[-1] in CASTS and node.args:
        node = node.args[0]
    if isinstance(node, ast.Call) and dotted(node.func) == "len" and len(node.args) == 1:
        inner = dotted(node.args[0])
        return None if inner is None else f"len({inner})"
    return dotted(node)


def _name_of_sum(script: Script, addition: Addition) -> str | None:
    if isinstance(addition.node, ast.AugAssign | ast.Call):
        return dotted(addition.base)
    return next((dotted(target) for target in script.bound_to(addition.node)), None)


def _in_each_microbatch(script: Script, addition: Addition) -> bool:
    """In a loop over microbatches, each time round, at full scale, and averaged by their number.

    Noise divided by (the root of) their number is the distributed way, which can be right: nothing is said of it.
    """
    loops = data_loops(script, addition.node)
    if not loops or not isinstance(loops[0], ast.For) or not _is_over_microbatches(loops[0]):
        return False
    loop = loops[0]
    scaled = any(list(_divisors(part)) for part in ast.walk(addition.noise)) or mentions(addition.noise, r"sqrt$")
    return not scaled and not _only_once(script, addition.node, loop) and _averages(script, loop)


def _is_over_microbatches(loop: ast.For) -> bool:
    return mentions(loop.iter, MICROBATCH) or mentions(loop.target, MICROBATCH)


def _only_once(script: Script, node: ast.AST, loop: ast.For) -> bool:
    """Under a condition on which microbatch it is (`if i == last:`), which a `if noise_multiplier > 0:` is not."""
    indices = {part.id for part in ast.walk(loop.target) if isinstance(part, ast.Name)}
    while (parent := script.parents.get(node)) is not None and parent is not loop:
        if isinstance(parent, ast.If | ast.IfExp) and (
            mentions(parent.test, "last|first")
            or any(isinstance(part, ast.Name) and part.id in indices for part in ast.walk(parent.test))
        ):
            return True
        node = parent
    return False


def _averages(script: Script, loop: Loop) -> bool:
    """A division by the number of microbatches in the function, or a mean after the loop."""
    end = getattr(loop, "end_lineno", None) or loop.lineno
    for node in ast.walk(script.scope(loop)):
        if any(mentions(divisor, MICROBATCH) for divisor in _divisors(node)):
            return True
        if (
            isinstance(node, ast.Call)
            and node.lineno > end
            and script.tail(node) in MEANS
            and mentions(node, "grad|nois")
        ):
            return True
    return False


RULE = Rule(
    id="noise-before-averaging",
    slip=(
        "noise on every microbatch's gradient, or already divided by the batch size, and the average taken afterwards"
    ),
    why="The noise of the average is then not the noise that the accountant is told of.",
    instead="noise once, on the sum of the clipped gradients; then divide",
    find=find,
    bad="""from opacus import PrivacyEngine
noise = torch.normal(0, sigma * C / n, grad_sum.shape)
noisy_grads = (grad_sum + noise) / n  # slip
""",
    good="""from opacus import PrivacyEngine
noise = torch.normal(0, sigma * C, grad_sum.shape)
noisy_grads = (grad_sum + noise) / n
""",
)
