"""What certificates state in place of mechanisms that their format has not, against the laws of those mechanisms."""

from __future__ import annotations

import itertools
import json
import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import mpmath as mp
import pytest

from dpcert import epsilon
from dpcert.mechanisms import Repeat, TruncatedLaplace
from dpcert.proofs_checks.certificates import certificate, restated
from dpcert.proofs_checks.certificates.checker import check, format
from dpcert.proofs_checks.claims.claim import parse_claim
from dpcert.proofs_checks.verification.verify import verify

Law = dict[Any, tuple[mp.mpf, mp.mpf]]


def proved(mechanism: dict[str, Any], folder: Path, relation: str = "replace-one", rounds: int = 1, **said: Any) -> Any:
    """The document, after the checker has proved it; epsilon = .9 at delta .02 unless said otherwise."""
    about = {"title": "T", "neighbouring": relation, "epsilon": 0.9, "delta": 0.02} | said
    tables = {"claim": about, "mechanism": mechanism, "composition": {"rounds": rounds}}
    found = verify(parse_claim(tables), certificates=folder)
    assert found.certificate is not None, [finding.text for finding in found.findings]
    assert any(finding.id == "certificate-restates" for finding in found.findings)
    document = json.loads(Path(found.certificate).read_text())
    assert check(document).ok
    return document


def ends(document: Any) -> tuple[float, float]:
    interval = document["interval"]
    return float(interval["epsilon_lower"]), float(interval["epsilon_upper"])


def delta(law: Law, rounds: int, epsilon: float) -> mp.mpf:
    """By enumeration of the outputs of all rounds."""
    total = mp.mpf(0)
    for outputs in itertools.product(law.values(), repeat=rounds):
        p, q = mp.fprod(one for one, _ in outputs), mp.fprod(other for _, other in outputs)
        total += max(p - mp.exp(epsilon) * q, 0)
    return total


def unary(keep: str, false: str) -> Law:
    """All reports of three bits for the first value, and for the second."""
    p, f = (mp.mpf(Fraction(text).numerator) / Fraction(text).denominator for text in (keep, false))
    law = {}
    for bits in itertools.product((0, 1), repeat=3):
        chances = [[(p if place == value else f) for place in range(3)] for value in (0, 1)]
        law[bits] = tuple(mp.fprod(c if b else 1 - c for c, b in zip(each, bits, strict=True)) for each in chances)
    return law


def hadamard(epsilon: float) -> Law:
    """Codewords of two values in a matrix of order four: half of each one's half is the other's."""
    odds, half = mp.exp(epsilon), ({0, 1}, {0, 2})
    return {k: tuple((odds if k in mine else 1) / (2 + 2 * odds) for mine in half) for k in range(4)}


def duchi(epsilon: float) -> Law:
    odds = mp.exp(epsilon)
    return {1: (odds / (1 + odds), 1 / (1 + odds)), 0: (1 / (1 + odds), odds / (1 + odds))}


LAWS = [
    ({"kind": "unary-encoding", "keep": 0.75, "false": 0.25}, unary("0.75", "0.25")),
    ({"kind": "unary-encoding", "keep": 0.5, "false": 0.2}, unary("0.5", "0.2")),
    ({"kind": "hadamard-response", "epsilon": 1.0}, hadamard(1.0)),
    ({"kind": "duchi", "epsilon": 1.0}, duchi(1.0)),
]


@pytest.mark.parametrize("rounds", [1, 2])
@pytest.mark.parametrize(("mechanism", "law"), LAWS)
def test_reports_are_certified_from_both_sides(
    mechanism: dict[str, Any], law: Law, rounds: int, tmp_path: Path
) -> None:
    low, high = ends(proved(mechanism, tmp_path, rounds=rounds))
    assert low > 0.5
    assert high - low < 1e-6  # of two rounds near an atom of the loss
    assert delta(law, rounds, low - 1e-9) > 0.02 > delta(law, rounds, high + 1e-9)


def test_planted_reports_that_say_more_than_they_do_are_caught(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Were a value told in every report, a lower end would be proved that no two values have."""
    mechanism, law = LAWS[2]
    three = restated._three_valued
    monkeypatch.setattr(restated, "_three_valued", lambda m: three(m) | {"least_apart": "1", "most_apart": "1"})
    low, _ = ends(proved(mechanism, tmp_path))
    assert delta(law, 1, low - 1e-9) > 0.02  # its largest loss is right
    document = proved(mechanism, tmp_path, delta=0.3)
    assert ends(document)[1] > 0.05
    assert delta(law, 1, 0.0) < 0.3


def test_a_universal_hash_is_known_from_below_by_what_it_must_do(tmp_path: Path) -> None:
    """Of two values that it maps together with probability 1 / buckets, and of any it maps apart."""
    low, high = ends(proved({"kind": "local-hash", "epsilon": 1.0, "buckets": 4}, tmp_path))
    odds = mp.e
    together = {None: (mp.mpf(1) / 4, mp.mpf(1) / 4)}
    least = together | {k: (mp.mpf(3) / 4 * p, mp.mpf(3) / 4 * q) for k, (p, q) in answers(odds, 4).items()}
    assert delta(least, 1, low - 1e-9) > 0.02 > delta(answers(odds, 4), 1, high + 1e-9)


def answers(odds: mp.mpf, buckets: int) -> Law:
    """The true bucket with odds against each other one."""
    total = odds + buckets - 1
    others = {k: (1 / total, 1 / total) for k in range(2, buckets)}
    return {0: (odds / total, 1 / total), 1: (1 / total, odds / total)} | others


@pytest.mark.parametrize("noise", ["laplace", "gaussian"])
@pytest.mark.parametrize("relation", ["add-remove", "replace-one"])
def test_histograms(noise: str, relation: str, tmp_path: Path) -> None:
    """At least what the sums of known groups show, or a group of the unit's own; and the checker adds up both."""
    mechanism = {"kind": "stable-histogram", "noise": noise, "noise_multiplier": 2.0, "threshold": 20.0}
    low, high = ends(proved(mechanism, tmp_path, relation, epsilon=1.9, delta=1e-3))
    moves = 2 if relation == "replace-one" else 1
    known = {"laplace": [(0.5, math.exp(-0.5) / 2)], "gaussian": normal_events(0.5)}[noise]
    law = {k: (mp.mpf(p), mp.mpf(q)) for k, (p, q) in enumerate(known)}
    law["rest"] = (1 - mp.fsum(p for p, _ in law.values()), 1 - mp.fsum(q for _, q in law.values()))
    assert delta(law, moves, high) < 1e-3
    assert low <= high
    if relation == "add-remove":
        assert low > (1.0 if noise == "gaussian" else 0.49)


def normal_events(mu: float) -> list[tuple[float, float]]:
    """Cells of the line under N(mu, 1) and N(0, 1)."""
    cuts = [mp.mpf(k) / 4 for k in range(-16, 20)]
    return [
        (float(mp.ncdf(b - mu) - mp.ncdf(a - mu)), float(mp.ncdf(b) - mp.ncdf(a))) for a, b in itertools.pairwise(cuts)
    ]


def test_cut_noise(tmp_path: Path) -> None:
    """Truncated Laplace in cells, composed: no less than the certified lower end, and no more than the upper one."""
    mechanism = {"kind": "truncated-laplace", "noise_multiplier": 1.0, "bound": 8.0}
    document = proved(mechanism, tmp_path, "add-remove", epsilon=1.9, delta=1e-2, rounds=2)
    low, high = ends(document)
    cuts = [mp.mpf(k) / 8 for k in range(-64, 73)]

    def below(x: mp.mpf) -> mp.mpf:
        x = min(max(x, mp.mpf(-8)), mp.mpf(8))
        return (mp.exp(-abs(x)) / 2 if x < 0 else 1 - mp.exp(-x) / 2) / (1 - mp.exp(-8))

    merged = [(below(b - 1) - below(a - 1), below(b) - below(a)) for a, b in itertools.pairwise(cuts)]
    law = {k: (max(p, mp.mpf(0)), max(q, mp.mpf(0))) for k, (p, q) in enumerate(merged)}
    assert delta(law, 2, high) <= 1e-2 <= delta(law, 2, low - 0.01)
    assert high - low < 0.02
    failure = document["phases"][1]["mechanism"]
    apart = (math.exp(-7.0) - math.exp(-8.0)) / 2 / (1 - math.exp(-8.0))
    assert apart < float(failure["delta"]) < 3 * apart


def test_planted_noise_whose_failures_are_forgotten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten rounds fail with probability .003: as Laplace noise alone an epsilon below the true one is believed."""
    mechanism = {"kind": "truncated-laplace", "noise_multiplier": 1.0, "bound": 8.0}
    said = {"relation": "add-remove", "rounds": 10, "epsilon": 9.6, "delta": 8e-3}
    truth = epsilon(Repeat(TruncatedLaplace(1.0, 8.0), 10), 8e-3).lower
    honest = proved(mechanism, tmp_path, **said)
    assert ends(certificate.proved(honest, 0.0, 0.99 * truth))[1] > truth
    monkeypatch.setattr(restated, "_failing", lambda failure: {"kind": "approximate-dp", "epsilon": "0", "delta": "0"})
    planted = proved(mechanism, tmp_path, **said)
    assert ends(certificate.proved(planted, 0.0, 0.99 * truth))[1] < truth


GROUPS = [
    ({"kind": "gaussian", "noise_multiplier": 4.0}, {"epsilon": 3.2, "delta": 1e-5}, 3.14679799465868),
    ({"kind": "laplace", "noise_multiplier": 2.0}, {"epsilon": 1.5, "delta": 0}, 1.5),
    ({"kind": "discrete-laplace", "scale": 2.0, "clip": 1}, {"epsilon": 1.5, "delta": 0}, 1.5),
    ({"kind": "pure-dp", "epsilon": 0.5}, {"epsilon": 1.5, "delta": 0}, 1.5),
    ({"kind": "staircase", "epsilon": 0.5, "gamma": 0.4}, {"epsilon": 1.5, "delta": 0}, 1.5),
]


@pytest.mark.parametrize(("mechanism", "stated", "true"), GROUPS)
def test_groups(mechanism: dict[str, Any], stated: dict[str, Any], true: float, tmp_path: Path) -> None:
    """Of three: Gaussian noise with a third of the multiplier (its closed form), three times the largest loss."""
    low, high = ends(proved(mechanism, tmp_path, "add-remove", group=3, **stated))
    assert low <= true * (1 + 1e-12) <= high * (1 + 2e-12) < true * (1 + 1e-9)
    assert low > 0 or mechanism["kind"] in ("pure-dp", "staircase")


PHASES = [{"mechanism": {"kind": "gaussian", "noise_multiplier": z}} for z in (3.0, 2.0, 4.0)]
SAMPLED = [phase | {"sampling": {"scheme": "poisson", "sampling_rate": 0.1}} for phase in PHASES]


def test_phases_that_a_unit_is_in(tmp_path: Path) -> None:
    """Two of three: those with the least noise, mu^2 = 1/4 + 1/9; of sampled ones that differ it is not told."""
    said = {"title": "T", "neighbouring": "add-remove", "phases_per_unit": 2}
    found = verify(parse_claim({"claim": said | {"mu": 0.7}, "phase": PHASES}), certificates=tmp_path)
    assert found.certificate is not None
    document = json.loads(Path(found.certificate).read_text())
    assert check(document).ok
    assert [phase["mechanism"]["noise_multiplier"] for phase in document["phases"]] == ["2.0", "3.0"]
    told = verify(
        parse_claim({"claim": said | {"epsilon": 4.0, "delta": 1e-5}, "phase": SAMPLED}), certificates=tmp_path
    )
    assert told.certificate is None
    assert any("units whose data are in every phase" in finding.text for finding in told.findings)


def test_an_old_certificate_of_a_unit_that_may_move_to_another_phase_is_rejected() -> None:
    """As commits before wrote them: one phase of two like ones, under replace-one, and the source says so. Of phases
    of unsampled noise on sums, and under add-remove, that is all they cost."""
    for relation, phase, right in [
        ("replace-one", SAMPLED[0], False),
        ("add-remove", SAMPLED[0], True),
        ("replace-one", PHASES[0], True),
    ]:
        said = {"title": "T", "neighbouring": relation, "epsilon": 4.0, "delta": 1e-5}
        alone = certificate.certificate(parse_claim({"claim": said} | phase), 0.0, 3.9)
        assert check(alone).ok
        old = alone | {"claim": alone["claim"] | {"source": f"S [certified: {format.OF_SEVERAL}]"}}
        found = check(old | {"digest": format.digest(old)})
        assert found.ok == right, found.reason
        assert right or "phases_per_unit" in found.reason
    every = {"title": "T", "neighbouring": "replace-one", "epsilon": 9.0, "delta": 1e-5, "phases_per_unit": 2}
    assert check(certificate.certificate(parse_claim({"claim": every, "phase": SAMPLED[:2]}), 0.0, 8.9)).ok


NONE = [
    ({"kind": "best-of-several", "gamma": 0.1, "run": {"mechanism": PHASES[0]["mechanism"]}}, {}, "best-of-several"),
    ({"kind": "gaussian", "noise_multiplier": 1.0}, {"group": 2, "sampling": SAMPLED[0]["sampling"]}, "drawn for"),
    ({"kind": "approximate-dp", "epsilon": 0.1, "delta": 1e-7}, {"group": 2}, "no group under approximate-dp"),
]


@pytest.mark.parametrize(("mechanism", "more", "reason"), NONE)
def test_what_has_no_certificate_says_why(
    mechanism: dict[str, Any], more: dict[str, Any], reason: str, tmp_path: Path
) -> None:
    said = {"title": "T", "neighbouring": "add-remove", "epsilon": 9.0, "delta": 1e-5}
    sampling = {name: more[name] for name in ("sampling",) if name in more}
    about = {"claim": said | {k: v for k, v in more.items() if k != "sampling"}, "mechanism": mechanism}
    found = verify(parse_claim(about | sampling), certificates=tmp_path)
    assert found.certificate is None
    assert any(finding.id == "no-certificate" and reason in finding.text for finding in found.findings)


def of_exponential(rounds: int, **claimed: float) -> Any:
    """The certificate of rounds of the exponential mechanism, 0.2 each, that epsilon at delta is this."""
    about = {"title": "T", "neighbouring": "replace-one", "epsilon": 6.0, "delta": 1e-6} | claimed
    tables = {"claim": about, "mechanism": {"kind": "exponential-mechanism", "epsilon": 0.2}}
    claim = parse_claim(tables | {"composition": {"rounds": rounds}})
    return certificate.certificate(claim, 0.0, claim.statement.epsilon)


def test_many_rounds_of_the_exponential_mechanism_are_proved_by_their_range():
    """They hold by their rho of epsilon^2/8; as Laplace noise that is moved as far they would need twice as much."""
    document = of_exponential(100)
    assert document["verdict"] == "holds"
    assert document["phases"][0]["mechanism"]["kind"] == "zcdp"
    assert "rho-zCDP" in document["claim"]["source"]
    for few_rounds in (of_exponential(1, epsilon=0.2), of_exponential(3, epsilon=0.6, delta=0.0)):
        assert few_rounds["phases"][0]["mechanism"]["kind"] == "gradual"
        assert few_rounds["verdict"] == "holds"


def test_the_stated_rho_is_that_of_the_worst_pair_within_the_range():
    """Losses t and t - 0.2 only, which the range's definition allows: at most rho, and not at most 2% less."""
    rho = float(of_exponential(100)["phases"][0]["mechanism"]["rho"])
    found = []
    for t, alpha in itertools.product([0.2 * share / 20 for share in range(1, 20)], (1.01, 2.0, 8.0)):
        p = math.expm1(t - 0.2) / math.expm1(-0.2)
        moment = p * math.exp((alpha - 1) * t) + (1 - p) * math.exp((alpha - 1) * (t - 0.2))
        found.append(math.log(moment) / (alpha - 1) / alpha)
    assert 0.98 * rho < max(found) <= rho
