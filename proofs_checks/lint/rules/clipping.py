"""A clipping bound that bounds nothing, or another thing than the noise is scaled to."""

from __future__ import annotations

import ast
import math
import re

from ..gradient_noise import Addition, data_loops, noise_on_gradients
from ..loaders import is_loader, loads_single_examples
from ..named_values import named_values
from ..numbers import number
from ..rule import Found, Rule, Slip
from ..script import Loop, Script, mentions

CLIPS_IN_PLACE = ("clip_grad_norm_", "clip_grad_norm", "clip_grad_value_")
CLIPS = (
    "clip_by_norm",
    "clip_by_global_norm",
    "clip_by_l2_norm",
    "clip_gradient",
    "clip_gradients",
    "clip_grad",
    "clip_grads",
)
REDUCTIONS = ("mean", "sum", "average", "reduce_mean", "reduce_sum")
ACCOUNTANTS = ("accountants", "analysis")
LIBRARY = ("opacus", "tensorflow_privacy", "jax_privacy", "private_transformers", "fastDP")
ONE_UNIT = r"example|sample|client|user|micro_?batch|record|person|individual"
"""Loops and functions over these handle one protected unit at a time, so that clipping there is right."""
STEPS = r"step|epoch|iter|round|^t$|^it$"
SLIP = Slip(
    "the gradient of the whole batch is clipped, not each example's: one example can move the result by up to twice "
    "the clipping norm, however many share the batch",
    "clip each example's gradient (Opacus, torch.func.vmap, or microbatches of one), sum, then add the noise",
)


def clip_after_aggregation(script: Script) -> Found:
    """Where a batch's gradient is clipped and gets noise in the same round of a loop over batches."""
    if any(_clips_for_you(origin) for origin in script.imports.values()):
        return  # these clip per example themselves; clip_grad_norm_ beside them is for stability
    if any(isinstance(node, ast.Attribute) and node.attr == "grad_sample" for node in script.nodes):
        return
    additions = noise_on_gradients(script)
    for call in script.calls:
        if _clips_a_batch(script, call) and any(_same_round(script, call, addition) for addition in additions):
            yield call, SLIP


def _clips_for_you(origin: str) -> bool:
    """A library for private training, unless it is its accountants alone that are imported."""
    return origin.split(".")[0] in LIBRARY and not any(part in ACCOUNTANTS for part in origin.split(".")[1:])


def _clips_a_batch(script: Script, call: ast.Call) -> bool:
    """By where it stands (in a round over batches), or by what is clipped (a mean or sum over examples)."""
    tail = script.tail(call)
    if tail in CLIPS and call.args and _is_reduction(script, call.args[0]):
        return not mentions_unit(script, call)
    if tail in CLIPS_IN_PLACE or tail == "clip_by_global_norm":
        return _is_round_over_batches(script, call)
    return False


def _is_reduction(script: Script, node: ast.expr) -> bool:
    """grads.mean(0), np.mean(grads, axis=0), sum(grads): over the first axis or all, of something called grad."""
    behind = script.resolved(node)
    if not isinstance(behind, ast.Call) or script.tail(behind) not in REDUCTIONS or not mentions(behind, "grad"):
        return False
    axis = script.keyword(behind, "axis") or script.keyword(behind, "dim")
    if axis is None:
        method = isinstance(behind.func, ast.Attribute) and mentions(behind.func.value, "grad")
        position = 0 if method else 1
        axis = behind.args[position] if len(behind.args) > position else None
    return axis is None or (isinstance(axis, ast.Constant) and axis.value == 0)


def mentions_unit(script: Script, node: ast.AST) -> bool:
    """Does a loop around the node, or its function's name, speak of one example, client or microbatch?"""
    scope = script.scope(node)
    named = isinstance(scope, ast.FunctionDef | ast.AsyncFunctionDef) and any(
        word in scope.name.lower() for word in ("example", "sample", "client", "user", "microbatch", "single")
    )
    return named or any(_is_over_units(loop) for loop in data_loops(script, node))


def _is_over_units(loop: Loop) -> bool:
    return isinstance(loop, ast.For | ast.AsyncFor) and (
        mentions(loop.target, ONE_UNIT) or mentions(loop.iter, ONE_UNIT)
    )


def _is_round_over_batches(script: Script, node: ast.AST) -> bool:
    """Recognisably so: the innermost loop runs over a loader or over steps, or the function takes a batch."""
    if mentions_unit(script, node):
        return False
    loops = data_loops(script, node)
    if loops:
        loop = loops[0]
        return isinstance(loop, ast.For | ast.AsyncFor) and (_runs_over_loader(script, loop) or _counts_steps(loop))
    scope = script.scope(node)
    if not isinstance(scope, ast.FunctionDef | ast.AsyncFunctionDef):
        return False
    return any("batch" in argument.arg.lower() and "size" not in argument.arg.lower() for argument in scope.args.args)


def _runs_over_loader(script: Script, loop: ast.For | ast.AsyncFor) -> bool:
    """for x, y in loader, enumerate(loader), tqdm(loader); a loader of single examples is none."""
    inner = loop.iter
    while isinstance(inner, ast.Call) and script.tail(inner) in ("enumerate", "tqdm", "iter", "track") and inner.args:
        inner = inner.args[0]
    if isinstance(inner, ast.Call) and script.tail(inner) == "DataLoader":
        return not loads_single_examples(script, inner)
    return is_loader(script, inner)


def _counts_steps(loop: ast.For | ast.AsyncFor) -> bool:
    is_range = isinstance(loop.iter, ast.Call) and mentions(loop.iter.func, "^range$")
    return is_range and mentions(loop.target, STEPS) and not mentions(loop.iter, "batch_?size|^len$")


def _same_round(script: Script, clip: ast.Call, addition: Addition) -> bool:
    """Clipped, then noised, in one function and one round: not clipped inside a loop within the noise's round."""
    if _function(script, clip) is not _function(script, addition.node):
        return False
    after = getattr(addition.node, "lineno", 0) >= clip.lineno
    return after and data_loops(script, clip)[:1] == data_loops(script, addition.node)[:1]


def _function(script: Script, node: ast.AST) -> ast.AST:
    """Its scope; a lambda, such as those of jax.tree.map, belongs to the function around it."""
    scope = script.scope(node)
    while isinstance(scope, ast.Lambda):
        scope = script.scope(scope)
    return scope


CLIP_AFTER_AGGREGATION = Rule(
    id="clip-after-aggregation",
    slip="`loss.backward(); clip_grad_norm_(...); p.grad += noise` for a whole batch",
    why=(
        "One example can move the clipped gradient of its batch by up to twice the clipping norm, however many "
        "others share the batch."
    ),
    instead="clip each example's gradient, then sum, then add the noise",
    find=clip_after_aggregation,
    bad="""import torch
noise_multiplier, C = 1.1, 1.0
for x, y in loader:
    loss_of(model(x), y).backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), C)  # slip
    for p in model.parameters():
        p.grad += torch.randn_like(p.grad, generator=g) * noise_multiplier * C
""",
    good="""import torch
noise_multiplier, C = 1.1, 1.0
for example in examples:
    loss_of(model(example)).backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), C)
""",
)


CLIP_NORMS = re.compile(r"^(max_grad_norm|l2_norm_clip|clip_norm|clipping_norm|max_norm)$", re.IGNORECASE)
NO_BOUND = 1e6
UNBOUNDED = Slip(
    "the clipping norm bounds nothing: one example can change the sum by any amount, or the noise has no scale",
    "clip at a number in the range of the gradients' norms",
)


def clip_bounds_nothing(script: Script) -> Found:
    """max_grad_norm=inf, or as good as that."""
    for _, value in named_values(script, CLIP_NORMS):
        found = number(script, value)
        if found is not None and (math.isinf(found) or found >= NO_BOUND):
            yield value, UNBOUNDED


CLIP_BOUNDS_NOTHING = Rule(
    id="clip-bounds-nothing",
    slip='`max_grad_norm=float("inf")`, or 1e6 and more',
    why="One example can then change the sum by any amount.",
    instead="a norm in the range of the gradients'",
    find=clip_bounds_nothing,
    bad="""from opacus import PrivacyEngine
PrivacyEngine().make_private(module=m, max_grad_norm=float('inf'))  # slip
""",
    good="PrivacyEngine().make_private(module=m, max_grad_norm=1.0)",
)


CLIP = re.compile(r"^(clip|clipping)_?(norm|bound)$|^(max_grad|max)_?norm$|^l2_norm_clip$|^clip$", re.IGNORECASE)
SENSITIVITY = re.compile(r"^(l2_|l1_)?sensitivity$", re.IGNORECASE)
IN_UNITS_OF_CLIP = re.compile(r"^from_\w+_mechanism$|Event$")
"""dp-accounting's mechanisms take noise and sensitivity in one unit; with noise multipliers that is the clip."""


def sensitivity_below_clip(script: Script) -> Found:
    clips = {found for _, value in named_values(script, CLIP) if (found := number(script, value)) is not None}
    if len(clips) != 1:
        return
    (clip,) = clips
    for _, value in named_values(script, SENSITIVITY):
        found = number(script, value)
        if found is not None and 0 < found < clip and not (found == 1 and _in_units_of_clip(script, value)):
            said = f"the sensitivity is {found:g} where clips are {clip:g}: noise {clip / found:g} times too small"
            yield value, Slip(said, "the sensitivity is the clipping norm (twice that when a contribution is replaced)")


def _in_units_of_clip(script: Script, value: ast.expr) -> bool:
    call = script.parents.get(script.parents.get(value, value))
    return isinstance(call, ast.Call) and IN_UNITS_OF_CLIP.search(script.tail(call)) is not None


SENSITIVITY_BELOW_CLIP = Rule(
    id="sensitivity-below-clip",
    slip="a stated sensitivity below the stated clipping norm",
    why="One example can move the sum by the clipping norm, so the noise is too small.",
    instead="the clipping norm, or twice it",
    find=sensitivity_below_clip,
    bad="""import dp_accounting
clip_norm = 2.0
sensitivity = 1.0  # slip
""",
    good="sensitivity = 2.0",
)
