"""Every kind of mechanism inside of every other, from the registry of descriptions: what is answered, and how well."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Sequence as SequenceOf
from dataclasses import fields, is_dataclass, replace
from functools import lru_cache
from itertools import product

import nested_worlds
from worlds import NOISES, RELATIONS, VIEWS, World

from dpcert.accounting.accountants import CERTIFIED
from dpcert.accounting.pricing import truncated_poisson as truncated
from dpcert.accounting.pricing.dominating import dominating
from dpcert.mechanisms import (
    ApproximateDp,
    BallsInBins,
    BandedFactorisation,
    BestOfSeveral,
    BoundedLaplace,
    ClampedGaussian,
    Cyclic,
    Disjoint,
    DuchiMechanism,
    FixedSize,
    Gaussian,
    Group,
    HadamardResponse,
    InputError,
    Laplace,
    LocalHash,
    LossDistribution,
    MatrixFactorisation,
    Mechanism,
    MinSeparated,
    MixtureOfGaussians,
    PiecewiseMechanism,
    Poisson,
    PureDp,
    RandomAllocation,
    RandomizedResponse,
    RenyiDp,
    Repeat,
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
    VisibleParticipation,
    WithReplacement,
    Zcdp,
)
from dpcert.mechanisms.composition import has_step
from dpcert.mechanisms.serialise import _kinds as registered

OTHERS: dict[str, Mechanism] = {
    "randomized-response": RandomizedResponse(0.25),
    "mixture-of-gaussians": MixtureOfGaussians(1.0, (0.0, 1.0, 2.0), (0.5, 0.25, 0.25)),
    "pure-dp": PureDp(1.0),
    "approximate-dp": ApproximateDp(1.0, 0.01),
    "zcdp": Zcdp(0.5),
    "renyi-dp": RenyiDp(((2.0, 1.0), (8.0, 4.0), (32.0, 16.0))),
    "loss-distribution": LossDistribution.from_outcomes((0.75, 0.25), (0.25, 0.75)),
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
CORRELATED: dict[str, Mechanism] = {
    "tree-aggregation": TreeAggregation(1.0, 4),
    "banded-factorisation": BandedFactorisation(1.0, (1.0, 1.0, 1.0), 1),
    "toeplitz-factorisation": ToeplitzFactorisation(1.0, (1.0, 0.5), 4),
    "matrix-factorisation": MatrixFactorisation(1.0, ((1.0, 0.0), (0.5, 1.0))),
    "balls in bins": BallsInBins(ToeplitzFactorisation(1.0, (1.0, 0.5), 4), 2),
    "min-separated": MinSeparated(ToeplitzFactorisation(1.0, (1.0, 0.5), 4, min_separation=2), 0.5),
}


def _of_two(run: Mechanism) -> Mechanism:
    """A uniform cohort inside of one of two units is drawn from those."""
    return replace(run, population=2, cohort=1) if isinstance(run, FixedSize) else run


NESTING: dict[str, Callable[[Mechanism], Mechanism]] = {
    "Group": lambda run: Group(run, 2),
    "Disjoint": lambda run: Disjoint(run, run),
    "BestOfSeveral": lambda run: BestOfSeveral(run, 0.5),
    "ShuffledReports": lambda run: ShuffledReports(run, 4),
    "Sequence": lambda run: Sequence(run, run),
    "Poisson": lambda run: Poisson(run, 0.5),
    "TruncatedPoisson": lambda run: TruncatedPoisson(run, 0.5, 4, 2),
    "FixedSize": lambda run: FixedSize(_of_two(run), 4, 2),
    "WithReplacement": lambda run: WithReplacement(run, 4, 2),
    "Shuffled": lambda run: Shuffled(run, 2),
    "Cyclic": lambda run: Cyclic(run, 2),
    "RandomAllocation": lambda run: RandomAllocation(run, 2, 1),
    "VisibleParticipation": lambda run: VisibleParticipation(run),  # type: ignore[arg-type]
    "Repeat": lambda run: Repeat(run, 2),
}
"""By kind, what is made of another run."""

NESTED_PROOFS = {
    "Group": "dominating_pairs.md, Groups",
    "Disjoint": "dominating_pairs.md, Disjoint releases",
    "BestOfSeveral": "selection.md, The best of several private runs",
    "ShuffledReports": "shuffle_model.md",
    "Sequence": "dominating_pairs.md, Several releases on one sample",
    "Shuffled": "dominating_pairs.md, Shuffled batches",
    "RandomAllocation": "rdp.md, Random allocation",
    "VisibleParticipation": "dominating_pairs.md, Visible participation",
    "Poisson": "dominating_pairs.md, Poisson sampling",
    "FixedSize": "dominating_pairs.md, Fixed-size sampling",
    "TruncatedPoisson": "truncated_poisson.md",
}


def status(run: Mechanism, relation: str, view: str) -> str:
    """E exact, B bracketed, U an upper end only, 0 an answer at delta = 0 only, - refused."""
    try:
        cut = has_step(run, TruncatedPoisson)
        pairs = dominating(truncated.as_poisson(run) if cut else run, relation, view)
    except InputError:
        return "-"
    if not cut and not all(any(each.serves(product) for each in CERTIFIED) for product in pairs.upper):
        return "0"
    if not pairs.lower:
        return "U"
    return "E" if pairs.lower == pairs.upper and not cut else "B"


_ELSEWHERE = ("CorrelatedGaussian", "NoNoise")
"""What others derive from; and what has a test of its own (test_no_noise.py), in which everybody is found out."""


def kinds() -> dict[str, type[Mechanism]]:
    """Every kind of description that is shipped, from the registry; not those of tests, nor what others derive from."""
    found = {name: kind for name, kind in registered().items() if kind.__module__.startswith("dpcert.")}
    return {name: kind for name, kind in found.items() if is_dataclass(kind) and name not in _ELSEWHERE}


def nests(kind: type[Mechanism]) -> bool:
    """Whether a description of this kind is about another one."""
    return any("Mechanism" in str(field.type) or "Poisson" in str(field.type) for field in fields(kind))  # type: ignore[arg-type]


def leaves() -> dict[str, Mechanism]:
    """One description or more of every kind that is about no other."""
    noises = {noise: World(noise, "none", "", "", clients=4).base() for noise in NOISES}
    found = noises | OTHERS | CORRELATED
    return {name: run for name, run in found.items() if not nests(type(run))}


def nested_run(names: SequenceOf[str], leaf: Mechanism) -> Mechanism:
    """The leaf with these kinds around it, from the outermost one in. Raises InputError where there is no such run."""
    for name in reversed(names):
        leaf = NESTING[name](leaf)
    return leaf


@lru_cache(maxsize=1)
def _leaves() -> dict[str, Mechanism]:
    return leaves()


def letter(names: SequenceOf[str], leaf: str, relation: str, view: str) -> str:
    """The table's answer."""
    try:
        return status(nested_run(names, _leaves()[leaf]), relation, view)
    except InputError:
        return "-"


def nested() -> dict[tuple[str, str], list[str]]:
    """By kinds around each other, and what is inside: for each relation one letter a view."""
    found = {}
    around = [("{}", (outer,)) for outer in NESTING] + [("{}({})", both) for both in product(NESTING, repeat=2)]
    for _, names in around:
        label = "(".join(names) + "(…" + ")" * len(names)
        for leaf, inside in leaves().items():
            try:
                run = nested_run(names, inside)
            except InputError:
                found[label, leaf] = ["-" * len(VIEWS)] * len(RELATIONS)
                continue
            found[label, leaf] = ["".join(status(run, r, v) for v in VIEWS) for r in RELATIONS]
    return found


def nested_table() -> str:
    """Of what is answered; a last line for kinds around each other of which nothing is."""
    rows = nested()
    labels = dict.fromkeys(label for label, _ in rows)
    refused = [label for label in labels if all(set("".join(rows[label, leaf])) == {"-"} for leaf in leaves())]
    lines = [f"| around | inside | {' | '.join(RELATIONS)} | proof | worlds |", "|" + "---|" * 7]
    answered_rows = {key: cells for key, cells in rows.items() if set("".join(cells)) != {"-"}}
    for firsts, seconds, cells in merged(answered_rows):
        names = dict.fromkeys(name for first in firsts for name in first.rstrip("…)").split("(") if name)
        proof = "; ".join(dict.fromkeys(NESTED_PROOFS[name] for name in names if name in NESTED_PROOFS))
        around = ", ".join(f"`{first}`" for first in firsts)
        seen = ", ".join(dict.fromkeys(worlds_of(label, leaf) for label in firsts for leaf in seconds))
        letters = " | ".join(f"`{c}`" for c in cells)
        lines.append(f"| {around} | {', '.join(seconds)} | {letters} | {proof} | {seen} |")
    lines.append("\nNothing is answered inside of " + ", ".join(f"`{label}`" for label in refused) + ".")
    return "\n".join(lines)


REPORTS = ("randomized-response", "unary-encoding", "hadamard-response", "local-hash", "piecewise", "duchi")
LISTED = {
    "Group": REPORTS,
    "BestOfSeveral": ("discrete-laplace", "randomized-response"),
    "ShuffledReports": (*REPORTS, "pure-dp"),
}
"""By kind, around which leaves test_small_worlds.py has worlds."""


def has_nested_worlds(leaf: str) -> bool:
    """In leaves_nested.py: all but reports, histograms, mixtures and correlated noise with random participations."""
    elsewhere = (*REPORTS, "balls in bins", "min-separated", "mixture-of-gaussians")
    return leaf in (*OTHERS, *CORRELATED) and leaf not in elsewhere and not leaf.startswith(("stable-", "shuffled"))


WHERE = (
    ["Group"],
    ["Disjoint"],
    ["BestOfSeveral"],
    ["Cyclic", "Group"],
    ["Disjoint", "Group"],
    ["BestOfSeveral", "Group"],
)
"""Around which kinds leaves_nested.py has them."""


def worlds_of(label: str, leaf: str) -> str:
    """Where answers are compared, as the page says."""
    names = label.rstrip("…)").rstrip("(").split("(")
    if set(names) <= set(nested_worlds.KINDS) and leaf in nested_worlds.NOISES:
        if len(names) == 1:
            return "F"
        return "N" if nested_worlds.Nested(tuple(names), leaf, "zero-out", "hidden").is_small else "L"
    if names in WHERE and has_nested_worlds(leaf):
        return "S"
    if len(names) == 1:
        rounds = names[0] in ("Sequence", "Repeat", "Cyclic") and leaf not in (*CORRELATED, "mixture-of-gaussians")
        return "S" if rounds or leaf in LISTED.get(names[0], ()) else "L"
    return "S" if names[0] == "BestOfSeveral" and leaf in LISTED["BestOfSeveral"] else "L"


def paired() -> list[tuple[tuple[str, ...], str]]:
    """Kinds and leaves whose worlds are in nested_pairs.py."""
    listed = ((label, leaf) for (label, leaf), cells in nested().items() if set("".join(cells)) != {"-"})
    there = ((label, leaf) for label, leaf in listed if worlds_of(label, leaf) == "L")
    return [(tuple(label.rstrip("…)").rstrip("(").split("(")), leaf) for label, leaf in there]


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
