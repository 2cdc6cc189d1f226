"""Others of the kinds that were misread: written otherwise, and with other names."""

from __future__ import annotations

import pytest

from dpcert.proofs_checks.lint import Script, findings

ENGINE = "from opacus import PrivacyEngine\n"
PRIVATE = "engine.make_private(module=model, optimizer=o, data_loader=d, noise_multiplier=1.0, max_grad_norm=1.0"
ASKED = "print(engine.get_epsilon(1e-5))\n"

SLIPS = {
    "noise-variance": "import numpy as np\ndef gaussian_mechanism(value, sigma):\n    variance = sigma ** 2\n"
    "    return value + np.random.normal(0, variance)\n",
    "laplace-after-euclidean-clipping": "import torch\ndef release(g, eps, C):\n    g = g * min(1.0, C / g.norm(2))\n"
    "    return g + torch.distributions.Laplace(0, C / eps).sample(g.shape)\n",
    "other-sampler": ENGINE + "from torch.utils.data import DataLoader, WeightedRandomSampler as W\n"
    "d = DataLoader(data, batch_size=64, sampler=W(weights, 1000))\nengine = PrivacyEngine()\n"
    f"model, o, d = {PRIVATE}, poisson_sampling=False)\n{ASKED}",
    "engine-each-round": f"{ENGINE}for r in range(10):\n    engine = PrivacyEngine()\n"
    f"    model, o, d = {PRIVATE})\n{ASKED}",
}

RIGHT = {
    "an engine for each setting, with a model of its own": f"{ENGINE}for lr in rates:\n    model = Net()\n"
    f"    engine = PrivacyEngine()\n    model, o, d = {PRIVATE})\n    {ASKED}",
    "a number by Laplace": "import torch\ndef release(g, eps, C):\n    total = min(1.0, C / g.norm(2))\n"
    "    return total + torch.distributions.Laplace(0, C / eps).sample()\n",
    "a standard deviation": "import numpy as np\ndef gaussian_mechanism(value, sigma):\n"
    "    return value + np.random.default_rng().normal(0, sigma)\n",
}


@pytest.mark.parametrize("rule", SLIPS)
def test_a_slip_of_the_same_kind_is_found(rule: str) -> None:
    assert rule in {one.rule for one in findings(Script("s.py", SLIPS[rule].encode()))}


@pytest.mark.parametrize("what", RIGHT)
def test_what_is_right_is_left_alone(what: str) -> None:
    found = findings(Script("s.py", RIGHT[what].encode()))
    assert [one for one in found if one.level == "warning"] == []
