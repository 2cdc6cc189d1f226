"""Billboard and joint differential privacy: typed guarantees, the reductions between them, and who sees what."""

from .guarantees import Guarantee, Observer, UnlikeGuarantees, compose
from .observers import Observed, observer_epsilon
from .reductions import billboard_implies_joint, billboard_lemma, dp_implies_joint, group, post_process

__all__ = [
    "Guarantee",
    "Observed",
    "Observer",
    "UnlikeGuarantees",
    "billboard_implies_joint",
    "billboard_lemma",
    "compose",
    "dp_implies_joint",
    "group",
    "observer_epsilon",
    "post_process",
]
