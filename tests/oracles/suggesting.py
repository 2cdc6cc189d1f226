"""The search for an induction and the checker, with nothing but text between them."""

from __future__ import annotations

import json
from fractions import Fraction

from dpcert.proofs_checks.proving.checker.following import Refused
from dpcert.proofs_checks.proving.checker.induction import check_induction
from dpcert.proofs_checks.proving.checker.told import told
from dpcert.proofs_checks.proving.induction import induction
from dpcert.proofs_checks.proving.loops import NoInduction
from dpcert.proofs_checks.proving.relations import Domain
from dpcert.proofs_checks.proving.work import Work

ENDS = (Fraction(0), Fraction(1), False)


def suggested(function, relation, low=0, high=1, whole=False, tell=told):
    """The search's certificate and its epsilon; what it is told of the loops crosses as text."""
    ask = tell(function, relation)

    def by_text(question):
        return json.loads(json.dumps(ask(json.loads(json.dumps(question)))))

    document, epsilon = induction(by_text, relation, Domain(low, high, whole), Work())
    return json.loads(json.dumps(document)), epsilon


def attempt(function, relation="replace-one", low=0, high=1, whole=False):
    """The least epsilon for all N that is found and accepted, or None."""
    ends = [None if end is None else Fraction(end) for end in (low, high)]
    try:
        document, epsilon = suggested(function, relation, *ends, whole)
        check_induction(document, function, relation, (ends[0], ends[1], whole), epsilon)
    except (NoInduction, Refused):
        return None
    return float(epsilon)
