"""Dominating pairs: two distributions (P, Q) that one step's outputs on neighbours cannot be told apart better than.

Everything an accountant needs to know of a step is its pair, and a pair is one file. The hockey-stick profile of a pair
is delta(eps) = E_P[(1 - exp(eps - L))_+] with the privacy loss L = log(dP/dQ). Pairs of independent (or adaptive) steps
compose: the profile of the product pair bounds the whole run (Zhu, Dong, Wang 2022, arXiv 2106.08567, Theorem 10).
"""

from .allocation import AllocationPair, ReplacedAllocationPair
from .approximate_dp import ApproximateDpPair
from .bounded_laplace import BoundedLaplacePair
from .bounded_range import BoundedRangePair
from .categories import CategoriesPair
from .clamped_gaussian import ClampedGaussianPair
from .counts import CountsPair, ShuffledResponsePair
from .cut import CutPair
from .discrete_gaussian import DiscreteGaussianPair
from .discrete_laplace import DiscreteLaplacePair
from .event import EventPair
from .finite import FinitePair
from .gaussian import GaussianPair
from .laplace import LaplacePair
from .lattice import LatticePair
from .location import LocationPair
from .losses import LossesPair
from .mixed_gaussian import MixedGaussianPair, StatedMixturePair
from .mixture import MixturePair, Side
from .noisy_max import LaplaceMaximumPair
from .order import GaussianRound, Order, Sampling
from .pair import Composition, Pair
from .product import ProductPair, product_of
from .randomized_response import RandomizedResponsePair
from .renyi_bounds import RenyiLines, RenyiPoints, ZcdpBound
from .scored_block import ScoredBlockPair
from .selection import PoissonSelectionPair, SelectionPair
from .shuffled import ReplacedShuffledPair, ShuffledPair
from .subsampled import SubsampledPair
from .truncated_gaussian import TruncatedGaussianPair
from .truncated_laplace import TruncatedLaplacePair
from .uniform_report import UniformReportPair
from .worst_place import WorstBoundedLaplacePair, WorstTruncatedGaussianPair
from .zero_out import OpposedPair, ZeroedPair, ZeroOutPair

__all__ = [
    "AllocationPair",
    "ApproximateDpPair",
    "BoundedLaplacePair",
    "BoundedRangePair",
    "CategoriesPair",
    "ClampedGaussianPair",
    "Composition",
    "CountsPair",
    "CutPair",
    "DiscreteGaussianPair",
    "DiscreteLaplacePair",
    "EventPair",
    "FinitePair",
    "GaussianPair",
    "GaussianRound",
    "LaplaceMaximumPair",
    "LaplacePair",
    "LatticePair",
    "LocationPair",
    "LossesPair",
    "MixedGaussianPair",
    "MixturePair",
    "OpposedPair",
    "Order",
    "Pair",
    "PoissonSelectionPair",
    "ProductPair",
    "RandomizedResponsePair",
    "RenyiLines",
    "RenyiPoints",
    "ReplacedAllocationPair",
    "ReplacedShuffledPair",
    "Sampling",
    "ScoredBlockPair",
    "SelectionPair",
    "ShuffledPair",
    "ShuffledResponsePair",
    "Side",
    "StatedMixturePair",
    "SubsampledPair",
    "TruncatedGaussianPair",
    "TruncatedLaplacePair",
    "UniformReportPair",
    "WorstBoundedLaplacePair",
    "WorstTruncatedGaussianPair",
    "ZcdpBound",
    "ZeroOutPair",
    "ZeroedPair",
    "product_of",
]
