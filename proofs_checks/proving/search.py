"""The search: for each pair of neighbours and each output, a piece of noise space and how it is shifted.

What it finds is a suggestion. Nothing is proved before the checker, of which nothing is imported here, has said so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import z3

from .alignment import Alignment, align
from .exploration import Path, explore
from .linear import Condition, Linear
from .noise import Draw
from .relations import Pair
from .space import Space


@dataclass(frozen=True)
class Piece:
    """Noise in `source` leads to the output on the dataset; shifted into `target` it does so on the neighbour."""

    key: Any
    draws: tuple[Draw, ...]
    source: tuple[Condition, ...]
    target: tuple[Condition, ...]
    alignment: Alignment


@dataclass(frozen=True)
class Failure:
    """An output for which there is no alignment: on which part of the runs, and why."""

    key: Any
    why: str
    conditions: tuple[Condition, ...]
    draws: tuple[Draw, ...]


Found = tuple[list[Piece], list[Failure]]
Released = list[tuple[Linear, Linear]]


def search(mechanism: Callable[..., Any], pair: Pair, container: Callable[[Iterable[Linear]], Any]) -> Found:
    """Pieces for every output of one pair of neighbours; the outputs that have none. Raises Unsupported."""
    outcomes = list(by_output(mechanism, pair, container))
    pieces = [piece for outcome in outcomes if not isinstance(outcome, Failure) for piece in outcome]
    return pieces, [outcome for outcome in outcomes if isinstance(outcome, Failure)]


def by_output(
    mechanism: Callable[..., Any], pair: Pair, container: Callable[[Iterable[Linear]], Any]
) -> Iterator[list[Piece] | Failure]:
    """What is found for one output after the other, for who wants no more once one has nothing. Raises Unsupported."""
    here = _cells(explore(mechanism, lambda: container(pair.dataset), pair.space))
    there = _cells(explore(mechanism, lambda: container(pair.neighbour), pair.space))
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

    data: tuple[Condition, ...]
    labels: dict[Any, list[Path]]


def _cells(paths: Sequence[Path]) -> list[_Cell]:
    cells: dict[Any, _Cell] = {}
    for path in paths:
        data = path.data
        cell = cells.setdefault(tuple(sorted(c.text() for c in data)), _Cell(data, {}))
        cell.labels.setdefault((path.key, path.draws), []).append(path)
    return list(cells.values())


def _aligned(space: Space, here: list[Path], there: list[Path], data: tuple[Condition, ...]) -> list[Piece] | Failure:
    """One alignment for all runs of an output; else one for each run; else one that depends on the noise."""
    if not there:
        why = "this output is impossible on the neighbour, or drawn otherwise"
        return Failure(here[0].key, why, here[0].conditions, here[0].draws)
    together = _together(space, here, there, data)
    if together:
        return together
    options = [found for way in (_each, _solved) if (found := way(space, here, there, data))]
    if not options:
        conditions = (*here[0].conditions, *there[0].data)
        return Failure(here[0].key, "no alignment of the supported form", conditions, here[0].draws)
    return min(options, key=_worst)


def _together(space: Space, here: list[Path], there: list[Path], data: tuple[Condition, ...]) -> list[Piece]:
    source, target = merged(space, here, data), merged(space, there, data)
    if source is None or target is None:
        return []
    return _piece(space, here[0], there[0], (*data, *source), (*data, *target))


def _each(space: Space, here: list[Path], there: list[Path], data: tuple[Condition, ...]) -> list[Piece]:
    """Every run to the run of the neighbour that decides alike; where sizes differ, to the cheapest one."""
    pieces: list[Piece] = []
    taken: set[int] = set()
    for path in here:
        alike = [i for i, other in enumerate(there) if other.decisions == path.decisions and i not in taken]
        options = []
        for i in alike or [i for i in range(len(there)) if i not in taken]:
            found = _piece(space, path, there[i], (*data, *path.noisy), (*data, *there[i].noisy))
            options += [(found[0].alignment.cost, i, found[0])] if found else []
        if not options:
            return []
        _, i, piece = min(options, key=lambda option: option[:2])
        taken.add(i)
        pieces.append(piece)
    return pieces


def _solved(space: Space, here: list[Path], there: list[Path], data: tuple[Condition, ...]) -> list[Piece]:
    """One noise is shifted by what keeps the released number, whatever the others are; these stay."""
    best: list[Piece] = []
    if not here[0].reals:
        return best
    for k in range(len(here[0].draws)):
        pieces: list[Piece] | None = []
        for path in here:
            for other in there:
                guard = tuple(c for c in other.noisy if f"n{k}" not in c.form.terms)
                source = (*data, *path.noisy, *guard)
                if not space.possible(*source):
                    continue
                kept = tuple(c for c in path.noisy if f"n{k}" not in c.form.terms)
                piece = _piece(space, path, other, source, (*data, *other.noisy, *kept), k)
                pieces = pieces + piece if pieces is not None and piece else None
                if pieces is None:
                    break
            if pieces is None:
                break
        if pieces and (not best or _worst(pieces) < _worst(best)):
            best = pieces
    return best


def _worst(pieces: list[Piece]) -> Fraction:
    return max(piece.alignment.cost for piece in pieces)


def _piece(
    space: Space,
    here: Path,
    there: Path,
    source: tuple[Condition, ...],
    target: tuple[Condition, ...],
    solved: int | None = None,
) -> list[Piece]:
    released = list(zip(here.reals, there.reals, strict=True))
    alignment = align(space, here.draws, source, [c for c in target if c.form.noisy], released, solved)
    return [Piece(here.key, here.draws, source, target, alignment)] if alignment else []


def merged(space: Space, runs: list[Path], data: tuple[Condition, ...]) -> tuple[Condition, ...] | None:
    """One polyhedron that is exactly the union of the runs' noise, or None where the union is none."""
    if len(runs) == 1:
        return runs[0].noisy
    if len({tuple(real.text() for real in run.reals) for run in runs}) > 1:
        return None
    candidates = {c.text(): c for run in runs for c in run.noisy}
    for run in runs:
        own = {c.text() for c in run.noisy}
        with space.assuming(*data, *run.noisy) as solver:
            for text in [text for text in candidates if text not in own]:
                if not space.contradictory(solver, space.formula(candidates[text].opposite())):
                    del candidates[text]
    hull = tuple(candidates.values())
    with space.assuming(*data, *hull) as solver:
        for run in runs:
            left = [space.formula(c.opposite()) for c in run.noisy if c.text() not in candidates]
            solver.add(z3.Or(left) if left else z3.BoolVal(False))
        return hull if space.contradictory(solver) else None
