"""Local solvers: interchangeable ways of running the same SGD steps on a chunk of clients."""

from .choose import choose_solver
from .work import LocalSolver, Work

__all__ = ["LocalSolver", "Work", "choose_solver"]
