"""Train a small classifier privately with bare PyTorch. The run can be killed at any moment and started again."""

import os
from pathlib import Path

import torch
from torch.func import functional_call, grad, vmap
from torch.nn.functional import cross_entropy

from dpcert.accounting.ledger import Ledger, RunningEpsilon
from dpcert.mechanisms import Gaussian, Poisson

BUDGET, DELTA = 3.0, 1e-5
NOISE_MULTIPLIER, SAMPLING_RATE, CLIP_NORM, LEARNING_RATE = 2.0, 0.2, 1.0, 2.0
SAVED = Path("model.pt")


def made_up_data() -> tuple[torch.Tensor, torch.Tensor]:
    """1,000 examples of two classes; in place of your data."""
    x = torch.randn(1_000, 8, generator=torch.Generator().manual_seed(0))
    return x, (x[:, :4].sum(1) > 0).long()


def noisy_step(model: torch.nn.Module, x: torch.Tensor, y: torch.Tensor, generator: torch.Generator) -> None:
    """One release: sample, clip each example's gradient, sum, add noise, divide by the expected batch."""
    drawn = torch.rand(len(x), generator=generator) < SAMPLING_RATE  # Poisson: each example independently
    weights = {name: value.detach() for name, value in model.named_parameters()}

    def loss(weights: dict[str, torch.Tensor], one: torch.Tensor, label: torch.Tensor) -> torch.Tensor:
        return cross_entropy(functional_call(model, weights, (one[None],)), label[None])

    gradients = vmap(grad(loss), (None, 0, 0))(weights, x, y)  # of each example; the others are left out below
    norms = torch.stack([each.flatten(1).norm(dim=1) for each in gradients.values()]).norm(dim=0)
    factors = drawn * (CLIP_NORM / norms.clamp(min=1e-12)).clamp(max=1)
    with torch.no_grad():
        for name, value in model.named_parameters():
            clipped = torch.einsum("i,i...->...", factors, gradients[name])
            noise = torch.randn(value.shape, generator=generator) * NOISE_MULTIPLIER * CLIP_NORM
            value -= LEARNING_RATE * (clipped + noise) / (SAMPLING_RATE * len(x))


def main() -> None:
    x, y = made_up_data()
    model = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.Tanh(), torch.nn.Linear(8, 2))
    generator = torch.Generator()
    generator.manual_seed(int.from_bytes(os.urandom(7), "big"))  # secret; for a release use a cryptographic generator
    released = Poisson(Gaussian(NOISE_MULTIPLIER), SAMPLING_RATE)
    ledger, cost = Ledger("training.sqlite"), RunningEpsilon(delta=DELTA)
    if (before := ledger.run()) is not None:  # started again: what was released before is spent
        cost.record(before)
        model.load_state_dict(torch.load(SAVED) if SAVED.exists() else model.state_dict())
        print(f"resumed after {len(ledger)} rounds")
    while cost.after(released).at_most(BUDGET):
        ledger.record(released, event_id=f"round-{len(ledger)}")  # first the record, then the release
        cost.record(released)
        noisy_step(model, x, y, generator)
        torch.save(model.state_dict(), SAVED.with_suffix(".new"))
        SAVED.with_suffix(".new").replace(SAVED)  # the file is whole at every moment
    accuracy = (model(x).argmax(1) == y).float().mean()
    print(f"{len(ledger)} rounds, epsilon at most {cost.epsilon().upper:.4f}, accuracy {accuracy:.2f}")


if __name__ == "__main__":
    main()
