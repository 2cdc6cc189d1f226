"""Claims that name their observer, and what the PMTL claims cost against each."""

import json
import tomllib
import zipfile
from decimal import ROUND_CEILING, ROUND_FLOOR
from pathlib import Path

import pytest

from dpcert.accounting import epsilon
from dpcert.mechanisms import FixedSize, Gaussian, InputError, Poisson, Repeat
from dpcert.mechanisms.aggregation import SampleCountMean
from dpcert.proofs_checks.certificates.certificate import write
from dpcert.proofs_checks.certificates.stated import NoCertificate
from dpcert.proofs_checks.claims.claim import parse_claim
from dpcert.proofs_checks.claims.observers import _rounded
from dpcert.proofs_checks.verification.verify import verify

ROOT = Path(__file__).resolve().parents[3]
CLAIMS = ROOT / "claims"
WEIGHTED = CLAIMS / "seeds" / "pmtl-reference-code-femnist-weighted.toml"
SHARED = ROOT.parent / "shared" / "data" / "femnist-206-writers.leaf.json.zip"


def tables(scheme="fixed-size", mechanism=None, **claim):
    stated = {"title": "t", "notion": "billboard", "neighbouring": "replace-one", "epsilon": 2.0, "delta": 1e-4}
    sampling = {"scheme": scheme, "population": 40, "cohort": 10}
    noise = mechanism or {"kind": "gaussian", "noise_multiplier": 8.0}
    claimed = {name: value for name, value in (stated | claim).items() if value is not None}
    return {"claim": claimed, "mechanism": noise, "sampling": sampling, "composition": {"rounds": 20}}


def judged(*arguments, **claim):
    return verify(parse_claim(tables(*arguments, **claim)))


def test_no_observer_means_the_coalition_and_is_said():
    silent, said = judged(), judged(observer="coalition")
    assert silent.certified == said.certified
    assert any("the default: the claim does not say" in sentence for sentence in silent.assumptions)
    told = [sentence for sentence in said.assumptions if "all other clients together" in sentence]
    assert told == ["notion: billboard; the attacker is all other clients together, who know which of them took part; "
                    "clients are stateful (the default: the claim does not say)"]  # fmt: skip


def test_observers_in_order_of_what_they_see():
    outside = judged(observer="outside", clients="stateless").certified
    client = judged(observer="client", clients="stateless").certified
    half = judged(observer="coalition", coalition_size=20, clients="stateless").certified
    everybody = judged(observer="coalition", coalition_size=39, clients="stateless").certified
    assert everybody == judged().certified
    assert outside.upper <= client.upper <= half.upper <= everybody.upper
    assert outside.lower <= everybody.lower
    # State takes the hidden cohorts' amplification away; it is the default.
    assert judged(observer="outside").certified.upper == everybody.upper
    assert judged(observer="final-models", clients="stateless").certified == outside


def test_a_verdict_depends_on_the_observer():
    hidden = epsilon(Repeat(FixedSize(Gaussian(8.0), 40, 10), 20), 1e-4, "replace-one")
    seen = judged().certified
    between = (hidden.upper + seen.lower) / 2
    assert hidden.upper < between < seen.lower
    assert judged(epsilon=between).verdict == "refuted"
    assert judged(epsilon=between, observer="outside", clients="stateless").verdict == "holds"


def test_poisson_claims_hold_against_the_coalition():
    amplified = epsilon(Repeat(Poisson(Gaussian(8.0), 0.25), 20), 1e-4, "replace-one")
    result = judged("poisson", epsilon=amplified.upper * (1 + 1e-9))
    assert result.verdict == "holds"
    assert result.certified.upper <= amplified.upper


def test_the_server_behind_a_dp_claim():
    central = judged(notion="dp", observer="server")
    assert central.certified.lower == float("inf")
    assert central.verdict == "refuted"
    assert central.witness is None
    noise = {"kind": "per-client-gaussian", "noise_std": 8.0, "clip_norm": 1.0}
    local = judged(mechanism=noise, notion="dp", observer="server")
    coalition = judged(mechanism=noise)
    averaged = judged(mechanism=noise, notion="dp")
    assert local.certified == coalition.certified  # all others subtract their noise: the client's own is left
    assert local.certified == judged().certified  # z = 8 for one upload, seen participation
    assert averaged.certified.upper < local.certified.lower


def test_hidden_cohorts_do_not_hide_the_noise_that_clients_know():
    noise = {"kind": "per-client-gaussian", "noise_std": 8.0, "clip_norm": 1.0}
    assert judged(mechanism=noise, coalition_sees_participation=False).certified == judged(mechanism=noise).certified


def test_cohorts_said_to_be_hidden_do_not_help_stateful_clients():
    hidden = judged(coalition_sees_participation=False).certified
    stateful = judged(coalition_sees_participation=False, clients="stateful").certified
    stateless = judged(coalition_sees_participation=False, clients="stateless").certified
    assert hidden.lower <= stateless.upper
    assert hidden.upper <= stateless.upper < stateful.upper == judged().certified.upper


def test_certificates_only_for_observers_that_they_can_state(tmp_path):
    for claim in ({}, {"observer": "coalition"}):
        result = judged(**claim)
        assert write(result.claim, result.certified.lower, result.certified.upper, tmp_path).path.exists()
    own_noise = {"kind": "per-client-gaussian", "noise_std": 8.0, "clip_norm": 1.0}
    for result in (judged(observer="client"), judged(notion="dp", observer="coalition"), judged(mechanism=own_noise)):
        with pytest.raises(NoCertificate, match="observer"):
            write(result.claim, result.certified.lower, result.certified.upper, tmp_path)


def test_weighted_means_before_the_server():
    weighted = {"kind": "gaussian-mean", "noise_std": 0.1, "clip_norm": 1.0, "weights": list(range(1, 41))}
    assert judged(mechanism=weighted, notion="dp", observer="server").certified.lower == float("inf")


def test_shuffled_batches_are_one_round_each_to_the_coalition():
    result = judged("shuffle", epsilon=0.1)
    plain = epsilon(Repeat(Gaussian(8.0), 5), 1e-4, "replace-one")
    assert result.certified.lower <= plain.upper
    assert plain.lower <= result.certified.upper
    assert result.certified.width < 1e-9
    assert result.verdict == "refuted"
    assert result.witness is not None
    assert "5 rounds: N(0.25, 1) against N(0, 1)" in result.witness.pair


@pytest.mark.parametrize(
    ("file", "printed", "hidden_lower", "coalition"),
    [
        # printed: what the authors' accountant gives; coalition: the register's PMTL-FIG2, to the digits it prints.
        ("stackoverflow", 15.16, 33.98, 112.7),
        ("femnist", 13.60, 33.87, 61.3),
        ("celeba", 15.51, 34.82, 141.6),
    ],
)
def test_pmtl_figure_2_has_three_numbers(file, printed, hidden_lower, coalition):
    result = verify(CLAIMS / "seeds" / f"pmtl-figure2-{file}.toml")
    assert result.verdict == "refuted"
    assert result.claim.statement.epsilon == printed
    outside, everybody = result.observers
    assert (outside.clients, everybody.clients) == ("stateless", "stateful")
    assert everybody.epsilon.lower == pytest.approx(coalition, abs=0.05)
    assert everybody.epsilon.width < 1e-6
    # The register has 33.99, 33.88, 34.83 for Poisson replace-one, which a hidden fixed cohort attains too.
    assert hidden_lower < outside.epsilon.lower <= outside.epsilon.upper < everybody.epsilon.lower
    assert "who-sees-what" in {finding.id for finding in result.findings}
    written = result.to_json()["observers"]
    assert [entry["observer"] for entry in written] == [outside.observer, everybody.observer]


def test_weights_of_the_reference_code():
    result = verify(WEIGHTED)
    assert result.verdict == "refuted"
    # The register (PCODE-1) says 253 for the largest client at its average weight.
    assert result.certified.lower < 253 < result.certified.upper
    assert result.certified.lower > 12 * result.claim.statement.epsilon
    uniform = tomllib.loads(WEIGHTED.read_text())
    uniform["mechanism"]["weights"] = "uniform"
    assert verify(parse_claim(uniform)).certified.upper < result.certified.lower


def test_the_weighted_claim_carries_the_counts_it_uses():
    counts = tuple(tomllib.loads(WEIGHTED.read_text())["mechanism"]["weights"])
    assert (len(counts), sum(counts), min(counts), max(counts)) == (206, 6237, 5, 69)
    # 2.92 of the register is the largest weight x q beside the 99 lightest others.
    assert 100 * SampleCountMean(0.2, 0.01, counts, 100).largest_weight == pytest.approx(2.92, abs=5e-3)


@pytest.mark.skipif(not SHARED.exists(), reason="the published data set is not here; its counts are in the claim file")
def test_the_counts_are_those_of_the_published_data():
    with zipfile.ZipFile(SHARED) as archive:
        published = json.loads(archive.read(archive.namelist()[0]))["num_samples"]
    assert published == tomllib.loads(WEIGHTED.read_text())["mechanism"]["weights"]


@pytest.mark.parametrize(
    ("claim", "field"),
    [
        ({"observer": "coalition", "coalition_size": 40}, "claim.coalition_size"),
        ({"coalition_size": 3}, "claim.coalition_size"),
        ({"observer": "server"}, "claim.observer"),
        ({"observer": "everyone"}, "claim.observer"),
        ({"observer": "outside", "coalition_sees_participation": False}, "claim.coalition_sees_participation"),
        ({"notion": "dp", "clients": "stateless"}, "claim.clients"),
        ({"observer": "coalition", "clients": "absent-minded"}, "claim.clients"),
        (
            {"notion": "dp", "observer": "server", "mechanism": {"kind": "laplace", "noise_multiplier": 1.0}},
            "claim.observer",
        ),
    ],
)
def test_bad_input(claim, field):
    with pytest.raises(InputError) as caught:
        verify(parse_claim(tables(**claim)))
    assert caught.value.field == field


def test_the_interval_that_is_told_holds_the_certified_one():
    """To the nearest fifth digit, the planted fault, each of these ends would have moved inwards."""
    low, high = 1.234567, 7.685132
    assert float(_rounded(low, ROUND_FLOOR)) <= low < float(f"{low:.5g}")
    assert float(_rounded(high, ROUND_CEILING)) >= high > float(f"{high:.5g}")
