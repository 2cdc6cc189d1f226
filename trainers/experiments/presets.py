"""The papers' experiments as grids of cells.

Local-only and fine-tuned-global rows are in every comparison: whatever is claimed for personalisation has to beat
them. `base` carries what all cells share: data, model, rounds, cohort, clip norm, learning rate and so on.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from ...mechanisms.validate import choice
from .cell import Cell

NOISE = (0.0, 1.0, 2.0, 4.0, 8.0, 16.0)
COMPARED = ("pmtl", "dp-fedavg", "dp-fedprox", "naive-joint", "ditto")
PENALTIES = ("vanilla", "mean-regularised", "symmetrised-kl", "ewc")


def privacy_utility(base: Cell, seeds: Sequence[int]) -> list[Cell]:
    """Accuracy against epsilon (PMTL, TMLR version, Figures 1, 3 and 7), with PMTL's forms side by side."""
    cells = []
    for seed in seeds:
        shared = replace(base, seed=seed, finetune="")
        cells.append(_noiseless(replace(shared, algorithm="local")))
        for noise in NOISE:
            private = replace(shared, noise_multiplier=noise) if noise else _noiseless(shared)
            cells += [replace(private, algorithm=name) for name in (*COMPARED, "pmtl-as-printed")]
            cells.append(replace(private, algorithm="dp-fedavg", finetune="vanilla"))
    return cells


def rounds(base: Cell, seeds: Sequence[int]) -> list[Cell]:
    """Loss and epsilon against rounds (Figure 2)."""
    every = max(1, base.rounds // 20)
    names = ("pmtl", "pmtl-as-printed", "dp-fedavg")
    return [replace(base, seed=seed, algorithm=name, evaluate_every=every) for seed in seeds for name in names]


def finetuning(base: Cell, seeds: Sequence[int]) -> list[Cell]:
    """Fine-tuning by four objectives after PMTL and after a global model (Table 1), and local training (Table 3)."""
    cells = []
    for seed in seeds:
        cells.append(_noiseless(replace(base, seed=seed, algorithm="local", finetune="")))
        for noise in (0.0, base.noise_multiplier or 4.0, 4 * (base.noise_multiplier or 4.0)):
            shared = replace(base, seed=seed, noise_multiplier=noise)
            shared = shared if noise else _noiseless(shared)
            for name in ("pmtl", "dp-fedavg"):
                cells += [replace(shared, algorithm=name, finetune=penalty) for penalty in ("", *PENALTIES)]
    return cells


def pp_sgd(base: Cell, seeds: Sequence[int]) -> list[Cell]:
    """PP-SGD against PMTL over epsilon (Figure 8), for three ratios of local to global step."""
    cells = []
    for seed in seeds:
        cells.append(_noiseless(replace(base, seed=seed, algorithm="local", finetune="")))
        for noise in NOISE:
            shared = replace(base, seed=seed, noise_multiplier=noise)
            shared = shared if noise else _noiseless(shared)
            cells.append(replace(shared, algorithm="pmtl"))
            cells.append(replace(shared, algorithm="dp-fedavg", finetune="vanilla"))
            cells += [replace(shared, algorithm="pp-sgd", alpha=alpha) for alpha in (0.1, 1.0, 10.0)]
    return cells


PRESETS: dict[str, Callable[[Cell, Sequence[int]], list[Cell]]] = {
    "privacy-utility": privacy_utility,
    "rounds": rounds,
    "finetuning": finetuning,
    "pp-sgd": pp_sgd,
}


def preset(name: str, base: Cell, seeds: Sequence[int]) -> list[Cell]:
    """The named experiment's cells."""
    return PRESETS[choice("sweep", name, PRESETS)](base, seeds)


def _noiseless(cell: Cell) -> Cell:
    """No noise and, as the paper's epsilon = infinity, no clipping."""
    return replace(cell, noise_multiplier=0.0, clip_norm=None)
