"""Certificates from claim to verdict, and what tampering with each of their fields leads to."""

from __future__ import annotations

import copy
import json
import math
import random
import shutil
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import pytest
from cases import few

from dpcert.accounting import epsilon
from dpcert.mechanisms import Gaussian, Poisson, Repeat
from dpcert.proofs_checks.certificates import certificate as certificates_module
from dpcert.proofs_checks.certificates import checker, evidence
from dpcert.proofs_checks.certificates.certificate import certificate, write
from dpcert.proofs_checks.certificates.checker.format import digest
from dpcert.proofs_checks.certificates.stated import NoCertificate
from dpcert.proofs_checks.claims.claim import parse_claim
from dpcert.proofs_checks.verification.verdict import judge
from dpcert.proofs_checks.verification.verify import certified_interval

POISSON = {
    "claim": {"title": "T", "neighbouring": "add-remove", "epsilon": 4.8, "delta": 1e-5},
    "mechanism": {"kind": "gaussian", "noise_multiplier": 1.1},
    "sampling": {"scheme": "poisson", "sampling_rate": 0.1},
    "composition": {"rounds": 60},
}
COALITION = {
    "claim": {"title": "C", "notion": "billboard", "neighbouring": "replace-one", "epsilon": 13.6, "delta": 0.004878},
    "mechanism": {"kind": "gaussian-mean", "noise_std": 0.01, "clip_norm": 0.2},
    "sampling": {"scheme": "fixed-size", "population": 205, "cohort": 100},
    "composition": {"rounds": 1000},
}
HYBRID = {
    "claim": {"title": "H", "neighbouring": "replace-one", "epsilon": 2.0, "delta": 1e-5},
    "mechanism": {"kind": "gaussian", "noise_multiplier": 8.0},
    "sampling": {"scheme": "fixed-size", "population": 205, "cohort": 100},
    "composition": {"rounds": 30},
}
REPORTS = {
    "claim": {"title": "R", "neighbouring": "replace-one", "epsilon": 9.0, "delta": 1e-6},
    "mechanism": {"kind": "randomized-response", "flip_probability": 0.3, "categories": 3},
    "composition": {"rounds": 12},
}
PHASES = {
    "claim": {
        "title": "P",
        "neighbouring": "zero-out",
        "epsilon": 2.0,
        "delta": 1e-5,
        "epsilon_interval": [1.95, 2.05],
    },
    "phase": [
        {"mechanism": {"kind": "gaussian", "noise_multiplier": 6.0}, "composition": {"rounds": 4}},
        {
            "mechanism": {"kind": "gaussian", "noise_multiplier": 2.0},
            "sampling": {"scheme": "poisson", "population": 400, "cohort": 20},
            "composition": {"rounds": 100},
        },
    ],
}
ALL = {"poisson": POISSON, "coalition": COALITION, "hybrid": HYBRID, "reports": REPORTS, "phases": PHASES}


def other(kind: dict[str, object], sampling: dict[str, object] | None = None, **claim: object) -> dict[str, object]:
    stated = {"title": "O", "neighbouring": "replace-one", "epsilon": 5.0, "delta": 1e-6, **claim}
    return {
        "claim": stated,
        "mechanism": kind,
        "composition": {"rounds": 5},
        **({"sampling": sampling} if sampling else {}),
    }


COHORT = {"scheme": "fixed-size", "population": 30, "cohort": 6}
COIN = {"scheme": "poisson", "sampling_rate": 0.2}
UPPER_ONLY = {
    "zcdp": other({"kind": "zcdp", "rho": 0.05}),
    "pure": other({"kind": "pure-dp", "epsilon": 0.4}),
    "approximate": other({"kind": "approximate-dp", "epsilon": 0.4, "delta": 1e-8}),
}
SHUFFLED = {"scheme": "shuffle", "population": 200, "cohort": 20}
BOTH_ENDS = {
    "laplace": other({"kind": "laplace", "noise_multiplier": 5.0}),
    "sampled laplace": other({"kind": "laplace", "noise_multiplier": 5.0}, COIN, neighbouring="zero-out"),
    "laplace cohort": other({"kind": "laplace", "noise_multiplier": 5.0}, COHORT, notion="billboard"),
    "discrete laplace": other({"kind": "discrete-laplace", "scale": 9.0, "clip": 2}),
    "discrete gaussian": other({"kind": "discrete-gaussian", "sigma": 9.0}),
    "discrete gaussian cohort": other({"kind": "discrete-gaussian", "sigma": 9.0}, COHORT),
    "shuffled": other({"kind": "gaussian", "noise_multiplier": 1.0}, SHUFFLED) | {"composition": {"rounds": 20}},
    "shuffled coalition": other({"kind": "gaussian", "noise_multiplier": 1.0}, SHUFFLED, notion="joint")
    | {"composition": {"rounds": 20}},
    "little noise": other({"kind": "gaussian", "noise_multiplier": 0.05}, COHORT),
}
WIDTHS = {"discrete gaussian": 1e-6, "shuffled coalition": 1e-6, "laplace": 0.02, "discrete laplace": 0.02}
"""How far an end may be from the accountants', relatively, where it is below what all others have: 15-fold.

The checker grants discrete Gaussian noise no amplification by sampling, and takes shuffled epochs one event each.
"""


def made(tables: dict[str, object]) -> dict[str, object]:
    claim = parse_claim(copy.deepcopy(tables))
    bracket, _ = certified_interval(claim)
    return certificate(claim, bracket.lower, bracket.upper)


@pytest.fixture(scope="module")
def certificates():
    return {name: made(tables) for name, tables in ALL.items()}


@pytest.fixture(scope="module")
def both_ends():
    return {name: made(tables) for name, tables in BOTH_ENDS.items()}


def sealed(document):
    return {**document, "digest": digest(document)}


def leaves(value, path=()):
    if isinstance(value, dict) and value:
        for key, inner in value.items():
            yield from leaves(inner, (*path, key))
    elif isinstance(value, list) and value:
        for index, inner in enumerate(value):
            yield from leaves(inner, (*path, index))
    else:
        yield path, value


def changed(document, path, value):
    result = copy.deepcopy(document)
    place = result
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    return result


# ------------------------------------------------------------------------------------------- what is written


@pytest.mark.parametrize("name", few(ALL, 8))
def test_both_ends_and_the_verdict_are_proved(certificates, name):
    document = certificates[name]
    claim = parse_claim(copy.deepcopy(ALL[name]))
    bracket, _ = certified_interval(claim)
    low, high = (float(document["interval"][end]) for end in ("epsilon_lower", "epsilon_upper"))
    assert checker.check(document).ok
    assert low <= bracket.lower <= bracket.upper <= high
    assert high - bracket.upper <= 1e-6 * bracket.upper
    assert bracket.lower - low <= 1e-6 * bracket.lower
    assert document["verdict"] == judge(bracket, claim.statement.threshold)


@pytest.mark.parametrize("name", UPPER_ONLY)
def test_what_only_an_upper_bound_is_known_of(name):
    document = made(UPPER_ONLY[name])
    bracket, _ = certified_interval(parse_claim(copy.deepcopy(UPPER_ONLY[name])))
    assert checker.check(document).ok
    assert document["interval"]["epsilon_lower"] == "0"
    assert bracket.upper <= float(document["interval"]["epsilon_upper"]) <= 1.1 * bracket.upper


@pytest.mark.parametrize("name", few(BOTH_ENDS, 12))
def test_other_noise_and_shuffled_batches_have_both_ends(both_ends, name):
    document = both_ends[name]
    bracket, _ = certified_interval(parse_claim(copy.deepcopy(BOTH_ENDS[name])))
    low, high = (float(document["interval"][end]) for end in ("epsilon_lower", "epsilon_upper"))
    assert checker.check(document).ok
    assert 0 < low <= bracket.upper
    assert bracket.lower <= high
    slack = WIDTHS.get(name, 14.0)
    assert high <= bracket.upper * (1 + slack)
    assert low >= bracket.lower / (1 + slack)


@pytest.mark.parametrize("name", BOTH_ENDS)
def test_ends_moved_inwards_are_rejected(both_ends, name):
    """Beyond what the accountants certify no end can be proved, whatever the evidence."""
    document = both_ends[name]
    bracket, _ = certified_interval(parse_claim(copy.deepcopy(BOTH_ENDS[name])))
    below, above = repr(0.999 * bracket.lower), repr(1.001 * bracket.upper)
    for end, value in (("epsilon_upper", below), ("epsilon_lower", above)):
        forged = changed(document, ("interval", end), value)
        other_end = ("epsilon_upper", "inf") if end == "epsilon_lower" else ("epsilon_lower", "0")
        forged = changed(forged, ("interval", other_end[0]), other_end[1])
        forged = changed(forged, ("evidence", "upper") if other_end[1] == "inf" else ("evidence", "lower"), None)
        if other_end[1] == "inf":
            forged["evidence"]["upper"] = []
        low, high = (float(forged["interval"][name]) for name in ("epsilon_lower", "epsilon_upper"))
        forged["verdict"] = "holds" if high <= 5 else "refuted" if low > 5 else "undecided"
        assert not checker.check(sealed(forged)).ok, end


def test_the_written_file_is_the_certificate_and_write_says_what_it_states(tmp_path):
    claim = parse_claim(copy.deepcopy(COALITION), file="somewhere/pmtl-femnist.toml")
    bracket, _ = certified_interval(claim)
    written = write(claim, bracket.lower, bracket.upper, tmp_path / "new" / "folder")
    document = json.loads(written.path.read_text())
    assert written.path.name == "pmtl-femnist.json"
    assert [repr(written.epsilon_lower), repr(written.epsilon_upper)] == list(document["interval"].values())
    assert written.verdict == document["verdict"] == "refuted"
    assert checker.check(written.path).ok


def test_a_certificate_of_another_claim_is_not_overwritten_but_an_older_one_of_the_same_is(tmp_path):
    one = parse_claim(copy.deepcopy(COALITION), file="a/claim.toml")
    other_tables = copy.deepcopy(COALITION)
    other_tables["claim"] |= {"title": "another"}
    two = parse_claim(other_tables, file="b/claim.toml")
    paths = [write(claim, 1.0, 400.0, tmp_path).path for claim in (one, two, one, two)]
    assert paths[:2] == paths[2:]
    assert sorted(tmp_path.iterdir()) == sorted(set(paths))
    assert paths[0].name == "claim.json"
    assert [json.loads(path.read_text())["claim"]["title"] for path in paths[:2]] == ["C", "another"]


def test_an_interval_that_does_not_hold_the_truth_is_moved_outwards_never_stated():
    claim = parse_claim(copy.deepcopy(COALITION))
    bracket, _ = certified_interval(claim)
    document = certificate(claim, 1.001 * bracket.lower, 1.002 * bracket.upper)
    assert float(document["interval"]["epsilon_lower"]) <= bracket.upper
    document = certificate(claim, 0.9 * bracket.lower, 0.95 * bracket.upper)
    assert float(document["interval"]["epsilon_upper"]) >= bracket.lower


def test_no_upper_bound_is_written_as_inf_and_leaves_the_claim_undecided():
    document = certificate(parse_claim(copy.deepcopy(POISSON)), 0.0, math.inf)
    assert document["interval"] == {"epsilon_lower": "0", "epsilon_upper": "inf"}
    assert document["verdict"] == "undecided"
    assert checker.check(document).ok


def test_weights_are_exact_fractions_and_only_a_bound_on_them_gives_no_lower_end():
    weighted = copy.deepcopy(COALITION)
    weighted["mechanism"] |= {"weights": [float(1 + i % 7) for i in range(205)]}
    document = made(weighted)
    stated = document["phases"][0]["mechanism"]
    # 205 clients, weights 1 to 7: 30, 30, 29, 29, 29, 29, 29 of each. One of weight 7 with the 99 lightest others,
    # and with the 99 heaviest.
    assert stated["max_weight"] == str(Fraction(7, 7 + 30 * 1 + 30 * 2 + 29 * 3 + 10 * 4))
    assert stated["min_weight"] == str(Fraction(7, 7 + 28 * 7 + 29 * 6 + 29 * 5 + 13 * 4))
    assert checker.check(document).ok
    bounded = copy.deepcopy(COALITION)
    bounded["mechanism"] |= {"weights": 0.05}
    assert made(bounded)["interval"]["epsilon_lower"] == "0"


def test_what_no_certificate_can_state_is_refused():
    named = copy.deepcopy(COALITION)
    named["claim"] |= {"observer": "outside"}
    with pytest.raises(NoCertificate, match="observer"):
        certificate(parse_claim(named), 1.0, 2.0)
    with pytest.raises(NoCertificate, match="interval"):
        certificate(parse_claim(copy.deepcopy(POISSON)), 3.0, 2.0)
    several = copy.deepcopy(POISSON)
    several["claim"] |= {"group": 2}
    with pytest.raises(NoCertificate, match="no group in rounds that units are drawn for"):
        certificate(parse_claim(several), 1.0, 20.0)


# ------------------------------------------------------------------------------------------- tampering


@pytest.mark.parametrize("name", [*ALL, *BOTH_ENDS])
def test_any_field_changed_breaks_the_digest(certificates, both_ends, name):
    document = (certificates | both_ends)[name]
    for path, value in leaves(document):
        for substitute in ("tampered", 3, None, "0.123"):
            if substitute != value:
                assert not checker.check(changed(document, path, substitute)).ok, path


@pytest.mark.parametrize("name", few([*ALL, *BOTH_ENDS], 8))
def test_a_field_left_out_or_added_is_rejected_even_with_a_new_digest(certificates, both_ends, name):
    document = (certificates | both_ends)[name]
    tables = {path[:-1] for path, _ in leaves(document) if isinstance(path[-1], str) and path != ("digest",)}
    for table in tables:
        inner = document
        for step in table:
            inner = inner[step]
        for key in inner:
            if (*table, key) != ("digest",):
                less = copy.deepcopy(document)
                place = less
                for step in table:
                    place = place[step]
                del place[key]
                assert not checker.check(sealed(less)).ok, (*table, key)
        assert not checker.check(sealed(changed(document, (*table, "remark"), "1"))).ok, table


PHASE = ("phases", 0)
FALSE = {
    "poisson": [
        (("format",), "dpcert-certificate-1"),
        (("claim", "epsilon"), "0.5"),
        (("claim", "delta"), "0.00000999"),
        (("claim", "delta"), "0.00001001"),
        (("claim", "delta"), "0"),
        (("claim", "delta"), "1.0"),
        (("claim", "neighbouring"), "replace-one"),
        (("claim", "neighbouring"), "none"),
        (("claim", "participation"), "visible"),
        (("claim", "participation"), "pooled"),
        (("claim", "notion"), "central"),
        ((*PHASE, "rounds"), 59),
        ((*PHASE, "rounds"), 61),
        ((*PHASE, "rounds"), "60"),
        ((*PHASE, "mechanism", "kind"), "laplace"),
        ((*PHASE, "mechanism", "noise_multiplier"), "1.1000001"),
        ((*PHASE, "mechanism", "noise_multiplier"), "1.0999999"),
        ((*PHASE, "mechanism", "noise_multiplier"), "-1.1"),
        ((*PHASE, "mechanism", "noise_multiplier"), "0"),
        ((*PHASE, "mechanism", "noise_multiplier"), 1.1),
        ((*PHASE, "sampling", "scheme"), "none"),
        ((*PHASE, "sampling", "scheme"), "fixed-size"),
        ((*PHASE, "sampling", "scheme"), "shuffle"),
        ((*PHASE, "sampling", "sampling_rate"), "0.1000001"),
        ((*PHASE, "sampling", "sampling_rate"), "0.0999999"),
        ((*PHASE, "sampling", "sampling_rate"), "1.5"),
        ((*PHASE, "sampling", "sampling_rate"), None),
        (("verdict",), "refuted"),
        (("verdict",), "undecided"),
        (("interval", "epsilon_upper"), "inf"),
        (("interval", "epsilon_upper"), "1.0"),
        (("interval", "epsilon_upper"), "nan"),
        (("interval", "epsilon_lower"), "4.7"),
        (("evidence", "upper"), []),
        (("evidence", "upper", 0, "direction"), "remove"),
        (("evidence", "upper", 0, "direction"), "both"),
        (("evidence", "lower"), None),
        (("evidence", "lower", "method"), "chernoff"),
        (("evidence", "lower", "method"), "mixture"),
        (("evidence", "lower", "method"), "lattice"),
        (("evidence", "lower", "method"), "threshold"),
        (("evidence", "lower", "terms"), 3),
        (("evidence", "lower", "terms"), 0),
        (("evidence", "lower", "terms"), 10**9),
        (("evidence", "lower", "h"), "3.0"),
        (("evidence", "lower", "h"), "0"),
        (("evidence", "lower", "c"), "0"),
        (("evidence", "lower", "c"), "1e9"),
        (("evidence", "lower", "beyond"), "0.001"),
        (("evidence", "lower", "split"), "1"),
    ],
    "coalition": [
        (("claim", "epsilon"), "70"),
        (("claim", "participation"), "hidden"),
        (("claim", "notion"), "dp"),
        (("claim", "neighbouring"), "zero-out"),
        ((*PHASE, "mechanism", "noise_std"), "0.0100001"),
        ((*PHASE, "mechanism", "clip_norm"), "0.1999999"),
        ((*PHASE, "mechanism", "max_weight"), "1/99"),
        ((*PHASE, "mechanism", "max_weight"), "1/101"),
        ((*PHASE, "mechanism", "min_weight"), "1/99"),
        ((*PHASE, "mechanism", "min_weight"), "0"),
        ((*PHASE, "sampling", "population"), 206),
        ((*PHASE, "sampling", "cohort"), 101),
        ((*PHASE, "sampling", "cohort"), 99),
        ((*PHASE, "sampling", "cohort"), 206),
        ((*PHASE, "rounds"), 1001),
        (("verdict",), "holds"),
    ],
    "reports": [
        ((*PHASE, "mechanism", "flip_probability"), "0.3000001"),
        ((*PHASE, "mechanism", "flip_probability"), "0.2999999"),
        ((*PHASE, "mechanism", "flip_probability"), "0.7"),
        ((*PHASE, "mechanism", "categories"), 4),
        ((*PHASE, "mechanism", "categories"), 2),
        ((*PHASE, "rounds"), 13),
        (("claim", "neighbouring"), "add-remove"),
        (("evidence", "upper", 0, "method"), "mixture"),
        (("evidence", "upper", 0, "method"), "threshold"),
        (("evidence", "upper", 0, "method"), "inversion"),
    ],
    "phases": [
        (("phases", 1, "rounds"), 101),
        (("phases", 1, "sampling", "cohort"), 21),
        (("phases", 0, "mechanism", "noise_multiplier"), "6.001"),
        (("phases",), []),
        (("claim", "epsilon"), "2.06"),
        (("claim", "epsilon_interval"), ["2.01", "2.05"]),
    ],
    "shuffled": [
        ((*PHASE, "rounds"), 30),
        ((*PHASE, "rounds"), 10),
        ((*PHASE, "rounds"), 25),
        ((*PHASE, "sampling", "scheme"), "poisson"),
        ((*PHASE, "sampling", "population"), 210),
        ((*PHASE, "sampling", "population"), 2000),
        ((*PHASE, "sampling", "cohort"), 10),
        ((*PHASE, "mechanism", "noise_multiplier"), "1.3"),
        ((*PHASE, "mechanism", "noise_multiplier"), "0.8"),
        (("claim", "neighbouring"), "add-remove"),
        (("claim", "neighbouring"), "zero-out"),
        (("evidence", "lower", "c"), "0"),
        (("evidence", "lower", "c"), "9"),
        (("evidence", "lower", "direction"), "both"),
        *((("evidence", "lower", "method"), name) for name in ("mixture", "lattice", "inversion", "chernoff")),
    ],
    "laplace": [
        ((*PHASE, "rounds"), 6),
        ((*PHASE, "mechanism", "noise_multiplier"), "5.2"),
        ((*PHASE, "mechanism", "noise_multiplier"), "4.8"),
        ((*PHASE, "mechanism", "kind"), "gaussian"),
        (("evidence", "lower", "method"), "chernoff"),
    ],
    "sampled laplace": [
        (("claim", "neighbouring"), "replace-one"),
        ((*PHASE, "rounds"), 6),
        ((*PHASE, "sampling", "sampling_rate"), "0.1"),
        (("evidence", "lower", "method"), "lattice"),
        (("evidence", "lower", "c"), "2"),
        (("evidence", "lower", "direction"), "both"),
    ],
    "discrete laplace": [
        ((*PHASE, "mechanism", "scale"), "9.9"),
        ((*PHASE, "mechanism", "clip"), 3),
        ((*PHASE, "mechanism", "clip"), 1),
        (("claim", "neighbouring"), "zero-out"),
    ],
    "discrete gaussian": [
        ((*PHASE, "mechanism", "sigma"), "9.001"),
        ((*PHASE, "mechanism", "sigma"), "8.999"),
        ((*PHASE, "mechanism", "clip"), 2),
        ((*PHASE, "rounds"), 4),
        (("evidence", "lower", "method"), "mixture"),
    ],
    "little noise": [
        ((*PHASE, "mechanism", "noise_multiplier"), "0.049"),
        ((*PHASE, "mechanism", "noise_multiplier"), "0.051"),
        ((*PHASE, "sampling", "cohort"), 1),
        (("evidence", "lower", "direction"), "add"),
        (("evidence", "lower", "method"), "lattice"),
    ],
    "hybrid": [
        (("claim", "neighbouring"), "add-remove"),
        (("claim", "participation"), "visible"),
        ((*PHASE, "mechanism", "noise_multiplier"), "7.9999"),
        ((*PHASE, "sampling", "cohort"), 101),
        ((*PHASE, "sampling", "scheme"), "poisson"),
    ],
}


@pytest.mark.parametrize("name", few(FALSE, 8))
def test_false_statements_are_rejected_even_with_a_new_digest(certificates, both_ends, name):
    document = (certificates | both_ends)[name]
    for path, value in FALSE[name]:
        forged = sealed(changed(document, path, value))
        assert forged["digest"] != document["digest"], path
        assert not checker.check(forged).ok, (path, value)


def test_true_statements_with_a_new_digest_are_other_certificates_and_the_digest_tells_them_apart(certificates):
    """Documented in docs/certificates.md: the digest ties the file to what was issued, the proof to what is true."""
    document = certificates["poisson"]
    upper = float(document["interval"]["epsilon_upper"])
    for path, value in [
        (("claim", "title"), "another title"),
        (("claim", "source"), "elsewhere"),
        (("claim", "unit"), "example"),
        (("claim", "epsilon"), "5.0"),
        (("claim", "notion"), "billboard"),
        (("interval", "epsilon_upper"), repr(upper + 0.001)),
        (("interval", "epsilon_lower"), "1.0"),
        (("evidence", "lower", "terms"), document["evidence"]["lower"]["terms"] + 40),
    ]:
        assert not checker.check(changed(document, path, value)).ok, path
        assert checker.check(sealed(changed(document, path, value))).ok, path


@pytest.mark.nightly
def test_whatever_tampering_is_accepted_is_true(certificates):
    """Random changes of the numbers under new digests: an accepted interval agrees with the accountants' own."""
    rng = random.Random(20261121)
    document = certificates["poisson"]
    accepted = 0
    for _ in range(60):
        change = rng.choice(["noise", "rate", "rounds", "delta", "lower", "upper"])
        factor = 1 + rng.choice([-1, 1]) * 10 ** rng.uniform(-12, -0.3)
        forged = copy.deepcopy(document)
        phase, claim, interval = forged["phases"][0], forged["claim"], forged["interval"]
        if change == "noise":
            phase["mechanism"]["noise_multiplier"] = repr(1.1 * factor)
        elif change == "rate":
            phase["sampling"]["sampling_rate"] = repr(0.1 * factor)
        elif change == "rounds":
            phase["rounds"] = rng.randrange(55, 66)
        elif change == "delta":
            claim["delta"] = repr(1e-5 * factor)
        else:
            end = f"epsilon_{change}"
            interval[end] = repr(float(interval[end]) * factor)
        low, high = float(interval["epsilon_lower"]), float(interval["epsilon_upper"])
        forged["verdict"] = "holds" if high <= 4.8 else "refuted" if low > 4.8 else "undecided"
        if checker.check(sealed(forged)).ok:
            accepted += 1
            noise, rate = float(phase["mechanism"]["noise_multiplier"]), float(phase["sampling"]["sampling_rate"])
            run = Repeat(Poisson(Gaussian(noise), rate), phase["rounds"])
            truth = epsilon(run, float(claim["delta"]))
            assert low <= truth.upper, (change, factor)
            assert truth.lower <= high, (change, factor)
    assert 5 <= accepted <= 40, "neither everything nor nothing"


def test_no_claim_holds_with_an_infinite_upper_end():
    """Infinity is not a number, whatever is claimed: once, a claim above 10^99 held with no evidence at all."""
    approximate = other({"kind": "approximate-dp", "epsilon": 0.5, "delta": 0.5}, delta=1e-5, epsilon=1.0)
    document = certificate(parse_claim(copy.deepcopy(approximate)), 0.0, math.inf)
    assert checker.check(document).ok, "undecided, which is true"
    for claimed in ("1e98", "1e99", "1e100", "1e200", "1e999"):
        forged = changed(changed(document, ("claim", "epsilon"), claimed), ("verdict",), "holds")
        assert not checker.check(sealed(forged)).ok, claimed


def test_noise_that_absent_clients_do_not_add_is_refused_under_add_remove():
    """N(1, n) against N(0, n - 1): epsilon is .4069 for n = 100, and .3407 was certified."""
    kind = {"kind": "per-client-gaussian", "noise_std": 1.0, "clip_norm": 1.0}
    sampling = {"scheme": "none", "population": 100}
    document = made(other(kind, sampling, neighbouring="zero-out", delta=1e-5) | {"composition": {"rounds": 1}})
    forged = changed(document, ("claim", "neighbouring"), "add-remove")
    assert checker.check(document).ok
    assert "absent" in checker.check(sealed(forged)).reason


def test_a_lower_end_of_some_of_the_phases_refutes_where_another_phase_is_only_bounded():
    """Dropping an output is post-processing: 1000 rounds of Gaussian noise need 2.1245 alone."""
    coin = {"scheme": "poisson", "sampling_rate": 0.01}
    noise = {
        "mechanism": {"kind": "gaussian", "noise_multiplier": 1.0},
        "sampling": coin,
        "composition": {"rounds": 1000},
    }
    claim = {"title": "F", "neighbouring": "add-remove", "epsilon": 1.0, "delta": 1e-6}
    tables = {"claim": claim, "phase": [{"mechanism": {"kind": "zcdp", "rho": 0.01}}, noise]}
    document = certificate(parse_claim(tables), 2.1245, 2.5156)
    assert document["verdict"] == "refuted"
    assert document["evidence"]["lower"]["phases"] == [1]
    assert float(document["interval"]["epsilon_lower"]) > 2.124
    for places in ([0], [0, 1], [], [1, 1], [2], [-1], "1", None, [True]):
        forged = changed(document, ("evidence", "lower", "phases"), places)
        assert not checker.check(sealed(forged)).ok, places


def test_ten_milliard_sequences_have_a_certificate():
    tables = copy.deepcopy(POISSON)
    tables["sampling"] = {"scheme": "poisson", "population": 10**10, "cohort": 10**9}
    document = certificate(parse_claim(tables), 4.6, 4.7)
    assert document["phases"][0]["sampling"]["population"] == 10**10
    assert not checker.check(sealed(changed(document, (*PHASE, "sampling", "population"), 2**53 + 1))).ok


def test_rare_participation_is_certified_within_reach(monkeypatch):
    """The true epsilon is .00028; where nothing is cut off, Chernoff's bound proves an end further out, or none."""
    tables = copy.deepcopy(POISSON)
    tables["sampling"] = {"scheme": "poisson", "population": 10**10, "cohort": 64}
    tables["mechanism"], tables["composition"] = {"kind": "gaussian", "noise_multiplier": 1.0}, {"rounds": 10**8}
    tables["claim"] |= {"epsilon": 2.0, "delta": 1e-8}

    def upper_end():
        document = certificate(parse_claim(tables), 0.0, 0.000279)
        assert checker.check(document).ok
        return document["interval"]["epsilon_upper"]

    assert upper_end() == "0.000279"
    monkeypatch.setattr(evidence, "SHARES", ())
    assert 0.1 < float(upper_end()) <= 2.0
    monkeypatch.setattr(certificates_module, "WILD", (0.5,))
    assert upper_end() == "inf"


def test_what_is_proved_is_told_in_words(certificates):
    said = {name: checker.check(document).reason for name, document in certificates.items()}
    ends = certificates["poisson"]["interval"]
    known = f"at least {ends['epsilon_lower']}, and it is at most {ends['epsilon_upper']}"
    assert said["poisson"] == f"epsilon at delta 1e-05 is {known}: the claim of at most 4.8 holds"
    assert said["coalition"].endswith("the claim of at most 13.6 is refuted")
    undecided = certificate(parse_claim(copy.deepcopy(POISSON)), 0.0, math.inf)
    assert checker.check(undecided).reason.endswith(
        "at least 0, and no upper bound is known: this does not decide the claim of at most 4.8"
    )


def test_a_certificate_says_who_wrote_it_when_and_of_which_file(tmp_path):
    path = tmp_path / "claim.toml"
    path.write_text("anything", "utf-8")
    issued = certificate(parse_claim(copy.deepcopy(POISSON), file=str(path)), 0.0, math.inf)["issued"]
    assert issued["claim_sha256"] == "ee0874170b7f6f32b8c2ac9573c428d35b575270a66b757c2c0185d2bd09718d"
    assert set(issued) == {"dpcert", "date", "claim_sha256"}


def test_malformed_files_are_rejected_without_an_exception(certificates, tmp_path):
    good = json.dumps(certificates["coalition"])
    cases = {
        "empty": "",
        "list": "[]",
        "cut": good[:300],
        "twice": good.replace('"verdict":', '"verdict": "holds", "verdict":', 1),
        "nested": "[" * 100_000,
        "latin": "é",
    }
    for name, text in cases.items():
        (tmp_path / name).write_text(text, "latin-1")
        assert not checker.check(tmp_path / name).ok, name
    assert not checker.check(tmp_path).ok
    assert not checker.check(tmp_path / "missing").ok
    assert checker.check(_written(tmp_path / "good", good)).ok


FOLDER = str(Path(checker.__file__).parent)


def test_the_folder_alone_checks_a_certificate(certificates, tmp_path):
    """Isolated from this package and from everything that is installed but python-flint."""
    path = _written(tmp_path / "certificate.json", json.dumps(certificates["coalition"]))
    forged = sealed(changed(certificates["coalition"], (*PHASE, "rounds"), 999))
    bad = _written(tmp_path / "forged.json", json.dumps(forged))
    script = f"import sys, runpy; sys.argv = ['checker', {str(path)!r}]\n" + (
        f"try: runpy.run_path({FOLDER!r}, run_name='__main__')\n"
        "except SystemExit as stop: code = stop.code\n"
        "loaded = {name.split('.')[0] for name in sys.modules}\n"
        "assert not loaded & {'dpcert', 'numpy', 'scipy', 'mpmath', 'pydantic'}, loaded\n"
        "sys.exit(code)"
    )
    alone = subprocess.run([sys.executable, "-I", "-c", script], capture_output=True, text=True, check=False)
    assert (alone.returncode, alone.stdout.split(":")[0]) == (0, "proved"), alone.stderr
    copied = shutil.copytree(FOLDER, tmp_path / "a-copy")
    refused = subprocess.run([sys.executable, copied, bad], capture_output=True, text=True, check=False)
    assert (refused.returncode, refused.stdout.split(":")[0]) == (1, "rejected")


def _written(path: Path, text: str) -> Path:
    path.write_text(text, "utf-8")
    return path
