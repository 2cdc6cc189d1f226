"""Local solvers: interchangeable ways of running the same SGD steps on a chunk of clients."""

from .choose import check_solver, choose_solver, pays_to_compile
from .work import LocalSolver, Work

__all__ = ["LocalSolver", "Work", "check_solver", "choose_solver", "pays_to_compile"]
