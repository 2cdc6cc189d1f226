"""TensorFlow Privacy: losses that are averaged before clipping."""

from __future__ import annotations

import ast
import re

from ..privacy_words import KERAS_OPTIMIZER
from ..rule import Found, Rule, Slip
from ..script import Script

WHOLE_MODELS = ("DPModel", "DPSequential", "make_dp_model_class")
LOSS = re.compile(r"^(\w*Crossentropy|MeanSquaredError|MeanAbsoluteError|Huber|Hinge)$")
AVERAGED = Slip(
    "the loss is averaged over the batch before the optimizer sees it, so that no example's gradient can be clipped",
    "give the loss reduction=tf.keras.losses.Reduction.NONE",
)


def _names(script: Script, call: ast.Call) -> list[str]:
    """What the call's value is called."""
    return [target.id for target in script.bound_to(call) if isinstance(target, ast.Name)]


def find(script: Script) -> Found:
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


RULE = Rule(
    id="keras-loss",
    slip="a DP Keras optimizer with a loss that is averaged",
    why="An average over the batch reaches the optimizer, so that no example's gradient can be clipped.",
    instead="`reduction=...NONE`",
    find=find,
    bad="""import tensorflow as tf
from tensorflow_privacy import DPKerasSGDOptimizer
opt = DPKerasSGDOptimizer(l2_norm_clip=1.0)
model.compile(optimizer=opt, loss='categorical_crossentropy')  # slip
""",
    good="model.compile(optimizer=opt, loss=tf.keras.losses.Hinge(reduction=tf.keras.losses.Reduction.NONE))",
)
