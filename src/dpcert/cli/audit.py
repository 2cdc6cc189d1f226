"""dpcert audit: try to refute a privacy claim about any callable by running it."""

from __future__ import annotations

import shlex
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from ..mechanisms import InputError
from ..mechanisms.validate import count
from .audit_schedule import audited, print_audit
from .options import Json
from .output import print_json, rounded_down
from .workers import pool

if TYPE_CHECKING:
    from ..proofs_checks.auditing import AuditResult

NOT_REFUTED, REFUTED = 0, 1


def audit_command(
    mechanism: Annotated[
        str | None, typer.Argument(metavar="MODULE:CALLABLE", help="mechanism(dataset, rng) -> output.")
    ] = None,
    epsilon: Annotated[float | None, typer.Option("--epsilon", help="Claimed epsilon, at least 0.")] = None,
    delta: Annotated[float, typer.Option("--delta", help="Claimed delta, at least 0.")] = 0.0,
    mu: Annotated[float | None, typer.Option("--mu", help="Claim mu-GDP instead of (epsilon, delta).")] = None,
    pair: Annotated[
        str | None,
        typer.Option(
            "--pair",
            metavar="MODULE:NAME",
            help="The two neighbouring datasets, or a function returning them; or both written out, '([1.0], [])', "
            "'(array([1.0, nan]), array([]))'. "
            "Default: the callable's attribute pair, else its module's PAIR, else generic lists of numbers.",
        ),
    ] = None,
    neighbouring: Annotated[str, typer.Option("--neighbouring", help="For generic pairs only.")] = "add-remove",
    trials: Annotated[int, typer.Option("--trials", help="Calls a side.")] = 100_000,
    alpha: Annotated[float, typer.Option("--alpha", help="Probability that anything reported is false.")] = 0.01,
    method: Annotated[str, typer.Option("--method", help="best, curve, event, band, mu, eprocess, low-bits.")] = "best",
    seed: Annotated[int, typer.Option("--seed", help="Seed of all randomness.")] = 0,
    max_seconds: Annotated[
        float, typer.Option("--max-seconds", help="Time budget of the trials; what is known then is said.")
    ] = 60,
    observe_failures: Annotated[
        bool, typer.Option("--observe-failures", help="Exceptions are outputs: whoever looks sees that a call failed.")
    ] = False,
    workers: Annotated[int, typer.Option("--workers", help="Processes to run trials in; 0: this one.")] = 0,
    schedule: Annotated[
        Path | None,
        typer.Option(
            "--schedule",
            metavar="LOG",
            help="Instead of a callable: were these cohorts sampled as they are accounted? JSON of population, "
            "sampling (as in a claim), rounds (a list of unit numbers each). --alpha: false alarms.",
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Attack a mechanism, or the schedule of a run: is it as private as claimed?

    Exit code: 0 nothing was refuted (which proves nothing); 1 the claim is refuted; 2 bad input, or an exception in
    the mechanism. Ctrl-C ends the trials; whatever ends them, what is known by then is reported.
    """
    if schedule is not None:
        if mechanism is not None or epsilon is not None or mu is not None:
            raise InputError(
                "--schedule", str(schedule), "no callable and no claim beside it: it says what it is itself"
            )
        found = audited(schedule, alpha)
        print_audit(schedule, found, as_json)
        raise typer.Exit(REFUTED if found.refuted else NOT_REFUTED)
    if mechanism is None:
        raise InputError("MODULE:CALLABLE", None, "a callable to attack, or --schedule LOG")
    if (epsilon is None) == (mu is None):
        raise InputError("--epsilon", epsilon, "a claim: --epsilon (with --delta), or --mu")
    count("--workers", workers, least=0)
    from ..proofs_checks.auditing import MechanismError, approximate_dp, gdp, observing_failures
    from ..proofs_checks.auditing.attack import attack
    from ..proofs_checks.auditing.target import load

    claim = gdp(mu) if mu is not None else approximate_dp(epsilon, delta)  # type: ignore[arg-type]
    target = load(mechanism, pair, neighbouring)
    if observe_failures:
        target = replace(target, mechanism=observing_failures(target.mechanism))
    if target.generic:
        typer.echo("note: no pair was given; generic arrays of numbers in [0, 1] are tried (see --pair)", err=True)
    columns = TextColumn("trials"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()
    failure: MechanismError | None = None
    with pool(workers) as executor, Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task("", total=2 * trials)
        try:
            result: AuditResult | None = attack(
                target,
                claim,
                delta=delta,
                trials=trials,
                alpha=alpha,
                max_seconds=max_seconds,
                seed=seed,
                method=method,
                executor=executor,
                progress=lambda done, total: bar.update(task, completed=done, total=total),
                replay=_replay(mechanism, epsilon, delta, mu, pair, neighbouring, trials, alpha, method, seed)
                + (" --observe-failures" if observe_failures else ""),
            )
        except MechanismError as problem:
            failure, result = problem, problem.known
    if result is not None and as_json:
        print_json({"mechanism": mechanism, "generic_pair": target.generic, **result.to_json()})
    elif result is not None:
        _print(mechanism, result)
    if failure is not None:
        raise failure
    raise typer.Exit(REFUTED if result is not None and result.refuted else NOT_REFUTED)


def _replay(
    mechanism: str,
    epsilon: float | None,
    delta: float,
    mu: float | None,
    pair: str | None,
    neighbouring: str,
    trials: int,
    alpha: float,
    method: str,
    seed: int,
) -> str:
    claim = f"--mu {mu!r}" if mu is not None else f"--epsilon {epsilon!r} --delta {delta!r}"
    where = f" --pair {shlex.quote(pair)}" if pair is not None else f" --neighbouring {neighbouring}"
    return (
        f"dpcert audit {mechanism} {claim}{where} --trials {trials} --alpha {alpha!r} --method {method} --seed {seed}"
    )


def _print(mechanism: str, result: AuditResult) -> None:
    verdict = "REFUTED" if result.refuted else "not refuted"
    claimed = result.claim.text if result.claim is not None else "nothing"
    typer.echo(f"{mechanism}: {claimed} is {verdict} (error probability {result.alpha:g})")
    typer.echo(f"  {result.trials} calls in {result.seconds:.2f} s, {result.stopped}; p-value {result.p_value:.3g}")
    for bound in result.bounds:
        at = f" at delta = {bound.delta:g}" if bound.delta is not None else ""
        model = f", if the noise is as assumed: {bound.assumes}" if bound.assumes else ""
        typer.echo(f"  {bound.quantity}{at} is at least {rounded_down(bound.value, 5)} ({bound.method}{model})")
    if result.effective_noise is not None and result.effective_noise < 1:
        typer.echo(f"  the noise is at most {result.effective_noise:.4f} times what the claim needs")
    for told in result.blind:
        typer.echo(f"  blind to {told}")
    if result.witness is not None:
        typer.echo(f"{result.witness}")
