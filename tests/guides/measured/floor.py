"""DPFedMTL's noise floor on networks: what the clients' noise leaves of ||grad f||^2 where there was nothing before.

Runs begin where a long run without noise ended, at a stationary point: far out a softmax is flat, and noise may lower
the gradient there. All clients have the same samples, as the quadratics do (dpfedmtl_recursion.py), or a cohort's mean
would move the shared layers by itself; and each picture has several labels, or the optimum would be at infinity.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np

from dpcert.mechanisms.arrays import Floats

from .watched import CLASSES, SIDE, How, model, train

SETTLING, PICTURES = 1500, 4
SETTLED = 1e-8
"""How large ||grad f||^2 may be at the start: floors are hundreds of times above."""


def floor(how: How, seed: int) -> float:
    """The mean of ||grad f(w^t)||^2 over the last half of the rounds, f = (1/M) sum f_i in all heads and the shared."""
    trainer, seen = _run(how, _start(replace(how, sigma=0.0, clip=None, clients=2, cohort=None, steps=1)), seed)
    head = trainer.algorithm.first_head.repeat(how.clients, 1)
    squares = []
    for t, (shared, clients, after, _) in enumerate(seen):
        if t >= how.rounds // 2:
            squares.append(_squared_gradient(how, shared, head))
        head = head.clone()
        head[clients] = after
    return float(np.mean(squares))


@cache
def clip_of(how: How) -> float:
    """Half of the median norm of what is sent in a run that is not clipped."""
    _, seen = _run(how, _start(replace(how, sigma=0.0, clip=None, clients=2, cohort=None, steps=1)), 0)
    sent = np.concatenate([moved.numpy() for *_, moved in seen[how.rounds // 2 :]])
    return float(np.median(np.linalg.norm(sent, axis=1))) / 2


@cache
def _start(how: How) -> tuple[float, ...]:
    """The weights of a run without noise after SETTLING rounds. Raises ArithmeticError where it does not settle."""
    import torch

    trainer, seen = _run(replace(how, rounds=SETTLING), None, 0)
    shared, head = trainer.shared[0], seen[-1][2][:1]
    left = _squared_gradient(how, shared, head.expand(how.clients, -1))
    if left > SETTLED:
        raise ArithmeticError(f"||grad f||^2 is {left:.3g} after {SETTLING} rounds")
    return tuple(torch.cat([shared, head[0]]).tolist())


def _run(how: How, start: tuple[float, ...] | None, seed: int) -> tuple[Any, list[tuple[Any, ...]]]:
    """A run, and of each round: the shared layers that were broadcast, the clients, their heads after it, and g."""
    import torch

    from dpcert.trainers.dpfedmtl import DpFedMtlLocalNoise

    seen: list[tuple[Any, ...]] = []

    class Watched(DpFedMtlLocalNoise):
        """Notes down what the clients do."""

        def client_round(self, solve: Any, shared: Any, own: Any, clients: Any) -> Any:
            moved, head = super().client_round(solve, shared, own, clients)
            assert head is not None  # it has layers of its own
            seen.append((shared[0].clone(), torch.from_numpy(clients), head.clone(), moved.clone()))
            return moved, head

    module = model(how, deep=True).double()
    if start is not None:
        torch.nn.utils.vector_to_parameters(torch.tensor(start, dtype=torch.float64), module.parameters())
    return train(how, _federation(how), module, Watched(), how.sigma, seed), seen


def _squared_gradient(how: How, shared: Any, heads: Any) -> float:
    """By automatic differentiation; shared (s,), heads (M, h)."""
    import torch
    from torch.func import functional_call, grad, vmap

    module = _architecture(how)
    names, shapes = zip(*((name, value.shape) for name, value in module.named_parameters()), strict=True)
    inputs, labels = _samples(how)

    def loss(vector: Any) -> Any:
        pieces = vector.split([shape.numel() for shape in shapes])
        named = {name: piece.view(shape) for name, piece, shape in zip(names, pieces, shapes, strict=True)}
        outputs = functional_call(module, named, (torch.from_numpy(inputs),))
        return torch.nn.functional.cross_entropy(outputs, torch.from_numpy(labels))

    models = torch.cat([shared.expand(len(heads), -1), heads], dim=1)
    slopes = vmap(grad(loss))(models).detach() / len(heads)
    below = slopes[:, : len(shared)].sum(dim=0)
    return float(below.square().sum() + slopes[:, len(shared) :].square().sum())


@cache
def _architecture(how: How) -> Any:
    return model(how, deep=True).double()


@cache
def _samples(how: How) -> tuple[Floats, Any]:
    """PICTURES inputs, four times each, with the labels 0, 0, 1, 2 and their rotations."""
    width = SIDE * SIDE if how.problem == "CNN" else how.features
    inputs = np.random.default_rng(2).standard_normal((PICTURES, width))
    if how.problem == "logistic":
        inputs /= np.linalg.norm(inputs, axis=1, keepdims=True)
    labels = (np.array([[0, 0, 1, 2]]) + np.arange(PICTURES)[:, None]) % CLASSES
    return np.repeat(inputs, 4, axis=0), labels.ravel()


def _federation(how: How) -> Any:
    from dpcert.trainers.data import Client, Federation, Samples

    own = Samples(*_samples(how))
    return Federation("conflicts", tuple(Client(str(k), own, own) for k in range(how.clients)), "classes", CLASSES)
