"""Every rule: a minimal script with the slip, which must be found at its line, and its correct twin, which must not."""

from __future__ import annotations

import textwrap

import pytest

from dpcert.proofs_checks.lint import Script, findings

HOME_MADE = "noise_multiplier, C, lr = 1.1, 1.0, 0.1\n"
OPACUS = "from opacus import PrivacyEngine\nfrom torch.utils.data import DataLoader\n"
PLD = "import dp_accounting\n"


def found(source: str) -> list[tuple[str, int]]:
    """(rule, line) of every finding that is no note."""
    return _of_level(source, "warning")


def noted(source: str) -> list[tuple[str, int]]:
    """(rule, line) of every note."""
    return _of_level(source, "note")


def _of_level(source: str, level: str) -> list[tuple[str, int]]:
    script = Script("script.py", textwrap.dedent(source).encode())
    return [(f.rule, f.line) for f in findings(script) if f.level == level]


def slip_line(source: str) -> int:
    """The line (from 1) that the script itself marks."""
    return next(n for n, line in enumerate(source.splitlines(), 1) if "# slip" in line)


CASES = [
    ("delta-from-batches", OPACUS + "delta = 1 / len(train_loader)  # slip", "delta = 1 / len(train_loader.dataset)"),
    ("delta-from-batches", OPACUS + "DELTA = 1.0 / len(dl) ** 1.1  # slip", "DELTA = 1.0 / len(ds) ** 1.1"),
    ("delta-from-batches", OPACUS + "delta = len(loader) ** -1  # slip", "delta = len(dataset) ** -1"),
    (
        "delta-from-batches",
        OPACUS + "n = len(train_loader)\nengine.get_epsilon(delta=1 / n)  # slip",
        "n = len(train_loader.dataset)\nengine.get_epsilon(delta=1 / n)",
    ),
    (
        "delta-from-batches",
        OPACUS + "engine.get_epsilon(1 / len(loader))  # slip",
        "engine.get_epsilon(1 / (len(loader) * batch_size))",
    ),
    (
        "delta-from-batches",
        OPACUS + "settings = {'target_delta': 1 / steps_per_epoch}  # slip",
        "settings = {'target_delta': 1 / number_of_people}",
    ),
    (
        "delta-from-batches",
        OPACUS + "data = DataLoader(x, batch_size=8)\ndelta = 1 / len(data)  # slip",
        "data_loader = DataLoader(x, batch_size=1)\ndelta = 1 / len(data_loader)",
    ),
    ("delta-from-batches", OPACUS + "delta = 1 / len(loader)  # slip", "delta = 1 / len(client_loaders)"),
    (
        "poisson-accounting",
        OPACUS
        + "engine = PrivacyEngine()\n"
        + "engine.make_private(module=m, data_loader=d, poisson_sampling=False)  # slip\n"
        + "print(engine.get_epsilon(delta=1e-5))",
        "engine = PrivacyEngine()\n"
        "engine.make_private(module=m, data_loader=d, poisson_sampling=True)\n"
        "print(engine.get_epsilon(delta=1e-5))",
    ),
    (
        "poisson-accounting",
        OPACUS + "PrivacyEngine().make_private_with_epsilon(target_epsilon=1, poisson_sampling=False)  # slip",
        "PrivacyEngine().make_private(noise_multiplier=1, poisson_sampling=False)  # a benchmark: no epsilon",
    ),
    (
        "poisson-accounting",
        OPACUS
        + "from opacus.accountants import RDPAccountant\n"
        + "train = DataLoader(data, batch_size=64, shuffle=True)  # slip\n"
        + "RDPAccountant().step(noise_multiplier=1.0, sample_rate=0.01)",
        "from opacus.data_loader import DPDataLoader\n"
        "train = DPDataLoader.from_data_loader(DataLoader(data, batch_size=64, shuffle=True))\n"
        "accountant.step(noise_multiplier=1.0, sample_rate=0.01)",
    ),
    (
        "poisson-accounting",
        PLD
        + "from torch.utils.data import DataLoader\n"
        + "train = DataLoader(data, 64, drop_last=True)  # slip\n"
        + "event = dp_accounting.PoissonSampledDpEvent(0.1, dp_accounting.GaussianDpEvent(1.0))",
        "from torch.utils.data import DataLoader\n"
        "train = DataLoader(data, batch_sampler=sampler)\n"
        "test_loader = DataLoader(held_out, 64, shuffle=True)\n"
        "event = dp_accounting.PoissonSampledDpEvent(0.1, dp_accounting.GaussianDpEvent(1.0))",
    ),
    (
        "poisson-accounting",
        PLD
        + "data = data.map(parse).shuffle(1000).repeat().batch(250)  # slip\n"
        + "event = dp_accounting.PoissonSampledDpEvent(0.1, dp_accounting.GaussianDpEvent(1.0))",
        "data = data.map(parse).shuffle(1000).repeat().batch(250)\n"
        "event = dp_accounting.SampledWithoutReplacementDpEvent(n, 250, dp_accounting.GaussianDpEvent(1.0))",
    ),
    (
        "clt-epsilon",
        OPACUS + "engine = PrivacyEngine(accountant='gdp')  # slip\nengine.get_epsilon(delta=1e-5)",
        "engine = PrivacyEngine(accountant='prv')\nengine.get_epsilon(delta=1e-5)",
    ),
    (
        "clt-epsilon",
        "from opacus.accountants import GaussianAccountant\na = GaussianAccountant()  # slip\na.get_epsilon(1e-5)",
        "from opacus.accountants import GaussianAccountant\na = GaussianAccountant()\nprint(a.history)",
    ),
    (
        "clt-epsilon",
        "from opacus.accountants.utils import get_noise_multiplier\n"
        "get_noise_multiplier(target_epsilon=1, target_delta=1e-5, accountant='gdp')  # slip",
        "from opacus.accountants.utils import get_noise_multiplier\n"
        "get_noise_multiplier(target_epsilon=1, target_delta=1e-5, accountant='rdp')",
    ),
    (
        "clt-epsilon",
        "from tensorflow_privacy.privacy.analysis import gdp_accountant as g\n"
        "eps = g.compute_eps_poisson(15, 1.1, 60000, 256, 1e-5)  # slip",
        "from tensorflow_privacy.privacy.analysis import gdp_accountant as g\n"
        "mu = g.compute_mu_poisson(15, 1.1, 60000, 256)\nprint('mu', mu)",
    ),
    (
        "clt-epsilon",
        "from tensorflow_privacy.privacy.analysis.gdp_accountant import compute_mu_uniform, eps_from_mu\n"
        "mu = compute_mu_uniform(15, 1.1, 60000, 256)\neps = eps_from_mu(mu, 1e-5)  # slip",
        "from tensorflow_privacy.privacy.analysis.gdp_accountant import eps_from_mu\n"
        "mu = rounds ** 0.5 / noise_multiplier\neps = eps_from_mu(mu, 1e-5)  # no subsampling: exact",
    ),
    (
        "sampling-rate-from-batches",
        OPACUS + "sample_rate = args.batch_size / len(train_loader)  # slip",
        "sample_rate = args.batch_size / len(train_loader.dataset)",
    ),
    (
        "sampling-rate-from-batches",
        OPACUS + "accountant.step(noise_multiplier=1.0, sample_rate=batch_size / num_batches)  # slip",
        "accountant.step(noise_multiplier=1.0, sample_rate=1 / num_batches)",
    ),
    (
        "sampling-rate-from-batches",
        OPACUS + "loader = DataLoader(data, batch_size=64)\nsample_rate = 64 / len(loader)  # slip",
        "loader = DataLoader(data, batch_size=64)\nsample_rate = 1 / len(loader)",
    ),
    (
        "sampling-rate-from-batches",
        PLD + "sampling_probability = len(train_loader) / len(train_dataset)  # slip",
        "sampling_probability = 1 / len(train_loader)",
    ),
    (
        "sampling-rate-from-batches",
        "from tensorflow_privacy import compute_dp_sgd_privacy\n"
        "compute_dp_sgd_privacy(n=len(train_loader), batch_size=250, noise_multiplier=1, epochs=3, delta=1e-5)  # slip",
        "from tensorflow_privacy import compute_dp_sgd_privacy\n"
        "compute_dp_sgd_privacy(n=len(x_train), batch_size=250, noise_multiplier=1, epochs=3, delta=1e-5)",
    ),
    (
        "noise-before-averaging",
        HOME_MADE
        + "total = 0\nfor microbatch in split(batch):\n    grad = clip(gradient(microbatch), C)\n"
        + "    total += grad + np.random.normal(0, noise_multiplier * C, grad.shape)  # slip\n"
        + "update = total / n_microbatches",
        HOME_MADE + "total_grad = 0\nfor microbatch in split(batch):\n    total_grad += clip(gradient(microbatch), C)\n"
        "total_grad += np.random.normal(0, noise_multiplier * C, total_grad.shape)\n"
        "update = total_grad / n_microbatches",
    ),
    (
        "noise-before-averaging",
        HOME_MADE + "def step(batch, n):\n    grad_sum = summed(batch)\n"
        "    noise = torch.randn(d) * noise_multiplier * C / n\n"
        + "    noisy = grad_sum + noise  # slip\n    return noisy / n",
        HOME_MADE + "def step(batch, n):\n    grad_sum = summed(batch)\n"
        "    noise = torch.randn(d) * noise_multiplier * C / n\n"
        "    return grad_sum / n + noise",
    ),
    (
        "noise-before-averaging",
        HOME_MADE + "grad = (grad_sum + rng.normal(0, noise_multiplier * C / len(batch), d)) / len(batch)  # slip",
        HOME_MADE + "grad = (grad_sum + rng.normal(0, noise_multiplier * C, d)) / len(batch)",
    ),
    (
        "clip-after-aggregation",
        HOME_MADE
        + "for x, y in train_loader:\n    loss(model(x), y).backward()\n"
        + "    torch.nn.utils.clip_grad_norm_(model.parameters(), C)  # slip\n"
        + "    for p in model.parameters():\n        p.grad += torch.randn_like(p.grad) * noise_multiplier * C\n"
        + "    optimizer.step()",
        HOME_MADE + "for x, y in train_loader:\n    for xi, yi in zip(x, y):\n        loss(model(xi), yi).backward()\n"
        "        torch.nn.utils.clip_grad_norm_(model.parameters(), C)\n        collect(model)\n"
        "    for p in model.parameters():\n        p.grad = p.total + torch.randn_like(p.grad) * noise_multiplier * C\n"
        "    optimizer.step()",
    ),
    (
        "clip-after-aggregation",
        "from opacus.accountants import RDPAccountant\n"
        "for x, y in train_loader:\n    loss(model(x), y).backward()\n"
        "    torch.nn.utils.clip_grad_norm_(model.parameters(), C)  # slip\n"
        "    for p in model.parameters():\n        p.grad += torch.randn_like(p.grad) * noise_multiplier * C\n",
        "from opacus import PrivacyEngine  # the library clips each example\n"
        "for x, y in train_loader:\n    loss(model(x), y).backward()\n"
        "    torch.nn.utils.clip_grad_norm_(model.parameters(), C)\n"
        "    for p in model.parameters():\n        p.grad += torch.randn_like(p.grad) * noise_multiplier * C\n",
    ),
    (
        "clip-after-aggregation",
        HOME_MADE
        + "@tf.function\ndef train_step(batch):\n    grads = tape.gradient(loss, variables)\n"
        + "    grads, _ = tf.clip_by_global_norm(grads, C)  # slip\n"
        + "    grads = [g + tf.random.normal(g.shape, stddev=noise_multiplier * C) for g in grads]\n"
        + "    optimizer.apply_gradients(zip(grads, variables))",
        HOME_MADE + "def clip_one(grads):\n    return tf.clip_by_global_norm(grads, C)[0]\n\n"
        "def train_step(batch):\n    grads = tf.vectorized_map(clip_one, tape.jacobian(loss, variables))\n"
        "    grads = [tf.reduce_sum(g, 0) + tf.random.normal(g.shape[1:], stddev=noise_multiplier * C) for g in grads]",
    ),
    (
        "noise-before-averaging",
        HOME_MADE
        + "def train(microbatches):\n    noisy = []\n    for mb in microbatches:\n        g = clip(gradient(mb), C)\n"
        + "        noisy.append(g + np.random.normal(0, noise_multiplier * C, g.shape))  # slip\n"
        + "    return np.mean(noisy, axis=0)",
        HOME_MADE + "def train(microbatches):\n    clipped = []\n    for mb in microbatches:\n"
        "        g = clip(gradient(mb), C)\n        clipped.append(g)\n    g = np.sum(clipped, axis=0)\n"
        "    return (g + np.random.normal(0, noise_multiplier * C, g.shape)) / len(clipped)",
    ),
    (
        "clip-after-aggregation",
        PLD
        + "def update(params, batch, key):\n    grads = jax.grad(loss)(params, batch)\n"
        + "    grads = optax.clip_by_global_norm(grads, C)  # slip\n"
        + "    return jax.tree.map(lambda g: g + sigma * jax.random.normal(key, g.shape), grads)",
        PLD + "def update(params, batch, key):\n"
        "    clipped = jax.vmap(lambda example: optax.clip_by_global_norm(jax.grad(loss)(params, example), C))(batch)\n"
        "    grads = jax.tree.map(lambda g: g.sum(0), clipped)\n"
        "    return jax.tree.map(lambda g: g + sigma * jax.random.normal(key, g.shape), grads)",
    ),
    (
        "clip-after-aggregation",
        HOME_MADE
        + "mean_grad = per_example_grads.mean(axis=0)\nclipped = clip_by_norm(mean_grad, C)  # slip\n"
        + "noisy_grad = clipped + rng.normal(0, noise_multiplier * C, d)",
        HOME_MADE + "clipped_grads = clip_by_norm(per_example_grads, C)\n"
        "noisy_grad = clipped_grads.sum(axis=0) + rng.normal(0, noise_multiplier * C, d)",
    ),
    (
        "used-before-private",
        OPACUS + "m, optimizer, private = engine.make_private(module=m, optimizer=optimizer, data_loader=loader)\n"
        "for x, y in loader:  # slip\n    optimizer.step()",
        "model, optimizer, loader = engine.make_private(module=model, optimizer=optimizer, data_loader=loader)\n"
        "for x, y in loader:\n    optimizer.step()",
    ),
    (
        "used-before-private",
        OPACUS + "model, dp_optimizer, loader = engine.make_private(module=model, optimizer=sgd, data_loader=loader)\n"
        "for x, y in loader:\n    sgd.step()  # slip",
        "model, dp_optimizer, loader = engine.make_private(module=model, optimizer=sgd, data_loader=loader)\n"
        "for x, y in loader:\n    dp_optimizer.step()",
    ),
    (
        "engine-each-round",
        OPACUS + "for round_number in range(10):\n    engine = PrivacyEngine()  # slip\n    train(engine)\n"
        "    print(engine.get_epsilon(1e-5))",
        "engine = PrivacyEngine()\nfor round_number in range(10):\n    train(engine)\nengine.get_epsilon(1e-5)",
    ),
    (
        "clip-bounds-nothing",
        OPACUS + "engine.make_private(module=m, data_loader=d, max_grad_norm=float('inf'))  # slip",
        "engine.make_private(module=m, data_loader=d, max_grad_norm=1.0)",
    ),
    (
        "noise-drawn-again",
        PLD + "import jax\nfor step in range(9):\n"
        "    noise = jax.random.normal(jax.random.PRNGKey(0), shape) * noise_multiplier  # slip",
        "import jax\nfor step in range(9):\n    key, draw = jax.random.split(key)\n"
        "    noise = jax.random.normal(draw, shape) * noise_multiplier",
    ),
    (
        "noise-drawn-again",
        PLD + "rng = np.random.default_rng(42)\nanswer = total + rng.laplace(0, 1 / target_epsilon)  # slip",
        "rng = np.random.default_rng()\nanswer = total + rng.laplace(0, 1 / target_epsilon)",
    ),
    (
        "noise-drawn-again",
        HOME_MADE + "import torch\ntorch.manual_seed(0)\n"
        "for x in batches:\n    grad += torch.randn_like(grad) * noise_multiplier * C  # slip",
        HOME_MADE + "import torch\ntorch.manual_seed(seed)\n"
        "for x in batches:\n    grad += torch.randn_like(grad) * noise_multiplier * C",
    ),
    (
        "noise-drawn-again",
        PLD
        + "import numpy as np\nnp.random.seed(42)\nanswer = total + np.random.laplace(0, 1 / target_epsilon)  # slip",
        "import numpy as np\ntorch.manual_seed(42)\nanswer = total + np.random.laplace(0, 1 / target_epsilon)",
    ),
    (
        "other-epochs",
        OPACUS + "engine.make_private_with_epsilon(module=m, data_loader=d, epochs=10, max_grad_norm=1.0)\n"
        "for epoch in range(30):  # slip\n    train()",
        "engine.make_private_with_epsilon(module=m, data_loader=d, epochs=10, max_grad_norm=1.0)\n"
        "for epoch in range(10):\n    train()",
    ),
    ("delta-from-cohort", OPACUS + "delta = 1 / clients_per_round  # slip", "delta = 0.1 / number_of_clients"),
    (
        "delta-above-one-over-n",
        OPACUS + "n_train = 5000\ntarget_delta = 1e-3  # slip",
        "n_train = 5000\ntarget_delta = 1e-5",
    ),
    (
        "epsilon-added",
        OPACUS + "for run in runs:\n    total_epsilon += engine.get_epsilon(1e-5)  # slip",
        "for run in runs:\n    train(run)\ntotal_epsilon = engine.get_epsilon(1e-5)",
    ),
    (
        "gaussian-formula",
        PLD + "sigma = np.sqrt(2 * np.log(1.25 / delta)) / epsilon  # slip",
        "sigma = calibrate(epsilon, delta)",
    ),
    (
        "gaussian-formula",
        PLD + "mod = LocalDpMod(1.0, 1.0, 10.0, 1e-5)  # slip",
        "mod = LocalDpMod(1.0, 1.0, 0.5, 1e-5)",
    ),
    (
        "laplace-scale",
        PLD + "answer = count + np.random.laplace(0, epsilon / sensitivity)  # slip",
        "answer = count + np.random.laplace(0, sensitivity / epsilon)",
    ),
    (
        "sensitivity-below-clip",
        PLD + "clip_norm = 4.0\nmechanism = release(sensitivity=1.0, clip_norm=clip_norm)  # slip",
        "clip_norm = 4.0\nmechanism = release(sensitivity=clip_norm, clip_norm=clip_norm)",
    ),
    (
        "realised-batch",
        OPACUS + "loader = DPDataLoader.from_data_loader(loader)\nfor x, y in loader:\n"
        "    update = (total + noise) / len(x)  # slip",
        "loader = DPDataLoader.from_data_loader(loader)\nfor x, y in loader:\n"
        "    update = (total + noise) / expected_batch_size",
    ),
    (
        "keras-microbatches",
        PLD + "opt = DPKerasSGDOptimizer(l2_norm_clip=1.0, noise_multiplier=1.1, num_microbatches=1)  # slip",
        "opt = DPKerasSGDOptimizer(l2_norm_clip=1.0, noise_multiplier=1.1, num_microbatches=250)",
    ),
    (
        "keras-loss",
        PLD + "opt = DPKerasSGDOptimizer(l2_norm_clip=1.0, noise_multiplier=1.1)\n"
        "loss = tf.keras.losses.CategoricalCrossentropy(from_logits=True)  # slip",
        "opt = DPKerasSGDOptimizer(l2_norm_clip=1.0, noise_multiplier=1.1)\n"
        "loss = tf.keras.losses.CategoricalCrossentropy(reduction=tf.keras.losses.Reduction.NONE)",
    ),
    (
        "keras-examples",
        PLD + "data = source.shuffle(100).map(f).batch(64)\n"
        "compute_dp_sgd_privacy_statement(number_of_examples=len(data), batch_size=64)  # slip",
        "data = source.shuffle(100).map(f)\n"
        "compute_dp_sgd_privacy_statement(number_of_examples=len(data), batch_size=64)",
    ),
    (
        "fixed-cohort-as-poisson",
        PLD + "import flwr as fl\nstrategy = fl.server.strategy.FedAvg(fraction_fit=0.1)\n"
        "event = dp_accounting.PoissonSampledDpEvent(0.1, gaussian)  # slip",
        "import flwr as fl\nstrategy = fl.server.strategy.FedAvg(fraction_fit=0.1)\n"
        "event = dp_accounting.SampledWithoutReplacementDpEvent(1000, 100, gaussian)",
    ),
    (
        "early-stopping",
        PLD + "model.fit(x, y, validation_split=0.1, callbacks=[EarlyStopping()], noise_multiplier=1.0)  # slip",
        "model.fit(x, y, callbacks=[TensorBoard()], noise_multiplier=1.0)",
    ),
]


@pytest.mark.parametrize(("rule", "offending", "twin"), CASES, ids=[f"{n}-{case[0]}" for n, case in enumerate(CASES)])
def test_the_slip_is_found_and_its_twin_is_not(rule: str, offending: str, twin: str) -> None:
    assert found(offending) == [(rule, slip_line(offending))]
    header = OPACUS if offending.startswith(OPACUS) else PLD if offending.startswith(PLD) else ""
    assert found(header + twin) == []


NOTES = [
    (
        "default-generator",
        HOME_MADE + "import random\ntotal = total + random.gauss(0, noise_multiplier * C)  # slip",
        "import random\ntotal = total + random.SystemRandom().gauss(0, noise_multiplier * C)",
    ),
    (
        "default-generator",
        HOME_MADE + "import numpy as np\nrng = np.random.default_rng()\n"
        "count = count + rng.laplace(0, noise_multiplier)  # slip",
        "import numpy as np\nrng = SecureGenerator()\ncount = count + rng.laplace(0, noise_multiplier)",
    ),
    (
        "default-generator",
        HOME_MADE + "import numpy as np\ngrad += np.random.normal(0, noise_multiplier * C, d)  # slip",
        "import numpy as np\nweights = np.random.normal(0, 0.01, d)",
    ),
    (
        "default-generator",
        HOME_MADE + "import torch\ngrad = grad + noise_multiplier * C * torch.randn_like(grad)  # slip",
        "import torch, torchcsprng\nown = torchcsprng.create_random_device_generator()\n"
        "grad = grad + torch.normal(0, noise_multiplier * C, grad.shape, generator=own)",
    ),
    (
        "default-generator",
        HOME_MADE + "import torch\ngrad = grad + torch.empty(d).normal_(0, noise_multiplier * C)  # slip",
        "import torch\ntorch.nn.Linear(2, 2).weight.data.normal_(0, 0.1)",
    ),
    (
        "default-generator",
        HOME_MADE + "import torch\ngrad = grad + torch.normal(0, s, d, generator=torch.Generator())  # slip",
        "def release(total, rng):\n    return total + rng.normal(0, noise_multiplier * C)",
    ),
    (
        "default-generator",
        HOME_MADE + "import numpy as np\nrng = np.random.default_rng(args.seed)\n"
        "count = count + rng.laplace(0, noise_multiplier)  # slip",
        "import numpy as np\nrng = np.random.default_rng(args.seed)\nmask = rng.uniform(size=d) < 0.1",
    ),
    (
        "default-generator",
        HOME_MADE + "import tensorflow as tf\ng = g + tf.random.normal(tf.shape(g), stddev=noise_multiplier)  # slip",
        "import tensorflow as tf\nw = tf.Variable(tf.random.normal((3, 3)))",
    ),
]


@pytest.mark.parametrize(("rule", "default", "twin"), NOTES, ids=[f"{n}-{case[0]}" for n, case in enumerate(NOTES)])
def test_the_default_generator_is_noted_and_no_alarm(rule: str, default: str, twin: str) -> None:
    assert noted(default) == [(rule, slip_line(default))]
    assert noted(HOME_MADE + twin) == found(default) == found(HOME_MADE + twin) == []


@pytest.mark.parametrize("binding", ["seed = seed + 1", "seed = -seed", "a = seed * seed\nseed = a / a"])
def test_a_number_bound_to_itself_is_none(binding: str) -> None:
    """The search for its value once had no end."""
    draw = "import torch\ntorch.manual_seed(seed)\ngrad = grad + C * torch.randn_like(grad)\n"
    assert found(f"{HOME_MADE}{binding}\n{draw}") == []


def test_a_literal_seed_is_an_alarm_and_no_note_beside_it() -> None:
    seeded = HOME_MADE + "import torch\ntorch.manual_seed(0)\ngrad = grad + C * torch.randn_like(grad)\n"
    own = HOME_MADE + "import numpy as np\ngrad = grad + np.random.default_rng(1).normal(0, C, d)\n"
    for source in (seeded, own):
        assert [rule for rule, _ in found(source)] == ["noise-drawn-again"]
        assert noted(source) == []


@pytest.mark.parametrize("case", CASES, ids=[f"{n}-{case[0]}" for n, case in enumerate(CASES)])
def test_the_slip_is_found_inside_a_method_too(case: tuple[str, str, str]) -> None:
    rule, offending, _ = case
    wrapped = "class Trainer:\n    def fit(self):\n" + textwrap.indent(offending, " " * 8)
    assert found(wrapped) == [(rule, slip_line(wrapped))]


SILENT = {
    "delta of another trade": "delta = 1 / len(train_loader)\nprogress.advance(delta)\n",
    "sample rate of audio": "sample_rate = batch_size / len(loader)\n",
    "clipping for stability with gradient noise, no privacy": (
        "for x, y in loader:\n    clip_grad_norm_(model.parameters(), 1.0)\n"
        "    for p in model.parameters():\n        p.grad += torch.randn_like(p.grad) * 0.01\n"
    ),
    "shuffling without accounting": OPACUS + "train = DataLoader(data, batch_size=64, shuffle=True)\n",
    "a loader that is already Poisson": (
        OPACUS + "loader = DataLoader(data, batch_sampler=own_sampler)\n"
        "m, o, private = PrivacyEngine().make_private(data_loader=loader, poisson_sampling=False)\n"
        "engine.get_epsilon(delta=1e-5)\n"
    ),
    "an accountant registered by the user": (
        OPACUS + "engine = PrivacyEngine(accountant='bandmf')\n"
        "engine.make_private(data_loader=d, poisson_sampling=False)\nengine.get_epsilon(delta=1e-5)\n"
    ),
    "an accountant of clients, beside a client's own shuffled batches": (
        OPACUS + "local = DataLoader(client_data, batch_size=8, shuffle=True)\n"
        "accountant.step(noise_multiplier=1.0, sample_rate=0.1)\n"
    ),
    "rate 1: no sampling to account for": (
        OPACUS + "train = DataLoader(data, batch_size=n, shuffle=True)\n"
        "accountant.step(noise_multiplier=1.0, sample_rate=1.0)\n"
    ),
    "the whole data set as one batch": (
        PLD + "train = DataLoader(data, batch_size=len(data), shuffle=True)\n"
        "event = dp_accounting.PoissonSampledDpEvent(1.0, dp_accounting.GaussianDpEvent(1.0))\n"
    ),
    "a bound by another library under the same name": (
        "from mine import compute_eps_uniform\ntarget_epsilon = compute_eps_uniform(1)\n"
    ),
    "another function's loader of the same name": (
        OPACUS + "def fit(model, optimizer, loader):\n"
        "    m, o, private = PrivacyEngine().make_private(module=model, optimizer=optimizer, data_loader=loader)\n"
        "def score(model, loader):\n    for x, y in loader:\n        count(model, x, y)\n"
    ),
    "a search's upper end, which clips nothing": PLD + "max_bound = 100\nnoise = search(max_bound, sensitivity=1)\n",
    "sensitivity 1 beside a noise multiplier": (
        PLD + "clip_norm = 1.5\n"
        "pld = from_gaussian_mechanism(standard_deviation=noise_multiplier, sensitivity=1, sampling_prob=q)\n"
    ),
    "seeding another library than draws the noise": (
        HOME_MADE
        + "import numpy as np\ntorch.manual_seed(0)\ngrad = grad + np.random.normal(0, noise_multiplier * C, d)\n"
    ),
    "a global seed beside noise with its own generator": (
        HOME_MADE
        + "import torch\ntorch.manual_seed(0)\ngrad = grad + torch.normal(0, s * noise_multiplier, d, generator=own)\n"
    ),
    "examples one at a time": (
        HOME_MADE + "loader = DataLoader(data)\nfor x, y in loader:\n    clip_grad_norm_(model.parameters(), C)\n"
        "    for p in model.parameters():\n        p.grad += torch.randn_like(p.grad) * noise_multiplier * C\n"
    ),
    "microbatches clipped one by one": (
        HOME_MADE + "for microbatch in batch:\n    clip_grad_norm_(model.parameters(), C)\n    add(model)\n"
        "for p in model.parameters():\n    p.grad += torch.randn_like(p.grad) * noise_multiplier * C\n"
    ),
    "the share of each microbatch in one draw": (
        HOME_MADE + "for microbatch in parts:\n"
        "    grad = grad + rng.normal(0, noise_multiplier * C / math.sqrt(num_microbatches), d)\n"
        "grad = grad / num_microbatches\n"
    ),
    "noise in the last microbatch only": (
        HOME_MADE + "for i in range(num_microbatches):\n    if i == num_microbatches - 1:\n"
        "        grad = grad + rng.normal(0, noise_multiplier * C, d)\ngrad = grad / num_microbatches\n"
    ),
}


@pytest.mark.parametrize("name", SILENT)
def test_nothing_is_said_of(name: str) -> None:
    assert found(SILENT[name]) == []


KERAS = (
    "from tensorflow_privacy import DPKerasSGDOptimizer\nimport tensorflow as tf\nopt = DPKerasSGDOptimizer(1.0, 1.1)\n"
)
AVERAGED = "loss = tf.keras.losses.CategoricalCrossentropy()"
EACH = "loss = tf.keras.losses.CategoricalCrossentropy(reduction=tf.losses.Reduction.NONE)"


def test_the_other_branch_trains_without_privacy() -> None:
    """As in TF-Privacy's MNIST tutorial for Keras."""
    both = f"{KERAS}if FLAGS.dpsgd:\n    {EACH}\nelse:\n    {AVERAGED}\n"
    assert found(both) == []
    assert [rule for rule, _ in found(f"{KERAS}{AVERAGED}\n")] == ["keras-loss"]


@pytest.mark.parametrize(("name", "rules"), [("load_data", []), ("private_sum", ["noise-drawn-again"])])
def test_the_noise_of_made_data_is_theirs(name: str, rules: list[str]) -> None:
    """As in JAX-Privacy's example, whose synthetic targets have noise."""
    draw = "noise = noise_multiplier * random.normal(key, x.shape)"
    body = f"def {name}(x):\n    key = random.key(3)\n    {draw}\n    return x + noise\n"
    source = f"from jax import random\nimport jax_privacy\n{body}"
    assert [rule for rule, _ in found(source)] == rules
