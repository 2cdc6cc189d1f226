"""WHAT ran: frozen mechanism descriptions, neighbouring relations, samplers, sensitivities."""

from .base import Mechanism
from .bounded import ApproximateDp, PureDp, Zcdp
from .client_noise import DistributedGaussian
from .cohorts import Cyclic, RandomAllocation, WithReplacement
from .composition import Repeat, Sequence, rounds_by_step
from .correlated import CorrelatedGaussian
from .cyclic_poisson import cyclic_poisson
from .discrete import DiscreteGaussian, DiscreteLaplace
from .disjoint import Disjoint
from .events import event_for_accountant, from_event, neighbouring_for_accountant
from .gaussian import Gaussian
from .group import Group
from .laplace import Laplace
from .matrix_factorisation import BandedFactorisation, MatrixFactorisation, ToeplitzFactorisation
from .neighbours import NOTIONS, Neighbouring, Notion, Visibility, default_relation, neighbouring_relation, sensitivity
from .randomized_response import RandomizedResponse
from .run import Run, as_run
from .sampled import FixedSize, Poisson, Shuffled, TruncatedPoisson
from .schedules import draw_schedule
from .secure_aggregation import DistributedDiscreteGaussian, Skellam
from .tree_aggregation import TreeAggregation
from .validate import InputError
from .visible import VisibleParticipation

__all__ = [
    "NOTIONS",
    "ApproximateDp",
    "BandedFactorisation",
    "CorrelatedGaussian",
    "Cyclic",
    "DiscreteGaussian",
    "DiscreteLaplace",
    "Disjoint",
    "DistributedDiscreteGaussian",
    "DistributedGaussian",
    "FixedSize",
    "Gaussian",
    "Group",
    "InputError",
    "Laplace",
    "MatrixFactorisation",
    "Mechanism",
    "Neighbouring",
    "Notion",
    "Poisson",
    "PureDp",
    "RandomAllocation",
    "RandomizedResponse",
    "Repeat",
    "Run",
    "Sequence",
    "Shuffled",
    "Skellam",
    "ToeplitzFactorisation",
    "TreeAggregation",
    "TruncatedPoisson",
    "Visibility",
    "VisibleParticipation",
    "WithReplacement",
    "Zcdp",
    "as_run",
    "cyclic_poisson",
    "default_relation",
    "draw_schedule",
    "event_for_accountant",
    "from_event",
    "neighbouring_for_accountant",
    "neighbouring_relation",
    "rounds_by_step",
    "sensitivity",
]
