"""TensorFlow Privacy: the number of batches given for the number of examples."""

from __future__ import annotations

import ast

from ..loaders import EXAMPLES, stated_examples
from ..rule import Found, Rule
from ..script import Script, dotted


def find(script: Script) -> Found:
    """compute_dp_sgd_privacy(n=len(dataset)) of a tf.data pipeline that ends in batches."""
    for behind in map(script.resolved, stated_examples(script)):
        if isinstance(behind, ast.Call) and dotted(behind.func) == "len" and len(behind.args) == 1:
            pipeline = script.resolved(behind.args[0])
            if any(isinstance(part, ast.Attribute) and part.attr == "batch" for part in ast.walk(pipeline)):
                yield behind, EXAMPLES


RULE = Rule(
    id="keras-examples",
    slip="`number_of_examples=len(dataset)` of a pipeline that ends in `.batch(...)`",
    why="The length of such a pipeline is its number of batches.",
    instead="the number of examples",
    find=find,
    bad="""import dp_accounting
data = source.shuffle(100).batch(64)
compute_dp_sgd_privacy_statement(number_of_examples=len(data), batch_size=64)  # slip
""",
    good="""import dp_accounting
data = source.shuffle(100)
compute_dp_sgd_privacy_statement(number_of_examples=len(data), batch_size=64)
""",
)
