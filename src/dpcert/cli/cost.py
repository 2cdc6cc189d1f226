"""dpcert epsilon and dpcert delta: the certified interval of one run."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any

import typer

from ..accounting import Bracket
from ..accounting import delta as delta_of
from ..accounting import epsilon as epsilon_of
from ..accounting.currencies.convert import Asked, Known, composed_amount, convert
from ..accounting.currencies.pure_dp import UNBOUNDED
from ..mechanisms import InputError, Mechanism, NoNoise, rounds_by_step
from ..mechanisms.digits import as_given, digits_for, interval, rounded_up
from ..presentation.output import print_json, say, show
from . import options
from .convert import only_known
from .declared import with_fields
from .estimate import limit_theorem, simulated, told
from .setting import Setting, refuse_others, required, timed

KnownRho = Annotated[float | None, "Instead of describing a run: the rho (zCDP) of each round."]
KnownMu = Annotated[float | None, "Instead of describing a run: the mu (Gaussian DP) of each round."]


@with_fields(Setting)
def epsilon_command(
    *,
    context: typer.Context,
    delta: options.Delta = None,
    asked: Setting,
    rho: KnownRho = None,
    mu: KnownMu = None,
    as_json: options.Json = False,
) -> None:
    """Compute the epsilon of a run at --delta: an interval that contains the true value.

    Example: dpcert epsilon --delta 1e-5 --rounds 10000 --noise-multiplier 1
    --sampling poisson --sampling-rate 0.01

    dpcert epsilon --delta 1/60000 --noise-multiplier 1.1 --sampling poisson --dataset-size 60000 --batch-size 256
    --epochs 60

    dpcert epsilon --delta 1e-6 --mechanism discrete-gaussian --set sigma=4 --rounds 100

    dpcert epsilon --delta 1e-6 --rho 0.1
    """
    if rho is not None or mu is not None:
        _of_guarantee(context, only_known({"rho": rho, "mu": mu}), ("epsilon", "delta", delta), asked.rounds, as_json)
        return
    run, at = asked.run(delta=delta), delta or 0.0
    found, seconds = timed(lambda: asked.proved(epsilon_of(run, at, **asked.against())))
    beside = simulated(run, asked, delta=at) | limit_theorem(run, asked, found, found.upper)
    show(Answer("epsilon", "delta", at, found, asked, seconds, beside), as_json)


def _of_guarantee(
    context: typer.Context,
    known: tuple[Known, float],
    asked: tuple[Asked, str, float | None],
    rounds: int | None,
    as_json: bool,
) -> None:
    """At most the epsilon (at a delta), or delta (at an epsilon), of whatever has this rho or mu in each of the rounds:
    how it was got does not matter."""
    wanted, place, at = asked
    refuse_others(context, ("rho", "mu", place, "rounds", "as_json"), f"nothing of a run beside --{known[0]}")
    required(**{place: at})
    rounds = 1 if rounds is None else rounds
    if not known[1] > 0:
        raise InputError(f"--{known[0]}", known[1], "a number above 0")
    found, seconds = timed(lambda: convert(known[0], composed_amount(*known, rounds), wanted, **{place: at}))  # type: ignore[arg-type] # place is delta or epsilon
    if as_json:
        told = {"direction": found.direction, "words": found.words, "seconds": seconds}
        about = {place: at, "notion": "dp", known[0]: known[1], "rounds": rounds}
        ends = {f"{wanted}_lower": 0.0, f"{wanted}_upper": found.at_most}
        print_json(ends | about | {"accountant": "conversion", "certified": True, "reached": True} | told)
        return
    each = f" in each of {rounds} rounds" if rounds != 1 else ""
    say(
        f"{wanted} <= {rounded_up(found.at_most)} at {place} = {as_given(at or 0.0)}, "
        f"from {known[0]} = {as_given(known[1])}{each}"
    )
    say(f"  {found.direction}: {found.words}")


@with_fields(Setting)
def delta_command(
    *,
    context: typer.Context,
    epsilon: options.Epsilon = None,
    asked: Setting,
    rho: KnownRho = None,
    mu: KnownMu = None,
    as_json: options.Json = False,
) -> None:
    """Compute the delta of a run at --epsilon: an interval that contains the true value.

    Example: dpcert delta --epsilon 2 --rounds 100 --noise-multiplier 4

    dpcert delta --epsilon 2 --mu 0.5
    """
    if rho is not None or mu is not None:
        _of_guarantee(context, only_known({"rho": rho, "mu": mu}), ("delta", "epsilon", epsilon), asked.rounds, as_json)
        return
    run, at = asked.run(epsilon=epsilon), epsilon or 0.0
    found, seconds = timed(lambda: asked.proved(delta_of(run, at, **asked.against())))
    beside = simulated(run, asked, epsilon=at) | limit_theorem(run, asked, found, at)
    show(Answer("delta", "epsilon", at, found, asked, seconds, beside), as_json)


WITHOUT_NOISE = "there is no noise: what is released shows the data of each unit that takes part as they are"
"""Why an epsilon is infinite, or a delta the probability of taking part."""


def _steps(run: Mechanism) -> Iterator[Mechanism]:
    """The releases of a run, without what says who is drawn for them."""
    for step in rounds_by_step(run):
        inner = getattr(step, "mechanism", None)
        yield from _steps(inner) if isinstance(inner, Mechanism) else (step,)


@dataclass(frozen=True, slots=True)
class Answer:
    """A quantity at a place, of the run that the options describe. beside: an estimate or an error bar, if any."""

    quantity: str
    place: str
    at: float
    found: Bracket
    asked: Setting
    seconds: float
    beside: dict[str, Any]

    def to_json(self) -> dict[str, Any]:
        """The document; infinities stay floats."""
        ends = {f"{self.quantity}_lower": self.found.lower, f"{self.quantity}_upper": self.found.upper}
        about = {self.place: self.at} | self.asked.to_json()
        reason = {"reason": WITHOUT_NOISE} if self._without_noise() else {}
        return ends | about | self.found.to_json(self.quantity) | {"seconds": self.seconds} | self.beside | reason

    def _without_noise(self) -> bool:
        return any(isinstance(step, NoNoise) for step in _steps(self.asked.run()))

    def __str__(self) -> str:
        asked, found = self.asked, self.found
        sampled = asked.sampling if asked.max_cohort is None else f"{asked.sampling}, cohorts cut to {asked.max_cohort}"
        against = f"{asked.notion}, {asked.relation}, sampling {sampled}"
        lines = [
            f"{self.quantity} in {interval(found, digits_for(asked.rtol))} at {self.place} = {as_given(self.at)}",
            f"  {found.kind}, by {found.method}, in {self.seconds:.3g} s; {against}",
            *([f"  {self._gap()}"] if found.certified and not found.reached and math.isfinite(found.upper) else []),
            *told(self.beside, self.quantity),
        ]
        if self._without_noise():
            lines.append(f"  {WITHOUT_NOISE}")
        unbounded = self.quantity == "epsilon" and self.at == 0.0 and math.isinf(found.upper)
        return "\n".join([*lines, *([f"  {UNBOUNDED}"] if unbounded else [])])

    def _gap(self) -> str:
        """Why the ends are further apart than --rtol."""
        share = 100 * self.found.width / self.found.upper
        apart = f"The ends are {min(share, 99.9):.{2 if share < 99 else 3}g}% apart"
        if self.asked.per_block and self.asked.per_block > 1:
            return f"{apart}: from above, {self.asked.per_block} rounds of a block are smaller blocks of one."
        return f"{apart}: dpcert knows no closer bounds (KNOWN_LIMITS.md)."
