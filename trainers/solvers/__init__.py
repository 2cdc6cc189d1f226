"""Local solvers: interchangeable ways of running the same SGD steps on a chunk of clients."""

from .choose import choose_solver, pays_to_compile
from .work import LocalSolver, Work

__all__ = ["LocalSolver", "Work", "choose_solver", "pays_to_compile"]
