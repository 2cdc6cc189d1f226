"""No false alarm on the right patterns of the Opacus and TF-Privacy tutorials, in scripts written for this test."""

from __future__ import annotations

import pytest

from dpcert.proofs_checks.lint import Script, findings

IMAGE_CLASSIFIER = """
import torch
from opacus import PrivacyEngine
from opacus.utils.batch_memory_manager import BatchMemoryManager
from torchvision.datasets import CIFAR10

MAX_GRAD_NORM, EPSILON, DELTA, EPOCHS = 1.2, 50.0, 1e-5, 20
train_dataset = CIFAR10(root="data", train=True)
train_loader = torch.utils.data.DataLoader(train_dataset, batch_size=512, shuffle=True, drop_last=True)
test_loader = torch.utils.data.DataLoader(CIFAR10(root="data", train=False), batch_size=512, shuffle=False)
privacy_engine = PrivacyEngine()
model, optimizer, train_loader = privacy_engine.make_private_with_epsilon(
    module=model, optimizer=optimizer, data_loader=train_loader, epochs=EPOCHS,
    target_epsilon=EPSILON, target_delta=DELTA, max_grad_norm=MAX_GRAD_NORM,
)
for epoch in range(EPOCHS):
    with BatchMemoryManager(data_loader=train_loader, max_physical_batch_size=128, optimizer=optimizer) as loader:
        for images, target in loader:
            optimizer.zero_grad()
            criterion(model(images), target).backward()
            optimizer.step()
    print(privacy_engine.get_epsilon(DELTA), sum(losses) / len(train_loader))
"""

BY_HAND = """
from opacus import GradSampleModule
from opacus.accountants import RDPAccountant
from opacus.data_loader import DPDataLoader
from opacus.optimizers import DPOptimizer
from torch.utils.data import DataLoader

data_loader = DataLoader(dataset, batch_size=64, shuffle=True)
sample_rate = 1 / len(data_loader)
expected_batch_size = int(len(data_loader.dataset) * sample_rate)
model = GradSampleModule(model)
optimizer = DPOptimizer(optimizer, noise_multiplier=1.0, max_grad_norm=1.0, expected_batch_size=expected_batch_size)
accountant = RDPAccountant()
optimizer.attach_step_hook(accountant.get_optimizer_hook_fn(sample_rate=sample_rate))
private_loader = DPDataLoader.from_data_loader(data_loader, distributed=False)
print(accountant.get_epsilon(delta=1 / len(data_loader.dataset)))
"""

CALIBRATED = """
from opacus import PrivacyEngine
from opacus.accountants.utils import get_noise_multiplier
from torch.utils.data import DataLoader

def private(model, optimizer, dataset, batch_size, epochs, distributed_batch_size):
    train_loader = DataLoader(dataset, batch_size=batch_size, shuffle=True)
    sigma = get_noise_multiplier(
        target_epsilon=3.0, target_delta=0.1 / len(dataset), sample_rate=batch_size / len(dataset), epochs=epochs,
        accountant="rdp",
    )
    engine = PrivacyEngine(accountant="rdp")
    return engine.make_private(module=model, optimizer=optimizer, data_loader=train_loader,
                               noise_multiplier=sigma, max_grad_norm=1.0)
"""

KERAS = """
import dp_accounting
import tensorflow as tf
from tensorflow_privacy.privacy.optimizers.dp_optimizer_keras import DPKerasSGDOptimizer

def compute_epsilon(steps):
    accountant = dp_accounting.rdp.RdpAccountant([1 + x / 10.0 for x in range(1, 100)])
    sampling_probability = FLAGS.batch_size / 60000
    step = dp_accounting.PoissonSampledDpEvent(
        sampling_probability, dp_accounting.GaussianDpEvent(FLAGS.noise_multiplier))
    accountant.compose(dp_accounting.SelfComposedDpEvent(step, steps))
    return accountant.get_epsilon(target_delta=1e-5)

optimizer = DPKerasSGDOptimizer(l2_norm_clip=FLAGS.l2_norm_clip, noise_multiplier=FLAGS.noise_multiplier,
                                num_microbatches=FLAGS.microbatches, learning_rate=0.15)
loss = tf.keras.losses.CategoricalCrossentropy(from_logits=True, reduction=tf.losses.Reduction.NONE)
model.compile(optimizer=optimizer, loss=loss)
validation = tf.data.Dataset.from_tensor_slices(held_out).batch(1000)
print(compute_epsilon(FLAGS.epochs * 60000 // FLAGS.batch_size))
"""

STATEMENT = """
import tensorflow as tf
from tensorflow_privacy.privacy.analysis import compute_dp_sgd_privacy_lib

data = tf.data.Dataset.from_tensor_slices((x_train, y_train)).shuffle(60000).batch(250, drop_remainder=True)
print(compute_dp_sgd_privacy_lib.compute_dp_sgd_privacy_statement(
    number_of_examples=x_train.shape[0], batch_size=250, num_epochs=3, noise_multiplier=1.3, delta=1e-5,
    used_microbatching=False))
"""

VECTORIZED = """
import tensorflow as tf
import tensorflow_privacy

def clip_gradients(g, l2_norm_clip):
    norm = tf.sqrt(tf.reduce_sum(tf.square(g)))
    return g / tf.maximum(norm / l2_norm_clip, 1.0)

def noised(jacobian, l2_norm_clip, noise_multiplier, num_microbatches):
    clipped = tf.vectorized_map(lambda g: clip_gradients(g, l2_norm_clip), jacobian)
    summed_gradient = tf.reduce_sum(clipped, axis=0)
    noise = tf.random.normal(tf.shape(summed_gradient), stddev=l2_norm_clip * noise_multiplier)
    return (summed_gradient + noise) / tf.cast(num_microbatches, tf.float32)
"""

PER_EXAMPLE_TORCH = """
import torch
from torch.func import functional_call, grad, vmap

def dp_sgd_step(model, batch, clip_norm, noise_multiplier, expected_batch_size):
    grads = vmap(grad(loss), in_dims=(None, 0, 0))(parameters, *batch)
    norms = torch.cat([g.flatten(1) for g in grads.values()], 1).norm(dim=1)
    factor = (clip_norm / norms).clamp(max=1.0)
    for name, g in grads.items():
        summed = torch.einsum("i,i...->...", factor, g)
        noisy_grad = summed + noise_multiplier * clip_norm * torch.randn_like(summed)
        model.get_parameter(name).grad = noisy_grad / expected_batch_size
"""

SCRIPTS = {
    "image classifier": IMAGE_CLASSIFIER,
    "engine put together by hand": BY_HAND,
    "calibrated": CALIBRATED,
    "keras": KERAS,
    "statement": STATEMENT,
    "vectorized": VECTORIZED,
    "vmap": PER_EXAMPLE_TORCH,
}


@pytest.mark.parametrize("name", SCRIPTS)
def test_no_false_alarm(name: str) -> None:
    script = Script(name, SCRIPTS[name].encode())
    assert script.about_privacy
    assert [finding for finding in findings(script) if finding.level == "warning"] == []


HEADER = "MAX_GRAD_NORM, EPSILON, EPOCHS = 1.2, 50.0, 20\nDELTA = 1 / len(train_loader)"
STEP = "data_loader\naccountant.step(noise_multiplier=1.0, sample_rate=sample_rate)"
SHUFFLED = "train = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(60000)"
SLIPS = [
    ("image classifier", "EPOCHS,\n", "EPOCHS, poisson_sampling=False,\n", "poisson-accounting"),
    ("image classifier", "MAX_GRAD_NORM, EPSILON, DELTA, EPOCHS = 1.2, 50.0, 1e-5, 20", HEADER, "delta-from-batches"),
    ("engine put together by hand", "1 / len(data_loader.dataset)", "1 / len(data_loader)", "delta-from-batches"),
    (
        "engine put together by hand",
        "DPDataLoader.from_data_loader(data_loader, distributed=False)",
        STEP,
        "poisson-accounting",
    ),
    (
        "calibrated",
        "batch_size / len(dataset), epochs",
        "batch_size / len(train_loader), epochs",
        "sampling-rate-from-batches",
    ),
    ("calibrated", 'accountant="rdp",', 'accountant="gdp",', "clt-epsilon"),
    ("keras", "validation = tf.data.Dataset.from_tensor_slices(held_out)", SHUFFLED, "poisson-accounting"),
    ("statement", "x_train.shape[0]", "len(train_loader)", "sampling-rate-from-batches"),
    ("vectorized", "noise_multiplier)", "noise_multiplier / num_microbatches)", "noise-before-averaging"),
]
"""(script, right, wrong, the rule that must say so)."""


@pytest.mark.parametrize(("name", "right", "wrong", "rule"), SLIPS, ids=[f"{slip[0]}, {slip[3]}" for slip in SLIPS])
def test_a_slip_planted_in_the_same_script_is_found(name: str, right: str, wrong: str, rule: str) -> None:
    assert right in SCRIPTS[name]
    planted = SCRIPTS[name].replace(right, wrong)
    alarms = {f.rule for f in findings(Script(name, planted.encode())) if f.level == "warning"}
    assert alarms == {rule}
