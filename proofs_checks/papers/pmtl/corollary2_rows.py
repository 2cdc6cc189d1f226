"""The rows of Corollary 2 and of the remarks on it; evidence: corollary2.py."""

from __future__ import annotations

from ..row import Kind, Row, Statement
from . import boxes
from . import corollary2 as evidence

_HALVES = {"log(2/delta)": (2.3, 27.7), "epsilon / log(2/delta)": (0.01, 2.5)}
_ONE_ROUND = {"p": (0.05, 0.5), "epsilon": (0.5, 1.5), "mu": (1.0, 2.0)}
_CLUSTER = {"log(1/delta)": (2.3, 27.7), "epsilon / log(1/delta)": (0.01, 2.34)}
_ORDERS = {"alpha": (1.05, 1024.0), "log(1/delta)": (0.5, 500.0)}

ROWS = (
    Row(
        id="PMTL-C2",
        paper="pmtl",
        place="Section 4.2, Corollary 2",
        kind=Kind.INTERVAL,
        evidence=evidence.coalition_noise,
        printed=Statement(
            "With constants c1, c2 and sigma >= c2 gamma sqrt(T log(1/delta))/(epsilon m), Algorithm 1 is (epsilon, "
            "delta)-billboard private for all epsilon < c1 (q/m)^2 T, with cohorts of a fixed size q.",
            {"noise": "c2 p sqrt(T log(1/delta))/epsilon"},
        ),
        repaired=Statement(
            "z = q sigma/gamma >= 4 sqrt(k* log(2/delta))/epsilon with P[Bin(T, q/m) > k*] <= delta/2 and epsilon <= "
            "2 log(2/delta) does. (k* is about T q/m: sigma is larger by sqrt(m/q) than printed.)",
            {"noise": "4 sqrt(k* log(2/delta))/epsilon", "factor": 4.0},
        ),
    ),
    Row(
        id="PMTL-C2-smallest",
        paper="pmtl",
        place="Section 4.2, Corollary 2: two clients, one round",
        kind=Kind.BALLS,
        evidence=evidence.smallest_example,
        printed=Statement(
            "The other client cannot tell whether client i took part. (As amplification by sampling needs.)",
            {"participation": "hidden"},
        ),
        repaired=Statement(
            "It can: whoever was not picked knows that the other was; delta is that of seen participation.",
            {"participation": "seen"},
        ),
    ),
    Row(
        id="PMTL-C2-scale",
        paper="pmtl",
        place="Section 4.2, Corollary 2, at m = 1000, q = 10, T = 500, z = 2, delta = 1e-6",
        kind=Kind.INTERVAL,
        evidence=evidence.published_scale,
        printed=Statement(
            "The Poisson accountant's epsilon is a billboard guarantee.",
            {"accounting": "Poisson", "neighbouring": "replace-one"},
        ),
        repaired=Statement(
            "epsilon = 18.9 is one, and nothing below 18.8.", {"accounting": 18.9, "neighbouring": "replace-one"}
        ),
    ),
    Row(
        id="PMTL-C2-audit",
        paper="pmtl",
        place="Section 4.2, Corollary 2, attacked at m = 40, q = 4, T = 100",
        kind=Kind.AUDIT,
        evidence=evidence.audited,
        printed=Statement(
            "Noise for which the accountant says epsilon = 0.5 (delta = 1e-3) keeps 39 pooling clients at 0.5.",
            {"epsilon": 0.5},
            {"cohorts": "fixed-size"},
        ),
        repaired=Statement(
            "It keeps them at epsilon = 5.1. (Exactly 5.02.)", {"epsilon": 5.1}, {"cohorts": "fixed-size"}
        ),
    ),
    Row(
        id="PMTL-C2-poisson",
        paper="pmtl",
        place="Section 4.2, Corollary 2: amplification before the coalition",
        kind=Kind.INTERVAL,
        evidence=evidence.poisson_before_coalition,
        printed=Statement(
            "Amplification by sampling survives against the coalition (zero-out neighbours).",
            {"times the hidden epsilon": 1.0 + 1e-9},
            {"cohorts": "fixed-size"},
        ),
        repaired=Statement(
            "It does with independent coins and division by the constant q.",
            {"times the hidden epsilon": 1.0 + 1e-9},
            {"cohorts": "poisson"},
        ),
    ),
    Row(
        id="PMTL-C2-q",
        paper="pmtl",
        place="Section 4.2, Corollary 2, with the FEMNIST setting of Section 5",
        kind=Kind.INTERVAL,
        evidence=evidence.less_noise_with_everybody,
        printed=Statement(
            "Sampling 100 of 205 clients needs less noise sigma for the same billboard epsilon than using all.",
            {"less noise with": "100"},
        ),
        repaired=Statement("It needs more: sampling buys nothing before the coalition.", {"less noise with": "205"}),
    ),
    Row(
        id="PMTL-C-BP",
        paper="pmtl",
        place="Our correction of Corollary 2: its inequality",
        kind=Kind.BALLS,
        evidence=boxes.coalition_noise,
        printed=Statement(
            "With z = 4 sqrt(k* log(2/delta))/epsilon, k* participations cost delta/2 at most, for epsilon <= 2.5 "
            "log(2/delta).",
            {"factor": 4.0},
            _HALVES,
        ),
        spoilt=Statement("3.8 in place of 4 does.", {"factor": 3.8}, _HALVES),
    ),
    Row(
        id="PMTL-C2-hidden",
        paper="pmtl",
        place="Section 4.2, Corollary 2: what amplification there is to lose, in one round",
        kind=Kind.BALLS,
        evidence=boxes.hidden_and_seen,
        printed=Statement(
            "delta is smaller where participation is hidden than where others see it. (They do: PMTL-C2-smallest.)",
            {"hidden against seen": "<"},
            _ONE_ROUND,
        ),
        spoilt=Statement("It is larger.", {"hidden against seen": ">"}, _ONE_ROUND),
    ),
    Row(
        id="PMTL-RG2",
        paper="pmtl",
        place="Section 4.2, remark on the generality of Corollary 2",
        kind=Kind.BALLS,
        evidence=boxes.full_participation,
        printed=Statement(
            "With clients in fixed clusters, here a fifth of all, Corollary 2 (q = m) applies to each cluster, m as "
            "before, where epsilon <= 2.34 log(1/delta).",
            {"factor": 4},
            _CLUSTER | {"largest move, times 2 gamma/m": 5.0},
        ),
        repaired=Statement(
            "It does with the cluster's own size for m, and clusters chosen without looking at the data.",
            {"factor": 4},
            _CLUSTER | {"largest move, times 2 gamma/m": 1.0},
        ),
    ),
    Row(
        id="PMTL-L3",
        paper="pmtl",
        place="Appendix A.1, Lemma 3",
        kind=Kind.BALLS,
        evidence=boxes.renyi_to_dp,
        printed=Statement(
            "(alpha, rho)-RDP gives (rho + log(1/delta)/(alpha - 1), delta)-DP.", {"factor": 1.0}, _ORDERS
        ),
        spoilt=Statement("It gives (rho + 0.97 log(1/delta)/(alpha - 1), delta)-DP.", {"factor": 0.97}, _ORDERS),
    ),
    Row(
        id="PMTL-A7p",
        paper="pmtl",
        place="Appendix A.7",
        kind=Kind.COUNTEREXAMPLE,
        evidence=evidence.fine_tuning,
        printed=Statement(
            "Local fine-tuning costs no privacy.", {"reads": "own data and billboard", "times epsilon": 1.0}
        ),
        spoilt=Statement(
            "It leaves 3% less than the billboard's epsilon.",
            {"reads": "own data and billboard", "times epsilon": 0.97},
        ),
    ),
)
"""The rows of Corollary 2 and of the remarks on it."""
