"""The rows of Sections 3.1 and 3.2 and of figures that the text alone does not decide; evidence: setup.py."""

from __future__ import annotations

from ..row import Kind, Row, Statement
from . import setup as evidence

ROWS = (
    Row(
        id="PMTL-E2",
        paper="pmtl",
        place="Section 3.1, (1) to (2)",
        kind=Kind.SYMBOLIC,
        evidence=evidence.covariance_form,
        printed=Statement(
            "With Omega = (I - 11^T/m)^2 and lambda_1 = lambda/2, objective (1) is (2).", {"lambda_1": "lambda/2"}
        ),
        repaired=Statement("It is with lambda_1 = lambda/(2m).", {"lambda_1": "lambda/(2m)"}),
    ),
    Row(
        id="PMTL-E3",
        paper="pmtl",
        place="Section 3.1, (2) to (3); Section 4.3, (8)",
        kind=Kind.SYMBOLIC,
        evidence=evidence.separate_gradients,
        printed=Statement("Clients that solve (3), w_bar taken as given, solve (2) to first order.", {"factor": "1"}),
        spoilt=Statement("The gradient of the regulariser is 0.97 lambda (w_k - w_bar).", {"factor": "0.97"}),
    ),
    Row(
        id="PMTL-D1",
        paper="pmtl",
        place="Section 3.2, Definition 1",
        kind=Kind.COUNTEREXAMPLE,
        evidence=evidence.events,
        printed=Statement(
            "Events S in R, as typed, see all that an output in R^m gives away.", {"S subset of": "R, each coordinate"}
        ),
        repaired=Statement("Events S in R^m do.", {"S subset of": "R^m"}),
    ),
    Row(
        id="PMTL-D2/D3",
        paper="pmtl",
        place="Section 3.2, Definitions 2 and 3, connection to joint differential privacy",
        kind=Kind.COUNTEREXAMPLE,
        evidence=evidence.more_general,
        printed=Statement(
            "Joint privacy is strictly more general than billboard privacy, Definition 2's g being any function.",
            {"g": "any function"},
        ),
        repaired=Statement(
            "It is where Definition 2 asks g to be differentially private, and coins of the f_i independent of g's.",
            {"g": "differentially private"},
        ),
    ),
    Row(
        id="PMTL-BL",
        paper="pmtl",
        place="Section 3.2, after Definition 2 (billboard lemma)",
        kind=Kind.COUNTEREXAMPLE,
        evidence=evidence.billboard_lemma,
        printed=Statement(
            "If g is (epsilon, delta)-DP, then [f_i(Pi_i D, g(D))] is (epsilon, delta)-billboard private (also joint).",
            {"clients read": "g(D)", "times e^epsilon": "1"},
        ),
        spoilt=Statement("It is so with e^epsilon 3% smaller.", {"clients read": "g(D)", "times e^epsilon": "0.97"}),
    ),
    Row(
        id="PMTL-RG1",
        paper="pmtl",
        place="Section 3.2, remark on the generality of the formulation",
        kind=Kind.COUNTEREXAMPLE,
        evidence=evidence.billboard_lemma,
        printed=Statement(
            "Any local model built from own data and an (epsilon, delta)-DP global part is (epsilon, delta)-billboard "
            "private.",
            {"clients read": "g(D)", "times e^epsilon": "1"},
        ),
        spoilt=Statement("It is so with e^epsilon 3% smaller.", {"clients read": "g(D)", "times e^epsilon": "0.97"}),
    ),
    Row(
        id="PMTL-SH",
        paper="pmtl",
        place="Section 3.2: m - 1 out of m privacy under Shamir's scheme",
        kind=Kind.COUNTEREXAMPLE,
        evidence=evidence.secrecy,
        printed=(
            Statement("m - 1 colluding clients learn nothing, as in secret sharing.", {"secrecy": "Shamir's"}),
            Statement("m - 1 colluding clients shift odds by at most e^epsilon.", {"secrecy": "(epsilon, delta)"}),
        ),
        missing="what is meant by privacy under Shamir's scheme: perfect secrecy, or its (epsilon, delta) analogue",
    ),
    Row(
        id="PMTL-FIG1",
        paper="pmtl",
        place="Section 1, Figure 1",
        kind=Kind.INTERVAL,
        evidence=evidence.naive_client_level,
        printed=(
            Statement("Client-level DP on all models is no better than guessing (epsilon 0.1).", {}, {"epsilon": 0.1}),
            Statement("Client-level DP on all models is no better than guessing (epsilon 20).", {}, {"epsilon": 20.0}),
        ),
        missing="the figure's epsilon, noise and rounds: one release at epsilon = .1 is guessing, at 20 it is not",
    ),
    Row(
        id="PMTL-FIG3",
        paper="pmtl",
        place="Section 5.2, Figure 3; Appendix A.6, Figure 7; Table 1's accuracies",
        kind=Kind.SYMBOLIC,
        evidence=evidence.better_than_global,
        printed=(
            Statement(
                "Mean-regularised models beat a global one (clients differ).", {}, {"spread of the clients": 1.0}
            ),
            Statement("Mean-regularised models beat one for all (clients alike).", {}, {"spread of the clients": 0.0}),
        ),
        missing="lambda, learning rate and E of the runs (nowhere printed); which of the two wins depends on them",
    ),
    Row(
        id="PMTL-conv-T",
        paper="pmtl",
        place="Section 4.3, after (11)",
        kind=Kind.INTERVAL,
        evidence=evidence.noise_by_rounds,
        printed=Statement("At fixed epsilon, sigma^2 grows linearly with T.", {"exponent": 1.0}),
        spoilt=Statement("It grows like T^0.97.", {"exponent": 0.97}),
    ),
)
"""The rows of the set-up."""
