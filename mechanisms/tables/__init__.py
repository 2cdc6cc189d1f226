"""Descriptions of a run as plain tables: what claim files, schedules and the command line have in common."""

from .. import (
    ApproximateDp,
    LocalHash,
    LossDistribution,
    PureDp,
    RenyiDp,
    ReportNoisyMax,
    SparseVector,
    UnaryEncoding,
    Zcdp,
)
from .correlated import MatrixFactorisationTable, TreeAggregationTable
from .described import table_of
from .kinds import register
from .noise import (
    DiscreteGaussianTable,
    DiscreteLaplaceTable,
    DistributedDiscreteGaussianTable,
    GaussianMeanTable,
    GaussianTable,
    LaplaceTable,
    PerClientGaussianTable,
    RandomizedResponseTable,
    SkellamTable,
)
from .private_selection import BestOfSeveralTable
from .public_range import BoundedLaplaceTable, RangedGaussianTable, StableHistogramTable, TruncatedLaplaceTable
from .selection_and_reports import (
    ExponentialMechanismTable,
    LocalReportTable,
    PermuteAndFlipTable,
    ShuffledReportsTable,
    StaircaseTable,
)

register(
    GaussianTable,
    GaussianMeanTable,
    PerClientGaussianTable,
    LaplaceTable,
    DiscreteGaussianTable,
    DiscreteLaplaceTable,
    RandomizedResponseTable,
    SkellamTable,
    DistributedDiscreteGaussianTable,
    table_of("zcdp", Zcdp, "Known only to be rho-zCDP per round."),
    table_of("pure-dp", PureDp, "Known only to be epsilon-DP per round."),
    table_of("approximate-dp", ApproximateDp, "Known only to be (epsilon, delta)-DP per round."),
    table_of("renyi-dp", RenyiDp, "Known only to be (order, epsilon)-Renyi-DP per round, at one or several orders."),
    table_of("loss-distribution", LossDistribution, "Known by the distribution of its privacy loss per round."),
    TreeAggregationTable,
    MatrixFactorisationTable,
    table_of("noisy-max", ReportNoisyMax, "The largest noisy score."),
    ExponentialMechanismTable,
    PermuteAndFlipTable,
    table_of("sparse-vector", SparseVector, "Above a threshold or not, until `hits` were."),
    StaircaseTable,
    table_of("unary-encoding", UnaryEncoding, "One value as bits (RAPPOR, SUE, OUE); replace-one only."),
    table_of("local-hash", LocalHash, "One value, hashed, by randomized response (OLH); replace-one only."),
    LocalReportTable,
    ShuffledReportsTable,
    TruncatedLaplaceTable,
    BoundedLaplaceTable,
    RangedGaussianTable,
    StableHistogramTable,
    BestOfSeveralTable,
)
