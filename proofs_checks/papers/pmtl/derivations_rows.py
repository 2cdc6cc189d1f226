"""The rows of steps between displays, of what Algorithm 1 puts out and of units; evidence: derivations.py."""

from __future__ import annotations

from ..row import Kind, Row, Statement
from . import derivations as evidence


def _identity(name: str, place: str, display: str, says: str, spoilt: str, factor: str) -> Row:
    where = {"display": display}
    printed = Statement(says, {"factor": "1"}, where)
    return Row(
        f"PMTL-{name}",
        "pmtl",
        place,
        Kind.SYMBOLIC,
        evidence.identity,
        printed,
        spoilt=Statement(spoilt, {"factor": factor}, where),
    )


ROWS = (
    Row(
        id="PMTL-E7",
        paper="pmtl",
        place="Section 4.2, (7): h_k maps into W, the models",
        kind=Kind.SYMBOLIC,
        evidence=evidence.round_of_7,
        printed=Statement("(7) with h_k the result of client k's local solve is line 8.", {"h_k": "the new model"}),
        repaired=Statement("It is with h_k the difference from client k's last model.", {"h_k": "the difference"}),
    ),
    Row(
        id="PMTL-ALG-out",
        paper="pmtl",
        place="Algorithm 1, line 10: outputs w_1, ..., w_m as differentially private personalized models",
        kind=Kind.COUNTEREXAMPLE,
        evidence=evidence.outputs,
        printed=Statement("All output models together are as private as the broadcasts.", {"seen": "all models"}),
        repaired=Statement(
            "All but the changed client's own are: billboard privacy, not differential privacy.",
            {"seen": "the others'"},
        ),
    ),
    Row(
        id="PMTL-T-units",
        paper="pmtl",
        place="Section 4.3: T of Theorem 1 (rounds) put into Theorems 3 and 5 (local steps)",
        kind=Kind.TRAINER,
        evidence=evidence.releases,
        printed=Statement("T local steps make T noisy broadcasts.", {"broadcasts": "T"}, {"E": 4}),
        repaired=Statement(
            "They do where E = 1. (Otherwise they make T/E: sigma is larger than needed by sqrt E, on the safe side.)",
            {"broadcasts": "T"},
            {"E": 1},
        ),
    ),
    Row(
        id="PMTL-T6-pk",
        paper="pmtl",
        place="Appendix A.2, before (32)",
        kind=Kind.SYMBOLIC,
        evidence=evidence.selection_probability,
        printed=Statement("A client is selected with probability C(m-1, q-1)/C(m, q) = q/m.", {"factor": "1"}),
        spoilt=Statement("It is selected with probability 0.97 q/m.", {"factor": "0.97"}),
    ),
    _identity(
        "T6-73",
        "Appendix A.2, (70) to (73)",
        "(73)",
        "Twice (66)'s last term is (73)'s.",
        "It is 0.97 times that.",
        "0.97",
    ),
    Row(
        id="PMTL-T6-75",
        paper="pmtl",
        place="Appendix A.2, (74) to (75)",
        kind=Kind.SYMBOLIC,
        evidence=evidence.square_75,
        printed=Statement(
            "lambda (d sigma^2 + 2 sigma sqrt(2 d B/lambda) + 2B/lambda) = (sqrt(d lambda) sigma + sqrt(2B))^2.",
            {"factor": "1"},
        ),
        spoilt=Statement("It is 1.03 times that square.", {"factor": "1.03"}),
    ),
    Row(
        id="PMTL-E10",
        paper="pmtl",
        place="Section 4.3, (9) to (10): first term at T = m/(lambda d gamma^2)",
        kind=Kind.SMT,
        evidence=evidence.first_term_of_10,
        printed=Statement("lambda/T is at most d gamma^2/m.", {"bound": "d gamma^2/m"}, {"lambda": "any"}),
        repaired=Statement("It is where lambda <= 1.", {"bound": "d gamma^2/m"}, {"lambda": "at most 1"}),
    ),
    _identity(
        "T6-31",
        "Section 4.3, (9) to (10); Appendix A.2, (29) to (31): noise term at T = m/(lambda d gamma^2)",
        "(31)",
        "d lambda sigma^2/E is log(1/delta)/(m E epsilon^2), the constants being 1.",
        "It is 1.05 times that.",
        "1.05",
    ),
    _identity(
        "T7-119",
        "Appendix A.3, (118) to (119): noise term at T = m/(lambda d gamma^2)",
        "(119)",
        "m lambda d sigma^2 is log(1/delta)/epsilon^2, the constants being 1.",
        "It is 1.05 times that.",
        "1.05",
    ),
    Row(
        id="PMTL-T7-113",
        paper="pmtl",
        place="Appendix A.3, (112) to (115)",
        kind=Kind.SMT,
        evidence=evidence.step_113,
        printed=Statement("A round contracts around D = M/(1 - r^E).", {"D, times M/(1 - u)": "1"}),
        spoilt=Statement("It contracts around 0.97 D.", {"D, times M/(1 - u)": "0.97"}),
    ),
    Row(
        id="PMTL-T7-118",
        paper="pmtl",
        place="Appendix A.3, (117) to (118), T = E",
        kind=Kind.SMT,
        evidence=evidence.step_118,
        printed=Statement("(117) is at most (118).", {"relation": "<="}, {"Delta_0": "any"}),
        repaired=Statement("It is where Delta_0 >= 0.", {"relation": "<="}, {"Delta_0": "at least 0"}),
    ),
    Row(
        id="PMTL002-C6",
        paper="pmtl-jdp",
        place="Section 4.3, Corollary 6, (14), with f_k >= 0",
        kind=Kind.SMT,
        evidence=evidence.bound_14,
        printed=Statement(
            "Without noise, Delta_T/m is at most (1 - x)^T (Delta_0/m - B/x) + B/x, x = eta p (c - 2)(mu + lambda).",
            {"B in the bracket": "1"},
        ),
        spoilt=Statement("The same with 0.95 B for B.", {"B in the bracket": "0.95"}),
    ),
)
"""The rows of these steps."""
