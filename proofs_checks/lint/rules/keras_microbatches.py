"""TensorFlow Privacy: one microbatch."""

from __future__ import annotations

from ..privacy_words import KERAS_OPTIMIZER
from ..rule import Found, Rule, Slip
from ..script import Script, is_constant

ONE_MICROBATCH = Slip(
    "num_microbatches=1 clips the mean gradient of the whole batch, and the noise is for one example's",
    "leave num_microbatches at the batch size (None), so that each example's gradient is clipped",
)


def find(script: Script) -> Found:
    """num_microbatches=1."""
    for call in script.calls:
        given = script.keyword(call, "num_microbatches")
        if KERAS_OPTIMIZER.match(script.tail(call)) and given is not None and is_constant(script.resolved(given), 1):
            yield given, ONE_MICROBATCH


RULE = Rule(
    id="keras-microbatches",
    slip="`num_microbatches=1`",
    why="The mean gradient of the whole batch is clipped then, and the noise is for one example's.",
    instead="the batch size",
    find=find,
    bad="""import tensorflow as tf
from tensorflow_privacy import DPKerasSGDOptimizer
opt = DPKerasSGDOptimizer(l2_norm_clip=1.0, num_microbatches=1)  # slip
""",
    good="opt = DPKerasSGDOptimizer(l2_norm_clip=1.0, num_microbatches=None)",
)
