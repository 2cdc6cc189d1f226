"""MOCHA (Smith, Chiang, Sanjabi, Talwalkar 2017): federated multi-task learning by distributed dual ascent.

m tasks, X_t of shape (d, n_t), n = sum n_t; problem (1) is a sum over all samples, and its dual D is minimised.
Lemma 9, Corollary 8, (14), (24) and Appendices B to E are cited by the main text and absent from it.
"""

from __future__ import annotations

from ..row import Row
from .alternation import ROWS as ALTERNATION
from .assumption_2 import ROWS as ASSUMPTION_2
from .cocoa import ROWS as COCOA
from .dual import ROWS as DUAL
from .experiments import ROWS as EXPERIMENTS
from .made_tasks import ROWS as MADE_TASKS
from .subproblem import ROWS as SUBPROBLEM
from .theorem_1 import ROWS as THEOREM_1
from .theorem_2 import ROWS as THEOREM_2
from .theorem_2_runs import ROWS as THEOREM_2_RUNS


def rows() -> tuple[Row, ...]:
    """All rows, in the paper's order."""
    theory = (*DUAL, *SUBPROBLEM, *ASSUMPTION_2, *THEOREM_1, *THEOREM_2, *THEOREM_2_RUNS)
    return (*theory, *COCOA, *ALTERNATION, *EXPERIMENTS, *MADE_TASKS)
