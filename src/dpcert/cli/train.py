"""dpcert train: one run, or a sweep of runs, with the certified privacy of what was released."""

from __future__ import annotations

from types import SimpleNamespace

from ..mechanisms import InputError
from ..mechanisms.validate import choice, count
from .train_options import ALGORITHMS, MOCHA_FAMILY, ROUNDS, with_options
from .train_unused import refuse_unused


@with_options
def train_command(asked: SimpleNamespace) -> None:
    """Train a federated algorithm and certify what its releases cost.

    Example: dpcert train pmtl --data synthetic --noise-multiplier 2 --clip-norm 0.5
    """
    resolve(asked)
    try:
        import torch
    except ImportError as error:
        raise InputError("train", "torch is not installed", "pip install 'dpcert[train]'") from error
    # Imported here: torch takes seconds, and only this command needs it.
    if asked.algorithm in MOCHA_FAMILY:
        from .train_mocha import run_mocha

        return run_mocha(asked)
    from .train_run import run_once
    from .train_sweep import run_experiment

    torch.set_num_threads(count("--threads", asked.threads))
    if asked.sweep is None:
        run_once(asked)
    else:
        run_experiment(asked)


def resolve(asked: SimpleNamespace) -> None:
    """The full name of the algorithm, its model and its rounds. InputError for options that it has no use for."""
    choice("algorithm", asked.algorithm, ALGORITHMS + MOCHA_FAMILY)
    if asked.variant is not None:
        forms = [name.removeprefix(asked.algorithm + "-") for name in ALGORITHMS if name != asked.algorithm]
        forms = [form for form in forms if f"{asked.algorithm}-{form}" in ALGORITHMS]
        if not forms:
            raise InputError("--variant", asked.variant, f"nothing: {asked.algorithm} has one form")
        asked.algorithm = f"{asked.algorithm}-{choice('--variant', asked.variant, forms)}"
    refuse_unused(asked)
    if asked.rounds is None and asked.algorithm not in MOCHA_FAMILY:
        asked.rounds = ROUNDS
    if asked.model is None:
        asked.model = "mlp" if asked.algorithm.startswith("dpfedmtl") else "logistic"
