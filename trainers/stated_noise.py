"""The noise that a target allows: what a run would cost, solved for its noise multiplier on the safe side."""

from __future__ import annotations

from dataclasses import replace

from ..accounting.calibration.calibrate import calibrate
from ..accounting.calibration.search import Calibration
from ..mechanisms import InputError, Repeat
from ..mechanisms.validate import nonnegative, positive
from .dpfedmtl import SharedLayers
from .engine.algorithm import Algorithm
from .engine.cohort import CohortSampler
from .engine.privacy import PrivacyCost, PrivacyGoal, one_round
from .engine.settings import Settings


def calibrated_noise(
    algorithm: Algorithm, settings: Settings, population: int, goal: PrivacyGoal, target_epsilon: float
) -> Calibration:
    """The least noise multiplier for which the whole run, all its releases, costs at most target_epsilon.

    The cost is the one that the run itself will state: against the observer that the algorithm's notion is about, at
    goal.delta, with the certified upper end deciding. Raises InputError for a target that no noise meets: without
    clipping none does.
    """
    target = positive("target_epsilon", target_epsilon)
    if not algorithm.clips or not algorithm.releases:
        raise InputError("target_epsilon", target, f"no target: no noise changes what {algorithm.name} costs")
    if settings.clip_norm is None:
        raise InputError("clip_norm", None, "a number above 0, with a target epsilon")
    sampler = CohortSampler(settings, population)
    told = replace(settings, noise_multiplier=1.0)
    cost = PrivacyCost.of(
        told, sampler, algorithm.notion, goal, algorithm.releases, noise_at=algorithm.noise_at, bounded=True
    )
    drawings = sampler.drawings(filter(algorithm.releases_in, range(settings.rounds)))
    return calibrate(
        lambda multiplier: Repeat(one_round(sampler, multiplier, algorithm.noise_at), drawings),
        solve_for="noise_multiplier",
        epsilon=target,
        delta=goal.delta,
        neighbouring=cost.relation,
        notion=cost.notion,
    )


WORDS = {
    "noise_multiplier": "a noise multiplier",
    "noise_std": "a standard deviation of the noise",
    "sigma": "a sigma",
    "target_epsilon": "a target epsilon",
}


def stated_noise(
    algorithm: Algorithm,
    settings: Settings,
    population: int,
    goal: PrivacyGoal,
    *,
    noise_multiplier: float | None = None,
    noise_std: float | None = None,
    sigma: float | None = None,
    target_epsilon: float | None = None,
) -> float:
    """The noise multiplier; 0 where nothing is stated.

    noise_multiplier: that itself. noise_std: of the noise on the mean over the clients of a round. sigma: DPFedMTL's,
    of the noise on a client's gradient. target_epsilon: the least noise for which the whole run costs at most this.
    settings: of the run, but for its noise. Raises InputError for two of them, and for one without a meaning here.
    """
    stated = dict(zip(WORDS, (noise_multiplier, noise_std, sigma, target_epsilon), strict=True))
    given = {name: value for name, value in stated.items() if value is not None}
    if len(given) > 1:
        first, second, *_ = given
        told = f"The noise is stated twice. State either {WORDS[first]} or {WORDS[second]}."
        raise InputError(second, given[second], "one of them", told)
    if noise_multiplier is not None:
        return nonnegative("noise_multiplier", noise_multiplier)
    if given and settings.clip_norm is None:
        (name,) = given
        told = f"With {WORDS[name]}, a clip norm is required: set clip_norm (--clip-norm)."
        raise InputError("clip_norm", None, "a value", told)
    if target_epsilon is not None:
        return calibrated_noise(algorithm, settings, population, goal, target_epsilon).value
    members = population if settings.sampling == "full" else settings.cohort
    if sigma is not None:
        if not isinstance(algorithm, SharedLayers):
            raise InputError(
                "sigma", sigma, f"to be left out: {algorithm.name} has no sigma. State another amount of noise"
            )
        return algorithm.noise_multiplier(nonnegative("sigma", sigma), members, population)
    if noise_std is not None:
        if algorithm.noise_at == "clients":
            none = f"{algorithm.name} adds no noise to the mean"
            raise InputError("noise_std", noise_std, f"a noise multiplier, or sigma: {none}")
        return float(nonnegative("noise_std", noise_std)) * members / (settings.clip_norm or 1.0)
    return 0.0
