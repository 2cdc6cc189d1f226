"""A clipping norm that bounds nothing."""

from __future__ import annotations

import math
import re

from ..named_values import named_values
from ..numbers import number
from ..rule import Found, Rule, Slip
from ..script import Script

CLIPS = re.compile(r"^(max_grad_norm|l2_norm_clip|clip_norm|clipping_norm|max_norm)$", re.IGNORECASE)
NO_BOUND = 1e6
UNBOUNDED = Slip(
    "the clipping norm bounds nothing: one example can change the sum by any amount, or the noise has no scale",
    "clip at a number in the range of the gradients' norms",
)


def find(script: Script) -> Found:
    """max_grad_norm=inf, or as good as that."""
    for _, value in named_values(script, CLIPS):
        found = number(script, value)
        if found is not None and (math.isinf(found) or found >= NO_BOUND):
            yield value, UNBOUNDED


RULE = Rule(
    id="clip-bounds-nothing",
    slip='`max_grad_norm=float("inf")`, or 1e6 and more',
    why="One example can then change the sum by any amount.",
    instead="a norm in the range of the gradients'",
    find=find,
    bad="""from opacus import PrivacyEngine
PrivacyEngine().make_private(module=m, max_grad_norm=float('inf'))  # slip
""",
    good="PrivacyEngine().make_private(module=m, max_grad_norm=1.0)",
)
