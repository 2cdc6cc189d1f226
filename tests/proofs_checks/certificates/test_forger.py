"""Nobody can make the checker believe what is false: forged statements, and every field of true ones changed.

What is true is known from tests/oracles/certificate_truth.py, which shares nothing with the checker or the accountants.
"""

from __future__ import annotations

from functools import cache

import mpmath as mp
import pytest
from cases import at_night, few
from certificate_truth import of_absence
from forger import STATEMENTS, Document, changed, edges, forgeries, is_false, leaves, moved, tampered

from dpcert.mechanisms.tables.kinds import KINDS
from dpcert.proofs_checks.certificates.certificate import proved
from dpcert.proofs_checks.certificates.checker import check
from dpcert.proofs_checks.certificates.checker.format import FIELDS
from dpcert.proofs_checks.certificates.stated import NoCertificate

REFUSED = ("gaussian, rate next to one", "clients, add-remove", "responses, mostly false, delta 0")
SLOW = (
    "gaussian, cohort",
    "gaussian, cohort, add-remove",
    "gaussian, cohort zeroed",
    "gaussian, coin zeroed",
    "clients",
    "two phases",
)
"""A hidden round each: half a second a proof."""
BUSY = (*SLOW, "gaussian, coin", "gaussian, coin replaced", "mean, of a bound", "laplace, twice")
"""Hundreds of such proofs, or of the oracle's integrals, are for the night."""


def apart(names, slow):
    """The names, the slow ones and three of four of the rest marked for the nightly run."""
    quick = [name for name in names if name not in slow]
    return [*few(quick, 8), *(at_night(name) for name in names if name in slow)]


ISSUED = [name for name in STATEMENTS if name not in REFUSED]


@cache
def honest(name: str) -> Document:
    """A true certificate of the statement, as issued."""
    inside, outside = (float(edge) for edge in edges(name))
    if name == "approximate, hopeless":
        return proved(STATEMENTS[name], 0.0, float("inf"))
    return proved(STATEMENTS[name], 0.0 if inside > outside else inside, max(inside, outside))


def believed(documents) -> list[Document]:
    """Those that the checker believes although they are false."""
    return [document for document in documents if check(document).ok and is_false(document)]


def test_every_kind_of_mechanism_is_forged():
    assert {document["phases"][0]["mechanism"]["kind"] for document in STATEMENTS.values()} == set(FIELDS)


def test_the_oracle_of_absent_clients_knows_the_published_break():
    """Noise 1, clip 1, 100 clients, delta 1e-5: .4069 in one dimension, where .3407 had been certified."""
    below, above = (of_absence(mp.mpf(100), mp.mpf(1), mp.mpf(eps)) for eps in ("0.4067", "0.4071"))
    assert below > 1e-5 > above


@pytest.mark.parametrize("name", apart(STATEMENTS, BUSY))
def test_false_statements_with_evidence_at_random_are_not_believed(name):
    for document in forgeries(name, seed=1, more=1):
        assert not check(document).ok, document


@pytest.mark.parametrize("name", apart(ISSUED, SLOW))
def test_the_truth_is_believed_and_what_is_just_past_it_is_not(name):
    document = honest(name)
    assert check(document).ok
    assert not is_false(document)
    for false in moved(document, name):
        assert not check(false).ok, false


@pytest.mark.parametrize("name", REFUSED)
def test_what_the_arithmetic_or_the_theory_does_not_cover_is_refused(name):
    with pytest.raises(NoCertificate):
        honest(name)


@pytest.mark.parametrize("name", apart(ISSUED, BUSY))
def test_whatever_field_is_changed_nothing_false_is_believed(name):
    assert believed(tampered(honest(name), seed=1, most=4)) == []


@pytest.mark.nightly
@pytest.mark.parametrize("name", STATEMENTS)
def test_more_of_all_of_it(name):
    for seed in range(2, 6):
        assert believed(forgeries(name, seed, more=8)) == []
    if name not in REFUSED:
        assert believed(tampered(honest(name), seed=2, most=99)) == []


ENDLESS = ("1e300", "1e999", "1e-300")


@pytest.mark.parametrize("name", ["gaussian", "laplace", "discrete-gaussian", "responses", "pure"])
def test_numbers_without_measure_are_refused_and_crash_nothing(name):
    """Exponents of a thousand digits once ended the process within python-flint."""
    document = honest(name)
    for path, value in leaves(document):
        if isinstance(value, str) and value[0].isdigit() and path[0] in ("phases", "evidence", "interval"):
            assert believed(changed(document, path, number) for number in ENDLESS) == []


def test_no_mechanism_that_the_format_lacks_is_believed():
    """Every kind that claims may name, with its own fields and the evidence of one that is private without end."""
    document = honest("pure")
    for kind, table in KINDS.items():
        if kind not in FIELDS:
            numbers = {name: "1000" for name in table.model_fields if name != "kind"}
            for mechanism in ({"kind": kind, "epsilon": "0.5"}, {"kind": kind, **numbers}):
                assert not check(changed(document, ("phases", 0, "mechanism"), mechanism)).ok
