"""A stated sensitivity below the stated clipping norm."""

from __future__ import annotations

import ast
import re

from ..named_values import named_values
from ..numbers import number
from ..rule import Found, Rule, Slip
from ..script import Script

CLIP = re.compile(r"^(clip|clipping)_?(norm|bound)$|^(max_grad|max)_?norm$|^l2_norm_clip$|^clip$", re.IGNORECASE)
SENSITIVITY = re.compile(r"^(l2_|l1_)?sensitivity$", re.IGNORECASE)
IN_UNITS_OF_CLIP = re.compile(r"^from_\w+_mechanism$|Event$")
"""dp-accounting's mechanisms take noise and sensitivity in one unit; with noise multipliers that is the clip."""


def find(script: Script) -> Found:
    clips = {found for _, value in named_values(script, CLIP) if (found := number(script, value)) is not None}
    if len(clips) != 1:
        return
    (clip,) = clips
    for _, value in named_values(script, SENSITIVITY):
        found = number(script, value)
        if found is not None and 0 < found < clip and not (found == 1 and _in_units_of_clip(script, value)):
            said = f"the sensitivity is {found:g} where clips are {clip:g}: noise {clip / found:g} times too small"
            yield value, Slip(said, "the sensitivity is the clipping norm (twice that when a contribution is replaced)")


def _in_units_of_clip(script: Script, value: ast.expr) -> bool:
    call = script.parents.get(script.parents.get(value, value))
    return isinstance(call, ast.Call) and IN_UNITS_OF_CLIP.search(script.tail(call)) is not None


RULE = Rule(
    id="sensitivity-below-clip",
    slip="a stated sensitivity below the stated clipping norm",
    why="One example can move the sum by the clipping norm, so the noise is too small.",
    instead="the clipping norm, or twice it",
    find=find,
    bad="""import dp_accounting
clip_norm = 2.0
sensitivity = 1.0  # slip
""",
    good="sensitivity = 2.0",
)
