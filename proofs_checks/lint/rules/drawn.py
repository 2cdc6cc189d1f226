"""Noise that is drawn by another generator, in another place, or once more."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ..accounting import MAKE_PRIVATE
from ..gradient_noise import Addition, data_loops, noise_on_gradients
from ..noise_draws import DRAWS, KEYS, SEEDED, SEEDS, literally_seeded, noise_draws, seeded_globally
from ..rule import Found, Rule, Slip
from ..script import Loop, Script, dotted, mentions

DEFAULT = Slip(
    "the noise comes from a library's default generator, whose state can be computed from enough of its output; no "
    "epsilon covers that",
    "for a release draw it from the operating system's randomness (random.SystemRandom, Opacus's secure_mode=True, "
    "OpenDP's samplers); for an experiment leave it",
)
GIVEN_SEED = Slip(
    "the noise comes from a seeded generator, so anyone who learns the seed can subtract the noise",
    "for a release use an unseeded cryptographic generator; for an experiment leave it as it is",
)
FUNCTIONS = ("random.", "numpy.random.", "torch.", "tensorflow.random.")


def default_generator(script: Script) -> Found:
    """random, numpy, torch or TensorFlow's own generator behind noise. Silent where noise_drawn_again speaks, where
    the generator is a parameter, and of noise that a library adds: that is the library's to say.
    """
    for call in noise_draws(script):
        made = _generator(script, call)
        if made is None:
            if _own_function(script, call) and not seeded_globally(script, call):
                yield call, DEFAULT
        elif isinstance(made, ast.Call) and script.tail(made) in SEEDED and not literally_seeded(script, made):
            yield call, GIVEN_SEED if made.args or made.keywords else DEFAULT


def _own_function(script: Script, call: ast.Call) -> bool:
    """A function of the library, or a tensor's method in place, which only torch has."""
    return script.origin(call.func).startswith(FUNCTIONS) or script.tail(call) == "normal_"


def _generator(script: Script, call: ast.Call) -> ast.expr | None:
    """What the draw is told to draw from: generator=..., or the object whose method it is; None for neither."""
    if (given := script.keyword(call, "generator")) is not None:
        return script.resolved(given)
    if _own_function(script, call) or not isinstance(call.func, ast.Attribute):
        return None
    return script.resolved(call.func.value)


DEFAULT_GENERATOR = Rule(
    id="default-generator",
    slip=(
        "noise from the default generator of `random`, numpy, torch or TensorFlow, or from one with a seed that "
        "the script is given"
    ),
    why="The generator's state can be computed from enough of its output. No epsilon covers that.",
    instead=(
        "for a release the operating system's randomness: `random.SystemRandom`, Opacus's `secure_mode=True`, "
        "OpenDP's samplers; for an experiment leave it"
    ),
    find=default_generator,
    bad="""import random
noise_multiplier = 1.0
total = total + random.gauss(0, noise_multiplier)  # slip
""",
    good="total = total + random.SystemRandom().gauss(0, noise_multiplier)",
    level="note",
)


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


def noise_before_averaging(script: Script) -> Found:
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


NOISE_BEFORE_AVERAGING = Rule(
    id="noise-before-averaging",
    slip=(
        "noise on every microbatch's gradient, or already divided by the batch size, and the average taken afterwards"
    ),
    why="The noise of the average is then not the noise that the accountant is told of.",
    instead="noise once, on the sum of the clipped gradients; then divide",
    find=noise_before_averaging,
    bad="""from opacus import PrivacyEngine
noise = torch.normal(0, sigma * C / n, grad_sum.shape)
noisy_grads = (grad_sum + noise) / n  # slip
""",
    good="""from opacus import PrivacyEngine
noise = torch.normal(0, sigma * C, grad_sum.shape)
noisy_grads = (grad_sum + noise) / n
""",
)


SAME_KEY = Slip(
    "the noise has the same key in every step, so the difference of two steps has no noise",
    "split a fresh key for every draw, from one that the operating system's randomness made",
)
SEEDED_NOISE = Slip(
    "the seed of the noise is in this script, so anyone who reads it can subtract the noise",
    "use an unseeded generator; for a release use a cryptographic one (Opacus: secure_mode=True)",
)
RESEEDED = Slip(
    "the generator is seeded again next to the noise, which is then the same every time",
    "seed nothing that noise is drawn from, least of all in a loop",
)


def noise_drawn_again(script: Script) -> Found:
    """Constant JAX keys, generators with a literal seed, global or not, seeding in the loop that draws the noise."""
    for call in noise_draws(script):
        yield from _by_key(script, call)
        yield from _by_generator(script, call, call.func.value if isinstance(call.func, ast.Attribute) else None)
        yield from _by_generator(script, call, script.keyword(call, "generator"))
        if seeded_globally(script, call):
            yield call, SEEDED_NOISE
    for call in script.calls:
        tail = script.tail(call)
        if tail in MAKE_PRIVATE:
            yield from _by_generator(script, call, script.keyword(call, "noise_generator"))
        if tail in SEEDS and script.loops(call) and _draws_beside(script, call):
            yield call, RESEEDED


def _by_key(script: Script, call: ast.Call) -> Found:
    if not script.origin(call.func).startswith("jax.random."):
        return
    given = script.argument(call, 0, "key")
    behind = None if given is None else script.resolved(given)
    if isinstance(behind, ast.Call) and script.tail(behind) in KEYS and literally_seeded(script, behind):
        direct = behind is given
        if direct or script.loops(call) or script.scope(call) is not script.tree:
            yield call, SAME_KEY


def _by_generator(script: Script, call: ast.Call, given: ast.expr | None) -> Found:
    behind = None if given is None else script.resolved(given)
    if isinstance(behind, ast.Call) and script.tail(behind) in SEEDED and literally_seeded(script, behind):
        yield call, SEEDED_NOISE


def _draws_beside(script: Script, call: ast.Call) -> bool:
    loop = script.loops(call)[0]
    return any(
        isinstance(part, ast.Call) and script.tail(part) in DRAWS and dotted(part.func) is not None
        for part in ast.walk(loop)
    )


NOISE_DRAWN_AGAIN = Rule(
    id="noise-drawn-again",
    slip=(
        "noise by a constant JAX key, by a generator (a library's own too) with a literal seed, after seeding in "
        "the same loop"
    ),
    why="Anyone who can draw the noise again can subtract it.",
    instead="fresh keys; generators without a seed",
    find=noise_drawn_again,
    bad="""import numpy as np
noise_multiplier = 1.0
rng = np.random.default_rng(0)
answer = total + rng.normal(0, noise_multiplier)  # slip
""",
    good="""import numpy as np
noise_multiplier = 1.0
answer = total + rng.normal(0, noise_multiplier)
""",
)
