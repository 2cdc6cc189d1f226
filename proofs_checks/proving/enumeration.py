"""The exact epsilon of a mechanism with finitely many outcomes."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from ...mechanisms import InputError
from ...mechanisms.validate import number
from .certificate import source_digest
from .checker.finite import check_enumeration
from .counterexamples import shown
from .finite import Worst, excess, logarithm, worst
from .proof import PROVED_UP_TO, Counterexample, Proof
from .question import Progress, Question
from .unsupported import Unsupported
from .work import OutOfWork


def enumerated(question: Question, values: Sequence[float], progress: Progress) -> Proof:
    """The proof, or the pair and output at which the claim fails: the answer is exact either way."""
    entries = sorted({number("values", value) for value in values})
    if len(entries) < 2:
        raise InputError("values", list(values), "at least two different numbers")
    if question.relation == "answers":
        raise InputError("relation", question.relation, "replace-one or add-remove, for entries of given values")
    question.words = f"all entries in {{{', '.join(f'{v:g}' for v in entries)}}}"
    sizes: list[int] = []
    stopped = False
    kinds: list[Sequence[float]] = [entries]
    if all(value.is_integer() for value in entries):  # what numpy makes like an array of integers keeps no fractions
        kinds.append([int(value) for value in entries])
    for size in range(1, question.entries + 1):
        try:
            for held in kinds:
                question.work.question()
                _compared(question, held, size)
        except Unsupported as problem:
            return question.proof("unsupported", str(problem))
        except (KeyboardInterrupt, OutOfWork):
            stopped = True
            break
        question.cases[size, ""] = []
        sizes.append(size)
        progress(size, question.entries)
    if question.examples:
        return question.proof("not proved", question.examples[0].why)
    if not sizes:
        return question.proof("not proved", "stopped before anything was proved", stopped=True)
    epsilon = question.epsilon if question.claim is None else question.claim
    certificate = {
        "format": "dpcert enumeration 1",
        "function": question.name,
        "source_sha256": source_digest(question.mechanism),
        "relation": question.relation,
        "values": entries,
        "container": question.container,
        "sizes": sizes,
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
    """All datasets of one size. Raises Unsupported, OutOfWork."""
    if question.delta:
        _exceeded(question, *excess(question.asked, entries, size, question.relation, question.claim or Fraction(0)))
    else:
        _take(question, worst(question.asked, entries, size, question.relation))


def _exceeded(question: Question, delta: Fraction, here: tuple[float, ...], there: tuple[float, ...]) -> None:
    """The pair that needs the largest delta of one size, where that is more than the claimed one."""
    question.epsilon = question.claim
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
    example = Counterexample(found.dataset, found.neighbour, (), shown(found.output) if found.dataset else "", why)
    if question.epsilon is not None and (epsilon is None or epsilon > question.epsilon):
        question.epsilon, question.dearest = epsilon, example
    if epsilon is None or (question.claim is not None and epsilon > question.claim):
        question.examples.append(example)
