"""A noisy sum divided by the batch that was drawn."""

from __future__ import annotations

import ast

from ..accounting import POISSON_SOURCES
from ..loaders import last_name
from ..noise_draws import DRAWS
from ..rule import Found, Rule, Slip
from ..script import Script, dotted, identifiers, mentions

REALISED = Slip(
    "the noisy sum is divided by the batch that was drawn, whose size tells who was in it, and scales the noise",
    "divide by the expected batch size, sampling rate times examples, a constant",
)


def find(script: Script) -> Found:
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


RULE = Rule(
    id="realised-batch",
    slip="`(sum + noise) / len(batch)` with Poisson batches",
    why="The size of a Poisson batch tells who was in it, and scales the noise.",
    instead="the expected batch size",
    find=find,
    bad="""from opacus.data_loader import DPDataLoader
loader = DPDataLoader.from_data_loader(plain)
update = (total + noise) / len(batch)  # slip
""",
    good="update = (total + noise) / expected_batch_size",
)
