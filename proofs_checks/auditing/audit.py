"""audit(mechanism, pair): try to refute a privacy claim by running the mechanism.

Where methods are composed, the error probability is split by SHARES, so that everything reported holds together
with probability 1 - alpha. What is done with the samples: evidence.py.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import replace

import numpy as np
from numpy.random import SeedSequence

from ...mechanisms import InputError
from ...mechanisms import Mechanism as Description
from ...mechanisms.arrays import Floats
from ...mechanisms.validate import choice, count, open_probability, positive
from . import likelihood
from .calling import Mechanism, batched, called, style_of
from .curve import ClaimedCurve, as_claim
from .eprocess import EProcess
from .evidence import Evidence, Part, evaluate
from .global_generators import SYSTEM
from .literals import replay as replaying
from .outputs import Encoder, Outputs
from .parts import (
    curve_test,
    densities,
    event_bound,
    rounding_warning,
    separation_bound,
    sequential,
    simultaneous_band,
)
from .repeated import repeated_outputs
from .result import AuditResult
from .scores import LowBits, Score
from .trials import Progress, Samples, Trials, run_side
from .witness import Question

__tracebackhide__ = True  # pytest: what fails here is the caller's mechanism

SHARES: dict[str, dict[str, float]] = {
    "best": {
        "eprocess": 0.05, "curve": 0.45, "repeated": 0.32, "event": 0.08, "mu": 0.04, "band": 0.04, "rounding": 0.02
    },
    "curve": {"curve": 1.0},
    "event": {"event": 0.6, "repeated": 0.4},
    "mu": {"mu": 1.0},
    "band": {"band": 1.0},
    "eprocess": {"eprocess": 1.0},
    "likelihood": {"curve": 0.5, "event": 0.25, "densities": 0.25},
    "low-bits": {"eprocess": 0.2, "curve": 0.6, "event": 0.2},
}  # fmt: skip
"""How each method splits alpha over its parts."""
CLAIM_PARTS = ("eprocess", "curve", "rounding")
"""Parts that need a claim; without one their share goes to the others in proportion."""

PARTS: dict[str, Part] = {
    "curve": curve_test,
    "repeated": repeated_outputs,
    "event": event_bound,
    "mu": separation_bound,
    "band": simultaneous_band,
    "rounding": rounding_warning,
}
"""Those that need nothing but the samples."""
BOUNDS = ("repeated", "event", "mu", "band")
"""Those that say how large epsilon is, which an early stop leaves unspent."""

MOST_WATCHED = 1 << 14
"""Trials that the e-process of "best" sees; it is there for obvious cases and small budgets."""


def audit(
    mechanism: Mechanism,
    pair: tuple[object, object],
    *,
    epsilon: float | None = None,
    delta: float = 0.0,
    claim: ClaimedCurve | Description | None = None,
    trials: int = 10_000,
    alpha: float = 0.01,
    method: str = "best",
    scores: Sequence[Score] | None = None,
    loss: Callable[[Floats], Floats] | None = None,
    seed: int = 0,
    executor: Executor | None = None,
    max_seconds: float | None = None,
    progress: Progress | None = None,
    replay: str | None = None,
    after_stop: int = 0,
) -> AuditResult:
    """Runs the mechanism on a pair of neighbouring datasets and reports what can be told apart.

    mechanism: `mechanism(dataset, rng) -> output`, `mechanism(dataset)`, or batched with a parameter `size` (returns
    that many outputs, trial first) or `rngs` (one numpy Generator per trial). Outputs: numbers, arrays, tensors,
    objects, nested transcripts. Calls must be independent of each other. Global generators are seeded while it runs.
    pair: the two neighbouring data sets. epsilon, delta: the claim; or claim: a ClaimedCurve or a described mechanism.
    Neither: bounds only. trials: calls a side, on average. alpha: the probability that anything reported is false.
    method: one of SHARES; "low-bits" asks whether floating-point rounding gives the dataset away, which the others do
    not. scores: functions from an output to a number by which the two are told apart; None tries the usual ones.
    loss: log density ratio of rows, needed by "likelihood". replay: the command or code that repeats this audit, for
    the witness. after_stop: further calls a side, spent on the bound alone where the evidence sufficed early.

    Raises InputError (a ValueError) for values that cannot be worked with, before any trial is run, and
    MechanismError where the mechanism raises an exception (observing_failures makes it an output instead).

    >>> def too_little_noise(dataset, rng, size):
    ...     return sum(dataset) + rng.laplace(0.0, 0.5, size)
    >>> audit(too_little_noise, ([0.0], [1.0]), epsilon=1.0).refuted
    True
    """
    started, curve = time.perf_counter(), as_claim(claim, epsilon, delta)
    open_probability("alpha", alpha)
    count("after_stop", after_stop, least=0)
    parts, both, tried = _parts(method, curve, alpha, loss), _both(pair), _scores(scores, method, loss)
    process = EProcess(curve, tried, seed) if curve is not None and "eprocess" in parts else None
    draw = _draws(mechanism, both, seed, executor, max_seconds, progress)
    samples = draw(2 * count("trials", trials), watch=_watcher(process, parts.get("eprocess"), method))
    if replay is None:  # scores and losses of one's own cannot be told a command
        told = curve if scores is None and loss is None else None
        replay = replaying(mechanism, both, told, delta, trials, alpha, method, seed)
    evidence = Evidence(samples, curve, delta, tried, Question(called(mechanism), both, seed, replay, samples.layout))
    watched = [] if process is None else [(sequential(process), parts["eprocess"])]
    result = evaluate(evidence, _objects(parts, loss), alpha, started, watched)
    if samples.failure is not None:
        samples.failure.known = result if samples.trials > 0 and process is not None else None
        raise samples.failure
    if after_stop and result.stopped == "early":
        result = result.with_bounds_of(_bounds(draw(2 * after_stop, stage=1), evidence, parts, alpha, started))
    once = "" if result.witness is None else _why_not(mechanism, both, seed, samples.generators)
    return result if result.witness is None else replace(result, witness=replace(result.witness, once=once))


def _draws(
    mechanism: Mechanism,
    pair: tuple[object, object],
    seed: int,
    executor: Executor | None,
    max_seconds: float | None,
    progress: Progress | None,
) -> Callable[..., Samples]:
    """(trials, stage=, watch=) to samples of so many trials, which other stages do not share."""
    if max_seconds is not None:
        positive("max_seconds", max_seconds)

    def draw(trials: int, stage: int = 0, watch: Callable[[Outputs, Outputs], bool] | None = None) -> Samples:
        drawn = Trials(mechanism, pair, seed, executor, stage)
        return drawn.collect(trials, max_seconds=max_seconds, progress=progress, watch=watch)

    return draw


def _both(pair: object) -> tuple[object, object]:
    if not isinstance(pair, tuple | list) or len(pair) != 2:
        raise InputError("pair", pair, "two neighbouring datasets: (dataset, neighbour)")
    if any(map(_is_read_once, pair)):
        raise InputError("pair", pair, "datasets such as lists: an iterator is empty after the first call has read it")
    return pair[0], pair[1]


def _is_read_once(dataset: object) -> bool:
    """Whether it, or what is in it, is an iterator, a generator or an open file."""
    inside = dataset.values() if isinstance(dataset, dict) else dataset if isinstance(dataset, list | tuple) else ()
    kinds = {type(part) for part in inside}  # many entries are of few types
    if any(issubclass(kind, list | tuple | dict | Iterator) for kind in kinds):
        return any(map(_is_read_once, inside))
    return isinstance(dataset, Iterator)


def _bounds(further: Samples, evidence: Evidence, parts: dict[str, float], alpha: float, started: float) -> AuditResult:
    """What samples that decided nothing say of how large epsilon is."""
    question = replace(evidence.question, layout=further.layout)
    fresh = Evidence(further, None, evidence.delta, evidence.scores, question)
    return evaluate(fresh, [(PARTS[name], parts[name]) for name in BOUNDS if name in parts], alpha, started)


def audit_samples(
    samples: Samples,
    *,
    claim: ClaimedCurve | None = None,
    delta: float = 0.0,
    alpha: float = 0.01,
    method: str = "curve",
    scores: Sequence[Score] | None = None,
    seed: int = 0,
) -> AuditResult:
    """The same on outputs that were drawn elsewhere (see sampling.from_arrays). No e-process: it needs an order."""
    started = time.perf_counter()
    open_probability("alpha", alpha)
    parts = {name: share for name, share in _parts(method, claim, alpha, None).items() if name != "eprocess"}
    pair = "(given outputs)", "(given outputs)"
    question = Question("the mechanism", pair, seed, "the same outputs and seed", samples.layout)
    tried = None if scores is None else tuple(scores)
    return evaluate(Evidence(samples, claim, delta, tried, question), _objects(parts, None), alpha, started)


def _scores(
    scores: Sequence[Score] | None, method: str, loss: Callable[[Floats], Floats] | None
) -> tuple[Score, ...] | None:
    """Those to try; None: the usual ones."""
    tried = None if scores is None else tuple(scores)
    if method == "low-bits" and tried is None:
        tried = (LowBits(),)
    return tried if loss is None else (*(tried or ()), likelihood.Loss(loss))


def _objects(parts: dict[str, float], loss: Callable[[Floats], Floats] | None) -> list[tuple[Part, float]]:
    """The parts with their errors, but for the e-process, which watched the trials."""
    made = PARTS if loss is None else {**PARTS, "densities": densities(loss)}
    return [(made[name], error) for name, error in parts.items() if name in made]


def _parts(method: str, claim: ClaimedCurve | None, alpha: float, loss: object) -> dict[str, float]:
    shares = SHARES[choice("method", method, SHARES)]
    if method == "likelihood" and loss is None:
        raise InputError("loss", loss, "the log density ratio of the outputs, for method = 'likelihood'")
    if claim is None:
        shares = {name: share for name, share in shares.items() if name not in CLAIM_PARTS}
        if not shares:
            raise InputError("claim", claim, f"a claim (or epsilon) for method = {method!r}")
    whole = sum(shares.values())
    return {name: alpha * share / whole for name, share in shares.items()}


def _watcher(process: EProcess | None, error: float | None, method: str) -> Callable[[Outputs, Outputs], bool] | None:
    if process is None or error is None:
        return None

    sufficed = 0  # trials after which the claim was refuted; as many again say how large epsilon is

    def watch(dataset: Outputs, neighbour: Outputs) -> bool:
        nonlocal sufficed
        if method != "eprocess" and process.trials >= MOST_WATCHED and not sufficed:
            return False
        if process.feed(dataset, neighbour, stop_at=1 / error) and not sufficed:
            sufficed = process.trials
        return 0 < 2 * sufficed <= process.trials

    return watch


REPEATED = 8
"""Calls a side that are made twice, to see whether the same seed gives the same outputs."""


def _why_not(mechanism: Mechanism, pair: tuple[object, object], seed: int, generators: tuple[str, ...]) -> str:
    """Why another run of the same audit gives other counts, in a sentence; empty where it gives the same."""
    if SYSTEM in generators:
        source = f"{SYSTEM} (os.urandom, secrets, or a generator without a seed)"
    elif not _same_again(mechanism, pair, seed):
        source = "a generator of its own, which dpcert cannot seed"
    else:
        return ""
    return (
        f"The mechanism draws from {source}: this audit cannot be replayed, another run gives other counts. "
        "Its error probability holds once per run."
    )


def _same_again(mechanism: Mechanism, pair: tuple[object, object], seed: int) -> bool:
    style, seeds = style_of(mechanism), SeedSequence([seed, 0xA6A1]).spawn(2)
    rows = []
    for _ in range(2):
        raw = [run_side(mechanism, side, one, REPEATED, style).outputs for side, one in zip(pair, seeds, strict=True)]
        encoder = Encoder()
        both = [encoder.batch(one, REPEATED) if batched(style) else encoder.each(one) for one in raw]  # type: ignore[arg-type]
        rows.append([side.keys() for side in both])
    return all(np.array_equal(a, b) for a, b in zip(*rows, strict=True))
