"""dpcert audit-training: attack a trainer end to end, and hold what was learned against its certified cost."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from ..mechanisms import InputError
from ..mechanisms.digits import rounded_down, rounded_up
from ..mechanisms.validate import choice
from ..presentation.output import print_json
from . import options
from .train import resolve
from .train_options import ALGORITHMS, DEFAULTS, MOCHA_FAMILY, Relations, Rounds, SharedLayers, What, with_options

if TYPE_CHECKING:
    from ..proofs_checks.auditing.trainer import TrainerAudit

NOT_REFUTED, REFUTED = 0, 1

FEW, FACTOR = 16, 16
SMALL, MANY = (f"synthetic:related,population={size},samples=2,features=60" for size in (FEW, FACTOR * FEW))
"""Without --data: what a run costs does not depend on the data, so that small data attack as well. The one run has
FACTOR times as many clients, and FACTOR times the cohort."""

SHORT = 3
"""Rounds of a run, without --rounds."""

VIEWS = {"coalition": "all other clients", "outside": "a reader of the releases"}

NOT_AUDITED = {
    MOCHA_FAMILY: "MOCHA's runs with noise are audited in tests alone, and those without make no claim",
    ("local",): "local training releases nothing, so that there is nothing to attack",
    ("dpfedmtl-as-printed",): "nothing is clipped, so that its epsilon is infinite and no attack contradicts it",
    ("dpfedmtl-local-noise", "dpfedmtl-clipped"): "its clients add the noise, and canaries here are for a server's",
}
"""Algorithms without an attack here, and why, beside what dpcert.proofs_checks.audit_trainer takes from Python."""


class Attack:
    """What is attacked, and how hard."""

    rounds: Annotated[int | None, typer.Option(help=f"Rounds of a run. Default: {SHORT}.")] = None
    noise_multiplier: Annotated[float, typer.Option(help="Noise on the sum of updates, in units of --clip-norm.")] = 1.0
    clip_norm: Annotated[float, typer.Option(help="Bound on one client's update.")] = 1.0
    delta: Annotated[float, typer.Option(help="Of the epsilon that is compared.")] = 1e-5
    neighbouring: Annotated[str | None, typer.Option(help="As for train.")] = None
    view: Annotated[
        str, typer.Option(help="Who attacks: coalition (all other clients) or outside (who reads the releases).")
    ] = "coalition"
    runs: Annotated[int, typer.Option(help="Short runs a side with one canary.")] = 1000
    canaries: Annotated[
        int | None, typer.Option(help="Canaries in the one run with many. Default: as many as it holds.")
    ] = None
    error_probability: Annotated[float, typer.Option(help="Probability that anything reported is false.")] = 0.01
    max_seconds: Annotated[float, typer.Option(help="Time for the short runs; what is known then is said.")] = 60
    seed: Annotated[int, typer.Option(help="Of everything.")] = 0
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress bar.")] = False
    as_json: options.Json = False


GROUPS = (What, Rounds, Relations, SharedLayers, Attack)


COLUMNS = TextColumn("short runs"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()


def _attack(asked: SimpleNamespace) -> None:
    """Attack a trainer end to end: is a run of it as private as is certified?

    A client that sends the most that the neighbouring relation allows is there or not (or sends the opposite), and
    whoever sees the releases guesses which. Exit code: 0 nothing was refuted, which proves nothing; 1 refuted; 2 bad
    input.
    """
    told = SimpleNamespace(**DEFAULTS | vars(asked))
    told.rounds = SHORT if asked.rounds is None else asked.rounds
    told.data = SMALL if asked.data == DEFAULTS["data"] else asked.data
    named = asked.algorithm if asked.variant is None else f"{asked.algorithm}-{asked.variant}"
    for names, why in NOT_AUDITED.items():
        if named in names:
            raise InputError("algorithm", named, f"one that this command can attack: {why}")
    choice("algorithm", asked.algorithm, ALGORITHMS)
    resolve(told)
    try:
        import torch
    except ImportError as error:
        raise InputError("audit-training", "torch is not installed", "pip install 'dpcert[train]'") from error
    torch.set_num_threads(1)
    found = _found(told)
    if asked.as_json:
        named = {name: getattr(told, name) for name in ("algorithm", "data", "model", "rounds", "view")}
        print_json(named | found.to_json())
    else:
        _print(told, found)
    raise typer.Exit(REFUTED if found.refuted else NOT_REFUTED)


def _found(told: SimpleNamespace) -> TrainerAudit:
    from ..proofs_checks.auditing.federated import FederatedCanaries
    from ..proofs_checks.auditing.trainer import audit_trainer
    from ..trainers.build import build_algorithm
    from ..trainers.federated import PrivacyGoal, load_federation
    from .train_run import parameters_of, settings_of, warnings_on_stderr

    def canaries(data: str) -> FederatedCanaries:
        federation = load_federation(data, seed=told.seed)
        return FederatedCanaries(
            federation,
            build_algorithm(told.algorithm, parameters_of(told), federation.population),
            replace(settings_of(told, federation), noise_multiplier=told.noise_multiplier),
            told.model,
            PrivacyGoal(told.delta, told.neighbouring),
            told.view,
        )

    with warnings_on_stderr(), Progress(*COLUMNS, console=Console(stderr=True), disable=told.quiet) as bar:
        trainer, single = canaries(told.data), None
        if told.data == SMALL:
            told.cohort = trainer.settings.cohort * FACTOR
            single = canaries(MANY)
        task = bar.add_task("", total=2 * told.runs)
        return audit_trainer(
            trainer,
            single=single,
            delta=told.delta,
            runs=told.runs,
            canaries=told.canaries,
            alpha=told.error_probability,
            seed=told.seed,
            max_seconds=told.max_seconds,
            progress=lambda done, total: bar.update(task, completed=done, total=total),
        )


def _print(told: SimpleNamespace, found: TrainerAudit) -> None:
    verdict = "REFUTED" if found.refuted else "not refuted"
    typer.echo(
        f"{told.algorithm}, {told.rounds} rounds, attacked by {VIEWS[told.view]}: {verdict} "
        f"(error probability {found.alpha:g})"
    )
    typer.echo(
        f"  certified epsilon <= {rounded_up(found.certified.upper, 6)} at delta = {found.delta:g} "
        f"({found.claim.notion}, {found.claim.neighbouring}); at least {rounded_down(found.epsilon_lower, 4)} by "
        f"attack, {found.share:.0%} of it"
    )
    typer.echo(
        f"  mu: certified {rounded_up(found.mu_claimed, 4)}, at least {rounded_down(found.runs.mu_lower, 4)} by "
        f"{found.runs.trials} short runs, at least {rounded_down(found.single.mu_lower, 4)} by one run"
    )
    seen = found.single.guesses
    typer.echo(
        f"  one run with {seen.canaries} canaries: {seen.correct} of {seen.made} guesses right, epsilon at least "
        f"{rounded_down(found.single.epsilon_lower, 4)}, p-value {found.single.p_value:.3g}"
    )
    alike = " and ".join(f"{bound.quantity} at least {rounded_down(bound.value, 4)}" for bound in found.single.if_alike)
    typer.echo(f"  if its canaries answered independently and alike, which is not shown and refutes nothing: {alike}")
    typer.echo(f"  {found.seconds:.1f} s; p-value of the short runs {found.runs.p_value:.3g}")


audit_training_command = with_options(_attack, GROUPS)
