"""The papers' experiments as grids of cells.

Local-only and fine-tuned-global rows are in every comparison: whatever is claimed for personalisation has to beat
them. `base` carries what all cells share: data, model, rounds, cohort, clip norm, learning rate and so on. `epsilons`,
where there are any, stand in for an experiment's own amounts of noise: each method gets the least noise for which its
run certifiably costs at most that much.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import wraps
from itertools import product

from ...mechanisms import InputError
from .cell import Cell

OfOneSeed = Callable[[Cell, Sequence[float]], Iterator[Cell]]

Preset = Callable[..., list[Cell]]
"""(base, seeds, epsilons=()) -> the cells for these seeds."""

NOISE = (0.0, 1.0, 2.0, 4.0, 8.0, 16.0)
DEVIATIONS, CLIP_NORMS = (0.02, 0.05, 0.1), (0.2, 0.5, 1.0)
"""PMTL, appendix A.5, FEMNIST and CelebA: of the noise on the mean, and the clip norms."""
SIGMAS = (0.11, 0.65, 2.42, 9.69)
"""DPFedMTL, Table 3."""
AS_PRINTED = "-as-printed"
SAMPLED = {AS_PRINTED: "fixed-size", "-clipped": "fixed-size", "": "poisson", "-local-noise": "poisson"}
FORMS = tuple((form, sampling, heads) for form, sampling in SAMPLED.items() for heads in (0, 1))
"""Of DPFedMTL: the form, how its cohorts are drawn, and the layers of its head (0: DPFedAvg)."""
COMPARED = ("pmtl", "dp-fedavg", "dp-fedprox", "ditto", "pmtl-as-printed", "naive-joint")
PENALTIES = ("vanilla", "mean-regularised", "symmetrised-kl", "ewc")


def _each_seed(prepared: Callable[[Cell], Cell] = lambda base: base) -> Callable[[OfOneSeed], Preset]:
    """A preset of what there is for one seed, beside local training on the same prepared cell."""

    def preset(of_one: OfOneSeed) -> Preset:
        @wraps(of_one)
        def cells(base: Cell, seeds: Sequence[int], epsilons: Sequence[float] = ()) -> list[Cell]:
            found = []
            for seed in seeds:
                own = prepared(replace(base, seed=seed, finetune=""))
                found += [_noiseless(replace(own, algorithm="local")), *of_one(own, epsilons)]
            return found

        return cells

    return preset


def _watched(base: Cell) -> Cell:
    return replace(base, evaluate_every=max(1, base.rounds // 20))


@_each_seed()
def privacy_utility(base: Cell, epsilons: Sequence[float]) -> Iterator[Cell]:
    """Accuracy against epsilon (PMTL, TMLR version, Figures 1, 3 and 7), with PMTL's forms side by side."""
    for private in _amounts(base, NOISE, epsilons):
        for name in COMPARED:
            yield replace(private, algorithm=name)
            if name == "dp-fedavg":
                yield replace(private, algorithm=name, finetune="vanilla")  # of the model just trained


@_each_seed(_watched)
def rounds(base: Cell, epsilons: Sequence[float]) -> Iterator[Cell]:
    """Loss and epsilon against rounds (Figure 2)."""
    for private in [replace(base, target_epsilon=epsilon) for epsilon in epsilons] or [base]:
        yield from (replace(private, algorithm=name) for name in ("pmtl", "pmtl-as-printed", "dp-fedavg"))
        yield replace(private, algorithm="dp-fedavg", finetune="vanilla")


@_each_seed()
def combinations(base: Cell, epsilons: Sequence[float]) -> Iterator[Cell]:
    """One epsilon from several amounts of noise and clip norms (Figures 4 to 6). Raises InputError for epsilons."""
    if epsilons:
        raise InputError("epsilons", list(epsilons), "none: combinations is about amounts of noise and clip norms")
    for deviation, clip in product(DEVIATIONS, CLIP_NORMS):
        noise = deviation * base.cohort
        yield replace(base, algorithm="pmtl", clip_norm=clip, noise_multiplier=noise / clip)


@_each_seed()
def finetuning(base: Cell, epsilons: Sequence[float]) -> Iterator[Cell]:
    """Fine-tuning by four objectives after PMTL and after a global model (Table 1), and local training (Table 3)."""
    noise = base.noise_multiplier or 4.0
    for shared, name in product(_amounts(base, (0.0, noise, 4 * noise), epsilons), ("pmtl", "dp-fedavg")):
        yield from (replace(shared, algorithm=name, finetune=penalty) for penalty in ("", *PENALTIES))


@_each_seed()
def pp_sgd(base: Cell, epsilons: Sequence[float]) -> Iterator[Cell]:
    """PP-SGD against PMTL over epsilon (Figure 8), for three ratios of local to global step."""
    for shared in _amounts(base, NOISE, epsilons):
        yield replace(shared, algorithm="pmtl")
        yield replace(shared, algorithm="dp-fedavg", finetune="vanilla")
        yield from (replace(shared, algorithm="pp-sgd", alpha=alpha) for alpha in (0.1, 1.0, 10.0))


@_each_seed(lambda base: replace(_watched(base), noise_multiplier=0.0))
def dpfedmtl_rounds(base: Cell, epsilons: Sequence[float]) -> Iterator[Cell]:
    """DPFedMTL's Figure 4: loss by round, with and without heads and noise, and local training; sigma = 9.69."""
    for heads in (0, 1):
        shared = replace(base, algorithm="dpfedmtl", head_layers=heads)
        yield _noiseless(shared)
        yield from _private_sharing(shared, SIGMAS[-1:], epsilons)


@_each_seed(lambda base: replace(base, noise_multiplier=0.0, sampling="fixed-size"))
def dpfedmtl(base: Cell, epsilons: Sequence[float]) -> Iterator[Cell]:
    """DPFedMTL's Tables 2 and 3: accuracy against sigma, with and without heads, in every form.

    The printed forms get cohorts of exactly K: with Poisson cohorts, and K as small as in the paper, an empty one comes
    soon, and their eq. (6) then sets the model to zero (the Poisson cell shows it). The last control never aggregates
    after round 0: heads on the features that the model began with. At given epsilons the printed forms are left out:
    they do not clip, so that no noise meets a target.
    """
    plain = _noiseless(replace(base, algorithm="dpfedmtl"))
    yield from (replace(plain, head_layers=heads) for heads in (0, 1))
    yield replace(plain, aggregation_interval=base.rounds)
    for form, sampling, heads in FORMS:
        if not (epsilons and form == AS_PRINTED):
            own = replace(base, algorithm="dpfedmtl" + form, sampling=sampling, head_layers=heads)
            yield from _private_sharing(own, SIGMAS, epsilons)
    if not epsilons:
        yield replace(base, algorithm="dpfedmtl-as-printed", sampling="poisson", sigma=SIGMAS[0])


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


PRESETS: dict[str, Preset] = {
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
