"""An attack on a training loop with Opacus: python examples/audit_opacus.py [noise]

Every step takes a Poisson batch of a data set that holds the canaries among its samples. A canary's gradient is made
to be a coordinate of its own: one weight for each canary, a feature vector with a single large entry, a loss that
is linear in the output. Opacus clips, adds noise and samples; the claim is what its run is said to cost.
Where the second argument is given the loop uses that noise multiplier, and still claims 1.
"""

from __future__ import annotations

import sys

import numpy as np
import torch
from numpy.typing import NDArray
from opacus import PrivacyEngine
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from dpcert.mechanisms import Gaussian, Poisson, Repeat
from dpcert.proofs_checks import audit_trainer
from dpcert.proofs_checks.auditing.trainer import TrainerClaim

OTHERS, STEPS, CLAIMED_NOISE = 16, 2, 1.0


class OpacusLoop:
    """zero-out neighbours: a canary's sample becomes zero. claim: one sample in a batch with probability 1/2."""

    canaries = 64
    claim = TrainerClaim(Repeat(Poisson(Gaussian(CLAIMED_NOISE), 0.5), STEPS), neighbouring="zero-out")

    def __init__(self, noise: float) -> None:
        self.noise = noise

    def scores(self, included: NDArray[np.bool_], seed: int) -> NDArray[np.float64]:
        """Minus the way that each canary's weight went: its gradient is positive where it was in."""
        torch.manual_seed(seed % 2**63)
        samples = torch.zeros(len(included) + OTHERS, len(included))
        samples[torch.arange(len(included)), torch.arange(len(included))] = 10.0 * torch.from_numpy(included).float()
        model = nn.Linear(len(included), 1, bias=False)
        nn.init.zeros_(model.weight)
        optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
        loader = DataLoader(TensorDataset(samples), batch_size=len(samples) // 2)
        private, stepping, batches = PrivacyEngine(accountant="rdp").make_private(
            module=model,
            optimizer=optimizer,
            data_loader=loader,
            noise_multiplier=self.noise,
            max_grad_norm=1.0,
            noise_generator=torch.Generator().manual_seed(seed % 2**62),
        )
        for _ in range(STEPS // 2):  # an epoch is two batches
            for (batch,) in batches:
                stepping.zero_grad()
                private(batch).sum().backward()
                stepping.step()
        return -model.weight.detach().numpy()[0].astype(float)


def main(noise: float) -> int:
    """Attack; 1 where the claim is refuted."""
    found = audit_trainer(OpacusLoop(noise), runs=400)
    print(f"certified epsilon <= {found.certified.upper:.4g}, by attack >= {found.epsilon_lower:.4g}")
    print("REFUTED" if found.refuted else "not refuted")
    return int(found.refuted)


if __name__ == "__main__":
    sys.exit(main(float(sys.argv[1]) if len(sys.argv) > 1 else CLAIMED_NOISE))
