"""What can be trained, by name, and the settings of each: known without loading torch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Settings = dict[str, Callable[[str], Any]]
"""By their keys, how the text of each is read."""

_SHARED_LAYERS: Settings = {"head-layers": int, "label-sets": str, "aggregation-interval": int}

ALGORITHMS: dict[str, Settings] = {
    "pmtl": {},
    "pmtl-as-printed": {},
    "pmtl-increments": {},
    "dp-fedavg": {},
    "dp-fedprox": {},
    "local": {},
    "naive-joint": {},
    "ditto": {},
    "pp-sgd": {"alpha": float},
    "clustered-pmtl": {"clusters": str},
    "fixed-omega": {"omega": str},
    "dpfedmtl": _SHARED_LAYERS,
    "dpfedmtl-local-noise": _SHARED_LAYERS,
    "dpfedmtl-clipped": _SHARED_LAYERS,
    "dpfedmtl-as-printed": _SHARED_LAYERS,
}
"""The federated ones (build.py), each with the settings of its own."""

UNRELATED = ("dp-fedavg", "local", "pp-sgd", *(name for name, own in ALGORITHMS.items() if own is _SHARED_LAYERS))
"""Algorithms without a lambda."""

METHODS = ("mocha", "mocha-alternating", "cocoa", "mb-sdca", "mb-sgd")
"""MOCHA and what it is compared with (mocha/methods.py)."""
