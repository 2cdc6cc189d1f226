"""Noise that can be drawn again: keys that never change, generators with a seed in the script."""

from __future__ import annotations

import ast

from ..accounting import MAKE_PRIVATE
from ..noise_draws import DRAWS, KEYS, SEEDED, SEEDS, literally_seeded, noise_draws, seeded_globally
from ..rule import Found, Rule, Slip
from ..script import Script, dotted

SAME_KEY = Slip(
    "the noise has the same key in every step, so the difference of two steps has no noise",
    "split a fresh key for every draw, from one that the operating system's randomness made",
)
SEEDED_NOISE = Slip(
    "the seed of the noise is in this script, so anyone who reads it can subtract the noise",
    "use an unseeded generator; for a release use a cryptographic one (Opacus: secure_mode=True)",
)
RESEEDED = Slip(
    "the generator is seeded again next to the noise, which is then the same every time",
    "seed nothing that noise is drawn from, least of all in a loop",
)


def find(script: Script) -> Found:
    """Constant JAX keys, generators with a literal seed, global or not, seeding in the loop that draws the noise."""
    for call in noise_draws(script):
        yield from _by_key(script, call)
        yield from _by_generator(script, call, call.func.value if isinstance(call.func, ast.Attribute) else None)
        yield from _by_generator(script, call, script.keyword(call, "generator"))
        if seeded_globally(script, call):
            yield call, SEEDED_NOISE
    for call in script.calls:
        tail = script.tail(call)
        if tail in MAKE_PRIVATE:
            yield from _by_generator(script, call, script.keyword(call, "noise_generator"))
        if tail in SEEDS and script.loops(call) and _draws_beside(script, call):
            yield call, RESEEDED


def _by_key(script: Script, call: ast.Call) -> Found:
    if not script.origin(call.func).startswith("jax.random."):
        return
    given = script.argument(call, 0, "key")
    behind = None if given is None else script.resolved(given)
    if isinstance(behind, ast.Call) and script.tail(behind) in KEYS and literally_seeded(script, behind):
        direct = behind is given
        if direct or script.loops(call) or script.scope(call) is not script.tree:
            yield call, SAME_KEY


def _by_generator(script: Script, call: ast.Call, given: ast.expr | None) -> Found:
    behind = None if given is None else script.resolved(given)
    if isinstance(behind, ast.Call) and script.tail(behind) in SEEDED and literally_seeded(script, behind):
        yield call, SEEDED_NOISE


def _draws_beside(script: Script, call: ast.Call) -> bool:
    loop = script.loops(call)[0]
    return any(
        isinstance(part, ast.Call) and script.tail(part) in DRAWS and dotted(part.func) is not None
        for part in ast.walk(loop)
    )


RULE = Rule(
    id="noise-drawn-again",
    slip=(
        "noise by a constant JAX key, by a generator (a library's own too) with a literal seed, after seeding in "
        "the same loop"
    ),
    why="Anyone who can draw the noise again can subtract it.",
    instead="fresh keys; generators without a seed",
    find=find,
    bad="""import numpy as np
noise_multiplier = 1.0
rng = np.random.default_rng(0)
answer = total + rng.normal(0, noise_multiplier)  # slip
""",
    good="""import numpy as np
noise_multiplier = 1.0
answer = total + rng.normal(0, noise_multiplier)
""",
)
