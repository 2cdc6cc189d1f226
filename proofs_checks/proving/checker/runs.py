"""All ways through a function, as a tree of tests. A way is left out only where multipliers show it impossible."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from .current_run import followed
from .farkas import Prover
from .forms import Form, Sign
from .language.arrays import of_cells
from .language.calls import called
from .language.functions import uniform
from .language.globals import admitted
from .language.records import array
from .language.values import Generator, Uniform, Vector
from .noise import Draw
from .outputs import key_of
from .pairs import Data
from .refusals import Raises, Refused, TooManyWays, UsedTwice
from .tracer import Computed, Known, Tracer, Ways

LIMIT = 20_000


@dataclasses.dataclass(frozen=True)
class Leaf:
    """The end of one way: what was drawn, the discrete part of the output as text, its numbers, and the tests.

    The numbers are those that are put out, and those of which others are computed (tracer.computed).
    """

    draws: tuple[Draw, ...]
    key: str
    reals: tuple[Form, ...]
    tests: tuple[Sign, ...]
    computed: dict[int, Computed] = dataclasses.field(default_factory=dict)
    choices: tuple[int, ...] = ()

    @property
    def known(self) -> Known:
        """What was drawn and computed."""
        return self.draws, self.computed


@dataclasses.dataclass
class Branch:
    """A fork in the tree: what holds on each way, and where it leads to. None: it was shown to be impossible. known:
    what was drawn and computed before it."""

    ways: Ways
    known: Known
    ends: list[Branch | Leaf | None]


Node = Branch | Leaf
Run = Callable[[Tracer], tuple[str, list[Form]]]
"""One run: the discrete part of how it ends, and the numbers."""


def tree(
    function: Callable[..., Any],
    dataset: list[Form],
    data: Data,
    prover: Prover,
    container: str = "array",
    as_written: bool = True,
    most: int | None = None,
) -> Node:
    """All ways through function(dataset, rng), of which there may be at most `most`, or LIMIT. Raises Refused."""

    def run(tracer: Tracer) -> tuple[str, list[Form]]:
        tracer.entries = [entry.name() for entry in dataset]
        rows = [Vector(entry, True) for entry in dataset] if data.order else []
        held = array(rows) if data.order else list(dataset) if container == "list" else of_cells(dataset)
        try:
            return key_of(called(admitted(function, "the mechanism"), [held, Generator()], {}))
        except Refused as problem:
            raise problem.at(_whole(function)) from None

    return explored(run, data, prover, as_written, most=most)


def _whole(function: Any) -> str:
    """The place of the function."""
    code = getattr(function, "__code__", None)
    return f"{Path(code.co_filename).name}, line {code.co_firstlineno}" if code is not None else "the mechanism"


def explored(
    run: Run, data: Data, prover: Prover, as_written: bool = True, coins: bool = True, most: int | None = None
) -> Node:
    """All ways through a run, which says how it ends. Raises Refused."""
    try:
        return _all_ways(run, data, prover, as_written, coins, most or LIMIT)
    except UsedTwice:
        return _all_ways(run, data, prover, as_written, False, most or LIMIT)


def _all_ways(run: Run, data: Data, prover: Prover, as_written: bool, coins: bool, most: int) -> Node:
    root: Node | None = None
    waiting: list[list[tuple[Ways, int]]] = [[]]
    count = 0
    while waiting:
        tracer = Tracer(prover, data, waiting.pop(), as_written, coins)
        leaf = _one(run, tracer)
        root = _planted(root, tracer.trail, leaf)
        taken = [(step[0], step[1]) for step in tracer.trail]
        for i in range(len(tracer.script), len(taken)):
            waiting += [[*taken[:i], (taken[i][0], other)] for other in tracer.trail[i][2]]
        count += 1
        if count + len(waiting) > most:
            raise TooManyWays(f"too many ways through the function (more than {most})")
    if root is None:
        raise Refused("no way through the function")
    return root


def _planted(root: Node | None, trail: Sequence[tuple[Ways, int, Any, Known]], leaf: Leaf) -> Node:
    """The tree with this run in it."""
    if not trail:
        return leaf
    (ways, chosen, _, known), *rest = trail
    branch = root if isinstance(root, Branch) else Branch(ways, known, [None] * len(ways))
    branch.ends[chosen] = _planted(branch.ends[chosen], rest, leaf)
    return branch


def _one(run: Run, tracer: Tracer) -> Leaf:
    with followed(tracer):
        try:
            key, reals = run(tracer)
        except Raises as problem:
            if tracer.trail:  # for some data or noise only: that would be seen
                raise Refused(f"{problem.reason} on some data").at(problem.place) from None
            raise
        for place, (kind, _) in enumerate(tracer.draws):
            if kind == "unused":
                uniform(Uniform(place))
    draws, computed = tracer.known()
    arguments = [form for made in computed.values() for form in made.arguments]
    choices = tuple(step[1] for step in tracer.trail)
    return Leaf(draws, key, (*reals, *arguments), tuple(tracer.assumed), computed, choices)


def leaves(node: Node | None) -> Iterator[Leaf]:
    """All of them."""
    if isinstance(node, Leaf):
        yield node
    elif node is not None:
        for end in node.ends:
            yield from leaves(end)


def reached(node: Node | None, premises: list[Sign], prover: Prover) -> Iterator[tuple[Leaf, list[Sign]]]:
    """The leaves that may be reached where the premises hold, each with what is known there."""
    if isinstance(node, Leaf):
        yield node, premises
    elif node is not None:
        for end, way in zip(node.ends, node.ways, strict=True):
            if end is not None and not prover.contradictory([*premises, *way]):
                yield from reached(end, [*premises, *way], prover)
