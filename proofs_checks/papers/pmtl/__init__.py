"""Private Multi-Task Learning (Hu, Wu, Smith): the TMLR version, and the earlier one where it differs.

T counts communication rounds in the privacy statements and local steps in those on convergence, as in the paper.
z = q sigma / gamma is the noise multiplier of the clipped sum, L_d = log(1/delta).
"""

from __future__ import annotations

from ..row import Row
from .algorithm import ROWS as ALGORITHM
from .algorithm_privacy_rows import ROWS as ALGORITHM_PRIVACY
from .appendix_a1_rows import ROWS as APPENDIX_A1
from .audits import ROWS as AUDITS
from .convergence_rows import ROWS as CONVERGENCE
from .corollary2_rows import ROWS as COROLLARY_2
from .corrected_rows import ROWS as CORRECTED
from .dependence_rows import ROWS as DEPENDENCE
from .derivations_rows import ROWS as DERIVATIONS
from .earlier import ROWS as EARLIER
from .experiments import ROWS as EXPERIMENTS
from .setup_rows import ROWS as SETUP
from .theorem1_rows import ROWS as THEOREM_1
from .theorem6_rows import ROWS as THEOREM_6
from .theorem7_rows import ROWS as THEOREM_7


def rows() -> tuple[Row, ...]:
    """All rows, in the paper's order."""
    return (
        *SETUP,
        *ALGORITHM,
        *ALGORITHM_PRIVACY,
        *APPENDIX_A1,
        *THEOREM_1,
        *COROLLARY_2,
        *AUDITS,
        *EXPERIMENTS,
        *THEOREM_6,
        *THEOREM_7,
        *CONVERGENCE,
        *(row for row in DERIVATIONS if row.paper == "pmtl"),
        *DEPENDENCE,
        *CORRECTED,
        *EARLIER,
        *(row for row in DERIVATIONS if row.paper == "pmtl-jdp"),
    )
