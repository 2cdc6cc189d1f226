"""Scripts as people write them: at least three quarters of the slips of 16 are found, nothing is said of 20 right ones.

The scripts were written with the rules: what share of other people's slips is found is not what this says.
"""

from __future__ import annotations

import re

import pytest

from dpcert.proofs_checks.lint import Script, findings

from .right_scripts import RIGHT

TORCH = """
import torch
from torch import nn
from torch.utils.data import DataLoader, random_split
from torchvision import datasets, transforms
from opacus import PrivacyEngine

device = "cuda" if torch.cuda.is_available() else "cpu"
train_set = datasets.MNIST("data", train=True, transform=transforms.ToTensor())
train_loader = DataLoader(train_set, batch_size=256, shuffle=True)
test_loader = DataLoader(datasets.MNIST("data", train=False), batch_size=1024)
model = nn.Sequential(nn.Flatten(), nn.Linear(784, 128), nn.ReLU(), nn.Linear(128, 10)).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
criterion = nn.CrossEntropyLoss()
"""

KERAS = """
import tensorflow as tf
from tensorflow_privacy.privacy.optimizers.dp_optimizer_keras import DPKerasSGDOptimizer
from tensorflow_privacy import compute_dp_sgd_privacy_statement

(x_train, y_train), _ = tf.keras.datasets.mnist.load_data()
model = tf.keras.Sequential([tf.keras.layers.Flatten(), tf.keras.layers.Dense(10)])
"""

JAX = """
import jax
import jax.numpy as jnp
import optax
import dp_accounting

noise_multiplier, clip_norm, batch_size = 1.1, 1.0, 256

def clipped_sum(params, batch):
    def one(example):
        return optax.clip_by_global_norm(clip_norm).update(jax.grad(loss)(params, example), None)[0]
    return jax.tree.map(lambda g: g.sum(0), jax.vmap(one)(batch))
"""

FLOWER = """
import flwr as fl
import dp_accounting
from flwr.server.strategy import FedAvg, DifferentialPrivacyServerSideFixedClipping

NUM_CLIENTS, NUM_ROUNDS, NOISE = 1000, 100, 0.8
"""

BROKEN = {
    "old loader": TORCH
    + """
engine = PrivacyEngine()
model, optimizer, private_loader = engine.make_private(
    module=model, optimizer=optimizer, data_loader=train_loader, noise_multiplier=1.1, max_grad_norm=1.0)
for epoch in range(10):
    for images, labels in train_loader:  # slip: used-before-private
        optimizer.zero_grad()
        criterion(model(images.to(device)), labels.to(device)).backward()
        optimizer.step()
print(engine.get_epsilon(delta=1 / len(train_loader)))  # slip: delta-from-batches
""",
    "old optimizer": TORCH
    + """
def train(model, optimizer, epochs):
    engine = PrivacyEngine()
    dp_model, dp_optimizer, dp_loader = engine.make_private(
        module=model, optimizer=optimizer, data_loader=train_loader, noise_multiplier=1.0,
        max_grad_norm=float("inf"))  # slip: clip-bounds-nothing
    for epoch in range(epochs):
        for images, labels in dp_loader:
            optimizer.zero_grad()
            criterion(dp_model(images), labels).backward()
            optimizer.step()  # slip: used-before-private
    return engine.get_epsilon(delta=1e-5)
""",
    "engine each epoch": TORCH
    + """
DELTA = 1e-5
for epoch in range(20):
    engine = PrivacyEngine()  # slip: engine-each-round
    model, optimizer, loader = engine.make_private(
        module=model, optimizer=optimizer, data_loader=train_loader, noise_multiplier=1.1, max_grad_norm=1.0)
    for images, labels in loader:
        criterion(model(images), labels).backward()
        optimizer.step()
    print(epoch, engine.get_epsilon(DELTA))
""",
    "federated client": """
import flwr as fl
from opacus import PrivacyEngine

class HospitalClient(fl.client.NumPyClient):
    def __init__(self, model, loader):
        self.model, self.loader = model, loader

    def fit(self, parameters, config):
        set_weights(self.model, parameters)
        optimizer = torch.optim.SGD(self.model.parameters(), lr=0.01)
        engine = PrivacyEngine()  # slip: engine-each-round
        model, optimizer, loader = engine.make_private(
            module=self.model, optimizer=optimizer, data_loader=self.loader, noise_multiplier=1.0, max_grad_norm=1.0)
        train(model, loader, optimizer)
        return get_weights(model), len(self.loader.dataset), {"epsilon": engine.get_epsilon(1e-5)}
""",
    "epochs": TORCH
    + """
EPOCHS = 50
engine = PrivacyEngine()
model, optimizer, train_loader = engine.make_private_with_epsilon(
    module=model, optimizer=optimizer, data_loader=train_loader, target_epsilon=3.0, target_delta=1e-5,
    epochs=10, max_grad_norm=1.0)
for epoch in range(EPOCHS):  # slip: other-epochs
    for images, labels in train_loader:
        criterion(model(images), labels).backward()
        optimizer.step()
""",
    "constant key": JAX
    + """
def train(params, batches):
    for step, batch in enumerate(batches):
        grads = clipped_sum(params, batch)
        noise = jax.tree.map(
            lambda g: noise_multiplier * clip_norm
            * jax.random.normal(jax.random.PRNGKey(0), g.shape), grads)  # slip: noise-drawn-again
        params = jax.tree.map(lambda p, g, n: p - 0.1 * (g + n) / batch_size, params, grads, noise)
    return params
""",
    "seeded noise": """
import numpy as np

rng = np.random.default_rng(2024)
target_epsilon, target_delta, sensitivity = 0.5, 1e-6, 1.0

def noisy_histogram(values, bins):
    counts, _ = np.histogram(values, bins)
    return counts + rng.laplace(0, sensitivity / target_epsilon, size=len(counts))  # slip: noise-drawn-again

def noisy_mean(values, low, high):
    total = np.clip(values, low, high).sum()
    return (total + np.random.laplace(0, target_epsilon / (high - low))) / len(values)  # slip: laplace-scale
""",
    "keras": KERAS
    + """
optimizer = DPKerasSGDOptimizer(
    l2_norm_clip=1.0, noise_multiplier=1.1, num_microbatches=1, learning_rate=0.15)  # slip: keras-microbatches
loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)  # slip: keras-loss
model.compile(optimizer=optimizer, loss=loss, metrics=["accuracy"])
model.fit(x_train, y_train, epochs=15, batch_size=250)
""",
    "keras pipeline": KERAS
    + """
train_ds = tf.data.Dataset.from_tensor_slices((x_train, y_train)).map(scale).batch(250)
optimizer = DPKerasSGDOptimizer(l2_norm_clip=1.0, noise_multiplier=1.1, num_microbatches=250, learning_rate=0.15)
model.compile(optimizer=optimizer, loss=tf.keras.losses.SparseCategoricalCrossentropy(
    from_logits=True, reduction=tf.keras.losses.Reduction.NONE))
stop = tf.keras.callbacks.EarlyStopping(monitor="loss", patience=2)  # slip: early-stopping
model.fit(train_ds, epochs=15, callbacks=[stop])
print(compute_dp_sgd_privacy_statement(
    number_of_examples=len(train_ds), batch_size=250, noise_multiplier=1.1, num_epochs=15))  # slip: keras-examples
""",
    "fixed cohort": FLOWER
    + """
strategy = DifferentialPrivacyServerSideFixedClipping(
    FedAvg(fraction_fit=0.05), noise_multiplier=NOISE, clipping_norm=1.0, num_sampled_clients=50)
accountant = dp_accounting.rdp.RdpAccountant()
step = dp_accounting.PoissonSampledDpEvent(0.05, dp_accounting.GaussianDpEvent(NOISE))  # slip: fixed-cohort-as-poisson
accountant.compose(step, NUM_ROUNDS)
clients_per_round = 50
delta = 1 / clients_per_round  # slip: delta-from-cohort
print(accountant.get_epsilon(delta))
""",
    "local dp": FLOWER
    + """
from flwr.client.mod import LocalDpMod

local_dp = LocalDpMod(
    clipping_norm=2.0,
    sensitivity=1.0,  # slip: sensitivity-below-clip
    delta=1e-5,
    epsilon=20.0)  # slip: gaussian-formula
app = fl.client.ClientApp(client_fn=client_fn, mods=[local_dp])
""",
    "textbook": """
import math
import numpy as np

def gaussian_mechanism(value, sensitivity, epsilon, delta):
    sigma = sensitivity * math.sqrt(2 * math.log(1.25 / delta)) / epsilon  # slip: gaussian-formula
    return value + np.random.normal(0, sigma)

for target_epsilon in (0.5, 2.0, 8.0):
    print(gaussian_mechanism(total, 1.0, target_epsilon, 1e-6))
""",
    "realised batch": """
import torch
from opacus.accountants import RDPAccountant
from opacus.data_loader import DPDataLoader

loader = DPDataLoader.from_data_loader(plain_loader)
accountant = RDPAccountant()
for images, labels in loader:
    summed = clipped_gradients(model, images, labels, clip=1.0).sum(0)
    noisy = summed + noise_multiplier * torch.randn_like(summed)
    update = noisy / len(images)  # slip: realised-batch
    apply(model, update)
    accountant.step(noise_multiplier=noise_multiplier, sample_rate=loader.sample_rate)
print(accountant.get_epsilon(delta=1e-5))
""",
    "several runs": TORCH
    + """
n_train = 2000
target_delta = 1e-3  # slip: delta-above-one-over-n
total_epsilon = 0.0
for seed in range(5):
    engine = PrivacyEngine()
    model, optimizer, loader = engine.make_private(
        module=build(seed), optimizer=optimizer, data_loader=train_loader, noise_multiplier=1.1, max_grad_norm=1.0)
    run(model, optimizer, loader)
    total_epsilon += engine.get_epsilon(target_delta)  # slip: epsilon-added
print(total_epsilon)
""",
    "patience": TORCH
    + """
train_part, val_part = random_split(train_set, [55000, 5000])
engine = PrivacyEngine()
model, optimizer, loader = engine.make_private(
    module=model, optimizer=optimizer, data_loader=DataLoader(train_part, batch_size=256), noise_multiplier=1.1,
    max_grad_norm=1.0)
best, bad_epochs = 0.0, 0
for epoch in range(100):
    train_one_epoch(model, optimizer, loader)
    score = accuracy(model, DataLoader(val_part, batch_size=1024))
    bad_epochs = 0 if score > best else bad_epochs + 1
    best = max(best, score)
    if bad_epochs > 5:  # slip: early-stopping
        break
print(engine.get_epsilon(1e-5))
""",
    "shuffled by hand": """
import torch
from opacus.accountants.analysis import rdp as analysis
from torch.utils.data import DataLoader

loader = DataLoader(dataset, batch_size=128, shuffle=True)  # slip: poisson-accounting
sample_rate = 128 / len(loader)  # slip: sampling-rate-from-batches
for epoch in range(10):
    for x, y in loader:
        step(model, per_example_gradients(model, x, y), noise_multiplier=1.3, clip=1.0)
rdp = analysis.compute_rdp(q=sample_rate, noise_multiplier=1.3, steps=10 * len(loader), orders=orders)
""",
}


def marked(source: str) -> set[tuple[str, int]]:
    """(rule, line) of the slips that a script marks."""
    lines = enumerate(source.splitlines(), 1)
    return {(mark[1], number) for number, line in lines if (mark := re.search(r"# slip: ([\w-]+)", line))}


def found(source: str, level: str = "warning") -> set[tuple[str, int]]:
    script = Script("train.py", source.encode())
    return {(finding.rule, finding.line) for finding in findings(script) if finding.level == level}


def near(slip: tuple[str, int], said: set[tuple[str, int]]) -> bool:
    """The rule speaks at the line of the mark, or at the first lines of its statement."""
    return any(rule == slip[0] and 0 <= slip[1] - line <= 3 for rule, line in said)


def test_the_corpus_is_what_it_says() -> None:
    assert len(BROKEN) == 16
    assert sum(len(marked(source)) for source in BROKEN.values()) >= 24
    assert len(RIGHT) == 20
    assert min(len(source.splitlines()) for source in RIGHT.values()) >= 60


def test_at_least_three_quarters_of_the_slips_are_found() -> None:
    slips = [(name, slip, near(slip, found(source))) for name, source in BROKEN.items() for slip in marked(source)]
    missed = [(name, slip) for name, slip, hit in slips if not hit]
    assert len(missed) <= len(slips) // 4, missed


@pytest.mark.parametrize("name", BROKEN)
def test_nothing_else_is_said_of_them(name) -> None:
    source = BROKEN[name]
    extra = [said for said in found(source) if not any(near(slip, {said}) for slip in marked(source))]
    assert extra == []


@pytest.mark.parametrize("name", RIGHT)
def test_no_false_alarm(name) -> None:
    assert found(RIGHT[name]) == set()
