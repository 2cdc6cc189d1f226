"""The exact epsilon of a mechanism with finitely many outcomes."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from ...mechanisms import InputError
from ...mechanisms.validate import number
from .checker.finite import FORMAT, Law, check_enumeration, kinds_of, laws, needed_delta
from .checker.real.runs import Real
from .checker.refusals import Refused
from .checker.rounding import logarithm_up
from .counterexamples import shown
from .proof import PROVED_UP_TO, Counterexample, Proof, rounded_up
from .question import Progress, Question, source_digest
from .solver import OutOfWork


def enumerated(question: Question, values: Sequence[float], progress: Progress) -> Proof:
    """The proof, or the pair and output at which the claim fails: the answer is exact either way."""
    entries = sorted({number("values", value) for value in values})
    if len(entries) < 2:
        raise InputError("values", list(values), "at least two different numbers")
    if question.setting.relation == "answers":
        raise InputError(
            "relation", question.setting.relation, "replace-one or add-remove, for entries of given values"
        )
    question.words = f"all entries in {{{', '.join(f'{v:g}' for v in entries)}}}"
    try:
        stopped = _stopped(question, entries, progress)
    except Refused as problem:
        return question.proof("unsupported", str(problem))
    if question.examples:
        return question.proof("not proved", question.examples[0].why)
    if not question.cases:
        return question.proof("not proved", "stopped before anything was proved", stopped=True)
    return _certified(question, entries, stopped)


def _stopped(question: Question, entries: Sequence[float], progress: Progress) -> bool:
    """All sizes, one after the other; whether that was stopped before the last one. Raises Refused."""
    for size in range(1, question.entries + 1):
        try:
            for held in kinds_of(entries):
                question.work.question()
                _compared(question, held, size)
        except (KeyboardInterrupt, OutOfWork):
            return True
        question.cases[size, ""] = []
        progress(size, question.entries)
    return False


def _certified(question: Question, entries: Sequence[float], stopped: bool) -> Proof:
    """What the checker says of it."""
    epsilon = question.epsilon if question.claim is None else question.claim
    certificate = {
        "format": FORMAT,
        "function": question.name,
        "source_sha256": source_digest(question.mechanism),
        "relation": question.setting.relation,
        "values": entries,
        "container": question.setting.container,
        "sizes": [size for size, _ in question.cases],
        "epsilon": str(epsilon),
        "delta": str(question.delta),
    }
    checked = check_enumeration(certificate, question.mechanism)
    if not checked.ok:
        return question.proof("not proved", f"the checker rejects what the enumeration found: {checked.reason}")
    return question.proof(
        PROVED_UP_TO,
        checked.reason,
        certificate=certificate | {"up_to": question.up_to},
        stopped=stopped,
        bounded="an enumeration is about the numbers of entries that it enumerates",
    )


def _compared(question: Question, entries: Sequence[float], size: int) -> None:
    """All datasets of one size. Raises Refused, OutOfWork."""
    found = laws(Real(question.mechanism, question.setting.container), entries, size, question.setting.relation)
    if question.delta:
        _exceeded(question, found)
    else:
        _take(question, worst(found))


Compared = Iterator[tuple[tuple[float, ...], tuple[float, ...], Law, Law]]


@dataclass(frozen=True)
class Worst:
    """The largest ratio of two neighbours' probabilities of an output (None: one of them is 0), and where it is."""

    ratio: Fraction | None
    dataset: tuple[float, ...]
    neighbour: tuple[float, ...]
    output: Any


def worst(compared: Compared) -> Worst:
    """The largest ratio over all neighbours and outputs."""
    largest = Worst(Fraction(1), (), (), None)
    for here, there, law, other in compared:
        for output, chance in law.items():
            if output not in other:
                return Worst(None, here, there, output)
            if largest.ratio is not None and chance / other[output] > largest.ratio:
                largest = Worst(chance / other[output], here, there, output)
    return largest


def _exceeded(question: Question, compared: Compared) -> None:
    """The pair that needs the largest delta of one size, where that is more than the claimed one."""
    question.epsilon = claim = question.claim or Fraction(0)
    needed = [(needed_delta(law, other, claim), here, there) for here, there, law, other in compared]
    delta, here, there = max(needed, key=lambda each: each[0])
    if delta > question.delta:
        why = f"they need a delta of {float(delta):.6g}"
        question.examples.append(Counterexample(here, there, (), "(all outputs)", why))


def _take(question: Question, found: Worst) -> None:
    """The worst pair of one size among what is known."""
    epsilon = None if found.ratio is None else logarithm(found.ratio)
    if epsilon is None:
        why = "this output is impossible on the neighbour"
    else:
        why = f"it is e^{float(epsilon):.6g} times as likely"
    output = shown(json.loads(found.output)) if found.dataset else ""
    example = Counterexample(found.dataset, found.neighbour, (), output, why)
    if question.epsilon is not None and (epsilon is None or epsilon > question.epsilon):
        question.epsilon, question.dearest = epsilon, example
    if epsilon is None or (question.claim is not None and epsilon > question.claim):
        question.examples.append(example)


def logarithm(ratio: Fraction) -> Fraction:
    """log(ratio), rounded up to a float."""
    return Fraction(rounded_up(logarithm_up(ratio)))
