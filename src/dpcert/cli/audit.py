"""dpcert audit: try to refute a privacy claim about any callable by running it."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from ..mechanisms import InputError
from ..mechanisms.tables.fields import MissingKeys
from ..mechanisms.validate import choice, count
from ..mechanisms.workers import pool
from ..presentation.output import say, show
from ..presentation.progress import bar
from .declared import with_fields
from .options import Json, two

if TYPE_CHECKING:
    from ..proofs_checks.auditing import AuditResult, MechanismError
    from ..proofs_checks.auditing.target import Target

NOT_REFUTED, REFUTED, NOTHING_CHECKED = 0, 1, 4


@dataclass(frozen=True, slots=True)
class Asked:
    """Which claim about what, and how it is attacked; the fields are the options, in the order of --help."""

    mechanism: Annotated[
        str | None,
        typer.Argument(metavar="MODULE:CALLABLE", help="A Python function: mechanism(dataset, rng) -> output."),
    ] = None
    epsilon: Annotated[float | None, "Claimed epsilon, at least 0."] = None
    delta: Annotated[float, "Claimed delta, at least 0."] = 0.0
    mu: Annotated[float | None, "Claimed mu (Gaussian DP), instead of epsilon."] = None
    rho: Annotated[float | None, "Claimed rho (zCDP), instead of epsilon."] = None
    curve: Annotated[
        list[str] | None,
        typer.Option(
            metavar="EPSILON:DELTA",
            help="Instead of epsilon: one point of a claimed curve. Repeatable; all points are claimed.",
        ),
    ] = None
    renyi: Annotated[
        str | None,
        typer.Option(metavar="ORDER:DIVERGENCE", help="Instead of epsilon: a claimed Renyi divergence of one order."),
    ] = None
    pair: Annotated[
        str | None,
        typer.Option(
            metavar="MODULE:NAME",
            help="The two neighbouring datasets, or a function returning them; or both written out, '([1.0], [])', "
            "'(array([1.0, nan]), array([]))'. "
            "Default: the callable's attribute pair, else its module's PAIR, else the usual worst cases, made from the "
            "function's annotations and defaults.",
        ),
    ] = None
    neighbouring: Annotated[str, "add-remove, replace-one or zero-out, for the usual pairs."] = "add-remove"
    trials: Annotated[int, "Calls per data set."] = 100_000
    alpha: Annotated[float, "Error probability: of reporting anything that is false."] = 0.01
    method: Annotated[str, "best, curve, event, band, mu, eprocess, low-bits."] = "best"
    seed: Annotated[int, "Seed of all randomness."] = 0
    max_seconds: Annotated[float, "Time limit of the trials; then the result so far is reported."] = 60
    after_stop: Annotated[
        int, "After a claim was refuted early: further calls per data set for a larger lower bound."
    ] = 0
    observe_failures: Annotated[bool, "If an attacker can see that a call failed: count failures as outputs."] = False
    workers: Annotated[int, "Number of worker processes; 0 means none besides this one."] = 0

    def stated(self) -> dict[str, Any]:
        """What is claimed, by the currency that it is claimed in."""
        curve = [two("--curve", "EPSILON:DELTA, such as 1:1e-5", point) for point in self.curve or ()]
        order = None if self.renyi is None else two("--renyi", "ORDER:DIVERGENCE, such as 2:0.5", self.renyi)
        claims = {"epsilon": self.epsilon, "mu": self.mu, "rho": self.rho, "curve": curve or None, "renyi": order}
        return {name: claimed for name, claimed in claims.items() if claimed is not None}

    def target(self) -> Target:
        """The mechanism, with the datasets to run it on."""
        from ..proofs_checks.auditing import observing_failures
        from ..proofs_checks.auditing.target import load

        found = load(self.mechanism or "", self.pair, self.neighbouring)
        return replace(found, mechanism=observing_failures(found.mechanism)) if self.observe_failures else found

    def replay(self) -> str:
        """The command that does the same again."""
        stated = []
        for name, claimed in self.stated().items():
            for one in claimed if name == "curve" else [claimed]:
                stated.append(f"--{name} {':'.join(map(repr, one)) if isinstance(one, tuple) else repr(one)}")
        claim = " ".join([*stated, f"--delta {self.delta!r}"])
        pair = f"--pair {shlex.quote(self.pair)}" if self.pair is not None else f"--neighbouring {self.neighbouring}"
        how = f"--trials {self.trials} --alpha {self.alpha!r} --method {self.method} --seed {self.seed}"
        more = f" --after-stop {self.after_stop}" if self.after_stop else ""
        failures = " --observe-failures" if self.observe_failures else ""
        return f"dpcert audit {self.mechanism} {claim} {pair} {how}{more}{failures}"


@with_fields(Asked)
def audit_command(
    asked: Asked,
    schedule: Annotated[
        Path | None,
        typer.Option(
            metavar="LOG",
            help="Instead of a callable: were these cohorts sampled as they are accounted? JSON of population, "
            "sampling (as in a claim), rounds (a list of unit numbers each). --alpha: false alarms.",
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Exit code: 0 nothing was refuted (which proves nothing); 1 the claim is refuted; 2 bad input, or an exception in
    the mechanism; 4 nothing could be checked: the data sets are equal, the output is constant or cannot be read, or
    there were too few calls. Ctrl-C ends the trials; whatever ends them, what is known by then is reported.
    """
    if schedule is not None:
        _against_schedule(schedule, asked, as_json)
    _refuse_what_is_no_question(asked)
    target = asked.target()
    _say_beforehand(asked, target)
    result, failure = _attacked(asked, target)
    if result is not None:
        show(result, as_json)
    if failure is not None:
        raise failure
    raise typer.Exit(_exit_code(result))


def _exit_code(result: AuditResult | None) -> int:
    if result is not None and result.refuted:
        return REFUTED
    return NOTHING_CHECKED if result is not None and result.unchecked else NOT_REFUTED


def _say_beforehand(asked: Asked, target: Target) -> None:
    """On stderr: which pairs are tried, and that the calls asked for could not refute the claim, where that is so."""
    from ..proofs_checks.auditing.checked import too_few
    from ..proofs_checks.auditing.curve import stated_claim

    if target.generic:
        tried = f"the {len(target.pairs)} usual pairs of data sets are tried, each at an equal part of --alpha"
        say(f"note: no pair was given; {tried} (see --pair)", err=True)
    few = too_few(2 * asked.trials, stated_claim(asked.stated(), asked.delta), asked.alpha / len(target.pairs))
    if few:
        say(f"warning: {few}", err=True)


def _refuse_what_is_no_question(asked: Asked) -> None:
    """One callable, and one claim about it, that can be read."""
    claims = "this (with --delta), --mu, --rho, --curve or --renyi"
    lacking = {} if asked.mechanism is not None else {"MODULE:CALLABLE": "a callable to attack, or --schedule LOG"}
    stated = asked.stated()
    if not stated:
        lacking["--epsilon"] = f"a claim: {claims}"
    if lacking:
        raise MissingKeys(lacking)
    if len(stated) > 1:
        raise InputError("--epsilon", asked.epsilon, f"one claim: {claims.replace('this', '--epsilon')}")
    count("--workers", asked.workers, least=0)
    count("--after-stop", asked.after_stop, least=0)


def _against_schedule(log: Path, asked: Asked, as_json: bool) -> NoReturn:
    """Were these cohorts sampled as they are accounted?"""
    if asked.mechanism is not None or asked.stated():
        raise InputError("--schedule", str(log), "no callable and no claim beside it: it says what it is itself")
    from ..proofs_checks.schedules.logged import audited

    found = audited(log, asked.alpha)
    show(found, as_json)
    raise typer.Exit(REFUTED if found.refuted else NOT_REFUTED)


def _attacked(asked: Asked, target: Target) -> tuple[AuditResult | None, MechanismError | None]:
    """What the attack found, and what ended it, if the mechanism raised an exception."""
    from ..proofs_checks.auditing import MechanismError
    from ..proofs_checks.auditing.attack import attack
    from ..proofs_checks.auditing.audit import SHARES
    from ..proofs_checks.auditing.curve import stated_claim
    from ..proofs_checks.auditing.target import imported

    choice("--method", asked.method, SHARES)  # before the bar
    found = partial(imported, asked.mechanism or "", asked.pair)
    with pool(asked.workers, start=found) as executor, bar("trials") as progress:
        try:
            result = attack(
                target,
                stated_claim(asked.stated(), asked.delta),
                delta=asked.delta,
                trials=asked.trials,
                alpha=asked.alpha,
                max_seconds=asked.max_seconds,
                seed=asked.seed,
                method=asked.method,
                executor=executor,
                after_stop=asked.after_stop,
                progress=progress,
                replay=asked.replay(),
            )
        except MechanismError as problem:
            return problem.known, problem
    return result, None
