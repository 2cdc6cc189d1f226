"""The rows on what the lines of Algorithm 1 and (7) reveal; evidence: algorithm_privacy.py."""

from __future__ import annotations

from ..row import Kind, Row, Statement
from . import algorithm_privacy as evidence

ROWS = (
    Row(
        id="PMTL-ALG-c",
        paper="pmtl",
        place="Algorithm 1, line 1 and 3",
        kind=Kind.COUNTEREXAMPLE,
        evidence=evidence.first_broadcast,
        printed=Statement(
            "Broadcasting w~^0, the mean of the initial models, reveals nothing.",
            {"noise on w~^0": 0},
            {"initial models": "from the data"},
        ),
        repaired=Statement(
            "True where the initial models do not depend on the data. (Otherwise epsilon is infinite.)",
            {"noise on w~^0": 0},
            {"initial models": "independent of the data"},
        ),
    ),
    Row(
        id="PMTL-ALG-d",
        paper="pmtl",
        place="Section 4.2, composition of M^1 to M^T; Algorithm 1, line 5 (w_k kept between rounds)",
        kind=Kind.COUNTEREXAMPLE,
        evidence=evidence.rounds_compose,
        printed=Statement(
            "Amplified rounds compose although clients keep w_k between them.",
            {"times the accounted delta": 1.0},
            {"cohorts": "fixed size", "clients keep w_k": True},
        ),
        repaired=Statement(
            "They do with independent coins for each client.",
            {"times the accounted delta": 1.0},
            {"cohorts": "independent coins", "clients keep w_k": True},
        ),
    ),
    Row(
        id="PMTL-ALG-d-stateless",
        paper="pmtl",
        place="Section 4.2, composition of M^1 to M^T, where clients keep nothing",
        kind=Kind.COUNTEREXAMPLE,
        evidence=evidence.rounds_compose,
        printed=Statement(
            "Amplified rounds with cohorts of a fixed size compose (for an outside reader) when clients keep nothing.",
            {"times the accounted delta": 1.0},
            {"cohorts": "fixed size", "clients keep w_k": False},
        ),
        spoilt=Statement(
            "They cost 3% less than accounted round by round.",
            {"times the accounted delta": 0.97},
            {"cohorts": "fixed size", "clients keep w_k": False},
        ),
    ),
    Row(
        id="PMTL-C2-function",
        paper="pmtl",
        place="Section 4.2, Corollary 2: outputs h'_k(D_k, M^{1:T})",
        kind=Kind.TRAINER,
        evidence=evidence.own_membership,
        printed=Statement(
            "Client k's output is a function of its data and of the broadcasts.",
            {"function of": "D_k, w~^{1:T}"},
            {"cohort": "half"},
        ),
        repaired=Statement(
            "True with q = m; with q < m it also depends on the rounds in which k took part.",
            {"function of": "D_k, w~^{1:T}"},
            {"cohort": "all"},
        ),
    ),
    Row(
        id="PMTL-ALG-e",
        paper="pmtl",
        place="Section 4.1, secure aggregation as a natural extension",
        kind=Kind.SMT,
        evidence=evidence.clipped_sum,
        printed=Statement(
            "With secure aggregation, the sum still moves by at most 2 gamma when one client's data are replaced.",
            {"moves by at most": "2 gamma"},
            {"clipping at": "the server (line 8)"},
        ),
        repaired=Statement(
            "True when clients clip before they send.", {"moves by at most": "2 gamma"}, {"clipping at": "the clients"}
        ),
    ),
    Row(
        id="PMTL-ALG-size",
        paper="pmtl",
        place="Algorithm 1, line 8, under Poisson sampling (as the accounting assumes)",
        kind=Kind.SMT,
        evidence=evidence.cohort_size,
        printed=Statement(
            "A client's presence moves the average by at most gamma/q, q the expected cohort.",
            {"moves by at most": "gamma/q"},
            {"divided by": "|S_t|"},
        ),
        repaired=Statement(
            "True where the sum is divided by the constant q.", {"moves by at most": "gamma/q"}, {"divided by": "q"}
        ),
    ),
    Row(
        id="PMTL-ALG-f",
        paper="pmtl",
        place="Section 4.2, after (7)",
        kind=Kind.COUNTEREXAMPLE,
        evidence=evidence.participants,
        printed=Statement("A round is a Sampled Gaussian Mechanism.", {"mechanism": "SGM"}, {"cohorts": "fixed size"}),
        repaired=Statement(
            "True with independent coins and division by the constant q.",
            {"mechanism": "SGM"},
            {"cohorts": "independent coins"},
        ),
    ),
    Row(
        id="PMTL-ALG-f-clip",
        paper="pmtl",
        place="Section 4.2, (7): the mean of h_k(D_k, w~) in W, W closed",
        kind=Kind.SMT,
        evidence=evidence.unclipped_mean,
        printed=Statement(
            "The mean in (7) moves by at most 2 gamma/q when one client's data are replaced.",
            {"moves by at most": "2 gamma/q"},
            {"terms of the mean": "h_k in W"},
        ),
        repaired=Statement(
            "True of the clipped differences that line 8 averages.",
            {"moves by at most": "2 gamma/q"},
            {"terms of the mean": "clipped"},
        ),
    ),
)
"""The rows on what Algorithm 1 reveals."""
