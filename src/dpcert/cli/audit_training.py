"""dpcert audit-training: attack a trainer end to end, and hold what was learned against its certified cost."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..mechanisms import InputError
from ..presentation.output import show, warnings_on_stderr
from ..presentation.progress import bar
from ..trainers.names import METHODS
from . import options
from .declared import with_fields
from .train import Asked, checked

if TYPE_CHECKING:
    from ..proofs_checks.auditing.trainer import TrainerAudit

NOT_REFUTED, REFUTED, NOTHING_CHECKED = 0, 1, 4

FEW, FACTOR = 16, 16
SMALL, MANY = (f"synthetic:related,population={size},samples=2,features=60" for size in (FEW, FACTOR * FEW))
"""Without --data: what a run costs does not depend on the data, so that small data attack as well. The one run has
FACTOR times as many clients, and FACTOR times the cohort."""

SHORT = 3
"""Rounds of a run, without --rounds."""

VIEWS = {"coalition": "all other clients", "outside": "a reader of the releases"}

NOT_AUDITED = {
    METHODS: "MOCHA's runs with noise are audited in tests alone, and those without make no claim",
    ("local",): "local training releases nothing, so that there is nothing to attack",
    ("dpfedmtl-as-printed",): "nothing is clipped, so that its epsilon is infinite and no attack contradicts it",
    ("dpfedmtl-local-noise", "dpfedmtl-clipped"): "its clients add the noise, and canaries here are for a server's",
}
"""Algorithms without an attack here, and why, beside what dpcert.proofs_checks.audit_trainer takes from Python."""


LEFT_OUT = (
    *("finetune", "clipping", "noise_std", "sigma", "target_epsilon", "budget", "device", "engine"),
    *("checkpoint", "evaluate_every", "evaluate_clients", "plot", "save", "schedule_log", "attest", "key"),
)
"""Options of training that an attack has no use for."""


@with_fields(Asked, LEFT_OUT, rounds=SHORT, data=SMALL, noise_multiplier=1.0, clip_norm=1.0, seed=0)
def audit_training_command(
    asked: Asked,
    view: Annotated[
        str, "Who attacks: coalition (all other clients) or outside (who reads the releases)."
    ] = "coalition",
    runs: Annotated[int, "Number of short runs with one canary, per data set."] = 1000,
    canaries: Annotated[
        int | None, "Number of canaries in the one run with many. Default: as many as it can hold."
    ] = None,
    error_probability: Annotated[float, "Error probability: of reporting anything that is false."] = 0.01,
    max_seconds: Annotated[float, "Time limit of the short runs; then the result so far is reported."] = 60,
    as_json: options.Json = False,
) -> None:
    """An attacker plants a client that sends as much as the neighbouring relation allows, leaves it out (or lets it
    send the opposite), and guesses from the releases which it was. Exit code: 0 nothing was refuted (which proves
    nothing); 1 the claim is refuted; 2 bad input; 4 nothing could be checked.
    """
    for names, why in NOT_AUDITED.items():
        if asked.algorithm in names:
            raise InputError("algorithm", asked.algorithm, f"one that this command can attack: {why}")
    checked(asked)
    options.needs_torch("audit-training")
    attack = {"runs": runs, "canaries": canaries, "alpha": error_probability, "max_seconds": max_seconds}
    found = _found(asked, view, attack)
    show(found, as_json)
    raise typer.Exit(REFUTED if found.refuted else NOTHING_CHECKED if found.unchecked else NOT_REFUTED)


def _found(asked: Asked, view: str, attack: dict[str, Any]) -> TrainerAudit:
    import torch

    from ..proofs_checks.auditing.federated import FederatedCanaries
    from ..proofs_checks.auditing.trainer import audit_trainer
    from ..trainers.federated import PrivacyGoal, load_federation
    from .train_run import algorithm_of, model_of, settings_of

    torch.set_num_threads(1)

    def canaries(told: Asked) -> FederatedCanaries:
        federation = load_federation(told.data, seed=told.seed or 0)
        return FederatedCanaries(
            federation,
            algorithm_of(told, federation.population),
            replace(settings_of(told, federation), noise_multiplier=told.noise_multiplier or 0.0),
            model_of(told),
            PrivacyGoal(told.delta, told.neighbouring),  # type: ignore[arg-type] # which checks it
            view,  # type: ignore[arg-type] # which checks it
        )

    with warnings_on_stderr(), bar("short runs", quiet=asked.quiet) as progress:
        trainer, single = canaries(asked), None
        if asked.data == SMALL:
            single = canaries(replace(asked, data=MANY, cohort=trainer.settings.cohort * FACTOR))
        found = audit_trainer(
            trainer, single=single, delta=asked.delta, seed=asked.seed or 0, progress=progress, **attack
        )
    named = {"algorithm": asked.algorithm, "data": asked.data, "model": model_of(asked), "rounds": asked.rounds}
    words = f"{asked.algorithm}, {asked.rounds} rounds, attacked by {VIEWS[view]}"
    return replace(found, trainer=words, told=named | {"view": view})
