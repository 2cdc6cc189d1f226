"""The scale of noise: of another formula, another norm, or another parameter."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from ..loaders import last_name
from ..noise_draws import ADDS, DISTRIBUTIONS, distribution, noise_draws
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


def gaussian_formula(script: Script) -> Found:
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


GAUSSIAN_FORMULA = Rule(
    id="gaussian-formula",
    slip=(
        "`sqrt(2 * log(1.25 / delta)) / epsilon`, unless epsilon is stated or guarded to be at most 1; Flower's "
        "`LocalDpMod` with epsilon above 1"
    ),
    why="The formula is proved for epsilon below 1 only, and gives too little noise at larger ones.",
    instead="exact calibration",
    find=gaussian_formula,
    bad="""import numpy as np
sigma = np.sqrt(2 * np.log(1.25 / target_delta)) / target_epsilon  # slip
""",
    good="""import numpy as np
target_epsilon = 0.5
sigma = np.sqrt(2 * np.log(1.25 / target_delta)) / target_epsilon
""",
)


NORMS = ("norm", "vector_norm", "l2_norm", "global_norm")
CLIPS = ("clip_by_norm", "clip_by_global_norm", "clip_grad_norm_", "clip_by_l2_norm")
EUCLIDEAN = Slip(
    "this noise is Laplace's, whose scale is for the sum of absolute values (the L1 norm), and contributions are "
    "clipped in the Euclidean norm: in d dimensions they can be sqrt(d) times larger",
    "clip in the L1 norm, multiply the scale by the square root of the dimension, or add Gaussian noise",
)


def laplace_after_euclidean_clipping(script: Script) -> Found:
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


LAPLACE_AFTER_EUCLIDEAN_CLIPPING = Rule(
    id="laplace-after-euclidean-clipping",
    slip="`g / max(1, np.linalg.norm(g) / clip)`, then `laplace(0, clip / epsilon, size=...)`",
    why=(
        "Laplace noise of scale b gives epsilon = s / b for contributions whose absolute values add up to at most s. A "
        "vector of Euclidean norm 1 in d dimensions can have a sum of sqrt(d)."
    ),
    instead="clipping in the L1 norm, or Gaussian noise",
    find=laplace_after_euclidean_clipping,
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


INVERTED = Slip(
    "the scale of the Laplace noise grows with epsilon: it is turned over, so that more privacy gets less noise",
    "use sensitivity / epsilon as the scale",
)


def laplace_scale(script: Script) -> Found:
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


LAPLACE_SCALE = Rule(
    id="laplace-scale",
    slip="`laplace(0, epsilon / sensitivity)`",
    why="The noise grows with epsilon, so that more privacy gets less noise.",
    instead="`sensitivity / epsilon`",
    find=laplace_scale,
    bad="""import dp_accounting
noise = rng.laplace(0, epsilon / sensitivity)  # slip
""",
    good="noise = rng.laplace(0, sensitivity / epsilon)",
)


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


def noise_variance(script: Script) -> Found:
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


NOISE_VARIANCE = Rule(
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
    good="total = total + rng.normal(0, noise_multiplier * clip, size=d)",
)
