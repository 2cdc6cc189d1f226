"""The rows of Appendix A.1, the proof of Theorem 1; evidence: appendix_a1.py."""

from __future__ import annotations

from ..row import Kind, Row, Statement
from . import appendix_a1 as evidence

ROWS = (
    Row(
        id="PMTL-L2",
        paper="pmtl",
        place="Appendix A.1, Lemma 2",
        kind=Kind.SMT,
        evidence=evidence.gaussian_renyi,
        printed=Statement(
            "The Gaussian mechanism is (alpha, 2 alpha Delta^2 / sigma^2)-RDP.", {"coefficient": "2", "relation": ">="}
        ),
        spoilt=Statement(
            "Its Renyi divergence is 2 alpha Delta^2 / sigma^2 at least.",
            {"coefficient": "2", "relation": "<="},
        ),
    ),
    Row(
        id="PMTL-L2-quote",
        paper="pmtl",
        place="Appendix A.1, Lemma 2, quoted from Mironov (2017), Corollary 3",
        kind=Kind.SMT,
        evidence=evidence.gaussian_renyi,
        printed=Statement(
            "2 alpha Delta^2 / sigma^2 is the Renyi divergence of the Gaussian mechanism.",
            {"coefficient": "2", "relation": "="},
        ),
        repaired=Statement(
            "alpha Delta^2 / (2 sigma^2) is the Renyi divergence of the Gaussian mechanism.",
            {"coefficient": "0.5", "relation": "="},
        ),
    ),
    Row(
        id="PMTL-A1-d",
        paper="pmtl",
        place="Appendix A.1, proof of Theorem 1 (q = m), before (21)",
        kind=Kind.SMT,
        evidence=evidence.dimension_in_renyi,
        printed=Statement(
            "By Lemma 2, each round is (alpha, 2 alpha Delta^2 / (d sigma^2))-RDP, d the dimension.", {"power of d": 1}
        ),
        repaired=Statement("Each round is (alpha, 2 alpha Delta^2 / sigma^2)-RDP.", {"power of d": 0}),
    ),
    Row(
        id="PMTL-A1-21..24",
        paper="pmtl",
        place="Appendix A.1, (21) to (24)",
        kind=Kind.SYMBOLIC,
        evidence=evidence.averaged_sensitivity,
        printed=Statement(
            "The squared sensitivity of the mean of m updates is 1/m^2 of one update's.", {"times 1/m^2": "1"}
        ),
        spoilt=Statement("It is 0.97/m^2 of one update's.", {"times 1/m^2": "0.97"}),
    ),
    Row(
        id="PMTL-A1-25",
        paper="pmtl",
        place="Appendix A.1, (25)",
        kind=Kind.SMT,
        evidence=evidence.clipped_difference,
        printed=Statement(
            "Replacing a client's data moves its clipped update by at most gamma (Definition 4 with the paper's "
            "neighbours).",
            {"factor": 1},
        ),
        repaired=Statement(
            "Replacing a client's data moves its clipped update by at most 2 gamma. (Lemma 2 is 4 times too large, so "
            "that the right-hand side of (25) is the correct Renyi bound all the same.)",
            {"factor": 2},
        ),
    ),
    Row(
        id="PMTL-compo",
        paper="pmtl",
        place="Appendix A.1, after (24): sequential composition (q = m)",
        kind=Kind.SMT,
        evidence=evidence.composition,
        printed=Statement("The Renyi divergences of the rounds add up.", {"times T": "1"}),
        spoilt=Statement("T rounds cost 0.97 T times what one costs.", {"times T": "0.97"}),
    ),
    Row(
        id="PMTL-A1-26",
        paper="pmtl",
        place="Appendix A.1, (26)",
        kind=Kind.SYMBOLIC,
        evidence=evidence.rounds_in_26,
        printed=Statement(
            "The sum over the T rounds in (25) equals (26)'s first term, in which T is absent.", {"rounds counted": "1"}
        ),
        repaired=Statement(
            "The sum over the T rounds in (25) is T times (26)'s first term, that is epsilon/2.",
            {"rounds counted": "T"},
        ),
    ),
    Row(
        id="PMTL-A1-27",
        paper="pmtl",
        place="Appendix A.1, (27)",
        kind=Kind.SMT,
        evidence=evidence.second_half_of_27,
        printed=Statement(
            "log(1/delta) / (alpha - 1) <= epsilon/2 at alpha = 4 log(1/delta) / epsilon, wherever alpha > 1.",
            {"bound": "epsilon/2"},
            {"epsilon at most, in log(1/delta)": 4},
        ),
        repaired=Statement(
            "log(1/delta) / (alpha - 1) <= epsilon/2 where epsilon <= 2 log(1/delta).",
            {"bound": "epsilon/2"},
            {"epsilon at most, in log(1/delta)": 2},
        ),
    ),
    Row(
        id="PMTL-A1-17..19",
        paper="pmtl",
        place="Appendix A.1, (17) to (19)",
        kind=Kind.SYMBOLIC,
        evidence=evidence.noise_multiplier_of_19,
        printed=Statement(
            "Line 8 is the mean of a sum with noise of multiplier q sigma / gamma.", {"times q sigma / gamma": "1"}
        ),
        spoilt=Statement(
            "Line 8 is the mean of a sum with noise of multiplier 0.97 q sigma / gamma.",
            {"times q sigma / gamma": "0.97"},
        ),
    ),
)
"""The rows of the proof of Theorem 1."""
