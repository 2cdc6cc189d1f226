"""delta = 1 over the cohort or batch of one round."""

from __future__ import annotations

import ast
import re

from ..loaders import last_name
from ..named_values import deltas
from ..rule import Found, Rule, Slip
from ..script import Script

COHORT = re.compile(
    r"cohort|clients_per_round|sampled_clients|per_round|batch_?size|lot_?size|min_fit_clients", re.IGNORECASE
)
PER_COHORT = Slip(
    "delta is 1 over the cohort or batch of one round, far above 1 over the number of people protected",
    "take delta well below 1 / (number of people or examples in the whole data)",
)


def find(script: Script) -> Found:
    """delta = 1 / cohort."""
    for value in deltas(script):
        if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Div) and COHORT.search(last_name(value.right)):
            yield value, PER_COHORT


RULE = Rule(
    id="delta-from-cohort",
    slip="`delta = 1 / clients_per_round`, `1 / batch_size`",
    why="That is far above 1 over the number of people protected.",
    instead="well below 1 over all people or examples",
    find=find,
    bad="""from opacus import PrivacyEngine
delta = 1 / clients_per_round  # slip
""",
    good="delta = 0.1 / number_of_clients",
)
