"""Each kind of script that was once misread: what blameless ones look like, and what the slips of the same kind do.

The same on the inputs that a development checkout has beside it.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from dpcert.proofs_checks.lint import RULES, Rule, Script, Slip, as_markdown, findings, lint, notebook

OPACUS = "from opacus import PrivacyEngine\nimport torch\nfrom torch import nn\n"
PLD = "import dp_accounting, random\nimport numpy as np\n"
TWO = OPACUS + "a, b = PrivacyEngine(), PrivacyEngine()\n"
HOME = "import numpy as np, torch\nnoise_multiplier = 1.1\n"
POISSON = "event = dp_accounting.PoissonSampledDpEvent(0.01, dp_accounting.GaussianDpEvent(1.0))\n"

BLAMELESS = {
    "huber loss, by keyword": OPACUS
    + "num_examples = 900\nloss = nn.HuberLoss(delta=0.5)\nengine.get_epsilon(delta=1e-4)",
    "huber loss, by a name": OPACUS + "num_examples = 900\ndelta = 1.0\nloss = nn.HuberLoss(delta=delta)\n",
    "huber loss, by a config": OPACUS
    + "num_examples = 900\n@dataclass\nclass Config:\n    delta: float = 1.0\ncfg = Config()\n"
    "loss = nn.HuberLoss(delta=cfg.delta)\n",
    "huber loss, in a dictionary": OPACUS + "num_examples = 900\nsettings = {'loss': 'huber', 'delta': 1.0}\n",
    "linear data": "import numpy as np\nfrom diffprivlib.models import LinearRegression\n"
    "rng = np.random.default_rng(0)\n"
    "X = rng.normal(size=(50, 2))\nw = rng.normal(size=2)\ny = X @ w + rng.normal(size=50)\n"
    "LinearRegression(epsilon=1.0).fit(X, y)",
    "a noisy sine": "import numpy as np\nimport diffprivlib\nnp.random.seed(1)\nx = np.linspace(0, 1, 50)\n"
    "y = np.sin(x) + 0.1 * np.random.randn(50)\n",
    "data for a tensor set": OPACUS
    + "torch.manual_seed(0)\nx = load()\ny = f(x) + torch.randn(50)\nd = torch.utils.data.TensorDataset(x, y)",
    "formula at a literal": "import numpy as np\ntarget_epsilon, target_delta = 0.9, 1e-6\n"
    "sigma = np.sqrt(2 * np.log(1.25 / target_delta)) / target_epsilon",
    "formula behind an assert": "import math\ndef gaussian(target_delta, epsilon, sensitivity):\n"
    "    assert 0 < epsilon < 1\n"
    "    return sensitivity * math.sqrt(2 * math.log(1.25 / target_delta)) / epsilon",
    "formula behind a raise": "import math\ndef gaussian(target_delta, epsilon):\n    if not 0 < epsilon <= 1:\n"
    "        raise ValueError\n    return math.sqrt(2 * math.log(1.25 / target_delta)) / epsilon",
    "formula behind another raise": "import math\ndef gaussian(target_delta, epsilon):\n"
    "    if epsilon > 1.0 or epsilon <= 0:\n"
    "        raise ValueError\n    return math.sqrt(2 * math.log(1.25 / target_delta)) / epsilon",
    "a generator's input": OPACUS + "noise = torch.randn(8, 16)\nfake = generator(noise)\n",
    "a diffusion model's target": OPACUS
    + "noise = torch.randn_like(x)\nnoisy = a * x + b * noise\nloss = nn.functional.mse_loss(model(noisy), noise)\n",
    "coins by hand": PLD + "for _ in range(9):\n    cohort = np.flatnonzero(np.random.random(n) < rate)\n" + POISSON,
    "a sample to look at": PLD + "for _ in range(9):\n    test_users = random.sample(users, 5)\n" + POISSON,
    "a part for public tests": PLD + "chosen = random.sample(users, 5)\n" + POISSON,
    "variance under a root": HOME + "var = (noise_multiplier * C) ** 2\ntotal = total + rng.normal(0, np.sqrt(var), d)",
    "a covariance": HOME + "total = total + rng.multivariate_normal(zeros, (noise_multiplier * C) ** 2 * np.eye(d))",
    "laplace after L1 clipping": HOME + "g = g / max(1, np.linalg.norm(g, ord=1) / clip)\n"
    "total = sum(g) + rng.laplace(0, clip / epsilon, size=d)",
    "laplace with sqrt(d)": HOME + "g = g / max(1, np.linalg.norm(g) / clip)\n"
    "total = sum(g) + rng.laplace(0, np.sqrt(d) * clip / epsilon, size=d)",
    "one number": HOME + "x = x / max(1, np.linalg.norm(x) / clip)\ntotal = total + rng.laplace(0, clip / epsilon)",
    "poisson by default": OPACUS + "@dataclass\nclass Config:\n    poisson: bool = True\n"
    "def run(cfg):\n    engine = PrivacyEngine()\n"
    "    engine.make_private(module=m, poisson_sampling=cfg.poisson)\n    engine.get_epsilon(1e-5)",
    "set when it is made": OPACUS + "@dataclass\nclass Config:\n    poisson: bool = False\n"
    "cfg = Config(poisson=True)\n"
    "engine = PrivacyEngine()\nengine.make_private(module=m, poisson_sampling=cfg.poisson)\nengine.get_epsilon(1e-5)",
    "a sampler of its own for tests": OPACUS + "loader = torch.utils.data.DataLoader(d, sampler=RandomSampler(d))\n"
    "m, o, loader = PrivacyEngine().make_private(module=m, optimizer=o, data_loader=loader)",
    "an engine for each learning rate": OPACUS
    + "for lr in (0.1, 0.2):\n    engine = PrivacyEngine()\n    engine.get_epsilon(1e-5)",
    "noise of a distribution, at a standard deviation": HOME + "variance = (noise_multiplier * clip) ** 2\n"
    "g = g + torch.distributions.Normal(0, variance ** 0.5).sample(g.shape)",
    "two engines on two parts": TWO + "m, o, l = a.make_private(module=m, optimizer=o, data_loader=first_half)\n"
    "n, p, k = b.make_private(module=n, optimizer=p, data_loader=second_half)\na.get_epsilon(1e-5)",
    "one engine or another": TWO + "if args.epsilon:\n    m, o, l = a.make_private(module=m, data_loader=loader)\n"
    "else:\n    m, o, l = b.make_private(module=m, data_loader=loader)\na.get_epsilon(1e-5)",
    "one engine or another, after a return": TWO + "def run(loader):\n    if args.epsilon:\n"
    "        m, o, l = a.make_private(module=m, data_loader=loader)\n        return a.get_epsilon(1e-5)\n"
    "    m, o, l = b.make_private(module=m, data_loader=loader)\n    return b.get_epsilon(1e-5)",
    "two engines with one accountant": TWO + "b.accountant = a.accountant\n"
    "m, o, l = a.make_private(module=m, data_loader=loader)\n"
    "n, p, k = b.make_private(module=n, data_loader=loader)\na.get_epsilon(1e-5)",
    "an engine that is made elsewhere": OPACUS + "def make():\n    return PrivacyEngine()\nengine = make()\n"
    "for epoch in range(9):\n    engine.get_epsilon(1e-5)",
}

SLIPS = {
    "two engines on one loader": (
        "two-engines",
        TWO + "m, o, l = a.make_private(module=m, data_loader=loader)\n"
        "n, p, k = b.make_private(module=n, data_loader=loader)  # slip\nprint(a.get_epsilon(1e-5))",
    ),
    "two engines on one data set": (
        "two-engines",
        TWO + "first = torch.utils.data.DataLoader(train_set, batch_size=50)\n"
        "second = torch.utils.data.DataLoader(dataset=train_set, batch_size=70)\n"
        "m, o, l = a.make_private(module=m, data_loader=first)\n"
        "n, p, k = b.make_private_with_epsilon(module=n, data_loader=second, target_epsilon=2.0)  # slip",
    ),
    "one name for two engines": (
        "two-engines",
        OPACUS + "engine = PrivacyEngine()\nm, o, l = engine.make_private(module=m, data_loader=loader)\n"
        "print(engine.get_epsilon(1e-5))\nengine = PrivacyEngine()\n"
        "n, p, k = engine.make_private(module=n, data_loader=loader)  # slip",
    ),
    "a square, added in place": ("noise-variance", HOME + "g.add_(torch.randn_like(g) * (sigma * C) ** 2)  # slip"),
    "a square, as alpha": ("noise-variance", HOME + "g.add_(torch.randn_like(g), alpha=sigma ** 2)  # slip"),
    "a square, as a power": ("noise-variance", HOME + "g = g + rng.normal(0, np.power(sigma * C, 2), d)  # slip"),
    "a square, of a tensor": ("noise-variance", HOME + "g = g + sigma.pow(2) * torch.randn_like(g)  # slip"),
    "a variance, by a formula": (
        "noise-variance",
        HOME + "g = g + rng.normal(0, 2 * np.log(1.25 / d) * sensitivity ** 2 / epsilon ** 2, 3)  # slip",
    ),
    "a variance, by its name": (
        "noise-variance",
        HOME + "var = 2 * np.log(1.25 / d) * 1.0 ** 2 / 0.5 ** 2\ng = g + rng.normal(0, var, 3)  # slip",
    ),
    "a distribution of this variance": (
        "noise-variance",
        HOME + "noise = torch.distributions.Normal(0, sigma ** 2)  # slip\ng = g + noise.sample(g.shape)",
    ),
    "delta by the accountant": (
        "delta-above-one-over-n",
        OPACUS + "num_examples = 900\nengine.get_epsilon(delta=0.01)  # slip",
    ),
    "delta by a name": (
        "delta-above-one-over-n",
        OPACUS + "num_examples = 900\ndelta = 0.01  # slip\nengine.get_epsilon(delta)",
    ),
    "noise on real data": (
        "noise-drawn-again",
        HOME + "np.random.seed(1)\nx = load()\nanswer = x.sum() + np.random.normal(0, noise_multiplier)  # slip",
    ),
    "formula at a large literal": (
        "gaussian-formula",
        "import numpy as np\ntarget_epsilon = 4.0\n"
        "sigma = np.sqrt(2 * np.log(1.25 / target_delta)) / target_epsilon  # slip",
    ),
    "formula behind a loose guard": (
        "gaussian-formula",
        "import math\ndef gaussian(target_delta, epsilon):\n    assert epsilon < 10\n"
        "    return math.sqrt(2 * math.log(1.25 / target_delta)) / epsilon  # slip",
    ),
    "formula behind a guard the other way": (
        "gaussian-formula",
        "import math\ndef gaussian(target_delta, epsilon):\n    if epsilon < 1:\n        raise ValueError\n"
        "    return math.sqrt(2 * math.log(1.25 / target_delta)) / epsilon  # slip",
    ),
    "random.sample": (
        "fixed-cohort-as-poisson",
        PLD + POISSON + "for _ in range(9):\n    cohort = random.sample(users, 5)  # slip",
    ),
    "choice": (
        "fixed-cohort-as-poisson",
        PLD + POISSON + "for _ in range(9):\n    idx = rng.choice(n, batch_size, replace=False)  # slip",
    ),
    "choice with replacement": (
        "fixed-cohort-as-poisson",
        PLD + POISSON + "def round(rng):\n    for user in rng.choice(n, size=k):  # slip\n        train(user)",
    ),
    "the first of an order": (
        "fixed-cohort-as-poisson",
        PLD + POISSON + "while t < T:\n    batch = torch.randperm(n)[:k]  # slip",
    ),
    "beside our own accountant": (
        "fixed-cohort-as-poisson",
        "import random\nfrom dpcert import Gaussian, Poisson, epsilon\nfor _ in range(9):\n"
        "    clients = random.sample(everybody, 5)  # slip\nrun = Poisson(Gaussian(1.0), 0.1)",
    ),
    "a squared scale": (
        "noise-variance",
        HOME + "total = total + torch.normal(0, sigma ** 2, total.shape, generator=g)  # slip",
    ),
    "a variance by name": ("noise-variance", HOME + "total = total + rng.normal(0, noise_variance, d)  # slip"),
    "a product with itself": ("noise-variance", HOME + "total += rng.normal(scale=sigma * sigma)  # slip"),
    "laplace after clip_by_norm": (
        "laplace-after-euclidean-clipping",
        HOME + "g = tf.clip_by_norm(g, clip)\ntotal = g + rng.laplace(0, clip / epsilon, g.shape)  # slip",
    ),
    "laplace after a named norm": (
        "laplace-after-euclidean-clipping",
        HOME + "length = np.linalg.norm(g)\ng = g * min(1, clip / length)\n"
        "total = g + rng.laplace(0, clip / e, size=d)  # slip",
    ),
    "options in a dictionary": (
        "poisson-accounting",
        OPACUS + "settings = {'poisson_sampling': False}\nengine = PrivacyEngine()\n"
        "engine.make_private(module=m, **settings)  # slip\nengine.get_epsilon(1e-5)",
    ),
    "our adapter": (
        "poisson-accounting",
        OPACUS + "engine = PrivacyEngine(accountant='dpcert')\n"
        "engine.make_private(module=m, poisson_sampling=False)  # slip\nengine.get_epsilon(1e-5)",
    ),
    "two engines, one with an accountant of its own": (
        "poisson-accounting",
        OPACUS + "one, other = PrivacyEngine(), PrivacyEngine(accountant='mine')\n"
        "one.make_private(module=m, poisson_sampling=False)  # slip\n"
        "other.make_private(module=m, poisson_sampling=False)\none.get_epsilon(1e-5)",
    ),
    "two engines, one that samples": (
        "poisson-accounting",
        OPACUS + "one, other = PrivacyEngine(), PrivacyEngine()\n"
        "one.make_private(module=m, poisson_sampling=False)  # slip\nother.make_private(module=m)\n"
        "one.get_epsilon(1e-5)",
    ),
    "a part of the data by its sampler": (
        "other-sampler",
        OPACUS
        + "from torch.utils.data import *\nloader = DataLoader(d, 8, sampler=SubsetRandomSampler(train))  # slip\n"
        "m, o, loader = PrivacyEngine().make_private(module=m, optimizer=o, data_loader=loader)",
    ),
    "an engine in rounds that no name counts": (
        "engine-each-round",
        OPACUS + "for _ in range(num_rounds):\n    engine = PrivacyEngine()  # slip\n    engine.get_epsilon(1e-5)",
    ),
    "an engine in a function that each round calls": (
        "engine-each-round",
        OPACUS + "def one():\n    engine = PrivacyEngine()  # slip\n    return engine.get_epsilon(1e-5)\n"
        "for epoch in range(9):\n    one()",
    ),
}


def said(source: str) -> list[tuple[str, int]]:
    return [(found.rule, found.line) for found in findings(Script("s.py", source.encode())) if found.level == "warning"]


@pytest.mark.parametrize("name", BLAMELESS)
def test_nothing_is_said_of_the_blameless(name: str) -> None:
    assert said(BLAMELESS[name]) == []


@pytest.mark.parametrize("name", SLIPS)
def test_slips_of_the_same_kind_are_found(name: str) -> None:
    rule, source = SLIPS[name]
    line = next(number for number, text in enumerate(source.splitlines(), 1) if "# slip" in text)
    assert said(source) == [(rule, line)]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_a_rule_s_own_examples_are_what_they_say(rule: Rule) -> None:
    line = next(number for number, text in enumerate(rule.bad.splitlines(), 1) if text.endswith("# slip"))
    found = findings(Script("bad.py", rule.bad.encode()))
    assert [(one.rule, one.line) for one in found if one.level == rule.level] == [(rule.id, line)]
    assert [one for one in findings(Script("good.py", rule.good.encode())) if one.level == rule.level] == []
    assert rule.id in str(rule)
    assert f"| `{rule.id}` |" in as_markdown((rule,))


def test_the_guide_s_tables_are_made_from_the_rules() -> None:
    text = (Path(__file__).parents[3] / "docs" / "lint.md").read_text(encoding="utf-8")
    for level in ("warning", "note"):
        assert as_markdown(tuple(rule for rule in RULES if rule.level == level)) in text


def test_a_made_up_rule_is_one_object() -> None:
    """What a file of rules/ holds, by public names alone."""

    def greetings(script: Script):
        yield from ((call, Slip("it greets", "be silent")) for call in script.calls if script.tail(call) == "hello")

    rule = Rule(
        "greetings",
        "`hello()`",
        "It is loud.",
        "nothing",
        greetings,
        "import opacus\nhello()  # slip\n",
        "import opacus\n",
    )
    found = findings(Script("s.py", rule.bad.encode()), [rule])
    assert [str(one) for one in found] == ["s.py:2:1: greetings: It greets. Fix: be silent."]


def test_every_rule_that_a_file_of_the_folder_states_is_one() -> None:
    folder = Path(__file__).parents[3] / "proofs_checks" / "lint" / "rules"
    stated = [
        name for file in folder.glob("*.py") for name in re.findall(r"^    id=\"(.*)\",$", file.read_text(), re.M)
    ]
    assert len(stated) >= 28
    assert sorted(stated) == [rule.id for rule in RULES]


def test_cells_that_are_not_python_are_named_and_the_others_read(tmp_path: Path) -> None:
    cells = [
        "from opacus import PrivacyEngine\ndelta = 1 / len(train_loader)",
        "pip install opacus",
        "x = (",
        "print(1)",
    ]
    document = {"cells": [{"cell_type": "code", "source": cell} for cell in cells]}
    (tmp_path / "n.ipynb").write_text(json.dumps(document))
    report = lint([tmp_path])
    assert [(one.rule, one.cell, one.line) for one in report.findings] == [("delta-from-batches", 1, 2)]
    assert [f"cell {number} is not Python" in file.reason for number, file in zip((2, 3), report.bad, strict=True)] == [
        True
    ] * 2
    assert len(notebook("n.ipynb", (tmp_path / "n.ipynb").read_bytes()).unread) == 2


CASES = Path(__file__).parents[4] / "shared" / "cases"
EXPECTED = {
    "huber": set(),
    "toy_np": set(),
    "toy": set(),
    "const": set(),
    "gan": set(),
    "np_choice": {"fixed-cohort-as-poisson"},
    "tff_fixed": {"fixed-cohort-as-poisson"},
    "var1": {"noise-variance"},
    "lap_l2b": {"laplace-after-euclidean-clipping"},
    "lora2": {"poisson-accounting"},
    "weighted_sampler": {"other-sampler"},
}


@pytest.mark.skipif(not CASES.exists(), reason="the development folder is not there; the kinds above are its twins")
@pytest.mark.parametrize("name", EXPECTED)
def test_the_inputs_that_were_misread(name: str) -> None:
    found = findings(Script(name, (CASES / f"{name}.py").read_bytes()))
    assert {one.rule for one in found if one.level == "warning"} == EXPECTED[name]
    if not EXPECTED[name]:
        assert found == []
