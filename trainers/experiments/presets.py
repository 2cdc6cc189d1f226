"""The papers' experiments as grids of cells.

Local-only and fine-tuned-global rows are in every comparison: whatever is claimed for personalisation has to beat
them. `base` carries what all cells share: data, model, rounds, cohort, clip norm, learning rate and so on.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from .cell import Cell

NOISE = (0.0, 1.0, 2.0, 4.0, 8.0, 16.0)
DEVIATIONS, CLIP_NORMS = (0.02, 0.05, 0.1), (0.2, 0.5, 1.0)
"""PMTL, appendix A.5, FEMNIST and CelebA: of the noise on the mean, and the clip norms."""
SIGMAS = (0.11, 0.65, 2.42, 9.69)
"""DPFedMTL, Table 3."""
FORMS = tuple(
    (form, sampling, heads)
    for form, sampling in (
        ("-as-printed", "fixed-size"),
        ("-clipped", "fixed-size"),
        ("", "poisson"),
        ("-local-noise", "poisson"),
    )
    for heads in (0, 1)
)
"""Of DPFedMTL: the form, how its cohorts are drawn, and the layers of its head (0: DPFedAvg)."""
COMPARED = ("pmtl", "dp-fedavg", "dp-fedprox", "ditto", "pmtl-as-printed", "naive-joint")
PENALTIES = ("vanilla", "mean-regularised", "symmetrised-kl", "ewc")


def privacy_utility(base: Cell, seeds: Sequence[int]) -> list[Cell]:
    """Accuracy against epsilon (PMTL, TMLR version, Figures 1, 3 and 7), with PMTL's forms side by side."""
    cells = []
    for seed in seeds:
        shared = replace(base, seed=seed, finetune="")
        cells.append(_noiseless(replace(shared, algorithm="local")))
        for noise in NOISE:
            private = replace(shared, noise_multiplier=noise) if noise else _noiseless(shared)
            for name in COMPARED:
                cells.append(replace(private, algorithm=name))
                if name == "dp-fedavg":
                    cells.append(replace(private, algorithm=name, finetune="vanilla"))  # of the model just trained
    return cells


def rounds(base: Cell, seeds: Sequence[int]) -> list[Cell]:
    """Loss and epsilon against rounds (Figure 2)."""
    cells = []
    for seed in seeds:
        watched = replace(base, seed=seed, finetune="", evaluate_every=max(1, base.rounds // 20))
        cells.append(replace(_noiseless(watched), algorithm="local"))
        cells += [replace(watched, algorithm=name) for name in ("pmtl", "pmtl-as-printed", "dp-fedavg")]
        cells.append(replace(cells[-1], finetune="vanilla"))
    return cells


def combinations(base: Cell, seeds: Sequence[int]) -> list[Cell]:
    """One epsilon from several amounts of noise and clip norms (Figures 4 to 6)."""
    cells = []
    for seed in seeds:
        shared = replace(base, seed=seed, algorithm="pmtl", finetune="")
        cells.append(_noiseless(replace(shared, algorithm="local")))
        for deviation in DEVIATIONS:
            noise = deviation * base.cohort
            cells += [replace(shared, clip_norm=clip, noise_multiplier=noise / clip) for clip in CLIP_NORMS]
    return cells


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


def dpfedmtl_rounds(base: Cell, seeds: Sequence[int]) -> list[Cell]:
    """DPFedMTL's Figure 4: loss by round, with and without heads and noise, and local training; sigma = 9.69."""
    cells = []
    for seed in seeds:
        watched = replace(base, seed=seed, finetune="", noise_multiplier=0.0, evaluate_every=max(1, base.rounds // 20))
        cells.append(_noiseless(replace(watched, algorithm="local")))
        for heads in (0, 1):
            cells.append(_noiseless(replace(watched, algorithm="dpfedmtl", head_layers=heads)))
            cells.append(replace(watched, algorithm="dpfedmtl", head_layers=heads, sigma=SIGMAS[-1]))
    return cells


def dpfedmtl(base: Cell, seeds: Sequence[int]) -> list[Cell]:
    """DPFedMTL's Tables 2 and 3: accuracy against sigma, with and without heads, in every form.

    The printed forms get cohorts of exactly K: with Poisson cohorts, and K as small as in the paper, an empty one comes
    soon, and their eq. (6) then sets the model to zero (the Poisson cell shows it). The last control never aggregates
    after round 0: heads on the features that the model began with.
    """
    cells = []
    for seed in seeds:
        shared = replace(base, seed=seed, finetune="", noise_multiplier=0.0, sampling="fixed-size")
        plain = _noiseless(shared)
        cells.append(replace(plain, algorithm="local"))
        cells += [replace(plain, algorithm="dpfedmtl", head_layers=heads) for heads in (0, 1)]
        cells.append(replace(plain, algorithm="dpfedmtl", aggregation_interval=base.rounds))
        for sigma in SIGMAS:
            for form, sampling, heads in FORMS:
                cells.append(
                    replace(shared, algorithm="dpfedmtl" + form, sampling=sampling, sigma=sigma, head_layers=heads)
                )
        cells.append(replace(shared, algorithm="dpfedmtl-as-printed", sampling="poisson", sigma=SIGMAS[0]))
    return cells


PRESETS: dict[str, Callable[[Cell, Sequence[int]], list[Cell]]] = {
    "privacy-utility": privacy_utility,
    "rounds": rounds,
    "combinations": combinations,
    "finetuning": finetuning,
    "pp-sgd": pp_sgd,
    "dpfedmtl": dpfedmtl,
    "dpfedmtl-rounds": dpfedmtl_rounds,
}


def _noiseless(cell: Cell) -> Cell:
    """No noise and, as the paper's epsilon = infinity, no clipping."""
    return replace(cell, noise_multiplier=0.0, clip_norm=None)
