"""Noise of the wrong scale: textbook formulas beyond their range, scales turned over, sensitivities and averages."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from .finding import Slip
from .loaders import last_name
from .named_values import named_values
from .noise_draws import DRAWS
from .numbers import number
from .sampling_scheme import POISSON_SOURCES
from .script import Script, dotted, identifiers, is_constant, keyword, mentions

EPSILON = r"^(target_|total_|dp_|privacy_)?(eps|epsilon)$"
CLIP = re.compile(r"^(clip|clipping)_?(norm|bound)$|^(max_grad|max)_?norm$|^l2_norm_clip$|^clip$", re.IGNORECASE)
SENSITIVITY = re.compile(r"^(l2_|l1_)?sensitivity$", re.IGNORECASE)
IN_UNITS_OF_CLIP = re.compile(r"^from_\w+_mechanism$|Event$")
"""dp-accounting's mechanisms take noise and sensitivity in one unit; with noise multipliers that is the clip."""
LOCAL = {"LocalDpMod": 2}
"""Flower's local-DP modifier, and the position of its epsilon."""

TEXTBOOK = Slip(
    "sqrt(2 ln(1.25 / delta)) / epsilon is proved for epsilon below 1 only, and gives too little noise at larger ones",
    "calibrate exactly (dpcert calibrate --solve-for noise-multiplier, or the analytic Gaussian mechanism)",
)
INVERTED = Slip(
    "the scale of the Laplace noise grows with epsilon: it is turned over, so that more privacy gets less noise",
    "use sensitivity / epsilon as the scale",
)
REALISED = Slip(
    "the noisy sum is divided by the batch that was drawn, whose size tells who was in it, and scales the noise",
    "divide by the expected batch size, sampling rate times examples, a constant",
)


def gaussian_formula(script: Script) -> Iterator[tuple[ast.AST, Slip]]:
    """sqrt(2 ln(1.25 / delta)), by itself, and inside of Flower's local-DP modifier with an epsilon above 1."""
    for call in script.calls:
        if script.tail(call) == "sqrt" and call.args and _is_log_of_delta(script, call.args[0]):
            yield call, TEXTBOOK
        place = LOCAL.get(script.tail(call))
        if place is not None:
            given = keyword(call, "epsilon") or (call.args[place] if len(call.args) > place else None)
            found = None if given is None else number(script, given)
            if given is not None and found is not None and found > 1:
                said = f"the noise here follows sqrt(2 ln(1.25 / delta)), and epsilon = {found:g} is above 1"
                yield given, Slip(said, TEXTBOOK.remedy)


def _is_log_of_delta(script: Script, node: ast.expr) -> bool:
    behind = script.resolved(node)
    if not mentions(behind, "delta"):
        return False
    logs = (call for call in ast.walk(behind) if isinstance(call, ast.Call) and script.tail(call) in ("log", "ln"))
    return any(isinstance(part, ast.expr) and is_constant(part, 1.25) for log in logs for part in ast.walk(log))


def laplace_scale(script: Script) -> Iterator[tuple[ast.AST, Slip]]:
    """laplace(0, epsilon / sensitivity), laplace(scale=epsilon)."""
    for call in script.calls:
        if script.tail(call).lower() in ("laplace", "random_laplace"):
            scale = keyword(call, "scale") or (call.args[1] if len(call.args) > 1 else None)
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


def sensitivity_below_clip(script: Script) -> Iterator[tuple[ast.AST, Slip]]:
    """A stated sensitivity below the stated clipping norm."""
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


def realised_batch(script: Script) -> Iterator[tuple[ast.AST, Slip]]:
    """(sum of gradients + noise) / len(batch), where batches are drawn by Poisson sampling."""
    if not any(script.tail(call) in POISSON_SOURCES or "poisson" in script.tail(call).lower() for call in script.calls):
        return
    for node in script.nodes:
        divided = (node.left, node.right) if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div) else None
        if isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Div):
            divided = node.target, node.value
        if divided is not None and _noisy(script, divided[0]) and _is_realised(script, divided[1]):
            yield node, REALISED


def _noisy(script: Script, node: ast.expr) -> bool:
    drawn = any(isinstance(part, ast.Call) and script.tail(part) in DRAWS for part in ast.walk(script.resolved(node)))
    return drawn or any("nois" in name for name in identifiers(node))


def _is_realised(script: Script, node: ast.expr) -> bool:
    """len(x), x.shape[0], x.size(0), or a name of one of these."""
    node = script.resolved(node)
    if isinstance(node, ast.Subscript):
        return last_name(node.value) == "shape"
    if isinstance(node, ast.Call):
        length = dotted(node.func) == "len" and len(node.args) == 1
        whole = length and mentions(node.args[0], r"data_?set|loader|^train$|examples$|^x_train$")
        return (length and not whole) or script.tail(node) == "size"
    return False
