"""dp-accounting: a DP-SGD loop in numpy that composes its DpEvents with our accountant."""

import numpy as np
from dp_accounting import GaussianDpEvent, PoissonSampledDpEvent

from dpcert.adapters.dp_accounting import CertifiedAccountant

random, x, weights = np.random.default_rng(), np.random.default_rng(0).normal(size=(512, 8)), np.zeros(8)
y, accountant = x @ np.ones(8) > 0, CertifiedAccountant()
step = PoissonSampledDpEvent(32 / 512, GaussianDpEvent(noise_multiplier=1.0))
for _ in range(16):
    batch = random.random(512) < 32 / 512
    gradients = (1 / (1 + np.exp(-x[batch] @ weights)) - y[batch])[:, None] * x[batch]
    gradients /= np.maximum(1.0, np.linalg.norm(gradients, axis=1, keepdims=True))  # clipped to norm 1
    weights -= 0.5 * (gradients.sum(axis=0) + random.normal(size=8)) / 32
    accountant.compose(step)
print(f"epsilon = {accountant.get_epsilon(1e-5):.9f}")
