"""How much noise a run adds, from whichever of the four options says so."""

from __future__ import annotations

from types import SimpleNamespace

from ..mechanisms import InputError
from ..mechanisms.validate import nonnegative
from ..trainers.dpfedmtl import SharedLayers
from ..trainers.engine.algorithm import Algorithm
from ..trainers.engine.calibration import calibrated_noise
from ..trainers.federated import PrivacyGoal, Settings

OPTIONS = ("noise_multiplier", "noise_std", "sigma", "target_epsilon")


def noise_multiplier_of(
    asked: SimpleNamespace, algorithm: Algorithm, settings: Settings, population: int, goal: PrivacyGoal
) -> float:
    """The noise multiplier; 0 where no option is given. Raises InputError for contradictory options."""
    given = [option for option in OPTIONS if getattr(asked, option) is not None]
    if not given:
        return 0.0
    name, value = "--" + given[0].replace("_", "-"), getattr(asked, given[0])
    if len(given) > 1:
        other = "--" + given[1].replace("_", "-")
        raise InputError(other, getattr(asked, given[1]), f"either {name} or {other}")
    if given[0] == "noise_multiplier":
        return nonnegative("noise_multiplier", value)
    if settings.clip_norm is None:
        raise InputError("--clip-norm", None, f"a value, with {name}")
    if given[0] == "target_epsilon":
        return calibrated_noise(algorithm, settings, population, goal, value).value
    members = population if settings.sampling == "full" else settings.cohort
    if given[0] == "sigma":
        if not isinstance(algorithm, SharedLayers):
            raise InputError(name, value, f"--noise-multiplier: {algorithm.name} has no sigma")
        return algorithm.noise_multiplier(nonnegative("sigma", value), members, population)
    if algorithm.noise_at == "clients":
        raise InputError(name, value, f"--noise-multiplier or --sigma: {algorithm.name} adds no noise to the mean")
    return float(nonnegative("noise_std", value)) * members / settings.clip_norm
