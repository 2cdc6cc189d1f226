"""Which expressions are loaders of batches, and which are counts of batches where examples are meant."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from .rule import Slip
from .script import Script, dotted, is_constant

LOADER = re.compile(r"loader$|(^|_)dl$|(^|_)batches$", re.IGNORECASE)
BATCH_COUNT = re.compile(r"^(n|num|number_of|nb)_batches$|^(steps|batches|iterations)_per_epoch$", re.IGNORECASE)
BATCH_SIZE = re.compile(r"^(train_)?(batch|lot)_?size$|^bs$", re.IGNORECASE)
HELD_OUT = re.compile(r"test|val|eval|dev(_|$)", re.IGNORECASE)


def last_name(node: ast.expr) -> str:
    """train_loader for self.data.train_loader; "" for what is not a name."""
    return (dotted(node) or "").rsplit(".", 1)[-1]


def is_loader(script: Script, node: ast.expr) -> bool:
    """Does len() of this count batches of more than one example, by its name and by what it is bound to?

    A list of loaders (one for each client) is not one, nor is a loader of single examples: its length is the number of
    examples.
    """
    built = [value for value in script.values(node) if isinstance(value, ast.Call)]
    loaders = [call for call in built if script.tail(call) == "DataLoader"]
    if loaders:
        return not all(loads_single_examples(script, call) for call in loaders)
    return LOADER.search(last_name(node)) is not None and not any(
        script.tail(call).lower().endswith("dataset") for call in built
    )


def loads_single_examples(script: Script, loader: ast.Call) -> bool:
    """A torch DataLoader with batch_size=1, which is the default."""
    if len(loader.args) > 1 or any(given.arg in (None, "batch_sampler") for given in loader.keywords):
        return len(loader.args) > 1 and is_constant(loader.args[1], 1)
    size = script.keyword(loader, "batch_size")
    return size is None or is_constant(size, 1)


def counts_batches(script: Script, node: ast.expr) -> bool:
    """len(loader), a name bound to it, or a name that says so (num_batches, steps_per_epoch)."""
    behind = script.resolved(node)
    if isinstance(behind, ast.Call):
        return dotted(behind.func) == "len" and len(behind.args) == 1 and is_loader(script, behind.args[0])
    return behind is node and BATCH_COUNT.search(last_name(node)) is not None


def is_batch_size(script: Script, node: ast.expr) -> bool:
    """batch_size, args.batch_size, BATCH_SIZE, lot_size: by name, or what a loader is given; never the constant 1."""
    if is_constant(script.resolved(node), 1):
        return False
    return BATCH_SIZE.search(last_name(node)) is not None or any(
        ast.dump(size) == ast.dump(node)
        for call in script.calls
        if script.tail(call) == "DataLoader" and (size := script.keyword(call, "batch_size")) is not None
    )


EXAMPLES_OF = {
    "compute_dp_sgd_privacy": "n",
    "compute_dp_sgd_privacy_statement": "number_of_examples",
}
"""Functions whose first argument is the number of examples, and its keyword."""
EXAMPLES = Slip(
    "the number of examples is given as the number of batches, so that the sampling rate is batch_size times too large",
    "give the number of examples, len(loader.dataset)",
)


def stated_examples(script: Script) -> Iterator[ast.expr]:
    """What such functions are told."""
    for call in script.calls:
        name = EXAMPLES_OF.get(script.tail(call))
        given = None if name is None else script.argument(call, 0, name)
        if given is not None:
            yield given
