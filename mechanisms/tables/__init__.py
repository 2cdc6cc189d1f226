"""Descriptions of a run as plain tables: what claim files, schedules and the command line have in common."""

from .correlated import MatrixFactorisationTable, TreeAggregationTable
from .kinds import register
from .noise import (
    ApproximateDpTable,
    DiscreteGaussianTable,
    DiscreteLaplaceTable,
    DistributedDiscreteGaussianTable,
    GaussianMeanTable,
    GaussianTable,
    LaplaceTable,
    PerClientGaussianTable,
    PureDpTable,
    RandomizedResponseTable,
    SkellamTable,
    ZcdpTable,
)
from .private_selection import BestOfSeveralTable
from .public_range import BoundedLaplaceTable, RangedGaussianTable, StableHistogramTable, TruncatedLaplaceTable
from .stated import (
    ExponentialMechanismTable,
    LocalHashTable,
    LocalReportTable,
    NoisyMaxTable,
    PermuteAndFlipTable,
    ShuffledReportsTable,
    SparseVectorTable,
    StaircaseTable,
    UnaryEncodingTable,
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
    ZcdpTable,
    PureDpTable,
    ApproximateDpTable,
    TreeAggregationTable,
    MatrixFactorisationTable,
    NoisyMaxTable,
    ExponentialMechanismTable,
    PermuteAndFlipTable,
    SparseVectorTable,
    StaircaseTable,
    UnaryEncodingTable,
    LocalHashTable,
    LocalReportTable,
    ShuffledReportsTable,
    TruncatedLaplaceTable,
    BoundedLaplaceTable,
    RangedGaussianTable,
    StableHistogramTable,
    BestOfSeveralTable,
)
