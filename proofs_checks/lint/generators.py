"""Which calls make or seed a generator of random numbers."""

from __future__ import annotations

import ast

from .numbers import number
from .script import Script

KEYS = ("PRNGKey", "key")
SEEDED = ("default_rng", "RandomState", "Generator", "manual_seed", "Random")
SEEDS = ("manual_seed", "seed", "set_seed", "set_random_seed", "seed_everything")
GLOBALS = {"torch": "torch.manual_seed", "numpy": "numpy.random.seed", "random": "random.seed"}
"""What seeds the generator that a library's own functions draw from."""
SEED_ALL = ("set_seed", "seed_everything", "fix_seed", "fix_seeds")


def seeded_globally(script: Script, call: ast.Call) -> bool:
    """torch.randn_like(g) after torch.manual_seed(0): the seed is that of every draw without a generator."""
    library = script.origin(call.func).partition(".")[0]
    if library not in GLOBALS or script.keyword(call, "generator") is not None:
        return False
    return any(
        (name := script.origin(seeding.func)) == GLOBALS[library] or name.rpartition(".")[2] in SEED_ALL
        for seeding in script.calls
        if literally_seeded(script, seeding)
    )


def literally_seeded(script: Script, call: ast.Call) -> bool:
    """Is the first argument a number that the script states?"""
    given = [*call.args, *(named.value for named in call.keywords)]
    return bool(given) and number(script, given[0]) is not None
