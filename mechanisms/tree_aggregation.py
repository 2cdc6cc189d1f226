"""Tree aggregation: Gaussian noise on the nodes of a binary tree over the rounds (DP-FTRL)."""

from __future__ import annotations

from dataclasses import dataclass

from .correlated import CorrelatedGaussian, MaxParticipations, MinSeparation, NodeNoise, RoundsTogether


@dataclass(frozen=True, slots=True)
class TreeAggregation(CorrelatedGaussian):
    """Sums over rounds, released through one binary tree whose complete nodes each carry fresh Gaussian noise.

    Kairouz et al. 2021 (arXiv 2103.00039, version 3, Appendix D), without restarts (a restart is another
    TreeAggregation of a Sequence); how node values are combined into prefix sums is post-processing.
    noise_multiplier: standard deviation of the noise on one node, divided by clip_norm. min_separation: at least so
    many rounds from one participation of a unit to its next (1: every round); that is one more than the "rounds in
    between" of the paper. max_participations: of one unit. Which rounds those are must not depend on the data.

    >>> from dpcert import epsilon
    >>> round(epsilon(TreeAggregation(noise_multiplier=4.0, rounds=8), 1e-5).upper, 4)
    1.9931
    """

    noise_multiplier: NodeNoise
    rounds: RoundsTogether
    min_separation: MinSeparation = 1
    max_participations: MaxParticipations = 1

    def squared_sensitivity(self) -> tuple[float, float]:
        """(attained, bound): the largest squared distance by which zeroing out a unit moves the nodes, both exact here.

        In units of clip_norm. Raises InputError where so many participations are allowed that the exact search
        would take too long.
        """
        from .tree_sensitivity import squared_sensitivity

        exact = float(squared_sensitivity(self.rounds, self.min_separation, self.max_participations))
        return exact, exact
