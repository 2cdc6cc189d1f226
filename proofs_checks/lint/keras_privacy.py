"""TensorFlow Privacy: one microbatch, losses that are averaged before clipping, numbers of batches for examples."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from .finding import Slip
from .sampling_rate import EXAMPLES, EXAMPLES_OF
from .script import Script, dotted, is_constant, keyword

OPTIMIZER = re.compile(r"^(VectorizedDP|DP)(Keras)?(SGD|Adam|Adagrad|RMSprop|FTRL)?(Gaussian)?\w*Optimizer$")
WHOLE_MODELS = ("DPModel", "DPSequential", "make_dp_model_class")
LOSS = re.compile(r"^(\w*Crossentropy|MeanSquaredError|MeanAbsoluteError|Huber|Hinge)$")

ONE_MICROBATCH = Slip(
    "num_microbatches=1 clips the mean gradient of the whole batch, and the noise is for one example's",
    "leave num_microbatches at the batch size (None), so that each example's gradient is clipped",
)
AVERAGED = Slip(
    "the loss is averaged over the batch before the optimizer sees it, so that no example's gradient can be clipped",
    "give the loss reduction=tf.keras.losses.Reduction.NONE",
)


def keras_microbatches(script: Script) -> Iterator[tuple[ast.AST, Slip]]:
    """num_microbatches=1."""
    for call in script.calls:
        given = keyword(call, "num_microbatches")
        if OPTIMIZER.match(script.tail(call)) and given is not None and is_constant(script.resolved(given), 1):
            yield given, ONE_MICROBATCH


def _names(script: Script, call: ast.Call) -> list[str]:
    """What the call's value is called."""
    parent = script.parents.get(call)
    return (
        [target.id for target in parent.targets if isinstance(target, ast.Name)]
        if isinstance(parent, ast.Assign)
        else []
    )


def keras_loss(script: Script) -> Iterator[tuple[ast.AST, Slip]]:
    """A loss with the default reduction beside a Keras optimizer that needs one loss an example."""
    tails = [script.tail(call) for call in script.calls]
    if any(tail in WHOLE_MODELS for tail in tails) or not any(
        OPTIMIZER.match(tail) and "Keras" in tail for tail in tails
    ):
        return
    losses = [call for call in script.calls if LOSS.match(script.tail(call)) and "losses" in script.origin(call.func)]
    averaged = [call for call in losses if keyword(call, "reduction") is None]
    right = {name for call in losses if call not in averaged for name in _names(script, call)}
    for call in averaged:
        if not right & set(_names(script, call)):  # else the other branch of an if, which trains without privacy
            yield call, AVERAGED
    for call in script.calls:
        given = keyword(call, "loss")
        if script.tail(call) == "compile" and isinstance(given, ast.Constant) and isinstance(given.value, str):
            yield given, AVERAGED


def keras_examples(script: Script) -> Iterator[tuple[ast.AST, Slip]]:
    """compute_dp_sgd_privacy(n=len(dataset)) of a tf.data pipeline that ends in batches."""
    for call in script.calls:
        name = EXAMPLES_OF.get(script.tail(call))
        given = None if name is None else keyword(call, name) or (call.args[0] if call.args else None)
        behind = None if given is None else script.resolved(given)
        if isinstance(behind, ast.Call) and dotted(behind.func) == "len" and len(behind.args) == 1:
            pipeline = script.resolved(behind.args[0])
            if any(isinstance(part, ast.Attribute) and part.attr == "batch" for part in ast.walk(pipeline)):
                yield behind, EXAMPLES
