"""jax-privacy: DP-SGD with its clipping, batches and noise, accounted for by us. Needs dpcert[jax-privacy]."""

import jax
import jax.numpy as jnp
from jax_privacy.accounting import DpParams
from jax_privacy.batch_selection import CyclicPoissonSampling
from jax_privacy.clipping import clipped_grad
from jax_privacy.noise_addition import gaussian_privatizer

from dpcert.adapters.jax_privacy import CertifiedTrainingAccountant

x, weights = jax.random.normal(jax.random.key(0), (512, 8)), jnp.zeros(8)
gradient = clipped_grad(lambda w, rows: jnp.mean((rows @ w - rows.sum(axis=1)) ** 2), l2_clip_norm=1.0)
noise = gaussian_privatizer(stddev=1.0, prng_key=jax.random.key(1))
state, batches = noise.init(weights), CyclicPoissonSampling(sampling_prob=32 / 512, iterations=16)
for batch in batches.batch_iterator(512):
    update, state = noise.update(gradient(weights, x[batch]), state)
    weights = weights - 0.1 * update / 32
params = DpParams(noise_multipliers=1.0, num_samples=512, delta=1e-5, batch_size=32)
print(f"epsilon = {CertifiedTrainingAccountant().compute_epsilon(16, params):.9f}")
