"""The commands that train: dpcert train, dpcert mocha, and an experiment each of dpcert experiment.

What they run imports torch, which takes seconds, and so is imported only when one is run.
"""

from __future__ import annotations

from typing import Any

from . import experiment, mocha, options, train
from .declared import with_fields
from .help import Commands

experiments = Commands()


@with_fields(train.Asked)
def train_command(asked: train.Asked, as_json: options.Json = False) -> None:
    """Example: dpcert train pmtl --data synthetic --noise-multiplier 2 --clip-norm 0.5"""
    train.checked(asked)
    options.needs_torch("train")
    from .train_run import run_once

    run_once(asked, as_json)


@with_fields(mocha.Asked)
def mocha_command(asked: mocha.Asked, as_json: options.Json = False) -> None:
    """Example: dpcert mocha mocha --data synthetic:clustered,tasks=12 --lambda 0.01 --omega learned"""
    mocha.checked(asked)
    options.needs_torch("mocha")
    from .mocha_run import run_mocha

    run_mocha(asked, as_json)


def _add(name: str, kind: type[Any], summary: str) -> None:
    def body(asked: Any, as_json: options.Json = False) -> None:
        options.needs_torch("experiment")
        from .experiment_run import run_experiment

        run_experiment(name, asked, as_json)

    body.__doc__ = summary
    body.__annotations__["asked"] = kind
    experiments.command(name)(with_fields(kind, experiment.SETS.get(name, ()))(body))


for _kind, _named in experiment.EXPERIMENTS.items():
    for _name, _summary in _named.items():
        _add(_name, _kind, _summary)
