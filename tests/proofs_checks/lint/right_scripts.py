"""Twenty scripts without a slip, as long as people write them: arguments, data, model, training, evaluation, files.

Around each core stand the parts that most scripts share, which hold what false alarms are made of: shuffled test data,
seeds of weights, lengths of loaders, patience on public data, averages over a batch, noise in augmentation.
"""

from __future__ import annotations

TORCH = '''
"""Train a classifier privately and write what it cost."""
import argparse
import json
import logging
import random
from pathlib import Path

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Subset
from torchvision import datasets, transforms
from opacus import PrivacyEngine

log = logging.getLogger(__name__)
parser = argparse.ArgumentParser()
parser.add_argument("--data", type=Path, default=Path("data"))
parser.add_argument("--out", type=Path, default=Path("runs/private"))
parser.add_argument("--lr", type=float, default=0.1)
parser.add_argument("--seed", type=int, default=0)
args = parser.parse_args()
np.random.seed(args.seed)
order = np.random.permutation(60_000)
random.shuffle(order)
device = "cuda" if torch.cuda.is_available() else "cpu"


class Jitter:
    """Augmentation: images with a little noise of their own."""

    def __call__(self, image):
        return (image - image.mean()) / (image.std() + 1e-6)


class Net(nn.Module):
    def __init__(self, width=128, classes=10):
        super().__init__()
        self.flatten = nn.Flatten()
        self.hidden = nn.Linear(784, width)
        self.out = nn.Linear(width, classes)
        nn.init.normal_(self.out.weight, std=0.02)

    def forward(self, x):
        return self.out(torch.relu(self.hidden(self.flatten(x))))


transform = transforms.Compose([transforms.ToTensor(), Jitter()])
train_set = datasets.MNIST(args.data, train=True, transform=transform, download=True)
test_set = datasets.MNIST(args.data, train=False, transform=transform)
train_loader = DataLoader(train_set, batch_size=256, shuffle=True, num_workers=4, pin_memory=True)
test_loader = DataLoader(test_set, batch_size=1024, shuffle=True)
public_loader = DataLoader(datasets.KMNIST(args.data, transform=transform), batch_size=256, shuffle=True)
model = Net().to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=args.lr, momentum=0.9)
schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=10)
criterion = nn.CrossEntropyLoss()
'''

TORCH_END = '''

@torch.no_grad()
def final_scores(network, loader):
    """Accuracy and mean loss on held-out data."""
    network.eval()
    right, seen, total_loss = 0, 0, 0.0
    for images, labels in loader:
        scores = network(images.to(device))
        right += (scores.argmax(1).cpu() == labels).sum().item()
        total_loss += criterion(scores.cpu(), labels).item() * len(labels)
        seen += len(labels)
    return right / seen, total_loss / seen


accuracy_at_end, loss_at_end = final_scores(model, test_loader)
average_over_batches = loss_at_end / len(test_loader)
log.info("accuracy %.4f, loss %.4f", accuracy_at_end, loss_at_end)
args.out.mkdir(parents=True, exist_ok=True)
torch.save({"weights": model.state_dict(), "args": vars(args)}, args.out / "model.pt")
(args.out / "scores.json").write_text(json.dumps({"accuracy": accuracy_at_end, "loss": loss_at_end}))
'''

KERAS = '''
"""DP-SGD with Keras on MNIST."""
import json
import os

import numpy as np
import tensorflow as tf
from absl import app, flags, logging
from tensorflow_privacy.privacy.optimizers.dp_optimizer_keras import DPKerasSGDOptimizer
from tensorflow_privacy import compute_dp_sgd_privacy_statement

flags.DEFINE_float("learning_rate", 0.15, "Of the optimizer")
flags.DEFINE_string("model_dir", "/tmp/model", "Where to write")
FLAGS = flags.FLAGS
os.environ.setdefault("TF_DETERMINISTIC_OPS", "1")
tf.random.set_seed(7)


def normalised(images):
    """Pixels between 0 and 1, with a last axis for the channel."""
    return np.array(images, dtype=np.float32)[..., None] / 255


(x_train, y_train), (x_test, y_test) = tf.keras.datasets.mnist.load_data()
x_train, x_test = normalised(x_train), normalised(x_test)
y_train, y_test = y_train.astype("int64"), y_test.astype("int64")
test_ds = tf.data.Dataset.from_tensor_slices((x_test, y_test)).shuffle(1000).batch(500)
model = tf.keras.Sequential(
    [
        tf.keras.layers.Conv2D(16, 8, strides=2, padding="same", activation="relu", input_shape=(28, 28, 1)),
        tf.keras.layers.MaxPool2D(2, 1),
        tf.keras.layers.Conv2D(32, 4, strides=2, padding="valid", activation="relu"),
        tf.keras.layers.MaxPool2D(2, 1),
        tf.keras.layers.Flatten(),
        tf.keras.layers.Dense(32, activation="relu", kernel_initializer=tf.keras.initializers.RandomNormal(seed=3)),
        tf.keras.layers.Dense(10),
    ]
)
'''

KERAS_END = '''

def report(network, data, steps):
    """Accuracy over the test batches, averaged by their sizes."""
    right = seen = 0
    for images, labels in data.take(steps):
        guessed = tf.argmax(network(images), axis=1)
        right += int(tf.reduce_sum(tf.cast(guessed == labels, tf.int32)))
        seen += len(labels)
    return right / max(seen, 1)


accuracy = report(model, test_ds, len(test_ds))
logging.info("accuracy: %.4f", accuracy)
tf.io.gfile.makedirs(FLAGS.model_dir)
model.save_weights(os.path.join(FLAGS.model_dir, "weights.h5"))
with open(os.path.join(FLAGS.model_dir, "result.json"), "w") as out:
    json.dump({"accuracy": accuracy}, out)
'''

JAX = '''
"""DP-SGD in plain JAX."""
import functools
import pickle
import time

import jax
import jax.numpy as jnp
import optax
import dp_accounting
from absl import logging

noise_multiplier, clip_norm, batch_size = 1.1, 1.0, 256
EPOCHS, N, DELTA = 15, 60_000, 1e-6


def init(key, sizes):
    """Weights with a tenth of standard noise, zero biases."""
    keys = jax.random.split(key, len(sizes))
    return [0.1 * jax.random.normal(k, (a, b)) for k, a, b in zip(keys, sizes, sizes[1:])]


def predict(params, images):
    for weights in params[:-1]:
        images = jax.nn.relu(images @ weights)
    return images @ params[-1]


def loss(params, example):
    image, label = example
    return optax.softmax_cross_entropy_with_integer_labels(predict(params, image[None]), label[None])[0]


@functools.partial(jax.jit, static_argnums=())
def clipped_sum(params, batch):
    def one(example):
        return optax.clip_by_global_norm(clip_norm).update(jax.grad(loss)(params, example), None)[0]
    return jax.tree.map(lambda g: g.sum(0), jax.vmap(one)(batch))


def epsilon_after(steps):
    step = dp_accounting.PoissonSampledDpEvent(batch_size / N, dp_accounting.GaussianDpEvent(noise_multiplier))
    return dp_accounting.pld.PLDAccountant().compose(step, steps).get_epsilon(DELTA)
'''

JAX_END = """

def accuracy(params, images, labels):
    return float((predict(params, images).argmax(1) == labels).mean())


def run(batches_of, test_images, test_labels, out="params.pickle"):
    began, params = time.time(), weights
    for epoch in range(EPOCHS):
        params = train(params, batches_of(epoch), jax.random.fold_in(jax.random.key(time.time_ns()), epoch))
        score = accuracy(params, test_images, test_labels)
        logging.info("epoch %d: accuracy %.4f after %.1f s", epoch, score, time.time() - began)
    logging.info("epsilon %.3f at delta %g", epsilon_after(EPOCHS * N // batch_size), DELTA)
    with open(out, "wb") as file:
        pickle.dump(params, file)
    return params
"""

FLOWER = '''
"""A federation with central differential privacy."""
import argparse
import json
from collections import OrderedDict
from pathlib import Path

import dp_accounting
import flwr as fl
import numpy as np
import torch
from flwr.server.strategy import FedAvg, DifferentialPrivacyServerSideFixedClipping

NUM_CLIENTS, NUM_ROUNDS, NOISE = 1000, 100, 0.8
parser = argparse.ArgumentParser()
parser.add_argument("--address", default="[::]:8080")
parser.add_argument("--history", type=Path, default=Path("history.json"))


def average(metrics):
    """Weighted by the clients' examples."""
    total = sum(count for count, _ in metrics)
    return {"accuracy": sum(count * scores["accuracy"] for count, scores in metrics) / total}


def initial_parameters(seed=0):
    generator = np.random.default_rng(seed)
    weights = [generator.normal(0, 0.02, shape) for shape in ((784, 64), (64,), (64, 10), (10,))]
    return fl.common.ndarrays_to_parameters(weights)


def to_state_dict(names, arrays):
    return OrderedDict((name, torch.as_tensor(array)) for name, array in zip(names, arrays))


def evaluate_centrally(server_round, parameters, config):
    """On public data, every tenth round."""
    if server_round % 10:
        return None
    right = [float((image @ parameters[0]).argmax() == label) for image, label in config.get("public", [])]
    return 1 - float(np.mean(right or [0.0])), {"accuracy": float(np.mean(right or [0.0]))}
'''

CLIENT = '''

class KeyboardClient(fl.client.NumPyClient):
    """Trains on the device's own words."""

    def __init__(self, model, loader):
        self.model, self.loader = model, loader

    def fit(self, parameters, config):
        self.model.load_state_dict(to_state_dict(self.model.state_dict(), parameters))
        optimizer = torch.optim.SGD(self.model.parameters(), lr=config.get("lr", 0.1))
        for words, following in self.loader:
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(self.model(words), following).backward()
            optimizer.step()
        return [value.numpy() for value in self.model.state_dict().values()], len(self.loader.dataset), {}
'''

FLOWER_END = """

def server_config(rounds=NUM_ROUNDS):
    return fl.server.ServerConfig(num_rounds=rounds, round_timeout=600)


def save(history, path):
    losses = [{"round": number, "loss": loss} for number, loss in history.losses_distributed]
    path.write_text(json.dumps({"losses": losses, "mean": float(np.mean([entry["loss"] for entry in losses]))}))


def main():
    args = parser.parse_args()
    inner = FedAvg(fraction_fit=0.05, fraction_evaluate=0.01, evaluate_fn=evaluate_centrally,
                   fit_metrics_aggregation_fn=average, initial_parameters=initial_parameters())
    chosen = globals().get("strategy", inner)
    history = fl.server.start_server(server_address=args.address, config=server_config(), strategy=chosen)
    save(history, args.history)


if __name__ == "__main__":
    main()
"""

NUMPY = '''
"""A table of noisy counts for publication."""
import argparse
import csv
import sys
from dataclasses import dataclass

import numpy as np
import pandas as pd

AGES = ("0-17", "18-39", "40-64", "65+")


@dataclass(frozen=True)
class Person:
    region: str
    age: int
    income: float


def read(path):
    """One person a row; rows without a region are left out."""
    frame = pd.read_csv(path).dropna(subset=["region"])
    return [Person(row.region, int(row.age), float(row.income)) for row in frame.itertuples()]


def group(age):
    return AGES[min(int(np.searchsorted([18, 40, 65], age, side="right")), 3)]


def histogram(people):
    counts = dict.fromkeys(AGES, 0)
    for person in people:
        counts[group(person.age)] += 1
    return np.array([counts[age] for age in AGES], dtype=float)


def incomes(people, low=0.0, high=200_000.0):
    """Clipped to a public range."""
    return np.clip([person.income for person in people], low, high) / (high - low)


def made_up_people(count, seed=1):
    """For trying it out."""
    generator = np.random.default_rng(seed)
    ages = generator.integers(0, 100, count)
    return [Person("north", int(age), float(generator.normal(40_000, 9_000))) for age in ages]
'''

RELEASED = '''

def rounded(column):
    """Counts are whole and not negative: post-processing."""
    return np.maximum(np.rint(column), 0).astype(int)


def write(column, out=sys.stdout):
    table = csv.writer(out)
    table.writerow(["age", "people"])
    table.writerows(zip(AGES, rounded(column)))


def error(column, truth):
    """Mean absolute error, for made-up people only."""
    return float(np.abs(np.asarray(column) - truth).mean())


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--people", default="people.csv")
    write(histogram(read(parser.parse_args().people)))
'''

RIGHT = {
    "opacus": TORCH
    + """
engine = PrivacyEngine(secure_mode=True)
model, optimizer, train_loader = engine.make_private(
    module=model, optimizer=optimizer, data_loader=train_loader, noise_multiplier=1.1, max_grad_norm=1.0)
for epoch in range(10):
    for images, labels in train_loader:
        optimizer.zero_grad()
        criterion(model(images), labels).backward()
        optimizer.step()
    for images, labels in test_loader:
        evaluate(model, images, labels)
print(engine.get_epsilon(delta=1 / (10 * len(train_set))))
"""
    + TORCH_END,
    "opacus, new names": TORCH
    + """
engine = PrivacyEngine()
dp_model, dp_optimizer, dp_loader = engine.make_private(
    module=model, optimizer=optimizer, data_loader=train_loader, noise_multiplier=1.1, max_grad_norm=1.0)
for epoch in range(10):
    for images, labels in dp_loader:
        dp_optimizer.zero_grad()
        criterion(dp_model(images), labels).backward()
        dp_optimizer.step()
"""
    + TORCH_END,
    "warm-up on public data first": TORCH
    + """
public = DataLoader(datasets.FashionMNIST("data"), batch_size=256, shuffle=True)
for images, labels in public:
    optimizer.step()
engine = PrivacyEngine()
model, optimizer, train_loader = engine.make_private(
    module=model, optimizer=optimizer, data_loader=train_loader, noise_multiplier=1.1, max_grad_norm=1.0)
"""
    + TORCH_END,
    "baseline beside it": TORCH
    + """
for images, labels in train_loader:
    optimizer.step()
engine = PrivacyEngine()
private, private_optimizer, loader = engine.make_private(
    module=copy(model), optimizer=fresh(model), data_loader=train_loader, noise_multiplier=1.1, max_grad_norm=1.0)
"""
    + TORCH_END,
    "sweep over noise": TORCH
    + """
for noise_multiplier in (0.8, 1.0, 1.5):
    engine = PrivacyEngine()
    dp_model, dp_optimizer, loader = engine.make_private(
        module=build(), optimizer=optimizer, data_loader=train_loader, noise_multiplier=noise_multiplier,
        max_grad_norm=1.0)
    fit(dp_model, dp_optimizer, loader)
    print(noise_multiplier, engine.get_epsilon(1e-6))
"""
    + TORCH_END,
    "epochs named once": TORCH
    + """
EPOCHS = 20
engine = PrivacyEngine()
model, optimizer, train_loader = engine.make_private_with_epsilon(
    module=model, optimizer=optimizer, data_loader=train_loader, target_epsilon=3.0, target_delta=1e-5,
    epochs=EPOCHS, max_grad_norm=1.0)
for epoch in range(EPOCHS):
    train(model, optimizer, train_loader)
"""
    + TORCH_END,
    "seeded weights": TORCH
    + """
torch.manual_seed(0)
engine = PrivacyEngine()
model, optimizer, train_loader = engine.make_private(
    module=model, optimizer=optimizer, data_loader=train_loader, noise_multiplier=1.1, max_grad_norm=1.0)
"""
    + TORCH_END,
    "early stopping on public data": TORCH
    + """
engine = PrivacyEngine()
model, optimizer, train_loader = engine.make_private(
    module=model, optimizer=optimizer, data_loader=train_loader, noise_multiplier=1.1, max_grad_norm=1.0)
for epoch in range(100):
    patience = patience + 1 if score(model, public_loader) < best else 0
    if patience > 3:
        break
"""
    + TORCH_END,
    "keras": KERAS
    + """
optimizer = DPKerasSGDOptimizer(l2_norm_clip=1.0, noise_multiplier=1.1, num_microbatches=250, learning_rate=0.15)
loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True, reduction=tf.keras.losses.Reduction.NONE)
model.compile(optimizer=optimizer, loss=loss)
model.fit(x_train, y_train, epochs=15, batch_size=250)
print(compute_dp_sgd_privacy_statement(
    number_of_examples=len(x_train), batch_size=250, noise_multiplier=1.1, num_epochs=15))
"""
    + KERAS_END,
    "keras model class": KERAS
    + """
from tensorflow_privacy import DPSequential

model = DPSequential(l2_norm_clip=1.0, noise_multiplier=1.1, layers=[tf.keras.layers.Dense(10)])
model.compile(optimizer="sgd", loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))
model.fit(x_train, y_train, epochs=15, batch_size=250, validation_data=(x_test, y_test))
"""
    + KERAS_END,
    "jax": JAX
    + """
def train(params, batches, key):
    for batch in batches:
        key, draw = jax.random.split(key)
        grads = clipped_sum(params, batch)
        noise = jax.tree.map(lambda g: noise_multiplier * clip_norm * jax.random.normal(draw, g.shape), grads)
        params = jax.tree.map(lambda p, g, n: p - 0.1 * (g + n) / batch_size, params, grads, noise)
    return params

weights = init(jax.random.PRNGKey(0), (784, 10))
"""
    + JAX_END,
    "flower, fixed cohort": FLOWER
    + """
strategy = DifferentialPrivacyServerSideFixedClipping(
    FedAvg(fraction_fit=0.05), noise_multiplier=NOISE, clipping_norm=1.0, num_sampled_clients=50)
step = dp_accounting.SampledWithoutReplacementDpEvent(NUM_CLIENTS, 50, dp_accounting.GaussianDpEvent(NOISE))
accountant = dp_accounting.rdp.RdpAccountant(neighboring_relation=dp_accounting.NeighboringRelation.REPLACE_ONE)
print(accountant.compose(step, NUM_ROUNDS).get_epsilon(target_delta=1e-5))
"""
    + FLOWER_END,
    "flower client with one engine": TORCH
    + """
import flwr as fl

class HospitalClient(fl.client.NumPyClient):
    def __init__(self, model, loader):
        self.engine = PrivacyEngine()
        self.model, self.optimizer, self.loader = self.engine.make_private(
            module=model, optimizer=sgd(model), data_loader=loader, noise_multiplier=1.0, max_grad_norm=1.0)

    def fit(self, parameters, config):
        train(self.model, self.optimizer, self.loader)
        return get_weights(self.model), 1, {"epsilon": self.engine.get_epsilon(1e-5)}
"""
    + TORCH_END,
    "laplace release": NUMPY
    + """

rng = np.random.default_rng()
target_epsilon, sensitivity = 0.5, 1.0
counts = histogram(values) + rng.laplace(0, sensitivity / target_epsilon, size=10)
total = values.sum() + rng.laplace(scale=2 * sensitivity / target_epsilon)
"""
    + RELEASED,
    "local release": FLOWER
    + CLIENT
    + """
from flwr.client.mod import LocalDpMod

mod = LocalDpMod(clipping_norm=1.0, sensitivity=2.0, epsilon=0.5, delta=1e-5)
"""
    + FLOWER_END,
    "expected batch": TORCH
    + """
from opacus.accountants import RDPAccountant
from opacus.data_loader import DPDataLoader

loader = DPDataLoader.from_data_loader(plain_loader)
expected = len(plain_loader.dataset) * loader.sample_rate
for images, labels in loader:
    summed = clipped_gradients(model, images, labels, clip=1.0).sum(0)
    update = (summed + noise_multiplier * torch.randn_like(summed)) / expected
    losses.append(loss.sum() / len(images))
"""
    + TORCH_END,
    "numbers that fit": TORCH
    + """

num_examples, batch_size = 60_000, 256
target_delta = 1e-6
sample_rate = batch_size / num_examples
clip_norm = 1.0
sensitivity = 2 * clip_norm
engine = PrivacyEngine()
epsilons = [engine.get_epsilon(target_delta)]
"""
    + TORCH_END,
    "ledger of several runs": NUMPY
    + """
import dp_accounting

accountant = dp_accounting.pld.PLDAccountant()
for run in runs:
    accountant.compose(event_of(run))
epsilon = accountant.get_epsilon(target_delta=1e-6)
total_loss = 0.0
for run in runs:
    total_loss += run.loss
"""
    + RELEASED,
    "clipping for stability elsewhere": TORCH
    + """
for images, labels in public_loader:
    criterion(model(images), labels).backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm=10.0)
    optimizer.step()
engine = PrivacyEngine()
model, optimizer, train_loader = engine.make_private(
    module=model, optimizer=optimizer, data_loader=train_loader, noise_multiplier=1.1, max_grad_norm=1.0)
"""
    + TORCH_END,
    "test of the noise": NUMPY
    + """
from dpcert.mechanisms import Gaussian

def test_noise_multiplier():
    values = np.random.default_rng(0).normal(size=1000)
    assert abs(values.std() - 1) < 0.2
    weights = np.random.default_rng(1).uniform(size=10)
"""
    + RELEASED,
}
