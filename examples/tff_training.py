"""TensorFlow Federated: least squares by private means of updates, with its events accounted for by us."""

import numpy as np
import tensorflow_federated as tff

from dpcert.adapters.dp_accounting import CertifiedAccountant
from dpcert.adapters.tff import event

coins, clients = np.random.default_rng(), np.random.default_rng(0).normal(size=(32, 8, 4)).astype("float32")
mean = tff.aggregators.DifferentiallyPrivateFactory.gaussian_fixed(1.0, clients_per_round=2.0, clip=1.0)
process = mean.create(tff.TensorType(np.float32, [4]))
state, weights, accountant = process.initialize(), np.zeros(4, "float32"), CertifiedAccountant()
for _ in range(16):
    updates = [x.T @ (x.sum(axis=1) - x @ weights) / 80 for x in clients if coins.random() < 2 / 32]
    output = process.next(state, updates)
    state, weights = output.state, weights + output.result
    accountant.compose(event(state, sampling_rate=2 / 32))
print(f"epsilon = {accountant.get_epsilon(1e-5):.9f}")
