"""The solver for a model, a loss and a device: the fastest that can do the work."""

from __future__ import annotations

from ...mechanisms import InputError
from ..engine.parameters import FlatModule
from .compiled import CompiledSolver
from .dual import DualSolver
from .loop import LoopSolver
from .stacked import StackedSolver
from .vmap import VmapSolver
from .work import LocalSolver, Work


def choose_solver(name: str, model: FlatModule, work: Work) -> LocalSolver:
    """The named solver, or for "auto" the fastest: dual for linear models, else stacked or vmap on a GPU, or the loop.

    On a CPU no vectorisation beats the loop for convolutional networks (benchmarks/trainers.py).
    Raises InputError for a named solver that cannot do the work.
    """
    candidates: dict[str, LocalSolver] = {
        "dual": DualSolver(model),
        "stacked": StackedSolver(model),
        "compiled": CompiledSolver(model),
        "vmap": VmapSolver(model),
        "loop": LoopSolver(model),
    }
    if name != "auto":
        refusal = candidates[name].refuses(work)
        if refusal:
            raise InputError("solver", name, f"another solver: {refusal}")
        return candidates[name]
    preferred = ("dual", "stacked", "vmap", "loop") if model.vector.device.type == "cuda" else ("dual", "loop")
    return next(candidates[name] for name in preferred if candidates[name].refuses(work) is None)
