"""What was released so far: the append-only ledger, and the filters and odometers that stop before a budget."""

from .filters import BudgetExceeded, Filter, GaussianFilter, PureFilter, RenyiFilter, ZcdpFilter, planned_order
from .individual import IndividualBudgets, Participations
from .ledger import Ledger
from .odometer import RenyiOdometer
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
    "RenyiFilter",
    "RenyiOdometer",
    "RunningEpsilon",
    "SqliteStore",
    "ZcdpFilter",
    "planned_order",
]
