"""A sampling rate, or a number of examples, computed from the number of batches.

1 / len(loader) is right (it is batch_size / examples), and nothing is said of it.
"""

from __future__ import annotations

import ast
import re

from ..loaders import EXAMPLES, counts_batches, is_batch_size, stated_examples
from ..named_values import named_values
from ..rule import Found, Rule, Slip
from ..script import Script, dotted, mentions

RATE = re.compile(r"^(sample|sampling)_(rate|prob|probability|ratio)$", re.IGNORECASE)
BATCHES_BELOW = Slip(
    "the sampling rate is batch_size over the number of batches, which is no probability of anything",
    "use batch_size / len(dataset), or 1 / len(loader)",
)
BATCHES_ABOVE = Slip(
    "the sampling rate is the number of batches over the number of examples, which is 1 / batch_size",
    "use batch_size / len(dataset), or 1 / len(loader)",
)


def find(script: Script) -> Found:
    """Where a rate has the number of batches on the wrong side, or a number of examples is one of batches."""
    for _, value in named_values(script, RATE):
        if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Div):
            if is_batch_size(script, value.left) and counts_batches(script, value.right):
                yield value, BATCHES_BELOW
            elif counts_batches(script, value.left) and _counts_examples(script, value.right):
                yield value, BATCHES_ABOVE
    yield from ((given, EXAMPLES) for given in stated_examples(script) if counts_batches(script, given))


def _counts_examples(script: Script, node: ast.expr) -> bool:
    behind = script.resolved(node)
    is_len = isinstance(behind, ast.Call) and dotted(behind.func) == "len"
    return is_len and mentions(behind, r"data_?set$|examples$|samples$|^x_train$|^train_(data|x|images)$")


RULE = Rule(
    id="sampling-rate-from-batches",
    slip="`sample_rate = batch_size / len(loader)`, `len(loader) / len(dataset)`; `n=len(loader)`",
    why=("A loader's length counts batches, so this is not the probability with which an example joins a batch."),
    instead="`1 / len(loader)`, or `batch_size / len(dataset)`",
    find=find,
    bad="""from opacus import PrivacyEngine
sample_rate = batch_size / len(train_loader)  # slip
""",
    good="sample_rate = batch_size / len(dataset)",
)
