"""A stated delta above 1 over a stated number of examples."""

from __future__ import annotations

import re

from ..named_values import deltas, named_values
from ..numbers import number
from ..rule import Found, Rule, Slip
from ..script import Script

POPULATION = re.compile(
    r"^(n|num|number_of|total)_(train|examples|samples|records|users|people|clients|rows)$|^(dataset|data|train|population)_size$"
    r"|^n_train$|^population$|^number_of_examples$",
    re.IGNORECASE,
)


def find(script: Script) -> Found:
    sizes = [found for _, value in named_values(script, POPULATION) if (found := number(script, value)) is not None]
    if not sizes or len(set(sizes)) > 1 or sizes[0] < 1:
        return
    for value in deltas(script):
        found = number(script, value)
        if found is not None and found > 1 / sizes[0]:
            said = f"delta is {found:g}, above 1 over the {sizes[0]:g} protected: one of them may be exposed"
            yield value, Slip(said, f"take delta well below {1 / sizes[0]:.2g}")


RULE = Rule(
    id="delta-above-one-over-n",
    slip="a stated delta above 1 over the stated number of examples",
    why="A release that publishes one of the examples satisfies such a delta.",
    instead="well below it",
    find=find,
    bad="""from opacus import PrivacyEngine
num_examples = 20_000
print(engine.get_epsilon(delta=1e-3))  # slip
""",
    good="print(engine.get_epsilon(delta=1e-6))",
)
