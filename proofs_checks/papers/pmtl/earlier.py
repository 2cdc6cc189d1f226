"""The earlier version (joint differential privacy; main text only): its statements, by the same functions."""

from __future__ import annotations

from dataclasses import replace

from ..row import Kind, Row, Statement
from . import (
    algorithm,
    algorithm_privacy_rows,
    appendix_a1_rows,
    convergence_rows,
    corollary2_rows,
    corrected_rows,
    dependence,
    dependence_rows,
    experiments,
    setup_rows,
    theorem1_rows,
    theorem6_rows,
    theorem7_rows,
    theorem7_step,
)
from . import theorem6 as steps

SAME = {
    "PMTL-E3": ("PMTL002-E3", "Section 3.1, (2) to (3)"),
    "PMTL-D1": ("PMTL002-D1", "Section 3.2, Definition 1"),
    "PMTL-RG1": ("PMTL002-RG1", "Section 3.2, end"),
    "PMTL-ALG-a": ("PMTL002-ALG-a", "Section 4.3, before Corollary 4"),
    "PMTL-ALG-a-mean": ("PMTL002-ALG-a-mean", "Section 4.3, after (7)"),
    "PMTL-ALG-a-stable": ("PMTL002-ALG-a-stable", "Algorithm 1, line 8"),
    "PMTL-ALG-c": ("PMTL002-ALG-c", "Algorithm 1, line 1"),
    "PMTL-ALG-d": ("PMTL002-ALG-d", "Section 4.2, composition; Algorithm 1, line 5"),
    "PMTL-ALG-f": ("PMTL002-ALG-f", "Section 4.2, after (6)"),
    "PMTL-ALG-f-clip": ("PMTL002-ALG-f-clip", "Section 4.2, (6)"),
    "PMTL-T1a": ("PMTL002-T1a", "Section 4.2, Theorem 1, second part (q = m)"),
    "PMTL-T1b": ("PMTL002-T1b", "Section 4.2, Theorem 1, first part (q < m)"),
    "PMTL-C2-m": ("PMTL002-T2-m", "Section 4.2, after Theorem 2"),
    "PMTL-RG2": ("PMTL002-RG2", "Section 4.2, remark after Theorem 2"),
    "PMTL-FIG2-StackOverflow": ("PMTL002-FIG2-StackOverflow", "Section 5, Figure 2 (panel title)"),
    "PMTL-FIG2-FEMNIST": ("PMTL002-FIG2-FEMNIST", "Section 5, Figure 2 (panel title)"),
    "PMTL-FIG2-CelebA": ("PMTL002-FIG2-CelebA", "Section 5, Figure 2 (panel title)"),
    "PMTL-T6-step": ("PMTL002-T3-step", "Section 4.3, Theorem 3: step size"),
    "PMTL-T6-29-E1": ("PMTL002-T3", "Section 4.3, Theorem 3, (8), which assumes E = 1"),
    "PMTL-T6-T": ("PMTL002-T3-T", "Section 4.3, Theorem 3: T = O(m/(lambda d gamma^2))"),
    "PMTL-conv-epsilon": ("PMTL002-conv-epsilon", "Section 4.3, after (11)"),
    "PMTL-conv-T": ("PMTL002-conv-T", "Section 4.3, after (11)"),
}
"""Statements of both versions: TMLR id, id and place here."""

_TMLR = {
    row.id: row
    for module in (
        setup_rows,
        algorithm,
        algorithm_privacy_rows,
        appendix_a1_rows,
        theorem1_rows,
        corollary2_rows,
        experiments,
        theorem6_rows,
        theorem7_rows,
        convergence_rows,
        corrected_rows,
        dependence_rows,
    )
    for row in module.ROWS
}

_STEP = "step size"
_LAMBDA = {"term": "noise in the gradient", "parameter": "lambda"}

ROWS = (
    *(replace(_TMLR[old], id=new, place=place, paper="pmtl-jdp") for old, (new, place) in SAME.items()),
    replace(
        _TMLR["PMTL-BL"],
        id="PMTL002-BL",
        paper="pmtl-jdp",
        place="Section 3.2, Lemma 1 (Billboard Lemma)",
        printed=Statement(
            "If M is (epsilon, delta)-DP, then {f_i(Pi_i D, M(D))} is (epsilon, delta)-joint private.",
            {"clients read": "g(D)", "times e^epsilon": "1"},
        ),
    ),
    replace(
        _TMLR["PMTL-C2"],
        id="PMTL002-T2",
        paper="pmtl-jdp",
        place="Section 4.2, Theorem 2",
        printed=Statement(
            "With constants c1, c2 and sigma >= c2 gamma sqrt(T log(1/delta))/(epsilon m), Algorithm 1 is (epsilon, "
            "delta)-joint private for all epsilon < c1 (q/m)^2 T.",
            {"noise": "c2 p sqrt(T log(1/delta))/epsilon"},
        ),
    ),
    Row(
        id="PMTL002-T3-samp",
        paper="pmtl-jdp",
        place="Section 4.3: E = 1",
        kind=Kind.COUNTEREXAMPLE,
        evidence=steps.coin_per_step,
        printed=Statement(
            "One coin a local step is what Algorithm 1 does. (E = 1 is assumed here.)",
            {"times the proof's expectation": 1.0},
            {"E": 1},
        ),
        spoilt=Statement(
            "The expectation is 3% below that of one coin a local step.",
            {"times the proof's expectation": 0.97},
            {"E": 1},
        ),
    ),
    Row(
        id="PMTL002-T3-noise",
        paper="pmtl-jdp",
        place="Section 4.3, Theorem 3, (8): O(d sigma^2)",
        kind=Kind.TRAINER,
        evidence=dependence.exponent,
        printed=Statement("The noise term does not grow with lambda.", {"exponent": 0}, _LAMBDA),
        repaired=Statement("It grows like lambda^2.", {"exponent": 2}, _LAMBDA),
    ),
    Row(
        id="PMTL002-T5",
        paper="pmtl-jdp",
        place="Section 4.3, Theorem 5: step size",
        kind=Kind.SMT,
        evidence=theorem7_step.stable_step,
        printed=(
            Statement("The step size is that of the later version (Theorem 7).", {_STEP: "printed"}),
            Statement("The step size is at most 1/(L + lambda).", {_STEP: "at most 1/(L + lambda)"}),
        ),
        missing="the formula of the step size is not legible in the text at hand",
    ),
)
"""The rows of the earlier version."""
