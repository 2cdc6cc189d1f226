"""Re-proving a certificate.

For one pair of neighbours let T move the noise n of every piece (source C, target C', shift S) to n + S(n). It is
shown that
1. every way through the function on the dataset lies in the pieces of its output (`Prover.covered`);
2. n + S lies in C' and in the support of the noise for all n in C; everything in C' leads, on the neighbour, to the
   same output after the same kinds of draws, with the same released numbers (`_arrives`);
3. n -> n + S has determinant +-1 and whole shifts for discrete noise; targets of different pieces with the same
   output overlap in a null set, or have the same shift (`_apart`): T is injective;
4. sum of |shift| / scale <= epsilon on C (`costs`).
Then P(M(D) in E) = integral of p(n) <= e^epsilon integral of p(T n) <= e^epsilon P(M(D') in E): (epsilon, 0)-DP.
Conditions with continuous noise may hold with equality only: that is a null set.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from .alignment_pieces import Piece, determinant, read_piece
from .costs import costs, drawn, gaussian_costs, of_its_sort
from .farkas import Prover
from .forms import Form, Sign
from .inductions.check import check_induction
from .noise import smooth, support
from .pairs import CONTAINERS, Data, Neighbours, Setting
from .progress import Watch
from .real.runs import Real, at_random, replayed
from .refusals import Raises, Refused
from .rounding import delta_is_enough
from .runs import Leaf, Node, leaves, reached, tree

FORMAT, FORMER = "dpcert proof 2", "dpcert proof 1"
"""The former, of 0.2.0, takes numbers for the fractions that floats are, not for the decimals that are written."""


@dataclass(frozen=True)
class Checked:
    """ok: everything was proved. steps: contradictions shown by multipliers; runs: real runs compared. every_size:
    it was proved for all numbers of entries. sizes: the numbers of entries for which it was proved one by one, by a
    certificate that was refused too."""

    ok: bool
    reason: str
    steps: int = 0
    runs: int = 0
    every_size: bool = False
    sizes: tuple[int, ...] = ()


@dataclass(frozen=True)
class Stated:
    """What a certificate claims: a budget of epsilon or rho, for which neighbours."""

    setting: Setting
    budget: Fraction
    merging: bool

    @classmethod
    def read(cls, document: Mapping[str, Any]) -> Stated:
        """Raises Refused, or what a document of another form leads to."""
        if document.get("format") not in (FORMAT, FORMER):
            raise Refused(f"not a certificate of the formats {FORMAT!r} and {FORMER!r}")
        name, notion = ("rho", "zcdp") if "rho" in document else ("epsilon", "dp")
        budget, merging, container = Fraction(document[name]), document["merging"], document.get("container", "array")
        low, high = (None if end is None else Fraction(end) for end in document["domain"]["ends"])
        setting = Setting(document["relation"], low, high, document["domain"]["whole"], container, notion)
        if container not in CONTAINERS:
            raise Refused(f"a dataset that is neither an array nor a list but {container!r:.40}")
        if budget < 0 or not all(type(flag) is bool for flag in (merging, setting.whole)) or not document["sizes"]:
            raise Refused("fields that make no claim")
        if setting.order and (setting.relation == "answers" or setting.whole or (low, high) != (None, None)):
            raise Refused("records that are answers, or lie between numbers")
        return cls(setting, budget, merging)

    def cases(self, size: int) -> Iterable[Neighbours]:
        """All pairs of neighbours of so many entries."""
        return self.setting.cases(size, self.merging)


def check_proof(document: Mapping[str, Any], function: Callable[..., Any], watch: Watch | None = None) -> Checked:
    """Whether the certificate proves that the function is epsilon-DP for what it states. Never raises for a bad one.

    watch: is told how far the check is, and keeps what is shown. Raises OutOfTime after its deadline.
    """
    watch = watch or Watch()
    try:
        stated = Stated.read(document)
        followed = Followed(Real(function, stated.setting.container), document["format"] == FORMAT)
        _check_sizes(document, stated, followed, watch)
        every_size = "induction" in document
        steps, runs = watch.steps, watch.runs
        if every_size:
            more = check_induction(
                document["induction"], function, stated.setting, stated.budget, watch, followed.as_written
            )
            steps, runs = steps + more[0], runs + more[1]
        else:
            _check_gaps(stated, followed, watch.sizes)
        _check_what_follows(document, stated)
    except Refused as problem:
        return Checked(False, str(problem), sizes=tuple(watch.sizes))
    except (AttributeError, IndexError, KeyError, TypeError, ValueError, ZeroDivisionError) as problem:
        return Checked(False, f"the certificate cannot be read ({type(problem).__name__}: {problem})")
    return Checked(True, shown_by(steps, runs), steps, runs, every_size, tuple(watch.sizes))


def _check_sizes(document: Mapping[str, Any], stated: Stated, followed: Followed, watch: Watch) -> None:
    """Every pair of neighbours of every number of entries that is named; the watch keeps which are shown."""
    said = {(case["entries"], case["case"]): case["pieces"] for case in document["cases"]}
    cost = gaussian_costs if stated.setting.notion == "zcdp" else costs
    steps = runs = done = 0
    watch.told(done, len(said))
    for size in document["sizes"]:
        for case in stated.cases(int(size)):
            if (size, case.name) not in said:
                raise Refused(f"nothing is said of {size} entries where {case.name}")
            found = check_case(followed, case, said[size, case.name], stated.budget, cost, watch)
            steps, runs, done = steps + found.steps, runs + found.runs, done + 1
            watch.told(done, len(said))
        watch.sizes.append(int(size))
        watch.steps, watch.runs = steps, runs


def _check_gaps(stated: Stated, followed: Followed, sizes: list[int]) -> None:
    """All numbers of entries up to the largest are shown, but for those at which the function raises an exception."""
    if sorted(sizes) != list(range(min(sizes), max(sizes) + 1)):
        raise Refused("numbers of entries with gaps between them")
    for size in range(1, min(sizes)):
        for case in stated.cases(size):
            _raises(followed, case, size)


def _check_what_follows(document: Mapping[str, Any], stated: Stated) -> None:
    """A mu, or an epsilon at a delta, that is claimed because of the rho."""
    budget = stated.budget
    if "mu" in document:
        mu = Fraction(document["mu"])
        if stated.setting.notion != "zcdp" or mu < 0 or 2 * budget > mu**2:
            raise Refused(f"rho = {float(budget):g} is not enough for the claimed mu")
    if stated.setting.notion == "zcdp" and "delta" in document:
        claimed = Fraction(document["epsilon"]), Fraction(document["delta"])
        if min(claimed) < 0 or not delta_is_enough(budget, *claimed):
            raise Refused(f"rho = {float(budget):g} is not enough for the claimed epsilon and delta")


@dataclass(frozen=True)
class Followed:
    """A function that is followed on symbols, and run on real numbers. as_written: see exact_numbers.py."""

    real: Real
    as_written: bool

    def tree(self, dataset: list[Form], data: Data, prover: Prover) -> Node:
        """All ways through it. Raises Refused."""
        return tree(self.real.function, dataset, data, prover, self.real.container, self.as_written)


def _raises(function: Followed, case: Neighbours, size: int) -> None:
    """Nothing need be said of a number of entries for which the function raises an exception. Raises Refused."""
    with suppress(Raises):
        for dataset in (case.dataset, case.neighbour):
            function.tree(dataset, case.data, Prover())
        raise Refused(f"nothing is said of {size} entries")


def shown_by(steps: int, runs: int) -> str:
    """What was done, in words."""
    return f"{steps} contradictions shown by exact multipliers, {runs} real runs agree"


def check_case(
    function: Followed,
    case: Neighbours,
    entries: Any,
    budget: Fraction,
    cost: Callable[..., None],
    watch: Watch,
) -> Checked:
    """One pair of neighbours. Raises Refused with the first thing that is not proved."""
    prover = Prover(watch)
    here = function.tree(case.dataset, case.data, prover)
    there = function.tree(case.neighbour, case.data, prover)
    pieces = [read_piece(entry, set(case.data.ends)) for entry in entries]
    for piece in pieces:
        of_its_sort(piece, case.data)
    facts = case.data.facts
    ways = list(leaves(here))
    for leaf in ways:
        own = [piece for piece in pieces if (piece.key, piece.draws) == (leaf.key, leaf.draws)]
        own = [piece for piece in own if not _excluded(piece.source, leaf.tests)]
        if not prover.covered([*facts, *leaf.tests], [piece.source for piece in own]):
            raise Refused(f"a way to the output {leaf.key} is not covered by any piece")
    for piece in pieces:
        _arrives(prover, piece, ways, there, case.data)
        if abs(determinant(piece)) != 1:
            raise Refused(f"the shift of the noise changes volumes, for the output {piece.key}")
    cost(prover, pieces, case.data, budget)
    _apart(prover, pieces, facts)
    runs = replayed(function.real, case, ways, prover) + replayed(
        function.real, case, list(leaves(there)), prover, other=True
    )
    runs += at_random(function.real, case, here) + at_random(function.real, case, there, other=True)
    return Checked(True, "", prover.steps, runs)


def _excluded(source: Iterable[Sign], known: Iterable[Sign]) -> bool:
    """Whether one condition is the negation of one that is known: a quick way to see that a piece is elsewhere."""
    return not {sign.opposite_key() for sign in source}.isdisjoint(sign.key() for sign in known)


def _arrives(prover: Prover, piece: Piece, ways: list[Leaf], there: Node, data: Data) -> None:
    """Shifted noise leads to the same output on the neighbour."""
    source = [*data.facts, *drawn(piece), *piece.source]
    for k, (kind, parameter) in enumerate(piece.draws):
        arrival = [Sign(piece.moved(sign.form), False) for sign in support(kind, parameter, Form.variable(f"n{k}"))]
        if not all(prover.entails(source, sign) for sign in arrival):
            raise Refused(f"shifted noise leaves the support of noise {k}, for the output {piece.key}")
    for sign in piece.target:
        strict = sign.strict and not smooth(sign.form, piece.draws)
        if not prover.entails(source, Sign(piece.moved(sign.form), strict)):
            raise Refused(f"shifted noise leaves its target, for the output {piece.key}")
    starts = [leaf for leaf in ways if (leaf.key, leaf.draws) == (piece.key, piece.draws)]
    starts = [leaf for leaf in starts if not _excluded(piece.source, leaf.tests)]
    for leaf, known in reached(there, [*data.facts, *piece.target], prover):
        if (leaf.key, leaf.draws) != (piece.key, piece.draws):
            raise Refused(f"the neighbour may put out {leaf.key} instead of {piece.key}, or draw otherwise")
        arrived = [Sign(piece.moved(sign.form), sign.strict) for sign in known if sign.form.noisy]
        for start in starts:
            _same_numbers(prover, piece, start, leaf, [*source, *start.tests, *arrived])


def _same_numbers(prover: Prover, piece: Piece, start: Leaf, end: Leaf, known: list[Sign]) -> None:
    differences = [a - piece.moved(b) for a, b in zip(start.reals, end.reals, strict=True)]
    differing = [form for form in differences if form.slopes or form.at_zero]
    if not differing or prover.contradictory(known):
        return
    for form in differing:
        if not all(prover.entails(known, Sign(side, False)) for side in (form, -form)):
            raise Refused(f"a released number changes, for the output {piece.key}")


def _apart(prover: Prover, pieces: list[Piece], facts: list[Sign]) -> None:
    """Pieces of one output with different shifts have targets that do not overlap, but for null sets."""
    targets = [[Sign(s.form, s.strict or smooth(s.form, piece.draws)) for s in piece.target] for piece in pieces]
    keys = [({sign.key() for sign in target}, {sign.opposite_key() for sign in target}) for target in targets]
    for i, j in itertools.combinations(range(len(pieces)), 2):
        one, other = pieces[i], pieces[j]
        if (one.key, one.draws) != (other.key, other.draws) or not keys[i][0].isdisjoint(keys[j][1]):
            continue  # other outputs, or a condition and its negation
        if all(a.same(b) for a, b in zip(one.shifts, other.shifts, strict=True)):
            continue
        if not prover.contradictory([*facts, *targets[i], *targets[j]]):
            raise Refused(f"two pieces move noise to the same place, for the output {one.key}")
