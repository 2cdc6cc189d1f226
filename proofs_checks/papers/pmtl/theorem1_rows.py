"""The rows of Theorem 1; evidence: theorem1.py."""

from __future__ import annotations

import math

from ..row import Kind, Row, Statement
from . import boxes
from . import theorem1 as evidence

_MOMENTS = {"p at most": 0.05, "epsilon": (0.5, 8.0), "log(1/delta)": (4.6, 23.1)}
_WHERE = {"epsilon": (0.05, 20.0), "mu*": (0.5, 12.0)}
_BOX = {"log(1/delta)": (2.3, 27.7), "epsilon / log(1/delta)": (0.01, 2.34)}

ROWS = (
    Row(
        id="PMTL-L1",
        paper="pmtl",
        place="Appendix A.1, Lemma 1 (from Abadi et al. 2016, Theorem 1)",
        kind=Kind.BALLS,
        evidence=evidence.moments_constants,
        printed=Statement(
            "There are constants c1, c2 such that DPSGD with sigma >= c2 p sqrt(T log(1/delta))/epsilon is (epsilon, "
            "delta)-DP for all epsilon < c1 p^2 T, all p and delta.",
            {"(c1, c2)": "any", "sampling": "Poisson, zero-out"},
            {"p at most": 1.0},
        ),
        repaired=Statement(
            "c1 = 1/20 and c2 = 4 do for p <= 1/20, 0.5 <= epsilon <= 8, 1e-10 <= delta <= 0.01, Poisson sampling.",
            {"(c1, c2)": (0.05, 4.0), "sampling": "Poisson, zero-out"},
            _MOMENTS,
        ),
    ),
    Row(
        id="PMTL-T1a",
        paper="pmtl",
        place="Section 4.2, Theorem 1, second part (q = m)",
        kind=Kind.BALLS,
        evidence=evidence.full_participation,
        printed=Statement(
            "With all clients in every round, sigma = 4 gamma sqrt(T log(1/delta))/(epsilon m) gives "
            "(epsilon, delta)-DP, for all epsilon and delta.",
            {"factor": 4},
            {"log(1/delta)": (2.3, 27.7), "epsilon / log(1/delta)": (0.01, 50.0)},
        ),
        repaired=Statement(
            "It does where epsilon <= 2.34 log(1/delta). (That is (8 - 4 sqrt 2) log(1/delta) rounded down.)",
            {"factor": 4},
            {"log(1/delta)": (2.3, 27.7), "epsilon / log(1/delta)": (0.01, 2.34)},
        ),
    ),
    Row(
        id="PMTL-C-T1",
        paper="pmtl",
        place="Our correction of Theorem 1, second part",
        kind=Kind.BALLS,
        evidence=evidence.least_noise,
        printed=Statement(
            "sigma = 2 gamma sqrt(T)/(m mu*(epsilon, delta)) is enough and needed, for replaced data, adaptive rounds "
            "and stateful clients. (mu* is the largest shift of a Gaussian pair that is (epsilon, delta)-DP.)",
            {"times the least noise": 1.0},
            _WHERE,
        ),
        spoilt=Statement(
            "One percent less noise is enough.",
            {"times the least noise": 0.99},
            _WHERE,
        ),
    ),
    Row(
        id="PMTL-T1-general",
        paper="pmtl",
        place="Section 4.2, after Theorem 1: other local objectives and aggregation methods",
        kind=Kind.BALLS,
        evidence=boxes.full_participation,
        printed=Statement(
            "Theorem 1's noise serves any aggregation into a single model, such as weights of up to 2/m (the code "
            "weighs by sample counts), where epsilon <= 2.34 log(1/delta).",
            {"factor": 4},
            _BOX | {"largest move, times 2 gamma/m": 2.0},
        ),
        repaired=Statement(
            "It serves averages in which no client's weight is above 1/m, whatever the local objective.",
            {"factor": 4},
            _BOX | {"largest move, times 2 gamma/m": 1.0},
        ),
    ),
    Row(
        id="PMTL-C-T1a-arithmetic",
        paper="pmtl",
        place="Our correction of Lemma 1, C-T1a: from the moment bound to epsilon",
        kind=Kind.SMT,
        evidence=boxes.amplified_noise,
        printed=Statement(
            "T 2 p^2 alpha/z^2 + log(1/delta)/(alpha - 1) <= epsilon for z >= 4 p sqrt(T log(1/delta))/epsilon, "
            "alpha = 1 + 2 log(1/delta)/epsilon and epsilon <= 2 log(1/delta).",
            {"c2": "4"},
        ),
        spoilt=Statement("It is for 3.9 in place of 4.", {"c2": "3.9"}),
    ),
    Row(
        id="PMTL-T1b",
        paper="pmtl",
        place="Section 4.2, Theorem 1, first part (q < m)",
        kind=Kind.BALLS,
        evidence=evidence.moments_constants,
        printed=Statement(
            "There are constants c1, c2 such that sigma >= c2 gamma sqrt(T log(1/delta))/(epsilon m) gives (epsilon, "
            "delta)-DP for all epsilon < c1 (q/m)^2 T, all q, m and delta.",
            {"(c1, c2)": "any", "sampling": "fixed size, replace-one"},
            {"p at most": 1.0},
        ),
        repaired=Statement(
            "Before an outside reader and with stateless clients, c1 = 1/20 and c2 = 8 sqrt 2 do for q/m <= 1/20, "
            "0.5 <= epsilon <= 8, 1e-10 <= delta <= 0.01, cohorts of a fixed size and replaced data.",
            {"(c1, c2)": (0.05, 8 * math.sqrt(2)), "sampling": "fixed size, replace-one"},
            _MOMENTS,
        ),
    ),
    Row(
        id="PMTL-T1b-lemma",
        paper="pmtl",
        place="Appendix A.1, after (19): Lemma 1 applied directly",
        kind=Kind.INTERVAL,
        evidence=evidence.accounted_as,
        printed=Statement(
            "The Poisson, add-remove accounting with multiplier z = q sigma/gamma covers cohorts of a fixed size and "
            "replaced data.",
            {"multiplier divided by": 1.0, "accounting": "exact"},
        ),
        repaired=Statement(
            "For stateless clients and hidden cohorts the accounting has to use z/2, in Renyi divergences. (The "
            "replaced client moves by 2 gamma; exact accounting at z/2 falls short by a few ten-thousandths, against "
            "others who follow what was released.)",
            {"multiplier divided by": 2.0, "accounting": "Renyi"},
        ),
    ),
    Row(
        id="PMTL-C2-m",
        paper="pmtl",
        place="Section 4.2, after Corollary 2",
        kind=Kind.INTERVAL,
        evidence=evidence.limits,
        printed=Statement(
            "The more tasks, the smaller sigma: it vanishes as m grows, at the same epsilon.",
            {"epsilon": 1.0},
            {"cohort": "100"},
        ),
        repaired=Statement(
            "True where the cohort grows with m. (With q = m, sigma falls like 1/m.)",
            {"epsilon": 1.0},
            {"cohort": "all"},
        ),
    ),
)
"""The rows of Theorem 1."""
