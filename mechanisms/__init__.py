"""WHAT ran: frozen mechanism descriptions, neighbouring relations, samplers, sensitivities."""

from .base import Mechanism
from .bounded import ApproximateDp, PureDp, RenyiDp, Zcdp
from .bounded_laplace import BoundedLaplace
from .clamped_gaussian import ClampedGaussian
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
from .joint_gaussian import joint_gaussian
from .laplace import Laplace
from .local_randomisers import DuchiMechanism, HadamardResponse, LocalHash, PiecewiseMechanism, UnaryEncoding
from .loss_distribution import LossDistribution
from .matrix_factorisation import BandedFactorisation, MatrixFactorisation, ToeplitzFactorisation
from .mixture_of_gaussians import MixtureOfGaussians
from .neighbours import (
    NOTIONS,
    Neighbouring,
    Notion,
    Participation,
    PrivacyNotion,
    Relation,
    Visibility,
    default_relation,
    neighbouring_relation,
    relation_meant,
    sensitivity,
)
from .no_noise import NoNoise
from .private_selection import BestOfSeveral
from .randomized_response import RandomizedResponse
from .run import Run, as_run
from .sampled import FixedSize, Poisson, Shuffled, TruncatedPoisson
from .sampled_matrix import BallsInBins, MinSeparated
from .schedules import draw_cyclic_poisson, draw_schedule
from .secure_aggregation import DistributedDiscreteGaussian, Skellam
from .selection import ReportNoisyMax, SparseVector, exponential_mechanism, permute_and_flip
from .separated_schedules import draw_balls_in_bins, draw_min_separated
from .shuffle_model import ShuffledReports
from .stable_histogram import StableHistogram
from .staircase import Staircase
from .tree_aggregation import TreeAggregation
from .truncated_gaussian import TruncatedGaussian
from .truncated_laplace import TruncatedLaplace
from .validate import InputError
from .visible import VisibleParticipation

__all__ = [
    "NOTIONS",
    "ApproximateDp",
    "BallsInBins",
    "BandedFactorisation",
    "BestOfSeveral",
    "BoundedLaplace",
    "ClampedGaussian",
    "CorrelatedGaussian",
    "Cyclic",
    "DiscreteGaussian",
    "DiscreteLaplace",
    "Disjoint",
    "DistributedDiscreteGaussian",
    "DistributedGaussian",
    "DuchiMechanism",
    "FixedSize",
    "Gaussian",
    "Group",
    "HadamardResponse",
    "InputError",
    "Laplace",
    "LocalHash",
    "LossDistribution",
    "MatrixFactorisation",
    "Mechanism",
    "MinSeparated",
    "MixtureOfGaussians",
    "Neighbouring",
    "NoNoise",
    "Notion",
    "Participation",
    "PiecewiseMechanism",
    "Poisson",
    "PrivacyNotion",
    "PureDp",
    "RandomAllocation",
    "RandomizedResponse",
    "Relation",
    "RenyiDp",
    "Repeat",
    "ReportNoisyMax",
    "Run",
    "Sequence",
    "Shuffled",
    "ShuffledReports",
    "Skellam",
    "SparseVector",
    "StableHistogram",
    "Staircase",
    "ToeplitzFactorisation",
    "TreeAggregation",
    "TruncatedGaussian",
    "TruncatedLaplace",
    "TruncatedPoisson",
    "UnaryEncoding",
    "Visibility",
    "VisibleParticipation",
    "WithReplacement",
    "Zcdp",
    "as_run",
    "cyclic_poisson",
    "default_relation",
    "draw_balls_in_bins",
    "draw_cyclic_poisson",
    "draw_min_separated",
    "draw_schedule",
    "event_for_accountant",
    "exponential_mechanism",
    "from_event",
    "joint_gaussian",
    "neighbouring_for_accountant",
    "neighbouring_relation",
    "permute_and_flip",
    "relation_meant",
    "rounds_by_step",
    "sensitivity",
]
