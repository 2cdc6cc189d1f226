"""Our accountant for Flower (flwr 1.41 and later), and FedAvg with the cohorts that amplification needs.

    accountant = CertifiedAccountant.poisson(1e-5, population=1000)
    strategy = PoissonFedAvg(accountant, noise_multiplier=1.0, clipping_norm=1.0, expected_cohort=50)

Flower's own strategies draw cohorts of a fixed size: where one client is missing, another takes its place. Their
noise multiplier z is relative to one client's clipping bound C, so replacing a client moves the sum by up to 2 C,
as in every relation "replace-one" here.
"""

from flwr.serverapp import GaussianPrivacyEvent, NeighboringRelation, PrivacyConfig, SamplingMethod

from .accountant import CertifiedAccountant
from .attendance import NobodyAnswers, poisson_cohort
from .fedavg import PoissonFedAvg

__all__ = [
    "CertifiedAccountant",
    "GaussianPrivacyEvent",
    "NeighboringRelation",
    "NobodyAnswers",
    "PoissonFedAvg",
    "PrivacyConfig",
    "SamplingMethod",
    "poisson_cohort",
]
