"""What was released so far: the append-only ledger, and the filters and odometers that stop before a budget."""

from .filters import (
    BudgetExceeded,
    Filter,
    GaussianFilter,
    PureFilter,
    Remaining,
    RenyiFilter,
    ZcdpFilter,
)
from .individual import IndividualBudgets, Participations
from .ledger import Ledger
from .odometer import RenyiOdometer
from .planned_order import planned_order
from .running import RunningEpsilon
from .store import LedgerError, MemoryStore, Overtaken, SqliteStore

__all__ = [
    "BudgetExceeded",
    "Filter",
    "GaussianFilter",
    "IndividualBudgets",
    "Ledger",
    "LedgerError",
    "MemoryStore",
    "Overtaken",
    "Participations",
    "PureFilter",
    "Remaining",
    "RenyiFilter",
    "RenyiOdometer",
    "RunningEpsilon",
    "SqliteStore",
    "ZcdpFilter",
    "planned_order",
]
