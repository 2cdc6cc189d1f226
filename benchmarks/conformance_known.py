"""The defects of the peers that were known before, one by one: what each says now, and where the proved truth lies.

Every row is measured when the table is made. "below the truth" and "lower bound above the truth" are proved in ball
arithmetic (dpcert.testing.truth); so are the two numbers between which the truth is said to lie.
"""

from __future__ import annotations

import io
import math
import warnings
from collections.abc import Iterator
from contextlib import redirect_stdout
from dataclasses import dataclass

from conformance_limit import TooSlow, cpu_limit
from conformance_subjects import finer, subjects

from dpcert.accounting import epsilon
from dpcert.mechanisms import Gaussian, Mechanism, Poisson, Repeat
from dpcert.testing import NotServed, Phase, Subject, proved_above, proved_below

LONG = Phase(1.0, 0.01, 10_000)
ATOMS = Phase(1.0, 1e-6, 1_000_000)
SEARCHED = Phase(2.3274542524483985, 0.13646455047574677, 5905), 0.028969725936231417

SETTINGS = (
    (LONG, 1e-5),
    (Phase(0.6, 0.001, 10_000), 1e-5),
    (Phase(4.0, 0.5, 1000), 1e-6),
    (Phase(0.8, 0.001, 100_000), 1e-10),
    (Phase(1.0, 0.001, 10), 1e-5),
    (Phase(0.2, 0.001, 100), 1e-5),
    (Phase(100.0, 0.5, 1_000_000), 1e-10),
    (ATOMS, 1e-10),
    (LONG, 1e-15),
    (Phase(1.0, 0.001, 1_000_000), 1e-15),
    (Phase(0.5, 0.01, 100_000), 1e-5),
    (Phase(8.0, 100 / 205, 1000), 1e-5),
)
"""The settings on which the peers were compared."""

KNOWN: tuple[tuple[str, Phase, float], ...] = (
    *(("dp-accounting PLD", LONG, delta) for delta in (1e-9, 1e-10, 1e-12, 1e-13, 1e-15)),
    ("dp-accounting PLD", Phase(1.0, 0.001, 1_000_000), 1e-15),
    ("dp-accounting PLD", ATOMS, 1e-10),
    ("dp-accounting PLD", Phase(1.0, 1.0, 1), 1e-30),
    ("dp-accounting PLD, finer grid", LONG, 1e-10),
    ("dp-accounting RDP, REPLACE_ONE", Phase(1.0, 1.0, 1), 1e-5),
    ("dp-accounting RDP", Phase(4.0, 0.5, 1000), 1e-6),
    ("dp-accounting RDP", ATOMS, 1e-10),
    ("Opacus PRV", LONG, 1e-12),
    ("Opacus PRV", Phase(100.0, 0.5, 1_000_000), 1e-10),
    *(("Opacus GDP", phase, delta) for phase, delta in SETTINGS),
    ("prv-accountant", *SEARCHED),
    ("prv-accountant", LONG, 1e-15),
    *(("autodp RDP", phase, delta) for phase, delta in SETTINGS),
    ("autodp Fourier", Phase(1.0, 1.0, 1), 1e-5),
    ("autodp Fourier", Phase(4.0, 1.0, 100), 1e-5),
)
"""Who, on what, at which delta."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What an accountant says of one setting: its epsilon, or why there is none; and its lower bound, if any."""

    epsilon: float | None
    lower: float | None
    refusal: str = ""


def known_table(limit: int, only: str = "") -> str:
    """The Markdown table of everything in KNOWN; peers whose name contains `only`."""
    peers = {subject.name: subject for subject in (*subjects(), finer()) if only in subject.name}
    lines = [
        "",
        "## The defects that were known, one by one",
        "",
        "| accountant | noise, rate, rounds | delta | it says | the truth | so it is |",
        "|---|---|---|---|---|---|",
    ]
    for name, phase, delta in KNOWN:
        if name in peers:
            lines.append(_row(peers[name], phase, delta, limit))
    return "\n".join(lines) + "\n"


def _row(subject: Subject, phase: Phase, delta: float, limit: int) -> str:
    answer = _asked(subject, phase, delta, limit)
    truth = epsilon(_run(phase), delta, subject.neighbouring)
    says = answer.refusal if answer.epsilon is None else f"{answer.epsilon:.9g}"
    if answer.lower is not None:
        says = f"[{answer.lower:.9g}, {says}]"
    setting = f"{phase.noise_multiplier:.4g}, {phase.sampling_rate:.4g}, {phase.rounds}"
    verdict = "; ".join(_judged(subject, phase, delta, answer, truth.upper))
    return f"| {subject.name} | {setting} | {delta:.3g} | {says} | {truth.upper:.9g} | {verdict} |"


def _judged(subject: Subject, phase: Phase, delta: float, answer: Answer, truth: float) -> Iterator[str]:
    if answer.epsilon is None:
        yield "no number"
        return
    if answer.lower is not None and answer.lower > 0 and _all_below(subject, phase, answer.lower, delta):
        yield "**lower bound above the truth** (proved)"
    if proved_above((phase,), answer.epsilon, delta, subject.neighbouring):
        yield "**below the truth** (proved)"
    elif math.isinf(answer.epsilon):
        yield "no bound at all"
    else:
        yield f"{answer.epsilon / truth:.4g} times the truth"


def _all_below(subject: Subject, phase: Phase, lower: float, delta: float) -> bool:
    return proved_below((phase,), math.nextafter(lower, 0.0), delta, subject.neighbouring)


def _asked(subject: Subject, phase: Phase, delta: float, limit: int) -> Answer:
    try:
        with cpu_limit(limit), warnings.catch_warnings(), redirect_stdout(io.StringIO()):
            warnings.simplefilter("ignore")
            accountant = subject.compose(subject.new(), phase)
            return Answer(subject.epsilon(accountant, delta), _lower(subject, accountant, delta))
    except TooSlow:
        return Answer(None, None, f"nothing within {limit} s")
    except NotServed as refusal:
        return Answer(None, None, f"refuses: {_short(refusal)}")
    except Exception as error:
        return Answer(None, None, f"{type(error).__name__}: {_short(error)}")


def _lower(subject: Subject, accountant: object, delta: float) -> float | None:
    try:
        return subject.epsilon_lower(accountant, delta)
    except NotServed:
        return None


def _short(reason: object) -> str:
    return " ".join(str(reason).replace("|", "/").split())[:60]


def _run(phase: Phase) -> Mechanism:
    gaussian = Gaussian(phase.noise_multiplier)
    step = Poisson(gaussian, phase.sampling_rate) if phase.sampling_rate < 1 else gaussian
    return Repeat(step, phase.rounds)
