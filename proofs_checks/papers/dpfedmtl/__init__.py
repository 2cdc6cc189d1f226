"""DPFedMTL (Wu, Chen, Wang 2020): hard parameter sharing with Gaussian noise on the shared layers' gradients.

M clients, K of them a round, T rounds; C the clipping bound, sigma S the noise that a client adds; p = K/M. Section 5
works with H (rounds between synchronisations), L (smoothness), lambda (gradient diversity), d = dim V_{M+1}.
"""

from __future__ import annotations

from ..row import Row
from .algorithm_1 import ROWS as ALGORITHM_1
from .composition import ROWS as COMPOSITION
from .limit import ROWS as LIMIT
from .noise_formula import ROWS as NOISE_FORMULA
from .sensitivity import ROWS as SENSITIVITY
from .subsampling import ROWS as SUBSAMPLING
from .tables import ROWS as TABLES


def rows() -> tuple[Row, ...]:
    """All rows, in the paper's order."""
    return (*ALGORITHM_1, *SENSITIVITY, *SUBSAMPLING, *COMPOSITION, *LIMIT, *NOISE_FORMULA, *TABLES)
