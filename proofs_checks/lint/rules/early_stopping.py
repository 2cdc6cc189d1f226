"""Stopping on what the private data say: a choice that depends on them and is accounted nowhere."""

from __future__ import annotations

import ast

from ..rule import Found, Rule, Slip
from ..script import Script, mentions

CHOSEN = Slip(
    "training stops on a score of the private data, which is released by when it stops and not accounted for",
    "stop after a number of steps fixed beforehand, on public data, or on a noisy score that is accounted",
)


def find(script: Script) -> Found:
    """Keras's EarlyStopping on training scores or on a split of the training data; a patience that ends a loop."""
    split = any(
        script.tail(call) == "random_split" or script.keyword(call, "validation_split") is not None
        for call in script.calls
    )
    for call in script.calls:
        if script.tail(call) == "EarlyStopping":
            monitor = script.argument(call, 0, "monitor")
            own = isinstance(monitor, ast.Constant) and not str(monitor.value).startswith("val_")
            if own or split:
                yield call, CHOSEN
    for node in script.nodes if split else ():
        patient = isinstance(node, ast.If) and mentions(node.test, r"patience|no_improve|early_stop|bad_epochs")
        if patient and any(isinstance(part, ast.Break) for part in ast.walk(node)):
            yield node, CHOSEN


RULE = Rule(
    id="early-stopping",
    slip=(
        "`EarlyStopping` on training scores or a split of the private data; a patience that ends the loop, with "
        "`random_split`"
    ),
    why="When training stops tells something of the private data, which is not accounted for.",
    instead="a number of steps fixed beforehand",
    find=find,
    bad="""import dp_accounting
model.fit(x, y, validation_split=0.1, callbacks=[EarlyStopping()], noise_multiplier=1.0)  # slip
""",
    good="model.fit(x, y, callbacks=[TensorBoard()], noise_multiplier=1.0)",
)
