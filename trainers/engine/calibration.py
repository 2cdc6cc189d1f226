"""The noise that a target allows: what a run would cost, solved for its noise multiplier on the safe side."""

from __future__ import annotations

from dataclasses import replace

from ...accounting.calibration.calibrate import calibrate
from ...accounting.calibration.search import Calibration
from ...mechanisms import InputError, Repeat
from ...mechanisms.validate import positive
from .algorithm import Algorithm
from .cohort import CohortSampler
from .privacy import PrivacyCost, PrivacyGoal, one_round
from .settings import Settings


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
