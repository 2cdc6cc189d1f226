"""WHAT ran: frozen mechanism descriptions, neighbouring relations, samplers, sensitivities."""

from .base import Mechanism
from .bounded import ApproximateDp, PureDp, Zcdp
from .composition import Repeat, Sequence, rounds_by_step
from .discrete import DiscreteGaussian, DiscreteLaplace
from .gaussian import Gaussian
from .laplace import Laplace
from .neighbours import Neighbouring, neighbouring_relation, sensitivity
from .randomized_response import RandomizedResponse
from .sampling import FixedSize, Poisson, Shuffled
from .validate import InputError

__all__ = [
    "ApproximateDp",
    "DiscreteGaussian",
    "DiscreteLaplace",
    "FixedSize",
    "Gaussian",
    "InputError",
    "Laplace",
    "Mechanism",
    "Neighbouring",
    "Poisson",
    "PureDp",
    "RandomizedResponse",
    "Repeat",
    "Sequence",
    "Shuffled",
    "Zcdp",
    "neighbouring_relation",
    "rounds_by_step",
    "sensitivity",
]
