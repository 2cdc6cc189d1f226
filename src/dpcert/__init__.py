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

from .version import __version__ as __version__

if TYPE_CHECKING:
    from .accounting import *  # noqa: F403
    from .mechanisms import *  # noqa: F403
    from .proofs_checks.assertion import assert_private as assert_private
    from .proofs_checks.auditing.audit import audit as audit
    from .proofs_checks.auditing.trainer import audit_trainer as audit_trainer
    from .proofs_checks.billboard.replay import BillboardReport as BillboardReport
    from .proofs_checks.billboard.replay import check_billboard as check_billboard
    from .proofs_checks.neighbour_strategies import neighbours as neighbours
    from .proofs_checks.neighbour_strategies import worst_case_pairs as worst_case_pairs
    from .proofs_checks.proof_assertion import assert_proved as assert_proved
    from .proofs_checks.proving import prove as prove
    from .proofs_checks.reproduction.explanation import explain as explain
    from .proofs_checks.verification.verify import verify as verify

_ROOMS = ("mechanisms", "accounting", "proofs_checks")
"""Lightest first: a name is looked for no further than it must be."""

_MODULES = ("adapters", "cli", "presentation", "pytest_plugin", "testing", "trainers", "version", *_ROOMS)
"""Not public names of a room: the import system finds them itself."""

_WITH_AN_EXTRA = frozenset({"assert_proved", "neighbours", "prove", "worst_case_pairs"})
"""They load hypothesis or z3, so `from dpcert import *` leaves them out: it works wherever dpcert is installed."""


def __getattr__(name: str) -> Any:
    """A public name of a room, or the list of them that `from dpcert import *` asks for (PEP 562)."""
    if name == "__all__":
        return sorted(_public() - _WITH_AN_EXTRA)
    if name not in _MODULES and not name.startswith("_"):
        for room in _ROOMS:
            loaded = import_module(f".{room}", __name__)
            if name in loaded.__all__:
                return getattr(loaded, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def _public() -> set[str]:
    return {name for room in _ROOMS for name in import_module(f".{room}", __name__).__all__}


def __dir__() -> list[str]:
    return sorted({*globals(), *_public()})
