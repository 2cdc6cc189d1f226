"""dpcert: is this epsilon true? Certified verdicts on differential-privacy claims.

>>> from dpcert import Gaussian, Poisson, Repeat, epsilon
>>> run = Repeat(Poisson(Gaussian(noise_multiplier=1.1), sampling_rate=0.01), rounds=10_000)
>>> epsilon(run, delta=1e-5).at_most(5.7)
True

The public names of the rooms `mechanisms`, `accounting` and `proofs_checks` are names of dpcert, too; each is loaded
when it is first asked for.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .accounting import *  # noqa: F403
    from .mechanisms import *  # noqa: F403
    from .proofs_checks.assertion import assert_private as assert_private
    from .proofs_checks.auditing.audit import audit as audit
    from .proofs_checks.billboard.replay import BillboardReport as BillboardReport
    from .proofs_checks.billboard.replay import check_billboard as check_billboard
    from .proofs_checks.neighbour_strategies import neighbours as neighbours
    from .proofs_checks.neighbour_strategies import worst_case_pairs as worst_case_pairs
    from .proofs_checks.verification.verify import verify as verify

__version__ = "0.2.0"

_ROOMS = ("mechanisms", "accounting", "proofs_checks")
"""Lightest first: a name is looked for no further than it must be."""

_MODULES = ("adapters", "cli", "pytest_plugin", "testing", "trainers", *_ROOMS)
"""Not public names of a room: the import system finds them itself."""


def __getattr__(name: str) -> Any:
    """A public name of a room (PEP 562)."""
    if name not in _MODULES and not name.startswith("_"):
        for room in _ROOMS:
            loaded = import_module(f".{room}", __name__)
            if name in loaded.__all__:
                return getattr(loaded, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    rooms = (import_module(f".{room}", __name__) for room in _ROOMS)
    return sorted({*globals(), *(name for room in rooms for name in room.__all__)})
