"""TensorFlow Federated: federated learning with a private mean, its events accounted for by us (docs/adapters.md)."""

import collections

import numpy as np
import tensorflow as tf
import tensorflow_federated as tff

from dpcert.adapters.dp_accounting import CertifiedAccountant
from dpcert.adapters.tff import event

SPEC = collections.OrderedDict(x=tf.TensorSpec([None, 4]), y=tf.TensorSpec([None, 1]))


def model():
    keras = tf.keras.Sequential([tf.keras.layers.Dense(1, kernel_initializer="zeros", input_shape=(4,))])
    return tff.learning.models.from_keras_model(keras, loss=tf.keras.losses.MeanSquaredError(), input_spec=SPEC)


rows = [np.random.default_rng(user).normal(size=(8, 4)).astype("float32") for user in range(32)]
data = [tf.data.Dataset.from_tensors({"x": x, "y": x.sum(1, keepdims=True)}) for x in rows]
mean = tff.aggregators.DifferentiallyPrivateFactory.gaussian_fixed(1.0, clients_per_round=2.0, clip=1.0)
sgd = tff.learning.optimizers.build_sgdm(0.1)
process = tff.learning.algorithms.build_unweighted_fed_avg(model, sgd, model_aggregator=mean)
state, coins, accountant = process.initialize(), np.random.default_rng(), CertifiedAccountant()
for _ in range(16):
    cohort = [client for client in data if coins.random() < 2 / 32]
    state = process.next(state, cohort).state
    accountant.compose(event(state, sampling_rate=2 / 32))
print(f"epsilon = {accountant.get_epsilon(1e-5):.9f}")
