"""The steps of all clients of a chunk at once: by torch.func.vmap, layer by layer (models.py), or that one compiled.

Clients of different sizes become rectangular tensors, in which padding weighs exactly nothing, in the order of their
number of steps: those that have steps left are the first ones, and nobody computes for a client that is done.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.func import functional_call, grad, vmap
from torch.utils._triton import has_triton

from ..engine.device import on_device, plain_convolutions
from ..engine.parameters import FlatModule
from ..models import Stackable
from .work import Work, per_client


def most_steps_first(work: Work) -> list[int]:
    """The clients' places in the work, those with the most steps first."""
    return sorted(range(len(work.clients)), key=lambda place: -len(work.batches[place]))


def in_order(work: Work, order: Sequence[int]) -> Work:
    """The same work with its clients and batches in this order; vectors stay as they are."""
    clients = [work.clients[place] for place in order]
    return replace(work, clients=clients, batches=[work.batches[place] for place in order])


def schedule(work: Work) -> Iterator[tuple[Tensor, Tensor]]:
    """For each step, of the clients that have it: the sample numbers (busy, b) of their batches, b the widest, and
    their weights, one over the true batch size for real rows and 0 for padding.

    The work's clients must be in the order of most_steps_first.
    """
    batches = [batch for plan in work.batches for batch in plan]
    steps = np.array([len(plan) for plan in work.batches])
    lengths = np.array([len(batch) for batch in batches], dtype=np.int64)
    client, turn = np.repeat(np.arange(len(steps)), steps), np.concatenate([np.arange(count) for count in steps])
    widest = int(lengths.max(initial=0))
    sizes = np.zeros((steps[0], len(steps), 1), dtype=np.int64)
    sizes[turn, client, 0] = lengths
    rows = np.zeros((steps[0], len(steps), widest), dtype=np.int64)
    within = np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    rows[np.repeat(turn, lengths), np.repeat(client, lengths), within] = np.concatenate(batches) if batches else ()
    real = np.arange(widest) < sizes
    first = work.clients[0]
    moved = on_device(rows, first.device)
    weights = on_device(real / np.maximum(sizes, 1), first.device).to(first.dtype)
    for step, (busy, width) in enumerate(zip((sizes > 0).sum(axis=(1, 2)), sizes.max(axis=(1, 2)), strict=True)):
        yield moved[step, :busy, :width], weights[step, :busy, :width]


def first_rows(work: Work) -> Tensor:
    """(c,): where each client's samples begin when all of them are one after the other."""
    sizes = np.array([len(client) for client in work.clients])
    return on_device(np.cumsum(sizes) - sizes, work.clients[0].device)


Slopes = Callable[..., Tensor]
"""(models (c, d), features (c, b, ...), weights (c, b), target (c, b, ...), ...) -> (c, d) gradients of each client's
weighted sum of losses."""


def steps_of(work: Work) -> Iterator[tuple[int, list[Tensor]]]:
    """For each step, how many clients have it, and what slopes take of them after their models.

    The work's clients must be in the order of most_steps_first.
    """
    features = torch.cat([client.rows(slice(None)) for client in work.clients])
    targets = [torch.cat(parts) for parts in zip(*(client.targets for client in work.clients), strict=True)]
    offsets = first_rows(work).unsqueeze(1)
    for rows, weights in schedule(work):
        chosen = rows + offsets[: len(rows)]
        yield len(rows), [features[chosen], weights, *(target[chosen] for target in targets)]


def solve_together(work: Work, slopes: Slopes) -> Tensor:
    """The (c, d) models after the last step. The work's clients must be in the order of most_steps_first."""
    vector = per_client(work.start, len(work.clients)).clone()
    anchor = None if work.anchor is None else per_client(work.anchor, len(work.clients))
    for busy, batches in steps_of(work):
        gradient = slopes(vector[:busy], *batches)
        _pull(work, gradient, vector[:busy], anchor)
        vector[:busy].sub_(gradient, alpha=work.learning_rate)
    return vector


def square_together(work: Work, slopes: Slopes) -> Tensor:
    """(c, d): the sum over a client's steps of its squared gradients, all at its start. The order as above."""
    start = per_client(work.start, len(work.clients))
    total = torch.zeros_like(start)
    for busy, batches in steps_of(work):
        total[:busy].add_(slopes(start[:busy], *batches).square_())
    return total


class TogetherSolver:
    """Solvers that say how the gradients are computed."""

    streams = False

    def __init__(self, model: FlatModule) -> None:
        self.model = model

    def slopes(self, work: Work) -> Slopes:
        raise NotImplementedError

    def solve(self, work: Work) -> Tensor:
        self.model.module.train()
        return self._in_order(solve_together, work)

    def squares(self, work: Work) -> Tensor:
        """(c, d): the sum over a client's steps of its squared gradients, all at its start, as the model predicts."""
        self.model.module.eval()
        return self._in_order(square_together, work)

    @torch.no_grad()
    def predict(self, work: Work) -> Tensor:
        self.model.module.eval()
        order = most_steps_first(work)
        moved = on_device(np.array(order), work.start.device)
        models, offsets = per_client(work.start, len(order))[moved], first_rows(work)[moved].unsqueeze(1)
        features, shown, places = torch.cat([client.rows(slice(None)) for client in work.clients]), [], []
        for rows, weights in schedule(in_order(work, order)):
            chosen = rows + offsets[: len(rows)]
            shown.append(self.outputs(models[: len(rows)], features[chosen]).flatten(0, 1))
            places.append(torch.where(weights > 0, chosen, len(features)).flatten())  # padding: after all samples
        found = shown[0].new_empty(len(features) + 1, *shown[0].shape[1:])
        found[torch.cat(places)] = torch.cat(shown)
        return found[:-1]

    def outputs(self, models: Tensor, features: Tensor) -> Tensor:
        """(c, b, outputs) of these models, (c, d), on features (c, b, ...)."""
        raise NotImplementedError

    def _in_order(self, together: Callable[[Work, Slopes], Tensor], work: Work) -> Tensor:
        order = most_steps_first(work)
        places = on_device(np.array(order), work.start.device)
        found = together(_reordered(work, order, places), self.slopes(work))
        result = torch.empty_like(found)
        result[places] = found
        return result

    def changes(self, work: Work) -> Iterable[Tensor]:
        return self.solve(work).sub_(work.start)


def weighted_sum(losses: Tensor, weights: Tensor) -> Tensor:
    """Selecting, not multiplying: what padding computes is discarded even where it is infinite."""
    return torch.where(weights > 0, losses * weights, losses.new_zeros(())).sum()


def _pull(work: Work, gradient: Tensor, vector: Tensor, anchor: Tensor | None) -> None:
    """Add the gradient of the penalties, in place."""
    if work.strength and anchor is not None:
        pull = vector - anchor[: len(vector)]
        gradient.add_(pull if work.curvature is None else pull * work.curvature[: len(vector)], alpha=work.strength)
    if work.weight_decay:
        gradient.add_(vector, alpha=work.weight_decay)


def _reordered(work: Work, order: Sequence[int], places: Tensor) -> Work:
    """The same work with its clients, and whatever is theirs, in this order. places: the order, on the device."""

    def rows(vector: Tensor) -> Tensor:
        return vector[places] if vector.dim() == 2 else vector

    return replace(
        in_order(work, order),
        start=rows(work.start),
        anchor=None if work.anchor is None else rows(work.anchor),
        curvature=None if work.curvature is None else rows(work.curvature),
    )


class VmapSolver(TogetherSolver):
    """Gradients of all clients at once, by torch's own vectorisation."""

    name = "vmap"

    def refuses(self, work: Work) -> str | None:
        if self.model.is_random:
            return "the model draws random numbers, which have no order over a vectorised chunk"
        known = self.model.refusals
        if work.loss not in known:
            known[work.loss] = self._failure(work)
        return known[work.loss]

    def _failure(self, work: Work) -> str | None:
        """Why torch.func.vmap cannot run this module and loss, found out on one sample of one client."""
        client = work.clients[0]
        features, targets = client.rows(slice(0, 1)), [target[:1].unsqueeze(0) for target in client.targets]
        try:
            self.slopes(work)(self.model.vector.unsqueeze(0), features.unsqueeze(0), features.new_ones(1, 1), *targets)
        except Exception as error:
            return f"torch.func.vmap cannot run the model ({' '.join(str(error).split())[:200]})"
        return None

    def slopes(self, work: Work) -> Slopes:
        def batch_loss(own: Tensor, features: Tensor, weights: Tensor, *targets: Tensor) -> Tensor:
            with self.model.arithmetic():
                outputs = functional_call(self.model.module, self.model.named(own), (features,))
                losses = work.loss(outputs, *targets)
            return weighted_sum(losses, weights)

        vectorised: Slopes = vmap(grad(batch_loss), randomness="error")

        def slopes(*told: Tensor) -> Tensor:
            with plain_convolutions(self.model.vector.device):
                return vectorised(*told)

        return slopes

    def outputs(self, models: Tensor, features: Tensor) -> Tensor:
        def own(vector: Tensor, of: Tensor) -> Tensor:
            shown: Tensor = functional_call(self.model.module, self.model.named(vector), (of,))
            return shown

        with plain_convolutions(self.model.vector.device):
            return vmap(own)(models, features)


class StackedSolver(TogetherSolver):
    """Gradients of all clients from one backward pass: their losses share no parameter."""

    name = "stacked"

    def refuses(self, work: Work) -> str | None:
        if not isinstance(self.model.module, Stackable):
            return "the model has no method `stacked`"
        if len(self.model.names) != len(list(self.model.module.parameters())):
            return "not all parameters of the model are trained"
        return "the model draws random numbers" if self.model.is_random else None

    def slopes(self, work: Work) -> Slopes:
        forward = self.forward()

        def slopes(own: Tensor, features: Tensor, weights: Tensor, *targets: Tensor) -> Tensor:
            leaf = own.detach().requires_grad_()
            with self.model.arithmetic():
                outputs = forward(self.model.named(leaf), features)
                losses = work.loss(outputs.flatten(0, 1), *(target.flatten(0, 1) for target in targets))
            return torch.autograd.grad(weighted_sum(losses, weights.flatten()), leaf)[0]

        return slopes

    def outputs(self, models: Tensor, features: Tensor) -> Tensor:
        plain = StackedSolver.forward(self)  # what a subclass compiles is for training steps
        return plain(self.model.named(models), features)

    def forward(self) -> Callable[[Any, Tensor], Tensor]:
        """Parameters by name and features to outputs."""
        module = self.model.module
        assert isinstance(module, Stackable)
        return module.stacked


class CompiledSolver(StackedSolver):
    """The same steps, to rounding. Raises what torch.compile raises where it has no compiler."""

    name = "compiled"

    def refuses(self, work: Work) -> str | None:
        if self.model.vector.device.type == "cuda" and not has_triton():
            return "torch.compile needs Triton on CUDA, which is not installed"
        return super().refuses(work)

    def forward(self) -> Callable[[Any, Tensor], Tensor]:
        if self.name not in self.model.derived:
            self.model.derived[self.name] = torch.compile(super().forward(), dynamic=True)
        known: Callable[[Any, Tensor], Tensor] = self.model.derived[self.name]
        return known
