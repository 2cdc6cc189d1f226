"""The shipped claims, against accountants that share no code with ours."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path

import pytest
from dp_accounting.pld import privacy_loss_distribution as pld

from dpcert.cli import run
from dpcert.mechanisms import Gaussian, Poisson, Repeat
from dpcert.proofs_checks.claims.claim import load_claim
from dpcert.proofs_checks.verification.verify import verify

FILES = sorted((Path(__file__).parents[3] / "claims").rglob("*.toml"))


def sampled_gaussian(path: Path) -> tuple[float, float, int] | None:
    """(noise multiplier, rate, rounds) where dp-accounting's grid of privacy losses can do it in a second."""
    claim = load_claim(path)
    ran = claim.run
    if claim.statement.neighbouring != "add-remove" or not claim.statement.delta or not isinstance(ran, Repeat):
        return None
    step = ran.mechanism
    if isinstance(step, Poisson) and isinstance(step.mechanism, Gaussian) and step.mechanism.noise_multiplier >= 0.5:
        return step.mechanism.noise_multiplier, step.sampling_rate, ran.rounds
    return None


POISSON = [path for path in FILES if sampled_gaussian(path)]
QUICK = ("abadi16-mnist-e100", "de22-cifar10-epsilon1", "tff-emnist-tutorial")
COMPARED = [path if path.stem in QUICK else pytest.param(path, marks=pytest.mark.nightly) for path in POISSON]


@pytest.mark.parametrize("path", COMPARED, ids=lambda path: path.stem)
def test_intervals_meet_dp_accountings_own(path: Path) -> None:
    """dp-accounting 0.6, optimistic and pessimistic grids of 1e-4.

    Its grids leave out the rounding of its Fourier transforms, about 1e-13 in delta: 1e-3 of epsilon at delta = 1e-9.
    """
    setting = sampled_gaussian(path)
    assert setting is not None
    noise, rate, rounds = setting
    result = verify(path)
    delta, claimed = result.claim.statement.delta, result.claim.statement.epsilon

    def epsilon(pessimistic: bool) -> float:
        one = pld.from_gaussian_mechanism(
            noise,
            sampling_prob=rate,
            value_discretization_interval=1e-4,
            pessimistic_estimate=pessimistic,
            use_connect_dots=pessimistic,
        )
        return float(one.self_compose(rounds).get_epsilon_for_delta(delta))

    low, high, slack = epsilon(False), epsilon(True), 1e-3
    assert low - slack <= result.certified.upper
    assert result.certified.lower <= high + slack
    if high + slack < claimed:
        assert result.verdict == "holds"
    if low - slack > claimed:
        assert result.verdict == "refuted"


def test_there_are_enough_of_them() -> None:
    assert len(FILES) >= 150
    assert len(POISSON) >= 40
    assert {path.parent.name for path in FILES} == {"papers", "deployments", "libraries", "seeds"}


@pytest.mark.parametrize("name", ["bu20-mnist-sigma1.06", "bu20-mnist-sigma0.638", "opacus-issue643-gdp"])
def test_the_central_limit_numbers_are_refuted(name: str) -> None:
    (path,) = (path for path in FILES if path.stem == name)
    result = verify(path)
    assert result.verdict == "refuted"
    assert result.witness is not None
    assert result.witness.delta_at_claimed_epsilon > result.claim.statement.delta


@pytest.mark.parametrize(
    ("name", "named"),
    [
        ("tf-privacy-mnist-60-epochs", "RDP, classic conversion"),
        ("bu20-mnist-sigma1.06", "GDP-CLT"),
        ("de22-cifar10-epsilon1", "RDP, improved conversion"),
        ("chua24-shuffle-as-poisson", "Poisson"),
        ("pmtl-figure2-femnist", "add-remove instead of replace-one"),
    ],
)
def test_printed_digits_are_reproduced_by_the_convention_that_made_them(name: str, named: str) -> None:
    (path,) = (path for path in FILES if path.stem == name)
    assert any(named in convention for convention in verify(path).reproduced_by)


def test_no_file_states_a_verdict() -> None:
    """Verdicts are for the software to find."""
    for path in FILES:
        assert not re.search(r"\b(refuted|undecided)\b", path.read_text(encoding="utf-8")), path


@pytest.mark.nightly
def test_the_whole_main_job(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["verify", "--json", *map(str, FILES)]) == 1
    claims = json.loads(capsys.readouterr().out)["claims"]
    assert len(claims) == len(FILES)
    assert all(claim["witness"] for claim in claims if claim["verdict"] == "refuted")
    verdicts = Counter(claim["verdict"] for claim in claims)
    assert verdicts["undecided"] <= 6, "those of which a bound alone is known"
