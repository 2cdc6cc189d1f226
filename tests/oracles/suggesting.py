"""The search for an induction, and the checker of what it suggests, with nothing but text between them."""

from __future__ import annotations

import json
from fractions import Fraction

from dpcert.proofs_checks.proving.checker.inductions.check import check_induction
from dpcert.proofs_checks.proving.checker.pairs import Setting
from dpcert.proofs_checks.proving.checker.refusals import Refused
from dpcert.proofs_checks.proving.inductions.loops import NoInduction, of_function
from dpcert.proofs_checks.proving.inductions.search import induction
from dpcert.proofs_checks.proving.solver import Work


def suggested(function, relation, low=Fraction(0), high=Fraction(1), whole=False):
    """The search's certificate and its epsilon."""
    document, epsilon = induction(of_function(function, Setting(relation, low, high, whole), Work()))
    return json.loads(json.dumps(document)), epsilon


def attempt(function, relation="replace-one", low=0, high=1, whole=False):
    """The least epsilon for all N that is found and accepted, or None."""
    ends = [None if end is None else Fraction(end) for end in (low, high)]
    try:
        document, epsilon = suggested(function, relation, *ends, whole)
        check_induction(document, function, Setting(relation, *ends, whole), epsilon)
    except (NoInduction, Refused):
        return None
    return float(epsilon)
