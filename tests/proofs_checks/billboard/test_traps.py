"""The traps of docs/theory/billboard.md, each by its smallest counterexample in ball arithmetic (Arb, 120 bits).

Every statement is a strict inequality between balls: it is proven up to the correctness of Arb, not measured.
"""

import ast
import re
from pathlib import Path

import pytest
from flint import arb, ctx

from dpcert.accounting.billboard.guarantees import EVERYBODY_ELSE
from dpcert.accounting.billboard.observers import observer_epsilon
from dpcert.mechanisms import FixedSize, Gaussian
from dpcert.mechanisms.aggregation import PerClientNoise, SampleCountMean, UniformMean

ROOT = Path(__file__).resolve().parents[3]
NOTE = ROOT / "docs" / "theory" / "billboard.md"
HALF = arb(1) / 2


@pytest.fixture(autouse=True)
def _precision():
    before, ctx.prec = ctx.prec, 120
    yield
    ctx.prec = before


def gaussian(epsilon, mu):
    """delta of N(mu, 1) against N(0, 1) at epsilon (Balle, Wang 2018, Theorem 8)."""
    eps, shift, root2 = arb(epsilon), arb(mu), arb(2).sqrt()
    return (((eps / shift - shift / 2) / root2).erfc() - eps.exp() * ((eps / shift + shift / 2) / root2).erfc()) / 2


def sampled(epsilon, rate, mu):
    """delta of (1 - p) N(0) + p N(mu) against N(0): p delta_Gauss(log(1 + (e^eps - 1)/p); mu)."""
    p = arb(rate)
    return p * gaussian((1 + (arb(epsilon).exp() - 1) / p).log(), mu)


def test_trap_1_participation():
    """m = 2, q = 1, T = 1, sigma = 2 gamma, eps = 1: client 2 knows whether client 1 took part."""
    mu = arb(1)  # 2 gamma / sigma
    hidden, seen = sampled(1, HALF, mu), HALF * gaussian(1, mu)
    assert 0.028865 < hidden < 0.028875
    assert 0.063465 < seen < 0.063475
    assert seen > 2 * hidden
    # The accountants agree with both, as brackets.
    run = FixedSize(Gaussian(2.0), 2, 1)
    assert observer_epsilon(run, EVERYBODY_ELSE, 0.0634, "replace-one").epsilon.lower > 1.0
    assert observer_epsilon(run, EVERYBODY_ELSE, 0.0635, "replace-one").epsilon.upper < 1.0


def test_trap_2_neighbours():
    """m = 2, q = 1, T = 1: replacing client 1's data moves the release by 2 gamma / q, zeroing it by gamma / q."""
    mean = UniformMean(clip_norm=1.0, noise_std=2.0, cohort=1)
    assert mean.sensitivity("replace-one") == 2 * mean.sensitivity("zero-out") == 2.0
    as_claimed = HALF * gaussian(1, arb(1) / 2)
    true = HALF * gaussian(1, arb(1))
    assert true > 6 * as_claimed


def test_trap_3_weights():
    """m = 2, q = 2, T = 1 (with q = 1 every weight is 1): sample counts 1 and 3 give client 2 the weight 3/4."""
    weighted, uniform = SampleCountMean(1.0, 1.0, (1, 3), 2), UniformMean(1.0, 1.0, 2)
    assert weighted.sensitivity("replace-one") == 1.5
    assert uniform.sensitivity("replace-one") == 1.0
    assert gaussian(1, arb(3) / 2) > 2 * gaussian(1, arb(1))


def test_trap_4_noise_that_colluders_know():
    """m = 2, q = 2, T = 1, each client adds N(0, gamma^2): client 2 subtracts its own noise, so sqrt(2) is gone."""
    aggregation = PerClientNoise(clip_norm=1.0, noise_std=1.0, cohort=2)
    assert aggregation.clients_noise_multiplier(1) == 1.0
    believed, true = gaussian(1, 2 / arb(2).sqrt()), gaussian(1, arb(2))
    assert true > believed + arb(1) / 5


def test_trap_5_the_realised_cohort_as_denominator():
    """m = 2, T = 1, Poisson p = 9/10, sum divided by the realised cohort: a lone client moves the mean by gamma.

    The constant denominator would be p m = 9/5. Whether client 2 takes part is known to client 2; alone (absent: 0) or
    beside -g, client 1's presence moves the mean by gamma either way.
    """
    rate, sigma = arb(9) / 10, arb(1)
    as_claimed = sampled(1, rate, 1 / (sigma * 9 / 5))
    true = sampled(1, rate, 1 / sigma)
    assert true > 3 * as_claimed


def test_trap_6_a_late_round_read_alone():
    """T = 2: client 1 speaks in round 1 only, client 2 repeats what it read: round 2 alone tells neighbours apart."""
    charged_for_round_2_only = arb(0)
    true = gaussian(0, 2 / arb(2).sqrt())  # N(b, 1) read through another N(0, 1), b = +1 or -1
    assert true > charged_for_round_2_only + HALF


def test_the_note_names_only_tests_that_exist():
    text = NOTE.read_text(encoding="utf-8")
    named = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", text)
    assert len(named) >= 12
    for path, name in named:
        tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
        assert name in {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}, f"{path}::{name}"


def test_every_section_that_the_code_cites_is_in_the_note():
    headings = set(re.findall(r"^#+ (.+)$", NOTE.read_text(encoding="utf-8"), flags=re.MULTILINE))
    cited = set()
    for folder in ("accounting", "mechanisms", "proofs_checks"):
        for source in (ROOT / folder).rglob("*.py"):
            text = source.read_text(encoding="utf-8")
            if "billboard.md" in text:
                cited |= {" ".join(name.split()) for name in re.findall(r'[Ss]ections?\s+"([^"]+)"', text)}
    assert len(cited) >= 8
    assert cited <= headings, cited - headings
