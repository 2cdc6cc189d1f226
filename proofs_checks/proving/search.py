"""The search: for each pair of neighbours and each output, a piece of noise space and how it is shifted.

The ways through the function are the checker's. What is found is a suggestion: nothing is proved before the checker,
which knows nothing of the search, has said so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from .alignment import align
from .checker import alignment_pieces
from .checker.farkas import Prover
from .checker.forms import Form, Sign
from .checker.noise import COMPUTED, GAUSSIAN, Draw, noise_of
from .checker.runs import Leaf, leaves, tree
from .solver import Pair, Space


@dataclass(frozen=True)
class Piece(alignment_pieces.Piece):
    """Noise in `source` leads to the output on the dataset; shifted into `target` it does so on the neighbour. cost:
    epsilon; where there is Gaussian noise, rho. caps: the bounds' largest values, which rho needs."""

    cost: Fraction = Fraction(0)
    released: tuple[tuple[Form, Form], ...] = ()

    def moved_by(self, space: Space, shifts: tuple[Form, ...]) -> Piece | None:
        """The same with its noise shifted so, if that leads there."""
        left = iter(shifts)
        fixed = [Form() if kind in COMPUTED else next(left) for kind, _ in self.draws]
        return _aligned_to(space, self, fixed=fixed)


def _aligned_to(
    space: Space, piece: Piece, solved: int | None = None, fixed: Sequence[Form] | None = None
) -> Piece | None:
    """The piece with the cheapest shifts that lead from its source to its target."""
    target = [sign for sign in piece.target if sign.form.noisy]
    found = align(space, piece.draws, piece.source, target, piece.released, solved, fixed)
    return None if found is None else replace(piece, **vars(found))


@dataclass(frozen=True)
class Failure:
    """An output for which there is no alignment: on which part of the runs, and why."""

    key: str
    why: str
    conditions: tuple[Sign, ...]
    draws: tuple[Draw, ...]


Found = tuple[list[Piece], list[Failure]]


def search(mechanism: Callable[..., Any], pair: Pair, container: str) -> Found:
    """Pieces for every output of one pair of neighbours; the outputs that have none. Raises Refused."""
    outcomes = list(by_output(mechanism, pair, container))
    pieces = [piece for outcome in outcomes if not isinstance(outcome, Failure) for piece in outcome]
    if any(kind in GAUSSIAN for piece in pieces for kind, _ in piece.draws):
        pieces = _alike(pair.space, pieces)
    return pieces, [outcome for outcome in outcomes if isinstance(outcome, Failure)]


def paths(mechanism: Callable[..., Any], dataset: list[Form], pair: Pair, container: str) -> list[Leaf]:
    """All ways through mechanism(dataset, rng) that are possible. Raises Refused."""
    return list(leaves(tree(mechanism, dataset, pair.case.data, Prover(), container)))


def _noisy(run: Leaf) -> tuple[Sign, ...]:
    """The tests with noise in them."""
    return tuple(test for test in run.tests if test.form.noisy)


def _of_data(run: Leaf) -> tuple[Sign, ...]:
    """The tests of the data alone."""
    return tuple(test for test in run.tests if not test.form.noisy)


def by_output(mechanism: Callable[..., Any], pair: Pair, container: str) -> Iterator[list[Piece] | Failure]:
    """What is found for one output after the other, for who wants no more once one has nothing. Raises Refused."""
    here = _cells(paths(mechanism, pair.case.dataset, pair, container))
    there = _cells(paths(mechanism, pair.case.neighbour, pair, container))
    for first in here:
        for second in there:
            data = (*first.data, *second.data)
            if data and not pair.space.possible(*data):
                continue
            for label, runs in first.labels.items():
                yield _aligned(pair.space, runs, second.labels.get(label, []), data)


@dataclass
class _Cell:
    """The runs under the same conditions on the data, by what they draw and put out."""

    data: tuple[Sign, ...]
    labels: dict[Any, list[Leaf]]


def _cells(paths: Sequence[Leaf]) -> list[_Cell]:
    cells: dict[Any, _Cell] = {}
    for path in paths:
        data = _of_data(path)
        cell = cells.setdefault(tuple(sorted(c.name() for c in data)), _Cell(data, {}))
        cell.labels.setdefault((path.key, path.draws), []).append(path)
    return list(cells.values())


def _aligned(space: Space, here: list[Leaf], there: list[Leaf], data: tuple[Sign, ...]) -> list[Piece] | Failure:
    """One alignment for all runs of an output; else one for each run; else one that depends on the noise."""
    if not there:
        why = "this output is impossible on the neighbour, or drawn otherwise"
        return Failure(here[0].key, why, here[0].tests, here[0].draws)
    together = _together(space, here, there, data)
    if together:
        return together
    options = [found for way in (_each, _solved) if (found := way(space, here, there, data))]
    if not options:
        conditions = (*here[0].tests, *_of_data(there[0]))
        return Failure(here[0].key, "no alignment of the supported form", conditions, here[0].draws)
    return min(options, key=_worst)


def _together(space: Space, here: list[Leaf], there: list[Leaf], data: tuple[Sign, ...]) -> list[Piece]:
    source, target = merged(space, here, data), merged(space, there, data)
    if source is None or target is None:
        return []
    return _piece(space, here[0], there[0], (*data, *source), (*data, *target))


def _each(space: Space, here: list[Leaf], there: list[Leaf], data: tuple[Sign, ...]) -> list[Piece]:
    """Every run to the run of the neighbour that decides alike; where sizes differ, to the cheapest one."""
    pieces: list[Piece] = []
    taken: set[int] = set()
    for path in here:
        alike = [i for i, other in enumerate(there) if other.choices == path.choices and i not in taken]
        options = []
        for i in alike or [i for i in range(len(there)) if i not in taken]:
            found = _piece(space, path, there[i], (*data, *_noisy(path)), (*data, *_noisy(there[i])))
            options += [(found[0].cost, i, found[0])] if found else []
        if not options:
            return []
        _, i, piece = min(options, key=lambda option: option[:2])
        taken.add(i)
        pieces.append(piece)
    return pieces


def _solved(space: Space, here: list[Leaf], there: list[Leaf], data: tuple[Sign, ...]) -> list[Piece]:
    """One noise is shifted by what keeps the released number, whatever the others are; these stay."""
    best: list[Piece] = []
    if not here[0].reals:
        return best
    for k in range(len(here[0].draws)):
        pieces: list[Piece] | None = []
        for path in here:
            for other in there:
                guard = tuple(c for c in _noisy(other) if f"n{k}" not in c.form.slopes)
                source = (*data, *_noisy(path), *guard)
                if not space.possible(*source):
                    continue
                kept = tuple(c for c in _noisy(path) if f"n{k}" not in c.form.slopes)
                piece = _piece(space, path, other, source, (*data, *_noisy(other), *kept), k)
                pieces = pieces + piece if pieces is not None and piece else None
                if pieces is None:
                    break
            if pieces is None:
                break
        if pieces and (not best or _worst(pieces) < _worst(best)):
            best = pieces
    return best


def _worst(pieces: list[Piece]) -> Fraction:
    return max(piece.cost for piece in pieces)


def _piece(
    space: Space,
    here: Leaf,
    there: Leaf,
    source: tuple[Sign, ...],
    target: tuple[Sign, ...],
    solved: int | None = None,
) -> list[Piece]:
    released = tuple(zip(here.reals, there.reals, strict=True))
    found = _aligned_to(space, Piece(here.key, here.draws, source, target, (), (), released=released), solved)
    return [] if found is None else [found]


def _alike(space: Space, pieces: list[Piece]) -> list[Piece]:
    """With the same shifts for all outputs of the same data, where that can be: rho is proved of such shifts only."""
    groups: dict[Any, list[Piece]] = {}
    for piece in pieces:
        data = tuple(sorted(sign.name() for sign in piece.source if not sign.form.noisy))
        groups.setdefault((data, noise_of(piece.draws, piece.draws)), []).append(piece)
    return [piece for group in groups.values() for piece in _one_shift(space, group)]


def _one_shift(space: Space, pieces: list[Piece]) -> list[Piece]:
    """Of their shifts the first that does for all of them."""
    stated = [noise_of(piece.draws, piece.shifts) for piece in pieces]
    tried = {tuple(shift.name() for shift in shifts): shifts for shifts in stated}
    for shifts in tried.values() if len(tried) > 1 else ():
        moved = [piece.moved_by(space, shifts) for piece in pieces]
        found = [piece for piece in moved if piece is not None]
        if len(found) == len(pieces):
            return found
    return pieces


def merged(space: Space, runs: list[Leaf], data: tuple[Sign, ...]) -> tuple[Sign, ...] | None:
    """One polyhedron that is exactly the union of the runs' noise, or None where the union is none."""
    if len(runs) == 1:
        return _noisy(runs[0])
    if len({tuple(real.name() for real in run.reals) for run in runs}) > 1:
        return None
    candidates = {c.name(): c for run in runs for c in _noisy(run)}
    for run in runs:
        own = {c.name() for c in _noisy(run)}
        for text in [text for text in candidates if text not in own]:
            if space.possible(*data, *_noisy(run), candidates[text].negation()):
                del candidates[text]
    left = [[c for c in _noisy(run) if c.name() not in candidates] for run in runs]
    hull = tuple(candidates.values())
    return hull if space.covered([*data, *hull], left) else None
