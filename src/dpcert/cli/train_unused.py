"""Options that an algorithm or an experiment has no use for: said, so that nobody believes them to have been used."""

from __future__ import annotations

import os
from types import SimpleNamespace

import typer

from ..mechanisms import InputError
from .train_options import DEFAULTS, MOCHA_FAMILY, FineTuning, Mocha, Relations, SharedLayers, names_of

_TOWARDS_SHARED = (
    *("pmtl", "pmtl-as-printed", "pmtl-increments", "clustered-pmtl", "fixed-omega"),
    *("dp-fedprox", "naive-joint", "ditto"),
)

_BELONGS_TO = {
    "strength": _TOWARDS_SHARED,
    "alpha": ("pp-sgd",),
    "clusters": ("clustered-pmtl",),
    "omega": ("fixed-omega",),
}
"""Relations' options, and the algorithms that know them."""

_OMEGAS = {"clusters": ("clustered",), "ridge": ("mean-regularised", "clustered", "graph-laplacian")}
"""MOCHA's options that belong to some Omegas."""

_NOT_OF_MOCHA = (
    *(
        "model",
        "cohort",
        "sampling",
        "learning_rate",
        "schedule",
        "local_epochs",
        "local_steps",
        "batch_size",
        "clipping",
        "alpha",
    ),
    *("solver", "chunk", "noise_source", "shards", "threads", "evaluate_clients", "save", "max_cohort", "schedule_log"),
)

_SETTLED_BY_STUDIES = ("omega", "clusters", "ridge", "theta", "work", "scaling", "step_rule", "evaluate_every")
"""What MOCHA's experiments set for themselves, beside train_mocha_sweep.SETTLED."""


_COMMON = ("model", "cohort", "sampling", "strength", "clusters", "ridge")
"""What a comparison gives to all algorithms or Omegas alike: where it means nothing, a warning says so."""


def refuse_unused(asked: SimpleNamespace) -> None:
    """InputError for the first option that was given and means nothing here; for common ones a warning."""
    if asked.algorithm in MOCHA_FAMILY:
        unused = _unused_by_mocha(asked)
    elif asked.sweep is not None:
        unused = dict.fromkeys(("alpha", "clusters", "omega", *names_of(Mocha)), "nothing, with --sweep")
    else:
        unused = _unused_by(asked)
    if asked.sweep is None:
        unused["seeds"] = "--sweep with it"
        unused["quick"] = "--sweep with it"
    else:
        unused |= dict.fromkeys(
            ("plot", "save", "schedule_log"), "nothing, with --sweep, which leaves its results in --out"
        )
    for option, expected in unused.items():
        given = getattr(asked, option)
        if given == DEFAULTS[option]:
            continue
        if option in _COMMON:
            typer.echo(f"warning: {_flag(option)} {given} is not used: {expected.removeprefix('nothing: ')}", err=True)
        else:
            raise InputError(_flag(option), given if isinstance(given, int | float) else str(given), expected)


def _unused_by(asked: SimpleNamespace) -> dict[str, str]:
    """Option and what was expected, for one run of the first two families."""
    nothing = f"nothing: {asked.algorithm} has no such option"
    unused = dict.fromkeys(names_of(Mocha), nothing)
    unused |= {option: nothing for option in names_of(Relations) if asked.algorithm not in _BELONGS_TO[option]}
    if not asked.algorithm.startswith("dpfedmtl"):
        unused |= dict.fromkeys(names_of(SharedLayers), nothing)
    if asked.finetune is None:
        unused |= {"finetune_strength": "--finetune with it", "finetune_epochs": "--finetune with it"}
    if asked.local_steps is not None:
        unused["local_epochs"] = "either --local-steps or --local-epochs"
    if asked.sampling == "full":
        unused["cohort"] = "nothing: with --sampling full everybody takes part"
    return unused


def _unused_by_mocha(asked: SimpleNamespace) -> dict[str, str]:
    """The same for the MOCHA family, which computes in double precision, in one process, on the CPU."""
    processes = int(os.environ.get("WORLD_SIZE", "1"))
    if processes > 1:
        raise InputError("torchrun", processes, f"one process: {asked.algorithm} is not distributed")
    nothing = "nothing: the MOCHA family has no such option"
    unused = dict.fromkeys((*_NOT_OF_MOCHA, *names_of(SharedLayers), *names_of(FineTuning)), nothing)
    if asked.device != "cpu":
        unused["device"] = "auto or cpu with the MOCHA family"
    if asked.dtype != "float64":
        unused["dtype"] = "float64 with the MOCHA family"
    if asked.sweep is not None:
        return unused | dict.fromkeys(_SETTLED_BY_STUDIES, "none with --sweep, which sets its own")
    if asked.algorithm != "cocoa":
        unused["theta"] = f"nothing: cocoa's (--work theta=T with mocha, not {asked.algorithm})"
    if not asked.algorithm.startswith("mb-"):
        unused["scaling"] = "nothing: mb-sdca's and mb-sgd's"
    if asked.algorithm != "mb-sgd":
        unused["step_rule"] = "nothing: mb-sgd's"
    return unused | {
        option: f"nothing with --omega {asked.omega}: it belongs to {', '.join(omegas)}"
        for option, omegas in _OMEGAS.items()
        if asked.omega not in omegas
    }


def _flag(option: str) -> str:
    return "--" + {"strength": "lambda"}.get(option, option).replace("_", "-")
