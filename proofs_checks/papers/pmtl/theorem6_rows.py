"""The rows of Theorem 6's algebra; evidence: theorem6.py."""

from __future__ import annotations

from typing import Any

from ..row import Kind, Row, Statement
from . import theorem6 as evidence
from . import theorem6_constants as constants


def _row(name: str, place: str, function: Any, printed: Statement, **more: Any) -> Row:
    kind = more.pop("kind", Kind.SMT)
    where = f"Appendix A.2, {place}"
    return Row(id=f"PMTL-T6-{name}", paper="pmtl", place=where, kind=kind, evidence=function, printed=printed, **more)


ROWS = (
    _row(
        "step",
        "Theorem 6: step size",
        evidence.stable_step,
        Statement("eta = 1/(pL + (p + 1/p) lambda) is a stable step size.", {"eta": "printed"}, {"parameters": "any"}),
        repaired=Statement(
            "It is where L (1 - 2p) <= lambda (2p + 2/p - 1).",
            {"eta": "printed"},
            {"parameters": "L (1 - 2p) <= lambda (2p + 2/p - 1)"},
        ),
    ),
    _row(
        "32",
        "(32)",
        evidence.smoothness_32,
        Statement("f_k grows by at most its linear part plus L/2 times the squared step.", {"constant": "L/2"}),
        repaired=Statement("It does with (L + lambda)/2.", {"constant": "(L + lambda)/2"}),
    ),
    _row(
        "34",
        "(33) to (34)",
        evidence.coin_34,
        Statement("E||eta I grad||^2 = eta^2 p^2 ||grad||^2.", {"power of p": 2}),
        repaired=Statement("E||eta I grad||^2 = eta^2 p ||grad||^2.", {"power of p": 1}),
        kind=Kind.SYMBOLIC,
    ),
    _row(
        "35",
        "(35)",
        evidence.descent_35,
        Statement(
            "Every local step descends in expectation at eta = 1/(pL + (p + 1/p) lambda).",
            {"step size": "1/(pL + (p + 1/p) lambda)"},
        ),
        repaired=Statement("Every local step descends at eta <= 1/(L + lambda).", {"step size": "1/(L + lambda)"}),
    ),
    _row(
        "samp",
        "before (32): I_k^t as one coin per local step t",
        evidence.coin_per_step,
        Statement(
            "The coins of the local steps of a round are independent.", {"times the proof's expectation": 1.0}, {"E": 5}
        ),
        repaired=Statement(
            "True where E = 1: Algorithm 1 tosses one coin a round.", {"times the proof's expectation": 1.0}, {"E": 1}
        ),
        kind=Kind.COUNTEREXAMPLE,
    ),
    _row(
        "38",
        "(37) to (38)",
        evidence.product_38,
        Statement("The difference of squares is the product of the norms.", {"relation": "="}),
        repaired=Statement("It is at most that product.", {"relation": "<="}),
    ),
    _row(
        "39",
        "(38) to (39), (41) to (42)",
        evidence.cauchy_39,
        Statement("E XY <= sqrt(E X^2 E Y^2).", {"factor": "1"}),
        spoilt=Statement("(E XY)^2 <= 0.97 E X^2 E Y^2.", {"factor": "0.97"}),
    ),
    _row(
        "46",
        "(45) to (46)",
        evidence.jensen_46,
        Statement("The squared norm of a sum of m vectors is at most m times the sum of theirs.", {"factor": "3"}),
        spoilt=Statement("It is at most 0.97 m times that sum.", {"factor": "2.91"}),
    ),
    _row(
        "47",
        "(46) to (47)",
        evidence.one_gradient_47,
        Statement("The round's update is eta times one gradient.", {"update": "eta grad"}, {"E": 10}),
        repaired=Statement("True where E = 1.", {"update": "eta grad"}, {"E": 1}),
        kind=Kind.COUNTEREXAMPLE,
    ),
    _row(
        "46-48",
        "(46) to (48), the arithmetic",
        evidence.arithmetic_48,
        Statement("(46) is at most (48), which has 1/m before the sum.", {"in front of the sum": "1/m"}),
        repaired=Statement("(46) gives 1/q before the sum.", {"in front of the sum": "1/q"}),
    ),
    _row(
        "48",
        "(43) to (48), as a bound on C1",
        evidence.average_48,
        Statement("The expected squared mean update of a cohort is at most (1/m) sum ||g_k||^2.", {"factor": "1"}),
        spoilt=Statement("It is at most 0.97/m times that sum.", {"factor": "0.97"}),
    ),
    _row(
        "50",
        "(49) to (51)",
        evidence.hidden_sign_50,
        Statement("(lambda/2)||w - w~||^2 <= f_k(w; w~).", {"relation": "<="}, {"l_k": "any"}),
        repaired=Statement("True where l_k >= 0.", {"relation": "<="}, {"l_k": "at least 0"}),
    ),
    _row(
        "noclip",
        "Theorem 6: gamma large enough",
        evidence.no_clipping,
        Statement(
            "With gamma >= max ||grad f_k|| no update is clipped.",
            {"clipped": "never"},
            {"gamma at least": "max ||grad||"},
        ),
        repaired=Statement(
            "True where gamma >= eta E max ||grad f_k|| (the maximum over all local steps).",
            {"clipped": "never"},
            {"gamma at least": "eta E max ||grad||"},
        ),
        kind=Kind.COUNTEREXAMPLE,
    ),
    _row(
        "52",
        "(42) to (52)",
        evidence.expansion_52,
        Statement("B <= (lambda/2)(h + sqrt(d) sigma)(h + sqrt(d) sigma + 2 sqrt(2B/lambda)).", {"factor of b": "2"}),
        spoilt=Statement("The same with 1.95 for the last 2.", {"factor of b": "1.95"}),
    ),
    _row(
        "58",
        "(57) to (60)",
        evidence.expansion_58,
        Statement(
            "m beta(t) is the three terms of (60), h = eta G/sqrt(m). (Index slips aside.)",
            {"factor of the middle term": "1"},
        ),
        spoilt=Statement("It is with 1.05 times the middle term.", {"factor of the middle term": "1.05"}),
        kind=Kind.SYMBOLIC,
    ),
    _row(
        "61",
        "(60) to (61) and (62)",
        constants.coefficient_61,
        Statement("The coefficients of G^2 are 1/(2K) and K2/(2 K^2).", {"times the stated coefficients": "1"}),
        spoilt=Statement("They are 1.03 times that.", {"times the stated coefficients": "1.03"}),
        kind=Kind.SYMBOLIC,
    ),
    _row(
        "65",
        "(63) to (65)",
        constants.needed_65,
        Statement("Multiplying by 2K turns the right-hand side into (65)'s constant.", {"constant": "(65)"}),
        repaired=Statement("(66)'s constant is enough. (2K is what is needed.)", {"constant": "(66)"}),
    ),
    _row(
        "66",
        "(65) to (66)",
        constants.equality_66,
        Statement("(65) equals (66).", {"relation": "="}),
        repaired=Statement("(65) is at most (66).", {"relation": "<="}),
        kind=Kind.SYMBOLIC,
    ),
    _row(
        "67",
        "(64) to (67)",
        constants.square_67,
        Statement("The square is completed with lambda m.", {"factor": "lambda m"}),
        repaired=Statement("It is completed with lambda sqrt(m).", {"factor": "lambda sqrt(m)"}),
        kind=Kind.SYMBOLIC,
    ),
    _row(
        "71",
        "(69) to (71)",
        constants.constant_71,
        Statement("(71) needs 2 lambda^2 m/p^2 before d sigma^2 + 2 sigma sqrt(2dB/lambda).", {"n": "2"}),
        repaired=Statement("It needs 3 lambda^2 m/p^2.", {"n": "3"}),
    ),
    _row(
        "29-E1",
        "Theorem 6, (29) with E = 1 and 2 as O's constant",
        constants.vacuous_29,
        Statement(
            "The mean squared gradient is at most 4K/T times the mean starting gap plus 2K times the mean of B_t, the "
            "largest f_k after round t; K = L + lambda + lambda/p^2.",
            {"constant": "2"},
        ),
        spoilt=Statement("The same with 1.9 K.", {"constant": "1.9"}),
    ),
    _row(
        "T",
        "(31): T = O(m/(lambda d gamma^2)), with 1 as O's constant",
        constants.feasible_rounds,
        Statement(
            "That T allows the 1000 rounds of the paper's FEMNIST run (lambda of .1 to 10).",
            {"rounds": 1000},
            {"lambda": (0.1, 1.0, 10.0)},
        ),
        repaired=Statement("It does where lambda <= 4.4e-5.", {"rounds": 1000}, {"lambda": (4.4e-5,)}),
        kind=Kind.COUNTEREXAMPLE,
    ),
    Row(
        id="PMTL-C4",
        paper="pmtl",
        place="Section 4.3, Corollary 4, (11) with E = 1",
        kind=Kind.SMT,
        evidence=constants.vacuous_29,
        printed=Statement(
            "Without noise the averaged squared gradients obey (11), 2 being O's constant.", {"constant": "2"}
        ),
        spoilt=Statement("They obey it with 1.9 as O's constant.", {"constant": "1.9"}),
    ),
    Row(
        id="PMTL-T3-Lipschitz",
        paper="pmtl",
        place="Section 4.3, Theorem 3: assumptions",
        kind=Kind.SMT,
        evidence=constants.lipschitz,
        printed=Statement(
            "f_k, with its term (lambda/2)||w - w~||^2, is G-Lipschitz.", {"Lipschitz": "G"}, {"w": "R^d"}
        ),
        repaired=Statement(
            "It is on a ball around w~, with G = G_l + lambda R.", {"Lipschitz": "G"}, {"w": "within R of w~"}
        ),
    ),
    Row(
        id="PMTL-C-T6-step",
        paper="pmtl",
        place="Our correction of Theorem 6: one step of its proof",
        kind=Kind.SMT,
        evidence=constants.corrected_descent,
        printed=Statement(
            "A step with error b = lambda e in its gradient a lowers Phi by (eta/2)(a^2 - b^2) at least, eta K = 1.",
            {"factor": "0.5"},
        ),
        spoilt=Statement("It lowers it by (eta/2)(a^2 - 0.97 b^2) at least.", {"factor": "0.485"}),
    ),
)
"""The rows of Theorem 6's algebra."""
