"""dpcert experiment: the papers' tables and figures as grids of runs, each a command with the options that it uses."""

from __future__ import annotations

from typing import Any

from . import options
from .declared import with_fields
from .experiment_options import Curves, DataAlone, Federated, Mocha
from .help import Commands

app = Commands()

OWN_NOISE = ("noise_multiplier",)
TUNED = ("strength", "clip_norm", "learning_rate", "rounds", "noise_multiplier")
FEDERATED: dict[str, tuple[tuple[str, ...], str]] = {
    "fair": (TUNED, "Every method with its settings tuned on validation data, without noise and at several epsilons."),
    "privacy-utility": (OWN_NOISE, "Accuracy against epsilon (PMTL, Figures 1, 3 and 7)."),
    "rounds": ((), "Loss and epsilon against rounds (PMTL, Figure 2)."),
    "combinations": (
        ("noise_multiplier", "clip_norm", "epsilons"),
        "One epsilon from several amounts of noise and clip norms (PMTL, Figures 4 to 6).",
    ),
    "finetuning": ((), "Fine-tuning by four objectives, and local training (PMTL, Tables 1 and 3)."),
    "pp-sgd": (OWN_NOISE, "PP-SGD against PMTL over epsilon (PMTL, Figure 8)."),
    "dpfedmtl": (OWN_NOISE, "Accuracy against sigma, with and without heads (DPFedMTL, Tables 2 and 3)."),
    "dpfedmtl-rounds": (OWN_NOISE, "Loss by round, with and without heads and noise (DPFedMTL, Figure 4)."),
}
"""The options that an experiment sets for itself, and what it is."""

STATISTICS: dict[str, tuple[tuple[str, ...], str]] = {
    "dpfedmtl-table1": (("split_file",), "How many samples clients have, beside the paper's data (DPFedMTL, Table 1)."),
    "mocha-sizes": ((), "How many samples tasks have, beside the paper's data; also highly skewed (MOCHA, appendix)."),
}
CURVES: dict[str, tuple[tuple[str, ...], str]] = {
    "dpfedmtl-figure3": ((), "Trade-off curves: the paper's limit beside certified bounds (DPFedMTL, Figure 3).")
}

MOCHA: dict[str, tuple[tuple[str, ...], str]] = {
    "mocha-table1": (
        ("split_file", "strength"),
        "Error of global, local and multi-task SVMs, lambda by cross-validation, every seed with a split of its own.",
    ),
    "mocha-table4": (
        ("split_file", "strength"),
        "The same on highly skewed data: some tasks keep a hundredth of their samples (MOCHA, appendix, Table 4).",
    ),
    "mocha-figure1": ((), "Sub-optimality by round and work, for each method (MOCHA, Figure 1)."),
    "mocha-figure2": ((), "The same with nodes that do a random share of the work (MOCHA, Figure 2)."),
    "mocha-figure3": ((), "The same with nodes that drop out (MOCHA, Figure 3)."),
    "mocha-private": ((), "Private rounds: accuracy against noise (ours, no experiment of the paper)."),
}


def _add(name: str, kind: type[Any], left_out: tuple[str, ...], summary: str) -> None:
    def body(asked: Any, as_json: options.Json = False) -> None:
        options.needs_torch("experiment")
        from .experiment_run import run_experiment  # here: torch takes seconds

        run_experiment(name, asked, as_json)

    body.__doc__ = summary
    body.__annotations__["asked"] = kind
    app.command(name)(with_fields(kind, left_out)(body))


for _kind, _experiments in ((Federated, FEDERATED), (Mocha, MOCHA), (DataAlone, STATISTICS), (Curves, CURVES)):
    for _name, (_left_out, _summary) in _experiments.items():
        _add(_name, _kind, _left_out, _summary)
