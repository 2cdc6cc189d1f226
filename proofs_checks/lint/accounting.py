"""Which calls make a run private, account for it, and ask what it costs."""

from __future__ import annotations

import ast

from .script import Script, is_constant

MAKE_PRIVATE = ("make_private", "make_private_with_epsilon")
ASK_EPSILON = ("get_epsilon", "get_privacy_spent", "make_private_with_epsilon")
POISSON_ACCOUNTANTS = ("rdp", "prv", "gdp", "dpcert")
ACCOUNTING = (
    "PoissonSampledDpEvent",
    "compute_dp_sgd_privacy",
    "PoissonSubsampledGaussianMechanism",
    "compute_eps_poisson",
)
POISSON_SOURCES = (
    "DPDataLoader",
    "from_data_loader",
    "UniformWithReplacementSampler",
    "DistributedUniformWithReplacementSampler",
)


def asks_for_epsilon(script: Script) -> bool:
    """Does the script ask an accountant for an epsilon?"""
    return any(script.tail(call) in ASK_EPSILON for call in script.calls)


def accounts_for_poisson(script: Script, call: ast.Call) -> bool:
    """Not where the rate is 1: then all batches are the whole data set, however they are drawn."""
    tail = script.tail(call)
    if tail in ACCOUNTING:
        return True
    rate = script.keyword(call, "q") or script.keyword(call, "sample_rate")
    if rate is not None and is_constant(script.resolved(rate), 1.0):
        return False
    if tail == "compute_rdp":
        library = script.origin(call.func).split(".")[0] in ("opacus", "tensorflow_privacy", "dp_accounting")
        return library or rate is not None
    return tail == "step" and rate is not None and script.keyword(call, "noise_multiplier") is not None
