"""A delta that is too large, or of something else than the people protected."""

from __future__ import annotations

import ast
import re

from ..loaders import counts_batches, last_name
from ..named_values import deltas, named_values
from ..numbers import number
from ..rule import Found, Rule, Slip
from ..script import Script

POPULATION = re.compile(
    r"^(n|num|number_of|total)_(train|examples|samples|records|users|people|clients|rows)$|^(dataset|data|train|population)_size$"
    r"|^n_train$|^population$|^number_of_examples$",
    re.IGNORECASE,
)


def delta_above_one_over_n(script: Script) -> Found:
    sizes = [found for _, value in named_values(script, POPULATION) if (found := number(script, value)) is not None]
    if not sizes or len(set(sizes)) > 1 or sizes[0] < 1:
        return
    for value in deltas(script):
        found = number(script, value)
        if found is not None and found > 1 / sizes[0]:
            said = f"delta is {found:g}, above 1 over the {sizes[0]:g} protected: one of them may be exposed"
            yield value, Slip(said, f"take delta well below {1 / sizes[0]:.2g}")


DELTA_ABOVE_ONE_OVER_N = Rule(
    id="delta-above-one-over-n",
    slip="a stated delta above 1 over the stated number of examples",
    why="A release that publishes one of the examples satisfies such a delta.",
    instead="well below it",
    find=delta_above_one_over_n,
    bad="""from opacus import PrivacyEngine
num_examples = 20_000
print(engine.get_epsilon(delta=1e-3))  # slip
""",
    good="print(engine.get_epsilon(delta=1e-6))",
)


SMALLEST_NUMERATOR = 0.1
"""Below this, 1 / batches may be a margin that somebody meant: nothing is said."""
SLIP = Slip(
    "delta is 1 over the number of batches, which is batch_size times larger than 1 over the number of examples",
    "take delta well below 1 / len(loader.dataset), the number of examples (or people) protected",
)


def delta_from_batches(script: Script) -> Found:
    """Where a delta is one over a count of batches."""
    for value in deltas(script):
        if one_over_batches(script, value):
            yield value, SLIP


def one_over_batches(script: Script, value: ast.expr) -> bool:
    """1 / len(loader), 1 / len(loader) ** 1.1, len(loader) ** -1; not 1 / (len(loader) * batch_size)."""
    if not isinstance(value, ast.BinOp):
        return False
    if isinstance(value.op, ast.Pow):
        negative = isinstance(value.right, ast.UnaryOp) and isinstance(value.right.op, ast.USub)
        return negative and counts_batches(script, value.left)
    if not (isinstance(value.op, ast.Div) and _is_about_one(value.left)):
        return False
    divisor = value.right
    if isinstance(divisor, ast.BinOp) and isinstance(divisor.op, ast.Pow):
        divisor = divisor.left
    return counts_batches(script, divisor)


def _is_about_one(node: ast.expr) -> bool:
    number = node.value if isinstance(node, ast.Constant) else None
    return isinstance(number, int | float) and number >= SMALLEST_NUMERATOR


DELTA_FROM_BATCHES = Rule(
    id="delta-from-batches",
    slip="`delta = 1 / len(train_loader)`",
    why=(
        "The length of a loader is its number of batches, so this delta is batch_size times larger than 1 over "
        "the number of examples. A delta near 1 over the number of examples already allows to publish one of "
        "them."
    ),
    instead="delta well below `1 / len(train_loader.dataset)`",
    find=delta_from_batches,
    bad="""from opacus import PrivacyEngine
delta = 1 / len(train_loader)  # slip
""",
    good="delta = 0.1 / len(train_loader.dataset)",
)


COHORT = re.compile(
    r"cohort|clients_per_round|sampled_clients|per_round|batch_?size|lot_?size|min_fit_clients", re.IGNORECASE
)
PER_COHORT = Slip(
    "delta is 1 over the cohort or batch of one round, far above 1 over the number of people protected",
    "take delta well below 1 / (number of people or examples in the whole data)",
)


def delta_from_cohort(script: Script) -> Found:
    """delta = 1 / cohort."""
    for value in deltas(script):
        if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Div) and COHORT.search(last_name(value.right)):
            yield value, PER_COHORT


DELTA_FROM_COHORT = Rule(
    id="delta-from-cohort",
    slip="`delta = 1 / clients_per_round`, `1 / batch_size`",
    why="That is far above 1 over the number of people protected.",
    instead="well below 1 over all people or examples",
    find=delta_from_cohort,
    bad="""from opacus import PrivacyEngine
delta = 1 / clients_per_round  # slip
""",
    good="delta = 0.1 / number_of_clients",
)
