"""The papers' experiments as grids of cells.

Local-only and fine-tuned-global rows are in every comparison: whatever is claimed for personalisation has to beat
them. `base` carries what all cells share: data, model, rounds, cohort, clip norm, learning rate and so on. `epsilons`,
where there are any, stand in for an experiment's own amounts of noise: each method gets the least noise for which its
run certifiably costs at most that much.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from ...mechanisms import InputError
from .cell import Cell

NOISE = (0.0, 1.0, 2.0, 4.0, 8.0, 16.0)
DEVIATIONS, CLIP_NORMS = (0.02, 0.05, 0.1), (0.2, 0.5, 1.0)
"""PMTL, appendix A.5, FEMNIST and CelebA: of the noise on the mean, and the clip norms."""
SIGMAS = (0.11, 0.65, 2.42, 9.69)
"""DPFedMTL, Table 3."""
AS_PRINTED = "-as-printed"
FORMS = tuple(
    (form, sampling, heads)
    for form, sampling in (
        (AS_PRINTED, "fixed-size"),
        ("-clipped", "fixed-size"),
        ("", "poisson"),
        ("-local-noise", "poisson"),
    )
    for heads in (0, 1)
)
"""Of DPFedMTL: the form, how its cohorts are drawn, and the layers of its head (0: DPFedAvg)."""
COMPARED = ("pmtl", "dp-fedavg", "dp-fedprox", "ditto", "pmtl-as-printed", "naive-joint")
PENALTIES = ("vanilla", "mean-regularised", "symmetrised-kl", "ewc")


def privacy_utility(base: Cell, seeds: Sequence[int], epsilons: Sequence[float] = ()) -> list[Cell]:
    """Accuracy against epsilon (PMTL, TMLR version, Figures 1, 3 and 7), with PMTL's forms side by side."""
    cells = []
    for seed in seeds:
        shared = replace(base, seed=seed, finetune="")
        cells.append(_noiseless(replace(shared, algorithm="local")))
        for private in _amounts(shared, NOISE, epsilons):
            for name in COMPARED:
                cells.append(replace(private, algorithm=name))
                if name == "dp-fedavg":
                    cells.append(replace(private, algorithm=name, finetune="vanilla"))  # of the model just trained
    return cells


def rounds(base: Cell, seeds: Sequence[int], epsilons: Sequence[float] = ()) -> list[Cell]:
    """Loss and epsilon against rounds (Figure 2)."""
    cells = []
    for seed in seeds:
        watched = replace(base, seed=seed, finetune="", evaluate_every=max(1, base.rounds // 20))
        cells.append(replace(_noiseless(watched), algorithm="local"))
        for private in [replace(watched, target_epsilon=epsilon) for epsilon in epsilons] or [watched]:
            cells += [replace(private, algorithm=name) for name in ("pmtl", "pmtl-as-printed", "dp-fedavg")]
            cells.append(replace(cells[-1], finetune="vanilla"))
    return cells


def combinations(base: Cell, seeds: Sequence[int], epsilons: Sequence[float] = ()) -> list[Cell]:
    """One epsilon from several amounts of noise and clip norms (Figures 4 to 6). Raises InputError for epsilons."""
    if epsilons:
        raise InputError("epsilons", list(epsilons), "none: combinations is about amounts of noise and clip norms")
    cells = []
    for seed in seeds:
        shared = replace(base, seed=seed, algorithm="pmtl", finetune="")
        cells.append(_noiseless(replace(shared, algorithm="local")))
        for deviation in DEVIATIONS:
            noise = deviation * base.cohort
            cells += [replace(shared, clip_norm=clip, noise_multiplier=noise / clip) for clip in CLIP_NORMS]
    return cells


def finetuning(base: Cell, seeds: Sequence[int], epsilons: Sequence[float] = ()) -> list[Cell]:
    """Fine-tuning by four objectives after PMTL and after a global model (Table 1), and local training (Table 3)."""
    cells = []
    for seed in seeds:
        cells.append(_noiseless(replace(base, seed=seed, algorithm="local", finetune="")))
        noise = base.noise_multiplier or 4.0
        for shared in _amounts(replace(base, seed=seed), (0.0, noise, 4 * noise), epsilons):
            for name in ("pmtl", "dp-fedavg"):
                cells += [replace(shared, algorithm=name, finetune=penalty) for penalty in ("", *PENALTIES)]
    return cells


def pp_sgd(base: Cell, seeds: Sequence[int], epsilons: Sequence[float] = ()) -> list[Cell]:
    """PP-SGD against PMTL over epsilon (Figure 8), for three ratios of local to global step."""
    cells = []
    for seed in seeds:
        cells.append(_noiseless(replace(base, seed=seed, algorithm="local", finetune="")))
        for shared in _amounts(replace(base, seed=seed), NOISE, epsilons):
            cells.append(replace(shared, algorithm="pmtl"))
            cells.append(replace(shared, algorithm="dp-fedavg", finetune="vanilla"))
            cells += [replace(shared, algorithm="pp-sgd", alpha=alpha) for alpha in (0.1, 1.0, 10.0)]
    return cells


def dpfedmtl_rounds(base: Cell, seeds: Sequence[int], epsilons: Sequence[float] = ()) -> list[Cell]:
    """DPFedMTL's Figure 4: loss by round, with and without heads and noise, and local training; sigma = 9.69."""
    cells = []
    for seed in seeds:
        watched = replace(base, seed=seed, finetune="", noise_multiplier=0.0, evaluate_every=max(1, base.rounds // 20))
        cells.append(_noiseless(replace(watched, algorithm="local")))
        for heads in (0, 1):
            cells.append(_noiseless(replace(watched, algorithm="dpfedmtl", head_layers=heads)))
            private = replace(watched, algorithm="dpfedmtl", head_layers=heads)
            cells += _private_sharing(private, SIGMAS[-1:], epsilons)
    return cells


def dpfedmtl(base: Cell, seeds: Sequence[int], epsilons: Sequence[float] = ()) -> list[Cell]:
    """DPFedMTL's Tables 2 and 3: accuracy against sigma, with and without heads, in every form.

    The printed forms get cohorts of exactly K: with Poisson cohorts, and K as small as in the paper, an empty one comes
    soon, and their eq. (6) then sets the model to zero (the Poisson cell shows it). The last control never aggregates
    after round 0: heads on the features that the model began with. At given epsilons the printed forms are left out:
    they do not clip, so that no noise meets a target.
    """
    cells = []
    for seed in seeds:
        shared = replace(base, seed=seed, finetune="", noise_multiplier=0.0, sampling="fixed-size")
        plain = _noiseless(shared)
        cells.append(replace(plain, algorithm="local"))
        cells += [replace(plain, algorithm="dpfedmtl", head_layers=heads) for heads in (0, 1)]
        cells.append(replace(plain, algorithm="dpfedmtl", aggregation_interval=base.rounds))
        for form, sampling, heads in FORMS:
            if not (epsilons and form == AS_PRINTED):
                own = replace(shared, algorithm="dpfedmtl" + form, sampling=sampling, head_layers=heads)
                cells += _private_sharing(own, SIGMAS, epsilons)
        if not epsilons:
            cells.append(replace(shared, algorithm="dpfedmtl-as-printed", sampling="poisson", sigma=SIGMAS[0]))
    return cells


def _private_sharing(cell: Cell, sigmas: Sequence[float], epsilons: Sequence[float]) -> list[Cell]:
    """A cell of DPFedMTL with each sigma, or at each epsilon."""
    if epsilons:
        return [replace(cell, target_epsilon=epsilon) for epsilon in epsilons]
    return [replace(cell, sigma=sigma) for sigma in sigmas]


def _amounts(cell: Cell, noises: Sequence[float], epsilons: Sequence[float]) -> list[Cell]:
    """The cell without noise, and with each other amount of noise, or at each epsilon."""
    if epsilons:
        private = [replace(cell, noise_multiplier=0.0, target_epsilon=epsilon) for epsilon in epsilons]
    else:
        private = [replace(cell, noise_multiplier=noise) for noise in noises if noise]
    return [_noiseless(cell), *private]


PRESETS: dict[str, Callable[[Cell, Sequence[int], Sequence[float]], list[Cell]]] = {
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
