"""The rows of Theorem 7's algebra; evidence: theorem7.py."""

from __future__ import annotations

from typing import Any

from ..row import Kind, Row, Statement
from . import theorem7 as evidence
from . import theorem7_step as step


def _row(name: str, place: str, function: Any, printed: Statement | tuple[Statement, ...], **more: Any) -> Row:
    kind = more.pop("kind", Kind.SMT)
    return Row(id=f"PMTL-{name}", paper="pmtl", place=place, kind=kind, evidence=function, printed=printed, **more)


ROWS = (
    _row(
        "T7-step",
        "Section 4.3, Theorem 5; Appendix A.3, Theorem 7: step size",
        step.stable_step,
        Statement(
            "eta = cp/(Lp^2 + lambda p^2 - 2 lambda) with 1/2 <= eta p (c - 2)(mu + lambda) <= 1 is a stable "
            "step size.",
            {"step size": "printed"},
        ),
        repaired=Statement("Every eta of at most 1/(L + lambda) is one.", {"step size": "at most 1/(L + lambda)"}),
    ),
    _row(
        "T7-step-none",
        "Appendix A.3, Theorem 7: step size",
        step.no_stable_step,
        Statement("Some admissible step size lies within the stability limit.", {"where": "in (0, 2/(L + lambda)]"}),
        repaired=Statement(
            "All of them are negative or beyond the limit 2/(L + lambda).", {"where": "below 0 or above 2/(L + lambda)"}
        ),
    ),
    _row(
        "T7-step-exists",
        "Appendix A.3, Theorem 7: the constant c",
        step.admissible_exists,
        Statement("There is a constant c with 1/2 <= eta p (c - 2)(mu + lambda) <= 1.", {"c": "exists"}, {"p": "any"}),
        repaired=Statement(
            "There is one where p^2 (L + lambda) > 2 lambda.", {"c": "exists"}, {"p": "p^2 (L + lambda) > 2 lambda"}
        ),
    ),
    _row(
        "T7-rate",
        "Appendix A.3, Theorem 7: the rate 2^-T",
        step.halving_rate,
        Statement(
            "A fixed step halves the gap in every step, whatever the condition number.",
            {"factor": 0.5},
            {"(L + lambda)/(mu + lambda) at most": None},
        ),
        repaired=Statement(
            "It does where (L + lambda)/(mu + lambda) <= 5.8.",
            {"factor": 0.5},
            {"(L + lambda)/(mu + lambda) at most": 5.8},
        ),
    ),
    _row(
        "T7-83",
        "Appendix A.3, (82) to (83)",
        evidence.step_83,
        Statement(
            "Strong convexity replaces the squared gradient by 2 (mu + lambda) times the gap.",
            {"inequality": "(83)"},
            {"coefficient": "any"},
        ),
        repaired=Statement(
            "It does where the coefficient is at most 0, that is eta <= 2/((L + lambda) p).",
            {"inequality": "(83)"},
            {"coefficient": "at most 0"},
        ),
    ),
    _row(
        "T7-84",
        "Appendix A.3, (83) to (84)",
        evidence.step_84,
        Statement("The gap may be taken to f_k(w_k*; w~*) instead.", {"compared with": "f_k(w_k*; w~*)"}),
        repaired=Statement(
            "It has to be taken to the minimum of f_k(.; w~^t).", {"compared with": "min_w f_k(w; w~^t)"}
        ),
        kind=Kind.COUNTEREXAMPLE,
    ),
    _row(
        "T7-97",
        "Appendix A.3, (96) to (97)",
        evidence.clipping_97,
        Statement(
            "The clipped update has the norm of eta grad min(1, gamma/||grad||), eta < 1.",
            {"clipping at": "gamma/||grad||"},
        ),
        repaired=Statement(
            "It has the norm of eta grad min(1, gamma/(eta ||grad||)), as in (47).",
            {"clipping at": "gamma/(eta ||grad||)"},
        ),
    ),
    _row(
        "T7-103",
        "Appendix A.3, (102) to (103)",
        evidence.step_103,
        Statement("(102) is at most (103).", {"coefficient of sqrt(d) sigma sqrt(2B/lambda)": "2"}),
        spoilt=Statement(
            "It is with 1.94 in place of the 2 before sqrt(d) sigma.",
            {"coefficient of sqrt(d) sigma sqrt(2B/lambda)": "1.94"},
        ),
    ),
    _row(
        "T7-105",
        "Appendix A.3, (104) to (105)",
        evidence.sign_of_105,
        Statement("(104) gives delta_{t+1} <= (1 - k) delta_t + beta(t).", {"factor": "1 - k"}),
        repaired=Statement("(104) gives delta_{t+1} <= (1 + k) delta_t + beta(t).", {"factor": "1 + k"}),
    ),
    _row(
        "T7-107",
        "Appendix A.3, (106) to (107)",
        evidence.step_107,
        Statement("lambda eta^2 G^2 is at most 2 lambda eta^2 (mu + lambda) Delta.", {"constant": "2 (mu + lambda)"}),
        repaired=Statement(
            "It is at most 2 lambda eta^2 (L + lambda) Delta, Delta the gap to the minima of f_k(.; w~^t).",
            {"constant": "2 (L + lambda)"},
        ),
    ),
    _row(
        "T7-108",
        "Appendix A.3, (107) to (108)",
        evidence.step_108,
        Statement("(107) is a contraction around C.", {"C, times M/x": "1"}),
        spoilt=Statement("It is one around 0.97 C.", {"C, times M/x": "0.97"}),
    ),
    _row(
        "T7-110",
        "Appendix A.3, (109) to (110)",
        evidence.step_110,
        Statement("(109) is at most (110).", {"inequality": "(110)"}, {"Delta": "any"}),
        repaired=Statement("It is where Delta_t >= 0.", {"inequality": "(110)"}, {"Delta": "at least 0"}),
    ),
    _row(
        "T7-111",
        "Appendix A.3, (108) to (111)",
        evidence.step_111,
        Statement(
            "With eta = cp/D the factor is 1 - (c^2 - 2c)(mu + lambda)/(L + lambda - 2 lambda/p^2).",
            {"c^2 less c times": "2"},
        ),
        spoilt=Statement("It is that with c^2 - 1.95 c.", {"c^2 less c times": "1.95"}),
        kind=Kind.SYMBOLIC,
    ),
    _row(
        "T7-116",
        "Appendix A.3, (115) to (116)",
        evidence.step_116,
        Statement("D lies between M and M/(1 - 2^-E).", {"times 2^-E": "1"}),
        spoilt=Statement("D is at most M/(1 - 0.95 2^-E).", {"times 2^-E": "0.95"}),
    ),
    _row(
        "T7",
        "Appendix A.3, Theorem 7, (78)",
        evidence.bound_78,
        Statement(
            "After T steps the gap Delta_T is at most 2^-T (Delta_0 - M) + M/(1 - 2^-E), where M contains m B, B being "
            "the largest f_k that the run meets.",
            {"B in the bracket": "1"},
        ),
        spoilt=Statement("The same with 0.95 m B in M.", {"B in the bracket": "0.95"}),
    ),
    _row(
        "C8",
        "Appendix A.3, Corollary 8, (121)",
        evidence.bound_78,
        Statement(
            "Without noise, Delta_T/m is at most 2^-T (Delta_0/m - B) + B/(1 - 2^-E).", {"B in the bracket": "1"}
        ),
        spoilt=Statement("The same with 0.95 B for B.", {"B in the bracket": "0.95"}),
    ),
    _row(
        "T7-79",
        "Appendix A.3, (79); Section 4.3, (12) and (13)",
        evidence.bound_78,
        (
            Statement("(79) with O(B) read as B.", {"B in the bracket": "1"}),
            Statement("(79) with O(B) read as B/2.", {"B in the bracket": "0.5"}),
        ),
        missing="the constant in O(B): with 1 or more any sequence satisfies (79), with less it is not implied",
    ),
    _row(
        "NBH-inequality",
        "Section 4.3, convergence to a neighbourhood",
        evidence.half_square,
        Statement("a^2 + b^2 >= (a + b)^2/2.", {"factor": "0.5"}),
        spoilt=Statement("a^2 + b^2 >= 0.52 (a + b)^2.", {"factor": "0.52"}),
    ),
)
"""The rows of Theorem 7's algebra."""
