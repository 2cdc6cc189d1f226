"""Profiles by upper values at a few epsilons: of atoms, and the law of a loss whose profile lies above given values.

A profile H is convex in gamma, falls, and is 1 at gamma = 0. So between two nodes it is below the chord of upper values
there, and the largest convex function under values at nodes is, as long as H is below the values, above H; it is the
profile of a list of atoms at the nodes. Everything that decides how small a value is is a sum of products of
nonnegative numbers: no cancellation, errors are relative (docs/theory/shuffled.md, "Computation").
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from ...mechanisms.arrays import Floats
from ..losses.atoms.cells import ROUNDING_OF_SUMS, Atoms
from ..rounding import UNIT

_SUMS = 1 + 1e-11
"""Of the recursion below, for at most 10^4 nodes."""

_NEARLY = 1e-11
"""A law's masses are enlarged by no larger a share: what is missing beyond is added to the infinite loss."""

_BESIDE_OTHERS = 1 + 1e-6
"""So much of an infinite loss counts in compositions: the finite masses of each other law are at most 1 + 3e-11, which
covers 30,000 of them."""


def symmetric_nodes(step: float, growth: float, last: float) -> Floats:
    """Epsilons around 0, as many below as above: `step` apart near 0, further out by their own share `growth`."""
    even = np.arange(1, math.ceil(1 / growth) + 1) * step
    even = even[: int(np.searchsorted(even, last)) + 1]
    more = max(0, math.ceil(math.log(last / float(even[-1])) / math.log1p(growth))) if last > even[-1] else 0
    positive = np.concatenate([even, float(even[-1]) * (1 + growth) ** np.arange(1, more + 1)])
    return np.concatenate([-positive[::-1], [0.0], positive])


def heights(atoms: Atoms, nodes: Floats) -> Floats:
    """At least the profile of the atoms at each node: E(1 - e^{node - L})_+, and the mass at infinity.

    Atoms between two nodes go to both with their P- and their Q-mass, which changes no value at a node. Losses beyond
    the last node count as infinite, those below the first as there.
    """
    within = atoms.loss <= nodes[-1]
    infinite = (atoms.infinite + float(np.sum(atoms.mass[~within]))) * _SUMS
    loss, mass = np.maximum(atoms.loss[within], nodes[0]), atoms.mass[within]
    below = np.clip(np.searchsorted(nodes, loss, side="right") - 1, 0, nodes.size - 2)
    start, width = nodes[below], np.diff(nodes)[below]
    slack = 4 * UNIT * (np.abs(loss) + np.abs(start)) + 64 * UNIT * width
    share = np.minimum(-np.expm1(np.minimum(start - loss, 0.0) - slack) / -np.expm1(-width) * (1 + 64 * UNIT), 1.0)
    at_nodes = np.bincount(below, mass * (1 - share), nodes.size) + np.bincount(below + 1, mass * share, nodes.size)
    return _at_nodes(nodes, np.asarray(at_nodes * (1 + 8 * UNIT), dtype=float)) * _SUMS + infinite


def _at_nodes(nodes: Floats, masses: Floats) -> Floats:
    """The profile at the nodes of masses that are on nodes: with Q-masses above it, its slope is constant in gamma."""
    steps, found = np.diff(nodes), np.zeros(nodes.size)
    grown, shrunk = np.expm1(steps).tolist(), np.exp(-steps).tolist()
    height = above = 0.0
    for at in range(nodes.size - 2, -1, -1):
        above = shrunk[at] * (above + float(masses[at + 1]))
        height += above * grown[at]
        found[at] = height
    return found


def mirrored(nodes: Floats, other: Floats) -> Floats:
    """1 - gamma + gamma H'(1/gamma), rounded up: what upper values of the other order say, at symmetric nodes."""
    gamma = np.exp(nodes)
    return np.asarray(-np.expm1(nodes) + gamma * other[::-1] + 16 * UNIT * (1 + gamma * (1 + other[::-1])))


def minorant(at: Floats, height: Floats) -> NDArray[np.int64]:
    """Which points are vertices of the largest convex function below all of them (Andrew's chain)."""
    chain: list[int] = []
    for here in range(at.size):
        while len(chain) > 1:
            one, other = chain[-2], chain[-1]
            rise, run = height[other] - height[one], at[other] - at[one]
            if rise * (at[here] - at[one]) < (height[here] - height[one]) * run:
                break
            chain.pop()
        chain.append(here)
    return np.array(chain)


def second_differences(at: Floats, height: Floats) -> Floats:
    """P-masses, at all places gamma but the first, of the atoms whose profile has these convex heights."""
    slopes = np.append(np.diff(height) / np.diff(at), 0.0)
    return np.asarray(np.maximum(np.diff(slopes), 0.0) * at[1:])


def law_above(nodes: Floats, values: Floats) -> Atoms:
    """The atoms, on the nodes, of the largest convex function under the values, 1 at gamma = 0 among them.

    Every profile that is at most the values at the nodes is at most that of the atoms, everywhere: between two vertices
    both are below, and equal to, the chord.
    """
    falling = np.minimum.accumulate(np.minimum(values, 1.0))
    at, height = np.concatenate([[0.0], np.exp(nodes)]), np.concatenate([[1.0], falling])
    kept = minorant(at, height)
    return _enlarged(nodes[kept[1:] - 1], second_differences(at[kept], height[kept]), height[kept[1:]])


def symmetric_law_above(nodes: Floats, values: Floats) -> Atoms:
    """The same for a symmetric pair, at symmetric nodes; values: upper ones from 0 on."""
    known = np.concatenate([np.ones(nodes.size - values.size), values])
    return law_above(nodes, np.minimum(known, mirrored(nodes, known)))


def _enlarged(nodes: Floats, masses: Floats, wanted: Floats) -> Atoms:
    """So that rounding leaves no node below what is wanted there, and the whole mass is at least 1."""
    infinite = float(wanted[-1]) * _SUMS
    found = _at_nodes(nodes, masses)
    short = np.max((wanted - infinite) / np.maximum(found, 1e-300) - 1, where=found > 0, initial=0.0)
    masses = masses * (1 + min(max(float(short), 0.0), _NEARLY)) * _SUMS
    infinite += max(0.0, float(np.max(wanted - infinite - _at_nodes(nodes, masses))))
    masses[0] += max(0.0, 1 - float(np.sum(masses)) * (1 - ROUNDING_OF_SUMS) - infinite) + 4 * UNIT
    kept = masses > 0
    return Atoms(nodes[kept], masses[kept], infinite * _BESIDE_OTHERS)
