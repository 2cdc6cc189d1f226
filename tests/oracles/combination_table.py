"""docs/combinations.md: what is answered, and how well, for every combination; `python FILE` writes it anew."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from unittest.mock import patch

from nesting import CORRELATED, OTHERS, merged, nested_table, status
from worlds import AGGREGATIONS, NOISES, OBSERVERS, RELATIONS, SCHEMES, VIEWS, World

from dpcert.accounting.billboard import observers
from dpcert.accounting.bracket import Bracket
from dpcert.accounting.pricing.dominating import dominating
from dpcert.accounting.question import Question
from dpcert.mechanisms import InputError, Mechanism

DOCS = Path(__file__).parents[2] / "docs" / "combinations.md"

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

SECTIONS = {
    "none": "dominating_pairs.md, No sampling",
    "poisson": "dominating_pairs.md, Poisson sampling",
    "poisson at rate 1": "dominating_pairs.md, No sampling",
    "fixed-size": "dominating_pairs.md, Fixed-size sampling; Zero-out, Gaussian noise",
    "fixed-size, everybody": "dominating_pairs.md, No sampling",
    "truncated": "`accounting/pricing/truncated_poisson.py`",
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
    """By aggregation and scheme, of Gaussian noise."""
    return {key: _by_observer("gaussian", *key) for key in product(AGGREGATIONS, SCHEMES)}


def observed_noises() -> dict[tuple[str, str], list[str]]:
    """By noise and scheme, without an aggregation."""
    others = [noise for noise in (*NOISES, *OTHERS) if noise != "gaussian"]
    return {(noise, scheme): _by_observer(noise, "none", scheme) for noise, scheme in product(others, SCHEMES)}


def _by_observer(noise: str, aggregation: str, scheme: str) -> list[str]:
    """For each relation one letter an observer, with stateful clients, then stateless."""
    rounds = 3 if scheme == "allocated, several" else 2
    size = {"clients": 4, "cohort": 2, "rounds": rounds, "delta": 0.1}
    cells = []
    for relation in RELATIONS:
        worlds = [
            [Stated(noise, scheme, relation, o, aggregation, state, **size) for o in OBSERVERS]  # type: ignore[arg-type]
            for state in (True, False)
        ]
        both = ["".join(map(answered, row)) for row in worlds]
        cells.append(both[0] if both[0] == both[1] else "/".join(both))
    return cells


def table(rows: dict[tuple[str, str], list[str]], first: str) -> str:
    lines = [f"| {first} | scheme | {' | '.join(RELATIONS)} | proof |", "|" + "---|" * 6]
    for firsts, schemes, cells in merged(rows):
        refused = not set("".join(cells)) - set("-/")
        proof = "" if refused else "; ".join(dict.fromkeys(SECTIONS[scheme] for scheme in schemes))
        if firsts[0] in CORRELATED:
            proof = "correlated_noise.md"
        elif not refused and firsts[0] in PROOFS:
            proof = "; ".join(dict.fromkeys(PROOFS.get(name, "dominating_pairs.md, No sampling") for name in firsts))
        listed = "every scheme" if len(schemes) == len(SCHEMES) else ", ".join(f"*{scheme}*" for scheme in schemes)
        lines.append(f"| {', '.join(firsts)} | {listed} | " + " | ".join(f"`{c}`" for c in cells) + f" | {proof} |")
    return "\n".join(lines)


HEAD = """# Every combination: exact, bracketed or refused

Look here to find out whether dpcert answers for your combination of noise, sampling and neighbouring relation, and
whether its answer is exact. Each table says for each combination how well the two ends of the interval are known, and
where the proof is.

This page is written by `tests/oracles/combination_table.py`; `test_combinations.py` fails if the product answers
otherwise. The proofs are in docs/theory.

## How the answers are tested

The answers are compared with small federations that are computed completely (`test_federation.py`): at most four
clients, three rounds and two dimensions, with noise and coins as they are drawn, and every pair of neighbours on a
grid. Their divergences are enclosed, with proof, to 1e-3 of delta; where outputs are put into cells, they are bounded
from below to that accuracy. No pair may exceed an upper end, and each lower end above 0 has to be attained. By day a
sample is tested; `make nightly` tests a federation for every combination that is answered. The changelog says what
was run completely, and when. These tests are in `tests/accounting/worlds`, unless another folder is named:

- noise, aggregations, schemes, relations, observers, state, groups, several releases on one sample:
  `test_federation.py`
- correlated noise: `test_correlated_worlds.py`; weights in claims:
  `tests/proofs_checks/claims/test_weights_in_worlds.py`
- disjoint releases, banded noise with cyclic Poisson cohorts: `test_parts_and_bands.py`
- noisy maxima, sparse vector, staircase, public ranges, histograms, local and shuffled reports, private selection, with
  adaptive choices: `test_small_worlds.py`
- two kinds around each other: `test_nested_worlds.py`; every other nesting, composed, parted, grouped and searched from
  the laws of one release or of one cohort, drawn rounds (balls in bins, rounds kept apart) among them:
  `test_nested_pairs.py`
- observers of other noise than the server's Gaussian one: `test_observed_noise.py`; of selections, reports, public
  ranges, histograms and stated bounds: `test_observed_choices.py`
- what the product derives itself: `plan` (`test_plan_in_worlds.py`), individual budgets (`test_individual_worlds.py`),
  filters, odometers and running totals before adversaries who choose (`tests/accounting/ledger/`)

`tests/power/test_faults_found_in_worlds.py` has the faults that these tests found, and `test_world_faults.py` there
has a planted fault for each kind of federation.

## `epsilon`, `delta` and everything above them

Each entry has three letters, one for each attacker:

1. anyone who sees what is released, but not who took part (dp, participation hidden);
2. anyone who also sees who took part (dp, participation visible);
3. all the other clients together, who know when they took part themselves (billboard and joint).

The letters:

- `E`, exact: two neighbouring data sets are known that need exactly this epsilon.
- `B`, bracketed: both ends of the interval are proved, and they differ.
- `U`: there is an upper end only.
- `-`: dpcert refuses to answer, and says why.

*distributed* is `DistributedGaussian`, noise that clients add themselves. *shares* is `DistributedDiscreteGaussian`,
and *shown* is `VisibleParticipation`.

"""

INSIDE = """

## Inside of each other

Some mechanisms are about another one, such as `Repeat(…)` or `Poisson(…)`. This table has every such kind around
every other mechanism, and two of them around each other. The letters are those above. One more, `0`, means that there
is an answer at delta = 0 only, because no Rényi divergences are known of the runs that are searched; it is infinite
where noise or cohorts are cut. The proof of all of them is in dominating_pairs.md, "Inside of each other".

The last column says which tests compare the entry: `F`, test_federation.py and test_parts_and_bands.py; `N`, these
two kinds around this noise (test_nested_worlds.py); `S`, listed with this mechanism (test_small_worlds.py); `L`,
composed, parted, grouped and searched from the laws of one release, or of one cohort's (test_nested_pairs.py).

"""

MIDDLE = """

## `observer_epsilon`, by where the noise is added

This table is about Gaussian noise. Each entry has five letters, one for each attacker: the server; all other clients
together; one other client; anyone who sees the final models; anyone who reads what the server publishes. `A` means
that dpcert answers with an interval, `i` that epsilon is infinite (the server sees updates without noise), and `-`
that dpcert refuses. Two entries with a slash are for clients that keep state between rounds and for clients that do
not.

*client noise* is `PerClientNoise`, *secure* is `SecureAggregation`, and *sample counts* is `SampleCountMean`. The
proofs are in docs/theory/billboard.md.

"""

OTHER_NOISE = """

## `observer_epsilon`, of other noise

The letters are those of the last table. No aggregation is stated here, so what the server sees is not known, and its
letter is `-`. The tests are `test_observed_noise.py` and, for mechanisms of which no noise is drawn,
`test_observed_choices.py`.

"""


def document() -> str:
    """The whole page."""
    parts = [HEAD, table(costs(), "noise"), INSIDE, nested_table(), MIDDLE, table(observed(), "aggregation")]
    return "".join([*parts, OTHER_NOISE, table(observed_noises(), "noise"), "\n"])


if __name__ == "__main__":
    DOCS.write_text(document(), "utf-8")
