"""TensorFlow Privacy's Keras optimizers and its statement of epsilon."""

from __future__ import annotations

import ast
import re

from ..loaders import EXAMPLES, stated_examples
from ..privacy_words import KERAS_OPTIMIZER
from ..rule import Found, Rule, Slip
from ..script import Script, dotted, is_constant


def keras_examples(script: Script) -> Found:
    """compute_dp_sgd_privacy(n=len(dataset)) of a tf.data pipeline that ends in batches."""
    for behind in map(script.resolved, stated_examples(script)):
        if isinstance(behind, ast.Call) and dotted(behind.func) == "len" and len(behind.args) == 1:
            pipeline = script.resolved(behind.args[0])
            if any(isinstance(part, ast.Attribute) and part.attr == "batch" for part in ast.walk(pipeline)):
                yield behind, EXAMPLES


KERAS_EXAMPLES = Rule(
    id="keras-examples",
    slip="`number_of_examples=len(dataset)` of a pipeline that ends in `.batch(...)`",
    why="The length of such a pipeline is its number of batches.",
    instead="the number of examples",
    find=keras_examples,
    bad="""import dp_accounting
data = source.shuffle(100).batch(64)
compute_dp_sgd_privacy_statement(number_of_examples=len(data), batch_size=64)  # slip
""",
    good="""import dp_accounting
data = source.shuffle(100)
compute_dp_sgd_privacy_statement(number_of_examples=len(data), batch_size=64)
""",
)


WHOLE_MODELS = ("DPModel", "DPSequential", "make_dp_model_class")
LOSS = re.compile(r"^(\w*Crossentropy|MeanSquaredError|MeanAbsoluteError|Huber|Hinge)$")
AVERAGED = Slip(
    "the loss is averaged over the batch before the optimizer sees it, so that no example's gradient can be clipped",
    "give the loss reduction=tf.keras.losses.Reduction.NONE",
)


def _names(script: Script, call: ast.Call) -> list[str]:
    """What the call's value is called."""
    return [target.id for target in script.bound_to(call) if isinstance(target, ast.Name)]


def keras_loss(script: Script) -> Found:
    """A loss with the default reduction beside a Keras optimizer that needs one loss an example."""
    tails = [script.tail(call) for call in script.calls]
    if any(tail in WHOLE_MODELS for tail in tails) or not any(
        KERAS_OPTIMIZER.match(tail) and "Keras" in tail for tail in tails
    ):
        return
    losses = [call for call in script.calls if LOSS.match(script.tail(call)) and "losses" in script.origin(call.func)]
    averaged = [call for call in losses if script.keyword(call, "reduction") is None]
    right = {name for call in losses if call not in averaged for name in _names(script, call)}
    for call in averaged:
        if not right & set(_names(script, call)):  # else the other branch of an if, which trains without privacy
            yield call, AVERAGED
    for call in script.calls:
        given = script.keyword(call, "loss")
        if script.tail(call) == "compile" and isinstance(given, ast.Constant) and isinstance(given.value, str):
            yield given, AVERAGED


KERAS_LOSS = Rule(
    id="keras-loss",
    slip="a DP Keras optimizer with a loss that is averaged",
    why="An average over the batch reaches the optimizer, so that no example's gradient can be clipped.",
    instead="`reduction=...NONE`",
    find=keras_loss,
    bad="""import tensorflow as tf
from tensorflow_privacy import DPKerasSGDOptimizer
opt = DPKerasSGDOptimizer(l2_norm_clip=1.0)
model.compile(optimizer=opt, loss='categorical_crossentropy')  # slip
""",
    good="model.compile(optimizer=opt, loss=tf.keras.losses.Hinge(reduction=tf.keras.losses.Reduction.NONE))",
)


ONE_MICROBATCH = Slip(
    "num_microbatches=1 clips the mean gradient of the whole batch, and the noise is for one example's",
    "leave num_microbatches at the batch size (None), so that each example's gradient is clipped",
)


def keras_microbatches(script: Script) -> Found:
    """num_microbatches=1."""
    for call in script.calls:
        given = script.keyword(call, "num_microbatches")
        if KERAS_OPTIMIZER.match(script.tail(call)) and given is not None and is_constant(script.resolved(given), 1):
            yield given, ONE_MICROBATCH


KERAS_MICROBATCHES = Rule(
    id="keras-microbatches",
    slip="`num_microbatches=1`",
    why="The mean gradient of the whole batch is clipped then, and the noise is for one example's.",
    instead="the batch size",
    find=keras_microbatches,
    bad="""import tensorflow as tf
from tensorflow_privacy import DPKerasSGDOptimizer
opt = DPKerasSGDOptimizer(l2_norm_clip=1.0, num_microbatches=1)  # slip
""",
    good="opt = DPKerasSGDOptimizer(l2_norm_clip=1.0, num_microbatches=None)",
)
