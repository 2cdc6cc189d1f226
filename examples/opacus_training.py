"""Opacus: DP-SGD with our accountant, swapped in by its name. Needs dpcert[opacus]."""

import torch
from opacus import PrivacyEngine

import dpcert.adapters.opacus  # noqa: F401  (registers "dpcert")

data = torch.utils.data.TensorDataset(torch.randn(512, 8), torch.randint(0, 2, (512,)))
model, loader = torch.nn.Linear(8, 2), torch.utils.data.DataLoader(data, batch_size=32)
optimizer, engine = torch.optim.SGD(model.parameters(), lr=0.1), PrivacyEngine(accountant="dpcert")
private = {"noise_multiplier": 1.0, "max_grad_norm": 1.0}
model, optimizer, loader = engine.make_private(module=model, optimizer=optimizer, data_loader=loader, **private)
for x, y in loader:
    optimizer.zero_grad()
    torch.nn.functional.cross_entropy(model(x), y).backward()
    optimizer.step()
print(f"epsilon = {engine.get_epsilon(1e-5):.9f}")
