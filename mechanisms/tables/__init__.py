"""Descriptions of a run as plain tables: what claim files, schedules and the command line have in common."""

from ... import mechanisms as m
from . import noise, private_selection, public_range, selection_and_reports
from .correlated import MatrixFactorisationTable, TreeAggregationTable
from .described import table_of
from .kinds import register

_FROM_ABOVE = "An upper bound only, not under add-remove."

register(
    table_of("gaussian", m.Gaussian, "Gaussian noise on a sum.", noise.GaussianSumTable),
    noise.GaussianMeanTable,
    noise.PerClientGaussianTable,
    table_of("laplace", m.Laplace, "Laplace noise on a sum.", noise.LaplaceNoiseTable),
    table_of("discrete-gaussian", m.DiscreteGaussian, "Noise on the integers.", noise.DiscreteGaussianNoiseTable),
    table_of(
        "discrete-laplace", m.DiscreteLaplace, "Geometric noise on the integers.", noise.DiscreteLaplaceNoiseTable
    ),
    noise.RandomizedResponseTable,
    table_of("skellam", m.Skellam, f"On an integer vector. {_FROM_ABOVE}", noise.DistributedNoiseTable),
    table_of(
        "distributed-discrete-gaussian",
        m.DistributedDiscreteGaussian,
        f"Each client's noise on an integer vector. {_FROM_ABOVE}",
        noise.DistributedNoiseTable,
    ),
    table_of("zcdp", m.Zcdp, "Known only to be rho-zCDP per round."),
    table_of("pure-dp", m.PureDp, "Known only to be epsilon-DP per round."),
    table_of("approximate-dp", m.ApproximateDp, "Known only to be (epsilon, delta)-DP per round."),
    table_of("renyi-dp", m.RenyiDp, "Known only to be (order, epsilon)-Renyi-DP per round, at one or several orders."),
    table_of("loss-distribution", m.LossDistribution, "Known by the distribution of its privacy loss per round."),
    TreeAggregationTable,
    MatrixFactorisationTable,
    table_of("noisy-max", m.ReportNoisyMax, "The largest noisy score."),
    table_of("exponential-mechanism", m.ReportNoisyMax, "One candidate by its score.", fixed={"noise": "gumbel"}),
    table_of("permute-and-flip", m.ReportNoisyMax, "One candidate by its score.", fixed={"noise": "exponential"}),
    table_of("sparse-vector", m.SparseVector, "Whether each query is above a threshold, until `hits` of them were."),
    table_of("staircase", m.Staircase, "A number with staircase noise.", selection_and_reports.StaircaseNoiseTable),
    table_of("unary-encoding", m.UnaryEncoding, "One value as bits (RAPPOR, SUE, OUE); replace-one only."),
    table_of("local-hash", m.LocalHash, "One value, hashed, by randomized response (OLH); replace-one only."),
    table_of("hadamard-response", m.HadamardResponse, "One value out of many; replace-one only."),
    table_of("piecewise", m.PiecewiseMechanism, "A number in [-1, 1]; replace-one only."),
    table_of("duchi", m.DuchiMechanism, "A number in [-1, 1], reported as one of two values; replace-one only."),
    table_of(
        "shuffled-reports",
        m.ShuffledReports,
        'All reports in random order, such as of `{kind = "randomized-response", flip_probability = 0.25}`, or '
        '`{kind = "pure-dp", epsilon = 1}`; replace-one only.',
        selection_and_reports.ShuffleModelTable,
    ),
    table_of("truncated-laplace", m.TruncatedLaplace, "A number with bounded noise.", public_range.OneNumberTable),
    table_of("bounded-laplace", m.BoundedLaplace, "Drawn anew until within the range.", public_range.OneNumberTable),
    table_of("clamped-gaussian", m.ClampedGaussian, "The output is clamped into the range."),
    table_of("truncated-gaussian", m.TruncatedGaussian, "Drawn anew until the output is within the range."),
    table_of("stable-histogram", m.StableHistogram, "Noisy sums by group.", public_range.ThresholdedSumsTable),
    table_of(
        "best-of-several",
        m.BestOfSeveral,
        "Hyper-parameter search: the best of a random number of runs, truncated negative binomial or Poisson. Refused "
        "where the run alone would be refused: noise on a mean under add-remove where everybody takes part; unequal "
        "weights under add-remove, or under zero-out in hidden fixed-size cohorts.",
        private_selection.PrivateSelectionTable,
    ),
)
