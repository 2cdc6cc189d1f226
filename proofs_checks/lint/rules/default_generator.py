"""Noise from a generator that was made for simulations: a note, not a slip, for it is what most scripts do."""

from __future__ import annotations

import ast

from ..noise_draws import SEEDED, literally_seeded, noise_draws, seeded_globally
from ..rule import Found, Rule, Slip
from ..script import Script

DEFAULT = Slip(
    "the noise comes from a library's default generator, whose state can be computed from enough of its output; no "
    "epsilon covers that",
    "for a release draw it from the operating system's randomness (random.SystemRandom, Opacus's secure_mode=True, "
    "OpenDP's samplers); for an experiment leave it",
)
GIVEN_SEED = Slip(
    "the noise comes from a seeded generator, so anyone who learns the seed can subtract the noise",
    "for a release use an unseeded cryptographic generator; for an experiment leave it as it is",
)
FUNCTIONS = ("random.", "numpy.random.", "torch.", "tensorflow.random.")


def find(script: Script) -> Found:
    """random, numpy, torch or TensorFlow's own generator behind noise. Silent where noise_drawn_again speaks, where
    the generator is a parameter, and of noise that a library adds: that is the library's to say.
    """
    for call in noise_draws(script):
        made = _generator(script, call)
        if made is None:
            if _own_function(script, call) and not seeded_globally(script, call):
                yield call, DEFAULT
        elif isinstance(made, ast.Call) and script.tail(made) in SEEDED and not literally_seeded(script, made):
            yield call, GIVEN_SEED if made.args or made.keywords else DEFAULT


def _own_function(script: Script, call: ast.Call) -> bool:
    """A function of the library, or a tensor's method in place, which only torch has."""
    return script.origin(call.func).startswith(FUNCTIONS) or script.tail(call) == "normal_"


def _generator(script: Script, call: ast.Call) -> ast.expr | None:
    """What the draw is told to draw from: generator=..., or the object whose method it is; None for neither."""
    if (given := script.keyword(call, "generator")) is not None:
        return script.resolved(given)
    if _own_function(script, call) or not isinstance(call.func, ast.Attribute):
        return None
    return script.resolved(call.func.value)


RULE = Rule(
    id="default-generator",
    slip=(
        "noise from the default generator of `random`, numpy, torch or TensorFlow, or from one with a seed that "
        "the script is given"
    ),
    why="The generator's state can be computed from enough of its output. No epsilon covers that.",
    instead=(
        "for a release the operating system's randomness: `random.SystemRandom`, Opacus's `secure_mode=True`, "
        "OpenDP's samplers; for an experiment leave it"
    ),
    find=find,
    bad="""import random
noise_multiplier = 1.0
total = total + random.gauss(0, noise_multiplier)  # slip
""",
    good="total = total + random.SystemRandom().gauss(0, noise_multiplier)",
    level="note",
)
