"""Trainers broken on purpose: one bug at a time in the running code, which the papers' rows and the tests must notice.

Seven bugs, each in the three families: PMTL's and DPFedMTL's trainers share the engine, MOCHA has its own rounds. The
bugs are planted where the trainers compute, not in what they say of themselves, so that a check that believes a
recorded sensitivity or noise does not see them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any, Literal
from unittest.mock import patch

import numpy as np

Family = Literal["pmtl", "dpfedmtl", "mocha"]
FAMILIES: tuple[Family, ...] = ("pmtl", "dpfedmtl", "mocha")
LATER = 1_000_000
"""Rounds later: of whose cohort the doubled one takes its other half."""

Patches = list[tuple[Any, str, Any]]
"""Whose attribute, its name, what takes its place."""


@dataclass(frozen=True, slots=True)
class Bug:
    """says: in a few words. engine, mocha: the patches of PMTL's and DPFedMTL's engine, and of MOCHA's rounds."""

    name: str
    says: str
    engine: Callable[[], Patches]
    mocha: Callable[[], Patches]

    @contextmanager
    def planted(self, family: Family) -> Iterator[None]:
        """The family's trainers have the bug inside the block."""
        with ExitStack() as stack:
            for owner, name, instead in self.mocha() if family == "mocha" else self.engine():
                stack.enter_context(patch.object(owner, name, instead))
            yield


def _noise_times(factor: float) -> tuple[Callable[[], Patches], Callable[[], Patches]]:
    def scaled(draw: Callable[..., Any]) -> Callable[..., Any]:
        return lambda *told, **more: draw(*told, **more) * factor

    def engine() -> Patches:
        from dpcert.trainers.engine.noise import HostNoise

        return [(HostNoise, name, scaled(getattr(HostNoise, name))) for name in ("on_sum", "of_clients")]

    def mocha() -> Patches:
        from dpcert.trainers.engine.noise import grid_noise
        from dpcert.trainers.mocha import private

        return [(private, "grid_noise", scaled(grid_noise))]

    return engine, mocha


def _unclipped() -> Patches:
    """Every contribution enters the sum whole."""
    from dpcert.trainers.engine.clipping import ClippedSum

    return [(ClippedSum, "_scale", lambda self, norm: 1.0)]


def _unclipped_nodes() -> Patches:
    """MOCHA's nodes shorten nothing, neither the step nor the message."""
    from dpcert.trainers.mocha.private import PrivateRounds

    def planted(compute: Callable[..., Any]) -> Callable[..., Any]:
        def whole(self: Any, state: Any, streams: Any, attempt: int) -> Any:
            from dataclasses import replace

            loose = compute(replace(self, clip_norm=1e6, noise_multiplier=0.0), state, streams, attempt)
            return replace(loose, noise=compute(self, state, streams, attempt).noise)

        return whole

    return [(PrivateRounds, "compute", planted(PrivateRounds.compute))]


def _half_steps() -> Patches:
    from dpcert.trainers.engine.local import LocalSide

    work = LocalSide.work

    def halved(
        self: Any, clients: Any, at: int, start: Any, anchor: Any, strength: float, factor: float, stream: int
    ) -> Any:
        return work(self, clients, at, start, anchor, strength, factor / 2, stream)

    return [(LocalSide, "work", halved)]


def _local_updates(changed: Callable[..., tuple[Any, Any]]) -> Callable[[], Patches]:
    """changed(local_updates, tasks, loss, alpha, weights, scale, sigma, order): what MOCHA's nodes do instead."""

    def patches() -> Patches:
        from dpcert.trainers.mocha import mocha, private
        from dpcert.trainers.mocha.sdca import local_updates

        def instead(*told: Any) -> tuple[Any, Any]:
            return changed(local_updates, *told)

        return [(place, "local_updates", instead) for place in (mocha, private)]

    return patches


def _half_moves(solve: Any, tasks: Any, loss: Any, alpha: Any, *told: Any) -> tuple[Any, Any]:
    after, message = solve(tasks, loss, alpha, *told)
    return (alpha + after) / 2, message / 2


def _twice_as_many() -> Patches:
    """The cohort is this round's and that of a later round together; what it is divided by stays."""
    from dpcert.trainers.engine.cohort import CohortSampler

    draw = CohortSampler.draw

    def doubled(self: Any, streams: Any, attempt: int, at: int) -> Any:
        return np.union1d(draw(self, streams, attempt, at), draw(self, streams, attempt, at + LATER))

    return [(CohortSampler, "draw", doubled)]


def _nobody_drops(solve: Any, tasks: Any, loss: Any, alpha: Any, *told: Any) -> tuple[Any, Any]:
    """Nodes that are to stay away take part: the cohort is larger than it was told to be."""
    *before, order = told
    answering = (order >= 0).any(axis=1)
    everybody = np.where(answering[:, None], order, np.arange(order.shape[1]) % tasks.sizes.min())
    return solve(tasks, loss, alpha, *before, everybody)  # type: ignore[no-any-return]


def _undivided() -> Patches:
    """The noisy sum is taken for the mean."""
    from dpcert.trainers import dpfedmtl
    from dpcert.trainers.engine.algorithm import Algorithm

    def planted(aggregate: Callable[..., Any]) -> Callable[..., Any]:
        def whole(self: Any, shared: Any, total: Any, expected: int, members: int, rate: float) -> Any:
            return aggregate(self, shared, total, 1, members, rate)

        return whole

    owners = (Algorithm, dpfedmtl.DpFedMtlAsPrinted)
    return [(owner, "aggregate", planted(owner.aggregate)) for owner in owners]


def _unsafe_sum(solve: Any, tasks: Any, loss: Any, alpha: Any, *told: Any) -> tuple[Any, Any]:
    """MOCHA divides by sigma' inside the nodes' subproblems: here they solve them as if alone, and the steps add up."""
    weights, scale, sigma, order = told
    return solve(tasks, loss, alpha, weights, scale, sigma / tasks.count, order)  # type: ignore[no-any-return]


def _one_model() -> Patches:
    """All clients continue from the first one's model."""
    from dpcert.trainers.engine.personal import PersonalModels

    get = PersonalModels.get
    return [(PersonalModels, "get", lambda self, clients: get(self, np.zeros_like(clients)))]


def _one_dual(solve: Any, tasks: Any, loss: Any, alpha: Any, *told: Any) -> tuple[Any, Any]:
    """All nodes continue from the first one's dual variables."""
    return solve(tasks, loss, np.repeat(alpha[:1], len(alpha), axis=0), *told)  # type: ignore[no-any-return]


BUGS = (
    Bug("noise x 0", "no noise is drawn", *_noise_times(0.0)),
    Bug("noise x 3", "the noise is three times what the accountant is told", *_noise_times(3.0)),
    Bug("clip ignored", "contributions are not shortened", _unclipped, _unclipped_nodes),
    Bug("step halved", "local steps go half the way", _half_steps, _local_updates(_half_moves)),
    Bug("cohort doubled", "clients take part that were not drawn", _twice_as_many, _local_updates(_nobody_drops)),
    Bug("mean not divided", "sums are taken for means", _undivided, _local_updates(_unsafe_sum)),
    Bug("state shared", "clients continue from the first one's state", _one_model, _local_updates(_one_dual)),
)
