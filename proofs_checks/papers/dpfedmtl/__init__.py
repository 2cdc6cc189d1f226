"""DPFedMTL (Wu, Chen, Wang 2020): hard parameter sharing with Gaussian noise on the shared layers' gradients.

M clients, K of them a round, T rounds; C the clipping bound, sigma S the noise that a client adds; p = K/M. Section 5
works with H (rounds between synchronisations), L (smoothness), lambda (gradient diversity), d = dim V_{M+1}.
"""

from __future__ import annotations

from ..row import Row
from .algebra_5 import ROWS as ALGEBRA_5
from .algorithm_1 import ROWS as ALGORITHM_1
from .assumptions import ROWS as ASSUMPTIONS
from .boxes import ROWS as BOXES
from .composition import ROWS as COMPOSITION
from .descent import ROWS as DESCENT
from .inductions import ROWS as INDUCTIONS
from .limit import ROWS as LIMIT
from .noise_formula import ROWS as NOISE_FORMULA
from .rates_5 import ROWS as RATES_5
from .run_audit import ROWS as RUN_AUDIT
from .sampled_audit import ROWS as SAMPLED_AUDIT
from .sensitivity import ROWS as SENSITIVITY
from .subsampling import ROWS as SUBSAMPLING
from .subspaces import ROWS as SUBSPACES
from .tables import ROWS as TABLES
from .theorem_5_3 import ROWS as THEOREM_5_3
from .theorems_5 import ROWS as THEOREMS_5
from .trainer_run import ROWS as TRAINER_RUN


def rows() -> tuple[Row, ...]:
    """All rows, in the paper's order."""
    privacy = (*ALGORITHM_1, *SENSITIVITY, *BOXES, *SUBSAMPLING, *COMPOSITION, *RUN_AUDIT, *LIMIT, *SAMPLED_AUDIT)
    convergence = (*SUBSPACES, *ASSUMPTIONS, *ALGEBRA_5, *DESCENT, *INDUCTIONS)
    runs = (*THEOREMS_5, *THEOREM_5_3, *TRAINER_RUN, *RATES_5)
    return (*privacy, *convergence, *runs, *NOISE_FORMULA, *TABLES)
