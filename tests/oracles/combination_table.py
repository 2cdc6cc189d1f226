"""docs/combinations.md: what is answered, and how well, for every combination; `python FILE` writes it anew."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from unittest.mock import patch

from worlds import AGGREGATIONS, NOISES, OBSERVERS, RELATIONS, SCHEMES, VIEWS, World

from dpcert.accounting import truncated
from dpcert.accounting.billboard import observers
from dpcert.accounting.bracket import Bracket
from dpcert.accounting.dominating import dominating
from dpcert.accounting.question import Question
from dpcert.mechanisms import (
    ApproximateDp,
    BandedFactorisation,
    BestOfSeveral,
    BoundedLaplace,
    ClampedGaussian,
    Disjoint,
    DistributedGaussian,
    DuchiMechanism,
    FixedSize,
    Gaussian,
    Group,
    HadamardResponse,
    InputError,
    Laplace,
    LocalHash,
    MatrixFactorisation,
    Mechanism,
    PiecewiseMechanism,
    Poisson,
    PureDp,
    RandomAllocation,
    RandomizedResponse,
    ReportNoisyMax,
    Sequence,
    Shuffled,
    ShuffledReports,
    SparseVector,
    StableHistogram,
    Staircase,
    ToeplitzFactorisation,
    TreeAggregation,
    TruncatedGaussian,
    TruncatedLaplace,
    TruncatedPoisson,
    UnaryEncoding,
    Zcdp,
)

DOCS = Path(__file__).parents[2] / "docs" / "combinations.md"

OTHERS: dict[str, Mechanism] = {
    "randomized-response": RandomizedResponse(0.25),
    "pure-dp": PureDp(1.0),
    "approximate-dp": ApproximateDp(1.0, 0.01),
    "zcdp": Zcdp(0.5),
    "noisy-max gumbel": ReportNoisyMax(1.0, "gumbel"),
    "noisy-max exponential": ReportNoisyMax(1.0, "exponential"),
    "noisy-max laplace": ReportNoisyMax(1.0, "laplace"),
    "sparse-vector": SparseVector(2.0, 4.0),
    "staircase": Staircase(1.0),
    "truncated-laplace": TruncatedLaplace(1.0, 8.0),
    "bounded-laplace": BoundedLaplace(1.0, 4.0),
    "clamped-gaussian": ClampedGaussian(1.0, 4.0),
    "truncated-gaussian": TruncatedGaussian(1.0, 4.0),
    "stable-histogram laplace": StableHistogram(Laplace(1.0), 8.0, 2),
    "stable-histogram gaussian": StableHistogram(Gaussian(1.0), 8.0, 2),
    "unary-encoding": UnaryEncoding(0.5, 0.25),
    "hadamard-response": HadamardResponse(1.0),
    "local-hash": LocalHash(1.0, 4),
    "piecewise": PiecewiseMechanism(1.0),
    "duchi": DuchiMechanism(1.0),
    "shuffled two categories": ShuffledReports(RandomizedResponse(0.25), 20),
    "shuffled bound": ShuffledReports(PureDp(1.0), 20),
}
PROOFS = dict.fromkeys([name for name in OTHERS if "noisy" in name], "selection.md")
PROOFS |= {"sparse-vector": "selection.md", "staircase": "selection.md"}
PROOFS |= dict.fromkeys(
    ["unary-encoding", "hadamard-response", "local-hash", "piecewise", "duchi"], "local_randomisers.md"
)
PROOFS |= dict.fromkeys(
    [name for name in OTHERS if name.startswith(("truncated", "bounded", "clamped"))], "public_ranges.md"
)
PROOFS |= dict.fromkeys([name for name in OTHERS if "histogram" in name], "stable_histogram.md")
PROOFS |= dict.fromkeys(["shuffled two categories", "shuffled bound"], "shuffle_model.md")

_G, _L = Gaussian(1.0), Laplace(1.0)
TOGETHER: dict[str, Mechanism] = {
    "group, gaussian": Group(_G, 2),
    "group, laplace": Group(_L, 2),
    "group, randomized response": Group(RandomizedResponse(0.25), 2),
    "group, pure-dp": Group(PureDp(1.0), 2),
    "group, noisy-max": Group(ReportNoisyMax(1.0, "gumbel"), 2),
    "group, tree-aggregation": Group(TreeAggregation(1.0, 4), 2),
    "group, poisson gaussian": Group(Poisson(_G, 0.5), 2),
    "group, poisson laplace": Group(Poisson(_L, 0.5), 2),
    "group, fixed-size": Group(FixedSize(_G, 4, 2), 2),
    "disjoint, gaussian and laplace": Disjoint(_G, _L),
    "disjoint, poisson": Disjoint(Poisson(_G, 0.5), Poisson(_G, 0.25)),
    "disjoint, shares": Disjoint(DistributedGaussian(1.0), _G),
    "best of several, poisson gaussian": BestOfSeveral(Poisson(_G, 0.5), 0.5),
    "one poisson sample, gaussians": Poisson(Sequence(_G, _G), 0.5),
    "one poisson sample, gaussian and laplace": Poisson(Sequence(_G, _L), 0.5),
    "one fixed-size sample, gaussians": FixedSize(Sequence(_G, _G), 4, 2),
    "one truncated sample, gaussians": TruncatedPoisson(Sequence(_G, _G), 0.5, 4, 2),
    "one shuffled epoch, gaussians": Shuffled(Sequence(_G, _G), 2),
    "one allocated block, gaussians": RandomAllocation(Sequence(_G, _G), 2, 1),
}
"""Groups, disjoint releases, several releases on one sample: docs/theory/dominating_pairs.md has a section for each."""
CORRELATED: dict[str, Mechanism] = {
    "tree-aggregation": TreeAggregation(1.0, 4),
    "banded-factorisation": BandedFactorisation(1.0, (1.0, 1.0, 1.0), 1),
    "toeplitz-factorisation": ToeplitzFactorisation(1.0, (1.0, 0.5), 4),
    "matrix-factorisation": MatrixFactorisation(1.0, ((1.0, 0.0), (0.5, 1.0))),
}
SECTIONS = {
    "none": "dominating_pairs.md, No sampling",
    "poisson": "dominating_pairs.md, Poisson sampling",
    "poisson at rate 1": "dominating_pairs.md, No sampling",
    "fixed-size": "dominating_pairs.md, Fixed-size sampling; Zero-out, Gaussian noise",
    "fixed-size, everybody": "dominating_pairs.md, No sampling",
    "truncated": "`accounting/truncated.py`",
    "with-replacement": "billboard.md, Visible participation",
    "shuffled": "dominating_pairs.md, Shuffled batches",
    "cyclic": "dominating_pairs.md, No sampling",
    "allocated": "rdp.md, Random allocation",
    "allocated, several": "rdp.md, Random allocation",
    "shown poisson": "dominating_pairs.md, Visible participation",
    "shown poisson at rate 1": "dominating_pairs.md, Visible participation",
    "shown fixed-size": "dominating_pairs.md, Visible participation",
}


class Stated(World):
    """A world of a noise that the oracle does not draw."""

    def base(self) -> Mechanism:
        return OTHERS.get(self.noise) or super().base()


def status(run: Mechanism, relation: str, view: str) -> str:
    """E exact, B bracketed, U an upper end only, - refused."""
    try:
        cut = truncated.is_truncated(run)
        pairs = dominating(truncated.as_poisson(run) if cut else run, relation, view)
    except InputError:
        return "-"
    if not pairs.lower:
        return "U"
    return "E" if pairs.lower == pairs.upper and not cut else "B"


def costs() -> dict[tuple[str, str], list[str]]:
    """By noise and scheme: for each relation one letter a view."""
    found = {}
    for noise, scheme in product((*NOISES, *OTHERS), SCHEMES):
        rounds = 3 if scheme.startswith("allocated") else 2
        try:
            run = Stated(noise, scheme, "", "", clients=4, cohort=2, rounds=rounds).run()
        except InputError:
            run = None
        found[noise, scheme] = ["".join("-" if run is None else status(run, r, v) for v in VIEWS) for r in RELATIONS]
    for name, run in CORRELATED.items():
        found[name, "none"] = ["".join(status(run, r, v) for v in VIEWS) for r in RELATIONS]
    for name, run in TOGETHER.items():
        found[name, "none"] = ["".join(status(run, r, v) for v in VIEWS) for r in RELATIONS]
    return found


def _unpriced(question: Question, at: float) -> Bracket:
    """What the facade accepts, without its numbers."""
    dominating(question.run, question.neighbouring, question.participation)
    return Bracket(0.0, 1e9, True, "unpriced")


def answered(world: World) -> str:
    """A answered, i an infinite cost, - refused."""
    with (
        patch.object(observers, "answer", _unpriced),
        patch.object(observers, "total_statistic_lower", lambda *_: 0.0),
    ):
        try:
            return "i" if world.ask().lower == float("inf") else "A"
        except InputError:
            return "-"


def observed() -> dict[tuple[str, str], list[str]]:
    """By aggregation and scheme: for each relation one letter an observer, with stateful clients, then stateless."""
    found = {}
    for aggregation, scheme in product(AGGREGATIONS, SCHEMES):
        rounds = 3 if scheme == "allocated, several" else 2
        cells = []
        for relation in RELATIONS:
            size = {"clients": 4, "cohort": 2, "rounds": rounds, "delta": 0.1}
            worlds = [
                [World("gaussian", scheme, relation, o, aggregation, state, **size) for o in OBSERVERS]  # type: ignore[arg-type]
                for state in (True, False)
            ]
            both = ["".join(map(answered, row)) for row in worlds]
            cells.append(both[0] if both[0] == both[1] else "/".join(both))
        found[aggregation, scheme] = cells
    return found


def merged(rows: dict[tuple[str, str], list[str]]) -> list[tuple[list[str], list[str], list[str]]]:
    """Rows whose cells agree, together: first names, second names, cells."""
    by_first: dict[str, dict[tuple[str, ...], list[str]]] = {}
    for (first, second), cells in rows.items():
        by_first.setdefault(first, {}).setdefault(tuple(cells), []).append(second)
    together: dict[tuple[tuple[str, ...], tuple[str, ...]], list[str]] = {}
    for first, groups in by_first.items():
        for cells, seconds in groups.items():
            together.setdefault((tuple(seconds), cells), []).append(first)
    return [(firsts, list(seconds), list(cells)) for (seconds, cells), firsts in together.items()]


def table(rows: dict[tuple[str, str], list[str]], first: str) -> str:
    lines = [f"| {first} | scheme | {' | '.join(RELATIONS)} | proof |", "|" + "---|" * 6]
    for firsts, schemes, cells in merged(rows):
        refused = not set("".join(cells)) - set("-/")
        proof = "" if refused else "; ".join(dict.fromkeys(SECTIONS[scheme] for scheme in schemes))
        if firsts[0] in CORRELATED:
            proof = "correlated_noise.md"
        elif firsts[0] in TOGETHER:
            proof = "dominating_pairs.md, Groups; Disjoint releases; Several releases on one sample; selection.md"
        elif not refused and firsts[0] in PROOFS:
            proof = "; ".join(dict.fromkeys(PROOFS.get(name, "dominating_pairs.md, No sampling") for name in firsts))
        listed = "every scheme" if len(schemes) == len(SCHEMES) else ", ".join(f"*{scheme}*" for scheme in schemes)
        lines.append(f"| {', '.join(firsts)} | {listed} | " + " | ".join(f"`{c}`" for c in cells) + f" | {proof} |")
    return "\n".join(lines)


HEAD = """# Every combination: exact, bracketed or refused

Written by `tests/oracles/combination_table.py`; `tests/accounting/test_combinations.py` fails when the product answers
otherwise, and `tests/accounting/test_federation.py` compares its answers with small federations in full. The proofs are
in docs/theory.

The nightly sweep draws one world (at most four clients, three rounds, two dimensions) for each of 3,402 combinations
of noise or aggregation, scheme, relation, observer and state, and encloses the divergence of every pair of neighbours
on its grid, proved, to 1e-3 of delta. It was run on 2026-11-22 over all of them, three of its
forty parts on a later state of that day (of the 3,147 of the other parts 1,895 are refused, 53 infinite, 1,199
bracketed); no pair exceeds an upper end, and each lower end above 0 is attained. The faults that it found
that day are in the changelog, and planted in tests/power/test_federation_faults.py. Correlated noise:
`tests/accounting/test_correlated_worlds.py`; weights in claims:
`tests/proofs_checks/claims/test_weights_in_worlds.py`; groups, disjoint releases and several releases on one sample
have tests of their own.

## `epsilon`, `delta` and everything above them

One letter for each of: participation hidden (dp), visible (dp), pooled by all others (billboard, joint). `E` exact: the
attained pair is the dominating one. `B` bracketed: both ends are proved, and differ. `U` an upper end only. `-`
refused. *distributed*: `DistributedGaussian`, noise that clients add themselves; *shares*:
`DistributedDiscreteGaussian`; *shown*: `VisibleParticipation`.

"""

MIDDLE = """

## `observer_epsilon`, by where the noise is added

Gaussian noise. One letter for each of: the server, all other clients, one other client, whoever sees the final models,
an outside reader. `A` answered with a bracket, `i` an infinite cost (the server sees updates without noise), `-`
refused. Where clients with state and without differ: first with. *client noise*: `PerClientNoise`; *secure*:
`SecureAggregation`; *sample counts*: `SampleCountMean`. Proofs: docs/theory/billboard.md.

"""


def document() -> str:
    return HEAD + table(costs(), "noise") + MIDDLE + table(observed(), "aggregation") + "\n"


if __name__ == "__main__":
    DOCS.write_text(document(), "utf-8")
