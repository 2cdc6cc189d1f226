"""The claims loader: what a file says ran, and one clear error for everything that can be wrong with one."""

from __future__ import annotations

import copy
import importlib
import os
import tomllib
from fractions import Fraction
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest

from dpcert.mechanisms import (
    BandedFactorisation,
    DiscreteGaussian,
    FixedSize,
    Gaussian,
    InputError,
    Laplace,
    Poisson,
    RandomizedResponse,
    Repeat,
    Sequence,
    Shuffled,
    Skellam,
    ToeplitzFactorisation,
    TreeAggregation,
    TruncatedPoisson,
    Zcdp,
)
from dpcert.proofs_checks.claims.claim import load_claim, parse_claim
from dpcert.proofs_checks.verification.verify import verify

FEMNIST = """
[claim]
title = "PMTL on FEMNIST"
source = "a paper"
notion = "billboard"
unit = "client"
neighbouring = "replace-one"
epsilon = 13.6
delta = 0.004878
coalition_sees_participation = true

[mechanism]
kind = "gaussian-mean"
noise_std = 0.01
clip_norm = 0.2
weights = "uniform"

[sampling]
scheme = "fixed-size"
population = 205
cohort = 100

[composition]
rounds = 1000
"""


def femnist(**changes: Any) -> dict[str, Any]:
    """The parsed claim with dotted keys replaced; ... removes one."""
    tables = copy.deepcopy(tomllib.loads(FEMNIST))
    for dotted, value in changes.items():
        *path, last = dotted.split("__")
        table = tables
        for step in path:
            table = table[step]
        if value is ...:
            del table[last]
        else:
            table[last] = value
    return tables


def plain(mechanism: dict[str, Any], sampling: dict[str, Any] | None = None, rounds: int = 1) -> dict[str, Any]:
    tables: dict[str, Any] = {
        "claim": {"title": "t", "neighbouring": "replace-one", "epsilon": 1.0, "delta": 1e-5},
        "mechanism": mechanism,
        "composition": {"rounds": rounds},
    }
    return tables | ({"sampling": sampling} if sampling else {})


def test_the_documented_claim_is_read() -> None:
    claim = parse_claim(tomllib.loads(FEMNIST), "femnist.toml")
    assert claim.file == "femnist.toml"
    assert claim.statement.notion == "billboard"
    assert claim.statement.participation is None
    assert claim.run == Repeat(FixedSize(Gaussian(5.0), 205, 100), 1000)
    assert claim.attained_run == claim.run


@pytest.mark.parametrize(
    ("mechanism", "expected"),
    [
        ({"kind": "gaussian", "noise_multiplier": 1.5}, Gaussian(1.5)),
        ({"kind": "laplace", "noise_multiplier": 2}, Laplace(2.0)),
        ({"kind": "discrete-gaussian", "sigma": 3.0, "clip": 2}, DiscreteGaussian(3.0, 2)),
        ({"kind": "randomized-response", "flip_probability": 0.25, "categories": 3}, RandomizedResponse(0.25, 3)),
        ({"kind": "zcdp", "rho": 0.5}, Zcdp(0.5)),
    ],
)
def test_kinds(mechanism: dict[str, Any], expected: object) -> None:
    assert parse_claim(plain(mechanism, rounds=7)).run == Repeat(expected, 7)  # type: ignore[arg-type]


def test_sampling_schemes() -> None:
    noise = {"kind": "gaussian", "noise_multiplier": 1.0}
    by_rate = parse_claim(plain(noise, {"scheme": "poisson", "sampling_rate": 0.25}))
    by_sizes = parse_claim(plain(noise, {"scheme": "poisson", "population": 400, "cohort": 100}))
    assert by_rate.run == by_sizes.run == Repeat(Poisson(Gaussian(1.0), 0.25), 1)
    shuffled = parse_claim(plain(noise, {"scheme": "shuffle", "population": 400, "cohort": 100}, rounds=12))
    assert shuffled.run == Repeat(Shuffled(Gaussian(1.0), batches=4, full_batches=4), rounds=3)


def test_noise_before_averaging_shrinks_with_the_root_of_the_cohort() -> None:
    """DPFedMTL on FEMNIST: K = 3 of M = 174, sigma = 9.69, S = 2CK/M: z = 2 sigma K^1.5 / M for clip units."""
    table = {"kind": "per-client-gaussian", "noise_std": 9.69 * 2 * 3 / 174, "clip_norm": 1.0}
    run = parse_claim(plain(table, {"scheme": "fixed-size", "population": 174, "cohort": 3})).run
    assert isinstance(run, Repeat)
    assert isinstance(run.mechanism, FixedSize)
    assert run.mechanism.mechanism.noise_multiplier == pytest.approx(2 * 9.69 * 3**1.5 / 174, rel=1e-12)  # type: ignore[attr-defined]


def test_weighted_mean_takes_the_worst_and_the_best_cohort_of_the_heaviest_client() -> None:
    weights = [5, 1, 2, 3]
    table = {"kind": "gaussian-mean", "noise_std": 0.1, "clip_norm": 1.0, "weights": weights}
    claim = parse_claim(plain(table, {"scheme": "fixed-size", "population": 4, "cohort": 2}))
    worst, best = Fraction(5, 5 + 1), Fraction(5, 5 + 3)
    upper, lower = claim.run, claim.attained_run
    assert isinstance(upper, Repeat)
    assert isinstance(lower, Repeat)
    assert upper.mechanism.mechanism.noise_multiplier == pytest.approx(0.1 / float(worst))  # type: ignore[attr-defined]
    assert lower.mechanism.mechanism.noise_multiplier == pytest.approx(0.1 / float(best))  # type: ignore[attr-defined]


def test_equal_weights_are_the_uniform_mean() -> None:
    listed = parse_claim(femnist(mechanism__weights=[1.0] * 205))
    uniform = parse_claim(femnist())
    z = [c.run.mechanism.mechanism.noise_multiplier for c in (listed, uniform)]  # type: ignore[attr-defined]
    assert z[0] == pytest.approx(z[1], rel=1e-12)


def test_a_bound_on_weights_attains_nothing() -> None:
    claim = parse_claim(femnist(mechanism__weights=0.02))
    assert claim.attained_run is None


def test_phases_compose() -> None:
    tables = femnist(mechanism=..., sampling=..., composition=...)
    tables["phase"] = [
        {"mechanism": {"kind": "gaussian", "noise_multiplier": 2.0}, "composition": {"rounds": 3}},
        {"mechanism": {"kind": "zcdp", "rho": 0.1}},
    ]
    assert parse_claim(tables).run == Sequence((Repeat(Gaussian(2.0), 3), Repeat(Zcdp(0.1), 1)))


def test_the_interval_of_a_rounded_number_sets_the_threshold() -> None:
    assert parse_claim(femnist()).statement.threshold == 13.6
    assert parse_claim(femnist(claim__epsilon_interval=[13.55, 13.65])).statement.threshold == 13.65


def test_the_printed_digits_are_kept(tmp_path: Path) -> None:
    for written in ("13.60", "13.6", "14", "1.36e1"):
        path = tmp_path / "claim.toml"
        path.write_text(FEMNIST.replace("13.6", written))
        assert load_claim(path).printed == written


BAD = [
    ("claim.epsilon", {"claim__epsilon": float("nan")}, "finite number"),
    ("claim.epsilon", {"claim__epsilon": float("inf")}, "finite number"),
    ("claim.epsilon", {"claim__epsilon": -1.0}, "at least 0"),
    ("claim.epsilon", {"claim__epsilon": "13.6"}, "finite number"),
    ("claim.epsilon", {"claim__epsilon": True}, "finite number"),
    ("claim.epsilon", {"claim__epsilon": ...}, "a value"),
    ("claim.delta", {"claim__delta": 1}, "at least 0 and below 1"),
    ("claim.delta", {"claim__delta": -1e-5}, "at least 0 and below 1"),
    ("claim.neighbouring", {"claim__neighbouring": "swap"}, "one of"),
    ("claim.neighbouring", {"claim__neighbouring": ...}, "one of add-remove, replace-one, zero-out"),
    ("claim.notion", {"claim__notion": "DP"}, "one of"),
    ("claim.title", {"claim__title": " "}, "text"),
    ("claim.unit", {"claim__unit": 5}, "text"),
    ("claim.title", {"claim__title": "\x1b[31mred"}, "printable"),
    ("claim.epsilom", {"claim__epsilom": 1.0}, "no such key"),
    ("claim.coalition_sees_participation", {"claim__coalition_sees_participation": "yes"}, "true or false"),
    ("claim.coalition_sees_participation", {"claim__notion": "dp"}, "no coalition"),
    ("claim.epsilon_interval", {"claim__epsilon_interval": [14.0, 15.0]}, "around epsilon"),
    ("claim.epsilon_interval", {"claim__epsilon_interval": [14.0]}, "two numbers"),
    ("claim.epsilon_interval", {"claim__epsilon_interval": [13.0, 100.0]}, "one unit of its last digit"),
    (
        "claim.epsilon_interval",
        {"claim__epsilon": 10.0, "claim__epsilon_interval": [9.5, 11.5]},
        "and at most 1",
    ),
    ("claim", {"claim": ...}, "a value"),
    ("claim", {"claim": 3}, "a table"),
    ("mechanism", {"mechanism": ...}, "[mechanism] table"),
    ("mechanism.kind", {"mechanism__kind": ...}, "one of"),
    ("mechanism.kind", {"mechanism__kind": "gaussien"}, "one of"),
    ("sampling.max_cohort", {"sampling__max_cohort": 100}, "takes no max_cohort"),
    ("mechanism.noise_std", {"mechanism__noise_std": -0.1}, "at least 0"),
    ("mechanism.noise_std", {"mechanism__noise_std": float("inf")}, "finite number"),
    ("mechanism.noise_multiplier", {"mechanism__noise_multiplier": 1.0}, "no such key"),
    ("mechanism.weights", {"mechanism__weights": "equal"}, "uniform"),
    ("mechanism.weights", {"mechanism__weights": []}, "uniform"),
    ("mechanism.weights", {"mechanism__weights": [1.0, 2.0]}, "population of 205"),
    ("mechanism.weights", {"mechanism__weights": 1.5}, "uniform"),
    ("sampling.scheme", {"sampling__scheme": "Fixed-size"}, "one of"),
    ("sampling.cohort", {"sampling__scheme": "random-allocation", "sampling__block": 10}, "takes no cohort"),
    ("sampling.block", {"sampling__block": 10}, "takes no block"),
    ("sampling.cohort", {"sampling__cohort": 206}, "at most the population"),
    ("sampling.cohort", {"sampling__cohort": ...}, "fixed-size"),
    ("sampling.population", {"sampling__population": 0}, "at least 1"),
    ("sampling.sampling_rate", {"sampling__sampling_rate": 0.5}, "takes no sampling_rate"),
    ("sampling.sampling_rate", {"sampling__scheme": "poisson", "sampling__sampling_rate": 1.5}, "at most 1"),
    ("sampling.sampling_rate", {"sampling__scheme": "poisson", "sampling__sampling_rate": 0.4}, "cohort / population"),
    ("sampling.cohort", {"sampling__scheme": "none"}, "takes no cohort"),
    ("sampling.cohort", {"sampling__scheme": "shuffle"}, "divisor"),
    ("composition.rounds", {"composition__rounds": 0}, "at least 1"),
    ("composition.rounds", {"composition__rounds": 10.5}, "whole number"),
    ("composition.rounds", {"composition__rounds": 10**400}, "whole number"),
    ("composition.epochs", {"composition__epochs": 3}, "nothing beside rounds"),
    ("mechanism", {"phase": [{"mechanism": {"kind": "zcdp", "rho": 1.0}}]}, "beside [[phase]]"),
    ("phase", {"mechanism": ..., "sampling": ..., "composition": ..., "phase": []}, "at least one"),
    ("phase.0.mechanism", {"mechanism": ..., "sampling": ..., "composition": ..., "phase": [{}]}, "a value"),
]


@pytest.mark.parametrize(("field", "changes", "expectation"), BAD)
def test_bad_fields_are_named(field: str, changes: dict[str, Any], expectation: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_claim(femnist(**changes))
    assert caught.value.field == field
    assert expectation in caught.value.expected
    assert "\n" not in str(caught.value)


def test_shuffled_epochs_must_be_whole() -> None:
    tables = plain(
        {"kind": "gaussian", "noise_multiplier": 1.0}, {"scheme": "shuffle", "population": 8, "cohort": 2}, rounds=6
    )
    with pytest.raises(InputError, match="whole epochs"):
        parse_claim(tables)


def test_add_remove_of_a_normalised_weight_is_refused() -> None:
    tables = plain({"kind": "gaussian-mean", "noise_std": 1.0, "clip_norm": 1.0, "weights": [1, 2]}, {"population": 2})
    tables["claim"]["neighbouring"] = "add-remove"
    with pytest.raises(InputError, match="changes all other weights"):
        parse_claim(tables)


@pytest.mark.parametrize(
    ("content", "expectation"),
    [
        (b"", "empty"),
        (b" \n\t\n", "empty"),
        (b"# only a comment\n", "there is nothing in it"),
        (FEMNIST[:57].encode(), "valid TOML"),
        (FEMNIST[: FEMNIST.index("epsilon")].encode(), "a value"),
        (FEMNIST.encode("utf-16"), "UTF-8"),
        ('[claim]\ntitle = "é"'.encode("latin-1"), "UTF-8"),
        (b"\x00\x01\x02", "valid TOML"),
        (b"[claim]\n[claim]\n", "valid TOML"),
        (b"x = " + b"[" * 5000 + b"]" * 5000, "nested"),
        (b"x = " + b"1" * 5000, "valid TOML"),
        (b"#" * 1_000_001, "more than 1,000,000 bytes"),
    ],
)
def test_bad_files(tmp_path: Path, content: bytes, expectation: str) -> None:
    path = tmp_path / "claim.toml"
    path.write_bytes(content)
    with pytest.raises(InputError) as caught:
        load_claim(path)
    assert expectation in str(caught.value)
    assert "\n" not in str(caught.value)


def test_missing_file_and_directory(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is a folder"):
        load_claim(tmp_path)
    with pytest.raises(InputError, match="does not exist"):
        load_claim(tmp_path / "no.toml")
    with pytest.raises(InputError, match="cannot be read"):
        load_claim("a\0b")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_a_pipe_is_refused_before_anybody_waits_for_it(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "claim.toml")
    with pytest.raises(InputError, match="is a pipe or a device"):
        load_claim(tmp_path / "claim.toml")


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_unreadable_file(tmp_path: Path) -> None:
    path = tmp_path / "claim.toml"
    path.write_text(FEMNIST)
    path.chmod(0)
    with pytest.raises(InputError, match="cannot be read"):
        load_claim(path)


def test_a_byte_order_mark_is_no_problem(tmp_path: Path) -> None:
    path = tmp_path / "claim.toml"
    path.write_bytes(FEMNIST.encode("utf-8-sig"))
    assert load_claim(path).statement.epsilon == 13.6


def test_every_shipped_claim_loads() -> None:
    files = sorted((Path(__file__).parents[3] / "claims").rglob("*.toml"))
    assert len(files) >= 150
    for file in files:
        claim = load_claim(file)
        assert claim.statement.author, file
        assert claim.statement.year, file
        assert claim.statement.source != "not stated", file
        assert claim.statement.convention, file
        if any(phase.mechanism.kind == "per-client-gaussian" for phase in claim.phases):
            assert any("still adds its noise" in text for text in claim.statement.assumed), "for which relation?"


CORRELATED = {
    "claim": {"title": "tree", "neighbouring": "zero-out", "epsilon": 8.9, "delta": 1e-10},
    "mechanism": {"kind": "tree-aggregation", "noise_multiplier": 7.0, "min_separation": 314, "max_participations": 6},
    "composition": {"rounds": 2000},
}
TOEPLITZ = {"kind": "matrix-factorisation", "noise_multiplier": 2.0, "coefficients": [1.0, 0.5], "min_separation": 5}
NORMS = {
    "kind": "matrix-factorisation",
    "noise_multiplier": 2.0,
    "column_norms": [1.0],
    "bands": 4,
    "min_separation": 5,
}


def test_correlated_rounds_are_one_release() -> None:
    assert parse_claim(CORRELATED).run == Repeat(TreeAggregation(7.0, 2000, 314, 6), 1)
    toeplitz = parse_claim(CORRELATED | {"mechanism": TOEPLITZ}).run
    assert toeplitz == Repeat(ToeplitzFactorisation(2.0, (1.0, 0.5), 2000, 5), 1)
    norms = parse_claim(CORRELATED | {"mechanism": NORMS}).run
    assert norms == Repeat(BandedFactorisation(2.0, (1.0,) * 2000, 4, 5), 1)


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"sampling": {"scheme": "poisson", "sampling_rate": 0.1}}, "sampling.scheme"),
        ({"mechanism": CORRELATED["mechanism"] | {"min_separation": 0}}, "mechanism.min_separation"),
        ({"mechanism": TOEPLITZ | {"coefficients": []}}, "mechanism.coefficients"),
        ({"mechanism": TOEPLITZ | {"coefficients": [1.0, -1.0]}}, "mechanism.coefficients[1]"),
        ({"mechanism": TOEPLITZ | {"bands": 2}}, "mechanism.bands"),
        ({"mechanism": NORMS | {"bands": 9}}, "bands"),
        ({"mechanism": NORMS | {"column_norms": [1.0, 2.0]}}, "column_norms"),
        ({"mechanism": {"kind": "matrix-factorisation", "noise_multiplier": 1.0}}, "mechanism.coefficients"),
    ],
)
def test_bad_correlated_fields_are_named(changes: dict[str, object], field: str) -> None:
    with pytest.raises(InputError) as problem:
        parse_claim(CORRELATED | changes)
    assert problem.value.field == field


def test_further_mechanisms_of_federated_code() -> None:
    skellam = {"kind": "skellam", "variance": 4.0, "clip": 2.0, "dimension": 3}
    read = parse_claim(CORRELATED | {"mechanism": skellam})
    assert read.run == Repeat(Skellam(4.0, 2.0, 3), 2000)
    assert read.attained_run is None
    cut = {"scheme": "poisson", "population": 1000, "cohort": 10, "max_cohort": 30}
    gaussian = {"kind": "gaussian", "noise_multiplier": 1.0}
    read = parse_claim(CORRELATED | {"mechanism": gaussian, "sampling": cut})
    assert read.run == Repeat(TruncatedPoisson(Gaussian(1.0), 0.01, 1000, 30), 2000)


def test_a_claim_is_resolved_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its run was built nine times for one verdict, and taken apart into pairs twelve times."""
    from dpcert.accounting import question
    from dpcert.proofs_checks.verification import verify as verification

    module = importlib.import_module("dpcert.mechanisms.tables.phase")
    built, apart = [], []
    in_sequence, pairs = module._in_sequence, question.dominating

    def counted_run(parts):
        built.append(parts)
        return in_sequence(parts)

    def counted_pairs(*asked):
        apart.append(asked)
        return pairs(*asked)

    monkeypatch.setattr(module, "_in_sequence", counted_run)
    monkeypatch.setattr(question, "_pairs", lru_cache(counted_pairs))
    monkeypatch.setattr(verification, "commonly_explained", lambda claim, bracket: ())  # other runs than the claim's
    claim = parse_claim(plain({"kind": "gaussian", "noise_multiplier": 1.0}, rounds=50))
    assert len(built) == 2  # as bad, and as good, as the description allows
    assert claim.attained_run == claim.run
    assert verify(claim).verdict == "refuted"
    assert len(built) == 2
    assert len(apart) == len(set(apart)) == 1


@pytest.mark.nightly
def test_the_registry_s_template_for_a_large_model_is_proved(tmp_path: Path) -> None:
    """Half a million of ten thousand million sequences, cut cohorts, a hundred thousand steps."""
    page = (Path(__file__).parents[3] / "docs" / "registry.md").read_text()
    written = tmp_path / "vault.toml"
    written.write_text(page.split("```toml\n")[1].split("```")[0])
    found = verify(written, certificates=tmp_path)
    assert found.verdict == "holds"
    assert found.certificate is not None
